//! Whether a worker can come to its tasks.
//!
//! # Roles
//! The *worker*, and the [relief](crate::scheduler::relief), which finds out who is
//! [stuck](crate::scheduler::stuck).
//!
//! # States
//! *Here*; *away*, inside fork-join, which the worker says itself; *stuck*, inside a long poll,
//! which the relief says. All but those who are here are counted in the word of `idle`.
//!
//! # Why the count is right
//! Each step from *here* adds one to the count, and each step back takes one off. *Here* ends by a
//! read-modify-write, the worker's or the relief's, so one of them counts. From *stuck* to *away*
//! the worker counts nothing: the relief has done so, or is about to. *Stuck* ends by a
//! read-modify-write too, and *away* by its worker alone. A step may be counted after the one that
//! follows it, and the count is off by one between the two. Who has counted late is the relief or a
//! worker that goes away, and looks at the queues after that.
//!
//! # Why no sleeper stays stuck
//! The relief counts a worker in, makes a full fence, and looks whether it sleeps; the worker
//! announces its sleep, makes a full fence, and looks whether it is stuck. One of them sees the
//! other, and takes it back. A worker that is awake looks at the end of its batch.

use super::Idle;
use super::counts::{AWAY as ONE, Counts};
use crate::primitives::atomic::{AtomicU8, Edge, Ordering};
use crate::primitives::fence;

const HERE: u8 = 0;
const AWAY: u8 = 1;
const STUCK: u8 = 2;

/// Where a worker is, as far as its tasks are concerned.
#[derive(Debug)]
pub(crate) struct Absence(AtomicU8);

impl Absence {
    pub(crate) fn new() -> Self {
        Self(AtomicU8::new(HERE))
    }

    /// Whether the worker cannot come to its tasks, as far as is known.
    #[inline(always)]
    pub(crate) fn is_away(&self) -> bool {
        self.0.load(Ordering::Relaxed) != HERE
    }
}

impl Idle {
    /// Counts a worker in that goes into fork-join, up to and with the fence. A look at every queue
    /// has to follow if that says that all are there, and a [call](Self::call) if there is
    /// anything.
    pub(crate) fn go_away(&self, absence: &Absence) -> Counts {
        let is_counted = absence.0.swap(AWAY, Ordering::AcqRel) == STUCK;
        let more = if is_counted { 0 } else { ONE };
        let word = self.word.fetch_add(more, Ordering::AcqRel).wrapping_add(more);
        fence::after_read_modify_write(Edge::IdleSleep);
        Counts::of(word)
    }

    /// Counts it out again.
    pub(crate) fn come_back(&self, absence: &Absence) {
        absence.0.store(HERE, Ordering::Relaxed);
        self.word.fetch_sub(ONE, Ordering::AcqRel);
    }

    /// Counts a worker in that the relief, the caller, has found stuck, up to and with the fence.
    /// The relief's last look has to follow. Nothing changes if the worker is away or asleep.
    pub(crate) fn find_stuck(&self, who: usize, absence: &Absence) {
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        if absence.0.compare_exchange(HERE, STUCK, success, failure).is_ok() {
            self.word.fetch_add(ONE, Ordering::AcqRel);
            fence::after_read_modify_write(Edge::IdleSleep);
            if self.is_asleep(who) {
                self.come_unstuck(absence);
            }
        }
    }

    /// Counts a worker out that is not stuck any more: its own look, which costs one load.
    #[inline(always)]
    pub(crate) fn come_unstuck(&self, absence: &Absence) {
        if absence.0.load(Ordering::Relaxed) == STUCK {
            self.count_out(absence);
        }
    }

    /// The fence is for a worker that is about to sleep: a pusher who has seen it away has not
    /// woken it, so it looks at the queues once more.
    #[cold]
    fn count_out(&self, absence: &Absence) {
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        if absence.0.compare_exchange(STUCK, HERE, success, failure).is_ok() {
            self.word.fetch_sub(ONE, Ordering::AcqRel);
            fence::after_read_modify_write(Edge::IdleSleep);
        }
    }
}
