//! The tasks of one run: they start together, count for themselves and end together.
//!
//! **Roles.** The *controller* is the thread that measures; it sleeps while the tasks run. Each
//! task has a [`Meter`], which counts its operations in the task's own memory and reads the shared
//! phase once per operation. Nothing shared is written while time is measured.
//!
//! **Phases.** `GATHER`: tasks report that they are there and yield. `WARM`: they work, and the
//! scheduler settles. `MEASURE`: they work, and each notes its count when it first sees the phase.
//! `STOP`: each ends at its next look. The measured time is the controller's, from setting
//! `MEASURE` to setting `STOP`; at both ends a task may be off by the operation it is in.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use super::{Outcome, Spec};
use suite::kit::fault::Fault;
use suite::kit::runtime::{Lost, Runtime};

const GATHER: u32 = 0;
const WARM: u32 = 1;
const MEASURE: u32 = 2;
const STOP: u32 = 3;

/// How long tasks may take to start or to end. The slowest honest runtime needs milliseconds; this
/// is far beyond any delay that a loaded machine adds.
const LIMIT: Duration = Duration::from_secs(10);

/// How often the controller looks whether all have started or ended.
const LOOK: Duration = Duration::from_micros(200);

/// The longest warm-up: a scheduler has settled after some milliseconds.
const WARM_UP: Duration = Duration::from_millis(30);

/// How long to warm up before a measured time.
pub fn warm_up(time: Duration) -> Duration {
    WARM_UP.min(time / 10)
}

/// What the controller and the tasks share.
struct Gate {
    phase: CachePadded<AtomicU32>,
    ready: CachePadded<AtomicUsize>,
    ended: CachePadded<AtomicUsize>,
}

/// A task's part in the run. Dropping it reports the task's end.
pub struct Meter {
    gate: Arc<Gate>,
    phase: u32,
    total: u64,
    /// The count when the measured time began.
    mark: u64,
}

/// What a task did.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Operations from the task's first to its last.
    pub total: u64,
    /// Operations in the measured time.
    pub measured: u64,
}

impl Meter {
    /// Reports that the task is there, and waits until all are.
    pub async fn gather<R: Runtime>(&mut self) {
        self.report();
        // Acquire: what tasks have set up before they reported is visible to all from here on.
        while self.gate.phase.load(Ordering::Acquire) == GATHER {
            R::yield_now().await;
        }
    }

    /// Reports that the task is there. For tasks whose first step is to wait for others: they take
    /// it at once, so that the others find them waiting.
    pub fn report(&mut self) {
        self.gate.ready.fetch_add(1, Ordering::Release);
    }

    /// Counts operations that are complete, and says whether there should be more.
    #[inline]
    pub fn count(&mut self, ops: u64) -> bool {
        let now = self.gate.phase.load(Ordering::Relaxed);
        if now != self.phase {
            self.turn(now);
        }
        self.total += ops;
        now != STOP
    }

    /// Whether the run is over.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.gate.phase.load(Ordering::Relaxed) == STOP
    }

    #[cold]
    fn turn(&mut self, now: u32) {
        // A task that goes from `WARM` to `STOP` has done nothing in between.
        if self.phase == WARM {
            self.mark = self.total;
        }
        self.phase = now;
    }

    /// What the task did.
    pub fn tally(&self) -> Tally {
        Tally { total: self.total, measured: self.total - self.mark }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.gate.ended.fetch_add(1, Ordering::Release);
    }
}

/// The controller's side of a run. The runtime outlives it.
pub struct Crew<'r, R, J> {
    gate: Arc<Gate>,
    tasks: Vec<J>,
    runtime: &'r R,
}

/// Starts a runtime with the processors that are asked for.
pub(super) fn start<R: Runtime>(spec: &Spec) -> Result<R, Fault> {
    R::start(spec.procs).map_err(Fault::Start)
}

/// Spawns the tasks from within the runtime, as a program's own tasks would be. `make` gets each
/// task's number and meter.
pub fn muster<R, M, F>(
    runtime: &R,
    tasks: usize,
    mut make: M,
) -> Result<Crew<'_, R, impl Future<Output = Result<F::Output, Lost>>>, Fault>
where
    R: Runtime,
    M: FnMut(usize, Meter) -> F + Send + 'static,
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let gate = Arc::new(Gate {
        phase: CachePadded::new(AtomicU32::new(GATHER)),
        ready: CachePadded::default(),
        ended: CachePadded::default(),
    });
    let shared = gate.clone();
    let root = async move {
        let task = |number| {
            let meter = Meter { gate: shared.clone(), phase: WARM, total: 0, mark: 0 };
            R::spawn(make(number, meter))
        };
        (0..tasks).map(task).collect::<Vec<_>>()
    };
    let tasks = runtime.block_on(async { R::spawn(root).await })?;
    Ok(Crew { gate, tasks, runtime })
}

impl<R, J, T> Crew<'_, R, J>
where
    R: Runtime,
    J: Future<Output = Result<T, Lost>>,
{
    /// Runs the whole of it: start, warm-up, the measured time, stop. `release` then wakes whoever
    /// waits for something that no longer comes.
    pub(super) fn measure(
        self,
        spec: &Spec,
        release: impl FnOnce(),
    ) -> Result<(Vec<T>, Duration), Fault> {
        self.begin()?;
        thread::sleep(warm_up(spec.time));
        let started = self.mark();
        thread::sleep(spec.time);
        let elapsed = started.elapsed();
        Ok((self.end(release)?, elapsed))
    }

    /// Lets the tasks work, without a measured time, once all are there.
    pub fn begin(&self) -> Result<(), Fault> {
        let tasks = self.tasks.len();
        let ready = wait_for(&self.gate.ready, tasks);
        if ready < tasks {
            return Err(Fault::Asleep { ready, tasks, after: LIMIT });
        }
        self.gate.phase.store(WARM, Ordering::Release);
        Ok(())
    }

    /// Begins the measured time, and says when that was.
    pub fn mark(&self) -> Instant {
        let started = Instant::now();
        self.gate.phase.store(MEASURE, Ordering::Relaxed);
        started
    }

    /// Stops the tasks and collects what they leave.
    pub fn end(self, release: impl FnOnce()) -> Result<Vec<T>, Fault> {
        self.gate.phase.store(STOP, Ordering::Release);
        release();
        let tasks = self.tasks.len();
        let ended = wait_for(&self.gate.ended, tasks);
        if ended < tasks {
            return Err(Fault::Stuck { ended, tasks, after: LIMIT });
        }
        let mut left = Vec::with_capacity(tasks);
        self.runtime.block_on(async {
            for task in self.tasks {
                left.push(task.await?);
            }
            Ok(left)
        })
    }
}

/// Waits until the count is reached or the limit is over, and says what the count is.
fn wait_for(count: &AtomicUsize, goal: usize) -> usize {
    let started = Instant::now();
    loop {
        let seen = count.load(Ordering::Acquire);
        if seen >= goal || started.elapsed() > LIMIT {
            return seen;
        }
        thread::sleep(LOOK);
    }
}

/// Adds the tallies up, and checks that no task was left out.
pub(super) fn outcome(tallies: &[Tally], elapsed: Duration) -> Result<Outcome, Fault> {
    if let Some(idle) = tallies.iter().position(|tally| tally.total == 0) {
        return Fault::check(format!(
            "task {idle} of {} ended without an operation",
            tallies.len()
        ));
    }
    let ops = tallies.iter().map(|tally| tally.measured).sum();
    Ok(Outcome { ops, seconds: elapsed.as_secs_f64(), dnc: false, footprint: None })
}
