//! By which lane a sender has sent last.
//!
//! # Words
//! A trail is one word: the lane by which its sender has sent last, in 16 bits, and that lane's
//! epoch then, in 48. It is *new* before the sender has sent anything. It is *removed* once the
//! keeper of trails has forgotten it: a sender that still finds it begins a new one, and gives that
//! to the keeper.
//!
//! # Why a trail may be forgotten
//! An epoch begins with two walks over the lanes. The first flushes each lane and sets its epoch;
//! the second fences each. Both hold the lane's lock. So messages of an earlier epoch are in the
//! queue to the host before the fences, and what any lane sends behind its fence is read after
//! them. A sender with a trail of an earlier epoch may therefore go on by any lane as if it had
//! sent nothing.
//!
//! A sender may put a message in while the keeper looks at its trail. The sender notes the lane's
//! epoch under the lock, and compares and exchanges its word from the value it found. So either the
//! keeper finds the word changed and leaves it, or the sender finds the trail removed and has it
//! kept anew. If the lane's epoch is that of the word, the message was put in before the flush, and
//! the sender changes nothing.
//!
//! A sender that has changed lanes and put nothing in has no epoch: its fence is behind its
//! messages, and may be before that of the epoch. The keeper gives such a trail the present epoch,
//! and forgets it in the next.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The trail of a sender that has sent nothing yet.
const NEW: u64 = u64::MAX;
/// The value of the thread's cell without a particular sender.
const NOBODY: u64 = u64::MAX - 1;
/// A removed trail: a sender that looks up its trail does not find it.
const REMOVED: u64 = u64::MAX - 2;

/// The epoch of a sender that has come to a lane and has put nothing in: the last for which a word
/// has bits.
const NONE_YET: u64 = (1 << 48) - 1;

thread_local! {
    /// The trail of the sender that this thread runs, by value.
    static CURRENT: Cell<u64> = const { Cell::new(NOBODY) };
}

const fn word(lane: u16, epoch: u64) -> u64 {
    epoch << 16 | lane as u64
}

const fn lane(word: u64) -> u16 {
    word as u16
}

const fn epoch(word: u64) -> u64 {
    word >> 16
}

/// The epoch that follows this one.
///
/// # Panics
/// If there is none: with one epoch each microsecond, that is after nine years.
pub(crate) fn epoch_after(epoch: u64) -> u64 {
    let next = epoch + 1;
    assert!(next < NONE_YET, "the epochs of a multiplexer are used up: start the node anew");
    next
}

/// The lane by which a sender has sent last. It belongs to the sender, and only the thread that
/// runs the sender uses it.
///
/// An actor's turns run [under](Trail::under) its trail. A trail is for one multiplexer, that of
/// the actor's node. Messages that are sent under no trail go by the common lane.
#[derive(Debug)]
pub struct Trail(AtomicU64);

impl Trail {
    /// Creates the trail of a sender that has sent nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU64::new(NEW))
    }

    /// Runs `f` as a sender that has sent nothing yet. Nothing keeps its trail: the sender has no
    /// choice of lanes.
    ///
    /// # Panics
    /// If `f` panics.
    #[inline]
    pub fn under_new<R>(f: impl FnOnce() -> R) -> R {
        /// Restores the outer sender, also after a panic.
        struct Back(u64);
        impl Drop for Back {
            #[inline]
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        let _back = Back(CURRENT.replace(NEW));
        f()
    }

    /// Runs `f` as the sender of this trail: what the thread sends meanwhile comes from this
    /// sender.
    ///
    /// # Panics
    /// If `f` panics.
    pub fn under<R>(&self, f: impl FnOnce() -> R) -> R {
        self.under_or(|_| (), f)
    }

    /// Does the same for a trail that may be removed meanwhile: then `keep` gets the trail to keep
    /// in its place, unless nothing was sent.
    #[inline]
    pub fn under_or<R>(&self, keep: impl Fn(Trail), f: impl FnOnce() -> R) -> R {
        /// Restores the outer sender, also after a panic.
        struct Back<'a, K: Fn(Trail)> {
            trail: &'a Trail,
            found: u64,
            outer: u64,
            keep: K,
        }
        impl<K: Fn(Trail)> Drop for Back<'_, K> {
            #[inline]
            fn drop(&mut self) {
                let left = CURRENT.replace(self.outer);
                if left != self.found && !self.trail.leave(self.found, left) {
                    (self.keep)(Trail(AtomicU64::new(left)));
                }
            }
        }
        // Relaxed: the keeper that removes a trail has seen its word, and the sender reads nothing
        // else by it.
        let found = match self.0.load(Ordering::Relaxed) {
            REMOVED => NEW,
            found => found,
        };
        let outer = CURRENT.replace(found);
        let _back = Back { trail: self, found, outer, keep };
        f()
    }

    /// Stores the sender's last word. Returns false if the trail is removed.
    fn leave(&self, mut found: u64, left: u64) -> bool {
        let mut next = left;
        loop {
            // If another thread runs the sender afterwards, a handover orders the two; the sender
            // reads nothing from the keeper. So the order of this one word is enough.
            match self.0.compare_exchange(found, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(REMOVED) => return false,
                Err(other) => {
                    // The sender has sent inside of this call, or the keeper has given its trail an
                    // epoch.
                    found = other;
                    next = later(other, left);
                }
            }
        }
    }

    /// Returns whether it is removed, so that the sender has another trail.
    #[inline]
    pub fn is_removed(&self) -> bool {
        self.0.load(Ordering::Relaxed) == REMOVED
    }

    /// Merges another trail of the same sender into this one.
    pub fn take_over(&self, other: &Trail) {
        let left = other.0.load(Ordering::Relaxed);
        let found = self.0.load(Ordering::Relaxed);
        let kept = self.leave(found, later(found, left));
        debug_assert!(kept, "what is found where trails are kept is not removed");
    }

    /// Removes the trail if its epoch is earlier than `begun`, which has begun, and returns whether
    /// it is removed. Only the keeper of the trail calls this.
    pub fn remove_before(&self, begun: u64) -> bool {
        let found = self.0.load(Ordering::Relaxed);
        let next = match found {
            REMOVED => return true,
            NEW => REMOVED,
            word if epoch(word) == NONE_YET => self::word(lane(word), begun),
            word if epoch(word) < begun => REMOVED,
            _ => return false,
        };
        let changed = self.0.compare_exchange(found, next, Ordering::Relaxed, Ordering::Relaxed);
        changed.is_ok() && next == REMOVED
    }
}

/// Returns the more recent of two words of a sender.
fn later(before: u64, left: u64) -> u64 {
    if before == NEW || lane(before) != lane(left) || left == NEW {
        return left;
    }
    // `NONE_YET` is later than any epoch.
    word(lane(left), epoch(before).max(epoch(left)))
}

impl Default for Trail {
    fn default() -> Self {
        Self::new()
    }
}

/// How a message finds its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// No particular sender: by the common lane.
    Common,
    /// The sender sends its first message by the lane `here`, or sends by this lane as before.
    By(u16),
    /// The sender has sent by another lane before, and comes to the lane `here`.
    Moves {
        /// The other lane.
        from: u16,
    },
}

/// Notes by which lane the thread's sender sends next: by that of before if the sender is `here`,
/// or if it `stays` with that lane.
#[inline]
pub(crate) fn step(here: u16, stays: impl FnOnce(u16) -> bool) -> Step {
    match CURRENT.get() {
        NOBODY => Step::Common,
        NEW => {
            CURRENT.set(word(here, NONE_YET));
            Step::By(here)
        }
        last if lane(last) == here || stays(lane(last)) => Step::By(lane(last)),
        last => {
            CURRENT.set(word(here, NONE_YET));
            Step::Moves { from: lane(last) }
        }
    }
}

/// Notes that the thread's sender has put a message into its lane in this epoch of the lane.
#[inline]
pub(crate) fn has_put(epoch: u64) {
    let last = CURRENT.get();
    if last != NOBODY && self::epoch(last) != epoch {
        CURRENT.set(word(lane(last), epoch));
    }
}

#[cfg(test)]
mod tests {
    use super::{Step, Trail, has_put};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// A step of a sender that goes along with its worker.
    fn step(here: u16) -> Step {
        super::step(here, |_| false)
    }

    #[test]
    fn a_sender_stays_until_it_is_elsewhere() {
        let trail = Trail::new();
        assert_eq!(trail.under(|| [step(2), step(2)]), [Step::By(2); 2]);
        assert_eq!(trail.under(|| step(2)), Step::By(2));
        assert_eq!(trail.under(|| super::step(3, |lane| lane == 2)), Step::By(2));
        assert_eq!(trail.under(|| [step(3), step(3)]), [Step::Moves { from: 2 }, Step::By(3)]);
        assert_eq!(step(3), Step::Common);
    }

    #[test]
    fn a_sender_that_runs_inside_another_has_its_own_trail() {
        let (outer, inner) = (Trail::new(), Trail::new());
        outer.under(|| {
            assert_eq!(step(1), Step::By(1));
            inner.under(|| assert_eq!(step(2), Step::By(2)));
            assert_eq!(step(1), Step::By(1));
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

    #[test]
    fn a_trail_is_removed_once_an_epoch_has_begun_since_it_was_laid() {
        let trail = Trail::new();
        let send = |epoch| {
            step(1);
            has_put(epoch);
        };
        trail.under(|| send(1));
        assert!(!trail.remove_before(1));
        trail.under(|| send(2));
        assert!(!trail.remove_before(2), "it has sent in this epoch");
        assert!(trail.remove_before(3) && trail.is_removed());
        assert!(Trail::new().remove_before(1), "nothing was sent");
    }

    #[test]
    fn a_sender_that_sends_while_its_trail_is_removed_has_it_kept_anew() {
        let (trail, kept) = (Trail::new(), Trail::new());
        trail.under(|| {
            step(1);
            has_put(1);
        });
        let send = || {
            assert_eq!(step(1), Step::By(1));
            assert!(trail.remove_before(2));
            has_put(2);
        };
        trail.under_or(|left| kept.take_over(&left), send);
        assert_eq!(kept.under(|| step(3)), Step::Moves { from: 1 });
        // Messages from before the epoch began are ahead of its fences.
        let trail = Trail::new();
        trail.under(|| {
            step(1);
            has_put(1);
        });
        let send = || {
            step(1);
            has_put(1);
            assert!(trail.remove_before(2));
        };
        trail.under_or(|_| panic!("nothing is to be kept"), send);
        assert_eq!(trail.under(|| step(3)), Step::By(3));
    }

    #[test]
    fn a_sender_that_has_moved_and_sent_nothing_is_kept_for_one_epoch_more() {
        let trail = Trail::new();
        trail.under(|| step(1));
        assert!(!trail.remove_before(5));
        assert!(!trail.remove_before(5));
        assert!(trail.remove_before(6));
    }

    #[test]
    fn a_sender_that_sends_inside_of_itself_has_one_trail() {
        let trail = Trail::new();
        trail.under(|| {
            trail.under(|| {
                step(2);
                has_put(7);
            });
            step(2);
            has_put(6);
        });
        assert!(!trail.remove_before(7), "the later of both epochs counts");
        assert_eq!(trail.under(|| step(3)), Step::Moves { from: 2 });
    }
}
