//! State that the actors of one node share.

pub(crate) mod counters;
pub(crate) mod dead_letters;
pub(crate) mod failures;
pub(crate) mod groups;
pub(crate) mod metrics;
pub(crate) mod names;
pub(crate) mod subscription;

use crate::words::id::ActorId;
use counters::Counters;
use dead_letters::Subscribers;
use evenkeel::internal::{guests, is_deterministic};
use failures::{ActorFailure, Failures};
use groups::Groups;
use names::Registry;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
#[cfg(feature = "tracing")]
use std::sync::atomic::AtomicU32;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The limit of asks in a system that sets none. A choice: longer than an answer takes that needs
/// work; no benchmark sets it.
const ASK_LIMIT: Duration = Duration::from_secs(30);

/// What the actors of one node share: names, groups, dead letters, counters. Cheap to copy.
///
/// A process has one system by default. If it has several nodes, each node has its own. A system is
/// never freed.
///
/// In an actor a system takes four bytes: its number.
///
/// # Examples
/// Two systems in one process, each with an actor of the same name:
/// ```
/// use evenkeel_actor::{Actor, Builder, Context, Handled, ReplyTo, System};
///
/// struct Clock(u32);
///
/// impl Actor for Clock {
///     type Message = ReplyTo<u32>;
///
///     async fn handle(&mut self, reply: ReplyTo<u32>, _context: &mut Context<Self>) -> Handled {
///         reply.send(self.0);
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let (summer, winter) = (System::new(), System::new());
///     for (system, hour) in [(summer, 13), (winter, 12)] {
///         let clock = Builder::new().system(system).spawn(Clock(hour)).unwrap();
///         system.register("clock", &clock).unwrap();
///     }
///     let clock = summer.look_up::<ReplyTo<u32>>("clock").unwrap();
///     assert_eq!(clock.ask(|reply| reply).await, Ok(13));
///     assert_eq!(summer.names(), [("clock".into(), clock.id())]);
///     // Neither belongs to the system of the process.
///     assert_eq!(System::current().find("clock"), None);
///
///     // The name kept the other clock alive.
///     let other = winter.find("clock").unwrap();
///     assert_eq!(winter.unregister("clock"), Some(other.id()));
///     assert_eq!(winter.find("clock"), None);
/// });
/// ```
///
/// The counts of a system:
/// ```
/// use evenkeel_actor::{Actor, Builder, Context, DeadLetterKind, Handled, System};
///
/// struct Deaf;
///
/// impl Actor for Deaf {
///     type Message = u32;
///
///     async fn handle(&mut self, _message: u32, context: &mut Context<Self>) -> Handled {
///         context.actor_ref().try_send(2)?;
///         context.stop();
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let system = System::new();
///     let deaf = Builder::new().system(system).spawn(Deaf).unwrap();
///     assert_eq!(system.metrics().alive(), 1);
///     deaf.send(1).await.unwrap();
///     deaf.stopped().await;
///
///     let metrics = system.metrics();
///     assert_eq!((metrics.spawned, metrics.messages, metrics.alive()), (1, 1, 0));
///     assert_eq!(system.dead_letters(), 1);
///     assert_eq!(system.dead_letters_of(DeadLetterKind::LeftBehind), 1);
///     // There was no subscriber, so none has missed a record.
///     assert_eq!(system.unrecorded_dead_letters(), 0);
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct System(u32);

#[derive(Debug)]
struct Inner {
    counters: Counters,
    registry: Registry,
    groups: Groups,
    subscribers: Subscribers,
    failures: Failures,
    /// Whether newly spawned actors measure their busy time.
    measures: AtomicBool,
    /// How many nanoseconds an ask waits; `u64::MAX` sets no limit.
    ask_limit: AtomicU64,
    /// The number of the system's node, plus one, for traces; zero if it belongs to no node.
    #[cfg(feature = "tracing")]
    node: AtomicU32,
}

impl Inner {
    const fn new() -> Self {
        Self {
            counters: Counters::new(),
            registry: Registry::new(),
            groups: Groups::new(),
            subscribers: Subscribers::new(),
            failures: Failures::new(),
            measures: AtomicBool::new(false),
            ask_limit: AtomicU64::new(ASK_LIMIT.as_nanos() as u64),
            #[cfg(feature = "tracing")]
            node: AtomicU32::new(0),
        }
    }
}

/// The system of the process.
static PROCESS: Inner = Inner::new();

thread_local! {
    /// The system of the kit's run on this thread.
    static RUN: Cell<Option<System>> = const { Cell::new(None) };
    /// The system of the actor that this thread polls, if it is not that of the process, and the
    /// number of [guests] below the actor.
    static RUNNING: Cell<Option<(System, u32)>> = const { Cell::new(None) };
}

/// All systems but that of the process. The first has the number 1.
static SYSTEMS: boxcar::Vec<Box<Inner>> = boxcar::Vec::new();

/// Returns the system of the kit's run in which this is called.
fn of_run() -> Option<System> {
    if is_deterministic() { RUN.get() } else { None }
}

impl System {
    /// Returns a new system, which shares nothing with others.
    #[must_use]
    pub fn new() -> Self {
        let number = SYSTEMS.push(Box::new(Inner::new())) + 1;
        Self(u32::try_from(number).expect("there are fewer systems than actors"))
    }

    #[inline]
    fn inner(self) -> &'static Inner {
        match self.0 {
            0 => &PROCESS,
            number => &SYSTEMS[number as usize - 1],
        }
    }

    /// Returns the system of the running actor. Outside of actors, returns the system of the
    /// process, or, inside a run of the [kit](crate::kit), that of the run. A task that an actor
    /// has spawned is not the actor, nor is what its worker runs for others while a handler waits
    /// in fork-join; but a detached job of that worker counts as the handler's.
    #[must_use]
    pub fn current() -> Self {
        // A handler that waits in fork-join may have other work on top of it, which is not its own.
        let running = RUNNING.get().filter(|&(_, below)| below == guests());
        running.map(|running| running.0).or_else(of_run).unwrap_or(Self(0))
    }

    /// Makes this the system of the actor that this thread runs, until the guard is dropped.
    pub(crate) fn enter(self) -> Entered {
        Entered(RUNNING.replace((!self.is_of_process()).then(|| (self, guests()))))
    }

    /// Makes this the system of the run on this thread, until the guard is dropped.
    #[cfg(not(shuttle))]
    pub(crate) fn enter_run(self) -> Run {
        Run(RUN.replace(Some(self)))
    }

    pub(crate) fn is_of_process(self) -> bool {
        self.0 == 0
    }

    /// Sets `observer` to be called for each actor of this system that fails: that panics, or
    /// returns an error from a handler. It replaces the previous observer. The default observer
    /// prints a line to the standard error, so that no failure is silent.
    ///
    /// The failing actor calls the observer before it tells its watchers and its supervisor, and so
    /// before a future of [`stopped`](crate::ActorRef::stopped) is ready: the observer must not
    /// block on that. A panic in the observer is caught.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, ActorFailure, Builder, Context, Handled, System};
    /// use std::sync::mpsc::channel;
    ///
    /// struct Parser;
    ///
    /// impl Actor for Parser {
    ///     type Message = &'static str;
    ///
    ///     async fn handle(&mut self, text: &'static str, _: &mut Context<Self>) -> Handled {
    ///         text.parse::<u32>()?;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let (sender, reports) = channel();
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let system = System::new();
    ///     system.on_failure(move |failure: &ActorFailure| sender.send(failure.clone()).unwrap());
    ///     let parser = Builder::new().system(system).spawn(Parser).unwrap();
    ///     parser.send("seven").await.unwrap();
    ///     parser.stopped().await;
    ///
    ///     let failure = reports.try_recv().unwrap();
    ///     assert_eq!(failure.actor.id, parser.id());
    ///     assert!(failure.actor.type_name.ends_with("Parser"));
    ///     assert_eq!(failure.reason.to_string(), "failed: invalid digit found in string");
    ///     assert!(!failure.supervised);
    /// });
    /// ```
    pub fn on_failure(self, observer: impl Fn(&ActorFailure) + Send + Sync + 'static) {
        self.inner().failures.observe(Arc::new(observer));
    }

    pub(crate) fn failures(self) -> &'static Failures {
        &self.inner().failures
    }

    pub(crate) fn counters(self) -> &'static Counters {
        &self.inner().counters
    }

    /// Sets whether actors that are spawned later measure their busy time: see
    /// [`Builder::measure_busy_time`](crate::Builder::measure_busy_time).
    ///
    /// # Examples
    /// ```
    /// # use evenkeel_actor::{Actor, Context, Handled};
    /// use evenkeel_actor::{Builder, System};
    /// # struct Idle;
    /// # impl Actor for Idle {
    /// #     type Message = ();
    /// #     async fn handle(&mut self, _: (), _: &mut Context<Self>) -> Handled { Ok(()) }
    /// # }
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let system = System::new();
    ///     let early = Builder::new().system(system).spawn(Idle).unwrap();
    ///     system.measure_busy_time(true);
    ///     let late = Builder::new().system(system).spawn(Idle).unwrap();
    ///     assert_eq!(early.metrics().busy, None);
    ///     assert!(late.metrics().busy.is_some());
    /// });
    /// ```
    pub fn measure_busy_time(self, on: bool) {
        self.inner().measures.store(on, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn measures(self) -> bool {
        self.inner().measures.load(Ordering::Relaxed)
    }

    /// Sets how long a later [ask](crate::ActorRef::ask) of an actor of this system waits at most,
    /// if the ask sets no [timeout](crate::Ask::timeout). `None` sets no limit. The default is 30
    /// seconds. An actor of another node counts as an actor of the local node's system.
    ///
    /// The limit ends an ask that an actor keeps and never answers, or that was lost between nodes.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, AskError, Builder, Context, Handled, ReplyTo, System};
    /// use std::time::Duration;
    ///
    /// /// Keeps each request.
    /// #[derive(Default)]
    /// struct Silent(Vec<ReplyTo<()>>);
    ///
    /// impl Actor for Silent {
    ///     type Message = ReplyTo<()>;
    ///
    ///     async fn handle(&mut self, reply: ReplyTo<()>, _context: &mut Context<Self>) -> Handled
    ///     {
    ///         self.0.push(reply);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let system = System::new();
    ///     system.set_ask_limit(Some(Duration::from_millis(20)));
    ///     let silent = Builder::new().system(system).spawn(Silent::default()).unwrap();
    ///     assert_eq!(silent.ask(|reply| reply).await, Err(AskError::Elapsed));
    /// });
    /// ```
    pub fn set_ask_limit(self, limit: Option<Duration>) {
        let nanos = limit.map_or(u64::MAX, |limit| limit.as_nanos().try_into().unwrap_or(u64::MAX));
        self.inner().ask_limit.store(nanos, Ordering::Relaxed);
    }

    pub(crate) fn ask_limit(self) -> Option<Duration> {
        match self.inner().ask_limit.load(Ordering::Relaxed) {
            u64::MAX => None,
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }

    /// Returns the number of the system's node, for traces.
    #[inline]
    pub(crate) fn node(self) -> Option<u32> {
        #[cfg(feature = "tracing")]
        return self.inner().node.load(Ordering::Relaxed).checked_sub(1);
        #[cfg(not(feature = "tracing"))]
        None
    }

    /// Sets the number of the system's node, for traces. If several nodes share it, the last one
    /// counts.
    pub(crate) fn set_node(self, node: u32) {
        #[cfg(feature = "tracing")]
        self.inner().node.store(node.saturating_add(1), Ordering::Relaxed);
        #[cfg(not(feature = "tracing"))]
        let _ = node;
    }

    pub(crate) fn registry(self) -> &'static Registry {
        &self.inner().registry
    }

    pub(crate) fn groups(self) -> &'static Groups {
        &self.inner().groups
    }

    pub(crate) fn subscribers(self) -> &'static Subscribers {
        &self.inner().subscribers
    }

    /// Removes an actor that has ended from names and groups.
    #[cold]
    pub(crate) fn forget(self, actor: ActorId) {
        self.registry().forget(actor);
        self.groups().forget(actor);
    }
}

/// Restores the previous system, also after a panic.
pub(crate) struct Entered(Option<(System, u32)>);

impl Drop for Entered {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

/// Restores the previous run.
#[cfg(not(shuttle))]
pub(crate) struct Run(Option<System>);

#[cfg(not(shuttle))]
impl Drop for Run {
    fn drop(&mut self) {
        RUN.set(self.0);
    }
}

impl Default for System {
    fn default() -> Self {
        Self::current()
    }
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "System({})", self.0)
    }
}
