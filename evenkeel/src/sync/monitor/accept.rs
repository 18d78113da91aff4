//! External scheduling: whoever is inside says whose call comes next.

#![allow(unsafe_code, reason = "queues point to a node in this future")]

use super::core::{self, Acceptance};
use super::held::{Held, breaks_off};
use super::node::{Kind, Node, Op, Place, Progress};
use super::set::Set;
use super::wait::word;
use super::waiting;
use std::fmt;
use std::future::{Future, Pending, pending};
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A named way into a monitor, which an acceptor can choose: usually an `enum` without fields, whose variants are the operations, with
/// `#[derive(Clone, Copy, Entry)]`. The [`End`] of an object is one too.
pub trait Entry: Copy {
    /// The number of the operation, below 63, by which two of one monitor are told apart.
    fn number(self) -> u32;
}

/// Who waits for the end of an object: see [`Monitor::end`](super::Monitor::end).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End;

impl Entry for End {
    fn number(self) -> u32 {
        LAST
    }
}

/// The highest number of an operation: the end of the object.
const LAST: u32 = 63;

/// The number of an operation.
///
/// # Panics
/// If it is out of range.
#[inline]
#[track_caller]
fn number<E: Entry>(op: E) -> u32 {
    let number = op.number();
    assert!(number <= LAST, "an entry has the number {number}: use 0 to 62");
    number
}

/// What an entrant calls.
///
/// # Panics
/// If the number is out of range.
#[inline]
#[track_caller]
pub(super) fn op<E: Entry>(op: E) -> Op {
    Op::new(number(op))
}

/// One clause of an accept statement: calls that are accepted, if the clause is open.
#[derive(Clone, Copy, Debug)]
pub struct Clause {
    ops: u64,
}

impl Clause {
    /// Accepts this operation.
    #[must_use]
    #[track_caller]
    pub fn new<E: Entry>(op: E) -> Self {
        Self { ops: 1 << number(op) }
    }

    /// Accepts this one too.
    #[must_use]
    #[track_caller]
    pub fn or<E: Entry>(self, op: E) -> Self {
        Self { ops: self.ops | 1 << number(op) }
    }

    /// Only if `open`.
    #[must_use]
    pub fn when(self, open: bool) -> Self {
        Self { ops: if open { self.ops } else { 0 } }
    }
}

/// What has come of an accept statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// A call of the clause with this number has been made: it is over, or waits inside.
    Call(usize),
    /// A call of the clause with this number has begun, and has panicked or has been cancelled.
    Broken(usize),
    /// Nobody had called.
    Else,
    /// Nobody has called in time.
    Timeout,
    /// All clauses are closed.
    Closed,
}

/// How long an acceptor waits for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// For ever, or until its future says so.
    Waits,
    /// Not at all.
    Else,
}

/// The future of [`Held::accept`] and the like.
///
/// # Cancel safety
/// It has the hold, which goes with it. Dropped
/// - before its first poll, or while it waits for a call: it leaves the monitors and accepts nobody; calls that come later enter as others do;
/// - while an accepted call is inside, or is about to be: it does not come back; the call is not concerned, and the next one after it has the monitors;
/// - when it has been given the monitors back, but has not been polled since: it leaves them. The call has been made all the same.
///
/// If it was part of an accepted call itself, and that is dropped, the outer acceptor learns that its call has [broken off](Accepted::Broken). Its
/// `until` is dropped with it.
///
/// # Panics
/// If it is polled again after it has given the hold.
#[must_use = "futures do nothing unless awaited, and this one has the hold"]
pub struct Accept<S: Set, const N: usize, U = Pending<()>> {
    node: Node,
    set: S,
    cores: Option<S::Cores>,
    clauses: [Clause; N],
    patience: Patience,
    accepted: Option<Acceptance>,
    /// There until it is ready.
    until: Option<U>,
    _pinned: PhantomPinned,
}

impl<S: Set> Held<S> {
    /// Lets one call in, of the first clause that has one: the one that has been waiting longest, past all others, or else the first one that comes. Goes on
    /// when that call leaves or waits, before anybody else. A call matches if it [names](super::Monitor::call) an operation of an open clause and wants just this
    /// set of monitors. Accepts nest: an accepted call may accept.
    ///
    /// Where all clauses are closed it goes on at once.
    ///
    /// The end of the object ([`End`]) is different: whoever waits for it comes in when the acceptor has left.
    ///
    /// # Source
    /// The `_Accept` of µC++ (Buhr et al., 1992) and the `waitfor` of C∀ (Delisle, 2018).
    ///
    /// # Examples
    /// See [`accept!`](crate::accept), which is this as a statement.
    #[inline]
    pub fn accept<const N: usize>(this: Self, clauses: [Clause; N]) -> Accept<S, N> {
        Accept::new(this, clauses, Patience::Waits, pending())
    }

    /// The same, if somebody has called already.
    pub fn accept_or_else<const N: usize>(this: Self, clauses: [Clause; N]) -> Accept<S, N> {
        Accept::new(this, clauses, Patience::Else, pending())
    }

    /// The same, for a call that comes before `until` is ready.
    pub fn accept_until<const N: usize, U: Future<Output = ()>>(
        this: Self,
        clauses: [Clause; N],
        until: U,
    ) -> Accept<S, N, U> {
        Accept::new(this, clauses, Patience::Waits, until)
    }
}

/// What the beginning of an accept has come to.
enum Begun {
    Waits,
    Over(Accepted),
}

impl<S: Set, const N: usize, U> Accept<S, N, U> {
    #[inline(always)]
    fn new(held: Held<S>, clauses: [Clause; N], patience: Patience, until: U) -> Self {
        let accepted = held.accepted;
        let (set, cores) = held.into_parts();
        Self {
            node: Node::new(),
            set,
            cores: Some(cores),
            clauses,
            patience,
            accepted,
            until: Some(until),
            _pinned: PhantomPinned,
        }
    }

    fn begin(&self, waker: &Waker) -> Begun {
        let mask = self.clauses.iter().fold(0, |mask, clause| mask | clause.ops);
        if mask == 0 {
            return Begun::Over(match self.patience {
                Patience::Else => Accepted::Else,
                Patience::Waits => Accepted::Closed,
            });
        }
        let cores = self.cores.as_ref().expect("the hold is here").as_ref();
        // SAFETY: the set borrows its monitors.
        let leader = unsafe { cores[0].get() };
        // Before the lock is taken: a foreign waker's clone is a caller's code.
        let waker = word(waker);
        self.node.fill(Kind::Acceptor, cores, Op::NONE);
        let mut state = leader.lock();
        for (index, clause) in self.clauses.iter().enumerate() {
            let Some(caller) = state.caller(clause.ops, cores) else { continue };
            // SAFETY: it is in this queue.
            unsafe { state.remove_entry(caller) };
            // SAFETY: it waits with this lock.
            let op = unsafe { caller.with(|ticket| ticket.op) };
            if op == Op::END {
                // SAFETY: it waits with this lock, and is in no queue.
                unsafe { state.push_last(caller) };
                leader.note_urgent(&state);
                drop(state);
                drop(waker);
                return Begun::Over(Accepted::Call(index));
            }
            let call = Some(state.next_acceptance());
            // SAFETY: the node is this future's until it is in a queue.
            unsafe { self.node.with(|ticket| (ticket.op, ticket.accepted) = (op, call)) };
            self.node.set_waiting(waker);
            // SAFETY: it is in no queue, and stays where it is.
            unsafe { state.push_urgent(&self.node) };
            leader.note_urgent(&state);
            // SAFETY: it waits with this lock.
            unsafe { caller.with(|ticket| (ticket.whole, ticket.accepted) = (true, call)) };
            // SAFETY: as above, and it is in no queue.
            let caller = unsafe { caller.grant() };
            drop(state);
            caller.wake();
            return Begun::Waits;
        }
        if self.patience == Patience::Else {
            drop(state);
            drop(waker);
            return Begun::Over(Accepted::Else);
        }
        self.node.set_waiting(waker);
        state.put_acceptor(&self.node, mask);
        Begun::Waits
    }

    /// What has been accepted. The node has been granted.
    fn outcome(&self) -> Accepted {
        // SAFETY: the node was granted, and this is its future.
        let (op, broken) = unsafe { self.node.with(|ticket| (ticket.op, ticket.broken)) };
        let index = self.clauses.iter().position(|clause| op.is_in(clause.ops));
        let index = index.expect("what is accepted is of an open clause");
        if broken { Accepted::Broken(index) } else { Accepted::Call(index) }
    }

    fn finish(self: Pin<&mut Self>, outcome: Accepted) -> (Held<S>, Accepted) {
        // SAFETY: nothing is moved out but the cores, as the node is in no queue.
        let this = unsafe { self.get_unchecked_mut() };
        this.node.set_done();
        let cores = this.cores.take().expect("the hold is given once");
        // SAFETY: this future holds the set.
        (unsafe { Held::new(this.set, cores, this.accepted) }, outcome)
    }

    /// Stops waiting for a call, and gives where the node was: if that is a mask, this future holds the set. None if it has been granted, or if it is to stop
    /// only while no call has come and one has.
    fn give_up(&self, only_before_a_call: bool) -> Option<Place> {
        let cores = self.cores.as_ref().expect("the hold has not been given").as_ref();
        // SAFETY: the set borrows its monitors.
        let leader = unsafe { cores[0].get() };
        let mut state = leader.lock();
        if self.node.progress() == Progress::Granted {
            return None;
        }
        // SAFETY: the node waits, and this thread has the lock.
        let place = unsafe { self.node.with(|ticket| ticket.place) };
        if place == Place::Mask {
            state.remove_acceptor();
        } else if only_before_a_call {
            return None;
        } else {
            // SAFETY: while it waits and is not in a mask, it is on the urgent list.
            unsafe { state.replace_urgent(&self.node, None) };
            if let Some(call) = breaks_off(self.accepted) {
                state.break_call(call);
            }
            leader.note_urgent(&state);
        }
        // SAFETY: it is in no queue any more, and this thread has the lock.
        let waker = unsafe { self.node.give_up() };
        drop(state);
        drop(waker);
        Some(place)
    }
}

impl<S: Set, const N: usize, U: Future<Output = ()>> Future for Accept<S, N, U> {
    type Output = (Held<S>, Accepted);

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<(Held<S>, Accepted)> {
        match self.node.progress() {
            Progress::New => match self.begin(context.waker()) {
                Begun::Over(outcome) => return Poll::Ready(self.finish(outcome)),
                Begun::Waits => {}
            },
            Progress::Waiting => {
                let leader = self.cores.as_ref().expect("the hold has not been given").as_ref()[0];
                // SAFETY: the set borrows its monitors, and the node is this future's.
                if unsafe { waiting::renew(&self.node, leader, context.waker()) } {
                    let outcome = self.outcome();
                    return Poll::Ready(self.finish(outcome));
                }
            }
            Progress::Granted => {
                let outcome = self.outcome();
                return Poll::Ready(self.finish(outcome));
            }
            Progress::Done => panic!("Accept is polled again after it has given its hold"),
        }
        // SAFETY: it is pinned with this, and not moved.
        let mut until = unsafe { self.as_mut().map_unchecked_mut(|this| &mut this.until) };
        if until.as_mut().as_pin_mut().is_some_and(|until| until.poll(context).is_ready()) {
            // If a call has come, this goes on waiting for its end.
            until.set(None);
            if self.give_up(true).is_some() {
                return Poll::Ready(self.finish(Accepted::Timeout));
            }
        }
        Poll::Pending
    }
}

impl<S: Set, const N: usize, U> Drop for Accept<S, N, U> {
    fn drop(&mut self) {
        let Some(cores) = &self.cores else { return };
        if self.node.progress() == Progress::Waiting
            && self.give_up(false).is_some_and(|place| place != Place::Mask)
        {
            return;
        }
        let broken = breaks_off(self.accepted);
        // SAFETY: this future holds the set, and gives it up here.
        unsafe { core::leave(cores.as_ref(), broken) };
    }
}

impl<S: Set, const N: usize, U> fmt::Debug for Accept<S, N, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accept").field("clauses", &self.clauses).finish_non_exhaustive()
    }
}
