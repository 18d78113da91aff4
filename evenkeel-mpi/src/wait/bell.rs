//! Wakes the thread of a transport.
//!
//! Roles: the *owner*, the one thread that waits; *ringers*, any threads.
//!
//! States of the one word: `QUIET`; `RUNG`, a ring that the owner has not seen; `ASLEEP`, the owner
//! parks.
//! - A ringer swaps in `RUNG`. If the word was `ASLEEP`, the ringer unparks the owner; otherwise
//!   the owner will see the word.
//! - The owner takes a ring by swapping in `QUIET`. To sleep it goes from `QUIET` to `ASLEEP` by a
//!   compare-exchange, which fails if a ring has come; parks; then takes.
//!
//! Nothing is lost: all changes are read-modify-writes of one word, so a ring comes either before
//! the owner's compare-exchange, which then fails, or after it, and then the ringer finds `ASLEEP`
//! and unparks; an unpark before the park ends it at once. The owner's take also finds a ring that
//! comes after its time has run out. The swaps are release and acquire, so the owner sees what the
//! ringer wrote before it rang.
//!
//! The unpark of a ring that raced with the end of the time may end one later park of that thread:
//! parks may end spuriously.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

const QUIET: u8 = 0;
const RUNG: u8 = 1;
const ASLEEP: u8 = 2;

/// A bell that wakes the thread that made it.
pub(crate) struct Bell {
    state: AtomicU8,
    owner: Thread,
}

impl Bell {
    /// Creates a bell of the calling thread.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { state: AtomicU8::new(QUIET), owner: thread::current() })
    }

    /// Ends the owner's sleep, or the next if it is awake. Costs one atomic operation if it is
    /// awake.
    pub(crate) fn ring(&self) {
        if self.state.swap(RUNG, Ordering::AcqRel) == ASLEEP {
            self.owner.unpark();
        }
    }

    /// Returns whether it has rung since the last call; for the owner.
    pub(crate) fn take(&self) -> bool {
        self.state.load(Ordering::Relaxed) == RUNG
            && self.state.swap(QUIET, Ordering::AcqRel) == RUNG
    }

    /// Sleeps until it rings, at most for `most`, and returns whether it has rung; for the owner.
    pub(crate) fn sleep(&self, most: Duration) -> bool {
        let slept = self.state.compare_exchange(QUIET, ASLEEP, Ordering::AcqRel, Ordering::Acquire);
        if slept.is_ok() {
            thread::park_timeout(most);
        }
        self.state.swap(QUIET, Ordering::AcqRel) == RUNG
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn a_ring_before_the_sleep_ends_it() {
        let bell = Bell::new();
        bell.ring();
        bell.ring();
        assert!(bell.sleep(Duration::MAX), "it has rung");
        assert!(!bell.take(), "and was taken");
        assert!(!bell.sleep(Duration::ZERO));
    }

    #[test]
    fn no_ring_is_lost_among_many() {
        const ROUNDS: u32 = 20_000;
        let bell = Bell::new();
        let rounds = Arc::new(AtomicU32::new(0));
        let ringer = thread::spawn({
            let (bell, rounds) = (bell.clone(), rounds.clone());
            move || {
                for round in 1..=ROUNDS {
                    rounds.store(round, Ordering::Relaxed);
                    bell.ring();
                    if round % 3 == 0 {
                        thread::yield_now();
                    }
                }
            }
        });
        // If the last ring were lost this would sleep for ever.
        while rounds.load(Ordering::Relaxed) < ROUNDS {
            bell.sleep(Duration::MAX);
        }
        ringer.join().expect("the ringer does not panic");
    }
}
