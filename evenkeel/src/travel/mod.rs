//! How a task travels to another processor: in lines of pointers, for the price of a store each.
//!
//! # What it is for
//! An operation on an object with a home runs there. The task that wants it travels as one pointer,
//! and many tasks travel at a time. An inbox would do, but each push into it waits for the inbox's
//! cache line: 30 to 200 ns, where a store waits for nothing.
//!
//! # Roles
//! Each ordered pair of processors has a *passage*. Its *sender* is the worker of the first
//! processor. Its *receiver* is the thread that holds the [lock](crate::queue::biased) of the
//! second processor's queue: its worker or, if that is stuck, the thief that takes its queue by
//! force.
//!
//! # States
//! A passage is a ring of [`Line`]s, each of one cache line: up to [`TASKS`] pointers, and a word.
//! The word has the number of the line, counted from the making of the passage, the number of
//! pointers in it, and the number of cache lines of each task that are worth fetching. `taken` is
//! the number of lines that the receiver has emptied. Each processor has a `bell`, which tells its
//! receiver to look.
//!
//! # Steps
//! - *Depart*: the sender keeps the pointer until it has as many for one processor as the
//!   [policy](crate::policy::departing) says, or its batch ends.
//! - *Send*: line by line it writes the pointers, then the word (release); in the end it rings the
//!   `bell` of the receiver's processor (release). It learns from `taken` (acquire), which it reads
//!   once per lap, that a line is free; if it is not, its tasks go to the inbox.
//! - *Receive*: the receiver looks at the word of the next line (acquire). If the word has that
//!   line's number, it takes the line's tasks into the queue, and in the end it stores `taken`
//!   (release). By the lock a receiver sees what another one has taken.
//!
//! # Why nothing is lost
//! A word has the number of its line, so a receiver takes each line once, in order, and never one
//! of the lap before. A sender writes a line after it has seen that its former tasks are taken.
//! Between departure and sending the tasks lie beside the sender's queue, under its lock. The
//! sender sends them at the end of its batch at the latest, before it can fall asleep. If it is
//! stuck inside a poll until then, other workers see that it has some, and a thief that takes its
//! queue by force takes them too.
//! - *The bell is a hint*: a receiver that hears it finds the lines for which it was rung, but of
//!   two senders that ring at the same time only one is heard. So receivers look for lines at the
//!   end of each batch too.
//! - *Sleep*: the sender rings the bell, makes a light fence, and looks for sleepers. The sleeper
//!   announces itself, makes a heavy fence if anything has ever travelled to it, and looks at the
//!   passages ([`idle`](super::idle)). One of them sees the other. After the first line on a
//!   passage the sender makes a full fence: it sees the sleeper, or the sleeper sees that something
//!   has travelled to it. Where there is no pair of fences, the sender makes a full fence after
//!   every line.
//! - *Fork-join*: a receiver that goes away at the same moment may not see a line on its way, and
//!   the sender may not see that the receiver goes. Then the line waits for the thread that looks
//!   at the processor next: another worker; the sender, when its batch ends; or, if all are away by
//!   then, the relief, once the receiver has been away for
//!   [`STRANDED`](crate::policy::stealing::STRANDED). If the lookout has counted the sender or the
//!   receiver in as [stuck](crate::scheduler::lookout), it has made a heavy fence between that and
//!   its look. Otherwise the sender has gone away itself, with a full fence.
//! - *A stuck processor*: the thief that takes its queue empties its passages as well, like its
//!   inbox.
//!
//! # Rejected
//! The inbox: see above. A bell for each line: see [`departing`]. A full fence after each line: it
//! waits until the line is transferred, 20 to 200 ns. A locked buffer: three cache lines are
//! transferred instead of one. Pointers without a word, null for a free place: the receiver then
//! writes into the line, and the sender waits for the line when it looks for room.

#![allow(unsafe_code, reason = "rights to tasks lie in lines as addresses")]

pub(crate) mod inside;
pub(crate) mod journeys;
#[cfg(all(test, loom))]
mod model;
pub(crate) mod operations;
pub(crate) mod visitors;
pub(crate) mod whereabouts;

use crate::policy::departing;
use crate::primitives::atomic::{AtomicU64, Edge, Ordering, edge};
use crate::primitives::cell::UnsafeCell;
use crate::primitives::fence;
use crate::primitives::prefetch::LINE;
use crate::queue::inbox::Inbox;
use crate::raw_task::header::{Header, TaskPtr};
use crate::raw_task::rights::{Parcel, Runnable};
use crossbeam_utils::CachePadded;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

/// Pointers in a line: with the word they fill a cache line. One in the models.
const TASKS: usize = if cfg!(any(loom, shuttle)) { 1 } else { 7 };

/// The most tasks that a sender keeps for one processor.
const KEPT: usize = departing::LINES * TASKS;

/// Lines of a passage: 2 KiB, room for 224 tasks on their way at once; further ones go to the
/// inbox. 8 and 128 are no better; with 4 some rows make a tenth less (`evenkeel-bench run --bench
/// map,heap,histogram,graph,bank,directory --tasks-per-core 16 --runtime home`). Two in the models.
const LINES: u64 = if cfg!(any(loom, shuttle)) { 2 } else { 32 };

/// Bits of a word for the number of its tasks, and for the number of cache lines per task.
const COUNT: u32 = TASKS.ilog2() + 1;
const SIZE: u32 = 3;

/// The most cache lines of a task that are fetched: its header, and as much of its future as an
/// operation may need. With the header alone 16 heaps reach 0.8 of this throughput, and a histogram
/// 0.9 (the command of [`LINES`]).
const FETCHED: usize = 1 << SIZE;

/// A line: the unit that is sent.
#[derive(Debug)]
#[repr(align(64))]
struct Line {
    /// From the top: the number of the line, from one; the cache lines per task, less one; the
    /// number of tasks in the line.
    word: AtomicU64,
    tasks: UnsafeCell<[*mut Header; TASKS]>,
}

// SAFETY: the addresses are those of rights to tasks, which are `Send`.
unsafe impl Send for Line {}
// SAFETY: as above; the word and `taken` give the line to sender and receiver in turn.
unsafe impl Sync for Line {}

/// The way from one processor to another.
#[derive(Debug)]
pub(crate) struct Passage {
    lines: Box<[Line]>,
    /// Lines that the receiver has emptied.
    taken: CachePadded<AtomicU64>,
}

impl Passage {
    pub(crate) fn new() -> Self {
        let none = [ptr::null_mut(); TASKS];
        let line = |_| Line { word: AtomicU64::new(0), tasks: UnsafeCell::new(none) };
        Self { lines: (0..LINES).map(line).collect(), taken: CachePadded::new(AtomicU64::new(0)) }
    }

    fn line(&self, number: u64) -> &Line {
        &self.lines[(number % LINES) as usize]
    }

    /// Returns whether there is a line to receive.
    fn has_tasks(&self) -> bool {
        let next = self.taken.load(Ordering::Relaxed);
        self.line(next).word.load(Ordering::Relaxed) >> (SIZE + COUNT) == next + 1
    }

    /// Takes the tasks that have been sent, each with the number of its cache lines that are worth
    /// fetching. The caller is the only receiver.
    fn receive(&self, mut take: impl FnMut(Runnable, usize)) -> usize {
        // The lock orders receivers.
        let first = self.taken.load(Ordering::Relaxed);
        let (mut next, mut received) = (first, 0);
        loop {
            let line = self.line(next);
            let word = line.word.load(edge(Edge::TravelReceive, Ordering::Acquire));
            if word >> (SIZE + COUNT) != next + 1 {
                break;
            }
            let count = (word & ((1 << COUNT) - 1)) as usize;
            // SAFETY: the line has been sent, and its sender does not write it again before `taken`
            // says that it may.
            let tasks = line.tasks.with(|tasks| unsafe { *tasks });
            let size = (word >> COUNT) as usize % FETCHED + 1;
            tasks[..count].iter().for_each(|&task| take(right(task), size));
            received += count;
            next += 1;
        }
        if next != first {
            self.taken.store(next, edge(Edge::TravelTaken, Ordering::Release));
        }
        received
    }
}

/// The arrivals at one processor.
#[derive(Debug)]
pub(crate) struct Arrivals {
    bell: CachePadded<Bell>,
    /// A passage from each processor, once anything has travelled from there. On a cache line that
    /// no thread writes: each sender reads it each time.
    from: CachePadded<Box<[OnceLock<Passage>]>>,
}

/// The bell that tells a receiver to look.
#[derive(Debug)]
struct Bell {
    /// The number of the last line sent, and its sender; only the change counts.
    rung: AtomicU64,
    /// The value of `rung` when the receiver last looked.
    heard: AtomicU64,
}

impl Arrivals {
    /// The arrivals at a processor of a runtime with `processors` processors.
    pub(crate) fn new(processors: usize) -> Self {
        let from: Box<[_]> = (0..processors).map(|_| OnceLock::new()).collect();
        let bell = Bell { rung: AtomicU64::new(0), heard: AtomicU64::new(0) };
        Self { bell: CachePadded::new(bell), from: CachePadded::new(from) }
    }

    /// Returns whether the bell has rung since the receiver looked: two loads of a line in the
    /// receiver's cache.
    #[inline(always)]
    pub(crate) fn has_rung(&self) -> bool {
        self.bell.rung.load(Ordering::Relaxed) != self.bell.heard.load(Ordering::Relaxed)
    }

    /// Returns the value of the bell when the receiver last looked: it changes with each arrival.
    pub(crate) fn heard(&self) -> u64 {
        self.bell.heard.load(Ordering::Relaxed)
    }

    /// Returns whether tasks may travel here at all.
    pub(crate) fn has_senders(&self) -> bool {
        !self.from.is_empty()
    }

    /// Returns whether anything has ever travelled here.
    #[inline(always)]
    pub(crate) fn is_in_use(&self) -> bool {
        self.bell.rung.load(Ordering::Relaxed) != 0
    }

    /// The receiver's last look before it sleeps, after it has announced that. Returns whether
    /// there are tasks, or may be.
    pub(crate) fn look_before_sleep(&self) -> bool {
        self.is_in_use()
            && ((fence::is_asymmetric() && !fence::heavy(Edge::TravelSleep)) || self.has_tasks())
    }

    /// Returns whether there are tasks.
    fn has_tasks(&self) -> bool {
        self.from.iter().filter_map(OnceLock::get).any(Passage::has_tasks)
    }

    /// Takes the tasks that have arrived, each with the number of its cache lines that are worth
    /// fetching. The caller is the only receiver: it has the lock of the processor's queue.
    pub(crate) fn receive(&self, mut take: impl FnMut(Runnable, usize)) -> usize {
        let bell = self.bell.rung.load(edge(Edge::TravelHeard, Ordering::Acquire));
        self.bell.heard.store(bell, Ordering::Relaxed);
        let passages = self.from.iter().filter_map(OnceLock::get);
        passages.map(|passage| passage.receive(&mut take)).sum()
    }
}

/// Tasks that are about to leave for one processor.
#[derive(Debug)]
struct Waiting {
    tasks: [*mut Header; KEPT],
    count: usize,
    /// The most cache lines of one of the tasks, less one.
    size: u64,
    end: End,
}

/// A passage as its sender knows it.
#[derive(Debug, Default)]
struct End {
    /// The number of the next line, and the value of `taken` when the sender last looked.
    next: u64,
    taken: u64,
}

/// The departures from one processor: they lie beside its queue, under the same lock.
#[derive(Debug, Default)]
pub(crate) struct Departures {
    /// To each processor, once anything has left.
    to: Vec<Waiting>,
}

// SAFETY: the addresses are those of rights to tasks, which are `Send`.
unsafe impl Send for Departures {}

impl Departures {
    /// Keeps a task for processor `target` of `processors`. Returns whether it is time to
    /// [send](Self::send) all tasks kept for that processor, with `left` others left to run.
    #[inline]
    pub(crate) fn keep(
        &mut self,
        processors: usize,
        target: usize,
        task: Runnable,
        left: usize,
    ) -> bool {
        if self.to.is_empty() {
            self.open(processors);
        }
        let waiting = &mut self.to[target];
        waiting.keep(task);
        departing::leaves(waiting.count, TASKS, left)
    }

    #[cold]
    fn open(&mut self, processors: usize) {
        let none = [ptr::null_mut(); KEPT];
        self.to.resize_with(processors, || Waiting {
            tasks: none,
            count: 0,
            size: 0,
            end: End::default(),
        });
    }

    /// Sends the tasks that processor `me` has kept for processor `target`, which has these
    /// arrivals and this inbox.
    #[inline]
    pub(crate) fn send(
        &mut self,
        me: usize,
        target: usize,
        (arrivals, inbox): (&Arrivals, &Inbox<Runnable>),
    ) -> Sent {
        match self.to.get_mut(target) {
            Some(waiting) if waiting.count > 0 => waiting.send(me, arrivals, inbox),
            _ => Sent::Nothing,
        }
    }

    /// Passes all kept tasks to `take`.
    pub(crate) fn take(&mut self, mut take: impl FnMut(Runnable)) {
        for waiting in &mut self.to {
            let count = std::mem::take(&mut waiting.count);
            waiting.tasks[..count].iter().for_each(|&task| take(right(task)));
        }
    }
}

/// The result of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Sent {
    /// There was nothing to send.
    Nothing,
    /// The tasks went in lines. The sender has made the fence, and has to look whether the receiver
    /// may be asleep or away.
    InLines,
    /// Some tasks found no free line and went into the inbox, which the receiver may not look at
    /// soon: the sender has to tell it.
    Beside,
}

/// Restores the right that was kept as this address.
fn right(task: *mut Header) -> Runnable {
    let task = NonNull::new(task).expect("it is the address of a task");
    // SAFETY: the address comes from `into_ptr` of its sender's right, and is taken up once. The
    // one receiver takes it out of a line; sending or taking removes a waiting one from its place.
    unsafe { Runnable::from_ptr(TaskPtr::new(task)) }
}

impl Waiting {
    #[inline(always)]
    fn keep(&mut self, task: Runnable) {
        // A poll does not need the footer.
        let size = (task.vtable.footer - 1) / LINE;
        self.size = self.size.max(size.min(FETCHED - 1) as u64);
        self.tasks[self.count] = task.into_ptr().as_ptr();
        self.count += 1;
    }

    /// Sends the tasks that processor `me` has kept.
    fn send(&mut self, me: usize, arrivals: &Arrivals, inbox: &Inbox<Runnable>) -> Sent {
        let passage = arrivals.from[me].get_or_init(Passage::new);
        let count = std::mem::take(&mut self.count);
        let size = std::mem::take(&mut self.size);
        let before = self.end.next;
        let mut lines = self.tasks[..count].chunks(TASKS);
        let rest = lines.find(|tasks| !self.end.send(passage, size, tasks));
        if self.end.next != before {
            let ring = self.end.next << 16 | (me as u64 + 1);
            arrivals.bell.rung.store(ring, edge(Edge::TravelRing, Ordering::Release));
        }
        if let Some(rest) = rest {
            let rest = rest.iter().chain(lines.flatten());
            rest.for_each(|&task| inbox.push(right(task)));
            fence::after_read_modify_write(Edge::IdlePush);
            return Sent::Beside;
        }
        if before == 0 || !fence::is_asymmetric() {
            fence::full(Edge::TravelSent);
        } else {
            fence::light(Edge::TravelSent);
        }
        Sent::InLines
    }
}

impl End {
    /// Sends a line of these tasks, the longest of which has `size` + 1 cache lines, if there is
    /// room.
    #[inline]
    fn send(&mut self, passage: &Passage, size: u64, sent: &[*mut Header]) -> bool {
        if self.next - self.taken == LINES {
            self.taken = passage.taken.load(edge(Edge::TravelRoom, Ordering::Acquire));
            if self.next - self.taken == LINES {
                return false;
            }
        }
        let line = passage.line(self.next);
        self.next += 1;
        line.tasks.with_mut(|tasks| {
            // SAFETY: the line is free, and no receiver reads it before its word says that it has
            // been sent.
            let tasks = unsafe { &mut *tasks };
            tasks[..sent.len()].copy_from_slice(sent);
        });
        let word = self.next << (SIZE + COUNT) | size << COUNT | sent.len() as u64;
        line.word.store(word, edge(Edge::TravelSend, Ordering::Release));
        true
    }
}
