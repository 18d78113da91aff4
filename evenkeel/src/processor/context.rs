//! The context of a worker's thread: its seat, the task that it polls, its clocks and its memory.

#![allow(unsafe_code, reason = "it lends the polled task, and takes blocks of memory back")]

mod present;

use self::present::Present;
use super::forks::Forks;
use super::meter::Doing;
use super::runtimes;
use super::seat::Seat;
use super::shared::Shared;
use super::slice::Slice;
use crate::deque::note::Note;
use crate::policy::searching::{self, Rest};
use crate::policy::{Locality, locality, stealing};
use crate::primitives::ahead::Ahead;
use crate::primitives::atomic::{Edge, Ordering};
use crate::primitives::{clock, cpu, fence, thread};
use crate::queue::ring::Entry;
use crate::raw_task::blocks::{Blocks, Size};
use crate::raw_task::header::{Live, TaskPtr};
use crate::raw_task::id::{self, Id, Ids};
use crate::topology::Distance;
use crate::travel::journeys::Journeys;
use crate::travel::operations::Operations;
use std::cell::{Cell, RefCell};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Tasks for which [`Context::moved`] keeps room once a burst is over: 16 KiB. An estimate; no
/// benchmark sets it.
const SCRATCH: usize = 1_024;

/// The role of a thread with a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It polls tasks and runs fork-join.
    Worker,
    /// It does what a worker does, while it waits: see [`driver`](crate::scheduler::driver).
    Driver,
    /// It polls tasks: see [`relief`](crate::scheduler::relief).
    Relief,
    /// It runs fork-join: see [`spare`](crate::scheduler::spare).
    Spare,
}

impl Role {
    fn of(seat: &Seat) -> Self {
        match seat.me() {
            _ if seat.shared().driving.get().is_some() => Self::Driver,
            me if me < seat.shared().workers => Self::Worker,
            me if me < seat.shared().processors.capacity() => Self::Relief,
            _ => Self::Spare,
        }
    }
}

/// The state of one worker, on its stack.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) seat: Seat,
    /// The role of the thread.
    role: Role,
    /// The context that the thread had entered last before this one; null for none.
    pub(super) below: Cell<*const Self>,
    /// Its [number](id::among_threads).
    pub(crate) thread: u64,
    /// The poll that the thread makes.
    present: Present,
    /// The coarse clock: read once per batch.
    pub(crate) now: Cell<u64>,
    /// Whether its sockets are better in [another set](crate::policy::readiness::Catch).
    pub(crate) catches_few: Cell<bool>,
    /// What the poll has left for operations that do not wait.
    pub(crate) slice: Slice,
    /// The clock that is never behind, for deadlines.
    pub(crate) ahead: Ahead,
    /// The end of the time in which it makes its own full fences.
    fenced_until: Cell<u64>,
    ids: Cell<Ids>,
    /// Its knowledge of tasks that travel.
    pub(crate) journeys: Journeys,
    /// The operations on objects that have begun here.
    pub(crate) operations: Operations,
    /// Kept tasks that were woken here since the last `take_kept_woken`.
    kept_woken: Cell<u64>,
    /// Tasks that have become complete here since the last `take_completed`.
    completed: Cell<u64>,
    /// Whether the thread has entered another runtime, which is its current one.
    pub(crate) has_entered: Cell<bool>,
    /// What it notes about its own forks.
    pub(crate) forks: Forks,
    /// The time in which it does not yield its core, because it has lost it by a yield.
    rest: Cell<Rest>,
    /// Memory for tasks.
    blocks: RefCell<Blocks>,
    /// A buffer for tasks on their way from another processor's queue to this one's; empty
    /// otherwise.
    pub(crate) moved: RefCell<Vec<Entry>>,
}

impl Drop for Context {
    fn drop(&mut self) {
        self.blocks.take().leave_outside();
    }
}

impl Context {
    pub(crate) fn new(seat: Seat, now: u64) -> Self {
        Self {
            role: Role::of(&seat),
            below: Cell::new(ptr::null()),
            seat,
            thread: id::among_threads(),
            present: Present::none(),
            now: Cell::new(now),
            catches_few: Cell::new(true),
            slice: Slice::new(now),
            ahead: Ahead::default(),
            fenced_until: Cell::new(0),
            ids: Cell::default(),
            journeys: Journeys::default(),
            operations: Operations::default(),
            kept_woken: Cell::default(),
            completed: Cell::default(),
            has_entered: Cell::default(),
            forks: Forks::default(),
            rest: Cell::default(),
            blocks: RefCell::new(Blocks::take_inside()),
            moved: RefCell::default(),
        }
    }

    #[inline(always)]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        self.seat.shared()
    }

    /// Returns whether this is a relief.
    #[inline(always)]
    pub(crate) fn is_relief(&self) -> bool {
        self.role == Role::Relief
    }

    /// Returns whether this is a [spare](crate::scheduler::spare), which runs fork-join and polls
    /// no tasks.
    pub(crate) fn is_spare(&self) -> bool {
        self.role == Role::Spare
    }

    /// Returns whether the thread is a worker of its own, which has a place on the machine.
    pub(crate) fn has_place(&self) -> bool {
        self.role == Role::Worker
    }

    /// Yields the core to another thread for a moment; `now` is the time. Returns false if it is
    /// better to sleep, because threads that are no workers compute on the core.
    pub(crate) fn give_way(&self, now: u64) -> bool {
        let rest = self.rest.get();
        if !rest.is_over(now) {
            return false;
        }
        thread::yield_now();
        let after = clock::now();
        if !searching::has_lost_core(now, after)
            || !searching::rests(runtimes::awake(), cpu::count())
        {
            return true;
        }
        self.rest.set(rest.unless_old(now).next(after));
        let shared = self.shared();
        for worker in &shared.processors[..shared.workers] {
            let until = after.saturating_add(searching::CONTENDED);
            worker.published.contended_until.store(until, Ordering::Relaxed);
        }
        false
    }

    /// Returns the task that the thread polls.
    #[inline(always)]
    pub(crate) fn task(&self) -> Option<Live<'_>> {
        let task = TaskPtr::new(NonNull::new(self.polled())?);
        // SAFETY: while the pointer is set to a task, this thread has the right to poll that task.
        // The result does not outlive the context's borrow, which lies within the poll.
        Some(unsafe { Live::new(task) })
    }

    /// Gives the tasks that this worker spawns from now on numbers without a gap, and returns them.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn begin_row(&self) -> Ids {
        let row = Ids::row();
        self.ids.set(row);
        row
    }

    pub(crate) fn next_id(&self) -> Id {
        let mut ids = self.ids.get();
        let id = ids.take();
        self.ids.set(ids);
        id
    }

    /// Counts a kept task that was woken here.
    #[inline(always)]
    pub(crate) fn count_kept_woken(&self) {
        self.kept_woken.set(self.kept_woken.get() + 1);
    }

    /// Returns the number of kept tasks that were woken here since the last call.
    pub(crate) fn take_kept_woken(&self) -> u64 {
        self.kept_woken.take()
    }

    /// Counts a task that has become complete here.
    #[inline(always)]
    pub(crate) fn count_completed(&self) {
        self.completed.set(self.completed.get() + 1);
    }

    /// Returns the number of tasks that have become complete here since the last call.
    pub(crate) fn take_completed(&self) -> u64 {
        self.completed.take()
    }

    /// Takes a block of this size, unless its size is not kept.
    #[inline(always)]
    pub(crate) fn take_block(&self, size: Size) -> Option<NonNull<u8>> {
        self.blocks.borrow_mut().take(size)
    }

    /// Keeps a free block, if there is room.
    ///
    /// # Safety
    /// As [`Blocks::put`].
    #[inline(always)]
    pub(crate) unsafe fn keep_block(&self, block: NonNull<u8>, size: Size) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.blocks.borrow_mut().put(block, size) }
    }

    /// Returns whether another processor has asked for work since this one last looked.
    #[inline(always)]
    pub(crate) fn is_asked(&self) -> bool {
        self.seat.is_asked()
    }

    /// Returns the counters of the processor.
    #[inline(always)]
    pub(crate) fn counters(&self) -> &super::counters::Counters {
        &self.seat.processor().counters
    }

    /// Switches the worker's occupation to `doing`, and returns the former one.
    pub(crate) fn switch(&self, doing: Doing, now: u64) -> Doing {
        self.seat.processor().meter.switch(doing, now)
    }

    /// Calls `f`, which runs work that comes from this distance.
    pub(crate) fn while_running<R>(&self, distance: Distance, f: impl FnOnce() -> R) -> R {
        let before = self.switch(Doing::Running(distance), clock::now());
        let result = f();
        self.switch(before, clock::now());
        result
    }

    /// Returns the distance of another processor.
    pub(crate) fn distance(&self, other: usize) -> Distance {
        self.shared().distance(self.seat.me(), other)
    }

    /// Publishes fork-join jobs, because a thief has asked, and wakes a worker that may take them.
    #[cold]
    pub(crate) fn answer_thieves(&self) {
        let deque = &self.seat.processor().deque;
        deque.publish();
        fence::after_read_modify_write(Edge::IdlePush);
        let shared = self.shared();
        let napper = &self.seat.processor().napper;
        if let Some(worker) = napper.load(Ordering::Relaxed).checked_sub(1) {
            napper.store(0, Ordering::Relaxed);
            shared.unpark(worker);
        }
        let counts = shared.idle.counts();
        if counts.sleeping == 0 {
            return;
        }
        let note = deque.oldest().map_or(Note::default(), Note::from_bits);
        // The nearest of the workers that may take the job.
        let rank = |who: usize| {
            let distance = self.distance(who);
            locality::may_ever_take(shared.locality, note.offer(who), distance).then_some(distance)
        };
        if shared.locality == Locality::Strict {
            // The policy may not allow a searcher to take it.
            shared.idle.wake_nearest(rank, |_| true);
        } else if !shared.idle.wake_nearest(rank, |counts| counts.searching == 0) {
            // The others stay asleep; the watch sees them.
            shared.arm();
        }
    }

    /// Begins to make its own full fences, because a worker searches for its work.
    pub(crate) fn fence(&self, now: u64) {
        self.fenced_until.set(now.saturating_add(stealing::FENCED));
        self.seat.set_fenced(true);
    }

    /// Ends its own full fences, if no worker has searched for its work for long enough.
    #[inline]
    pub(crate) fn unfence(&self, now: u64) {
        if now >= self.fenced_until.get() {
            self.seat.set_fenced(false);
        }
    }

    /// Frees memory that a burst of tasks has left behind.
    pub(crate) fn trim(&self) {
        self.seat.trim();
        self.moved.borrow_mut().shrink_to(SCRATCH);
    }

    /// Returns whether there is no task beside the polled one.
    pub(crate) fn is_alone(&self) -> bool {
        self.ready() == 0 && self.seat.processor().inbox.is_empty()
    }

    /// Returns the number of [guests](crate::scheduler::guest) on this thread's stack.
    pub(crate) fn guests(&self) -> u32 {
        self.seat.processor().guests.load(Ordering::Relaxed)
    }

    /// Returns the number of ready tasks.
    pub(crate) fn ready(&self) -> usize {
        self.seat.processor().published.len()
    }
}
