//! How the crate waits for something that another thread is about to do.

/// Waits a little longer at each call: first on the core, then by giving the core away.
///
/// If the operating system has preempted the thread that is waited for, the wait must not burn the
/// core that this thread needs.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    calls: u32,
}

/// Calls that stay on the core. A hundred pauses last 1 to 4 µs on current x86 cores, the length of
/// the longest critical section of the crate.
const ON_CORE: u32 = 100;

impl Backoff {
    pub(crate) const fn new() -> Self {
        Self { calls: 0 }
    }

    /// Waits once.
    pub(crate) fn snooze(&mut self) {
        self.calls = self.calls.saturating_add(1);
        if self.calls <= ON_CORE {
            pause();
        } else {
            super::thread::yield_now();
        }
    }
}

/// One pause of the core in a loop that waits.
#[inline(always)]
pub(crate) fn pause() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(shuttle)]
    shuttle::thread::yield_now();
    #[cfg(not(any(loom, shuttle)))]
    std::hint::spin_loop();
}
