//! Configures and builds runtimes.

use super::Runtime;
use super::error::{BuildError, COARSEST, FINEST, MOST_RELIEFS, MOST_WORKERS};
use super::handle::Handle;
use super::late_thread::{LateThread, Threads};
use super::own_thread::OwnThread;
use super::worker_thread::WorkerThread;
use crate::policy::Locality;
use crate::policy::timing::RESOLUTION;
use crate::primitives::lock;
use crate::primitives::misses::Misses;
use crate::processor::neighbours::Neighbours;
use crate::processor::seat::Seat;
use crate::processor::shared::Hooks;
use crate::processor::shared::Shared;
use crate::processor::shared::Starter;
use crate::scheduler::spare;
use crate::scheduler::{lookout, relief};
use crate::task::word_waker::WordWaker;
use crate::timers::Rules;
use crate::topology::Topology;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

/// Builds a [`Runtime`].
///
/// # Examples
/// A runtime for deep recursion and coarse timers, for a machine that a text describes:
/// ```
/// use evenkeel::{Builder, Locality};
/// use std::time::Duration;
/// let runtime = Builder::new()
///     .workers(2)
///     .name("deck")
///     .stack_size(8 << 20)
///     .topology("2 cores, l2 1M, l3 32M".parse()?)
///     .locality(Locality::Strict)
///     .keep_apart(false)
///     .timer_resolution(Duration::from_millis(10))
///     .build()?;
/// let name = runtime.install(|| std::thread::current().name().map(str::to_owned));
/// assert!(name.unwrap().starts_with("deck-"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Hooks that set up and tear down what each worker needs:
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use std::sync::Arc;
/// let afloat = Arc::new(AtomicUsize::new(0));
/// let (starts, stops) = (afloat.clone(), afloat.clone());
/// let runtime = evenkeel::Builder::new()
///     .workers(3)
///     .on_worker_start(move |_| drop(starts.fetch_add(1, Ordering::Relaxed)))
///     .on_worker_stop(move |_| drop(stops.fetch_sub(1, Ordering::Relaxed)))
///     .build()?;
/// runtime.handle().broadcast(|_| ());
/// assert_eq!(afloat.load(Ordering::Relaxed), 3);
/// drop(runtime);
/// assert_eq!(afloat.load(Ordering::Relaxed), 0);
/// # Ok::<(), evenkeel::BuildError>(())
/// ```
#[derive(Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct Builder {
    workers: Option<usize>,
    pin: bool,
    topology: Option<Topology>,
    pub(super) locality: Locality,
    reliefs: usize,
    resolution: Duration,
    pub(super) paused: bool,
    pub(super) hooks: Hooks,
    keep_apart: Option<bool>,
    pub(super) is_current_thread: bool,
}

/// The usual number of reliefs. A choice: more than the tasks of a well-behaved program that block
/// at the same time, and few enough threads for any system.
const RELIEFS: usize = 64;

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// The most workers that a runtime has.
    pub const MOST_WORKERS: usize = MOST_WORKERS;

    /// Returns a builder with the defaults: a worker per core in use, not pinned.
    pub fn new() -> Self {
        Self {
            workers: None,
            pin: false,
            topology: None,
            locality: Locality::default(),
            reliefs: RELIEFS,
            resolution: Duration::from_nanos(RESOLUTION),
            paused: false,
            hooks: Hooks::default(),
            keep_apart: None,
            is_current_thread: false,
        }
    }

    /// Sets the number of processors, each with a worker: 1 to 1,024. The default is the number of
    /// cores that the process may use, by its affinity mask and its cgroup's quota. More workers
    /// than cores are allowed, and gain nothing.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Sets the name of the threads, `evenkeel` by default. Worker 3 is then called `evenkeel-3`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.hooks.threads.name = name.into();
        self
    }

    /// Sets whether each worker is pinned to one core. The default is not to pin: pinned workers of
    /// two programs may share a core while other cores are idle. Pin on a machine that is yours
    /// alone, or to measure.
    ///
    /// # Examples
    /// Where the system refuses, as some containers do, the program runs without pins:
    /// ```
    /// use evenkeel::{BuildError, Builder};
    /// let runtime = match Builder::new().workers(1).pin(true).build() {
    ///     Err(BuildError::Pin { worker, source, .. }) => {
    ///         eprintln!("worker {worker} is not pinned: {source}");
    ///         Builder::new().workers(1).build()?
    ///     }
    ///     built => built?,
    /// };
    /// assert_eq!(runtime.block_on(async { 1 }), 1);
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = pin;
        self
    }

    /// Sets whether a worker that searches for work leaves a core that another worker runs on for a
    /// free one. While the operating system leaves two workers on one core, for some milliseconds,
    /// the two are no faster than one. By default the threads that the runtime starts move; those
    /// lent to [`build_with`](Self::build_with) do not. A move takes two changes of the thread's
    /// affinity mask, at most once in a millisecond. The worker restores the mask afterwards, but a
    /// change from outside within those microseconds is lost. From then on Linux takes the mask for
    /// the thread's own choice, so a cpuset that grows later does not widen it. Has no effect on
    /// [pinned](Self::pin) workers.
    pub fn keep_apart(mut self, keep_apart: bool) -> Self {
        self.keep_apart = Some(keep_apart);
        self
    }

    /// Sets the size of the stacks of all threads of the runtime, in bytes; the default is that of
    /// [`std::thread`]. Polls run on the stacks of workers and reliefs, so deep recursion inside a
    /// task needs more. [Blocking threads](Self::blocking_threads), of which there may be many,
    /// have this size too; a system reserves addresses for a stack, and memory once it is touched.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.hooks.threads.stack_size = Some(bytes);
        self
    }

    /// Sets how many threads may run closures of
    /// [`spawn_blocking`](crate::Runtime::spawn_blocking) at once: 1 or more, 512 by default. A
    /// thread is started when a closure comes and no thread is idle, and exits after ten idle
    /// seconds. What comes while all threads are busy waits in a queue, and runs in the order in
    /// which it came; [`metrics`](crate::Runtime::metrics) say how many closures wait. A closure
    /// that waits for another closure needs a thread beside that one's: with too few threads, both
    /// wait for ever.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::{BuildError, Builder};
    /// let runtime = Builder::new().workers(1).blocking_threads(2).build()?;
    /// let lengths = ["ketch", "yawl", "sloop"].map(|rig| runtime.spawn_blocking(|| rig.len()));
    /// let lengths = lengths.map(|length| evenkeel::block_on(length).unwrap());
    /// assert_eq!(lengths, [5, 4, 5]);
    /// assert!(runtime.metrics().blocking_threads <= 2);
    /// let none = Builder::new().blocking_threads(0).build();
    /// assert!(matches!(none, Err(BuildError::BlockingThreads { asked: 0 })));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn blocking_threads(mut self, threads: usize) -> Self {
        self.hooks.threads.blocking = threads;
        self
    }

    /// Sets the machine to build for, instead of the one that is detected: which workers are near
    /// each other, and with [`pin`](Self::pin) which core each one runs on. Its
    /// [`processors`](Topology::processors) are then the default number of workers.
    ///
    /// # Examples
    /// ```
    /// let machine = "2 packages, 2 cores, l3 8M".parse()?;
    /// let runtime = evenkeel::Builder::new().topology(machine).build()?;
    /// assert_eq!(runtime.handle().workers(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = Some(topology);
        self
    }

    /// Sets how the jobs of forks that [state their footprint](crate::fork_join::join_sized) are
    /// kept near their data; the default is [`Locality::Biased`]. The topology says which workers
    /// share a cache and how large it is. Which core a worker runs on is certain with
    /// [`pin`](Self::pin) alone.
    pub fn locality(mut self, locality: Locality) -> Self {
        self.locality = locality;
        self
    }

    /// Sets how many reliefs the runtime may have: 0 to 1,024, 64 by default. Reliefs
    /// are threads that poll ready tasks while no worker comes to them: because all workers are
    /// *stuck* in a poll that computes, blocks or never ends, run fork-join work, or are inside
    /// [`block_in_place`](crate::task::block_in_place).
    ///
    /// The runtime starts a relief when it first needs one, and a *lookout*, a thread that finds
    /// stuck workers, when a task is first ready while no worker sleeps. A worker is stuck once it
    /// has been inside one poll for a millisecond; if the poll forks, for a tenth of that. The
    /// lookout looks 250 times per second while tasks are polled, and sleeps when nothing happens.
    /// So a task that no worker comes to waits for some 8 ms at most, and others that follow while
    /// the workers are stuck for some microseconds. A relief that is stuck itself is followed by
    /// another, at most this many in all. If all reliefs are stuck, tasks wait until one of them or
    /// a worker is back. One relief stays as long as the runtime; the others end once they have not
    /// been needed for 10 s. The processor of each stays, with 4 MiB of addresses for a deque, of
    /// which 8 KiB are touched.
    ///
    /// Without reliefs, and in a runtime of [`build_with`](Self::build_with), tasks wait until a
    /// worker is back, and so may the sockets at which a stuck worker looks; the same while the
    /// system refuses the threads of reliefs, and from then on if it refuses the lookout's.
    ///
    /// The threads are called `evenkeel-relief` and `evenkeel-lookout`, with the
    /// [`name`](Self::name) in place of `evenkeel`, and have the
    /// [`stack_size`](Self::stack_size) of a worker. They run wherever the thread that builds the
    /// runtime may, whether or not the workers are [pinned](Self::pin). They do not call the
    /// workers' hooks: build without reliefs if tasks rely on what these hooks set up.
    ///
    /// A task that forks on a relief runs both halves itself, one after the other, even while
    /// workers are back and idle: it takes as long as on one core. What it spawns into a scope is
    /// run by workers, or by the task itself at the end of the scope. If it broadcasts, it waits
    /// for workers, and must not hold a lock meanwhile that these may take.
    ///
    /// # Examples
    /// ```
    /// use std::sync::mpsc;
    /// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
    /// let (sender, receiver) = mpsc::channel();
    /// // The only worker is blocked until another task has run.
    /// let blocked = runtime.spawn(async move { receiver.recv().unwrap() });
    /// runtime.spawn(async move { sender.send(7).unwrap() }).detach();
    /// assert_eq!(runtime.block_on(blocked).unwrap(), 7);
    /// ```
    ///
    /// More than there may be:
    /// ```
    /// use evenkeel::{BuildError, Builder};
    /// let error = Builder::new().reliefs(5_000).build().unwrap_err();
    /// assert!(matches!(error, BuildError::Reliefs { asked: 5_000 }));
    /// ```
    ///
    /// The idea is that of the monitor of Go's runtime, which takes processors away from threads
    /// that are inside system calls.
    pub fn reliefs(mut self, reliefs: usize) -> Self {
        self.reliefs = reliefs;
        self
    }

    /// Sets how finely [timers](crate::time) tell times apart: 1 µs to 1 s, by default 1 ms. A
    /// timer fires at the first tick that is not before its deadline. A tick is the longest power
    /// of two of nanoseconds that is not longer than `resolution`: 524,288 by default. A runtime
    /// with finer ticks wakes more often for the same timers.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::{BuildError, Builder};
    /// use std::time::Duration;
    /// let finest = Builder::new().workers(1).timer_resolution(Duration::from_micros(1)).build();
    /// assert!(finest.is_ok());
    /// let finer = Builder::new().timer_resolution(Duration::from_nanos(999)).build();
    /// assert!(matches!(finer, Err(BuildError::TimerResolution { .. })));
    /// ```
    pub fn timer_resolution(mut self, resolution: Duration) -> Self {
        self.resolution = resolution;
        self
    }

    /// Sets whether the runtime's clock [stands still](crate::time::pause) from the start, for
    /// tests.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::time::{Duration, Instant, sleep};
    /// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
    /// runtime.block_on(async {
    ///     let start = Instant::now();
    ///     // All is idle, so the clock moves by itself, at once.
    ///     sleep(Duration::from_secs(3_600)).await;
    ///     assert_eq!(start.elapsed(), Duration::from_secs(3_600));
    /// });
    /// ```
    pub fn start_paused(mut self, paused: bool) -> Self {
        self.paused = paused;
        self
    }

    /// Builds the runtime and starts its workers.
    ///
    /// # Errors
    /// [`BuildError`] if the number of workers, reliefs or blocking threads, or the resolution of
    /// timers is out of range, if a current-thread runtime is to have several workers, if the name
    /// has a zero byte, if the machine cannot be read, or if the
    /// system refuses a thread or a pin. No thread is left running then.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::{BuildError, Builder};
    /// let error = Builder::new().workers(2_000).build().unwrap_err();
    /// assert!(matches!(error, BuildError::Workers { asked: 2_000 }));
    /// assert!(error.to_string().starts_with("a runtime has 1 to 1024 workers, not 2000"));
    /// ```
    pub fn build(self) -> Result<Runtime, BuildError> {
        if self.is_current_thread {
            return self.build_current_thread();
        }
        let (started, starts) = mpsc::channel();
        let mut threads = Vec::new();
        let reliefs = self.reliefs;
        let runtime = self.assemble(Some(started), reliefs, |worker| {
            let mut builder = thread::Builder::new().name(worker.name().to_owned());
            if let Some(size) = worker.stack_size() {
                builder = builder.stack_size(size);
            }
            threads.push(OwnThread::start(|beginning| {
                builder.spawn(move || {
                    beginning.begin();
                    worker.run();
                })
            })?);
            Ok(())
        });
        // The channel ends when every worker has said how it started.
        let refused = starts.iter().find_map(Result::err);
        let built = runtime.and_then(|runtime| match refused {
            // Dropping the runtime ends the workers that did start.
            Some(error) => Err(error),
            None => Ok(runtime),
        });
        match built {
            Ok(runtime) => {
                lock(&runtime.threads).append(&mut threads);
                Ok(runtime)
            }
            Err(error) => {
                for thread in threads {
                    thread.join(None);
                }
                Err(error)
            }
        }
    }

    /// Builds the runtime with threads that the caller provides: `spawn` is called with each worker
    /// in turn, and arranges that some thread [runs](WorkerThread::run) it, at once or later. A
    /// worker pins its thread if [`pin`](Self::pin) was set. If the system refuses the pin, the
    /// worker does not run, and no error says so. [`WorkerThread::settle`] makes the calling thread
    /// a worker.
    ///
    /// Such a runtime has no [reliefs](Self::reliefs): its threads are the caller's. A builder of
    /// [`new_current_thread`](Self::new_current_thread) has one worker for `spawn`.
    ///
    /// The thread that shuts the runtime down waits until all workers that have not been dropped
    /// have run and returned. If `spawn` fails, the running workers leave, and `build_with` waits
    /// neither for them nor for workers that `spawn` has kept. Settle last: a settled thread stays
    /// the worker of its runtime, even of one that a later failure has ended.
    ///
    /// # Errors
    /// As [`build`](Self::build), with the error of `spawn` as [`BuildError::Thread`]. The running
    /// workers are shut down then.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), evenkeel::BuildError> {
    /// // Threads that borrow.
    /// let cargo = vec![1, 2, 3];
    /// let sum = std::thread::scope(|scope| {
    ///     let runtime = evenkeel::Builder::new().workers(2).build_with(|worker| {
    ///         let cargo = &cargo;
    ///         scope.spawn(move || {
    ///             assert_eq!(cargo.len(), 3);
    ///             worker.run();
    ///         });
    ///         Ok(())
    ///     })?;
    ///     Ok(runtime.install(|| evenkeel::fork_join::join(|| 1, || 2)))
    /// })?;
    /// assert_eq!(sum, (1, 2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn build_with(
        self,
        spawn: impl FnMut(WorkerThread) -> io::Result<()>,
    ) -> Result<Runtime, BuildError> {
        let mut builder = self;
        if builder.is_current_thread {
            builder.workers.get_or_insert(1);
        }
        builder.assemble(None, 0, spawn)
    }

    /// Refuses what no runtime can have. Returns the rules of its timers.
    pub(super) fn check(&self, reliefs: usize) -> Result<Rules, BuildError> {
        if let Some(asked) = self.workers
            && !(1..=MOST_WORKERS).contains(&asked)
        {
            return Err(BuildError::Workers { asked });
        }
        if let Some(asked) = self.workers.filter(|&asked| asked > 1 && self.is_current_thread) {
            return Err(BuildError::CurrentThread { asked });
        }
        if reliefs > MOST_RELIEFS {
            return Err(BuildError::Reliefs { asked: reliefs });
        }
        if self.hooks.threads.blocking == 0 {
            return Err(BuildError::BlockingThreads { asked: 0 });
        }
        if self.hooks.threads.name.contains('\0') {
            return Err(BuildError::Name { asked: self.hooks.threads.name.clone() });
        }
        let resolution = u64::try_from(self.resolution.as_nanos()).unwrap_or(u64::MAX);
        if !(FINEST..=COARSEST).contains(&resolution) {
            return Err(BuildError::TimerResolution { asked: self.resolution });
        }
        Ok(Rules::new::<WordWaker>(resolution))
    }

    fn assemble(
        mut self,
        started: Option<mpsc::Sender<Result<(), BuildError>>>,
        reliefs: usize,
        mut spawn: impl FnMut(WorkerThread) -> io::Result<()>,
    ) -> Result<Runtime, BuildError> {
        let rules = self.check(reliefs)?;
        self.hooks.keep_apart = self.keep_apart.unwrap_or(started.is_some());
        let topology = match (self.topology, self.workers) {
            (Some(topology), _) => Ok(topology),
            (None, Some(_)) => Topology::detect_allowed(),
            (None, None) => Topology::detect(),
        };
        let topology = topology.map_err(BuildError::Topology)?;
        let count = self.workers.unwrap_or_else(|| topology.processors().min(MOST_WORKERS));
        let places = topology.assign(count);
        let neighbours = Neighbours::all(&topology, &places);
        let (shared, seats) = Seat::all(neighbours, self.locality, self.hooks, reliefs, rules);
        if self.paused {
            shared.stop_clock();
        }
        if started.is_some() {
            // Before its threads: those that are started from here on are counted.
            shared.misses.get_or_init(Misses::open);
        }
        let runtime = Runtime::new_running(Handle::new(shared.clone()));
        set_starters(&shared, &runtime.threads, reliefs);
        // All workers are made before the first one runs. The drop of a worker that never runs
        // counts it out, which the shutdown of the runtime relies on.
        let workers: Vec<_> = seats
            .map(|seat| {
                let name = format!("{}-{}", shared.hooks.threads.name, seat.me());
                let cpu = self.pin.then(|| topology.cpus()[places[seat.me()]].id);
                let handle = runtime.handle();
                WorkerThread::new(handle, seat, name, cpu, started.clone())
            })
            .collect();
        let is_custom = started.is_none();
        drop(started);
        for worker in workers {
            let index = worker.index();
            let spawned = catch_unwind(AssertUnwindSafe(|| spawn(worker)));
            if let Ok(Ok(())) = spawned {
                continue;
            }
            if is_custom {
                // The caller may have kept workers for later, which cannot be waited for.
                runtime.abandon();
            }
            let source = spawned.unwrap_or_else(|panic| resume_unwind(panic)).unwrap_err();
            return Err(BuildError::Thread { worker: index, source });
        }
        Ok(runtime)
    }
}

/// Sets how the threads are started that the runtime may come to need.
fn set_starters(shared: &Shared, threads: &Threads, reliefs: usize) {
    let set = |starter: &OnceLock<Starter>, role, work: fn(Arc<Shared>, usize)| {
        let thread = LateThread::new(role, threads);
        let start = move |shared: Arc<Shared>, number| {
            thread.start(&shared.clone(), move || work(shared, number))
        };
        starter.set(Starter(Box::new(start))).expect("it is set here alone");
    };
    set(&shared.spare_starter, "spare", spare::work);
    if reliefs > 0 {
        set(&shared.relief_starter, "relief", relief::work);
        set(&shared.lookout_starter, "lookout", |shared, _| lookout::work(&shared));
    }
}
