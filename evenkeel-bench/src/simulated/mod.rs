//! The evaluation of the Cilk Locality runtime on a simulated machine, with the runtime's own policy.
//!
//! The machine is that of the paper: four packages of eight cores. What this suite runs on has few cores and one cache; whether locality
//! pays shows only where there are several. So the workers are simulated, and decide as the real ones do, by
//! [`evenkeel::policy`]. All figures are *simulated*, and say so.
//!
//! What is assumed, [`ASSUMPTIONS`] says, in every report.

mod caches;
pub(crate) mod coretime;
mod engine;
mod lru;
mod program;
pub(crate) mod record;
pub(crate) mod table;
mod work;

use evenkeel::Locality;

use crate::forking::program::Program;
use engine::{Engine, Machine, Outcome};
use record::Record;

/// What the figures rest on.
pub(crate) const ASSUMPTIONS: [&str; 4] = [
    "Each core has a cache of 256 KiB, each package one of 16 MiB, kept by last use in blocks of 8 KiB. What a package's cache \
     drops, its cores drop; a write takes a block from all other caches.",
    "A line of 64 bytes takes 1 ns from the core's cache, 4 from the package's, 8 from the package's memory, 16 from another \
     package. Memory is dealt out to the packages block by block. Bandwidth has no bound, so inflation is understated.",
    "A fork takes 3 ns; a look at another worker's deque 30 ns within the package and 130 beyond; a steal four times as much \
     more; taking jobs from an owner inside a long leaf 10 µs. Workers without work go on looking and do not sleep.",
    "Each program runs four times in a row on the same data. One worker, for speed-up and inflation, does the same.",
];

/// The machine of the paper.
const MACHINE: Machine = Machine { packages: 4, cores: 8 };

/// The programs of the paper.
pub(crate) const PROGRAMS: [Program; 4] =
    [Program::Matmul, Program::Transpose, Program::Heat, Program::Cilksort];

/// The settings that are compared.
pub(crate) const LOCALITIES: [Locality; 3] = [Locality::Off, Locality::Biased, Locality::Strict];

/// Runs each of these programs with all localities, with so many seeds each, and gives a record per locality.
pub(crate) fn run(programs: &[Program], seeds: u64, mut each: impl FnMut(Record)) {
    for &program in programs {
        let Some(work) = program::work(program) else { continue };
        let workers = MACHINE.packages * MACHINE.cores;
        let alone = Engine::new(&work, MACHINE, 1, Locality::Off, 0).run();
        for locality in LOCALITIES {
            let run = |seed| Engine::new(&work, MACHINE, workers, locality, seed).run();
            let outcomes: Vec<Outcome> = (1..=seeds).map(run).collect();
            each(Record::new(program, locality, workers, &alone, &outcomes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn biased_inflates_less_than_off_and_idles_less_than_strict() {
        let mut records = Vec::new();
        run(&PROGRAMS, 3, |record| records.push(record));
        for of_program in records.chunks(LOCALITIES.len()) {
            let [off, biased, strict] = of_program else { panic!("three localities") };
            let program = &off.bench;
            for (a, b) in off.inflation.iter().zip(&biased.inflation) {
                assert!(b < a, "{program}: work inflation {b} biased, {a} off");
            }
            for (a, b) in strict.idle.iter().zip(&biased.idle) {
                assert!(b < a, "{program}: idle {b} biased, {a} strict");
            }
        }
    }

    #[test]
    fn one_worker_is_never_idle_and_does_all_the_work() {
        for program in PROGRAMS {
            let work = program::work(program).unwrap();
            let alone = Engine::new(&work, MACHINE, 1, Locality::Biased, 1).run();
            assert_eq!((alone.idle, alone.scheduling, alone.steals), (0, 0, [0, 0]));
            assert_eq!(alone.execution, alone.makespan);
        }
    }

    #[test]
    fn a_seed_is_one_schedule() {
        let work = program::work(Program::Heat).unwrap();
        let run = |seed| Engine::new(&work, MACHINE, 32, Locality::Biased, seed).run();
        assert_eq!(run(5), run(5));
        assert_ne!(run(5), run(6));
    }
}
