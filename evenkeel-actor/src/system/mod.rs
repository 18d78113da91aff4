//! What actors of one node share.

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
use evenkeel::internal::is_deterministic;
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

/// For how long asks wait where a system says nothing else. A choice: longer than an answer takes
/// that is worked for; no benchmark sets it.
const ASK_LIMIT: Duration = Duration::from_secs(30);

/// What the actors of one node share: names, groups, dead letters, counters. Cheap to copy.
///
/// A program has one without asking for it; one per node where there are several nodes in a
/// process. A system is never freed.
///
/// In an actor it takes four bytes: its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct System(u32);

#[derive(Debug)]
struct Inner {
    counters: Counters,
    registry: Registry,
    groups: Groups,
    subscribers: Subscribers,
    failures: Failures,
    /// Whether the busy time of actors is measured that are spawned from now on.
    measures: AtomicBool,
    /// For how many nanoseconds an ask waits; the largest number is for ever.
    ask_limit: AtomicU64,
    /// The number of its node, plus one, for traces; zero if it belongs to none.
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

/// That of the process.
static PROCESS: Inner = Inner::new();

thread_local! {
    /// That of the run of the kit on this thread.
    static RUN: Cell<Option<System>> = const { Cell::new(None) };
    /// That of the actor which this thread polls, if it is another than that of the process.
    static RUNNING: Cell<Option<System>> = const { Cell::new(None) };
}

/// All there have been beside it. The first has the number 1.
static SYSTEMS: boxcar::Vec<Box<Inner>> = boxcar::Vec::new();

/// That of the run of the kit in which this is called.
fn of_run() -> Option<System> {
    if is_deterministic() { RUN.get() } else { None }
}

impl System {
    /// A new system, which shares nothing with others.
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

    /// The system of the actor that is running; where none is, that of the process, or inside a run
    /// of the [kit](crate::kit) that of the run. A task that an actor has spawned is not the actor.
    #[must_use]
    pub fn current() -> Self {
        RUNNING.get().or_else(of_run).unwrap_or(Self(0))
    }

    /// What this thread does until the guard is dropped is done by an actor of this system.
    pub(crate) fn enter(self) -> Entered {
        Entered(RUNNING.replace((!self.is_of_process()).then_some(self)))
    }

    /// Makes it that of the run on this thread, until the guard is dropped.
    #[cfg(not(shuttle))]
    pub(crate) fn enter_run(self) -> Run {
        Run(RUN.replace(Some(self)))
    }

    pub(crate) fn is_of_process(self) -> bool {
        self.0 == 0
    }

    /// Has `observer` called for each actor of this system that fails: that panics, or whose
    /// handler returns an error. It replaces the one before. The default prints a line to the
    /// standard error, so that nothing fails in silence.
    ///
    /// It is called by the actor that fails, before its watchers and its supervisor are told, and
    /// so before a future of [`stopped`](crate::ActorRef::stopped) is ready: it must not block on
    /// that. A panic in it is caught.
    ///
    /// # Examples
    /// See [`Supervisor`](crate::Supervisor).
    pub fn on_failure(self, observer: impl Fn(&ActorFailure) + Send + Sync + 'static) {
        self.inner().failures.observe(Arc::new(observer));
    }

    pub(crate) fn failures(self) -> &'static Failures {
        &self.inner().failures
    }

    pub(crate) fn counters(self) -> &'static Counters {
        &self.inner().counters
    }

    /// Has the time that actors are busy be measured, or not any more, of those that are spawned
    /// from now on: see [`Builder::measure_busy_time`](crate::Builder::measure_busy_time).
    pub fn measure_busy_time(self, on: bool) {
        self.inner().measures.store(on, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn measures(self) -> bool {
        self.inner().measures.load(Ordering::Relaxed)
    }

    /// For how long an [ask](crate::ActorRef::ask) of an actor of this system waits at most, from
    /// now on, where it does not [say](crate::Ask::timeout) itself; `None` is for ever. The
    /// default is 30 seconds. An actor of another node counts as one of the system of the node
    /// here.
    ///
    /// A limit is what ends an ask that is kept by an actor which never answers, or that was lost
    /// between nodes.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, AskError, Builder, Context, Handled, ReplyTo, System};
    /// use std::time::Duration;
    ///
    /// /// Keeps what it is asked.
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

    /// The number of the node that it belongs to, for traces.
    #[inline]
    pub(crate) fn node(self) -> Option<u32> {
        #[cfg(feature = "tracing")]
        return self.inner().node.load(Ordering::Relaxed).checked_sub(1);
        #[cfg(not(feature = "tracing"))]
        None
    }

    /// It belongs to a node; the last, if several share it. For traces.
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

    /// Forgets an actor that has ended and was known by something here.
    #[cold]
    pub(crate) fn forget(self, actor: ActorId) {
        self.registry().forget(actor);
        self.groups().forget(actor);
    }
}

/// Puts back what was there, also after a panic.
pub(crate) struct Entered(Option<System>);

impl Drop for Entered {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

/// Takes the system of a run away again.
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
