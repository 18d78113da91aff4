//! Where the right to poll a task lies while the task waits for its public part.
//!
//! # What it is for
//! A task that waits is woken by one change of its state, and ends its poll by another: two locked
//! instructions per switch, which any number of wakers may call for. An actor that waits for its
//! mailbox has one waker, whoever puts a message in, and that one holds the mailbox's lock anyway.
//! So the actor leaves the right to poll it in the mailbox, under that lock, and the sender that
//! finds it there takes it to a queue. Neither changes the state.
//!
//! # Roles
//! The *poller* has the task's `Runnable` and has just seen its future return `Pending`; *senders*
//! put something into the public part; whoever *aborts* the task; whoever drops the *last*
//! reference to the part beside the future's. Wakers are no such references: whoever drops one, or
//! uses it up, has nothing to do with the berth.
//!
//! # States
//! The berth is empty, or holds the right. It lies under a lock of the public part. While the right
//! lies there the task's state says *queued*, as far as wakers are concerned: a wake adds to its
//! count and does nothing else.
//!
//! # Steps
//! *Park* (poller, after the poll): take the lock; if there is something in the part, or the task
//! is aborted, leave it and queue the task again; else store the right. From then on the poller
//! touches nothing of the task. *Put* (sender): take the lock, put something in, take the right if
//! it is there, leave the lock, queue the task. *Abort*: mark the state, then take the lock and the
//! right as a sender does. *Drop*: see [`Public`](crate::task::public::Public).
//!
//! # Why nothing is lost
//! Of a put and a park one comes first under the lock. If the put does, the poller finds something;
//! if the park does, the sender finds the right. The same holds for an abort, whose mark is made
//! before it takes the lock, and which the poller looks at inside. A wake of another kind that
//! comes while the right lies there has nobody to wake: a task parks only when it waits for its
//! part alone, so such a waker is one that its future has left behind. The right is taken by
//! whoever holds the lock, so by one; it is never dropped, because the berth is emptied before the
//! task completes: to complete it has to be polled.
//!
//! # Rejected
//! To store a waker in the mailbox and wake by it: two more locked instructions per turn, 6 of 29
//! ns per message of `latency_probe` here. To park inside the poll: a sender could have another
//! worker poll the task before the first poll has returned.

use super::header::Live;
use super::state::Pending;

/// What becomes of a task whose poll has returned `Pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It waits for a wake.
    Wait,
    /// It goes to the back of the queue.
    Again,
    /// It joins the visitors of the processor that its worker has noted: it travels there, or stays
    /// where nobody takes it away.
    Visit,
    /// The right to poll it lies in its public part, or has been there: the poller has it no more.
    Parked,
}

/// The public part of a task.
///
/// That it goes to other threads is asked of those that [spawn](crate::task::public::Public::spawn), not
/// here: a mailbox whose messages have references to mailboxes of the same messages is `Send`
/// because it is `Send`, which the compiler believes of that trait alone.
pub trait Part: 'static {
    /// Called by the poller after each poll that has returned `Pending`: the part says what becomes
    /// of the task, and parks it in its berth if that is what its future waits for.
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
    /// The right of the caller, who has the task's `Runnable`.
    #[inline(always)]
    pub(crate) fn new(task: Live<'a>) -> Self {
        Self(task)
    }
}

/// The place for the right.
#[derive(Debug)]
pub struct Berth {
    taken: bool,
    closed: bool,
}

impl Berth {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        Self { taken: false, closed: false }
    }

    /// One that nothing parks in any more.
    #[must_use]
    pub const fn closed() -> Self {
        Self { taken: false, closed: true }
    }

    /// Says that the task is about to complete.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether the task is about to complete or has done so.
    #[must_use]
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether the right is here.
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
            // Whoever drops the last reference to the part goes by the state.
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

    /// Takes the right, if it is here.
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

/// The right that has lain in the berth of some task. To be given to
/// [`Public::resume`](crate::task::public::Public::resume) of that task.
#[derive(Debug)]
#[must_use = "a right that is dropped is a task that is lost"]
pub struct Parked(());
