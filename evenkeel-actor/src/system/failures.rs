//! Reports on actors that fail.

use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use evenkeel::internal::contain;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

/// An actor, as reports describe it.
///
/// # Examples
/// See [`System::on_failure`](crate::System::on_failure).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorInfo {
    /// The actor's number.
    pub id: ActorId,
    /// The name of the actor as a supervised child.
    pub name: Option<String>,
    /// Where it was spawned.
    pub spawn_site: &'static Location<'static>,
    /// The actor's type.
    pub type_name: &'static str,
}

impl fmt::Display for ActorInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "actor {}", self.id)?;
        if let Some(name) = &self.name {
            write!(f, " \"{name}\"")?;
        }
        write!(f, " of {} (spawned at {})", self.type_name, self.spawn_site)
    }
}

/// An actor that has failed: see [`System::on_failure`](crate::System::on_failure).
///
/// # Examples
/// See [`System::on_failure`](crate::System::on_failure).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ActorFailure {
    /// The actor.
    pub actor: ActorInfo,
    /// Why it has failed.
    pub reason: ExitReason,
    /// Whether it has a supervisor, which decides what becomes of it.
    pub supervised: bool,
}

impl fmt::Display for ActorFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.actor, self.reason)
    }
}

type Observer = Arc<dyn Fn(&ActorFailure) + Send + Sync>;

/// The observer of failures.
pub(crate) struct Failures(Mutex<Option<Observer>>);

impl Failures {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    pub(crate) fn observe(&self, observer: Observer) {
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(observer);
        drop(before);
    }

    pub(crate) fn tell(&self, failure: &ActorFailure) {
        let observer = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match observer {
            Some(observer) => drop(contain(|| observer(failure))),
            // A user's code formats the reason, and printing to a closed pipe panics.
            None => drop(contain(|| eprintln!("evenkeel: {failure}"))),
        }
    }
}

impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failures").finish_non_exhaustive()
    }
}
