//! Cache misses as the processor counts them, where the kernel permits this process to read the
//! counter.
//!
//! A virtual machine often has no such counter, and a kernel may forbid its use. Then only the time
//! of an operation tells.

use std::fmt;
use std::time::Duration;

/// The source of figures on how often data had to be fetched.
pub enum Source {
    /// The processor's counter.
    Counter,
    /// No counter is available, for this reason: the times alone, by the time-stamp counter.
    Times(String),
    /// This system has no interface for counters.
    #[cfg(not(target_os = "linux"))]
    None,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Counter => write!(f, "the processor's counter of cache misses"),
            Source::Times(why) => write!(f, "time-stamp counter alone: {why}"),
            #[cfg(not(target_os = "linux"))]
            Source::None => write!(f, "none"),
        }
    }
}

/// A reading of a counter.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    count: u64,
    /// How long the counter was enabled, and how long it counted: a processor has few counters,
    /// which take turns. Both are sums over all threads.
    wanted: Duration,
    counted: Duration,
}

/// Returns the growth of the count between two readings, scaled to the whole time; `None` if the
/// counter never counted.
fn growth(before: Reading, after: Reading) -> Option<u64> {
    let counted = after.counted.saturating_sub(before.counted);
    if counted.is_zero() {
        return None;
    }
    let wanted = after.wanted.saturating_sub(before.wanted);
    let share = wanted.as_secs_f64() / counted.as_secs_f64();
    Some((after.count.saturating_sub(before.count) as f64 * share).round() as u64)
}

pub use system::{Misses, source};

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::sync::OnceLock;

    use perf_event::events::Hardware;
    use perf_event::{Builder, Counter};

    use super::{Reading, Source, growth};

    /// Starts a counter of this thread, and of the threads that it starts later.
    fn counter() -> io::Result<Counter> {
        let mut counter = Builder::new(Hardware::CACHE_MISSES).inherit(true).build()?;
        counter.enable()?;
        Ok(counter)
    }

    /// Returns why there is no counter.
    pub(super) fn absence(error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::NotFound => {
                "this machine's (virtual) processor has no counter of cache misses".to_owned()
            }
            io::ErrorKind::PermissionDenied => {
                "the kernel forbids counters: set kernel.perf_event_paranoid to 1 or lower, and let no sandbox refuse perf_event_open"
                    .to_owned()
            }
            _ => format!("the kernel gives no counter of cache misses: {error}"),
        }
    }

    /// Returns the source, which is determined once.
    pub fn source() -> &'static Source {
        static SOURCE: OnceLock<Source> = OnceLock::new();
        SOURCE.get_or_init(|| match counter() {
            Ok(_) => Source::Counter,
            Err(error) => Source::Times(absence(&error)),
        })
    }

    /// The misses of a thread and of the threads that it starts.
    pub struct Misses {
        counter: Counter,
        before: Reading,
    }

    impl Misses {
        /// Counts the misses of the calling thread and of the threads that it starts later, if they
        /// can be counted.
        pub fn new() -> Option<Misses> {
            if !matches!(source(), Source::Counter) {
                return None;
            }
            Some(Misses { counter: counter().ok()?, before: Reading::default() })
        }

        /// Returns the number of misses since the last call; `None` if it is unknown.
        pub fn take(&mut self) -> Option<u64> {
            let data = self.counter.read_full().ok()?;
            let after = Reading {
                count: data.count(),
                wanted: data.time_enabled()?,
                counted: data.time_running()?,
            };
            growth(std::mem::replace(&mut self.before, after), after)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::Source;

    pub fn source() -> &'static Source {
        &Source::None
    }

    /// This system has none.
    pub enum Misses {}

    impl Misses {
        pub fn new() -> Option<Misses> {
            None
        }

        pub fn take(&mut self) -> Option<u64> {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_takes_turns_is_scaled() {
        let ms = Duration::from_millis;
        let before = Reading { count: 100, wanted: ms(10), counted: ms(10) };
        let all = Reading { count: 1_100, wanted: ms(30), counted: ms(30) };
        assert_eq!(growth(before, all), Some(1_000));
        let half = Reading { counted: ms(20), ..all };
        assert_eq!(growth(before, half), Some(2_000));
        let never = Reading { counted: ms(10), ..all };
        assert_eq!(growth(before, never), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn each_kind_of_refusal_has_its_words() {
        use std::io::Error;
        // ENOENT, EPERM and EACCES, and EINVAL for all others.
        let words = |number| {
            let why = system::absence(&Error::from_raw_os_error(number));
            Source::Times(why).to_string()
        };
        assert_eq!(
            words(2),
            "time-stamp counter alone: this machine's (virtual) processor has no counter of cache misses"
        );
        for forbidden in [1, 13] {
            let words = words(forbidden);
            assert!(words.contains("set kernel.perf_event_paranoid to 1 or lower"), "{words}");
        }
        let other = words(22);
        assert!(other.starts_with("time-stamp counter alone: the kernel gives no"), "{other}");
        assert!(other.contains("os error 22"), "{other}");
    }

    /// With either source: without a counter there are no misses.
    #[cfg(target_os = "linux")]
    #[test]
    fn misses_are_counted_where_there_is_a_counter() {
        let has_counter = matches!(source(), Source::Counter);
        let mut misses = Misses::new();
        assert_eq!(misses.is_some(), has_counter);
        if let Some(misses) = &mut misses {
            // This thread has run since the counter was made.
            assert!(misses.take().is_some());
        }
    }
}
