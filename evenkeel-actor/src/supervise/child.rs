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

/// The specification of a child of a [`Supervisor`](crate::Supervisor): how to make the child, and
/// what its end leads to.
///
/// # Examples
/// ```
/// use evenkeel_actor::{
///     Actor, Builder, Child, Context, Failure, Handled, Restart, Supervisor, kit,
/// };
/// use std::time::Duration;
///
/// struct Connection;
///
/// impl Actor for Connection {
///     type Message = &'static str;
///
///     async fn handle(&mut self, message: &'static str, _: &mut Context<Self>) -> Handled {
///         if message == "reset" {
///             return Err(Failure::message("reset by peer"));
///         }
///         Ok(())
///     }
/// }
///
/// kit::run(1, |kit| async move {
///     kit.system().on_failure(|_| ());
///     let mut tree = Supervisor::one_for_one().intensity(10, Duration::from_secs(60));
///     let child = Child::new("connection", || Connection)
///         // Not after an end in order.
///         .restart(Restart::Transient)
///         // 1 second after the first failure, then 2, 4, 8, 16, and 30 from then on.
///         .backoff(Duration::from_secs(1), Duration::from_secs(30))
///         .shutdown(Duration::from_secs(10))
///         .mailbox(&Builder::new().capacity(1_000))
///         .unwrap();
///     let connection = tree.child(child);
///     let _tree = tree.spawn();
///     assert_eq!(connection.capacity(), 1_000);
///
///     connection.send("reset").await.unwrap();
///     evenkeel::time::sleep(Duration::from_millis(900)).await;
///     assert_eq!(connection.metrics().restarts, 0);
///     // Messages that come meanwhile wait.
///     connection.send("hello").await.unwrap();
///     evenkeel::time::sleep(Duration::from_millis(200)).await;
///     assert_eq!((connection.metrics().restarts, connection.depth()), (1, 0));
/// });
/// ```
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
    /// Returns a child that `factory` makes at each start, with a name for reports. It is
    /// permanent, has a mailbox for 256 messages, and 5 seconds to stop.
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
    /// Sets after which ends the supervisor restarts the child.
    pub fn restart(mut self, restart: Restart) -> Self {
        self.spec.terms.restart = restart;
        self
    }

    /// Sets how long the child may take to stop on its supervisor's order, before the supervisor
    /// kills it. [`Duration::MAX`] sets no limit.
    pub fn shutdown(mut self, limit: Duration) -> Self {
        self.spec.terms.shutdown = limit;
        self
    }

    /// Makes the supervisor wait before it restarts the child: `first` after the first failure,
    /// twice as long after each that follows, at most `most`. A child that was up for as long as
    /// `most` has recovered. Under [`OneForAll`](crate::Strategy::OneForAll) and
    /// [`RestForOne`](crate::Strategy::RestForOne) the other children wait too.
    pub fn backoff(mut self, first: Duration, most: Duration) -> Self {
        self.spec.terms.backoff = Some(Backoff { first, most });
        self
    }

    /// Sets the mailbox, and the system if it is not that of the supervisor.
    ///
    /// # Errors
    /// If the mailbox has a capacity of zero, or one that is too large.
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

/// A supervisor's report on a child.
///
/// # Examples
/// See [`SupervisorRef`](crate::SupervisorRef).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildInfo {
    /// The child's name.
    pub name: Arc<str>,
    /// The child as an actor.
    pub actor: AnyActor,
    /// After which ends the supervisor restarts it.
    pub restart: Restart,
    /// Whether it has started, and has not ended since.
    pub is_up: bool,
    /// How often the supervisor has restarted it.
    pub restarts: u64,
}

impl ChildInfo {
    /// Returns the actor's number.
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.actor.id()
    }
}

/// A child that a supervisor has, or is to get. Dropping the row of a child without a supervisor
/// ends the child.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) spec: Spec,
    pub(super) actor: AnyActor,
    /// The number of the present start, and the number of starts so far.
    pub(super) term: u64,
    pub(super) starts: u64,
    /// Whether a supervisor has the child.
    pub(super) kept: bool,
    /// Whether the child is not started again, also if its supervisor is restarted before the child
    /// has ended.
    pub(super) is_removed: bool,
}

impl Row {
    pub(super) fn new(spec: Spec, actor: AnyActor) -> Self {
        Self { spec, actor, term: 0, starts: 0, kept: false, is_removed: false }
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        if !self.kept {
            self.actor.control().orphan();
        }
    }
}
