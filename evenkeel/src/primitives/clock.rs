//! The coarse clock: nanoseconds since the process first asked.

#[cfg(not(any(loom, shuttle)))]
mod real {
    use std::sync::OnceLock;
    use std::time::Instant;

    /// Nanoseconds since the first call in this process. Costs about 25 ns, so a processor reads it
    /// once per batch of polls.
    pub(crate) fn now() -> u64 {
        let elapsed = start().elapsed().as_nanos();
        u64::try_from(elapsed).unwrap_or(u64::MAX)
    }

    /// When the clock began.
    pub(crate) fn start() -> Instant {
        static START: OnceLock<Instant> = OnceLock::new();
        *START.get_or_init(Instant::now)
    }
}

#[cfg(any(loom, shuttle))]
mod real {
    use std::cell::Cell;

    /// The time that a look at the clock takes. The scheduler's waits last 3 to 50 µs, which makes
    /// each of them a few looks and not thousands of steps.
    const STEP: u64 = 10_000;

    // A checker runs all threads of an execution on one thread of the operating system.
    thread_local! {
        static NOW: Cell<u64> = const { Cell::new(0) };
    }

    /// Under a model checker only looks at the clock take time, so that every run with the same
    /// schedule sees the same times.
    pub(crate) fn now() -> u64 {
        NOW.with(|now| now.replace(now.get() + STEP))
    }

    /// Sets the clock back to zero, where an execution begins.
    #[cfg(shuttle)]
    pub(crate) fn restart() {
        NOW.with(|now| now.set(0));
    }
}

pub(crate) use real::now;
#[cfg(shuttle)]
pub(crate) use real::restart;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use real::start;
