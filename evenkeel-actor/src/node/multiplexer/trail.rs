//! By which lane a sender has sent last.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// The trail of a sender that has sent nothing yet.
const NEW: u32 = u32::MAX;
/// In the thread's cell: nobody in particular sends.
const NOBODY: u32 = u32::MAX - 1;

thread_local! {
    /// The trail of the sender that this thread runs, by value.
    static CURRENT: Cell<u32> = const { Cell::new(NOBODY) };
}

/// By which lane a sender has sent last; belongs to the sender, and is used by the one thread that runs it at a time.
///
/// An actor's turns run [under](Trail::under) its trail. It is for one multiplexer, that of the actor's node. What is sent under none goes by the lane that all such senders share.
#[derive(Debug)]
pub struct Trail(AtomicU32);

impl Trail {
    /// The trail of a sender that has sent nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU32::new(NEW))
    }

    /// Runs `f` as the sender that this trail belongs to: what the thread sends meanwhile is this sender's.
    ///
    /// # Panics
    /// With the panic of `f`.
    pub fn under<R>(&self, f: impl FnOnce() -> R) -> R {
        /// Puts things back, by a panic too.
        struct Back<'a> {
            trail: &'a Trail,
            outer: u32,
        }
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                // Plain accesses: a sender that is run by another thread afterwards is so by a handover that orders them.
                self.trail.0.store(CURRENT.replace(self.outer), Ordering::Relaxed);
            }
        }
        let outer = CURRENT.replace(self.0.load(Ordering::Relaxed));
        let _back = Back { trail: self, outer };
        f()
    }
}

impl Default for Trail {
    fn default() -> Self {
        Self::new()
    }
}

/// How a message finds its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nobody in particular sends: by the common lane.
    Common,
    /// The sender sends its first message, or sends by the same lane as before.
    Stays,
    /// It has sent by another lane before.
    Moves {
        /// That lane.
        from: u16,
    },
}

/// The sender that the thread runs now sends by the lane `here`.
#[inline]
pub(crate) fn step(here: u16) -> Step {
    match CURRENT.get() {
        NOBODY => Step::Common,
        last if last == u32::from(here) => Step::Stays,
        last => {
            CURRENT.set(here.into());
            if last == NEW { Step::Stays } else { Step::Moves { from: last as u16 } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Step, Trail, step};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn a_sender_stays_until_it_is_elsewhere() {
        let trail = Trail::new();
        assert_eq!(trail.under(|| [step(2), step(2)]), [Step::Stays, Step::Stays]);
        assert_eq!(trail.under(|| step(2)), Step::Stays);
        assert_eq!(trail.under(|| [step(3), step(3)]), [Step::Moves { from: 2 }, Step::Stays]);
        assert_eq!(step(3), Step::Common);
    }

    #[test]
    fn a_sender_that_runs_inside_another_has_its_own_trail() {
        let (outer, inner) = (Trail::new(), Trail::new());
        outer.under(|| {
            assert_eq!(step(1), Step::Stays);
            inner.under(|| assert_eq!(step(2), Step::Stays));
            assert_eq!(step(1), Step::Stays);
        });
        assert_eq!(inner.under(|| step(1)), Step::Moves { from: 2 });
    }

    #[test]
    fn a_panic_leaves_the_trail_and_the_thread_in_order() {
        let trail = Trail::new();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            trail.under(|| {
                step(4);
                panic!("a handler");
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(step(4), Step::Common);
        assert_eq!(trail.under(|| step(5)), Step::Moves { from: 4 });
    }
}
