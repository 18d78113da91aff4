//! Coroutines that resume each other in cycles: full coroutines.
//!
//! # Roles
//! *Members*, each of which suspends itself with a [`Transfer`] to another one, and the *driver*,
//! [`Cycle::run`] or [`Cycle::run_async`], which resumes that other one.
//!
//! # Rules
//! As in C∀ and µC++: a member's *starter* is the one that transferred to it first, and the caller
//! of `run` for the one that begins. A member that ends gives its result to its starter.
//!
//! # Rejected
//! A body that resumes its partner by itself: in a cycle somebody would resume a coroutine inside
//! its own step, for which a stackless frame has no place and an exclusive borrow no second owner.
//! The driver makes it a loop, of constant depth.

use super::error::Refusal;
use super::id::{self, Id};
use super::resume::{Phase, Resume, Step};
use std::fmt;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::Pin;

/// What a [member](Cycle::reserve) suspends itself with: whom to resume, and with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer<V> {
    /// Whom to resume.
    pub to: Member,
    /// What to pass.
    pub value: V,
}

impl<V> Transfer<V> {
    /// Resumes `to` with `value`.
    #[inline]
    pub fn new(to: Member, value: V) -> Self {
        Self { to, value }
    }
}

/// A place in a [`Cycle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    cycle: Id,
    place: usize,
}

/// Coroutines that resume each other, and the loop that drives them.
///
/// Values of one type go round: what a transfer passes, and what a member returns, which its
/// starter gets.
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
    /// Who transferred to it first; none is the caller of `run`.
    starter: Option<usize>,
}

impl<C> Default for Cycle<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C> Cycle<C> {
    /// A cycle without members.
    #[must_use]
    pub fn new() -> Self {
        Self { id: id::take(), seats: Vec::new() }
    }

    /// A place for a member, which others can be told before the member is there.
    pub fn reserve(&mut self) -> Member {
        self.seats.push(Seat { coroutine: None, starter: None });
        Member { cycle: self.id, place: self.seats.len() - 1 }
    }

    /// Puts a coroutine into its place. Gives the one that was there.
    ///
    /// # Panics
    /// If the place is another cycle's.
    pub fn fill(&mut self, member: Member, coroutine: C) -> Option<C> {
        assert_eq!(
            member.cycle, self.id,
            "the place is another cycle's: reserve one in this cycle"
        );
        let seat = &mut self.seats[member.place];
        seat.starter = None;
        seat.coroutine.replace(coroutine)
    }

    /// Resumes `first` with `value`, then whomever it transfers to, and so on, until `first`'s
    /// starter is to be resumed by a member that ends, which is the caller: gives what that member
    /// returned.
    ///
    /// Members that have not ended stay where they are suspended, and can be run again.
    ///
    /// # Errors
    /// If a transfer goes to a place that is empty or another cycle's, or to a member that cannot
    /// be resumed, or if a body awaits something that is not its suspender. All other members stay
    /// as they are.
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

    /// As [`run`](Self::run), in a task: whatever a member awaits suspends the task, and only a
    /// transfer or its end is the end of its step.
    ///
    /// # Cancel safety
    /// A future that is dropped leaves a member that [waits](Phase::Waiting) if it was in an
    /// `await` of its own, and all others suspended. A member that waits cannot be resumed before
    /// its step is at its end: take it out by [`fill`](Self::fill), and
    /// [continue](Resume::continue_async) it.
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
            let step =
                poll_fn(|context| Pin::new(&mut *coroutine).poll_resume(context, &mut value));
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

    /// The member whose turn it is. If it has not begun, it learns its starter.
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

    /// Whose turn it is after a step, and with what; or what the caller gets.
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

/// Whom a run resumes next, and who has transferred to it.
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

    /// Who was to be resumed.
    #[must_use]
    pub fn to(&self) -> Member {
        self.to
    }

    /// Why the member cannot be resumed, if there is one.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        match self.reason {
            Reason::Refused(refusal) => Some(refusal),
            Reason::Stranger | Reason::Vacant => None,
        }
    }

    /// The value, if the member has not got it.
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
