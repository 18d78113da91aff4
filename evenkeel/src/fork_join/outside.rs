//! How a thread that is no worker waits for one.

use crate::policy::{forking, searching};
use crate::primitives::{clock, thread};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads of the process that wait awake. A hint, which orders nothing.
static AWAKE: AtomicUsize = AtomicUsize::new(0);

/// Counts a thread that waits awake.
struct Awake;

impl Awake {
    fn begin() -> Option<Self> {
        let counted = AWAKE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |awake| {
            searching::may_wait_awake(awake).then_some(awake + 1)
        });
        counted.ok().map(|_| Self)
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        AWAKE.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits until `over`. Whoever makes that true unparks this thread after it.
///
/// At first awake, if nobody else is: what a worker does for others is often short, and a sleep and a wake-up cost some 25 µs, with
/// an interrupt of the other core. The core itself goes to whoever else can run there at each turn.
pub(super) fn wait(over: impl Fn() -> bool) {
    if over() {
        return;
    }
    if let Some(_awake) = Awake::begin() {
        let start = clock::now();
        while !forking::sleep(clock::now().saturating_sub(start)) {
            thread::yield_now();
            if over() {
                return;
            }
        }
    }
    while !over() {
        thread::park(None);
    }
}
