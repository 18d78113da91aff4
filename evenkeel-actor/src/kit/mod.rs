//! Tests of actors: runs that a seed determines, probes, and a clock that moves by itself.
//!
//! [`run`] runs a program and all its actors on the thread of the test, in an order that a seed
//! determines ([`evenkeel::deterministic`]). [`explore`] does so with many seeds, and reports the
//! one that has failed. A [`Probe`] stands in for an actor: the test examines the messages sent to
//! it. All waits go by a clock that moves when nothing else can happen. So a test that waits for an
//! hour takes no time, and none fails because the machine is busy.
//!
//! Every message is a step. Between any two messages of an actor, and before every
//! [`send`](crate::ActorRef::send) or [`ask`](crate::ActorRef::ask) that waits for room, other
//! actors may have their turns, as they may on several workers.
//! [`try_send`](crate::ActorRef::try_send), and all else that a handler does between two awaits, is
//! not interrupted.
//!
//! # Examples
//! ```
//! use evenkeel_actor::{Actor, ActorRef, Context, Handled, ReplyTo, kit, spawn};
//! use std::time::Duration;
//!
//! /// Greets a name, and sends the name to an observer.
//! struct Greeter(ActorRef<String>);
//!
//! struct Greet(&'static str, ReplyTo<String>);
//!
//! impl Actor for Greeter {
//!     type Message = Greet;
//!
//!     async fn handle(&mut self, Greet(whom, reply): Greet, _: &mut Context<Self>) -> Handled {
//!         self.0.send(whom.to_owned()).await?;
//!         reply.send(format!("Ahoy, {whom}!"));
//!         Ok(())
//!     }
//! }
//!
//! kit::explore(0..100, |kit| async move {
//!     let mut observer = kit.probe();
//!     let greeter = spawn(Greeter(observer.actor()));
//!     let greeting = greeter.ask(|reply| Greet("Ada", reply)).await.unwrap();
//!     assert_eq!(greeting, "Ahoy, Ada!");
//!     observer.expect("Ada".to_owned()).await.unwrap();
//!     observer.expect_none(Duration::from_secs(1)).await.unwrap();
//! });
//! ```
//!
//! Two clients that read and write an account lose an update in some orders. `find` reports the
//! seed of such an order, and the same seed gives the same order again.
//! ```
//! use evenkeel_actor::{Actor, ActorRef, Context, Handled, ReplyTo, kit, spawn};
//!
//! struct Account(u64);
//!
//! enum Message {
//!     Get(ReplyTo<u64>),
//!     Set(u64),
//! }
//!
//! impl Actor for Account {
//!     type Message = Message;
//!
//!     async fn handle(&mut self, message: Message, _: &mut Context<Self>) -> Handled {
//!         match message {
//!             Message::Get(reply) => reply.send(self.0),
//!             Message::Set(balance) => self.0 = balance,
//!         }
//!         Ok(())
//!     }
//! }
//!
//! async fn deposit(account: ActorRef<Message>) {
//!     let balance = account.ask(Message::Get).await.unwrap();
//!     account.send(Message::Set(balance + 1)).await.unwrap();
//! }
//!
//! let program = |_kit| async {
//!     let account = spawn(Account(0));
//!     let clients = [account.clone(), account.clone()].map(|account| evenkeel::spawn(deposit(account)));
//!     for client in clients {
//!         client.await.unwrap();
//!     }
//!     assert_eq!(account.ask(Message::Get).await, Ok(2));
//! };
//! let failure = kit::find(0..100, program).expect_err("some order loses a deposit");
//! let again = kit::find(failure.seed..failure.seed + 1, program).unwrap_err();
//! assert_eq!(again.fingerprint, failure.fingerprint);
//! ```
//!
//! # What breaks a seed
//! See [`evenkeel::deterministic`]. In addition, the [numbers](crate::ActorId) of actors ascend in
//! the order of their spawns, but begin elsewhere in each run, so a hash of a number differs
//! between runs.

mod probe;
mod unexpected;

pub use probe::Probe;
pub use unexpected::Unexpected;

use crate::kin::control::AnyActor;
use crate::system::System;
use evenkeel::deterministic::{self, Failure, Options};
use evenkeel::time::{Duration, Instant, sleep};
use std::cell::RefCell;
use std::future::Future;
use std::ops::Range;

/// How long a probe waits by default, by the clock of the run.
pub const PATIENCE: Duration = Duration::from_secs(3);

/// A test's handle of its run.
///
/// # Examples
/// ```
/// use evenkeel_actor::{Actor, Context, Handled, kit, spawn};
/// use std::time::Duration;
///
/// /// Forgets what it is told, and stops at a zero.
/// struct Sink;
///
/// impl Actor for Sink {
///     type Message = u64;
///
///     async fn handle(&mut self, number: u64, context: &mut Context<Self>) -> Handled {
///         if number == 0 {
///             context.stop();
///         }
///         Ok(())
///     }
/// }
///
/// kit::explore(0..20, |kit| async move {
///     let sink = spawn(Sink);
///     assert_eq!(sink.system(), kit.system());
///     // A number of messages that each seed determines.
///     let number = 1 + kit.random(10);
///     for n in 1..=number {
///         sink.send(n).await.unwrap();
///     }
///     kit.settle().await;
///     assert_eq!(sink.metrics().handled, number);
///
///     sink.try_send(0).unwrap();
///     sink.try_send(1).unwrap();
///     kit.stopped(&sink.any()).await.unwrap();
///     assert_eq!(kit.dead_letters(), 1);
///
///     // The clock moves when nothing else can happen.
///     evenkeel::time::sleep(Duration::from_secs(3_600)).await;
/// });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Kit {
    system: System,
}

/// Runs a program on this thread, in an order that `seed` determines, and returns its output.
///
/// The program has a [`System`] of its own, which is [`System::current`] inside it.
///
/// # Panics
/// If the run [fails](Failure), with a text that contains the seed. If the caller is a task.
///
/// # Examples
/// ```
/// use evenkeel_actor::kit;
///
/// /// Two clients send to one actor. Which comes first?
/// fn first(seed: u64) -> u32 {
///     kit::run(seed, |kit| async move {
///         let mut probe = kit.probe();
///         for client in [1, 2] {
///             let actor = probe.actor();
///             drop(evenkeel::spawn(async move { actor.send(client).await }));
///         }
///         probe.receive().await.unwrap()
///     })
/// }
///
/// assert_eq!(first(7), first(7));
/// // Some seed lets the one be first, and some seed the other.
/// assert!((0..100).any(|seed| first(seed) == 1));
/// assert!((0..100).any(|seed| first(seed) == 2));
/// ```
#[track_caller]
pub fn run<F: Future>(seed: u64, program: impl FnOnce(Kit) -> F) -> F::Output {
    deterministic::run(seed, with(program))
}

/// Runs a program with each of these seeds, or with those that the environment names, as
/// [`deterministic::explore`] does.
///
/// # Panics
/// If a run fails, with a text that contains its seed. If the caller is a task.
///
/// # Examples
/// See [the module](self).
#[track_caller]
pub fn explore<F: Future<Output = ()>>(seeds: Range<u64>, program: impl FnMut(Kit) -> F) {
    let program = &RefCell::new(program);
    deterministic::explore(seeds, |_| with(move |kit| program.borrow_mut()(kit)));
}

/// Runs a program with each of these seeds until one fails, as [`deterministic::find`] does.
///
/// # Errors
/// The first failure.
///
/// # Panics
/// If the caller is a task.
///
/// # Examples
/// See [the module](self).
#[track_caller]
pub fn find<F: Future<Output = ()>>(
    seeds: Range<u64>,
    program: impl FnMut(Kit) -> F,
) -> Result<(), Failure> {
    let program = &RefCell::new(program);
    deterministic::find(seeds, |_| with(move |kit| program.borrow_mut()(kit)))
}

/// Runs a program twice with the same seed, and compares all steps: see [`Options::verify`].
///
/// # Errors
/// If the steps differ, or the run fails.
///
/// # Panics
/// If the caller is a task.
///
/// # Examples
/// A program that depends on something other than its seed:
/// ```
/// use evenkeel_actor::kit;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let sends = |count: u32| move |kit: kit::Kit| async move {
///     for n in 0..count {
///         kit.probe().actor().send(n).await.unwrap();
///     }
/// };
/// kit::verify(1, sends(3)).unwrap();
///
/// static RUNS: AtomicU32 = AtomicU32::new(0);
/// let grows = |kit| sends(RUNS.fetch_add(1, Ordering::Relaxed))(kit);
/// assert!(kit::verify(1, grows).is_err());
/// ```
#[track_caller]
pub fn verify<F: Future>(seed: u64, program: impl FnMut(Kit) -> F) -> Result<(), Failure> {
    let program = &RefCell::new(program);
    Options::new(seed).verify(|| with(move |kit| program.borrow_mut()(kit))).map(drop)
}

/// Gives a program its [`Kit`], for runs with [`Options`].
///
/// # Panics
/// The future panics if it is not polled inside a deterministic run.
///
/// # Examples
/// ```
/// use evenkeel::deterministic::Options;
/// use evenkeel_actor::kit;
/// let finished = Options::new(1).max_steps(1_000).run(kit::with(|kit| async move {
///     let probe = kit.probe();
///     probe.actor().send(7).await.unwrap();
///     kit.settle().await;
///     probe.drain()
/// }));
/// assert_eq!(finished.unwrap().output, [7]);
/// ```
pub async fn with<F: Future>(program: impl FnOnce(Kit) -> F) -> F::Output {
    assert!(
        evenkeel::internal::is_deterministic(),
        "a kit is for a deterministic run: begin one with kit::run, kit::explore or deterministic::Options::run"
    );
    let system = System::new();
    let _run = system.enter_run();
    program(Kit { system }).await
}

impl Kit {
    /// Returns the system of the run.
    #[must_use]
    pub fn system(&self) -> System {
        self.system
    }

    /// Returns the number of messages of the run that no actor has handled.
    #[must_use]
    pub fn dead_letters(&self) -> u64 {
        self.system.dead_letters()
    }

    /// Returns a new probe.
    ///
    /// # Examples
    /// See [`Probe`].
    #[track_caller]
    #[must_use]
    pub fn probe<M: Send + 'static>(&self) -> Probe<M> {
        Probe::new()
    }

    /// Returns a random number below `bound`, which the seed determines.
    ///
    /// # Panics
    /// If `bound` is zero.
    #[must_use]
    #[track_caller]
    pub fn random(&self, bound: u64) -> u64 {
        deterministic::random(bound)
    }

    /// Waits until nothing is ready: all that can happen without the clock has happened. The clock
    /// moves by a nanosecond.
    pub async fn settle(&self) {
        sleep(Duration::from_nanos(1)).await;
    }

    /// Waits until an actor has stopped, at most for as long as a probe waits by default.
    ///
    /// # Errors
    /// If the actor still runs.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::kit;
    /// kit::run(1, |kit| async move {
    ///     let probe = kit.probe::<()>();
    ///     let actor = probe.actor().any();
    ///     assert!(kit.stopped(&actor).await.is_err());
    ///     actor.stop();
    ///     kit.stopped(&actor).await.unwrap();
    /// });
    /// ```
    pub async fn stopped(&self, actor: &AnyActor) -> Result<(), Unexpected> {
        let start = Instant::now();
        loop {
            self.settle().await;
            if actor.is_stopped() {
                return Ok(());
            }
            if start.elapsed() >= PATIENCE {
                return Err(Unexpected::Runs { actor: actor.id(), waited: start.elapsed() });
            }
            sleep(Duration::from_millis(1)).await;
        }
    }
}
