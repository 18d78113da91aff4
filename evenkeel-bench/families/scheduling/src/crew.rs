//! The tasks of one run: they start together, count separately and end together.
//!
//! **Roles.** The *controller* is the thread that measures; it sleeps while the tasks run. Each
//! task has a [`Meter`], which counts its operations in the task's own memory and reads the shared
//! phase once per operation. Nothing shared is written while time is measured.
//!
//! **Phases.** `GATHER`: tasks report that they have started, and yield. `WARM`: they work, and the
//! scheduler settles. `MEASURE`: they work. `STOP`: each ends when it next reads the phase. The
//! measured time is the controller's, from setting `MEASURE` to setting `STOP`.
//!
//! **What counts.** An operation is measured if it was complete within the measured time: after
//! each, its task reads the phase, which is then `MEASURE`. So the operation under way at the
//! beginning counts, and the one under way at the stop does not: over many tasks they balance.
//! Programs in other languages count by the same rule.

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

/// The longest time for tasks to start or to end. The slowest honest runtime needs milliseconds;
/// this is far beyond any delay of a loaded machine.
const LIMIT: Duration = Duration::from_secs(10);

/// How often the controller checks whether all have started or ended.
const LOOK: Duration = Duration::from_micros(200);

/// The longest warm-up: a scheduler settles within milliseconds.
const WARM_UP: Duration = Duration::from_millis(30);

/// Returns the warm-up before a measured time.
pub fn warm_up(time: Duration) -> Duration {
    WARM_UP.min(time / 10)
}

/// State of the controller and the tasks. It begins in `GATHER`.
#[derive(Default)]
pub(super) struct Gate {
    phase: CachePadded<AtomicU32>,
    ready: CachePadded<AtomicUsize>,
    ended: CachePadded<AtomicUsize>,
}

/// A task's part in the run. Dropping it reports the task's end.
pub struct Meter {
    gate: Arc<Gate>,
    phase: u32,
    tally: Tally,
    /// The count when the measured time began.
    mark: u64,
}

/// The work of one task.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Operations from the task's first to its last, which ends after the stop.
    pub total: u64,
    /// Operations that were complete within the measured time; 0 until the task has seen its end.
    pub measured: u64,
}

impl Meter {
    pub(super) fn new(gate: Arc<Gate>) -> Meter {
        Meter { gate, phase: WARM, tally: Tally::default(), mark: 0 }
    }

    /// Reports that the task has started, and waits until all have.
    pub async fn gather<R: Runtime>(&mut self) {
        self.report();
        // Acquire: from here on, each task sees what all tasks did before they reported.
        while self.gate.phase.load(Ordering::Acquire) == GATHER {
            R::yield_now().await;
        }
    }

    /// Reports that the task has started. For tasks that wait for others in their first step: they
    /// take it at once, so that the others find them waiting.
    pub fn report(&mut self) {
        self.gate.ready.fetch_add(1, Ordering::Release);
    }

    /// Counts complete operations, and returns whether to go on.
    #[inline]
    pub fn count(&mut self, ops: u64) -> bool {
        let now = self.gate.phase.load(Ordering::Relaxed);
        if now != self.phase {
            self.turn(now);
        }
        self.tally.total += ops;
        now != STOP
    }

    /// Whether the run is over.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.gate.phase.load(Ordering::Relaxed) == STOP
    }

    /// Records what was complete when the task saw the new phase. The operation just completed is
    /// not yet in the count.
    #[cold]
    fn turn(&mut self, now: u32) {
        match (self.phase, now) {
            (_, MEASURE) => self.mark = self.tally.total,
            (MEASURE, STOP) => self.tally.measured = self.tally.total - self.mark,
            // A task that never saw `MEASURE` spent all of it in one operation.
            _ => {}
        }
        self.phase = now;
    }

    /// Returns the task's work.
    pub fn tally(&self) -> Tally {
        self.tally
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.gate.ended.fetch_add(1, Ordering::Release);
    }
}

/// The controller's part of a run. The runtime outlives it.
pub struct Crew<'r, R, J> {
    gate: Arc<Gate>,
    tasks: Vec<J>,
    runtime: &'r R,
}

/// Starts a runtime with the processors of the case.
pub(super) fn start<R: Runtime>(spec: &Spec) -> Result<R, Fault> {
    R::start(spec.procs).map_err(Fault::Start)
}

/// Spawns the tasks from within the runtime, as a program spawns its own. `make` receives each
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
    let gate = Arc::<Gate>::default();
    let shared = gate.clone();
    let root = async move {
        let task = |number| R::spawn(make(number, Meter::new(shared.clone())));
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
    /// Makes a whole run: start, warm-up, measured time, stop. `release` then wakes the tasks whose
    /// waits would never end.
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

    /// Lets the tasks work, without a measured time, once all have started.
    pub fn begin(&self) -> Result<(), Fault> {
        let tasks = self.tasks.len();
        let ready = wait_for(&self.gate.ready, tasks);
        if ready < tasks {
            return Err(Fault::Asleep { ready, tasks, after: LIMIT });
        }
        self.gate.phase.store(WARM, Ordering::Release);
        Ok(())
    }

    /// Begins the measured time, and returns its beginning.
    pub fn mark(&self) -> Instant {
        let started = Instant::now();
        self.gate.phase.store(MEASURE, Ordering::Relaxed);
        started
    }

    /// Stops the tasks and collects their results.
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

/// Waits until the count reaches the goal or the limit is over, and returns the count.
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

/// Adds the tallies up, and checks that every task has run.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A task that counts one operation in each of these phases.
    fn counted(phases: &[u32]) -> (Tally, bool) {
        let gate = Arc::<Gate>::default();
        let mut meter = Meter::new(gate.clone());
        let mut more = true;
        for &phase in phases {
            gate.phase.store(phase, Ordering::Relaxed);
            more = meter.count(1);
        }
        (meter.tally(), more)
    }

    #[test]
    fn operations_that_were_complete_within_the_measured_time_are_measured() {
        let (tally, more) = counted(&[WARM, WARM, MEASURE, MEASURE, MEASURE, STOP]);
        assert_eq!((tally.total, tally.measured, more), (6, 3, false));
    }

    #[test]
    fn an_operation_that_lasts_beyond_the_measured_time_is_not_measured() {
        for phases in [&[STOP][..], &[WARM, STOP], &[WARM, WARM, STOP]] {
            let (tally, more) = counted(phases);
            assert_eq!((tally.total, tally.measured), (phases.len() as u64, 0));
            assert!(!more);
        }
        let (tally, more) = counted(&[MEASURE, STOP]);
        assert_eq!((tally.total, tally.measured, more), (2, 1, false));
    }

    #[test]
    fn what_lies_outside_of_the_measured_time_is_not_in_the_outcome() {
        let long = Tally { total: 1, measured: 0 };
        let busy = Tally { total: 9, measured: 7 };
        assert_eq!(outcome(&[long, busy], Duration::from_secs(1)).unwrap().ops, 7);
        assert_eq!(outcome(&[long; 3], Duration::from_secs(1)).unwrap().ops, 0);
        outcome(&[busy, Tally::default()], Duration::from_secs(1)).unwrap_err();
    }
}
