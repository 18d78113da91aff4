//! The experiments of schedulers on the simulated machines of their publication.

use evenkeel_sim::scheduling::{Experiment, Machine, Outcome, Prices, Run, run};

const PRICES: Prices = Prices {
    wake: 10.0,
    poll: 14.0,
    yields: 12.0,
    release: 16.0,
    acquire: 25.0,
    returned: 20.0,
    line: 60.0,
    far: 2.65,
    heavy_fence: 9_500.0,
    unpark: 9_000.0,
    unpark_latency: 25_000.0,
    beside_sibling: 100,
};

const EXPERIMENTS: [Experiment; 3] = [Experiment::Cycle, Experiment::Yield, Experiment::Churn];
const MACHINES: [Machine; 2] = [Machine::Intel, Machine::Amd];

fn outcome(experiment: Experiment, machine: Machine, processors: usize, tasks: usize) -> Outcome {
    run(&Run { experiment, machine, processors, tasks, seed: 3, prices: PRICES })
}

#[test]
fn one_processor_takes_what_the_steps_cost() {
    let Prices { wake, poll, yields, release, acquire, .. } = PRICES;
    let steps = [wake + poll, yields, release + acquire];
    for (experiment, steps) in EXPERIMENTS.into_iter().zip(steps) {
        let found = outcome(experiment, Machine::Intel, 1, 100).per_processor(1);
        // In Churn some tasks find their own permit, and need no poll for it.
        let least = if experiment == Experiment::Churn { 20.0 } else { 0.99 * steps };
        assert!((least..1.01 * steps).contains(&found), "{experiment:?}: {found}, not {steps}");
    }
}

/// The bar of the runtime: with 64 processors an operation takes each of them little longer.
#[test]
fn cycle_and_yield_scale_to_64_processors() {
    for experiment in [Experiment::Cycle, Experiment::Yield] {
        for machine in MACHINES {
            let [one, many] =
                [1, 64].map(|count| outcome(experiment, machine, count, 100).per_processor(count));
            assert!(many <= 1.5 * one, "{experiment:?}, {machine:?}: {one} ns, then {many}");
        }
    }
}

#[test]
fn no_task_waits_for_longer_than_the_promise_allows() {
    for experiment in EXPERIMENTS {
        for machine in MACHINES {
            for (processors, tasks) in [(2, 100), (24, 2), (64, 100), (machine.threads(), 1)] {
                let Outcome { waited, allowed, ops, .. } =
                    outcome(experiment, machine, processors, tasks);
                assert!(ops > 0, "{experiment:?} on {processors}");
                assert!(waited <= allowed, "{experiment:?} on {processors}: {waited}, {allowed}");
            }
        }
    }
}

#[test]
fn lines_from_afar_cost_more() {
    let [flat, intel, amd] = [Machine::Flat, Machine::Intel, Machine::Amd]
        .map(|machine| outcome(Experiment::Churn, machine, 96, 20).per_processor(96));
    assert!(flat < intel && intel < amd, "{flat}, {intel}, {amd}");
}

#[test]
fn a_seed_is_one_schedule() {
    let with = |seed| {
        let (experiment, machine) = (Experiment::Churn, Machine::Amd);
        run(&Run { experiment, machine, processors: 8, tasks: 10, seed, prices: PRICES })
    };
    assert_eq!(with(5), with(5));
    assert_ne!(with(5), with(6));
}

#[test]
fn two_threads_of_a_core_share_its_speed() {
    let prices = Prices { beside_sibling: 160, ..PRICES };
    let (experiment, machine) = (Experiment::Yield, Machine::Intel);
    let [apart, beside] = [24, 48].map(|processors| {
        let done = run(&Run { experiment, machine, processors, tasks: 10, seed: 1, prices });
        done.per_processor(processors)
    });
    assert!((1.5..1.7).contains(&(beside / apart)), "{apart}, then {beside}");
}
