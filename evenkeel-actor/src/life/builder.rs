//! Spawning actors, and the builder of their settings.

use super::spawn;
use crate::actor::Actor;
use crate::mailbox::overflow::{Overflow, Wait};
use crate::mailbox::{MOST, Settings};
use crate::policy::Priority;
use crate::refs::actor_ref::ActorRef;
use crate::system::System;
use crate::words::error::SpawnError;
use std::marker::PhantomData;
use std::panic::Location;

/// The default capacity of a mailbox in messages. An estimate: several turns' worth for a quick
/// actor, little memory for a full mailbox; no benchmark sets it.
pub(crate) const CAPACITY: u32 = 256;

/// Spawns an actor with a mailbox for 256 messages, on the runtime that the caller belongs to.
///
/// # Panics
/// If the caller belongs to no runtime.
///
/// # Examples
/// See the [crate's page](crate).
#[track_caller]
#[inline]
pub fn spawn<A: Actor>(actor: A) -> ActorRef<A::Message> {
    spawn::spawn(actor, Settings::new::<Wait>(CAPACITY), System::current(), Location::caller())
}

/// Builds an actor with settings: its mailbox, its system and its priority.
///
/// # Examples
/// ```
/// use evenkeel_actor::{Actor, Builder, Context, DropOldest, Handled};
///
/// struct Gauge(f64);
///
/// impl Actor for Gauge {
///     type Message = f64;
///
///     async fn handle(&mut self, reading: f64, _context: &mut Context<Self>) -> Handled {
///         self.0 = reading;
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     // If readings come faster than the actor handles them, it gets only the newest.
///     let gauge = Builder::new().capacity(1).overflow::<DropOldest>().spawn(Gauge(0.0)).unwrap();
///     gauge.send(20.5).await.unwrap();
/// });
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder spawns nothing by itself"]
pub struct Builder<P: Overflow = Wait> {
    capacity: usize,
    system: Option<System>,
    measured: bool,
    priority: Priority,
    policy: PhantomData<P>,
}

impl Builder {
    /// Creates a builder with the defaults: room for 256 messages, and senders that wait for room.
    pub fn new() -> Self {
        Self {
            capacity: CAPACITY as usize,
            system: None,
            measured: false,
            priority: Priority::Normal,
            policy: PhantomData,
        }
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Overflow> Builder<P> {
    /// Sets the capacity of the mailbox in messages. Messages that the actor has taken out, to
    /// handle in its current turn, do not count.
    pub fn capacity(mut self, messages: usize) -> Self {
        self.capacity = messages;
        self
    }

    /// Sets the policy for a message that finds the mailbox full. The policy is part of the type of
    /// the reference that [`spawn`](Self::spawn) returns, and of its clones. The actor itself gets
    /// a reference with the same policy by
    /// [`Context::actor_ref_with`](crate::Context::actor_ref_with).
    pub fn overflow<Q: Overflow>(self) -> Builder<Q> {
        let Self { capacity, system, measured, priority, policy: _ } = self;
        Builder { capacity, system, measured, priority, policy: PhantomData }
    }

    /// Sets the system that the actor belongs to. The default is the caller's.
    ///
    /// # Examples
    /// See [`System`].
    pub fn system(mut self, system: System) -> Self {
        self.system = Some(system);
        self
    }

    /// Sets the actor's share of the workers' time, relative to other actors.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Builder, Context, Handled, Priority};
    ///
    /// struct Indexer;
    ///
    /// impl Actor for Indexer {
    ///     type Message = String;
    ///
    ///     async fn handle(&mut self, _text: String, _context: &mut Context<Self>) -> Handled {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let indexer = Builder::new().priority(Priority::Low).spawn(Indexer).unwrap();
    ///     indexer.send("text".to_owned()).await.unwrap();
    /// });
    /// ```
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Measures the actor's busy time, for its [metrics](ActorRef::metrics). Costs two clock
    /// readings and a locked instruction per turn. See also [`System::measure_busy_time`].
    ///
    /// # Examples
    /// See [`ActorMetrics`](crate::ActorMetrics).
    pub fn measure_busy_time(mut self) -> Self {
        self.measured = true;
        self
    }

    /// Spawns an actor on the runtime that the caller belongs to.
    ///
    /// # Errors
    /// If the capacity is zero or too large.
    ///
    /// # Panics
    /// If the caller belongs to no runtime.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Builder, Context, Handled, SpawnError};
    ///
    /// struct Idle;
    ///
    /// impl Actor for Idle {
    ///     type Message = ();
    ///
    ///     async fn handle(&mut self, _message: (), _context: &mut Context<Self>) -> Handled {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let idle = Builder::new().capacity(10_000).spawn(Idle).unwrap();
    ///     assert_eq!(idle.capacity(), 10_000);
    ///     let error = Builder::new().capacity(0).spawn(Idle).unwrap_err();
    ///     assert_eq!(error, SpawnError::ZeroCapacity);
    /// });
    /// ```
    #[track_caller]
    pub fn spawn<A: Actor>(self, actor: A) -> Result<ActorRef<A::Message, P>, SpawnError> {
        self.spawn_at(actor, Location::caller())
    }

    /// As [`spawn`](Self::spawn), for a function that spawns on behalf of the caller at `site`.
    #[track_caller]
    pub(crate) fn spawn_at<A: Actor>(
        self,
        actor: A,
        site: &'static Location<'static>,
    ) -> Result<ActorRef<A::Message, P>, SpawnError> {
        let settings = self.settings()?;
        Ok(spawn::spawn(actor, settings, self.system.unwrap_or_else(System::current), site))
    }

    pub(crate) fn system_if_set(&self) -> Option<System> {
        self.system
    }

    pub(crate) fn settings(&self) -> Result<Settings, SpawnError> {
        if self.capacity == 0 {
            return Err(SpawnError::ZeroCapacity);
        }
        let capacity = u32::try_from(self.capacity).ok().filter(|&capacity| capacity <= MOST);
        let capacity = capacity
            .ok_or(SpawnError::TooLarge { capacity: self.capacity, most: MOST as usize })?;
        let mut settings = Settings::new::<P>(capacity);
        settings.priority = self.priority;
        Ok(if self.measured { settings.measured() } else { settings })
    }
}
