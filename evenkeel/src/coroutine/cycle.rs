//! Coroutines that resume each other in cycles: full coroutines.
//!
//! # Roles
//! *Members*, each of which suspends itself with a [`Transfer`] to another member. The *driver*,
//! [`Cycle::run`] or [`Cycle::run_async`], which then resumes that member.
//!
//! # Rules
//! As in C∀ and µC++: a member's *starter* is the member that transferred to it first; the starter
//! of the first member is the caller of `run`. A member that ends gives its result to its starter.
//!
//! # Rejected
//! A body that resumes its partner itself: in a cycle, a body would resume a coroutine that is
//! inside its own step. A stackless frame has no place for that, and an exclusive borrow no second
//! owner. The driver makes it a loop, of constant depth.

use super::error::Refusal;
use super::id::{self, Id};
use super::resume::{Phase, Resume, Step};
use crate::task::budget::Unit;
use std::fmt;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::ready;

/// The output with which a [member](Cycle::reserve) suspends itself: the member to resume, and a
/// value for it. [`Cycle`] has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer<V> {
    /// The member to resume.
    pub to: Member,
    /// The value to pass.
    pub value: V,
}

impl<V> Transfer<V> {
    /// Creates a transfer that resumes `to` with `value`. [`Cycle`] has an example.
    #[inline]
    pub fn new(to: Member, value: V) -> Self {
        Self { to, value }
    }
}

/// A place in a [`Cycle`].
///
/// # Examples
/// Members name each other, whatever their number. A relay of three:
/// ```
/// use evenkeel::coroutine::{Coroutine, Cycle, Member, Transfer};
///
/// let mut cycle = Cycle::new();
/// let members: [Member; 3] = std::array::from_fn(|_| cycle.reserve());
/// for (place, me) in members.into_iter().enumerate() {
///     let next = members[(place + 1) % members.len()];
///     let runner = Coroutine::new(async move |mut suspender, mut hops: u32| {
///         while hops < 7 {
///             hops = suspender.suspend(Transfer::new(next, hops + 1)).await;
///         }
///         hops
///     });
///     cycle.fill(me, runner.boxed());
/// }
/// assert_eq!(cycle.run(members[0], 0), Ok(7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    cycle: Id,
    place: usize,
}

/// Coroutines that resume each other, and the loop that drives them.
///
/// All values have one type: those that transfers pass, and those that members return to their
/// starters.
///
/// A transfer costs about two steps of a coroutine and does not allocate; the stack does not grow.
///
/// # Examples
/// ```
/// use evenkeel::coroutine::{Coroutine, Cycle, Transfer};
///
/// let mut cycle = Cycle::new();
/// let (ping, pong) = (cycle.reserve(), cycle.reserve());
/// for (me, partner) in [(ping, pong), (pong, ping)] {
///     let body = Coroutine::new(async move |mut suspender, mut n: u32| {
///         while n < 10 {
///             n = suspender.suspend(Transfer::new(partner, n + 1)).await;
///         }
///         n
///     });
///     cycle.fill(me, body.boxed());
/// }
/// assert_eq!(cycle.run(ping, 0), Ok(10));
/// ```
pub struct Cycle<C> {
    id: Id,
    seats: Vec<Seat<C>>,
}

struct Seat<C> {
    coroutine: Option<C>,
    /// The place of the member that transferred to it first; `None` is the caller of `run`.
    starter: Option<usize>,
}

impl<C> Default for Cycle<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C> Cycle<C> {
    /// Creates a cycle without members.
    #[must_use]
    pub fn new() -> Self {
        Self { id: id::take(), seats: Vec::new() }
    }

    /// Reserves a place for a member. Other members can name it before it is filled.
    pub fn reserve(&mut self) -> Member {
        self.seats.push(Seat { coroutine: None, starter: None });
        Member { cycle: self.id, place: self.seats.len() - 1 }
    }

    /// Puts a coroutine into its place, and returns the one that was there.
    ///
    /// # Panics
    /// If the place belongs to another cycle.
    #[track_caller]
    pub fn fill(&mut self, member: Member, coroutine: C) -> Option<C> {
        assert_eq!(
            member.cycle, self.id,
            "the place is another cycle's: reserve one in this cycle"
        );
        let seat = &mut self.seats[member.place];
        seat.starter = None;
        seat.coroutine.replace(coroutine)
    }

    /// Resumes `first` with `value`, then the member that it transfers to, and so on. Ends when a
    /// member with the caller as its starter ends, and returns the result of that member.
    ///
    /// Members that have not ended stay suspended, and can be run again.
    ///
    /// # Errors
    /// If a transfer goes to an empty place, to a place of another cycle, or to a member that
    /// cannot be resumed; or if a body awaits something that is not its suspender. All other
    /// members stay as they are.
    ///
    /// # Panics
    /// With the panic of a member, which is finished then.
    pub fn run<V>(&mut self, first: Member, value: V) -> Result<V, TransferError<V>>
    where
        C: Resume<V, Yield = Transfer<V>, Return = V> + Unpin,
    {
        let (mut turn, mut value) = (Turn { to: first, from: None }, value);
        loop {
            let coroutine = match self.admit(turn) {
                Ok(coroutine) => coroutine,
                Err(reason) => return Err(TransferError::new(turn.to, reason, Some(value))),
            };
            match coroutine.try_resume(value) {
                Ok(step) => match self.after(turn, step) {
                    ControlFlow::Continue((next, passed)) => (turn, value) = (next, passed),
                    ControlFlow::Break(result) => return Ok(result),
                },
                Err(error) => {
                    let reason = Reason::Refused(error.refusal());
                    return Err(TransferError::new(turn.to, reason, error.into_input()));
                }
            }
        }
    }

    /// Runs as [`run`](Self::run) does, in a task: an `await` of a member suspends the task, and
    /// only a transfer or the member's end ends its step.
    ///
    /// # Cancel safety
    /// If the future is dropped while a member is in an `await` of its own, that member
    /// [waits](Phase::Waiting); all others are suspended. A member that waits cannot be resumed
    /// before its step has ended: take it out by [`fill`](Self::fill), and
    /// [continue](Resume::continue_async) it. If the member had not taken its value before that
    /// `await`, it is suspended too, and the value is dropped. If the future is dropped after a
    /// yield between two steps, because the [slice](crate::budget) of its poll was over, all
    /// members are suspended, and the value that was on its way is dropped.
    ///
    /// # Errors
    /// As [`run`](Self::run), except that bodies may await.
    ///
    /// # Panics
    /// With the panic of a member, which is finished then.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::coroutine::{Coroutine, Cycle, Transfer};
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let task = runtime.spawn(async {
    ///     let mut cycle = Cycle::new();
    ///     let (ping, pong) = (cycle.reserve(), cycle.reserve());
    ///     for (me, partner) in [(ping, pong), (pong, ping)] {
    ///         let body = Coroutine::new(async move |mut suspender, mut n: u32| {
    ///             while n < 10 {
    ///                 evenkeel::yield_now().await;
    ///                 n = suspender.suspend(Transfer::new(partner, n + 1)).await;
    ///             }
    ///             n
    ///         });
    ///         cycle.fill(me, body.boxed());
    ///     }
    ///     cycle.run_async(ping, 0).await
    /// });
    /// assert_eq!(runtime.block_on(task).unwrap(), Ok(10));
    /// ```
    pub async fn run_async<V>(&mut self, first: Member, value: V) -> Result<V, TransferError<V>>
    where
        C: Resume<V, Yield = Transfer<V>, Return = V> + Unpin,
    {
        let (mut turn, mut value) = (Turn { to: first, from: None }, Some(value));
        loop {
            let coroutine = match self.admit(turn) {
                Ok(coroutine) => coroutine,
                Err(reason) => return Err(TransferError::new(turn.to, reason, value)),
            };
            let mut unit = Unit::NEW;
            let step = poll_fn(|context| {
                if value.is_some() {
                    ready!(unit.poll(context.waker()));
                }
                Pin::new(&mut *coroutine).poll_resume(context, &mut value)
            });
            match step.await {
                Ok(step) => match self.after(turn, step) {
                    ControlFlow::Continue((next, passed)) => (turn, value) = (next, Some(passed)),
                    ControlFlow::Break(result) => return Ok(result),
                },
                Err(refusal) => {
                    return Err(TransferError::new(turn.to, Reason::Refused(refusal), value));
                }
            }
        }
    }

    /// Returns the member that has the turn. If it has not begun, sets its starter.
    fn admit<V>(&mut self, turn: Turn) -> Result<&mut C, Reason>
    where
        C: Resume<V>,
    {
        let seat = match self.seats.get_mut(turn.to.place) {
            Some(seat) if turn.to.cycle == self.id => seat,
            _ => return Err(Reason::Stranger),
        };
        let coroutine = seat.coroutine.as_mut().ok_or(Reason::Vacant)?;
        if coroutine.phase() == Phase::New {
            seat.starter = turn.from;
        }
        Ok(coroutine)
    }

    /// Returns the next turn after a step and the value for it, or the caller's result.
    fn after<V>(&self, turn: Turn, step: Step<Transfer<V>, V>) -> ControlFlow<V, (Turn, V)> {
        let from = Some(turn.to.place);
        match step {
            Step::Yielded(Transfer { to, value }) => {
                ControlFlow::Continue((Turn { to, from }, value))
            }
            Step::Complete(result) => match self.seats[turn.to.place].starter {
                Some(place) => {
                    let to = Member { cycle: self.id, place };
                    ControlFlow::Continue((Turn { to, from }, result))
                }
                None => ControlFlow::Break(result),
            },
        }
    }
}

/// The member that a run resumes next, and the one that has transferred to it.
#[derive(Clone, Copy)]
struct Turn {
    to: Member,
    from: Option<usize>,
}

impl<C> fmt::Debug for Cycle<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cycle").field("members", &self.seats.len()).finish_non_exhaustive()
    }
}

/// A transfer that cannot be made: the error of [`Cycle::run`] and [`Cycle::run_async`].
///
/// # Examples
/// ```
/// use evenkeel::coroutine::{Coroutine, Cycle, Refusal, Transfer};
///
/// let mut cycle = Cycle::new();
/// let (asks, answers) = (cycle.reserve(), cycle.reserve());
/// let asking = Coroutine::new(async move |mut suspender, n: u32| {
///     suspender.suspend(Transfer::new(answers, n)).await
/// });
/// cycle.fill(asks, asking.boxed());
/// let error = cycle.run(asks, 7).unwrap_err();
/// assert_eq!((error.to(), error.refusal()), (answers, None), "that place is empty");
/// assert_eq!(error.into_value(), Some(7));
///
/// // The member that asked is still suspended, so the answer can be given from here.
/// assert_eq!(cycle.run(asks, 8), Ok(8));
/// let error = cycle.run(asks, 9).unwrap_err();
/// assert_eq!(error.refusal(), Some(Refusal::Finished));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TransferError<V> {
    to: Member,
    reason: Reason,
    value: Option<V>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Stranger,
    Vacant,
    Refused(Refusal),
}

impl<V> TransferError<V> {
    fn new(to: Member, reason: Reason, value: Option<V>) -> Self {
        Self { to, reason, value }
    }

    /// Returns the member that was to be resumed.
    #[must_use]
    pub fn to(&self) -> Member {
        self.to
    }

    /// Returns why the member cannot be resumed, if the place has a member.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        match self.reason {
            Reason::Refused(refusal) => Some(refusal),
            Reason::Stranger | Reason::Vacant => None,
        }
    }

    /// Returns the value, unless the member has received it.
    #[must_use]
    pub fn into_value(self) -> Option<V> {
        self.value
    }
}

impl<V> fmt::Display for TransferError<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.to.place;
        match self.reason {
            Reason::Stranger => write!(
                f,
                "member {place} belongs to another cycle: transfer to members that this cycle reserved"
            ),
            Reason::Vacant => {
                write!(f, "place {place} of the cycle is empty: `fill` it before `run`")
            }
            Reason::Refused(refusal) => write!(f, "member {place} of the cycle: {refusal}"),
        }
    }
}

impl<V> fmt::Debug for TransferError<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransferError")
            .field("to", &self.to)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl<V> std::error::Error for TransferError<V> {}
