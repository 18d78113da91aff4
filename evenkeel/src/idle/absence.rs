//! Whether a worker can come to its tasks.
//!
//! # Roles
//! The *worker*, and the [relief](crate::scheduler::relief), which finds out who is
//! [stuck](crate::scheduler::stuck).
//!
//! # States
//! *Here*; *away*, inside fork-join, which the worker says itself; *stuck*, inside a long poll,
//! which the relief says. All but those who are here are counted in the word of `idle`. Beside that
//! it counts the waits that the worker has on its stack, by which the relief knows it as inside
//! fork-join.
//!
//! # Why the count is right
//! Each step from *here* adds one to the count, and each step back takes one off. *Here* ends by a
//! read-modify-write, the worker's or the relief's, so one of them counts. *Stuck* and *away* end
//! by their worker alone. From *stuck* to *away* it counts nothing: the relief has done so, or is
//! about to.
//! The count follows a step from *here*, and comes before a step back; the next step from *here*
//! is taken by who has seen that step back (release, acquire). So the count may be too low for a
//! moment, and never counts a worker that is here. Who counts late is the relief or a worker that
//! goes away, and looks at the queues after that.
//!
//! # Why no sleeper stays stuck
//! The relief finds a worker stuck, counts it in, and looks whether it sleeps; the worker announces
//! its sleep, counts itself as a sleeper, and looks whether it is stuck. Both counts are
//! read-modify-writes of one word, and who comes second sees what the other has done before. So the
//! worker counts itself out, or the relief wakes it, and then it does. Pushers that have seen all
//! away meanwhile have called the relief, and not woken the worker. Once it has counted itself out
//! it makes a full fence and looks at the queues, and finds what they have pushed. A worker that is
//! awake looks at the end of its batch.
//!
//! # Why the fence is a heavy one
//! A worker inside a poll looks at the word behind a [light](fence::light) fence, after it has
//! armed a [timer](crate::timers) or has sent tasks on their
//! [way](crate::travel). Before it goes away itself it makes a full fence; where the
//! relief counts it in, that makes the fence for both.
//!
//! # Rejected
//! The relief counts the sleeper out again instead of waking it: a push that has called the relief
//! would lie beside it. A full fence at each timer that is next: there are many for one stuck
//! worker.

use super::Idle;
use super::counts::{AWAY as ONE, Counts};
use crate::primitives::atomic::{AtomicU8, AtomicU32, Edge, Ordering};
use crate::primitives::fence;

const HERE: u8 = 0;
const AWAY: u8 = 1;
const STUCK: u8 = 2;

/// Where a worker is, as far as its tasks are concerned.
#[derive(Debug)]
pub(crate) struct Absence {
    place: AtomicU8,
    /// How many waits inside fork-join the worker has on its stack.
    waits: AtomicU32,
}

impl Absence {
    pub(crate) fn new() -> Self {
        Self { place: AtomicU8::new(HERE), waits: AtomicU32::new(0) }
    }

    /// Whether the worker cannot come to its tasks, as far as is known.
    #[inline(always)]
    pub(crate) fn is_away(&self) -> bool {
        self.place.load(Ordering::Relaxed) != HERE
    }

    /// Whether the worker waits inside fork-join.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waits.load(Ordering::Relaxed) > 0
    }

    /// Says that the worker, the caller, waits inside fork-join, up to and with the fence. If it is
    /// not away, [`ask_to_look`](Idle::ask_to_look) has to follow.
    pub(crate) fn begin_wait(&self) {
        self.waits.fetch_add(1, Ordering::AcqRel);
        fence::after_read_modify_write(Edge::StuckWait);
    }

    /// Says that the last of its waits is over.
    pub(crate) fn end_wait(&self) {
        self.waits.store(self.waits.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }
}

impl Idle {
    /// Counts a worker in that goes into fork-join, up to and with the fence. A look at every queue
    /// has to follow if that says that all are there, and a [call](Self::call) if there is
    /// anything.
    pub(crate) fn go_away(&self, absence: &Absence) -> Counts {
        let is_counted = absence.place.swap(AWAY, Ordering::AcqRel) == STUCK;
        let more = if is_counted { 0 } else { ONE };
        let word = self.word.fetch_add(more, Ordering::AcqRel).wrapping_add(more);
        fence::after_read_modify_write(Edge::IdleSleep);
        Counts::of(word)
    }

    /// Counts it out again.
    pub(crate) fn come_back(&self, absence: &Absence) {
        self.word.fetch_sub(ONE, Ordering::AcqRel);
        absence.place.store(HERE, Ordering::Release);
    }

    /// Counts a worker in that the relief, the caller, has found stuck, up to and with the heavy
    /// fence. The relief's last look has to follow. Nothing changes if the worker is away, and one
    /// that sleeps is woken.
    ///
    /// False if the kernel has refused the heavy fence: what the worker has just armed or sent may
    /// be seen late.
    #[must_use]
    pub(crate) fn find_stuck(&self, who: usize, absence: &Absence) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        if absence.place.compare_exchange(HERE, STUCK, success, failure).is_err() {
            return true;
        }
        self.word.fetch_add(ONE, Ordering::AcqRel);
        let is_fenced = fence::heavy(Edge::StuckFind);
        if !is_fenced {
            fence::full(Edge::StuckFind);
        }
        if self.is_asleep(who) {
            self.wake(who);
        }
        is_fenced || !fence::is_asymmetric()
    }

    /// Counts a worker out, the caller, that is not stuck any more: its own look, which costs one
    /// load.
    #[inline(always)]
    pub(crate) fn come_unstuck(&self, absence: &Absence) {
        if absence.place.load(Ordering::Relaxed) == STUCK {
            self.count_out(absence);
        }
    }

    /// The fence is for a worker that is about to sleep: a pusher who has seen it away has not
    /// woken it, so it looks at the queues once more.
    #[cold]
    fn count_out(&self, absence: &Absence) {
        self.come_back(absence);
        fence::full(Edge::IdleSleep);
    }
}
