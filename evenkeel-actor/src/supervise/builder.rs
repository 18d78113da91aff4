//! Builders of supervisors.

use super::child::{Child, Row, Spec};
use super::{Supervisor, SupervisorRef, Table};
use crate::actor::Actor;
use crate::actor::context::Context;
use crate::kin::Kin;
use crate::kin::control::AnyActor;
use crate::kin::peer::Peer;
use crate::life::builder::CAPACITY;
use crate::life::spawn;
use crate::mailbox::Settings;
use crate::mailbox::overflow::{Overflow, Wait};
use crate::policy::intensity::Limit;
use crate::policy::restart::{Restart, Strategy};
use crate::policy::tree::Terms;
use crate::refs::actor_ref::ActorRef;
use crate::system::System;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A supervisor to be spawned, with its children. Dropping the builder ends the children.
///
/// # Examples
/// [`Supervisor`] has an example with one child. This one is a tree of two levels:
/// ```
/// use evenkeel_actor::{Actor, Child, Context, Handled, ReplyTo, Supervisor, System};
/// use std::time::Duration;
///
/// /// Counts the questions since its last start.
/// struct Counter(u32);
///
/// enum Message {
///     Next(ReplyTo<u32>),
///     Fail,
/// }
///
/// impl Actor for Counter {
///     type Message = Message;
///
///     async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
///         let Message::Next(reply) = message else { panic!("on purpose") };
///         self.0 += 1;
///         reply.send(self.0);
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let system = System::new();
///     system.on_failure(|_| ());
///
///     // A pool whose members do not depend on each other, and may fail often.
///     let mut pool =
///         Supervisor::one_for_one().system(system).intensity(100, Duration::from_secs(60));
///     let members = [0, 1].map(|n| pool.child(Child::new(format!("member {n}"), || Counter(0))));
///
///     let mut root = Supervisor::rest_for_one().system(system);
///     let front = root.child(Child::new("front", || Counter(0)));
///     let pool = root.supervisor("pool", pool);
///     let root = root.spawn();
///
///     // A member fails, and it alone begins again.
///     for actor in [&front, &members[0], &members[1]] {
///         assert_eq!(actor.ask(Message::Next).await, Ok(1));
///     }
///     members[0].send(Message::Fail).await.unwrap();
///     assert_eq!(members[0].ask(Message::Next).await, Ok(1));
///     assert_eq!(members[1].ask(Message::Next).await, Ok(2));
///
///     // The front fails, and the pool behind it begins again too.
///     front.send(Message::Fail).await.unwrap();
///     assert_eq!(front.ask(Message::Next).await, Ok(1));
///     while members[1].metrics().restarts == 0 {
///         evenkeel::yield_now().await;
///     }
///     assert_eq!(members[1].ask(Message::Next).await, Ok(1));
///
///     root.stop();
///     assert!(root.stopped().await.is_normal());
///     assert!(pool.is_stopped());
/// });
/// ```
#[derive(Debug)]
#[must_use = "a builder supervises nothing by itself"]
pub struct SupervisorBuilder {
    strategy: Strategy,
    limit: Limit,
    system: System,
    rows: Vec<Row>,
}

impl SupervisorBuilder {
    pub(super) fn new(strategy: Strategy) -> Self {
        let limit = Limit { restarts: 3, window: Duration::from_secs(5) };
        Self { strategy, limit, system: System::current(), rows: Vec::new() }
    }

    /// Sets how many restarts within a window the supervisor accepts. After more it gives up: it
    /// stops its children and fails with [`Escalated`](crate::Escalated). The default is 3 within 5
    /// seconds, as in Elixir.
    ///
    /// # Examples
    /// See [`Escalated`](crate::Escalated).
    pub fn intensity(mut self, restarts: u32, window: Duration) -> Self {
        self.limit = Limit { restarts, window };
        self
    }

    /// Sets the system of the supervisor, and of the children that are added after this.
    pub fn system(mut self, system: System) -> Self {
        self.system = system;
        self
    }

    /// Adds a child, which starts after those added before. Its reference stays valid through all
    /// restarts; messages wait until the child starts.
    ///
    /// # Panics
    /// If the caller belongs to no runtime.
    #[track_caller]
    pub fn child<A, F, P>(&mut self, child: Child<F, P>) -> ActorRef<A::Message, P>
    where
        A: Actor,
        F: FnMut() -> A + Send + 'static,
        P: Overflow,
    {
        let (row, actor) = make(child, self.system);
        self.rows.push(row);
        actor
    }

    /// Adds a supervisor as a permanent child without a limit on the time that it takes to stop. A
    /// restart of that supervisor restarts its children.
    ///
    /// # Panics
    /// If the caller belongs to no runtime.
    #[track_caller]
    pub fn supervisor(
        &mut self,
        name: impl Into<Arc<str>>,
        supervisor: SupervisorBuilder,
    ) -> SupervisorRef {
        let name: Arc<str> = name.into();
        let kin = Kin { wards: supervisor.wards(), name: Some(name.clone()), ..Kin::default() };
        let system = supervisor.system;
        let table = supervisor.into_table();
        let factory = move || Supervisor::new(table.clone());
        let settings = Settings::new::<Wait>(CAPACITY);
        let restart = Restart::Permanent;
        let own = spawn::spawn_ward(factory, settings, system, kin, restart);
        let terms = Terms { restart, shutdown: Duration::MAX, backoff: None };
        self.rows.push(Row::new(Spec { name, terms }, AnyActor::new(own.clone())));
        SupervisorRef(ActorRef::local(own))
    }

    /// Spawns the supervisor, which starts its children in order. The supervisor stops, with its
    /// children, when its last reference is dropped.
    ///
    /// # Panics
    /// If the caller belongs to no runtime.
    #[track_caller]
    pub fn spawn(self) -> SupervisorRef {
        self.spawn_under(None)
    }

    #[track_caller]
    fn spawn_under(self, parent: Option<(Peer, u64)>) -> SupervisorRef {
        let kin = Kin { wards: self.wards(), parent, ..Kin::default() };
        let system = self.system;
        let supervisor = Supervisor::new(self.into_table());
        let settings = Settings::new::<Wait>(CAPACITY);
        SupervisorRef(ActorRef::local(spawn::spawn_with(supervisor, settings, system, kin)))
    }

    fn wards(&self) -> BTreeMap<usize, AnyActor> {
        self.rows.iter().map(|row| row.actor.clone()).enumerate().collect()
    }

    fn into_table(mut self) -> Arc<Table> {
        for row in &mut self.rows {
            row.kept = true;
        }
        Arc::new(Table {
            strategy: self.strategy,
            limit: self.limit,
            next: AtomicUsize::new(self.rows.len()),
            rows: Mutex::new(std::mem::take(&mut self.rows).into_iter().collect()),
            terms: AtomicU64::new(0),
        })
    }
}

/// Makes the task of a child that is not yet started, and its supervisor's row for it.
#[track_caller]
pub(super) fn make<A, F, P>(child: Child<F, P>, system: System) -> (Row, ActorRef<A::Message, P>)
where
    A: Actor,
    F: FnMut() -> A + Send + 'static,
    P: Overflow,
{
    let kin = Kin { name: Some(child.spec.name.clone()), ..Kin::default() };
    let system = child.system.unwrap_or(system);
    let restart = child.spec.terms.restart;
    let own = spawn::spawn_ward(child.factory, child.settings, system, kin, restart);
    (Row::new(child.spec, AnyActor::new(own.clone())), ActorRef::local(own))
}

/// Supervisors as children.
impl<A: Actor> Context<A> {
    /// Spawns a supervisor as a child.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, ActorRef, Child, Context, Handled, ReplyTo, Supervisor, spawn};
    ///
    /// /// Keeps its worker in a supervisor, so that a failure of the worker does not matter here.
    /// struct Service(Option<ActorRef<(u32, ReplyTo<u32>)>>);
    ///
    /// impl Actor for Service {
    ///     type Message = (u32, ReplyTo<u32>);
    ///
    ///     async fn started(&mut self, context: &mut Context<Self>) -> Handled {
    ///         let mut below = Supervisor::one_for_one();
    ///         self.0 = Some(below.child(Child::new("worker", || Worker)));
    ///         context.spawn_supervisor(below);
    ///         Ok(())
    ///     }
    ///
    ///     async fn handle(&mut self, work: Self::Message, _: &mut Context<Self>) -> Handled {
    ///         self.0.as_ref().expect("it has started").send(work).await?;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// struct Worker;
    ///
    /// impl Actor for Worker {
    ///     type Message = (u32, ReplyTo<u32>);
    ///
    ///     async fn handle(&mut self, work: Self::Message, _: &mut Context<Self>) -> Handled {
    ///         let (divisor, reply) = work;
    ///         reply.send(84 / divisor);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     evenkeel_actor::System::current().on_failure(|failure| assert!(failure.supervised));
    ///     let service = spawn(Service(None));
    ///     assert!(service.ask(|reply| (0, reply)).await.is_err());
    ///     assert_eq!(service.ask(|reply| (2, reply)).await, Ok(42));
    ///     // The supervisor is a child: it stops with the service, and so does the worker.
    ///     service.stop();
    ///     assert!(service.stopped().await.is_normal());
    /// });
    /// ```
    #[track_caller]
    pub fn spawn_supervisor(&mut self, supervisor: SupervisorBuilder) -> SupervisorRef {
        let (parent, number) = self.new_child();
        let spawned = supervisor.spawn_under(parent.map(|parent| (parent, number)));
        self.adopt(number, spawned.any());
        spawned
    }
}
