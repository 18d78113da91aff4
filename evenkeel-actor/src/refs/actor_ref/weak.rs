//! References that keep no actor.

use super::ActorRef;
use crate::mailbox::Mailbox;
use crate::mailbox::overflow::{Overflow, Wait};
use crate::refs::away::{Lease, Remote};
use crate::words::id::ActorId;
use evenkeel::internal::Weak;
use std::fmt;
use std::marker::PhantomData;
use std::sync;

/// A reference to an actor that does not keep it: for lists of actors that end by themselves, and
/// for one side of actors that refer to each other. [`ActorRef::downgrade`] makes it.
///
/// Of an ended actor it keeps the memory, not the actor's value and no messages. A clone costs one
/// reference count.
///
/// # Examples
/// Sessions that end when their last client leaves, and the list that finds them:
/// ```
/// use evenkeel_actor::{Actor, ActorRef, Context, Handled, WeakActorRef, kit, spawn};
/// use std::collections::HashMap;
///
/// struct Session;
///
/// impl Actor for Session {
///     type Message = String;
///
///     async fn handle(&mut self, _line: String, _context: &mut Context<Self>) -> Handled {
///         Ok(())
///     }
/// }
///
/// #[derive(Default)]
/// struct Sessions(HashMap<u32, WeakActorRef<String>>);
///
/// impl Sessions {
///     /// Returns the session of this number, and begins it if there is none.
///     fn enter(&mut self, number: u32) -> ActorRef<String> {
///         if let Some(session) = self.0.get(&number).and_then(WeakActorRef::upgrade) {
///             return session;
///         }
///         let session = spawn(Session);
///         self.0.insert(number, session.downgrade());
///         session
///     }
/// }
///
/// kit::run(1, |_kit| async {
///     let mut sessions = Sessions::default();
///     let (ada, bob) = (sessions.enter(7), sessions.enter(7));
///     assert_eq!(ada, bob);
///     let stopped = ada.stopped();
///     drop((ada, bob));
///     assert!(stopped.await.is_normal());
///     assert!(sessions.0[&7].upgrade().is_none());
/// });
/// ```
///
/// A child that knows its parent, and does not keep it:
/// ```
/// use evenkeel_actor::{Actor, ActorRef, Context, ExitReason, Handled, WeakActorRef, kit, spawn};
///
/// struct Parent(Option<ActorRef<()>>);
///
/// struct Child(WeakActorRef<u32>);
///
/// impl Actor for Parent {
///     type Message = u32;
///
///     async fn started(&mut self, context: &mut Context<Self>) -> Handled {
///         self.0 = Some(context.spawn(Child(context.actor_ref().downgrade())));
///         Ok(())
///     }
///
///     async fn handle(&mut self, _found: u32, _context: &mut Context<Self>) -> Handled {
///         Ok(())
///     }
/// }
///
/// impl Actor for Child {
///     type Message = ();
///
///     async fn handle(&mut self, _work: (), _context: &mut Context<Self>) -> Handled {
///         if let Some(parent) = self.0.upgrade() {
///             parent.try_send(7)?;
///         }
///         Ok(())
///     }
/// }
///
/// kit::run(1, |_kit| async {
///     let parent = spawn(Parent(None));
///     let stopped = parent.stopped();
///     drop(parent);
///     assert!(matches!(stopped.await, ExitReason::Unreferenced));
/// });
/// ```
pub struct WeakActorRef<M: Send + 'static, P: Overflow = Wait> {
    place: Place<M>,
    policy: PhantomData<P>,
}

/// Where the actor is.
pub(super) enum Place<M: Send + 'static> {
    Local(Weak<Mailbox<M>>),
    /// On another node, without a lease.
    Remote(Remote),
    /// On another node, which has lent it with this lease.
    Leased(Remote, sync::Weak<Lease>),
}

impl<M: Send + 'static, P: Overflow> WeakActorRef<M, P> {
    pub(super) fn of(actor: &ActorRef<M, P>) -> Self {
        let place = match &actor.place {
            super::Place::Local(own) => Place::Local(own.downgrade()),
            super::Place::Remote(remote) => Place::Remote(*remote),
            super::Place::Leased(route, lease) => {
                Place::Leased(Remote::leased(*route, lease), sync::Arc::downgrade(lease))
            }
        };
        Self { place, policy: PhantomData }
    }

    /// Returns a reference that keeps the actor, unless the actor has stopped, or has no messages
    /// and no references left, and stops for that reason.
    ///
    /// An actor that is returned does not end for want of references while the caller has the
    /// reference. It may have ended, or end, for other reasons:
    /// [`is_stopped`](ActorRef::is_stopped) and the errors of sends say so. None is returned from
    /// the moment at which the actor ends for want of references: it may still wait for its
    /// children then, and run [`stopped`](crate::Actor::stopped).
    ///
    /// For an actor of another node, returns whether this node still has the reference that
    /// [`downgrade`](ActorRef::downgrade) was called on, or clones of it: all that came with one
    /// message, or by one call that found the actor, are clones of each other. That node may keep
    /// the actor all the same.
    ///
    /// Costs two locked instructions.
    ///
    /// # Examples
    /// See [`WeakActorRef`].
    #[must_use]
    pub fn upgrade(&self) -> Option<ActorRef<M, P>> {
        match &self.place {
            Place::Local(own) => own.upgrade().map(ActorRef::local),
            Place::Remote(remote) => Some(ActorRef::from(*remote)),
            Place::Leased(remote, lease) => {
                lease.upgrade().map(|lease| ActorRef::leased(remote.route, lease))
            }
        }
    }

    /// Returns the actor's number.
    #[must_use]
    pub fn id(&self) -> ActorId {
        match &self.place {
            Place::Local(own) => ActorId::here(own.task_id()),
            Place::Remote(remote) | Place::Leased(remote, _) => remote.id(),
        }
    }
}

impl<M: Send + 'static, P: Overflow> Clone for WeakActorRef<M, P> {
    fn clone(&self) -> Self {
        let place = match &self.place {
            Place::Local(own) => Place::Local(own.clone()),
            Place::Remote(remote) => Place::Remote(*remote),
            Place::Leased(remote, lease) => Place::Leased(*remote, lease.clone()),
        };
        Self { place, policy: PhantomData }
    }
}

impl<M: Send + 'static, P: Overflow> fmt::Debug for WeakActorRef<M, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WeakActorRef({})", self.id())
    }
}
