//! What the operating system says of a thread: whether it sleeps, and how long it has computed.
//!
//! Linux says so in `/proc`. Where it does not, and on other systems, nothing is known of threads.

use std::sync::atomic::{AtomicI32, Ordering};

/// A thread, as the system knows it.
#[derive(Debug, Default)]
pub(crate) struct Probe(AtomicI32);

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It runs, or waits for a core.
    Ready,
    /// It waits inside a system call, or for a page.
    Asleep,
    /// A signal or a debugger has stopped it.
    Stopped,
}

/// The answer for one thread at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight {
    pub(crate) state: State,
    /// Nanoseconds on a core, to within a tick of the system's scheduler.
    pub(crate) computed: u64,
}

impl Probe {
    /// Makes this the probe of the calling thread.
    pub(crate) fn take(&self) {
        self.0.store(own_number(), Ordering::Relaxed);
    }

    /// Returns the number that the system has given to the thread, if it is known.
    pub(crate) fn number(&self) -> Option<u32> {
        u32::try_from(self.0.load(Ordering::Relaxed)).ok().filter(|&number| number != 0)
    }

    /// Looks at the thread: two reads of files, 10 to 20 µs.
    pub(crate) fn look(&self) -> Option<Sight> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            number => look(number),
        }
    }
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
fn own_number() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
fn own_number() -> i32 {
    0
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
fn look(number: i32) -> Option<Sight> {
    let read = |file| std::fs::read_to_string(format!("/proc/self/task/{number}/{file}")).ok();
    let state = state(&read("stat")?)?;
    let computed = read("schedstat")?.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Sight { state, computed })
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
fn look(_: i32) -> Option<Sight> {
    None
}

/// Reads the state out of a line of `stat`. It follows the thread's name, which is in parentheses
/// and may contain some.
#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
fn state(stat: &str) -> Option<State> {
    let (_, rest) = stat.rsplit_once(')')?;
    match rest.trim_start().chars().next()? {
        'R' => Some(State::Ready),
        'S' | 'D' | 'I' | 'K' | 'W' | 'P' => Some(State::Asleep),
        'T' | 't' => Some(State::Stopped),
        _ => None,
    }
}

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_looks_at_itself_runs_and_has_computed() {
        let probe = Probe::default();
        assert!(probe.look().is_none(), "no thread has taken it");
        probe.take();
        let sight = probe.look().unwrap();
        assert_eq!(sight.state, State::Ready);
        while probe.look().unwrap().computed <= sight.computed {}
    }

    #[test]
    fn the_state_follows_the_name() {
        assert_eq!(state("17 (a) R b) S 1 2"), Some(State::Asleep));
        assert_eq!(state("17 (spin) R 1"), Some(State::Ready));
        assert_eq!(state("17 (spin) t 1"), Some(State::Stopped));
        assert_eq!(state("17 (spin) X 1"), None);
        assert_eq!(state("nothing"), None);
    }
}
