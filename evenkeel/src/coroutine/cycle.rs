//! Coroutines that resume each other in cycles: full coroutines.
//!
//! # Roles
//! *Members*, each of which suspends itself with a [`Transfer`] to another one, and the *driver*, [`Cycle::run`], which
//! resumes that other one.
//!
//! # Rules
//! As in C∀ and µC++: a member's *starter* is the one that transferred to it first, and the caller of `run` for the
//! one that begins. A member that ends gives its result to its starter.
//!
//! # Rejected
//! A body that resumes its partner by itself: in a cycle somebody would resume a coroutine inside its own step, for which a
//! stackless frame has no place and an exclusive borrow no second owner. The driver makes it a loop, of constant depth.

use super::error::Refusal;
use super::id::{self, Id};
use super::resume::{Phase, Resume, Step};
use std::fmt;

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
/// Values of one type go round: what a transfer passes, and what a member returns, which its starter gets.
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

    /// Resumes `first` with `value`, then whomever it transfers to, and so on, until `first`'s starter is to
    /// be resumed by a member that ends, which is the caller: gives what that member returned.
    ///
    /// Members that have not ended stay where they are suspended, and can be run again.
    ///
    /// # Errors
    /// If a transfer goes to a place that is empty or another cycle's, or to a member that cannot be resumed, or if a
    /// body awaits something that is not its suspender. All other members stay as they are.
    ///
    /// # Panics
    /// With the panic of a member, which is finished then.
    pub fn run<V>(&mut self, first: Member, value: V) -> Result<V, TransferError<V>>
    where
        C: Resume<V, Yield = Transfer<V>, Return = V> + Unpin,
    {
        let (mut to, mut value, mut from) = (first, value, None);
        loop {
            let seat = match self.seats.get_mut(to.place) {
                Some(seat) if to.cycle == self.id => seat,
                _ => return Err(TransferError::new(to, Reason::Stranger, Some(value))),
            };
            let Some(coroutine) = &mut seat.coroutine else {
                return Err(TransferError::new(to, Reason::Vacant, Some(value)));
            };
            if coroutine.phase() == Phase::New {
                seat.starter = from;
            }
            match coroutine.try_resume(value) {
                Ok(Step::Yielded(transfer)) => {
                    from = Some(to.place);
                    (to, value) = (transfer.to, transfer.value);
                }
                Ok(Step::Complete(result)) => match seat.starter {
                    Some(place) => (to, value) = (Member { cycle: self.id, place }, result),
                    None => return Ok(result),
                },
                Err(error) => {
                    let reason = Reason::Refused(error.refusal());
                    return Err(TransferError::new(to, reason, error.into_input()));
                }
            }
        }
    }
}

impl<C> fmt::Debug for Cycle<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cycle").field("members", &self.seats.len()).finish_non_exhaustive()
    }
}

/// A transfer that cannot be made: the error of [`Cycle::run`].
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
