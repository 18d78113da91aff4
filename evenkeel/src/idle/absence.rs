//! The absence of workers: whether a worker can come to its tasks.
//!
//! # Roles
//! The *worker*, and the [lookout](crate::scheduler::lookout), which finds out which workers are
//! stuck. *Pushers* and *sleepers* are those of `idle`.
//!
//! # States
//! *Here*; *away*, inside fork-join, or *blocked* in place, which the worker sets itself; *stuck*,
//! inside a long poll or waker, which the lookout sets. The word of `idle` counts all workers that
//! are not *here*. `waits` counts the waits that the worker has on its stack, by which the lookout
//! knows that it is inside fork-join. A relief that blocks in place is *blocked* too, and is not
//! counted.
//!
//! # Why the count is right
//! Each step from *here* adds one to the count, and each step back takes one off. *Here* ends by a
//! read-modify-write, the worker's or the lookout's, so one of them counts. *Stuck* and *away* end
//! by their worker alone. The step from *stuck* to *away* counts nothing: the lookout has counted,
//! or is about to. The count follows a step from *here*, and comes before a step back. If the
//! lookout takes the next step from *here*, it has seen that step back (release, acquire). So the
//! count may be too low for a moment, and never counts a worker that is *here*. Only the lookout or
//! a worker that goes away counts late, and each looks at the queues after that. No model shows the
//! loss of that release or acquire: loom makes the changes of an atomic in the order in which it
//! runs them. Changes of the word acquire and release too: the worker that goes away last sees the
//! timers that the others have armed.
//!
//! # Why no sleeper stays stuck
//! The lookout finds a worker stuck, makes the heavy fence, and looks whether the worker sleeps.
//! The worker announces its sleep, makes a full fence, and looks whether it is stuck. So the worker
//! counts itself out, or the lookout wakes it, and then it counts itself out. Pushers that have
//! seen all away meanwhile have called the relief, and not woken the worker. Once the worker has
//! counted itself out, it makes a full fence, looks at the queues, and finds what they have pushed.
//! A worker that is awake looks at the end of its batch.
//!
//! # Why the fence is a heavy one
//! A worker inside a poll looks at the word behind a [light](fence::light) fence, after it has
//! armed a [timer](crate::timers) or has sent tasks on their [way](crate::travel). Before it goes
//! away itself it makes a full fence. Where the lookout counts it in, the lookout makes the heavy
//! fence for both; from then on a worker that arms a timer makes a full one.
//!
//! # Rejected
//! The lookout counts the sleeper out again instead of waking it: if a pusher has called the
//! relief, its task would lie beside a sleeper. A full fence at each timer that becomes the next
//! one of any worker: there are many of those for one stuck worker.

use super::Idle;
use super::counts::{AWAY as ONE, Counts};
use crate::primitives::atomic::{AtomicU8, AtomicU32, Edge, Ordering};
use crate::primitives::fence;

const HERE: u8 = 0;
const AWAY: u8 = 1;
const STUCK: u8 = 2;
const BLOCKED: u8 = 3;

/// The state of a worker: *here*, *away*, *blocked* or *stuck*.
#[derive(Debug)]
pub(crate) struct Absence {
    place: AtomicU8,
    /// The number of waits inside fork-join that the worker has on its stack.
    waits: AtomicU32,
}

impl Absence {
    pub(crate) fn new() -> Self {
        Self { place: AtomicU8::new(HERE), waits: AtomicU32::new(0) }
    }

    /// Returns whether the worker is *away* or *stuck*, as far as is known.
    #[inline(always)]
    pub(crate) fn is_away(&self) -> bool {
        self.place.load(Ordering::Relaxed) != HERE
    }

    /// Returns whether the worker, the caller, is away by a step of its own.
    pub(crate) fn has_gone(&self) -> bool {
        matches!(self.place.load(Ordering::Relaxed), AWAY | BLOCKED)
    }

    /// Returns whether the lookout has counted the worker as *stuck*.
    pub(crate) fn is_stuck(&self) -> bool {
        self.place.load(Ordering::Relaxed) == STUCK
    }

    /// Returns whether the worker has said that it blocks inside its poll.
    pub(crate) fn is_blocked(&self) -> bool {
        self.place.load(Ordering::Relaxed) == BLOCKED
    }

    /// Returns whether the worker is inside a poll that lasts: its visitors are not left to it.
    pub(crate) fn is_inside_poll(&self) -> bool {
        matches!(self.place.load(Ordering::Relaxed), STUCK | BLOCKED)
    }

    /// Says that a relief, the caller, blocks inside its poll, or does not any more. Reliefs are
    /// not counted.
    pub(crate) fn block_relief(&self, blocks: bool) {
        self.place.store(if blocks { BLOCKED } else { HERE }, Ordering::Relaxed);
    }

    /// Whether the worker waits inside fork-join.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waits.load(Ordering::Relaxed) > 0
    }

    /// Records that the worker, the caller, waits inside fork-join, up to and including the fence.
    /// If it is not away, it then has to call [`ask_to_look`](Idle::ask_to_look).
    pub(crate) fn begin_wait(&self) {
        self.waits.fetch_add(1, Ordering::AcqRel);
        fence::after_read_modify_write(Edge::StuckWait);
    }

    /// Records that the worker's innermost wait is over.
    pub(crate) fn end_wait(&self) {
        self.waits.store(self.waits.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }
}

impl Idle {
    /// Counts in a worker that goes into fork-join or blocks in place, up to and including the
    /// fence. If the result says that all are away, the caller has to look at every queue, and to
    /// [call](Self::call) the relief if there is anything.
    pub(crate) fn go_away(&self, absence: &Absence) -> Counts {
        self.go(absence, AWAY)
    }

    /// The same for a worker that is about to block inside its poll.
    pub(crate) fn block(&self, absence: &Absence) -> Counts {
        self.go(absence, BLOCKED)
    }

    fn go(&self, absence: &Absence, place: u8) -> Counts {
        let is_counted = absence.place.swap(place, Ordering::AcqRel) == STUCK;
        let more = if is_counted { 0 } else { ONE };
        let word = self.word.fetch_add(more, Ordering::AcqRel).wrapping_add(more);
        fence::after_read_modify_write(Edge::IdleSleep);
        Counts::of(word)
    }

    /// Counts the worker out again.
    pub(crate) fn come_back(&self, absence: &Absence) {
        self.word.fetch_sub(ONE, Ordering::AcqRel);
        // Release ordering: the next step from *here* counts later than this.
        absence.place.store(HERE, Ordering::Release);
    }

    /// Counts in a worker that the lookout, the caller, has found stuck, up to and including the
    /// heavy fence. The lookout's last look has to follow. Nothing changes if the worker is away; a
    /// worker that sleeps is woken.
    ///
    /// Returns false if the kernel has refused the heavy fence: the lookout may then see late what
    /// the worker has just armed or sent.
    #[must_use]
    pub(crate) fn find_stuck(&self, number: usize, absence: &Absence) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        if absence.place.compare_exchange(HERE, STUCK, success, failure).is_err() {
            return true;
        }
        self.word.fetch_add(ONE, Ordering::AcqRel);
        let is_fenced = fence::heavy(Edge::StuckFind);
        if !is_fenced {
            fence::full(Edge::StuckFind);
        }
        if self.is_asleep(number) {
            self.wake(number);
        }
        is_fenced || !fence::is_asymmetric()
    }

    /// Counts out the worker, the caller, if it was counted as stuck, and returns whether it was.
    /// The check costs one load.
    #[inline(always)]
    pub(crate) fn come_unstuck(&self, absence: &Absence) -> bool {
        let was_stuck = absence.place.load(Ordering::Relaxed) == STUCK;
        if was_stuck {
            self.count_out(absence);
        }
        was_stuck
    }

    /// The fence is for a worker that is about to sleep: a pusher that has seen it away has not
    /// woken it, so it looks at the queues once more.
    #[cold]
    fn count_out(&self, absence: &Absence) {
        self.come_back(absence);
        fence::full(Edge::IdleSleep);
    }
}
