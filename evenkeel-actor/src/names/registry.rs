//! Names of actors.
//!
//! # Protocol
//! One lock of the system guards the names. A caller that *registers* an actor takes that lock,
//! then the lock of the actor's mailbox. Unless the mailbox is closed, the caller marks the actor
//! as known to the system, and inserts the name. An actor that *ends* closes its mailbox first. If
//! it is marked, it then removes its names. The mailbox's lock orders the mark and the end. If the
//! mark comes first, the ending actor sees it and waits for the names' lock. If the end comes
//! first, the caller sees it and inserts no name. So no name outlives its actor.
//!
//! A caller that *waits* for a name leaves a waker under the names' lock. The registration calls
//! the waker after it has released the lock.
//!
//! # Rejected
//! Names that do not keep their actors alive: a caller that spawns a service and registers it would
//! have to keep an otherwise useless reference. A lock per part of the names: callers look a name
//! up once and then keep the reference.

use crate::kin::control::AnyActor;
use crate::mailbox::overflow::{Overflow, Wait};
use crate::refs::actor_ref::ActorRef;
use crate::system::System;
use crate::system::names::{Entry, Names};
use crate::words::id::ActorId;
use evenkeel::budget;
use evenkeel::internal::{detect, wake_all};
use std::any::type_name;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Returns the reference that was registered under a name.
fn find<M: Send + 'static, P: Overflow>(
    names: &Names,
    name: &str,
) -> Result<ActorRef<M, P>, LookUpError> {
    let Some(entry) = names.get(name) else {
        return Err(LookUpError::Unknown { name: name.into() });
    };
    entry.typed.downcast_ref::<ActorRef<M, P>>().cloned().ok_or_else(|| LookUpError::Mismatch {
        name: name.into(),
        id: entry.actor.id(),
        message: entry.message,
        policy: entry.policy,
    })
}

/// Tells an actor, for traces, that it has a name or has lost it.
fn call(actor: &AnyActor, name: &Arc<str>, has: bool) {
    #[cfg(feature = "tracing")]
    actor.control().call(name, has);
    #[cfg(not(feature = "tracing"))]
    let _ = (actor, name, has);
}

/// Names of actors.
impl System {
    /// Gives an actor a name, under which callers [find](Self::look_up) it. It may have several
    /// names.
    ///
    /// A name counts as a reference: an actor with a name does not stop for want of other
    /// references. The name becomes free when the actor ends, or when a caller [takes it
    /// back](Self::unregister). A restart keeps it.
    ///
    /// # Errors
    /// If this or another actor has the name, or if the actor has stopped, belongs to another
    /// system, or is on another node.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, ActorRef, Context, Handled, LookUpError, System, spawn};
    ///
    /// struct Clock;
    ///
    /// impl Actor for Clock {
    ///     type Message = u64;
    ///
    ///     async fn handle(&mut self, _second: u64, _context: &mut Context<Self>) -> Handled {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let system = System::current();
    ///     system.register("clock", &spawn(Clock)).unwrap();
    ///     let clock: ActorRef<u64> = system.look_up("clock").unwrap();
    ///     clock.send(1).await.unwrap();
    ///     let other = system.look_up::<String>("clock");
    ///     assert!(matches!(other, Err(LookUpError::Mismatch { message: "u64", .. })));
    /// });
    /// ```
    pub fn register<M: Send + 'static, P: Overflow>(
        self,
        name: impl Into<Arc<str>>,
        actor: &ActorRef<M, P>,
    ) -> Result<(), RegisterError> {
        let name = name.into();
        if actor.system() != self {
            return Err(RegisterError::OtherSystem { id: actor.id() });
        }
        let entry = Entry {
            actor: actor.any(),
            typed: Arc::new(actor.clone()),
            message: type_name::<M>(),
            policy: type_name::<P>(),
        };
        if actor.remote_name().is_some() {
            return Err(RegisterError::OtherNode { id: actor.id() });
        }
        let mut names = self.registry().lock();
        if let Some(holder) = names.get(&name) {
            let holder = holder.actor.id();
            return Err(RegisterError::Taken { name, holder });
        }
        if !actor.make_known() {
            return Err(RegisterError::Stopped { id: actor.id() });
        }
        detect::name(|| entry.actor.id().task(), &name);
        call(&entry.actor, &name, true);
        names.insert(name.clone(), entry);
        let all = (name.clone(), 0)..=(name, u64::MAX);
        let keys: Vec<_> = names.waiting.range(all).map(|(key, _)| key.clone()).collect();
        let wakers: Vec<_> = keys.iter().filter_map(|key| names.waiting.remove(key)).collect();
        drop(names);
        wake_all(wakers);
        Ok(())
    }

    /// Takes a name back, and returns the number of the actor that had it. The actor goes on.
    pub fn unregister(self, name: &str) -> Option<ActorId> {
        let mut names = self.registry().lock();
        let (name, entry) = names.remove(name)?;
        call(&entry.actor, &name, false);
        drop(names);
        Some(entry.actor.id())
    }

    /// Returns the actor that has this name and takes messages of type `M`. Senders wait for room
    /// through the returned reference. For an actor that was registered with another policy, use
    /// [`look_up_with`](Self::look_up_with).
    ///
    /// # Errors
    /// If no actor has the name, or if its actor was registered with other messages or another
    /// policy.
    pub fn look_up<M: Send + 'static>(self, name: &str) -> Result<ActorRef<M>, LookUpError> {
        self.look_up_with::<M, Wait>(name)
    }

    /// Returns the actor that has this name, takes messages of type `M`, and has the policy `P`.
    ///
    /// # Errors
    /// As [`look_up`](Self::look_up).
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, ActorRef, Builder, Context, DropOldest, Handled, System};
    ///
    /// struct Gauge;
    ///
    /// impl Actor for Gauge {
    ///     type Message = f64;
    ///
    ///     async fn handle(&mut self, _reading: f64, _context: &mut Context<Self>) -> Handled {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let system = System::current();
    ///     let gauge = Builder::new().overflow::<DropOldest>().spawn(Gauge).unwrap();
    ///     system.register("gauge", &gauge).unwrap();
    ///     let found: ActorRef<f64, DropOldest> = system.look_up_with("gauge").unwrap();
    ///     assert_eq!(found, gauge);
    ///     // The policy is part of the type.
    ///     assert!(system.look_up::<f64>("gauge").is_err());
    /// });
    /// ```
    pub fn look_up_with<M: Send + 'static, P: Overflow>(
        self,
        name: &str,
    ) -> Result<ActorRef<M, P>, LookUpError> {
        find(&self.registry().lock(), name)
    }

    /// Returns the actor that has this name, whatever the type of its messages.
    #[must_use]
    pub fn find(self, name: &str) -> Option<AnyActor> {
        self.registry().lock().get(name).map(|entry| entry.actor.clone())
    }

    /// Returns all names in order, each with the number of its actor.
    #[must_use]
    pub fn names(self) -> Vec<(Arc<str>, ActorId)> {
        let names = self.registry().lock();
        names.iter().map(|(name, entry)| (name.clone(), entry.actor.id())).collect()
    }

    /// Waits until an actor has this name, and returns it as [`look_up`](Self::look_up) does. Limit
    /// the wait with a [`timeout`](evenkeel::time::timeout).
    ///
    /// # Cancel safety
    /// Dropping the future has no effect.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Context, Handled, System, spawn};
    ///
    /// struct Clock;
    ///
    /// impl Actor for Clock {
    ///     type Message = u64;
    ///
    ///     async fn handle(&mut self, _second: u64, _context: &mut Context<Self>) -> Handled {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let system = System::current();
    ///     let found = evenkeel::spawn(async move { system.wait_for::<u64>("hours").await });
    ///     system.register("hours", &spawn(Clock)).unwrap();
    ///     found.await.unwrap().unwrap().send(1).await.unwrap();
    /// });
    /// ```
    pub fn wait_for<M: Send + 'static>(self, name: impl Into<Arc<str>>) -> WaitForName<M> {
        WaitForName {
            system: self,
            name: name.into(),
            ticket: None,
            message: std::marker::PhantomData,
        }
    }
}

/// The future of [`System::wait_for`], which has an example.
#[must_use = "a name is waited for when its future is awaited"]
pub struct WaitForName<M> {
    system: System,
    name: Arc<str>,
    /// The number of this future's waker.
    ticket: Option<u64>,
    message: std::marker::PhantomData<fn() -> M>,
}

impl<M: Send + 'static> Future for WaitForName<M> {
    type Output = Result<ActorRef<M>, LookUpError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let waker = context.waker().clone();
        let this = &mut *self;
        let mut names = this.system.registry().lock();
        match find(&names, &this.name) {
            Err(LookUpError::Unknown { .. }) => {}
            found => {
                drop(names);
                if this.ticket.is_none() {
                    ready!(budget::poll_consume(context));
                }
                return Poll::Ready(found);
            }
        }
        let ticket = *this.ticket.get_or_insert_with(|| {
            names.next += 1;
            names.next
        });
        let before = names.waiting.insert((this.name.clone(), ticket), waker);
        drop(names);
        drop(before);
        Poll::Pending
    }
}

impl<M> Drop for WaitForName<M> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            let waker = self.system.registry().lock().waiting.remove(&(self.name.clone(), ticket));
            drop(waker);
        }
    }
}

impl<M> fmt::Debug for WaitForName<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitForName").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why an actor did not get a name.
///
/// # Examples
/// ```
/// use evenkeel_actor::{RegisterError, kit};
///
/// kit::run(1, |kit| async move {
///     let (first, second) = (kit.probe::<u32>().actor(), kit.probe::<u32>().actor());
///     kit.system().register("clock", &first).unwrap();
///     let error = kit.system().register("clock", &second).unwrap_err();
///     let taken = RegisterError::Taken { name: "clock".into(), holder: first.id() };
///     assert_eq!(error, taken);
///
///     second.stop();
///     second.stopped().await;
///     let error = kit.system().register("watch", &second).unwrap_err();
///     assert_eq!(error, RegisterError::Stopped { id: second.id() });
/// });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// An actor has the name already.
    Taken {
        /// The name.
        name: Arc<str>,
        /// The actor that has it.
        holder: ActorId,
    },
    /// The actor to be registered belongs to another system.
    OtherSystem {
        /// The actor.
        id: ActorId,
    },
    /// The actor to be registered is on another node.
    OtherNode {
        /// The actor.
        id: ActorId,
    },
    /// The actor to be registered has stopped.
    Stopped {
        /// The actor.
        id: ActorId,
    },
    /// No message between nodes can carry the name.
    TooLong {
        /// The length of the longest name in bytes.
        most: usize,
    },
    /// The node has left.
    Left,
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { name, holder } => write!(
                f,
                "actor {holder} has the name {name:?}: unregister or unpublish it first, or choose another name"
            ),
            Self::OtherSystem { id } => write!(
                f,
                "actor {id} belongs to another system: register it in that system, or spawn it in this one"
            ),
            Self::OtherNode { id } => write!(
                f,
                "actor {id} is on another node: publish it there, and locate it by its name"
            ),
            Self::Stopped { id } => {
                write!(f, "actor {id} has stopped: choose an actor that has not")
            }
            Self::TooLong { most } => {
                write!(f, "a name that other nodes find has {most} bytes at most: shorten it")
            }
            Self::Left => f.write_str("the node has left, and has no names any more"),
        }
    }
}

impl Error for RegisterError {}

/// Why no actor was found under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookUpError {
    /// No actor has the name.
    Unknown {
        /// The name.
        name: Arc<str>,
    },
    /// The actor that has the name was registered with other messages or another policy.
    Mismatch {
        /// The name.
        name: Arc<str>,
        /// The actor that has it.
        id: ActorId,
        /// The type of its messages.
        message: &'static str,
        /// The type of its policy.
        policy: &'static str,
    },
}

impl fmt::Display for LookUpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => write!(
                f,
                "no actor has the name {name:?}: register one, or wait for it with wait_for"
            ),
            Self::Mismatch { name, id, message, policy } => write!(
                f,
                "actor {id} has the name {name:?}, messages of type {message} and the policy {policy}: look it up with these"
            ),
        }
    }
}

impl Error for LookUpError {}
