//! A source: what a set and the operations on one socket share.
//!
//! # Roles
//! A *looker* is the thread that looks into the set, and tells the source what is ready. An
//! *operation* reads or writes, and waits if the system says that it would block.
//!
//! # States
//! `word` has the directions that are ready or closed, those for which an operation *waits*, and a
//! count of the looker's notes. Each direction is ready or closed until an operation finds that it
//! would block.
//!
//! # Protocol
//! - *Looker*: adds what is ready to `word`, takes out that operations wait for it, and adds one
//!   to the count, in one step. If an operation waited, the looker takes the wakers of these
//!   directions out, under the lock; and wakes them after it has left all locks.
//! - *Operation*: reads `word`; if its direction is ready, it tries. If the system says that it
//!   would block, it *clears* the direction, also if that is closed, if the count is still the one
//!   that it has read. Then it reads again. After [`MOST_TRIES`] tries in one poll it wakes itself
//!   instead.
//! - *Drain*: an operation that has taken all that there was clears what is ready, in the same way.
//!   That the direction is closed stays: the next operation finds the end. Urgent data end a read
//!   before them, so beside them no read drains.
//! - *Wait*: the operation leaves its waker, under the lock. Then it adds to `word` that it waits,
//!   and reads it, in one step.
//! - *Forget*: an operation that ends takes its waker back, if `word` still says that it waits.
//!
//! # Why no readiness is lost
//! The system tells each change once. A note between the operation's read and its clear changes the
//! count, so the clear fails and the operation tries again. A note after the clear adds the
//! direction again. The steps of a looker and of a waiter on `word` come in one order. If the
//! waiter's comes first, the looker sees it, takes the lock after it, and finds the waker;
//! otherwise the waiter sees the note. An operation that finds, at its end, that `word` no longer
//! says that it waits leaves its waker to the looker that has taken that out: it is called, or was,
//! in vain.
//!
//! Each note has the whole state of the source at the look, also that a direction is closed since
//! earlier notes: `epoll` asks the source for it when it tells of any change. So a closed direction
//! that was cleared is closed again with the next note. Until then nothing has changed for an
//! operation that would block although its direction is closed. Such are a read from a pipe that
//! has a new writer after its last one, a write beside messages in the error queue of its socket,
//! and a receive of datagrams after a shutdown of its direction.
//!
//! # Rejected
//! Clearing before each try, and noting the direction again after a success: two locked
//! instructions for each operation that does not wait. A look under the lock for each note and at
//! the end of each operation: most notes say that there is room to write, for which no operation
//! waits, and most operations end after the looker has taken their waker.
//!
//! # Source
//! The count of notes is that of Tokio's `ScheduledIo`.

#![cfg_attr(loom, allow(dead_code, reason = "sockets, which use the rest, are in no model"))]

use super::stay::Stay;
use super::woken::Woken;
use crate::primitives::atomic::{AtomicU64, Edge, Ordering, edge};
use crate::primitives::{Mutex, lock};
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::mem;
use std::num::NonZeroU32;
use std::task::{Poll, Waker, ready};

/// The most tries of an operation in one poll. Each but the first follows a note that came during
/// the one before. An estimate; no benchmark sets it.
const MOST_TRIES: usize = 16;

/// A direction of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// Directions in which a source is ready.
pub(super) const READ: u64 = 1;
pub(super) const WRITE: u64 = 1 << 1;
/// Directions that the system calls closed: they stay ready, unless an operation would block.
pub(super) const READ_CLOSED: u64 = 1 << 2;
pub(super) const WRITE_CLOSED: u64 = 1 << 3;
/// There are urgent data, at which a read ends, until an operation would block.
pub(super) const READ_URGENT: u64 = 1 << 7;
/// The set is closed, because its runtime is over.
const OVER: u64 = 1 << 4;
/// Directions in which an operation has left its waker since the last note of it.
const READ_WAITS: u64 = 1 << 5;
const WRITE_WAITS: u64 = 1 << 6;
/// One note in the count.
const NOTE: u64 = 1 << 8;

impl Direction {
    const BOTH: [Self; 2] = [Self::Read, Self::Write];

    fn waits(self) -> u64 {
        match self {
            Self::Read => READ_WAITS,
            Self::Write => WRITE_WAITS,
        }
    }

    fn bits(self) -> u64 {
        match self {
            Self::Read => READ | READ_CLOSED | READ_URGENT,
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
    fn of(word: u64, direction: Direction) -> Option<Self> {
        (word & (direction.bits() | OVER) != 0).then_some(Self(word))
    }

    /// Returns whether the runtime is over.
    pub(crate) fn is_over(self) -> bool {
        self.0 & OVER != 0
    }

    fn is_urgent(self) -> bool {
        self.0 & READ_URGENT != 0
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

/// The number of a future that waits at a source.
pub(crate) type Ticket = NonZeroU32;

#[derive(Debug, Default)]
pub(crate) struct Source {
    word: AtomicU64,
    /// When the last looker found it ready that has woken an operation; zero once it was polled.
    woken: AtomicU64,
    waiters: Mutex<Waiters>,
    pub(super) stay: Stay,
}

/// The operations that wait: one, as a rule.
#[derive(Debug, Default)]
struct Waiters {
    first: Option<Waiter>,
    #[expect(clippy::box_collection, reason = "a word of each socket, and not three")]
    others: Option<Box<BTreeMap<Key, Waiter>>>,
    /// The last ticket.
    last: u32,
}

#[derive(Debug)]
struct Waiter {
    waker: Waker,
    key: Key,
}

/// An operation: the ticket of a future, and its direction. Of those that are polled by functions,
/// and have no ticket, there is one for each direction: the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(Option<Ticket>, Direction);

impl Waiters {
    /// Leaves a waker, and returns that which the same operation has left before.
    fn put(&mut self, key: Key, waker: Waker) -> Option<Waker> {
        let first = self.first.as_mut().filter(|first| first.key == key);
        let own = first.or_else(|| self.others.as_mut()?.get_mut(&key));
        if let Some(own) = own {
            return Some(mem::replace(&mut own.waker, waker));
        }
        let waiter = Waiter { waker, key };
        if self.first.is_none() {
            self.first = Some(waiter);
        } else {
            self.others.get_or_insert_default().insert(key, waiter);
        }
        None
    }

    /// Takes an operation's waker back, if it is one that `is_own` accepts.
    fn take_back(&mut self, key: Key, is_own: impl Fn(&Waker) -> bool) -> Option<Waiter> {
        if let Some(first) = self.first.take_if(|first| first.key == key && is_own(&first.waker)) {
            return Some(first);
        }
        let others = self.others.as_mut()?;
        others.get(&key).is_some_and(|own| is_own(&own.waker)).then(|| others.remove(&key))?
    }

    /// Moves the wakers of a direction to `woken`.
    fn take(&mut self, direction: Direction, woken: &mut Woken) {
        let is = |waiter: &Waiter| waiter.key.1 == direction;
        if let Some(first) = self.first.take_if(|first| is(first)) {
            woken.push(first.waker);
        }
        if let Some(others) = &mut self.others {
            others.retain(|_, waiter| {
                let is = is(waiter);
                if is {
                    woken.push(mem::replace(&mut waiter.waker, Waker::noop().clone()));
                }
                !is
            });
        }
    }

    /// Returns a ticket that no other operation has: after four billion they come again.
    fn ticket(&mut self) -> Ticket {
        self.last = self.last.checked_add(1).unwrap_or(1);
        Ticket::new(self.last).expect("it was added to")
    }
}

impl Source {
    /// Creates the source of a socket. Before the first look nothing else is known than that the
    /// system has `refused` an operation. A socket from which there is nothing to read counts as
    /// ready to be written, which it is as a rule; a try in vain says if not.
    pub(super) fn entered(refused: Option<Direction>) -> Self {
        let word = if refused == Some(Direction::Read) { WRITE } else { 0 };
        Self { word: AtomicU64::new(word), ..Self::default() }
    }

    /// Notes what is ready at `now`, and moves the wakers that wait for it to `woken`.
    pub(super) fn note(&self, ready: u64, now: u64, woken: &mut Woken) {
        let noted = Direction::BOTH.map(|way| (way, ready & (way.bits() | OVER) != 0));
        let waits = noted.iter().filter(|(_, is)| *is).map(|(way, _)| way.waits()).sum::<u64>();
        let note = |word: u64| Some(((word | ready) & !waits).wrapping_add(NOTE));
        // Release: an operation that sees the note comes after all that the system told of.
        // Acquire: a looker that sees that an operation waits takes the lock after it.
        let order = edge(Edge::SourceNote, Ordering::AcqRel);
        let word = self.word.fetch_update(order, Ordering::Relaxed, note);
        if word.is_ok_and(|word| word & waits == 0) {
            return;
        }
        let before = woken.len();
        let mut waiters = lock(&self.waiters);
        for (direction, _) in noted.iter().filter(|(_, is)| *is) {
            waiters.take(*direction, woken);
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
        Seen::of(self.word.load(edge(Edge::SourceSeen, Ordering::Acquire)), direction)
    }

    /// Clears the direction after an operation that would have blocked, unless the looker has made
    /// a note since.
    pub(crate) fn clear(&self, direction: Direction, seen: Seen) {
        self.take_out(direction.bits(), seen);
    }

    /// Clears what is ready after an operation that has taken all that there was, in the same way.
    fn drain(&self, direction: Direction, seen: Seen) {
        self.take_out(direction.ready(), seen);
    }

    fn take_out(&self, bits: u64, seen: Seen) {
        let clear = |word: u64| (word / NOTE == seen.0 / NOTE).then_some(word & !bits);
        // The order of the changes of the word is enough: it tells whether a note came first.
        _ = self.word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, clear);
    }

    /// Makes an operation, each time that `wait` finds its direction ready, until it need not wait.
    /// After [`MOST_TRIES`] it wakes `waker`, and other tasks run before the next try.
    #[inline]
    pub(crate) fn operate<R>(
        &self,
        waker: &Waker,
        direction: Direction,
        mut operation: impl FnMut() -> Result<Done<R>>,
        mut wait: impl FnMut(&Self) -> Poll<Seen>,
    ) -> Poll<Result<R>> {
        for _ in 0..MOST_TRIES {
            let seen = ready!(wait(self));
            if seen.is_over() {
                return Poll::Ready(Err(over()));
            }
            match operation() {
                Ok(Done { result, is_drained }) => {
                    if is_drained && !seen.is_urgent() {
                        self.drain(direction, seen);
                    }
                    return Poll::Ready(Ok(result));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.clear(direction, seen),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        waker.wake_by_ref();
        Poll::Pending
    }

    /// Waits for the direction, as its only waiter that is polled by functions.
    pub(crate) fn poll(&self, waker: &Waker, direction: Direction) -> Poll<Seen> {
        if let Some(seen) = self.seen(direction) {
            return Poll::Ready(seen);
        }
        let Some(seen) = self.wait(waker, direction, |_| None) else { return Poll::Pending };
        // A later waiter may have taken the place since: its waker stays.
        let is_own = |left: &Waker| left.will_wake(waker);
        self.take_back(Key(None, direction), is_own);
        Poll::Ready(seen)
    }

    /// Waits for the direction, as one of several futures.
    pub(crate) fn poll_one(
        &self,
        waker: &Waker,
        direction: Direction,
        ticket: &mut Option<Ticket>,
    ) -> Poll<Seen> {
        let seen = self.seen(direction).or_else(|| {
            self.wait(waker, direction, |all| Some(*ticket.get_or_insert_with(|| all.ticket())))
        });
        let Some(seen) = seen else { return Poll::Pending };
        self.forget(direction, ticket);
        Poll::Ready(seen)
    }

    /// Leaves a waker, and looks once more.
    fn wait(
        &self,
        waker: &Waker,
        direction: Direction,
        of: impl FnOnce(&mut Waiters) -> Option<Ticket>,
    ) -> Option<Seen> {
        // A caller's code is called outside of the lock: the clone and the drop of its waker.
        let waker = waker.clone();
        let mut waiters = lock(&self.waiters);
        let of = of(&mut waiters);
        let former = waiters.put(Key(of, direction), waker);
        drop(waiters);
        drop(former);
        // Acquire: as for a look. Release: the waker is there before the looker comes for it.
        let order = edge(Edge::SourceSeen, Ordering::AcqRel);
        Seen::of(self.word.fetch_or(direction.waits(), order), direction)
    }

    /// Takes back the waker that a future may have left.
    pub(crate) fn forget(&self, direction: Direction, ticket: &mut Option<Ticket>) {
        let Some(ticket) = ticket.take() else { return };
        if self.word.load(Ordering::Relaxed) & direction.waits() == 0 {
            // A looker has taken it, or is about to.
            return;
        }
        self.take_back(Key(Some(ticket), direction), |_| true);
    }

    /// Takes an operation's waker back, and drops it outside of the lock.
    fn take_back(&self, key: Key, is_own: impl Fn(&Waker) -> bool) {
        let waiter = lock(&self.waiters).take_back(key, is_own);
        drop(waiter);
    }
}

pub(crate) fn over() -> Error {
    Error::other("the runtime in which the socket waits is over: end its use before the runtime")
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Makes one poll of an operation that would block at each of its tries. Returns their number,
    /// and how often the operation was woken by then.
    fn try_in_one_poll(source: &Source, mut beside: impl FnMut()) -> (usize, usize) {
        let (tries, wakes) = (Cell::new(0), Arc::new(Count(AtomicUsize::new(0))));
        let waker = Waker::from(wakes.clone());
        let operation = || {
            tries.set(tries.get() + 1);
            beside();
            Err::<Done<()>, _>(ErrorKind::WouldBlock.into())
        };
        let wait = |source: &Source| source.poll(&waker, Direction::Read);
        assert!(source.operate(&waker, Direction::Read, operation, wait).is_pending());
        (tries.get(), wakes.0.load(Ordering::Relaxed))
    }

    fn note(source: &Source, ready: u64) {
        let mut woken = Woken::default();
        source.note(ready, 1, &mut woken);
        woken.wake();
    }

    #[test]
    fn an_operation_that_would_block_waits_although_its_direction_is_closed() {
        let source = Source::default();
        note(&source, READ | READ_CLOSED);
        assert_eq!(try_in_one_poll(&source, || {}), (1, 0));
        assert!(source.seen(Direction::Read).is_none());
        note(&source, READ_CLOSED);
        assert!(source.seen(Direction::Read).is_some(), "the next note says that it is closed");
    }

    #[test]
    fn a_direction_that_is_drained_stays_closed() {
        let source = Source::default();
        note(&source, READ | READ_CLOSED);
        let read = || Ok(Done { result: (), is_drained: true });
        let wait = |source: &Source| source.poll(Waker::noop(), Direction::Read);
        assert!(source.operate(Waker::noop(), Direction::Read, read, wait).is_ready());
        assert!(source.seen(Direction::Read).is_some());
    }

    #[test]
    fn a_direction_with_urgent_data_is_ready_until_an_operation_would_block() {
        let source = Source::default();
        note(&source, READ | READ_URGENT);
        let read = || Ok(Done { result: (), is_drained: true });
        let wait = |source: &Source| source.poll(Waker::noop(), Direction::Read);
        assert!(source.operate(Waker::noop(), Direction::Read, read, wait).is_ready());
        assert_eq!(try_in_one_poll(&source, || {}), (1, 0));
    }

    #[test]
    fn an_operation_with_a_note_at_each_try_lets_other_tasks_run() {
        let source = Source::default();
        note(&source, READ);
        assert_eq!(try_in_one_poll(&source, || note(&source, READ)), (MOST_TRIES, 1));
    }

    /// Of waiters in both directions, some of which give up, a note wakes those of its direction in
    /// the order of their tickets; each was told once, and one that waits again keeps its ticket.
    #[test]
    fn many_operations_wait_at_once() {
        struct Order(usize, Arc<Mutex<Vec<usize>>>);

        impl Wake for Order {
            fn wake(self: Arc<Self>) {
                lock(&self.1).push(self.0);
            }
        }

        let source = Source::default();
        let woken = Arc::default();
        let mut tickets: Vec<Option<Ticket>> = vec![None; 100];
        let direction = |n| if n % 10 == 0 { Direction::Write } else { Direction::Read };
        for _ in 0..2 {
            for (n, ticket) in tickets.iter_mut().enumerate() {
                let waker = Waker::from(Arc::new(Order(n, Arc::clone(&woken))));
                assert!(source.poll_one(&waker, direction(n), ticket).is_pending());
            }
        }
        (0..100).filter(|n| n % 3 == 1).for_each(|n| source.forget(direction(n), &mut tickets[n]));
        note(&source, READ);
        let expected: Vec<_> = (0..100).filter(|n| n % 3 != 1 && n % 10 != 0).collect();
        assert_eq!(std::mem::take(&mut *lock(&woken)), expected);
        note(&source, READ | WRITE);
        let expected: Vec<_> = (0..100).filter(|n| n % 3 != 1 && n % 10 == 0).collect();
        assert_eq!(*lock(&woken), expected);
    }
}
