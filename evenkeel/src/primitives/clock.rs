//! The coarse clock: nanoseconds since the process first asked.

#[cfg(not(any(loom, shuttle)))]
mod real {
    use std::sync::OnceLock;
    use std::time::Instant;

    /// Nanoseconds since the first call in this process. Costs about 25 ns, so a processor reads it
    /// once per batch of polls.
    pub(crate) fn now() -> u64 {
        static START: OnceLock<Instant> = OnceLock::new();
        let elapsed = START.get_or_init(Instant::now).elapsed().as_nanos();
        u64::try_from(elapsed).unwrap_or(u64::MAX)
    }
}

#[cfg(any(loom, shuttle))]
mod real {
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Under a model checker a look at the clock is a step of a microsecond, so that every run with
    /// the same schedule sees the same times.
    pub(crate) fn now() -> u64 {
        static TICKS: AtomicU64 = AtomicU64::new(0);
        TICKS.fetch_add(1_000, Ordering::Relaxed)
    }
}

pub(crate) use real::now;
