//! The state that all threads of a runtime share.

use super::blocking::{Blocking, DEFAULT_THREADS};
use super::driving::Driving;
use super::errands::Errands;
use super::neighbours::Neighbours;
use super::spares::Spares;
use super::{Processor, Row};
use crate::deque::runners::Runners;
use crate::detect::DeadlockHook;
use crate::idle::Idle;
use crate::policy::Locality;
use crate::primitives::affinity::Affinity;
use crate::primitives::atomic::{AtomicU8, AtomicU64, AtomicUsize, Edge, Ordering, edge};
use crate::primitives::misses::Misses;
use crate::primitives::{Condvar, Mutex, fence, lock};
use crate::raw_task::report::{PanicHook, TaskInfo};
use crate::timers::Rules;
use crate::timers::clock::Clock;
use crate::topology::Distance;
use crate::travel::Sent;
use crossbeam_utils::CachePadded;
use std::any::Any;
use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock, Weak};

/// The bit that closes the scheduler to tasks from outside.
const CLOSED: u64 = 1 << (u64::BITS - 1);

/// The phase of a runtime's life. Phases only ever go up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Any thread may spawn.
    Running,
    /// Only tasks may spawn; the runtime ends when all are complete.
    Draining,
    /// All tasks are aborted, and each new one is.
    Aborting,
    /// All tasks are complete; the workers leave.
    Over,
}

/// A callback with a worker's number.
pub(crate) type WorkerHook = Arc<dyn Fn(usize) + Send + Sync>;

/// A callback for the panic payload of a detached job.
pub(crate) type JobPanicHook = Arc<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;

/// A callback for long polls. It neither blocks nor runs a caller's code.
pub(crate) type StallHook = Arc<dyn Fn(&Arc<Shared>, Stalled) + Send + Sync>;

/// A processor that the lookout has found inside a long poll.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stalled {
    pub(crate) processor: usize,
    /// Its count of polls, which changes when the poll is over.
    pub(crate) polls: u64,
    /// When the lookout first saw it inside the poll.
    pub(crate) since: u64,
    /// Whether its thread waits inside a system call.
    pub(crate) is_blocked: bool,
}

/// Starts the thread of the processor with this number, which is a relief's or a spare's, or that
/// of the lookout, which has none. Returns false if the system refuses the thread.
pub(crate) struct Starter(pub(crate) Box<dyn Fn(Arc<Shared>, usize) -> bool + Send + Sync>);

impl fmt::Debug for Starter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Starter").finish_non_exhaustive()
    }
}

/// The settings of the threads of a runtime other than workers.
#[derive(Clone)]
pub(crate) struct Threads {
    /// The runtime's name, with which the threads' names begin.
    pub(crate) name: String,
    /// Bytes of a stack, if the runtime's builder set them.
    pub(crate) stack_size: Option<usize>,
    /// The most threads for closures that block.
    pub(crate) blocking: usize,
    /// Where threads may run that are not workers: where the thread may that has made the builder.
    affinity: Affinity,
}

impl Default for Threads {
    fn default() -> Self {
        Self {
            name: "evenkeel".to_owned(),
            stack_size: None,
            blocking: DEFAULT_THREADS,
            affinity: Affinity::of_caller(),
        }
    }
}

/// The builder's settings that the runtime needs later.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) threads: Threads,
    /// Whether workers [keep apart](crate::scheduler::crowding).
    pub(crate) keep_apart: bool,
    /// Whether its only worker chooses tasks by a [seed](crate::scheduler::interleave).
    pub(crate) deterministic: bool,
    pub(crate) worker_start: Option<WorkerHook>,
    pub(crate) worker_stop: Option<WorkerHook>,
    pub(crate) task_panic: Option<PanicHook>,
    pub(crate) job_panic: Option<JobPanicHook>,
    pub(crate) deadlock: Option<DeadlockHook>,
    pub(crate) stall: Option<StallHook>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}

/// The scheduler of one runtime.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The processors of the workers, then those of the [reliefs](crate::scheduler::relief) that
    /// have been needed.
    pub(crate) processors: Arc<Row>,
    /// The number of workers.
    pub(crate) workers: usize,
    /// Starts the thread of a relief.
    pub(crate) relief_starter: OnceLock<Starter>,
    /// Starts the thread of the [lookout](crate::scheduler::lookout).
    pub(crate) lookout_starter: OnceLock<Starter>,
    pub(crate) spare_starter: OnceLock<Starter>,
    /// Which thread drives a current-thread runtime; none in one with worker threads.
    pub(crate) driving: OnceLock<Driving>,
    neighbours: Box<[Neighbours]>,
    pub(crate) idle: Idle,
    /// The policy that keeps fork-join jobs near their data.
    pub(crate) locality: Locality,
    /// The workers that last ran the parts of recursions.
    pub(crate) runners: Runners,
    pub(crate) hooks: Hooks,
    /// The clock of the runtime's timers.
    pub(crate) clock: Arc<Clock>,
    /// Its own address.
    pub(super) me: Weak<Self>,
    rules: Rules,
    /// On a cache line of its own: every worker looks at it once per batch.
    pub(crate) errands: CachePadded<Errands>,
    /// Threads that run errands while workers wait.
    pub(crate) spares: Spares,
    /// Blocking closures.
    pub(crate) blocking: CachePadded<Blocking>,
    /// The cache misses of the runtime's threads; none if the runtime did not start them.
    pub(crate) misses: OnceLock<Misses>,
    /// A value that a room above keeps for the runtime: the classes of its objects.
    pub(crate) kept: OnceLock<Box<dyn Any + Send + Sync>>,
    /// The number of classes with objects that tasks enter elsewhere than in place. An entry reads
    /// it, and if it is zero needs nothing else of its class, which lies behind the object's own
    /// cache line. A class without objects still counts: entries into other objects then take 1 ns
    /// longer.
    elsewhere: CachePadded<AtomicUsize>,
    /// Counts the events that make notes of where objects [were](crate::travel::whereabouts) wrong
    /// in general. On a cache line of its own: an entry reads it if its worker has notes.
    pub(crate) moves: CachePadded<AtomicU64>,
    /// The workers that have stopped running work. Held by a thread that leaves each worker its
    /// part of a [broadcast](crate::scheduler::broadcast).
    pub(crate) gone: Mutex<Box<[bool]>>,
    /// Counts spawns from outside, which go to the processors in turn, and blocking closures; with
    /// [`CLOSED`] once the runtime is over.
    outside_spawns: AtomicU64,
    /// The part of them that have a home.
    pub(crate) outside_adopted: AtomicU64,
    /// Tasks of processors' registries that reapers have cancelled.
    pub(crate) reaped: AtomicU64,
    /// Complete blocking closures.
    outside_completed: AtomicU64,
    phase: AtomicU8,
    /// The progress of the runtime's end.
    end: Mutex<Ending>,
    ended: Condvar,
}

/// The progress of the runtime's end.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    /// Workers, and the reliefs and the lookout that have been started.
    pub(crate) threads: usize,
    /// The threads that have left.
    pub(crate) left: usize,
    /// Reliefs and the lookout that have not left.
    pub(crate) helpers: usize,
    /// Tasks that were not complete when they were aborted.
    pub(crate) aborted: Vec<TaskInfo>,
    /// Whether the thread that shuts the runtime down leaves stuck workers behind. A thread that
    /// queues a task from then on cancels it.
    pub(crate) is_left_behind: bool,
}

impl Shared {
    /// Makes a scheduler with a worker for each entry of `neighbours`, and at most `reliefs`
    /// reliefs.
    pub(crate) fn new(
        neighbours: Box<[Neighbours]>,
        locality: Locality,
        hooks: Hooks,
        reliefs: usize,
        rules: Rules,
    ) -> Arc<Self> {
        let workers = neighbours.len();
        let blocking = hooks.threads.blocking;
        let processors = Row::new(workers + reliefs);
        let shared = Arc::new_cyclic(|shared| Self {
            workers,
            relief_starter: OnceLock::new(),
            lookout_starter: OnceLock::new(),
            spare_starter: OnceLock::new(),
            driving: OnceLock::new(),
            neighbours,
            idle: Idle::new(workers, reliefs),
            locality,
            runners: Runners::new(),
            hooks,
            clock: rules.clock.clone(),
            errands: CachePadded::default(),
            spares: Spares::new(processors.capacity(), workers, rules.clone()),
            blocking: CachePadded::new(Blocking::new(blocking)),
            misses: OnceLock::new(),
            kept: OnceLock::new(),
            elsewhere: CachePadded::new(AtomicUsize::new(0)),
            moves: CachePadded::new(AtomicU64::new(0)),
            gone: Mutex::new(vec![false; workers].into_boxed_slice()),
            outside_spawns: AtomicU64::new(0),
            outside_adopted: AtomicU64::new(0),
            reaped: AtomicU64::new(0),
            outside_completed: AtomicU64::new(0),
            phase: AtomicU8::new(Phase::Running as u8),
            end: Mutex::new(Ending { threads: workers, ..Ending::default() }),
            ended: Condvar::new(),
            me: shared.clone(),
            rules,
            processors: Arc::new(processors),
        });
        shared.make_processors(workers);
        shared
    }

    /// Makes processors until there are `count`.
    pub(crate) fn make_processors(&self, count: usize) {
        let capacity = self.processors.capacity();
        self.processors.grow(count, |number| {
            let has_worker = number < self.workers;
            // Tasks travel to workers alone.
            let senders = if has_worker { capacity } else { 0 };
            Processor::new(self.me.clone(), senders, has_worker, self.rules.clone())
        });
    }

    /// Returns the machine as worker `me` sees it; none if it is no worker, and has no place there.
    #[inline]
    pub(crate) fn neighbours(&self, me: usize) -> Option<&Neighbours> {
        self.neighbours.get(me)
    }

    /// Returns the other workers, the nearest first.
    #[inline]
    pub(crate) fn other_workers(&self, me: usize) -> impl Iterator<Item = usize> {
        let (others, all) = match self.neighbours.get(me) {
            Some(neighbours) => (&*neighbours.others, 0..0),
            None => (&[][..], 0..self.workers),
        };
        others.iter().copied().chain(all)
    }

    /// Returns the other reliefs that have been needed, on duty or not.
    #[inline]
    pub(crate) fn other_reliefs(&self, me: usize) -> impl Iterator<Item = usize> {
        let end = if self.idle.is_up() { self.processors.len() } else { self.workers };
        (self.workers..end).filter(move |&relief| relief != me)
    }

    /// Returns the address of processor `index`, as the header of a task keeps it.
    pub(crate) fn home(&self, index: usize) -> *const () {
        std::ptr::from_ref(&self.processors[index]).cast()
    }

    /// Returns a processor by its number: a worker's, a relief's, or that of a
    /// [spare](crate::scheduler::spare).
    #[inline]
    pub(crate) fn processor(&self, index: usize) -> &Processor {
        match self.processors.get(index) {
            Some(processor) => processor,
            None => self.spares.processor(index),
        }
    }

    /// Returns the processors beside `me` that may have fork-join jobs: the nearest first, the
    /// spares' last.
    pub(crate) fn hosts(&self, me: usize) -> impl Iterator<Item = usize> {
        self.other_workers(me).chain(self.spares.numbers().filter(move |&spare| spare != me))
    }

    /// Returns the distance of processor `other` from processor `me`.
    pub(crate) fn distance(&self, me: usize, other: usize) -> Distance {
        match self.neighbours.get(me) {
            Some(neighbours) if other < self.workers => neighbours.distance(other),
            _ => Distance::Remote,
        }
    }

    /// Unparks the thread of a worker, a relief or a spare, for whatever reason it is parked.
    pub(crate) fn unpark(&self, index: usize) {
        if index < self.processors.capacity() {
            self.idle.unpark(index);
        } else {
            self.spares.unpark(index);
        }
    }

    /// Returns whether all workers are away, in a runtime without reliefs too.
    pub(crate) fn are_all_away(&self) -> bool {
        (0..self.workers).all(|worker| self.is_away(worker))
    }

    /// Returns whether the worker of processor `index` is away or stuck, as far as is
    /// known.
    pub(crate) fn is_away(&self, index: usize) -> bool {
        self.processors[index].absence.is_away()
    }

    /// Returns whether tasks enter the objects of any class elsewhere than in place.
    #[inline(always)]
    pub(crate) fn is_anything_elsewhere(&self) -> bool {
        self.elsewhere.load(Ordering::Relaxed) > 0
    }

    /// Counts a class in or out of those with objects that tasks enter elsewhere than in place.
    pub(crate) fn note_elsewhere(&self, is_so: bool) {
        self.elsewhere.fetch_add(if is_so { 1 } else { usize::MAX }, Ordering::Relaxed);
    }

    /// Makes the notes of all workers of where objects [were](crate::travel::whereabouts) stale: an
    /// object has a new home, or tasks do not enter it at home.
    pub(crate) fn forget_whereabouts(&self) {
        self.moves.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the phase. A thread that sees a later phase sees what came before the shutdown, and
    /// of a runtime that is over, what its tasks have done.
    #[inline(always)]
    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Running,
            1 => Phase::Draining,
            2 => Phase::Aborting,
            _ => Phase::Over,
        }
    }

    /// Advances to `phase`, unless the runtime has reached it, and wakes all threads to look.
    pub(crate) fn advance(&self, phase: Phase) {
        if self.phase.fetch_max(phase as u8, Ordering::AcqRel) < phase as u8 {
            fence::full(Edge::IdlePush);
            if phase == Phase::Over {
                self.idle.close_sets();
                // All tasks are complete: only threads outside the runtime can still wait for
                // timers.
                self.processors.iter().for_each(|processor| processor.timers.close());
            }
            self.idle.wake_all();
            self.spares.unpark_all();
        }
    }

    /// Closes the scheduler to spawns from outside if every task and closure that was ever spawned
    /// is complete. Returns true if it is closed: then no task is left, and none ever comes again.
    ///
    /// Each processor counts spawned and completed tasks; spawns from outside have a count of their
    /// own. All that is complete, taken back by its home or not sent there, is read before any
    /// `spawned`. Both only grow, and the first never exceeds `spawned`, so if the two readings
    /// agree, the sums agreed at the moment between them (Mattern, "Algorithms for distributed
    /// termination detection", 1987). From that moment on a task can only come from outside, and
    /// its spawner counts it first ([`enter_outside`](Self::enter_outside)). So a compare-and-swap
    /// from the value that was read closes that count: it fails if a task has come in between, and
    /// a later spawner finds the count closed.
    ///
    /// Counts of complete tasks and closures release, and are acquired here. So a reading of them
    /// comes before the readings of what was spawned, and sees what those tasks have spawned. The
    /// count of spawns from outside passes the phase on: a sender that is refused has synchronised
    /// with the thread that has closed the count. So the owner of a scope that the sender wakes
    /// sees that the runtime shuts down, and takes its own jobs.
    pub(crate) fn close_if_complete(&self) -> bool {
        let sum = |count: fn(&Processor) -> u64| self.processors.iter().map(count).sum::<u64>();
        let completed = sum(|processor| processor.counters.completed.get_ordered())
            + sum(|processor| processor.counters.taken_back.get_ordered())
            + self.outside_completed.load(edge(Edge::OutsideRead, Ordering::Acquire));
        let outside = self.outside_spawns.load(Ordering::Acquire);
        if outside & CLOSED != 0 {
            return true;
        }
        let spawned = sum(|processor| processor.counters.spawned.get_ordered());
        completed == spawned + outside
            && self
                .outside_spawns
                .compare_exchange(outside, outside | CLOSED, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
    }

    /// Counts a task that is about to come from outside, and returns the number of those before it.
    /// Returns `None` if the scheduler is closed.
    pub(crate) fn enter_outside(&self) -> Option<u64> {
        let before = self.outside_spawns.fetch_add(1, Ordering::AcqRel);
        (before & CLOSED == 0).then_some(before)
    }

    /// Counts `count` jobs that are detached, or that only one worker may run, or blocking
    /// closures: the runtime is not over before each has been [noted
    /// complete](Self::note_completed_outside). Returns false if the scheduler is closed.
    pub(crate) fn enter_jobs(&self, count: usize) -> bool {
        let count = count as u64;
        let before = self.outside_spawns.fetch_add(count, Ordering::AcqRel);
        self.outside_adopted.fetch_add(count, Ordering::Relaxed);
        before & CLOSED == 0
    }

    /// Returns the number of tasks and closures that have come from outside.
    pub(crate) fn spawned_outside(&self) -> u64 {
        self.outside_spawns.load(Ordering::Relaxed) & !CLOSED
    }

    /// Returns the number of complete ones among them that no processor counts.
    pub(crate) fn completed_outside(&self) -> u64 {
        self.outside_completed.load(Ordering::Acquire)
    }

    /// Returns the number of complete tasks that were last polled elsewhere than at their homes, or
    /// cancelled there, and whether their homes have taken them back: in all, and by now.
    pub(crate) fn completed_elsewhere(&self) -> (u64, u64) {
        let sum = |count: fn(&Processor) -> u64| self.processors.iter().map(count).sum::<u64>();
        let taken_back = sum(|processor| processor.counters.taken_back.get());
        let returned = sum(|processor| processor.counters.returned.get_ordered());
        (returned + self.reaped.load(Ordering::Acquire), taken_back)
    }

    /// Returns the number of complete tasks of processors' registries. Each is counted where it has
    /// ended, and so once, whether its home has taken it back or not. What is read later sees the
    /// spawns of all of them.
    pub(crate) fn completed_inside(&self) -> u64 {
        let completed = |processor: &Processor| processor.counters.completed.get_ordered();
        let at_home = self.processors.iter().map(completed);
        at_home.sum::<u64>() + self.completed_elsewhere().0
    }

    /// Counts a complete blocking closure.
    pub(crate) fn note_completed_outside(&self) {
        self.outside_completed.fetch_add(1, edge(Edge::OutsideComplete, Ordering::Release));
        fence::after_read_modify_write(Edge::IdlePush);
        if self.phase() > Phase::Running {
            // It may have been the last one that the workers wait for.
            self.idle.wake_all();
        }
    }

    /// Records a task that is cancelled because the runtime ends.
    pub(crate) fn note_aborted(&self, task: TaskInfo) {
        lock(&self.end).aborted.push(task);
    }

    /// Counts a relief or the lookout, which is about to be started. Returns false if the runtime
    /// is over.
    pub(crate) fn note_start(&self) -> bool {
        let mut end = lock(&self.end);
        // The thread that shuts the runtime down sees under this lock that all threads have left,
        // and they leave only once the runtime is over.
        let running = self.phase() < Phase::Over;
        end.threads += usize::from(running);
        end.helpers += usize::from(running);
        running
    }

    /// Counts a worker that has left, or another thread that has.
    pub(crate) fn note_left(&self, is_worker: bool) {
        let mut end = lock(&self.end);
        end.left += 1;
        end.helpers -= usize::from(!is_worker);
        // Threads that wait for the end wait for the last of them.
        let is_last = end.left == end.threads;
        drop(end);
        if is_last {
            self.ended.notify_all();
        }
    }

    /// Returns the progress of the runtime's end, locked.
    pub(crate) fn ending(&self) -> crate::primitives::MutexGuard<'_, Ending> {
        lock(&self.end)
    }

    /// Returns whether the sender has to tell processor `target` of tasks that have come to it,
    /// because it may be asleep or away.
    #[inline]
    pub(crate) fn has_to_tell(&self, target: usize, sent: Sent) -> bool {
        match sent {
            Sent::Nothing => false,
            Sent::InLines => self.idle.is_pusher_to_look() || self.is_away(target),
            Sent::Beside => true,
        }
    }

    /// Starts a thread of the runtime with this role. Which thread calls makes no difference: a
    /// pinned worker's child is not pinned.
    pub(crate) fn start_thread(
        &self,
        role: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<std::thread::JoinHandle<()>> {
        let Threads { name, stack_size, affinity, .. } = &self.hooks.threads;
        let mut builder = std::thread::Builder::new().name(format!("{name}-{role}"));
        if let Some(size) = *stack_size {
            builder = builder.stack_size(size);
        }
        let affinity = affinity.clone();
        builder.spawn(move || {
            affinity.apply();
            work();
        })
    }

    /// Returns where threads may run that are not workers.
    #[cfg(all(feature = "signal", unix, not(any(loom, shuttle))))]
    pub(crate) fn affinity(&self) -> &Affinity {
        &self.hooks.threads.affinity
    }

    /// Returns the condition variable that notifies when the last thread of
    /// [`ending`](Self::ending) has left.
    pub(crate) fn ended(&self) -> &Condvar {
        &self.ended
    }
}
