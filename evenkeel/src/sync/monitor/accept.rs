//! External scheduling: the holder chooses the call that comes in next.

#![allow(unsafe_code, reason = "queues point to a node in this future")]

use super::core;
use super::cores::Cores;
use super::held::Held;
use super::members::{Members, Slot};
use super::node::{Kind, Node, Op, Place, Ticket};
use super::set::Set;
use super::state::others_of;
use super::waiting;
use crate::task::budget::Unit;
use crate::task::word_waker::WordWaker;
use std::fmt;
use std::future::{Future, Pending, pending};
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A named way into a monitor, which an acceptor can choose. Usually it is an `enum` without
/// fields, with a variant for each operation and `#[derive(Clone, Copy, Entry)]`. A program that
/// has this crate from another one names it by `#[entry(crate = "parts::evenkeel")]`. The [`End`]
/// of an object is one too.
///
/// # Examples
/// Operations that are numbers themselves: a lift stops at floors on its way, not in the order of
/// the calls.
/// ```
/// use evenkeel::sync::monitor::{Clause, Entry, Held, Monitor};
///
/// /// A floor from 0 to 62.
/// #[derive(Clone, Copy)]
/// struct Floor(u32);
///
/// impl Entry for Floor {
///     fn number(self) -> u32 {
///         self.0
///     }
/// }
///
/// # evenkeel::block_on(async {
/// let stops = Monitor::new(Vec::new());
/// let lift = async {
///     let mut held = stops.enter().await;
///     for floor in [1, 3] {
///         (held, _) = Held::accept(held, [Clause::new(Floor(floor))]).await;
///     }
/// };
/// let passenger = async |to| {
///     stops.call(Floor(to), async |mut held| held.push(to)).await;
/// };
/// futures::join!(lift, passenger(3), passenger(1));
/// assert_eq!(stops.into_inner(), [1, 3]);
/// # });
/// ```
pub trait Entry: Copy {
    /// Returns the number of the operation, below 63. It tells the operations of a monitor apart.
    fn number(self) -> u32;
}

/// The entry of a task that waits for the end of an object: see
/// [`Monitor::end`](super::Monitor::end).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End;

impl Entry for End {
    /// A number that no operation may have.
    fn number(self) -> u32 {
        END
    }
}

/// What [`End`] returns as its number.
const END: u32 = u32::MAX;

/// The number of the end of the object among operations.
const LAST: u32 = 63;

/// The number of an operation.
///
/// # Panics
/// If it is out of range.
#[inline]
#[track_caller]
fn number<E: Entry>(op: E) -> u32 {
    match op.number() {
        END => LAST,
        number => {
            assert!(number < LAST, "an entry has the number {number}: use 0 to 62");
            number
        }
    }
}

/// The operation that an entrant calls.
///
/// # Panics
/// If the number is out of range.
#[inline]
#[track_caller]
pub(super) fn op<E: Entry>(op: E) -> Op {
    Op::new(number(op))
}

/// One clause of an accept statement: calls that are accepted, if the clause is open.
///
/// # Examples
/// ```
/// use evenkeel::sync::monitor::{Accepted, Clause, Entry, Held, Monitor};
///
/// #[derive(Clone, Copy, Entry)]
/// enum Op {
///     Take,
///     TakeAll,
/// }
///
/// # evenkeel::block_on(async {
/// let stock = Monitor::new(0_u32);
/// let clauses = |stock| [Clause::new(Op::Take).or(Op::TakeAll).when(stock > 0)];
/// let held = stock.enter().await;
/// let open = clauses(*held);
/// let (mut held, outcome) = Held::accept(held, open).await;
/// assert_eq!(outcome, Accepted::Closed);
/// *held = 1;
/// let open = clauses(*held);
/// let (_held, outcome) = Held::accept_or_else(held, open).await;
/// assert_eq!(outcome, Accepted::Else, "no caller is there");
/// # });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Clause {
    ops: u64,
    is_open: bool,
}

impl Clause {
    /// Creates a clause that accepts this operation.
    ///
    /// # Panics
    /// If the operation's [number](Entry::number) is above 62, unless it is [`End`].
    #[must_use]
    #[track_caller]
    pub fn new<E: Entry>(op: E) -> Self {
        Self { ops: 1 << number(op), is_open: true }
    }

    /// Accepts this operation too.
    ///
    /// # Panics
    /// As [`new`](Self::new) does.
    #[must_use]
    #[track_caller]
    pub fn or<E: Entry>(self, op: E) -> Self {
        Self { ops: self.ops | 1 << number(op), ..self }
    }

    /// Closes the clause unless `open`.
    #[must_use]
    pub fn when(self, open: bool) -> Self {
        Self { is_open: self.is_open && open, ..self }
    }

    /// Returns the operations that it accepts; none if it is closed.
    fn accepted(&self) -> u64 {
        if self.is_open { self.ops } else { 0 }
    }
}

/// The outcome of an accept statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// A call of the clause with this index was accepted: it has ended, or waits for a condition.
    Call(usize),
    /// A call of the clause with this index was accepted, and has panicked or was cancelled; or a
    /// task has done so that had a part of the call's [split](Held::split) or joined hold.
    Broken(usize),
    /// No caller of an open clause was there.
    Else,
    /// No call came in time.
    Timeout,
    /// All clauses are closed.
    Closed,
}

/// How long an acceptor waits for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// For ever, or until the future `until` is ready.
    Waits,
    /// Not at all.
    Else,
}

/// The future of [`Held::accept`] and the like, which have examples.
///
/// # Cancel safety
/// It owns the hold, which is lost with it. If it is dropped
/// - before its first poll, or while it waits for a call: it leaves the monitors and accepts no
///   call; calls that come later enter as other entrants do;
/// - while an accepted call is inside, or is about to be: it does not come back; the call does not
///   notice, and the monitors go to the next task after it;
/// - when it has been given the monitors back, but has not been polled since: it leaves them. The
///   call stays made.
///
/// If it is part of an accepted call itself, and that call is dropped, the outer acceptor learns
/// that the call has [broken off](Accepted::Broken). Its `until` is dropped with it.
///
/// # Panics
/// If it is polled again after it has returned the hold.
#[must_use = "futures do nothing unless awaited, and this one has the hold"]
pub struct Accept<S: Set, const N: usize, U = Pending<()>> {
    node: Node,
    /// Full until the hold has been returned.
    members: Slot<S>,
    /// Room for the cores, where callers find them.
    place: S::Place,
    clauses: [Clause; N],
    patience: Patience,
    /// Whether the node has become the acceptor that waits for a call, or has joined the urgent
    /// list.
    queued: bool,
    unit: Unit,
    /// `None` once it was ready.
    until: Option<U>,
    _pinned: PhantomPinned,
}

impl<S: Set> Held<S> {
    /// Lets one call in, past all other entrants: of the first clause that has callers, the one
    /// that has waited longest. If no clause has one, waits for the first call that comes. The
    /// acceptor goes on when that call leaves or waits, before all other tasks. A call matches if
    /// it [names](super::Monitor::call) an operation of an open clause and wants just this set of
    /// monitors. Accepts nest: an accepted call may accept.
    ///
    /// If all clauses are closed, the acceptor goes on at once.
    ///
    /// The end of the object ([`End`]) is different: a task that waits for it comes in when the
    /// acceptor has left.
    ///
    /// # Cost
    /// For each clause the acceptor looks through the queued entrants until it finds a caller,
    /// under the lock of the set's first monitor: with thousands of callers of operations that are
    /// not accepted, tasks that enter meanwhile spin for some microseconds. An accept of several
    /// monitors that may wait allocates.
    ///
    /// # Source
    /// The `_Accept` of µC++ (Buhr et al., 1992) and the `waitfor` of C∀ (Delisle, 2018).
    ///
    /// # Examples
    /// [`accept!`](crate::accept) is the same as a statement. Here the acceptor wants a whole pair,
    /// and keeps other entrants out in between:
    /// ```
    /// use evenkeel::sync::monitor::{Accepted, Clause, Entry, Held, Monitor};
    ///
    /// #[derive(Clone, Copy, Entry)]
    /// enum Op {
    ///     Left,
    ///     Right,
    /// }
    ///
    /// # evenkeel::block_on(async {
    /// let gloves = Monitor::new(Vec::new());
    /// let pair = async {
    ///     let mut held = gloves.enter().await;
    ///     let mut clauses = [Op::Left, Op::Right].map(Clause::new);
    ///     while clauses.len() > held.len() {
    ///         let outcome;
    ///         (held, outcome) = Held::accept(held, clauses).await;
    ///         let Accepted::Call(index) = outcome else { panic!("{outcome:?}") };
    ///         clauses[index] = clauses[index].when(false);
    ///     }
    ///     held.clone()
    /// };
    /// let put = async |glove| {
    ///     let op = if glove == "left" { Op::Left } else { Op::Right };
    ///     gloves.call(op, async |mut held| held.push(glove)).await;
    /// };
    /// let (pair, ..) = futures::join!(pair, put("left"), put("left"), put("right"));
    /// assert_eq!(pair, ["left", "right"]);
    /// # });
    /// ```
    #[inline]
    pub fn accept<const N: usize>(this: Self, clauses: [Clause; N]) -> Accept<S, N> {
        Accept::new(this, clauses, Patience::Waits, pending())
    }

    /// Accepts as [`accept`](Self::accept) does, if a caller is queued already. Otherwise goes on
    /// at once. [`Clause`] has an example.
    pub fn accept_or_else<const N: usize>(this: Self, clauses: [Clause; N]) -> Accept<S, N> {
        Accept::new(this, clauses, Patience::Else, pending())
    }

    /// Accepts as [`accept`](Self::accept) does, if a call comes before `until` is ready.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::sync::monitor::{Accepted, Clause, Entry, Held, Monitor};
    /// use evenkeel::time::{Duration, sleep};
    ///
    /// #[derive(Clone, Copy, Entry)]
    /// enum Op {
    ///     Call,
    /// }
    ///
    /// let monitor = Monitor::new(0);
    /// evenkeel::Runtime::new().unwrap().block_on(async {
    ///     let held = monitor.enter().await;
    ///     let (calls, limit) = ([Clause::new(Op::Call)], sleep(Duration::from_millis(2)));
    ///     let (mut held, outcome) = Held::accept_until(held, calls, limit).await;
    ///     assert_eq!(outcome, Accepted::Timeout);
    ///     *held += 1;
    /// });
    /// ```
    pub fn accept_until<const N: usize, U: Future<Output = ()>>(
        this: Self,
        clauses: [Clause; N],
        until: U,
    ) -> Accept<S, N, U> {
        Accept::new(this, clauses, Patience::Waits, until)
    }
}

/// Lets the first caller in or waits for one, and sets `queued`; or does neither, and returns the
/// outcome.
///
/// # Safety
/// The caller holds the set for this node. The node is in no queue, and it and the cores stay where
/// they are until it has been taken out.
#[inline(never)]
unsafe fn begin(
    node: &Node,
    cores: Cores<'_>,
    clauses: &[Clause],
    patience: Patience,
    waker: &Waker,
    queued: &mut bool,
) -> Option<Accepted> {
    let mask = clauses.iter().fold(0, |mask, clause| mask | clause.accepted());
    if mask == 0 {
        return Some(match patience {
            Patience::Else => Accepted::Else,
            Patience::Waits => Accepted::Closed,
        });
    }
    // SAFETY: the set borrows its monitors.
    let leader = unsafe { cores.leader.get() };
    // Before the lock is taken: cloning a foreign waker runs the caller's code.
    let waker = WordWaker::of(waker);
    node.fill(Kind::Acceptor, Place::Mask, cores, Op::NONE);
    // Dropped after the lock is released, with what it is exchanged for.
    let mut others = matches!(patience, Patience::Waits).then(|| others_of(cores)).flatten();
    let mut state = leader.lock();
    for (index, clause) in clauses.iter().enumerate() {
        let Some(caller) = state.caller(clause.accepted(), cores) else { continue };
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
            return Some(Accepted::Call(index));
        }
        let (own, call) = (state.call(), Some(state.next_acceptance()));
        let fill = |ticket: &mut Ticket| {
            (ticket.op, ticket.call, ticket.accepted) = (op, own, call);
        };
        // SAFETY: the node belongs to its future until it is in a queue.
        unsafe { node.with(fill) };
        node.word.wait(waker);
        *queued = true;
        // SAFETY: the caller's promise.
        unsafe { state.push_urgent(node) };
        leader.note_urgent(&state);
        // SAFETY: it waits with this lock.
        unsafe { caller.with(|ticket| ticket.call = call) };
        // SAFETY: as above, and it is in no queue.
        let caller = unsafe { state.give(caller) };
        drop(state);
        caller.wake();
        return None;
    }
    if patience == Patience::Else {
        drop(state);
        drop(waker);
        return Some(Accepted::Else);
    }
    let own = state.call();
    // SAFETY: the node belongs to its future until other tasks can see it.
    unsafe { node.with(|ticket| ticket.call = own) };
    node.word.wait(waker);
    *queued = true;
    state.put_acceptor(node, mask, &mut others);
    None
}

impl<S: Set, const N: usize, U> Accept<S, N, U> {
    #[inline(always)]
    fn new(held: Held<S>, clauses: [Clause; N], patience: Patience, until: U) -> Self {
        Self {
            node: Node::new(),
            members: Slot::new(held.into_members()),
            place: S::place(),
            clauses,
            patience,
            queued: false,
            unit: Unit::NEW,
            until: Some(until),
            _pinned: PhantomPinned,
        }
    }

    #[inline(always)]
    fn members(&self) -> &Members<S> {
        self.members.get()
    }

    /// What was accepted. The node has been granted.
    #[inline]
    fn outcome(&self) -> Accepted {
        // SAFETY: the node was granted, and this is its future.
        let (op, broken) = unsafe { self.node.with(|ticket| (ticket.op, ticket.broken)) };
        let index = self.clauses.iter().position(|clause| op.is_in(clause.accepted()));
        let index = index.expect("an accepted call is of an open clause");
        if broken { Accepted::Broken(index) } else { Accepted::Call(index) }
    }

    #[inline(always)]
    fn finish(&mut self, outcome: Accepted) -> (Held<S>, Accepted) {
        let members = self.members.take();
        // SAFETY: this future holds the set.
        let held = unsafe { Held::new(members) };
        // Dropped where it is, as pinned. If its destructor panics, the hold ends here; it would be
        // lost if the limit were dropped with this future, after the hold was returned.
        self.until = None;
        (held, outcome)
    }

    /// Stops waiting for a call, and returns where the node was; if that was `Mask`, this future
    /// holds the set. None if the node has been granted, or if a call has come and
    /// `only_before_a_call` is set.
    fn give_up(&self, only_before_a_call: bool) -> Option<Place> {
        let leader = self.members().leader();
        // SAFETY: the set borrows its monitors.
        let mut state = unsafe { leader.get() }.lock();
        if self.node.is_over() {
            return None;
        }
        // SAFETY: the node waits, and this thread has the lock.
        if unsafe { self.node.with(|ticket| ticket.place) } == Place::Mask {
            state.remove_acceptor();
            // SAFETY: it is in no queue any more, and this thread has the lock.
            let waker = unsafe { self.node.give_up() };
            drop(state);
            drop(waker);
            return Some(Place::Mask);
        }
        drop(state);
        if only_before_a_call {
            return None;
        }
        // A call has come, and that does not change any more.
        // SAFETY: the set borrows its monitors, and the node is this future's.
        unsafe { waiting::leave_urgent(&self.node, self.members()) }.then_some(Place::Urgent)
    }
}

impl<S: Set, const N: usize, U: Future<Output = ()>> Future for Accept<S, N, U> {
    type Output = (Held<S>, Accepted);

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<(Held<S>, Accepted)> {
        // SAFETY: nothing is moved out but the set, once the node is in no queue.
        let this = unsafe { self.as_mut().get_unchecked_mut() };
        if this.queued {
            let leader = this.members().leader();
            let waker = context.waker();
            // SAFETY: the set borrows its monitors, and the node is this future's.
            if this.node.is_granted() || unsafe { waiting::renew(&this.node, leader, waker) } {
                let outcome = this.outcome();
                return Poll::Ready(this.finish(outcome));
            }
        } else {
            let cores = this.members.get().cores(&mut this.place);
            let (node, waker, queued) = (&this.node, context.waker(), &mut this.queued);
            // SAFETY: this future has the hold; what is pinned stays where it is, and the future
            // takes the node out when it is dropped.
            let over = unsafe { begin(node, cores, &this.clauses, this.patience, waker, queued) };
            if let Some(outcome) = over {
                // Nothing has changed: the next poll can begin anew.
                let is_repeatable = matches!(outcome, Accepted::Closed | Accepted::Else);
                if is_repeatable && !this.unit.take() {
                    return this.unit.yield_to(context.waker());
                }
                return Poll::Ready(this.finish(outcome));
            }
        }
        // SAFETY: it is pinned with this, and not moved.
        let mut until = unsafe { Pin::new_unchecked(&mut this.until) };
        if until.as_mut().as_pin_mut().is_some_and(|until| until.poll(context).is_ready()) {
            // If a call has come, this future waits on for the end of that call.
            until.set(None);
            if this.give_up(true).is_some() {
                return Poll::Ready(this.finish(Accepted::Timeout));
            }
        }
        Poll::Pending
    }
}

impl<S: Set, const N: usize, U> Drop for Accept<S, N, U> {
    fn drop(&mut self) {
        if !self.members.is_full() {
            return;
        }
        if self.queued
            && !self.node.is_granted()
            && self.give_up(false).is_some_and(|place| place != Place::Mask)
        {
            return;
        }
        // SAFETY: this future holds the set, and gives it up here.
        unsafe { core::leave(self.members()) };
    }
}

impl<S: Set, const N: usize, U> fmt::Debug for Accept<S, N, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accept").field("clauses", &self.clauses).finish_non_exhaustive()
    }
}
