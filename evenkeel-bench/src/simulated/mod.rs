//! The evaluation of the Cilk Locality runtime on a simulated machine: its two schedulers, and
//! those of this runtime.
//!
//! The machine is that of the paper: four packages of eight cores. The machine that runs this suite
//! has few cores and one cache; whether locality pays shows only with several caches. So the
//! workers are simulated, and decide as real workers do, by [`evenkeel_policy`], or as in the
//! paper. All figures are *simulated*, and say so.
//!
//! Each run is a [`Record`] of the suite; [`rows`] reads the four metrics from them, [`table`] lays
//! them out, and [`published`] compares them with the claims of the paper.
//!
//! Every report lists the assumptions, [`ASSUMPTIONS`].

pub(crate) mod claim;
pub(crate) mod coretime;
mod cure;
mod program;
pub(crate) mod published;
mod record;
pub(crate) mod rows;
pub(crate) mod scheduling;
pub(crate) mod table;

use rayon::prelude::*;

use evenkeel_sim::forking::Machine;
pub(crate) use evenkeel_sim::forking::Scheduler;
use forking::program::Program;
pub(crate) use program::Size;
use suite::record::Record;

/// The assumptions behind the figures.
pub(crate) const ASSUMPTIONS: [&str; 6] = [
    "Each core has a cache of 256 KiB, each package one of 16 MiB: those of the processor as a product, as the paper gives none. They are kept by last use in blocks of 8 KiB. What a package's cache \
     drops, its cores drop; a write takes a block from all other caches.",
    "A line of 64 bytes takes 1 ns from the core's cache, 4 from the package's, 8 from the package's memory, 16 from another \
     package. Memory is dealt out to the packages block by block. Bandwidth has no bound, so inflation is understated.",
    "A fork takes 3 ns; a look at another worker's deque 30 ns within the package and 130 beyond; a steal four times as much \
     more; taking jobs from an owner inside a long leaf 10 µs. Workers without work go on looking and do not sleep.",
    "Each program runs four times in a row on the same data. One worker, for speed-up and inflation, does the same.",
    "The sizes of the paper are not known. Small data are half of what the last-level cache of one package holds, medium ones half \
     of what all four hold, large ones four times as much as all four hold.",
    "cilk-random and cilk-restricted are the schedulers of the paper: all jobs are public, and the worker that comes last to a join goes on. A \
     restricted job lies in the deque of the smallest level that holds all that both halves of its fork touch; thieves go round \
     the deques of their package's cache, and then round those of memory. cilk-biased is our own rule in that runtime, with one deque. The \
     others are the runtime's own, with one deque: jobs are public if a thief has asked for them, if they are the first of a stolen job, \
     or if their rule keeps jobs near their data and their halves fill more than a core's cache. How long a biased thief leaves \
     a job to workers nearer to its data, and to the one that ran it last, was chosen by simulations of this very machine and these programs (`FAR` and `HOLD` of the policy).",
];

/// The machine of the paper.
const MACHINE: Machine = Machine { packages: 4, cores: 8 };

/// The programs of the paper.
pub(crate) const PROGRAMS: [Program; 4] =
    [Program::Matmul, Program::Transpose, Program::Heat, Program::Cilksort];

/// Runs each of these programs in each of these sizes with all schedulers and `seeds` seeds each,
/// and passes a record of each run to `each`.
pub(crate) fn run(programs: &[Program], sizes: &[Size], seeds: u64, mut each: impl FnMut(Record)) {
    for &program in programs {
        for &size in sizes {
            of(program, size, &Scheduler::ALL, seeds).into_iter().for_each(&mut each);
        }
    }
}

/// Runs one program in one size. Its schedules run side by side.
fn of(program: Program, size: Size, schedulers: &[Scheduler], seeds: u64) -> Vec<Record> {
    let Some(work) = program::work(program, size) else { return Vec::new() };
    let workers = MACHINE.packages * MACHINE.cores;
    let case = record::case(program.name(), size.name(), work.bytes(), workers);
    let simulate = evenkeel_sim::forking::run;
    let alone = simulate(&work, MACHINE, 1, Scheduler::Off, 0);
    let of = |&scheduler: &Scheduler| (1..=seeds).map(move |seed| (scheduler, seed));
    let runs: Vec<(Scheduler, u64)> = schedulers.iter().flat_map(of).collect();
    let run = |&(scheduler, seed): &(Scheduler, u64)| {
        let outcome = simulate(&work, MACHINE, workers, scheduler, seed);
        record::record(&case, scheduler, seed as usize - 1, &alone, &outcome)
    };
    runs.par_iter().map(run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::rows::{Metric, rows};
    use evenkeel_sim::forking::{Outcome, run as simulate};

    fn outcome(program: Program, size: Size, scheduler: Scheduler, seed: u64) -> Outcome {
        let work = program::work(program, size).unwrap();
        simulate(&work, MACHINE, 32, scheduler, seed)
    }

    #[test]
    fn biased_inflates_less_than_off_and_idles_less_than_strict() {
        let mut records = Vec::new();
        let schedulers = [Scheduler::Off, Scheduler::Biased, Scheduler::Strict];
        for program in PROGRAMS {
            records.extend(of(program, Size::Small, &schedulers, 3));
        }
        for row in rows(&records) {
            let below = |one, other, metric: Metric| {
                let [one, other] =
                    [one, other].map(|scheduler| row.mean(scheduler, metric.field()));
                assert!(one < other, "{}: {metric} {one}, {other}", row.program);
            };
            below(Scheduler::Biased, Scheduler::Off, Metric::Inflation);
            below(Scheduler::Biased, Scheduler::Strict, Metric::Idle);
        }
    }

    #[test]
    fn workers_that_have_waited_for_the_end_of_a_phase_leave_each_others_parts_of_the_next() {
        let run = |scheduler| outcome(Program::Heat, Size::Small, scheduler, 1).makespan;
        let [off, biased] = [Scheduler::Off, Scheduler::Biased].map(run);
        assert!(2 * biased < off, "{biased}, {off}");
    }

    #[test]
    fn one_worker_is_never_idle_and_does_all_the_work() {
        for program in PROGRAMS {
            let work = program::work(program, Size::Small).unwrap();
            for scheduler in [Scheduler::CilkRestricted, Scheduler::Biased] {
                let alone = simulate(&work, MACHINE, 1, scheduler, 1);
                assert_eq!((alone.idle, alone.scheduling, alone.steals), (0, 0, [0, 0]));
                assert_eq!(alone.execution, alone.makespan);
            }
        }
    }

    #[test]
    fn a_seed_is_one_schedule() {
        for scheduler in [Scheduler::CilkRestricted, Scheduler::Biased] {
            let run = |seed| outcome(Program::Heat, Size::Small, scheduler, seed);
            assert_eq!(run(5), run(5), "{scheduler}");
            assert_ne!(run(5), run(6), "{scheduler}");
        }
    }

    #[test]
    fn the_times_of_all_workers_add_up_to_those_of_the_run() {
        for record in of(Program::Cilksort, Size::Small, &Scheduler::ALL, 2) {
            let figure = |name| record.figures.number(name).unwrap();
            let parts = ["execution_seconds", "scheduling_seconds", "idle_seconds"].map(figure);
            let all = 32.0 * figure("seconds");
            assert!((parts.iter().sum::<f64>() - all).abs() < 1e-9, "{record:?}");
            assert!(parts.iter().all(|part| *part >= 0.0), "{record:?}");
        }
    }

    #[test]
    fn what_fits_into_one_package_stays_in_it_where_stealing_is_restricted() {
        for program in PROGRAMS {
            for scheduler in [Scheduler::CilkRestricted, Scheduler::Strict] {
                let Outcome { steals, .. } = outcome(program, Size::Small, scheduler, 1);
                assert!(steals[0] > 0 && steals[1] == 0, "{program} {scheduler}: {steals:?}");
            }
        }
    }
}
