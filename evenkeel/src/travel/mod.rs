//! How a task travels to another processor: in lines of pointers, for the price of a store each.
//!
//! # What it is for
//! An operation on an object with a home runs there. The task that wants it goes over with all it
//! has, which is one pointer, and many go at a time. An inbox would do, but each push into it waits
//! for its line to come over: 30 to 200 ns, where a store waits for nothing.
//!
//! # Roles
//! Each pair of processors has a *passage* one way and one the other. Its *sender* is the worker of
//! the one processor; its *receiver* is whoever has the [lock](crate::queue::biased) of the other's queue:
//! the worker or, if that is stuck, who takes its queue by force.
//!
//! # States
//! A passage is a ring of [`Line`]s, each of one cache line: up to [`TASKS`] pointers, and a word
//! that says which line of the passage this is, counted from its making, how many pointers are in
//! it, and how many cache lines of each task are worth fetching. `taken` says how many lines the
//! receiver is done with.
//!
//! # Steps
//! *Depart*: the sender keeps the pointer until it has as many for one processor as the
//! [policy](crate::policy::departing) says, or its batch ends. *Send*: line by line it writes the
//! pointers, then the word (release); in the end the `bell` of the receiver's processor (release).
//! It learns from `taken` (acquire) that a line is free, which it looks at once in a lap; if it is
//! not, its tasks go to the inbox. *Receive*: look at the word of the next line (acquire); if it is
//! that line's, take its tasks into the queue, and in the end store `taken` (release). One receiver
//! sees by the lock what another has taken.
//!
//! # Why nothing is lost
//! A word has the number of its line, so a receiver takes each line once, in their order, and never
//! one of the lap before. A sender writes a line after it has seen that its former tasks are taken.
//! Between departure and sending the tasks lie beside the sender's queue, under its lock. It sends
//! them at the end of its batch at the latest, before it can fall asleep; should it be stuck inside
//! a poll until then, whoever takes its queue by force takes them too, and others see that it has
//! some.
//! *The bell is a hint*: who hears it finds what it was rung for, but of two that ring at the same
//! time only one is heard. What has been sent is looked for at the end of each batch too.
//! *Sleep*: the sender looks for sleepers after the bell, behind a light fence; who falls asleep
//! announces it, makes a heavy fence if anything has ever travelled to it, and looks at the
//! passages ([`idle`](super::idle)). One of them sees the other. What is sent first on a passage is
//! followed by a full fence: the sender sees the sleeper, or the sleeper sees that something has
//! travelled to it. Where there is no pair of fences, all is.
//! *Fork-join*: a receiver that goes away at the same moment may not see what is on its way, nor
//! the sender that it goes. Then the line waits for whoever looks at the processor next: another
//! worker; the sender, when its batch ends; or, if all are away by then, the relief. If that has
//! counted the sender in, or the receiver, as [stuck](crate::scheduler::stuck), it has made a heavy fence
//! between that and its look. Otherwise the sender has gone away itself, by a full one.
//! *A stuck processor*: its passages are emptied like its inbox, by whoever takes its queue.
//!
//! # Rejected
//! The inbox: see above. A bell for each line: see [`departing`]. A full fence after each line: it
//! waits until that has come over, 20 to 200 ns. A locked buffer: three lines come over where here
//! it is one. Pointers without a word, null where there is none: the receiver then writes into the
//! line, and the sender waits for it when it looks whether there is room.

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

/// Pointers in a line: with its word they are a cache line. One in the models.
const TASKS: usize = if cfg!(any(loom, shuttle)) { 1 } else { 7 };

/// Tasks that are kept for one processor at most.
const KEPT: usize = departing::LINES * TASKS;

/// Lines of a passage: 2 KiB, room for 224 tasks that travel the same way at once; beyond that they
/// go to the inbox. 8 and 128 are no better, with 4 some rows make a tenth less (`evenkeel-bench
/// run --bench map,heap,histogram,graph,bank,directory --tasks-per-core 16 --runtime home`). Two in
/// the models.
const LINES: u64 = if cfg!(any(loom, shuttle)) { 2 } else { 32 };

/// Bits of a word for the number of its tasks, and for that of the lines that each of them has.
const COUNT: u32 = TASKS.ilog2() + 1;
const SIZE: u32 = 3;

/// Cache lines of a task that are fetched: its header, and as much of its future as an operation
/// may need. With the header alone 16 heaps make 0.8 and a histogram 0.9 of this (the
/// command of [`LINES`]).
const FETCHED: usize = 1 << SIZE;

/// What goes over at a time.
#[derive(Debug)]
#[repr(align(64))]
struct Line {
    /// The number of the line, from one, above how many lines its tasks have, less one, above how
    /// many tasks are in it.
    word: AtomicU64,
    tasks: UnsafeCell<[*mut Header; TASKS]>,
}

// SAFETY: the addresses are those of rights to tasks, which are `Send`.
unsafe impl Send for Line {}
// SAFETY: as above; of sender and receiver one has the line at a time.
unsafe impl Sync for Line {}

/// One way from one processor to another.
#[derive(Debug)]
pub(crate) struct Passage {
    lines: Box<[Line]>,
    /// Lines that the receiver is done with.
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

    /// Whether there is a line to be received.
    fn has_tasks(&self) -> bool {
        let next = self.taken.load(Ordering::Relaxed);
        self.line(next).word.load(Ordering::Relaxed) >> (SIZE + COUNT) == next + 1
    }

    /// Takes what has been sent, each task with how many of its cache lines are worth fetching. The
    /// caller is the only receiver.
    fn receive(&self, mut take: impl FnMut(Runnable, usize)) -> usize {
        // One receiver follows another by the lock.
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

/// What comes to one processor.
#[derive(Debug)]
pub(crate) struct Arrivals {
    bell: CachePadded<Bell>,
    /// One from each processor, once anything has travelled from there. On a line that nobody
    /// writes to: a sender looks here each time.
    from: CachePadded<Box<[OnceLock<Passage>]>>,
}

/// What tells a receiver to look.
#[derive(Debug)]
struct Bell {
    /// What was sent last, by whom; only that it changes counts.
    rung: AtomicU64,
    /// What that was when the receiver last looked.
    heard: AtomicU64,
}

impl Arrivals {
    /// For a processor of so many.
    pub(crate) fn new(processors: usize) -> Self {
        let from: Box<[_]> = (0..processors).map(|_| OnceLock::new()).collect();
        let bell = Bell { rung: AtomicU64::new(0), heard: AtomicU64::new(0) };
        Self { bell: CachePadded::new(bell), from: CachePadded::new(from) }
    }

    /// Whether the bell has rung since the receiver looked: two loads of a line that is the
    /// receiver's.
    #[inline(always)]
    pub(crate) fn has_rung(&self) -> bool {
        self.bell.rung.load(Ordering::Relaxed) != self.bell.heard.load(Ordering::Relaxed)
    }

    /// What was rung when the receiver last looked: it changes with each arrival.
    pub(crate) fn heard(&self) -> u64 {
        self.bell.heard.load(Ordering::Relaxed)
    }

    /// Whether anything has ever travelled here.
    #[inline(always)]
    pub(crate) fn is_in_use(&self) -> bool {
        self.bell.rung.load(Ordering::Relaxed) != 0
    }

    /// The receiver's last look before it sleeps, which it has announced: whether there are tasks,
    /// or may be.
    pub(crate) fn look_before_sleep(&self) -> bool {
        self.is_in_use()
            && ((fence::is_asymmetric() && !fence::heavy(Edge::TravelSleep)) || self.has_tasks())
    }

    /// Whether there are tasks.
    fn has_tasks(&self) -> bool {
        self.from.iter().filter_map(OnceLock::get).any(Passage::has_tasks)
    }

    /// Takes what has come, each task with how many of its cache lines are worth fetching. The
    /// caller is the only receiver: it has the lock of the processor's queue.
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
    /// The most cache lines that one of them has, less one.
    size: u64,
    end: End,
}

/// A passage as its sender knows it.
#[derive(Debug, Default)]
struct End {
    /// The line to be sent next, and what `taken` was when last looked at.
    next: u64,
    taken: u64,
}

/// What leaves one processor: it lies beside its queue, under the same lock.
#[derive(Debug, Default)]
pub(crate) struct Departures {
    /// To each processor, once anything has left.
    to: Vec<Waiting>,
}

// SAFETY: the addresses are those of rights to tasks, which are `Send`.
unsafe impl Send for Departures {}

impl Departures {
    /// Keeps a task for processor `target` of `processors`. True if it is time to
    /// [send](Self::send) all that have been kept for that processor, `left` others being left to
    /// run.
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

    /// Sends what processor `me` has kept for processor `target`, whose arrivals and inbox these
    /// are.
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

    /// Gives all that has been kept to `take`.
    pub(crate) fn take(&mut self, mut take: impl FnMut(Runnable)) {
        for waiting in &mut self.to {
            let count = std::mem::take(&mut waiting.count);
            waiting.tasks[..count].iter().for_each(|&task| take(right(task)));
        }
    }
}

/// What has come of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Sent {
    /// There was nothing to send.
    Nothing,
    /// The tasks went in lines. The sender has made the fence, and has to look whether the receiver
    /// may be asleep or away.
    InLines,
    /// Some tasks found no free line and went into the inbox, which the receiver may not look at
    /// soon: it has to be told.
    Beside,
}

/// The right that has been kept as this address.
fn right(task: *mut Header) -> Runnable {
    let task = NonNull::new(task).expect("it is the address of a task");
    // SAFETY: it comes from `into_ptr` of the right that its sender has had, and each address that
    // is kept or sent is looked at once: that in a line by its one receiver, that which waits when
    // it is sent or taken, which empties its place.
    unsafe { Runnable::from_ptr(TaskPtr::new(task)) }
}

impl Waiting {
    #[inline(always)]
    fn keep(&mut self, task: Runnable) {
        // What comes after the future is for the end.
        let size = (task.vtable.footer - 1) / LINE;
        self.size = self.size.max(size.min(FETCHED - 1) as u64);
        self.tasks[self.count] = task.into_ptr().as_ptr();
        self.count += 1;
    }

    /// Sends what processor `me` has kept.
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
    /// Sends a line of these tasks, the longest of which has `size` and one lines, if there is
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
            // SAFETY: the line is free, and nobody reads it before its word says that it has been
            // sent.
            let tasks = unsafe { &mut *tasks };
            tasks[..sent.len()].copy_from_slice(sent);
        });
        let word = self.next << (SIZE + COUNT) | size << COUNT | sent.len() as u64;
        line.word.store(word, edge(Edge::TravelSend, Ordering::Release));
        true
    }
}
