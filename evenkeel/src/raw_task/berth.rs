//! The berth: where the right to poll a task lies while the task waits for its public part.
//!
//! # What it is for
//! One change of its state wakes a waiting task, and another ends its poll: two locked instructions
//! per switch, which allow for any number of wakers. An actor that waits for its mailbox is woken
//! only by a sender of a message, which holds the mailbox's lock anyway. So the actor leaves the
//! right to poll it in the mailbox, under that lock, and the sender that finds it there takes it to
//! a queue. Neither changes the state.
//!
//! # Roles
//! The *poller* has the task's `Runnable` and has just seen its future return `Pending`. *Senders*
//! put something into the public part. The *aborter* aborts the task. The *last holder* drops the
//! last reference to the part beside the future's. Wakers are not such references: dropping one, or
//! using it up, does not concern the berth.
//!
//! # States
//! The berth is empty, or holds the right. It is *deserted* once the future has found itself
//! without other references to the part, and ends by that, and *closed* when the future is about to
//! be gone. A lock of the public part guards it. While the right lies there the task's state says
//! *queued* to wakers: a wake adds to the count and does nothing else.
//!
//! # Steps
//! - *Park* (poller, after the poll): take the lock. If there is something in the part, or the task
//!   is aborted, release the lock and queue the task again; else store the right. From then on the
//!   poller touches nothing of the task.
//! - *Put* (sender): take the lock, put something in, take the right if it is there, release the
//!   lock, queue the task.
//! - *Abort* (aborter): mark the state, then take the lock and the right as a sender does.
//! - *Drop* (last holder): see [`Public`](crate::task::public::Public).
//!
//! # Why nothing is lost
//! Of a put and a park one comes first under the lock. If the put does, the poller finds something;
//! if the park does, the sender finds the right. The same holds for an abort: the aborter makes its
//! mark before it takes the lock, and the poller looks at the mark under the lock. Any other wake
//! that comes while the right lies there may do nothing. A task parks only when it waits for its
//! part alone, so such a waker is one that its future has left behind. Only a holder of the lock
//! takes the right, so it is taken once. It is never dropped: to complete, the task has to be
//! polled, so the berth is emptied before.
//!
//! # Rejected
//! Storing a waker in the mailbox and waking by it: two more locked instructions per turn, 6 of 29
//! ns per message of `latency_probe` here. Parking inside the poll: a sender could have another
//! worker poll the task before the first poll has returned.

use super::header::Live;
use super::state::Pending;

/// The next place of a task after its poll has returned `Pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It waits for a wake.
    Wait,
    /// It goes to the back of the queue.
    Again,
    /// It joins the visitors of the processor that its worker has noted: it travels there, or stays
    /// there, and no thief takes it away.
    Visit,
    /// The right to poll it lies in its public part, or a sender has already taken it from there:
    /// the poller does not have it.
    Parked,
}

/// The public part of a task.
///
/// The bound `Send` is on [`spawn`](crate::task::public::Public::spawn), not here: a mailbox of
/// messages that refer to mailboxes of the same messages is `Send` because it is `Send`. The
/// compiler accepts such a circle for that auto trait only.
pub trait Part: 'static {
    /// Decides the task's next place. The poller calls it after each poll that has returned
    /// `Pending`. The part parks the task in its berth if the future waits for the part alone.
    fn after_poll(&self, right: Right<'_>) -> After;

    /// Calls `f` with the part's berth, under the part's lock.
    fn with_berth<R>(&self, f: impl FnOnce(&mut Berth) -> R) -> R;
}

/// A task without a public part.
impl Part for () {
    #[inline(always)]
    fn after_poll(&self, _right: Right<'_>) -> After {
        After::Wait
    }

    fn with_berth<R>(&self, f: impl FnOnce(&mut Berth) -> R) -> R {
        f(&mut Berth::closed())
    }
}

/// The right of a poller, on its way into a berth.
#[derive(Debug)]
pub struct Right<'a>(Live<'a>);

impl<'a> Right<'a> {
    /// The right of the caller, which has the task's `Runnable`.
    #[inline(always)]
    pub(crate) fn new(task: Live<'a>) -> Self {
        Self(task)
    }
}

/// The place for the right.
#[derive(Debug)]
pub struct Berth {
    taken: bool,
    end: End,
}

/// How far the end of the task has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    No,
    Deserted,
    Closed,
}

impl Berth {
    /// Returns an empty berth.
    #[must_use]
    pub const fn new() -> Self {
        Self { taken: false, end: End::No }
    }

    /// Returns a closed berth, in which nothing parks.
    #[must_use]
    pub const fn closed() -> Self {
        Self { taken: false, end: End::Closed }
    }

    /// Closes the berth: the task is about to complete.
    pub fn close(&mut self) {
        self.end = End::Closed;
    }

    /// Notes that the future ends for want of references to the part.
    pub(crate) fn desert(&mut self) {
        self.end = End::Deserted;
    }

    /// Returns whether the future ends for want of references, or is about to be gone.
    pub(crate) fn is_left(&self) -> bool {
        self.end != End::No
    }

    /// Returns whether the task is complete or about to be.
    #[must_use]
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.end == End::Closed
    }

    /// Returns whether the right is in the berth.
    #[must_use]
    #[inline(always)]
    pub fn is_taken(&self) -> bool {
        self.taken
    }

    /// Parks the right, unless the task is to be polled again at once. For [`Part::after_poll`],
    /// which has found nothing in the part under the same hold of the lock.
    #[inline(always)]
    pub fn park(&mut self, right: Right<'_>) -> After {
        let task = right.0;
        if task.pending() != Pending::default() {
            // The last holder of a reference to the part goes by the state.
            task.state.fold(task.pending());
            task.set_pending(Pending::default());
        }
        let word = task.state.load();
        if word.is_aborted() || word.publics() == 1 {
            return After::Again;
        }
        self.taken = true;
        After::Parked
    }

    /// Takes the right, if it is in the berth.
    #[inline(always)]
    pub fn take(&mut self) -> Option<Parked> {
        std::mem::take(&mut self.taken).then_some(Parked(()))
    }
}

impl Default for Berth {
    fn default() -> Self {
        Self::new()
    }
}

/// The right taken from the berth of a task. Must be passed to
/// [`Public::resume`](crate::task::public::Public::resume) of that task.
#[derive(Debug)]
#[must_use = "a right that is dropped is a task that is lost"]
pub struct Parked(());
