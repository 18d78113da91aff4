//! The counters of a runtime: always on, at the price of plain additions.
//!
//! # Examples
//! ```
//! use evenkeel::metrics::{ProcessorMetrics, RuntimeMetrics};
//! let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
//! runtime.block_on(async {
//!     let tasks: Vec<_> = (0..100).map(|_| evenkeel::spawn(evenkeel::yield_now())).collect();
//!     for task in tasks {
//!         task.await.unwrap();
//!     }
//! });
//! let handle = runtime.handle();
//! runtime.shutdown(evenkeel::Shutdown::Drain);
//! let metrics: RuntimeMetrics = handle.metrics();
//! assert_eq!(metrics.spawned_outside, 100);
//! assert_eq!(metrics.sum(|processor| processor.completed), 100);
//! assert_eq!(metrics.sum(|processor| processor.polls), 200);
//! let busiest = metrics.processors.iter().max_by_key(|processor| processor.polls);
//! let busiest: &ProcessorMetrics = busiest.unwrap();
//! println!("{} polls, longest wait {:?}", busiest.polls, busiest.longest_wait);
//! ```

mod sockets;
mod times;

pub use sockets::{Delays, SocketMetrics};
pub use times::{ByDistance, Times};

use crate::primitives::clock;
use crate::processor::Processor;
use crate::processor::shared::Shared;
use crate::readiness::Set;
use crate::topology::Distance;
use std::fmt;
use std::time::Duration;

/// A snapshot of one processor. Counts are since the runtime began; each is exact, but they are
/// read one after the other while the processor goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessorMetrics {
    /// Polls of tasks, to within a batch.
    pub polls: u64,
    /// Tasks spawned by tasks on this processor.
    pub spawned: u64,
    /// Tasks of this processor that are complete.
    pub completed: u64,
    /// Wakes by tasks on this processor.
    pub wakes_local: u64,
    /// Wakes and spawns that came from outside, and tasks that were given back, through the inbox.
    pub wakes_outside: u64,
    /// Requests for work that this processor has made.
    pub handovers_asked: u64,
    /// Requests for work that it has answered with at least one task.
    pub handovers_given: u64,
    /// Heavy fences that it has paid for, to take work from a processor that did not answer.
    pub heavy_fences: u64,
    /// Times that it took older work while it had its own.
    pub helps: u64,
    /// Times that it took work while it had none.
    pub steals: u64,
    /// Fork-join jobs taken from other workers.
    pub jobs_stolen: u64,
    /// Times that it gave its quick tasks to another processor: after a steal that made both
    /// slower, or to try whether the other polls them faster alone.
    pub splits_undone: u64,
    /// Tasks that it received by helping or stealing.
    pub migrations: u64,
    /// Journeys of tasks from here to the homes of [objects](crate::object).
    pub hops: u64,
    /// Times that it began to search.
    pub searches: u64,
    /// Times that it began to fall asleep.
    pub sleeps: u64,
    /// Times that it woke as the watch and found nothing to do.
    pub watches: u64,
    /// Times that its thread woke from a sleep, for any reason; the thread of an idle runtime
    /// without timers does not wake.
    pub wake_ups: u64,
    /// Timers that were armed here, at their first poll or by a reset while a task waited: those of
    /// [`sleep`](crate::time::sleep()) and of all that is built on it. The number of waiting timers
    /// is this less the fired and the cancelled ones.
    pub timers_armed: u64,
    /// Timers armed here that have fired, on whatever processor.
    pub timers_fired: u64,
    /// Timers armed here that were dropped or reset before they fired.
    pub timers_cancelled: u64,
    /// Times that a timer armed here went to a lower level of the wheel.
    pub timers_moved: u64,
    /// Timers of other processors that this one fired, because their workers did not come to it.
    pub timers_fired_for_others: u64,
    /// Times that its worker moved to another hardware thread, because another worker was on the
    /// same one.
    pub moves: u64,
    /// Polls in which the [lookout](crate::Builder::reliefs) has found its thread stuck: those that
    /// last for some milliseconds, and some that are a little shorter. Without a hook for
    /// [stalls](crate::Builder::on_stall) the lookout rests while a worker sleeps, and these are
    /// not counted. Zero without reliefs.
    pub stalls: u64,
    /// Tasks in its ready queue at the moment.
    pub ready: usize,
    /// How long the oldest task in the ready queue or the inbox has been waiting, to within a
    /// batch.
    pub head_age: Duration,
    /// The longest wait from ready to polled that the processor has seen, at the end of a batch and
    /// to within one.
    pub longest_wait: Duration,
    /// The longest batch of polls that is over: no poll has lasted longer. What the operating
    /// system took from the worker meanwhile is part of it.
    pub longest_batch: Duration,
    /// How its worker has spent its time.
    pub times: Times,
    /// What it has done for sockets.
    pub sockets: SocketMetrics,
}

impl ProcessorMetrics {
    fn of(processor: &Processor, set: Option<&Set>, now: u64) -> Self {
        let counters = &processor.counters;
        let timers = processor.timers.tally();
        Self {
            polls: counters.polls.get(),
            spawned: counters.spawned.get(),
            completed: counters.unregistered(),
            wakes_local: counters.wakes_local.get(),
            wakes_outside: counters.wakes_outside.get(),
            handovers_asked: counters.handovers_asked.get(),
            handovers_given: counters.handovers_given.get(),
            heavy_fences: counters.heavy_fences.get(),
            helps: counters.helps.get(),
            steals: counters.steals.get(),
            jobs_stolen: counters.jobs_stolen.get(),
            splits_undone: counters.splits_undone.get(),
            migrations: counters.migrations.get(),
            hops: counters.hops.get(),
            searches: counters.searches.get(),
            sleeps: counters.sleeps.get(),
            watches: counters.watches.get(),
            wake_ups: counters.wake_ups.get(),
            timers_armed: timers.armed,
            timers_fired: timers.fired,
            timers_cancelled: timers.cancelled,
            timers_moved: timers.moved,
            timers_fired_for_others: counters.timers_fired_for_others.get(),
            moves: counters.moves.get(),
            stalls: counters.stalls.get(),
            ready: processor.published.ready.len(),
            head_age: Duration::from_nanos(processor.head_age(now)),
            longest_wait: Duration::from_nanos(counters.longest_wait.get()),
            longest_batch: Duration::from_nanos(counters.longest_batch.get()),
            times: Times::of(processor, now),
            sockets: SocketMetrics::of(processor, set),
        }
    }
}

/// A snapshot of a runtime.
///
/// # Examples
/// ```
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(runtime.spawn(async {})).unwrap();
/// println!("{}", runtime.metrics());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuntimeMetrics {
    /// One entry per worker's processor.
    pub processors: Vec<ProcessorMetrics>,
    /// One entry per [relief](crate::Builder::reliefs) that has been needed. Reliefs poll tasks
    /// while workers are inside fork-join or stuck in polls.
    pub reliefs: Vec<ProcessorMetrics>,
    /// Processors that are asleep.
    pub sleeping: usize,
    /// Processors that search for work.
    pub searching: usize,
    /// Tasks and blocking closures spawned from outside, calls, parts of broadcasts, and jobs
    /// without a joiner, wherever they were spawned; and one for each time that jobs of a scope
    /// whose owner is no worker begin to be under way among workers.
    pub spawned_outside: u64,
    /// Blocking closures, calls, parts of broadcasts and jobs that are complete, and tasks from
    /// outside that were cancelled before any processor had them.
    pub completed_outside: u64,
    /// Complete tasks that their homes have not counted yet, in a processor's `completed`: they
    /// were polled elsewhere last, and their home has been in a batch, slept or been stuck since.
    pub completed_elsewhere: u64,
    /// What [`alive`](Self::alive) returns.
    alive: u64,
    /// Calls and jobs from outside that [spares](crate::fork_join#threads) have taken,
    /// because workers waited or were stuck.
    pub run_by_spares: u64,
    /// Threads for closures of [`spawn_blocking`](crate::spawn_blocking), busy and idle; at most
    /// [`Builder::blocking_threads`](crate::Builder::blocking_threads).
    pub blocking_threads: usize,
    /// Closures of `spawn_blocking` that wait for a thread.
    pub blocking_waiting: usize,
}

impl RuntimeMetrics {
    pub(crate) fn of(shared: &Shared) -> Self {
        let now = clock::now();
        let counts = shared.idle.counts();
        let (blocking_threads, blocking_waiting) = shared.blocking.counts();
        let (workers, reliefs) = shared.processors.split_at(shared.workers);
        let of = |processor: &Processor| ProcessorMetrics::of(processor, None, now);
        let of_worker = |(me, processor): (usize, &Processor)| {
            ProcessorMetrics::of(processor, shared.idle.set(me).get(), now)
        };
        // Before all that is spawned: what begins and ends meanwhile counts as alive.
        let (completed_inside, completed_outside) =
            (shared.completed_inside(), shared.completed_outside());
        let (elsewhere, taken_back) = shared.completed_elsewhere();
        let mut metrics = Self {
            processors: workers.iter().enumerate().map(of_worker).collect(),
            reliefs: reliefs.iter().filter(|_| shared.idle.is_up()).map(of).collect(),
            sleeping: counts.sleeping,
            searching: counts.searching,
            spawned_outside: shared.spawned_outside(),
            completed_outside,
            completed_elsewhere: elsewhere.saturating_sub(taken_back),
            alive: 0,
            run_by_spares: shared.spares.taken(),
            blocking_threads,
            blocking_waiting,
        };
        let spawned = metrics.sum(|processor| processor.spawned) + metrics.spawned_outside;
        metrics.alive = spawned.saturating_sub(completed_inside + completed_outside);
        metrics
    }

    /// Returns how all workers together have spent their time. Reliefs are not among them: they
    /// sleep whenever workers do the work.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
    /// runtime.install(|| std::thread::sleep(Duration::from_millis(3)));
    /// let times = runtime.metrics().times();
    /// assert!(times.execution.total() >= Duration::from_millis(3));
    /// println!("{:.1?} at work, {:.1?} idle", times.execution.total(), times.idle());
    /// ```
    pub fn times(&self) -> Times {
        self.processors.iter().map(|processor| processor.times).sum()
    }

    /// Returns how many tasks and blocking closures, calls and jobs without a joiner are alive:
    /// spawned, and not complete. A program that loses tasks, or spawns more than it can do, sees
    /// it grow: it is a figure for an alarm. Local tasks of a [`LocalSet`](crate::task::LocalSet)
    /// are not in it.
    ///
    /// It is exact while none begins and none ends. Otherwise it may be too high by what does so
    /// while the snapshot is taken, and is never too low.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let watches = [0; 3].map(|_| runtime.spawn(std::future::pending::<()>()));
    /// assert_eq!(runtime.metrics().alive(), 3);
    /// watches.iter().for_each(evenkeel::JoinHandle::abort);
    /// while runtime.metrics().alive() > 0 {
    ///     std::thread::yield_now();
    /// }
    /// ```
    pub fn alive(&self) -> u64 {
        self.alive
    }

    /// Returns the sum of a count over the processors, the reliefs' among them.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// assert_eq!(runtime.metrics().sum(|processor| processor.helps), 0);
    /// ```
    pub fn sum(&self, count: impl Fn(&ProcessorMetrics) -> u64) -> u64 {
        self.all().map(count).sum()
    }

    /// The workers' processors, then the reliefs'.
    fn all(&self) -> impl Iterator<Item = &ProcessorMetrics> {
        self.processors.iter().chain(&self.reliefs)
    }
}

/// A row of the table: its label, and what it shows of a processor.
type Row = (&'static str, fn(&ProcessorMetrics) -> String);

/// The rows, in the order of a reader's questions: how much work was done, what waits, what moved
/// work, which processors slept.
const ROWS: [Row; 41] = [
    ("polls", |p| p.polls.to_string()),
    ("spawned", |p| p.spawned.to_string()),
    ("completed", |p| p.completed.to_string()),
    ("ready now", |p| p.ready.to_string()),
    ("age of the head", |p| format!("{:.1?}", p.head_age)),
    ("longest wait", |p| format!("{:.1?}", p.longest_wait)),
    ("longest batch", |p| format!("{:.1?}", p.longest_batch)),
    ("wakes, local", |p| p.wakes_local.to_string()),
    ("wakes, outside", |p| p.wakes_outside.to_string()),
    ("hand-overs asked", |p| p.handovers_asked.to_string()),
    ("hand-overs given", |p| p.handovers_given.to_string()),
    ("heavy fences", |p| p.heavy_fences.to_string()),
    ("helps", |p| p.helps.to_string()),
    ("steals", |p| p.steals.to_string()),
    ("jobs stolen", |p| p.jobs_stolen.to_string()),
    ("splits undone", |p| p.splits_undone.to_string()),
    ("tasks migrated here", |p| p.migrations.to_string()),
    ("hops to objects", |p| p.hops.to_string()),
    ("searches", |p| p.searches.to_string()),
    ("sleeps", |p| p.sleeps.to_string()),
    ("watches", |p| p.watches.to_string()),
    ("wake-ups", |p| p.wake_ups.to_string()),
    ("timers armed", |p| p.timers_armed.to_string()),
    ("timers fired", |p| p.timers_fired.to_string()),
    ("timers cancelled", |p| p.timers_cancelled.to_string()),
    ("timers moved down", |p| p.timers_moved.to_string()),
    ("fired for others", |p| p.timers_fired_for_others.to_string()),
    ("moves", |p| p.moves.to_string()),
    ("stalls", |p| p.stalls.to_string()),
    ("execution", |p| format!("{:.1?}", p.times.execution.total())),
    ("scheduling", |p| format!("{:.1?}", p.times.scheduling.total())),
    ("searching", |p| format!("{:.1?}", p.times.searching)),
    ("asleep", |p| format!("{:.1?}", p.times.asleep)),
    ("steals, same cache", |p| steals(p, |distance| distance <= Distance::SharedLlc)),
    ("steals, farther", |p| steals(p, |distance| distance > Distance::SharedLlc)),
    ("sockets now", |p| p.sockets.open.to_string()),
    ("sockets moved here", |p| p.sockets.moved.to_string()),
    ("accepted", |p| p.sockets.accepted.to_string()),
    ("looks at sockets", |p| p.sockets.looks.to_string()),
    ("ready sockets found", |p| p.sockets.notes.to_string()),
    ("found to polled, p99", |p| format!("{:.1?}", p.sockets.delays.at(0.99))),
];

fn steals(processor: &ProcessorMetrics, at: fn(Distance) -> bool) -> String {
    let steals = processor.times.steals.iter().filter(|&(distance, _)| at(distance));
    steals.map(|(_, count)| count).sum::<u64>().to_string()
}

impl fmt::Display for RuntimeMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} processors, {} asleep, {} searching; {} spawned from outside; \
             {} blocking threads, {} closures waiting",
            self.processors.len(),
            self.sleeping,
            self.searching,
            self.spawned_outside,
            self.blocking_threads,
            self.blocking_waiting
        )?;
        write!(f, "{:<22}", "processor")?;
        for index in 0..self.processors.len() {
            write!(f, "{index:>14}")?;
        }
        for index in 0..self.reliefs.len() {
            write!(f, "{:>14}", format!("relief {index}"))?;
        }
        for (label, show) in ROWS {
            write!(f, "\n{label:<22}")?;
            for processor in self.all() {
                write!(f, "{:>14}", show(processor))?;
            }
        }
        Ok(())
    }
}
