//! References to supervisors.

use super::Supervisor;
use super::builder::make;
use super::child::{Child, ChildInfo, Row};
use crate::actor::Actor;
use crate::actor::context::Context;
use crate::kin::control::AnyActor;
use crate::kin::stopped::Stopped;
use crate::mailbox::note;
use crate::mailbox::overflow::Overflow;
use crate::refs::actor_ref::ActorRef;
use crate::refs::ask::ReplyTo;
use crate::words::error::{AskError, SendError};
use crate::words::id::ActorId;
use std::fmt;
use std::sync::atomic::Ordering;

/// A command to a supervisor, which a [`SupervisorRef`] sends.
///
/// # Examples
/// No program makes a command: see [`SupervisorRef`].
#[derive(Debug)]
pub struct Command(Inner);

#[derive(Debug)]
enum Inner {
    List(ReplyTo<Vec<ChildInfo>>),
    Add(Box<Row>),
    Remove(ActorId, ReplyTo<bool>),
}

/// A reference to a [`Supervisor`].
///
/// # Examples
/// Children that come and go:
/// ```
/// use evenkeel_actor::{Actor, Child, Context, Handled, Supervisor};
///
/// struct Player;
///
/// impl Actor for Player {
///     type Message = ();
///
///     async fn handle(&mut self, _move: (), _context: &mut Context<Self>) -> Handled {
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let game = Supervisor::one_for_one().spawn();
///     let ada = game.add(Child::new("Ada", || Player)).await.unwrap();
///     let bob = game.add(Child::new("Bob", || Player)).await.unwrap();
///     let children = game.children().await.unwrap();
///     let names: Vec<_> = children.iter().map(|child| &*child.name).collect();
///     assert_eq!(names, ["Ada", "Bob"]);
///     assert_eq!(children[1].id(), bob.id());
///
///     // A permanent child that is stopped starts again. One that is removed does not.
///     assert_eq!(game.remove(ada.id()).await, Ok(true));
///     assert!(ada.stopped().await.is_normal());
///     assert_eq!(game.remove(ada.id()).await, Ok(false));
///     assert_eq!(game.children().await.unwrap().len(), 1);
///
///     assert!(!game.is_stopped());
///     game.stop();
///     assert!(game.stopped().await.is_normal());
///     assert!(bob.is_stopped());
///     assert!(game.children().await.is_err());
/// });
/// ```
///
/// A supervisor is an actor, which others can watch:
/// ```
/// use evenkeel_actor::{ExitReason, Supervisor, kit};
///
/// kit::run(1, |_kit| async {
///     let tree = Supervisor::one_for_all().spawn();
///     let actor = tree.any();
///     assert_eq!(actor.id(), tree.id());
///     tree.kill();
///     assert!(matches!(actor.stopped().await, ExitReason::Killed));
/// });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SupervisorRef(pub(super) ActorRef<Command>);

impl SupervisorRef {
    /// Returns the supervisor's number.
    #[must_use]
    pub fn id(&self) -> ActorId {
        self.0.id()
    }

    /// Returns the supervisor as an actor.
    #[must_use]
    pub fn any(&self) -> AnyActor {
        self.0.any()
    }

    /// Returns the children that have not ended for good, in the order in which they start.
    ///
    /// # Errors
    /// [`AskError`], as for any [`ask`](ActorRef::ask): if the supervisor has stopped, or does not
    /// answer within the system's limit, as while its children take long to start.
    pub async fn children(&self) -> Result<Vec<ChildInfo>, AskError> {
        self.0.ask(|reply| Command(Inner::List(reply))).await
    }

    /// Adds a child after the others, and starts it.
    ///
    /// # Errors
    /// If the supervisor has stopped.
    ///
    /// # Panics
    /// If the caller belongs to no runtime.
    ///
    /// # Cancel safety
    /// A future that is dropped before it is ready has added no child.
    #[track_caller]
    pub fn add<A, F, P>(
        &self,
        child: Child<F, P>,
    ) -> impl Future<Output = Result<ActorRef<A::Message, P>, SendError<()>>>
    where
        A: Actor,
        F: FnMut() -> A + Send + 'static,
        P: Overflow,
    {
        let (row, actor) = make(child, self.0.system());
        async move {
            let sent = self.0.send(Command(Inner::Add(Box::new(row)))).await;
            sent.map(|()| actor).map_err(|_| SendError::Stopped(()))
        }
    }

    /// Stops a child for good. Returns whether there was such a child. Does not wait for its end.
    ///
    /// # Errors
    /// As for [`children`](Self::children).
    ///
    /// # Cancel safety
    /// The supervisor removes the child once the request has been sent, whether or not the future
    /// is dropped.
    pub async fn remove(&self, child: ActorId) -> Result<bool, AskError> {
        self.0.ask(|reply| Command(Inner::Remove(child, reply))).await
    }

    /// Stops the children, the last first, and then the supervisor.
    pub fn stop(&self) {
        self.0.stop_now();
    }

    /// Ends the supervisor and its children at their next await.
    pub fn kill(&self) {
        self.0.kill();
    }

    /// Returns whether the supervisor has stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }

    /// Waits until the supervisor and all actors below it have ended, for whatever reason: see
    /// [`ActorRef::stopped`]. An actor that does not reach an await delays this.
    pub fn stopped(&self) -> Stopped {
        self.0.stopped()
    }
}

impl Supervisor {
    pub(super) fn command(&mut self, command: Command, context: &Context<Self>) {
        match command.0 {
            Inner::List(reply) => reply.send(self.list()),
            Inner::Add(mut row) => {
                row.kept = true;
                let (actor, row) = (row.actor.clone(), *row);
                let index = self.table.next.fetch_add(1, Ordering::Relaxed);
                self.enter(index, &row);
                self.table.rows().insert(index, row);
                let _ = note(context.mailbox(), |kin, _| kin.wards.insert(index, actor));
                self.tree.go_on();
            }
            Inner::Remove(child, reply) => {
                let index = self.table.rows().number_of(child);
                if let Some(index) = index {
                    self.tree.remove(index);
                    if let Some(row) = self.table.rows().get_mut(index) {
                        row.is_removed = true;
                    }
                }
                reply.send(index.is_some());
            }
        }
        self.act(context);
    }

    fn list(&self) -> Vec<ChildInfo> {
        let rows = self.table.rows();
        let info = rows.iter().map(|(index, row)| ChildInfo {
            name: row.spec.name.clone(),
            actor: row.actor.clone(),
            restart: row.spec.terms.restart,
            is_up: self.tree.is_up(index),
            restarts: row.starts.saturating_sub(1),
        });
        info.collect()
    }
}

impl fmt::Display for SupervisorRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "supervisor {}", self.0.id())
    }
}
