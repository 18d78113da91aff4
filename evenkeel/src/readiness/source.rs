//! A source: what a set and the operations on one socket share.
//!
//! # Roles
//! A *looker* is the thread that looks into the set, and tells the source what is ready. An
//! *operation* reads or writes, and waits if the system says that it would block.
//!
//! # States
//! `word` has the directions that are ready or closed, and a count of the looker's notes. Each
//! direction is ready until an operation finds that it would block.
//!
//! # Protocol
//! - *Looker*: adds what is ready to `word`, and one to the count, in one step; then takes the
//!   wakers of these directions out, under the lock; and wakes them after it has left all locks.
//! - *Operation*: reads `word`; if its direction is ready, it tries. If the system says that it
//!   would block, it *clears* the direction, if the count is still the one that it has read. Then
//!   it reads again.
//! - *Wait*: the operation leaves its waker, under the lock, and then reads `word` once more.
//!
//! # Why no readiness is lost
//! The system tells each change once. A note between the operation's read and its clear changes the
//! count, so the clear fails and the operation tries again. A note after the clear adds the
//! direction again. The looker takes the wakers after its note: it finds the waker of a waiting
//! operation, or takes the lock before that operation, whose read then sees the note.
//!
//! # Rejected
//! Clearing before each try, and noting the direction again after a success: two locked
//! instructions for each operation that does not wait.
//!
//! # Source
//! The count of notes is that of Tokio's `ScheduledIo`.

#![cfg_attr(loom, allow(dead_code, reason = "sockets, which use the rest, are in no model"))]

use super::woken::Woken;
use crate::primitives::atomic::{AtomicU64, Edge, Ordering, edge};
use crate::primitives::{Mutex, lock};
use std::io::{Error, ErrorKind, Result};
use std::iter;
use std::mem;
use std::task::{Context, Poll, Waker, ready};

/// A direction of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// Directions in which a source is ready.
pub(super) const READ: u64 = 1;
pub(super) const WRITE: u64 = 1 << 1;
/// Directions in which nothing else comes: they stay ready.
pub(super) const READ_CLOSED: u64 = 1 << 2;
pub(super) const WRITE_CLOSED: u64 = 1 << 3;
/// The set is closed, because its runtime is over.
const OVER: u64 = 1 << 4;
/// One note in the count.
const NOTE: u64 = 1 << 8;

impl Direction {
    fn bits(self) -> u64 {
        match self {
            Self::Read => READ | READ_CLOSED,
            Self::Write => WRITE | WRITE_CLOSED,
        }
    }

    fn ready(self) -> u64 {
        match self {
            Self::Read => READ,
            Self::Write => WRITE,
        }
    }
}

/// What an operation has read of a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen(u64);

impl Seen {
    /// Returns whether the runtime is over.
    pub(crate) fn is_over(self) -> bool {
        self.0 & OVER != 0
    }
}

/// What an operation has done.
#[derive(Debug)]
pub(crate) struct Done<R> {
    pub(crate) result: R,
    /// Whether it has got all that there was, so that the next one would block.
    pub(crate) is_drained: bool,
}

impl<R> Done<R> {
    pub(crate) fn new(result: R) -> Self {
        Self { result, is_drained: false }
    }
}

/// The number of a future's place.
pub(crate) type Key = usize;

#[derive(Debug, Default)]
pub(crate) struct Source {
    word: AtomicU64,
    /// When the last looker found it ready that has woken an operation; zero once it was polled.
    woken: AtomicU64,
    waiters: Mutex<Waiters>,
}

#[derive(Debug, Default)]
struct Waiters {
    /// The one waiter of each direction that is polled by functions: the last one counts.
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// The places of futures: the first one, and those of more at the same time.
    first: Place,
    others: Vec<Place>,
}

/// A place for the waker of a future.
#[derive(Debug, Default)]
struct Place {
    is_taken: bool,
    waiting: Option<(Direction, Waker)>,
}

impl Waiters {
    fn slot(&mut self, direction: Direction) -> &mut Option<Waker> {
        match direction {
            Direction::Read => &mut self.reader,
            Direction::Write => &mut self.writer,
        }
    }

    fn take(&mut self, direction: Direction, woken: &mut Woken) {
        if let Some(waker) = self.slot(direction).take() {
            woken.push(waker);
        }
        for place in iter::once(&mut self.first).chain(&mut self.others) {
            if let Some((_, waker)) = place.waiting.take_if(|(of, _)| *of == direction) {
                woken.push(waker);
            }
        }
    }

    /// Takes a place for a future.
    fn take_place(&mut self) -> Key {
        let mut places = iter::once(&self.first).chain(&self.others);
        let key = places.position(|place| !place.is_taken).unwrap_or_else(|| {
            self.others.push(Place::default());
            self.others.len()
        });
        self.place(key).is_taken = true;
        key
    }

    fn place(&mut self, key: Key) -> &mut Place {
        match key.checked_sub(1) {
            None => &mut self.first,
            Some(other) => &mut self.others[other],
        }
    }
}

impl Source {
    /// Notes what is ready at `now`, and moves the wakers that wait for it to `woken`.
    pub(super) fn note(&self, ready: u64, now: u64, woken: &mut Woken) {
        let note = |word: u64| Some((word | ready).wrapping_add(NOTE));
        // Release: an operation that sees the note comes after all that the system told of.
        let release = edge(Edge::SourceNote, Ordering::Release);
        _ = self.word.fetch_update(release, Ordering::Relaxed, note);
        let before = woken.len();
        let mut waiters = lock(&self.waiters);
        for direction in [Direction::Read, Direction::Write] {
            if ready & (direction.bits() | OVER) != 0 {
                waiters.take(direction, woken);
            }
        }
        if woken.len() > before {
            self.woken.store(now, Ordering::Relaxed);
        }
    }

    /// Returns when the looker found it ready that has woken the operation, which is polled now. Of
    /// two operations one gets the time.
    #[inline]
    pub(crate) fn take_woken(&self) -> Option<u64> {
        let woken = self.woken.load(Ordering::Relaxed);
        if woken != 0 {
            self.woken.store(0, Ordering::Relaxed);
        }
        (woken != 0).then_some(woken)
    }

    /// Notes that the runtime is over.
    pub(super) fn end(&self, woken: &mut Woken) {
        self.note(OVER, 0, woken);
    }

    /// Returns what was read, if the direction is ready.
    pub(crate) fn seen(&self, direction: Direction) -> Option<Seen> {
        let word = self.word.load(edge(Edge::SourceSeen, Ordering::Acquire));
        (word & (direction.bits() | OVER) != 0).then_some(Seen(word))
    }

    /// Clears the direction after an operation that would have blocked, unless the looker has made
    /// a note since.
    pub(crate) fn clear(&self, direction: Direction, seen: Seen) {
        let clear = |word: u64| (word / NOTE == seen.0 / NOTE).then_some(word & !direction.ready());
        // The order of the changes of the word is enough: it tells whether a note came first.
        _ = self.word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, clear);
    }

    /// Makes an operation, each time that `wait` finds its direction ready, until it need not wait.
    #[inline]
    pub(crate) fn operate<R>(
        &self,
        direction: Direction,
        mut operation: impl FnMut() -> Result<Done<R>>,
        mut wait: impl FnMut(&Self) -> Poll<Seen>,
    ) -> Poll<Result<R>> {
        loop {
            let seen = ready!(wait(self));
            if seen.is_over() {
                return Poll::Ready(Err(over()));
            }
            match operation() {
                Ok(Done { result, is_drained }) => {
                    if is_drained {
                        self.clear(direction, seen);
                    }
                    return Poll::Ready(Ok(result));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.clear(direction, seen),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Waits for the direction, as its only waiter that is polled by functions.
    pub(crate) fn poll(&self, cx: &mut Context<'_>, direction: Direction) -> Poll<Seen> {
        if let Some(seen) = self.seen(direction) {
            return Poll::Ready(seen);
        }
        // A caller's code is called outside of the lock: the clone and the drop of its waker.
        let waker = cx.waker().clone();
        let former = lock(&self.waiters).slot(direction).replace(waker);
        drop(former);
        let Some(seen) = self.seen(direction) else { return Poll::Pending };
        // A later waiter may have taken the slot since: its waker stays.
        let own = lock(&self.waiters).slot(direction).take_if(|waker| waker.will_wake(cx.waker()));
        drop(own);
        Poll::Ready(seen)
    }

    /// Waits for the direction, as one of several futures; `key` is the future's place.
    pub(crate) fn poll_one(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        key: &mut Option<Key>,
    ) -> Poll<Seen> {
        if let Some(seen) = self.seen(direction) {
            self.forget(key);
            return Poll::Ready(seen);
        }
        let waker = cx.waker().clone();
        let mut waiters = lock(&self.waiters);
        let at = *key.get_or_insert_with(|| waiters.take_place());
        let former = waiters.place(at).waiting.replace((direction, waker));
        drop(waiters);
        drop(former);
        let Some(seen) = self.seen(direction) else { return Poll::Pending };
        self.forget(key);
        Poll::Ready(seen)
    }

    /// Gives a future's place back.
    pub(crate) fn forget(&self, key: &mut Option<Key>) {
        if let Some(at) = key.take() {
            let place = mem::take(lock(&self.waiters).place(at));
            drop(place);
        }
    }
}

pub(crate) fn over() -> Error {
    Error::other("the runtime in which the socket waits is over: end its use before the runtime")
}
