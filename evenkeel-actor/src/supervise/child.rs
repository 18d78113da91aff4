//! What a supervisor knows of its children.

use crate::actor::others::SHUTDOWN;
use crate::kin::control::AnyActor;
use crate::life::builder::{Builder, CAPACITY};
use crate::mailbox::Settings;
use crate::mailbox::overflow::{Overflow, Wait};
use crate::policy::intensity::Backoff;
use crate::policy::restart::Restart;
use crate::policy::tree::Terms;
use crate::system::System;
use crate::words::error::SpawnError;
use crate::words::id::ActorId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// A child of a [`Supervisor`](crate::Supervisor), to be: how it is made, and what becomes of it
/// when it ends.
///
/// # Examples
/// See [`Supervisor`](crate::Supervisor).
#[must_use = "a child begins when it is given to a supervisor"]
pub struct Child<F, P: Overflow = Wait> {
    pub(super) factory: F,
    pub(super) spec: Spec,
    pub(super) settings: Settings,
    pub(super) system: Option<System>,
    policy: PhantomData<P>,
}

#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub(super) name: Arc<str>,
    pub(super) terms: Terms,
}

impl<F> Child<F> {
    /// A child that is made by `factory` whenever it is started, with a name for reports.
    /// Permanent, with a mailbox for 256 messages, and 5 seconds to stop.
    pub fn new(name: impl Into<Arc<str>>, factory: F) -> Self {
        let terms = Terms { restart: Restart::default(), shutdown: SHUTDOWN, backoff: None };
        Self {
            factory,
            spec: Spec { name: name.into(), terms },
            settings: Settings::new::<Wait>(CAPACITY),
            system: None,
            policy: PhantomData,
        }
    }
}

impl<F, P: Overflow> Child<F, P> {
    /// After which ends it is started anew.
    pub fn restart(mut self, restart: Restart) -> Self {
        self.spec.terms.restart = restart;
        self
    }

    /// How long it may take to stop when its supervisor tells it to, before it is killed.
    /// [`Duration::MAX`]: for ever.
    pub fn shutdown(mut self, limit: Duration) -> Self {
        self.spec.terms.shutdown = limit;
        self
    }

    /// Has the supervisor wait before it starts the child anew: `first` after the first failure,
    /// twice as long after each that follows, `most` at most. A child that was up for as long as
    /// `most` has recovered. Under [`OneForAll`](crate::Strategy::OneForAll) and
    /// [`RestForOne`](crate::Strategy::RestForOne) the others wait too.
    pub fn backoff(mut self, first: Duration, most: Duration) -> Self {
        self.spec.terms.backoff = Some(Backoff { first, most });
        self
    }

    /// The mailbox, and the system if it is not that of the supervisor.
    ///
    /// # Errors
    /// If the mailbox would have no room, or too much.
    pub fn mailbox<Q: Overflow>(self, mailbox: &Builder<Q>) -> Result<Child<F, Q>, SpawnError> {
        let settings = mailbox.settings()?;
        let (factory, spec) = (self.factory, self.spec);
        let system = mailbox.system_if_set().or(self.system);
        Ok(Child { factory, spec, settings, system, policy: PhantomData })
    }
}

impl<F, P: Overflow> fmt::Debug for Child<F, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Child").field(&self.spec).finish()
    }
}

/// What a supervisor says of a child.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildInfo {
    /// Its name.
    pub name: Arc<str>,
    /// The actor.
    pub actor: AnyActor,
    /// After which ends it is started anew.
    pub restart: Restart,
    /// Whether it has started, and has not ended since.
    pub is_up: bool,
    /// How often it was started anew.
    pub restarts: u64,
}

impl ChildInfo {
    /// The actor's number.
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.actor.id()
    }
}

/// A child that a supervisor has, or is to get. One that gets no supervisor ends.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) spec: Spec,
    pub(super) actor: AnyActor,
    /// The present start, and how many there were.
    pub(super) term: u64,
    pub(super) starts: u64,
    /// A supervisor has it.
    pub(super) kept: bool,
}

impl Row {
    pub(super) fn new(spec: Spec, actor: AnyActor) -> Self {
        Self { spec, actor, term: 0, starts: 0, kept: false }
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        if !self.kept {
            self.actor.control().orphan();
        }
    }
}
