//! The experiments of C∀'s scheduler on the machines of its thesis, with the runtime's own policy,
//! and beside what this machine makes of them.
//!
//! The suite times what the tasks' steps cost here ([`steps`]), and simulates from that alone: the
//! thesis's machines, and this one with one and with two workers. The latter is measured too, in
//! turns with the steps: the difference says how far the rest is to be believed. That of Yield and
//! of End does not: their prices are timed by nearly the same steps. All figures that are
//! *simulated* say so.

pub(crate) mod claims;
pub(crate) mod record;
pub(crate) mod table;

use std::time::Duration;

use rayon::prelude::*;

use evenkeel_sim::scheduling::{Experiment, Machine, Outcome, Prices, Run, SLEEP, run as simulate};
use record::{Beside, Record};
use scheduling::ends;
use scheduling::sleeps;
use scheduling::steps::{self, Steps};
use scheduling::threads::{self, Threads};
use suite::kit::fault::Fault;
use suite::kit::runtime::evenkeel::Evenkeel;
use suite::{interrupt, regime};

/// The assumptions behind the figures.
pub(crate) const ASSUMPTIONS: [&str; 6] = [
    "What a wake, a poll, a yield, a release, an acquisition, a spawn, an end, a join, a sleep and increments cost is timed on the machine that runs this, and so are what a task does to count an operation, the draw of a semaphore, and a cache line from another core. The thesis's machines get the \
     same prices: their clocks are not accounted for. Those of one worker and of several are timed in the same rounds, so that the machine is as fast in both. A yield is timed by \
     a task for each worker that does nothing else, which is Yield with fewer tasks, and what a task adds to an end by ends of other numbers of tasks: that both come out as measured says little of the simulation.",
    "A task counts as one cache line, and so do a semaphore and an array: lines side by side come together. A wake, a poll or a release takes it from the worker that had it last. Beyond the last-level cache a line takes 2.65 times as long: \
     as CoreTime's 336 cycles for the farthest memory to its 127 for another core of the chip. On the AMD machine this holds for a cache of the same package too, as the thesis says.",
    "Two threads of a core that are both awake take 1.6 times as long each: a gain of a quarter by the second one. The thesis does not say.",
    "The workers decide by the runtime's own policy: batches, help, steals, wakes, sleeps. They keep no tasks for cheap wakes. Where quick tasks do better on one processor than on two they bring them together, but not before 10 ms: with one and two workers, which are simulated for as long as they are measured. \
     The runs on the thesis's machines are shorter: the first milliseconds of a runtime, before any tasks are brought together. The verdicts on Cycle and Churn rest on that.",
    "Bandwidth has no bound, and caches no size. A heavy fence, a call that wakes a thread, and the time until that runs are timed on the machine that runs this, with one other core. The prices are medians of the rounds in which its two cores were near, if they were in any.",
    "1 ms of virtual time is counted after 0.3 ms, of Transfer 6 ms, with as many tasks as in the thesis, which has no Spawn, no Sleep and no End. In Spawn each task spawns one, whose memory its worker uses again, and joins it. In Sleep each sleeps for up to 10 µs by a timer of the finest resolution, so that the workers are never without one; a sleep is timed with one worker, whose clock stands, and a timer fires at the worker that has armed it. In End all tasks wait while the runtime is dropped, which is followed to the join of the last thread; what a task adds to the end of one worker is timed, and so are the end and the join of a thread. Locality has arrays of 2 words with 2 increments, as the suite's.",
];

/// The experiments that are simulated.
pub(crate) const EXPERIMENTS: [Experiment; 10] = [
    Experiment::Cycle,
    Experiment::Yield,
    Experiment::Churn,
    Experiment::Locality { shares: true },
    Experiment::Locality { shares: false },
    Experiment::Spawn,
    Experiment::Sleep,
    Experiment::End,
    Experiment::Transfer { parks: true },
    Experiment::Transfer { parks: false },
];

/// The machines of the thesis, with the numbers of workers at which they are simulated: those at
/// which its placement changes, and some between.
pub(crate) const MACHINES: [(Machine, &[usize]); 2] = [
    (Machine::Intel, &[1, 2, 4, 8, 16, 24, 32, 40, 48, 64, 72, 96, 120, 144, 168, 192]),
    (Machine::Amd, &[1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 160, 192, 224, 256]),
];

/// Tasks for each worker, as in the thesis: many and, but in Transfer, Sleep and End, few. They are
/// rings in Cycle, and those that spawn in Spawn; tasks that push each other out are two at least.
pub(crate) fn tasks(experiment: Experiment) -> &'static [usize] {
    match experiment {
        Experiment::Cycle | Experiment::Yield | Experiment::Spawn => &[100, 1],
        Experiment::Churn | Experiment::Locality { .. } => &[100, 2],
        Experiment::Sleep | Experiment::End | Experiment::Transfer { .. } => &[100],
    }
}

/// Returns whether an experiment is simulated with this many workers. A transfer takes all of them,
/// and its figures at the ends are those that the thesis has.
fn has(machine: Machine, experiment: Experiment, workers: usize) -> bool {
    let ends = [2, 24, 48, 64, 96, 128, machine.threads()];
    !is_transfer(experiment) || ends.contains(&workers)
}

pub(crate) fn is_transfer(experiment: Experiment) -> bool {
    matches!(experiment, Experiment::Transfer { .. })
}

/// Returns the nanoseconds of an operation for each worker; of a transfer those that it takes.
fn nanos(experiment: Experiment, workers: usize, outcome: &Outcome) -> f64 {
    outcome.per_processor(if is_transfer(experiment) { 1 } else { workers })
}

/// A line takes so many times as long beyond the last-level cache.
const FAR: f64 = 336.0 / 127.0;
/// Per cent.
const BESIDE_SIBLING: u64 = 160;

/// How long each experiment is measured, and simulated beside that.
const TIME: Duration = Duration::from_millis(60);

/// What steps cost on the machines that are simulated: one worker, and each of several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probed([Prices; 2]);

impl Probed {
    fn with(&self, workers: usize) -> Prices {
        self.0[usize::from(workers > 1)]
    }
}

/// What steps cost each of the workers, and what they cost one that is alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    pub(crate) each: Prices,
    pub(crate) alone: Prices,
}

/// Times the steps with this many workers, and as many tasks for each as the experiment has.
fn probe(
    experiment: Experiment,
    workers: usize,
    threads: Threads,
    abort: f64,
) -> Result<Timed, Fault> {
    let ring = if experiment == Experiment::Cycle { evenkeel_sim::scheduling::RING } else { 1 };
    let followers = tasks(experiment)[0] * ring;
    let (line, sleep) = (regime::bounce(), sleeps::step(tasks(experiment)[0])?);
    let prices = |steps: Steps| Prices {
        wake: steps.wake,
        poll: steps.poll,
        yields: steps.yields,
        release: steps.release,
        acquire: steps.acquire,
        returned: steps.returned,
        spawn: steps.spawn,
        complete: steps.complete,
        join: steps.join,
        sleep,
        abort,
        touch: steps.touch,
        count: steps.count,
        draw: steps.draw,
        line,
        far: FAR,
        heavy_fence: threads.heavy_fence,
        unpark: threads.unpark,
        unpark_latency: threads.unpark_latency,
        thread_end: threads.end,
        thread_join: threads.join,
        beside_sibling: BESIDE_SIBLING,
    };
    let each = prices(steps::measure::<Evenkeel>(workers, followers)?);
    let mut alone = each;
    if workers > 1 {
        alone = prices(steps::measure::<Evenkeel>(1, followers)?);
    }
    Ok(Timed { each, alone })
}

/// Measures each experiment with one and two workers, in turns with the steps from which it is
/// simulated, for this many rounds.
pub(crate) fn beside(rounds: u64) -> anyhow::Result<Vec<Beside>> {
    let mut all = Vec::new();
    for experiment in EXPERIMENTS {
        let least = if is_transfer(experiment) { 2 } else { 1 };
        for workers in least..=suite::affinity::cores().len().min(2) {
            all.push(Beside::new(experiment, workers));
        }
    }
    for round in 0..rounds {
        let (threads, abort) = (threads::measure(), ends::step(tasks(Experiment::End)[0])?);
        for one in &mut all {
            let timed = probe(one.experiment, one.workers, threads, abort)?;
            let (name, tasks) = (record::name(one.experiment), tasks(one.experiment)[0]);
            let seed = round + 1;
            let measured = match one.experiment {
                Experiment::Sleep => sleeps::once(one.workers, tasks, SLEEP, TIME, seed)?,
                Experiment::End => ends::once(one.workers, tasks)?,
                _ => scheduling::once::<Evenkeel>(name, one.workers, tasks, TIME, seed)?,
            };
            one.add(timed, measured);
            interrupt::check()?;
        }
    }
    // Nothing is measured meanwhile.
    all.par_iter_mut().for_each(Beside::simulate);
    Ok(all)
}

/// Simulates all experiments on all machines, with many and with few tasks, from the median prices
/// of [`beside`]. `workers` are the numbers of workers, as far as a machine has them; if it is
/// empty, those of [`MACHINES`].
///
/// Asks before each schedule whether it goes on. If not, there are no records at all: what is said
/// of the publication is about all of them.
pub(crate) fn run(
    beside: &[Beside],
    workers: &[usize],
    seeds: u64,
    goes_on: impl Fn() -> bool + Sync,
) -> Vec<Record> {
    let mut runs = Vec::new();
    for (machine, usual) in MACHINES {
        let mut counts = if workers.is_empty() { usual } else { workers }.to_vec();
        counts.retain(|&count| count <= machine.threads());
        for experiment in EXPERIMENTS {
            let Some(prices) = record::prices(beside, experiment) else { continue };
            for &tasks in tasks(experiment) {
                for &processors in counts.iter().filter(|&&count| has(machine, experiment, count)) {
                    let prices = prices.with(processors);
                    let run = |seed| Run {
                        experiment,
                        machine,
                        processors,
                        tasks,
                        seed,
                        prices,
                        time: None,
                    };
                    runs.extend((1..=seeds).map(run));
                }
            }
        }
    }
    // Each schedule is a job of its own: one with many workers takes seconds.
    let outcome = |run: &Run| goes_on().then(|| simulate(run));
    let outcomes: Option<Vec<Outcome>> = runs.par_iter().map(outcome).collect();
    let Some(outcomes) = outcomes else { return Vec::new() };
    let of_seeds = seeds as usize;
    let record = |(runs, outcomes): (&[Run], &[Outcome])| {
        let Run { machine, experiment, tasks, processors, .. } = runs[0];
        Record::new(machine, experiment, tasks, processors, outcomes)
    };
    runs.chunks(of_seeds).zip(outcomes.chunks(of_seeds)).map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_simulation_that_does_not_go_on_leaves_no_part_of_it() {
        let mut yields = Beside::new(Experiment::Yield, 1);
        yields.add(Timed { each: Prices::default(), alone: Prices::default() }, 1.0);
        let asked = AtomicBool::new(false);
        let never = || {
            asked.store(true, Ordering::Relaxed);
            false
        };
        assert!(run(&[yields], &[1, 2], 1, never).is_empty());
        assert!(asked.into_inner());
    }
}
