//! The right to run a processor, and all that its holder does with the processor's queue.
//!
//! Each method enters the owner-biased lock, moves a few words and leaves; none runs a caller's
//! code inside, so the owner never meets itself. One thing inside may be a program's own: a queue
//! or a registry that grows or shrinks calls the global allocator, which therefore must not wake or
//! spawn tasks.

#![allow(
    unsafe_code,
    reason = "the owner enters the biased lock, and makes the right to a task that it has woken"
)]

use super::neighbours::Neighbours;
use super::shared::{Hooks, Shared};
use super::{Local, Processor};
use crate::policy::Locality;
use crate::primitives::atomic::{Edge, Ordering};
use crate::primitives::fence;
use crate::queue::biased::Owned;
use crate::queue::ring::Ends;
use crate::queue::ring::Entry;
use crate::raw_task::header::{Header, Live};
use crate::raw_task::rights::{Reference, Runnable};
use crate::raw_task::state::{Release, Signal};
use crate::timers::Rules;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// A queue's buffer is given back when it has at least this many places and uses an eighth of them
/// at most: 64 KiB, which a burst may leave behind. An estimate: below that the memory is not worth
/// a call of the allocator; no benchmark sets it.
const KEPT: usize = 4_096;

/// What a signal from the worker itself has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Signalled {
    /// The task has gone into the ready queue, which has this many tasks.
    Queued(usize),
    /// It was queued, running or complete; whether the reference that was used up was the last one.
    Already(Release),
}

/// The right to run one processor.
#[derive(Debug)]
pub(crate) struct Seat {
    shared: Arc<Shared>,
    me: usize,
    /// That of `shared` with this number, without two loads and a check of bounds on the way to it.
    processor: NonNull<Processor>,
    /// Where the processors of `shared` are, for [`owns`](Self::owns).
    processors: Range<usize>,
    /// The visitor that was taken last; null once a task has set out after that.
    came: Cell<*mut Header>,
    /// A seat may go to another thread, but not be used by two.
    not_sync: PhantomData<Cell<()>>,
}

// SAFETY: all that the pointer leads to is `Sync`, and lives as long as `shared`; the right that a
// seat is may go to another thread.
unsafe impl Send for Seat {}

impl Seat {
    /// A scheduler with a processor for each entry of `neighbours`, and the seats of its workers;
    /// with `relief`, the last processor is the relief's.
    pub(crate) fn all(
        neighbours: Box<[Neighbours]>,
        locality: Locality,
        hooks: Hooks,
        relief: bool,
        rules: Rules,
    ) -> (Arc<Shared>, impl Iterator<Item = Self>) {
        let shared = Shared::new(neighbours, locality, hooks, relief, rules);
        // Nobody else makes seats of workers, so there is one for each.
        let seats = (0..shared.workers).map({
            let shared = shared.clone();
            move |me| Self::of(&shared, me)
        });
        (shared, seats)
    }

    /// The seat of the relief, for whoever has been told to [start](crate::idle::Called::Start) it:
    /// one caller.
    pub(crate) fn of_relief(shared: &Arc<Shared>) -> Self {
        Self::of(shared, shared.workers)
    }

    /// The seat of a [spare](crate::scheduler::spare), which makes one.
    pub(crate) fn of_spare(shared: &Arc<Shared>, me: usize) -> Self {
        Self::of(shared, me)
    }

    fn of(shared: &Arc<Shared>, me: usize) -> Self {
        Self {
            processor: NonNull::from(shared.processor(me)),
            processors: shared.processors.as_ptr_range().start.addr()
                ..shared.processors.as_ptr_range().end.addr(),
            shared: shared.clone(),
            me,
            came: Cell::new(ptr::null_mut()),
            not_sync: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    #[inline(always)]
    pub(crate) fn me(&self) -> usize {
        self.me
    }

    #[inline(always)]
    pub(crate) fn processor(&self) -> &Processor {
        // SAFETY: it is one of the processors of `shared`, which this seat keeps alive and which
        // stay where they are, those of spares too.
        unsafe { self.processor.as_ref() }
    }

    /// The address that the header of a task of this processor keeps.
    #[inline(always)]
    pub(crate) fn home(&self) -> *const () {
        self.processor.as_ptr().cast_const().cast()
    }

    /// Whether the task's home is one of this scheduler's processors. A comparison of addresses, so
    /// that a wake does not touch the line of another processor.
    #[inline(always)]
    pub(crate) fn owns(&self, task: &Header) -> bool {
        let Range { start, end } = self.processors;
        task.home().addr().wrapping_sub(start) < end - start
    }

    #[inline(always)]
    fn local(&self) -> Owned<'_, Local> {
        // SAFETY: there is one seat per processor and it is not `Sync`, so there is one owner; no
        // method of the seat enters again, or calls a caller's code, while it has the result.
        unsafe { self.processor().local.enter() }
    }

    /// Has the owner pay for its fences, so that thieves need not, or no more.
    pub(crate) fn set_fenced(&self, fenced: bool) {
        let lock = &self.processor().local;
        if lock.is_fenced() != fenced {
            // SAFETY: as in `local`.
            unsafe { lock.set_fenced(fenced) }
        }
    }

    /// Whether another processor asks for work.
    #[inline(always)]
    pub(crate) fn is_asked(&self) -> bool {
        self.processor().local.is_asked()
    }

    /// The ends of the ready queue.
    #[inline(always)]
    fn ends(&self) -> &Ends {
        &self.processor().published.ready
    }

    /// Takes the oldest task. Without `visits` visitors come last: for a batch in whose beginning
    /// there was none.
    #[inline(always)]
    pub(crate) fn pop(&self, visits: bool) -> Option<Entry> {
        let published = &self.processor().published;
        let mut local = self.local();
        if visits && published.visitors.head_since() < published.ready.head_since() {
            let visitor = local.visitors.pop(&published.visitors);
            drop(local);
            return visitor.inspect(|visitor| self.came.set(visitor.task.ptr().as_ptr()));
        }
        let ready = local.ready.pop(&published.ready);
        drop(local);
        ready.or_else(|| self.pop_visitor())
    }

    /// Takes the oldest visitor.
    #[cold]
    fn pop_visitor(&self) -> Option<Entry> {
        let visitor = self.local().visitors.pop(&self.processor().published.visitors)?;
        self.came.set(visitor.task.ptr().as_ptr());
        Some(visitor)
    }

    /// Whether the task at this address is the visitor that was taken last, and has not
    /// [left](Self::forget_visitor) since.
    pub(crate) fn has_come(&self, task: *mut Header) -> bool {
        ptr::eq(self.came.get(), task)
    }

    /// Notes that the visitor which was taken last, if it is the task that was polled, is about to
    /// be elsewhere.
    #[inline(always)]
    pub(crate) fn forget_visitor(&self) {
        self.came.set(ptr::null_mut());
    }

    /// Whether there are visitors, or may be some.
    #[inline]
    pub(crate) fn has_visitors(&self) -> bool {
        self.processor().arrivals.is_in_use() || self.processor().published.visitors.len() > 0
    }

    /// What a poll has taken lately, in nanoseconds.
    pub(crate) fn mean_poll(&self) -> u64 {
        self.processor().published.mean_poll.load(Ordering::Relaxed)
    }

    /// Whether there is something that thieves are after: visitors are left where they are.
    #[inline]
    pub(crate) fn may_be_robbed(&self) -> bool {
        self.ends().len() > 0
    }

    /// Takes the task that stands `places` behind the oldest, which takes its place.
    #[cfg(not(any(loom, shuttle)))]
    #[cold]
    pub(crate) fn pop_behind(&self, places: usize) -> Option<Entry> {
        let mut local = self.local();
        local.ready.bring_forward(self.ends(), places);
        local.ready.pop(self.ends())
    }

    /// Puts a task to the back of the queue.
    #[inline(always)]
    pub(crate) fn push(&self, task: Runnable, now: u64) -> usize {
        self.local().ready.push(self.ends(), Entry { task, since: now })
    }

    /// Puts a task to the back of the queue that has waited for its public part. Unlike a signal it
    /// has changed nothing since, so where others may sleep the owner leaves the lock by a
    /// read-modify-write, as in [`push_new`](Self::push_new).
    #[inline(always)]
    pub(crate) fn push_resumed(&self, task: Runnable, now: u64) -> usize {
        let mut local = self.local();
        let ready = local.ready.push(self.ends(), Entry { task, since: now });
        if !self.is_lone() {
            local.leave_fenced(Edge::IdlePush);
        }
        ready
    }

    /// Whether no other worker can be asleep: this is the only one, and the relief is never on the
    /// stack of sleepers. It is called, by a worker that is away itself and so sees that it is: one
    /// from which no other steals is never found [stuck](crate::scheduler::stuck).
    #[inline(always)]
    fn is_lone(&self) -> bool {
        self.shared.workers == 1 && self.me == 0
    }

    /// Enters a new task into the registry and puts it to the back of the queue.
    ///
    /// The owner leaves the lock by a read-modify-write, unless it is [alone](Self::is_lone): the
    /// fence between the push and the look for sleepers (see [`idle`](crate::idle)).
    #[inline(always)]
    pub(crate) fn push_new(&self, task: Runnable, now: u64) -> usize {
        let mut local = self.local();
        let place = local.registry.enter(task.ptr());
        task.slot.store(place, Ordering::Relaxed);
        let ready = local.ready.push(self.ends(), Entry { task, since: now });
        if !self.is_lone() {
            local.leave_fenced(Edge::IdlePush);
        }
        ready
    }

    /// How many tasks the registry has.
    #[inline(always)]
    pub(crate) fn registered_count(&self) -> usize {
        self.local().registry.len()
    }

    /// Enters a task that no registry holds into that of this processor.
    #[inline(always)]
    pub(crate) fn register(&self, task: &Runnable) {
        let place = self.local().registry.enter(task.ptr());
        task.slot.store(place, Ordering::Relaxed);
    }

    /// Signals a task and, if that makes it ready, puts it to the back of the queue.
    ///
    /// An idle task is put there *before* the read-modify-write that makes it ready, and taken back
    /// if somebody else was first. Nobody can take from the queue meanwhile: this is all inside the
    /// lock. Its published length and age can be seen with an entry that is taken back. That is
    /// harmless: they are hints, which are out of date as soon as they are read, and whoever goes
    /// by them finds out under the lock what is there; at worst it has asked, fenced or stayed
    /// awake in vain. The locked instruction is the fence between the push and the look for
    /// sleepers (see [`idle`](crate::idle)): it costs nothing.
    ///
    /// With `consume` a counted reference is used up.
    #[inline(always)]
    pub(crate) fn signal(
        &self,
        task: Live<'_>,
        signal: Signal,
        consume: bool,
        now: u64,
    ) -> Signalled {
        let mut word = task.state.load();
        while !word.is_idle() {
            match task.state.signal(word, signal, consume) {
                Ok(release) => return Signalled::Already(release),
                Err(actual) => word = actual,
            }
        }
        let ends = self.ends();
        let mut local = self.local();
        loop {
            // SAFETY: if the signal below succeeds, it takes the task from idle to queued, and this
            // is its only `Runnable`; if not, the entry is removed before anybody can see it.
            let runnable = unsafe { Runnable::new(task.ptr()) };
            let ready = local.ready.push(ends, Entry { task: runnable, since: now });
            match task.state.signal(word, signal, consume) {
                Ok(_) => {
                    fence::after_read_modify_write(Edge::IdlePush);
                    return Signalled::Queued(ready);
                }
                Err(actual) => word = actual,
            }
            local.ready.take_back(ends);
            while !word.is_idle() {
                match task.state.signal(word, signal, consume) {
                    Ok(release) => return Signalled::Already(release),
                    Err(actual) => word = actual,
                }
            }
        }
    }

    /// Moves the oldest `amount` tasks to `entries`.
    pub(crate) fn split(&self, amount: usize, entries: &mut Vec<Entry>) {
        self.local().ready.drain(self.ends(), amount, entries);
    }

    /// Puts a task to the back of the visitors' queue.
    #[inline(never)]
    pub(crate) fn push_visitor(&self, task: Runnable, now: u64) {
        let ends = &self.processor().published.visitors;
        self.local().visitors.push(ends, Entry { task, since: now });
    }

    /// Has a task travel to processor `target`, at the end of the batch at the latest. True if that
    /// processor has to be told.
    #[must_use]
    pub(crate) fn depart(&self, task: Runnable, target: usize) -> bool {
        let departing = &self.processor().published.departing;
        if !departing.load(Ordering::Relaxed) {
            departing.store(true, Ordering::Relaxed);
        }
        let left = self.ends().len() + self.processor().published.visitors.len();
        let mut local = self.local();
        let is_time = local.departures.keep(self.shared.processors.len(), target, task, left);
        is_time && self.send_to(local, target)
    }

    /// Sends the tasks that are about to travel. Calls `tell` with each processor that has to be
    /// told, outside of the lock.
    #[cold]
    pub(crate) fn send_departed(&self, tell: impl Fn(usize)) {
        self.processor().published.departing.store(false, Ordering::Relaxed);
        for target in 0..self.shared.workers {
            if self.send_to(self.local(), target) {
                tell(target);
            }
        }
    }

    /// Sends the tasks that are about to travel to processor `target`. True if that has to be told.
    fn send_to(&self, mut local: Owned<'_, Local>, target: usize) -> bool {
        let receiver = &self.shared.processors[target];
        let sent = local.departures.send(self.me, target, (&receiver.arrivals, &receiver.inbox));
        self.shared.has_to_tell(target, sent)
    }

    /// Puts the tasks that have travelled here to the back of the visitors' queue, and says how
    /// many.
    #[cold]
    pub(crate) fn receive(&self, now: u64) -> usize {
        let ends = &self.processor().published.visitors;
        let mut local = self.local();
        let visitors = &mut local.visitors;
        self.processor().arrivals.receive(|task, lines| {
            visitors.receive(ends, Entry { task, since: now }, lines);
        })
    }

    /// Takes in what has come from another queue, oldest first, each task at the place of its age:
    /// a queue out of order would let tasks overtake older ones.
    pub(crate) fn take_in(&self, entries: &mut Vec<Entry>) {
        // One of them may have been the last visitor here.
        self.forget_visitor();
        let ends = self.ends();
        let mut local = self.local();
        let newest = local.ready.newest(ends);
        let mut own = Vec::new();
        if entries.first().is_some_and(|entry| entry.since < newest) {
            local.ready.drain(ends, usize::MAX, &mut own);
        }
        for entry in merge(own, entries.drain(..)) {
            local.ready.push(ends, entry);
        }
    }

    /// Removes a complete task from the registry.
    #[inline(always)]
    pub(crate) fn unregister(&self, place: u32) {
        self.local().registry.remove(place);
    }

    /// The tasks in the registry.
    pub(crate) fn registered(&self) -> Vec<Reference> {
        self.local().registry.iter().map(Reference::of).collect()
    }

    /// Gives back the buffer of a queue that a burst has blown up.
    pub(crate) fn trim(&self) {
        let mut local = self.local();
        let (capacity, len) = (local.ready.capacity(), self.ends().len());
        if capacity >= KEPT && len <= capacity / 8 {
            local.ready.resize(self.ends(), (len * 2).max(KEPT / 8));
        }
    }
}

/// Merges two queues by age.
fn merge(own: Vec<Entry>, others: impl Iterator<Item = Entry>) -> impl Iterator<Item = Entry> {
    let (mut own, mut others) = (own.into_iter().peekable(), others.peekable());
    std::iter::from_fn(move || match (own.peek(), others.peek()) {
        (Some(mine), Some(theirs)) if mine.since <= theirs.since => own.next(),
        (_, Some(_)) => others.next(),
        (_, None) => own.next(),
    })
}
