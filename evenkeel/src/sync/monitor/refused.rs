//! What an extension returns if it refuses.

use super::enter::Enter;
use super::held::Held;
use super::joined::Joined;
use super::node::Op;
use super::set::Set;
use std::error::Error;
use std::fmt;
use std::panic::Location;

/// Why a hold has not been extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// A taken monitor comes before one of the hold, by address. To wait for it could close a
    /// circle with a holder that waits in the usual order.
    Order,
    /// A monitor is taken, and the hold is a part of one that has been [split](Held::split):
    /// signalled tasks wait for the whole, and so for this part.
    Reserved,
    /// A monitor is taken, and [`Held::try_extend`] does not wait.
    Taken,
    /// A monitor was taken until the limit was ready.
    Late,
    /// The hold has one of the monitors already.
    Twice,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Order => {
                "a monitor is taken that comes before one of the hold: leave, and enter with `lock_all`"
            }
            Self::Reserved => {
                "a monitor is taken, and signalled tasks wait for the hold, which is a part: leave it"
            }
            Self::Taken => "a monitor is taken: wait for it with `Held::extend`",
            Self::Late => "a monitor was taken until the limit: try again, or leave the hold",
            Self::Twice => "the hold has one of the monitors already: name those that it lacks",
        })
    }
}

/// A hold that has not been extended, unchanged.
///
/// # Examples
/// A task that does not depend on what it has read inside can start again with all of the monitors:
/// ```
/// use evenkeel::sync::monitor::{Held, Joined, Monitor};
///
/// async fn both<'a>(held: Held<&'a Monitor<u32>>, more: &'a Monitor<u32>) -> u32 {
///     let held = match Held::extend(held, more).await {
///         Ok(held) => held,
///         // Other tasks may be inside in between, and change what `held` has shown.
///         Err(refused) => refused.leave_and_enter_all().await,
///     };
///     held.values().0 + held.values().1
/// }
///
/// # evenkeel::block_on(async {
/// let monitors = [1, 2].map(Monitor::new);
/// assert_eq!(both(monitors[1].enter().await, &monitors[0]).await, 3);
/// # });
/// ```
/// A task that depends on what it has read keeps its hold, and extends it later:
/// ```
/// use evenkeel::sync::monitor::{Held, Monitor, Why};
///
/// let (queue, log) = (Monitor::new(vec![1]), Monitor::new(Vec::new()));
/// let other = log.try_enter().unwrap();
/// let refused = Held::try_extend(queue.try_enter().unwrap(), &log).unwrap_err();
/// assert_eq!(refused.why(), Why::Taken);
/// let (mut held, more) = refused.into_parts();
/// held.push(2);
/// drop(other);
/// let mut both = Held::try_extend(held, more).unwrap();
/// let (queue, log) = both.values_mut();
/// log.append(queue);
/// assert_eq!(*log, [1, 2]);
/// ```
#[must_use = "it has the hold, which is left as soon as this is dropped"]
pub struct Refused<S: Set, E: Set> {
    held: Held<S>,
    set: E,
    why: Why,
    at: &'static Location<'static>,
}

impl<S: Set, E: Set> Refused<S, E> {
    pub(super) fn new(held: Held<S>, set: E, why: Why, at: &'static Location<'static>) -> Self {
        Self { held, set, why, at }
    }

    /// Returns why the hold was not extended.
    pub fn why(&self) -> Why {
        self.why
    }

    /// Returns the hold. [`Held::extend_until`] has an example.
    pub fn into_held(self) -> Held<S> {
        self.held
    }

    /// Returns the hold, and the set by which it was to be extended.
    pub fn into_parts(self) -> (Held<S>, E) {
        (self.held, self.set)
    }

    /// Leaves the hold, and enters all monitors of both sets in the usual order. Other tasks may be
    /// inside in between: read again what you have read inside before.
    ///
    /// # Cancel safety
    /// As [`Enter`]. The monitors have been left when this returns.
    ///
    /// # Panics
    /// If a monitor is in both sets: the extension was refused with [`Why::Twice`].
    #[track_caller]
    pub fn leave_and_enter_all(self) -> Enter<Joined<S, E>> {
        let set = Joined(Held::set(&self.held), self.set);
        drop(self.held);
        Enter::new(set, Op::NONE)
    }
}

impl<S: Set, E: Set> fmt::Debug for Refused<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused")
            .field("held", &self.held)
            .field("why", &self.why)
            .finish_non_exhaustive()
    }
}

impl<S: Set, E: Set> fmt::Display for Refused<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the hold is not extended at {}: {}", self.at, self.why)
    }
}

impl<S: Set, E: Set> Error for Refused<S, E> {}
