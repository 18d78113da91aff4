//! The seat: the right to run a processor, and its holder's operations on the processor's queue.
//!
//! Each method enters the owner-biased lock, moves a few words, or tasks between queues, and
//! leaves. None runs a caller's code inside, so the owner never enters twice. There is one
//! exception: a queue or a registry that grows or shrinks calls the global allocator, which may be
//! the program's own and therefore must not wake or spawn tasks.

#![allow(
    unsafe_code,
    reason = "the owner enters the biased lock, and makes the right to a task that it has woken"
)]

mod keep;

use super::neighbours::Neighbours;
use super::runtimes;
use super::shared::{Hooks, Shared};
use super::{Local, Processor};
use crate::policy::Locality;
use crate::primitives::atomic::{Edge, Ordering};
use crate::primitives::{cpu, fence};
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

/// A queue's buffer shrinks when it has at least this many places and uses at most an eighth of
/// them: 64 KiB, which a burst may leave behind. An estimate: less memory is not worth a call of
/// the allocator; no benchmark sets it.
const KEPT: usize = 4_096;

/// The result of a signal by the worker itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Signalled {
    /// The task has gone into the ready queue, which has this many tasks.
    Queued(usize),
    /// The task was queued, running or complete already. Holds whether the signal used up the last
    /// reference.
    Already(Release),
}

/// The right to run one processor.
#[derive(Debug)]
pub(crate) struct Seat {
    shared: Arc<Shared>,
    me: usize,
    /// The processor of `shared` with this number, by its address: it saves two loads and a check
    /// of bounds.
    processor: NonNull<Processor>,
    /// The addresses of the processors of `shared`, for [`owns`](Self::owns).
    processors: Range<usize>,
    /// The visitor that was taken last; null once a task has departed after that.
    came: Cell<*mut Header>,
    /// A seat may go to another thread, but two threads may not use it.
    not_sync: PhantomData<Cell<()>>,
}

// SAFETY: everything behind the pointer is `Sync` and lives as long as `shared`; the right itself
// may go to another thread.
unsafe impl Send for Seat {}

impl Seat {
    /// Makes a scheduler with a worker for each entry of `neighbours`, and the seats of these.
    pub(crate) fn all(
        neighbours: Box<[Neighbours]>,
        locality: Locality,
        hooks: Hooks,
        reliefs: usize,
        rules: Rules,
    ) -> (Arc<Shared>, impl Iterator<Item = Self>) {
        let shared = Shared::new(neighbours, locality, hooks, reliefs, rules);
        // Counted here, and not by a worker, which may be pinned.
        cpu::count();
        runtimes::enter(&shared);
        // No other code makes seats of workers, so there is one for each. In a current-thread
        // runtime, these are dropped before a driver makes one.
        let seats = (0..shared.workers).map({
            let shared = shared.clone();
            move |me| Self::of(&shared, me)
        });
        (shared, seats)
    }

    /// Makes the seat of the relief with this number, and its processor if it has none yet. The one
    /// caller was told to [start](crate::idle::Called::Start) it, and no other thread has its seat.
    pub(crate) fn of_relief(shared: &Arc<Shared>, number: usize) -> Self {
        shared.make_processors(number + 1);
        Self::of(shared, number)
    }

    /// Makes the seat of the only processor of a current-thread runtime. The one caller has
    /// [taken](super::driving) it, and no other thread has it.
    pub(crate) fn of_driver(shared: &Arc<Shared>) -> Self {
        Self::of(shared, 0)
    }

    /// Makes the seat of a [spare](crate::scheduler::spare), which calls this once.
    pub(crate) fn of_spare(shared: &Arc<Shared>, me: usize) -> Self {
        Self::of(shared, me)
    }

    fn of(shared: &Arc<Shared>, me: usize) -> Self {
        Self {
            processor: NonNull::from(shared.processor(me)),
            processors: shared.processors.addresses(),
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
        // SAFETY: it is one of the processors of `shared`, which this seat keeps alive; processors
        // stay where they are, those of spares too.
        unsafe { self.processor.as_ref() }
    }

    /// Returns the address of this processor, as the header of a task keeps it.
    #[inline(always)]
    pub(crate) fn home(&self) -> *const () {
        self.processor.as_ptr().cast_const().cast()
    }

    /// Returns whether the task's home is one of this scheduler's processors. A comparison of
    /// addresses, so that a wake does not touch the cache line of another processor.
    #[inline(always)]
    pub(crate) fn owns(&self, task: &Header) -> bool {
        let Range { start, end } = self.processors;
        task.home().addr().wrapping_sub(start) < end - start
    }

    #[inline(always)]
    fn local(&self) -> Owned<'_, Local> {
        // SAFETY: there is one seat per processor and it is not `Sync`, so there is one owner; no
        // method of the seat enters again, or runs a caller's code, while it has the result.
        unsafe { self.processor().local.enter() }
    }

    /// Sets whether the owner makes its own full fences, so that thieves need not make heavy ones.
    pub(crate) fn set_fenced(&self, fenced: bool) {
        let lock = &self.processor().local;
        if lock.is_fenced() != fenced {
            // SAFETY: as in `local`.
            unsafe { lock.set_fenced(fenced) }
        }
    }

    /// Returns whether another processor asks for work.
    #[inline(always)]
    pub(crate) fn is_asked(&self) -> bool {
        self.processor().local.is_asked()
    }

    /// Returns the ends of the ready queue.
    #[inline(always)]
    fn ends(&self) -> &Ends {
        &self.processor().published.ready
    }

    /// Takes the oldest task. Without `visits` visitors come last: for a batch that began without
    /// any.
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

    /// Returns whether the task at this address is the visitor that was taken last, and has not
    /// [left](Self::forget_visitor) since.
    pub(crate) fn has_come(&self, task: *mut Header) -> bool {
        ptr::eq(self.came.get(), task)
    }

    /// Forgets the visitor that was taken last: the task that was polled is about to leave, and it
    /// may be that visitor.
    #[inline(always)]
    pub(crate) fn forget_visitor(&self) {
        self.came.set(ptr::null_mut());
    }

    /// Returns whether there are visitors, or may be some.
    #[inline]
    pub(crate) fn has_visitors(&self) -> bool {
        self.processor().arrivals.is_in_use() || self.processor().published.visitors.len() > 0
    }

    /// Returns the moving average of the length of a poll, in nanoseconds.
    pub(crate) fn mean_poll(&self) -> u64 {
        self.processor().published.mean_poll.load(Ordering::Relaxed)
    }

    /// Returns whether there are tasks that thieves take: they leave visitors alone.
    #[inline]
    pub(crate) fn may_be_robbed(&self) -> bool {
        self.ends().len() > 0
    }

    /// Takes the task that stands `places` behind the oldest; the oldest moves to its place.
    #[cfg(not(any(loom, shuttle)))]
    #[cold]
    pub(crate) fn pop_behind(&self, places: usize) -> Option<Entry> {
        let mut local = self.local();
        local.ready.bring_forward(self.ends(), places);
        local.ready.pop(self.ends())
    }

    /// Takes the oldest task, or, if `is_long` holds for that one, the oldest for which it does
    /// not. Looks at most at `farthest` others.
    #[cold]
    pub(crate) fn pop_overtaking(
        &self,
        farthest: usize,
        is_long: impl Fn(&Header) -> bool,
    ) -> Option<Entry> {
        let ends = self.ends();
        let mut local = self.local();
        let is_short = |&place: &usize| {
            local.ready.behind(ends, place).is_some_and(|entry| !is_long(&entry.task))
        };
        let place = (0..=farthest.min(ends.len())).find(is_short).unwrap_or(0);
        local.ready.pop_behind(ends, place)
    }

    /// Puts a task at the back of the queue.
    #[inline(always)]
    pub(crate) fn push(&self, task: Runnable, now: u64) -> usize {
        self.local().ready.push(self.ends(), Entry { task, since: now })
    }

    /// Puts a task at the back of the queue that has waited for its public part. Unlike a signal,
    /// this changes no state word by a locked instruction. So where others may sleep, the owner
    /// leaves the lock by a read-modify-write, as in [`push_new`](Self::push_new).
    #[inline(always)]
    pub(crate) fn push_resumed(&self, task: Runnable, now: u64) -> usize {
        let mut local = self.local();
        let ready = local.ready.push(self.ends(), Entry { task, since: now });
        self.leave(local);
        ready
    }

    /// Leaves the lock after a push, up to and including the fence before the look for sleepers.
    #[inline(always)]
    fn leave(&self, local: Owned<'_, Local>) {
        if self.is_lone() {
            drop(local);
            fence::light_if_paired(Edge::LonePush);
        } else {
            local.leave_fenced(Edge::IdlePush);
        }
    }

    /// Returns whether no other worker can be asleep: this is the only one, and a relief is never
    /// on the stack of sleepers. The [lookout](crate::scheduler::lookout), which has to be called
    /// or may have counted the worker as stuck, makes the heavy fence for both.
    #[inline(always)]
    fn is_lone(&self) -> bool {
        self.shared.workers == 1 && self.me == 0
    }

    /// Enters a new task into the registry and puts it at the back of the queue.
    ///
    /// The owner leaves the lock by a read-modify-write, unless it is [alone](Self::is_lone): the
    /// fence between the push and the look for sleepers (see [`idle`](crate::idle)).
    #[inline(always)]
    pub(crate) fn push_new(&self, task: Runnable, now: u64) -> usize {
        let mut local = self.local();
        let place = local.registry.enter(task.ptr());
        task.slot.store(place, Ordering::Relaxed);
        let ready = local.ready.push(self.ends(), Entry { task, since: now });
        self.leave(local);
        ready
    }

    /// Returns the number of tasks in the registry.
    #[inline(always)]
    pub(crate) fn registered_count(&self) -> usize {
        self.local().registry.len()
    }

    /// Enters a task that no registry holds into the registry of this processor.
    #[inline(always)]
    pub(crate) fn register(&self, task: &Runnable) {
        let place = self.local().registry.enter(task.ptr());
        task.slot.store(place, Ordering::Relaxed);
    }

    /// Signals a task and, if that makes it ready, puts it at the back of the queue.
    ///
    /// It pushes an idle task *before* the read-modify-write that makes it ready, and takes it back
    /// if another waker was first. No thief can take from the queue meanwhile: all this happens
    /// inside the lock. Others may see a published length and age that include an entry which is
    /// then taken back. That is harmless: these are hints, out of date as soon as they are read,
    /// and a thief finds out under the lock what is there. At worst it has asked, fenced or stayed
    /// awake in vain. The locked instruction is the fence between the push and the look for
    /// sleepers (see [`idle`](crate::idle)): it costs nothing extra.
    ///
    /// With `consume` the signal uses up a counted reference.
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
            // is its only `Runnable`; if not, the entry is removed before any other thread can take
            // it.
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

    /// Puts a task at the back of the visitors' queue.
    #[inline(never)]
    pub(crate) fn push_visitor(&self, task: Runnable, now: u64) {
        let ends = &self.processor().published.visitors;
        self.local().visitors.push(ends, Entry { task, since: now });
    }

    /// Sends a task to processor `target`, at the end of the batch at the latest. Returns whether
    /// the caller has to tell that processor.
    #[must_use]
    pub(crate) fn depart(&self, task: Runnable, target: usize) -> bool {
        let left = self.ends().len() + self.processor().published.visitors.len();
        let mut local = self.local();
        // Under the lock: a thief stores that nothing departs, once it has taken what does.
        let departing = &self.processor().published.departing;
        if !departing.load(Ordering::Relaxed) {
            departing.store(true, Ordering::Relaxed);
        }
        let is_time = local.departures.keep(self.shared.workers, target, task, left);
        is_time && self.send_to(local, target)
    }

    /// Sends the tasks that are about to travel. Calls `tell`, outside of the lock, with each
    /// processor that has to be told.
    #[cold]
    pub(crate) fn send_departed(&self, tell: impl Fn(usize)) {
        self.processor().published.departing.store(false, Ordering::Relaxed);
        for target in 0..self.shared.workers {
            if self.send_to(self.local(), target) {
                tell(target);
            }
        }
    }

    /// Sends the tasks that are about to travel to processor `target`. Returns whether the caller
    /// has to tell that processor.
    fn send_to(&self, mut local: Owned<'_, Local>, target: usize) -> bool {
        let receiver = &self.shared.processors[target];
        let sent = local.departures.send(self.me, target, (&receiver.arrivals, &receiver.inbox));
        self.shared.has_to_tell(target, sent)
    }

    /// Puts the tasks that have travelled here at the back of the visitors' queue, and returns
    /// their number.
    #[cold]
    pub(crate) fn receive(&self, now: u64) -> usize {
        let ends = &self.processor().published.visitors;
        let mut local = self.local();
        let visitors = &mut local.visitors;
        self.processor().arrivals.receive(|task, lines| {
            visitors.receive(ends, Entry { task, since: now }, lines);
        })
    }

    /// Takes in tasks from another queue, oldest first, each at the place of its age: a queue out
    /// of order would let tasks overtake older ones.
    pub(crate) fn take_in(&self, entries: &mut Vec<Entry>) {
        // One of them may have been the last visitor here.
        self.forget_visitor();
        let ends = self.ends();
        let mut local = self.local();
        let newest = local.ready.newest(ends);
        let older = entries.partition_point(|entry| entry.since < newest);
        if let Some(youngest) = older.checked_sub(1).map(|last| entries[last].since) {
            // Own tasks that are no older than these stay where they are: this queue may be long,
            // and all its tasks from one poll.
            let is_older = || ends.head_since() < youngest;
            let own = std::iter::from_fn(|| is_older().then(|| local.ready.pop(ends))?);
            let own: Vec<_> = own.collect();
            let merged = merge(own, entries.drain(..older)).collect();
            local.ready.push_front(ends, merged);
        }
        for entry in entries.drain(..) {
            local.ready.push(ends, entry);
        }
    }

    /// Removes a complete task from the registry.
    #[inline(always)]
    pub(crate) fn unregister(&self, place: u32) {
        self.local().registry.remove(place);
    }

    /// Returns references to the tasks in the registry.
    pub(crate) fn registered(&self) -> Vec<Reference> {
        self.local().registry.iter().map(Reference::of).collect()
    }

    /// Shrinks the buffer of a queue after a burst.
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
