//! The records of simulated experiments of schedulers, and of what is measured beside them.

use serde::Serialize;

use super::{Probed, TIME, Timed, is_transfer, nanos, tasks};
use evenkeel_sim::scheduling::{Experiment, Machine, Outcome, Price, Prices, Run, run as run_one};
use suite::regime;
use suite::summary::Summary;

/// Returns the name of an experiment in the suite.
pub(crate) const fn name(experiment: Experiment) -> &'static str {
    match experiment {
        Experiment::Cycle => "cycle",
        Experiment::Yield => "yield",
        Experiment::Churn => "churn",
        Experiment::Locality { shares: true } => "locality share",
        Experiment::Locality { shares: false } => "locality noshare",
        Experiment::Spawn => "spawn serial",
        Experiment::Sleep => "sleep",
        Experiment::End => "end",
        Experiment::Transfer { parks: true } => "transfer park",
        Experiment::Transfer { parks: false } => "transfer yield",
    }
}

/// Returns the thesis's name of a machine.
pub(crate) const fn machine(machine: Machine) -> &'static str {
    match machine {
        Machine::Intel => "intel",
        Machine::Amd => "amd",
        Machine::Flat => "this one",
    }
}

/// An experiment on a machine with a number of workers, over all seeds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Record {
    /// Always true: the figures are not from a real core.
    pub(crate) simulated: bool,
    /// `intel` or `amd`.
    pub(crate) machine: &'static str,
    pub(crate) bench: &'static str,
    pub(crate) tasks_per_proc: usize,
    pub(crate) workers: usize,
    /// How many schedules were simulated.
    pub(crate) seeds: usize,
    /// Million operations per simulated second, for each seed; none if none was complete.
    pub(crate) mops: Vec<f64>,
    /// Nanoseconds per operation and worker, or per transfer, for each seed.
    pub(crate) ns_per_op_per_proc: Vec<f64>,
    /// The longest wait of a task beyond its share of the work ahead, in microseconds, of all
    /// seeds.
    pub(crate) waited_us: f64,
    /// The longest such wait that the promise allows.
    pub(crate) allowed_us: f64,
    /// How often a worker gets tasks of another, for each thousand polls, of all seeds.
    pub(crate) moves_per_1000_polls: f64,
}

impl Record {
    pub(super) fn new(
        on: Machine,
        experiment: Experiment,
        tasks_per_proc: usize,
        workers: usize,
        outcomes: &[Outcome],
    ) -> Self {
        let us = |of: fn(&Outcome) -> u64| {
            outcomes.iter().map(of).max().unwrap_or_default() as f64 / 1e3
        };
        let (waited_us, allowed_us) = (us(|one| one.waited), us(|one| one.allowed));
        let sum = |of: fn(&Outcome) -> u64| outcomes.iter().map(of).sum::<u64>() as f64;
        let moves_per_1000_polls = 1e3 * sum(|one| one.moves) / sum(|one| one.polls).max(1.0);
        let mops = |one: &Outcome| one.ops as f64 * 1e3 / one.time as f64;
        let seeds = outcomes.len();
        let outcomes: Vec<&Outcome> = outcomes.iter().filter(|one| one.ops > 0).collect();
        Self {
            simulated: true,
            machine: machine(on),
            bench: name(experiment),
            tasks_per_proc,
            workers,
            seeds,
            mops: outcomes.iter().map(|&one| mops(one)).collect(),
            ns_per_op_per_proc: outcomes
                .iter()
                .map(|one| nanos(experiment, workers, one))
                .collect(),
            waited_us,
            allowed_us,
            moves_per_1000_polls,
        }
    }

    /// Returns the throughput over all seeds.
    pub(crate) fn mops(&self) -> Option<Summary> {
        Summary::of(self.mops.clone())
    }

    /// Returns the time of an operation over all seeds.
    pub(crate) fn nanos(&self) -> Option<Summary> {
        Summary::of(self.ns_per_op_per_proc.clone())
    }
}

/// An experiment with one or two workers: simulated from the steps of each round, and measured in
/// the same round.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    pub(crate) experiment: Experiment,
    pub(crate) workers: usize,
    prices: Vec<Prices>,
    /// The prices of one worker, timed in the same rounds: the machine is as fast in both.
    alone: Vec<Prices>,
    /// `None` in a round in which no operation was complete in the simulated time.
    simulated: Vec<Option<f64>>,
    measured: Vec<f64>,
}

impl Beside {
    pub(super) fn new(experiment: Experiment, workers: usize) -> Self {
        let (prices, alone) = (Vec::new(), Vec::new());
        let (simulated, measured) = (Vec::new(), Vec::new());
        Self { experiment, workers, prices, alone, simulated, measured }
    }

    /// Adds a round.
    pub(super) fn add(&mut self, timed: Timed, measured: f64) {
        self.prices.push(timed.each);
        self.alone.push(timed.alone);
        self.measured.push(measured);
    }

    /// Simulates what has been measured in each round, for as long.
    pub(super) fn simulate(&mut self) {
        let (experiment, processors) = (self.experiment, self.workers);
        let (machine, tasks) = (Machine::Flat, tasks(experiment)[0]);
        // A transfer of a simulated machine is as long as many operations.
        let time = (!is_transfer(experiment)).then_some(TIME.as_nanos() as u64);
        let one = |(&prices, seed): (&Prices, u64)| {
            let run = Run { experiment, machine, processors, tasks, seed, prices, time };
            let outcome = run_one(&run);
            (outcome.ops > 0).then(|| nanos(experiment, processors, &outcome))
        };
        self.simulated = self.prices.iter().zip(1..).map(one).collect();
    }

    /// Returns the simulated nanoseconds per operation and worker.
    pub(crate) fn simulated(&self) -> Option<Summary> {
        Summary::of(self.simulated.iter().flatten().copied().collect())
    }

    /// Returns the measured ones.
    pub(crate) fn measured(&self) -> Option<Summary> {
        Summary::of(self.measured.clone())
    }

    /// Returns the simulated ones in terms of the measured ones, round by round.
    pub(crate) fn ratio(&self) -> Option<Summary> {
        let pairs = self.simulated.iter().zip(&self.measured);
        Summary::of(pairs.filter_map(|(one, measured)| Some((*one)? / measured)).collect())
    }

    /// Returns the median of a price.
    pub(crate) fn price(&self, price: Price) -> f64 {
        median(&self.prices, price)
    }

    /// Returns the median of such prices in the rounds in which the two cores were near, or in all
    /// if they never were.
    fn median_prices(all: &[Prices]) -> Option<Prices> {
        let mut prices = *all.first()?;
        let near: Vec<Prices> =
            all.iter().filter(|prices| regime::is_near(prices.line)).copied().collect();
        let counted = if near.is_empty() { all } else { &near };
        // What is not timed is the same in all rounds.
        for (_, price) in Prices::TIMED {
            *price(&mut prices) = median(counted, price);
        }
        Some(prices)
    }
}

fn median(all: &[Prices], price: Price) -> f64 {
    let each = all.iter().map(|&(mut prices)| *price(&mut prices)).collect();
    Summary::of(each).map_or(f64::NAN, |all| all.median)
}

/// Returns the median prices for an experiment, of one worker and of several; where only one can be
/// measured, those of one for both.
pub(super) fn prices(beside: &[Beside], experiment: Experiment) -> Option<Probed> {
    // What a transfer is made of is timed for yields.
    let experiment = if is_transfer(experiment) { Experiment::Yield } else { experiment };
    let own = beside.iter().filter(|one| one.experiment == experiment);
    let own = own.max_by_key(|one| one.workers)?;
    Some(Probed([Beside::median_prices(&own.alone)?, Beside::median_prices(&own.prices)?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_of_one_round_and_prices_are_medians() {
        let mut beside = Beside::new(Experiment::Yield, 1);
        for (price, simulated, measured) in [
            (10.0, Some(10.0), 20.0),
            (30.0, Some(30.0), 40.0),
            (12.0, Some(9.0), 9.0),
            (12.0, None, 100.0),
        ] {
            let prices = Prices {
                yields: price,
                unpark: 2.0 * price,
                unpark_latency: 3.0 * price,
                heavy_fence: 4.0 * price,
                far: 2.0,
                ..Prices::default()
            };
            beside.add(Timed { each: prices, alone: prices }, measured);
            beside.simulated.push(simulated);
        }
        assert_eq!(beside.ratio().unwrap().median, 0.75);
        assert_eq!(beside.simulated().unwrap().runs, 3);
        let found = prices(&[beside], Experiment::Yield).unwrap().with(64);
        assert_eq!((found.yields, found.far), (12.0, 2.0));
        assert_eq!((found.unpark, found.unpark_latency, found.heavy_fence), (24.0, 36.0, 48.0));
    }

    #[test]
    fn rounds_with_near_cores_set_the_prices() {
        let mut beside = Beside::new(Experiment::Yield, 2);
        for (line, yields) in [(200.0, 9.0), (40.0, 10.0), (220.0, 9.0), (44.0, 12.0), (15.0, 8.0)]
        {
            let each = Prices { line, yields, ..Prices::default() };
            beside.add(Timed { each, alone: Prices { yields: 0.5 * yields, ..each } }, 1.0);
        }
        let Probed([one, several]) = prices(&[beside.clone()], Experiment::Yield).unwrap();
        assert_eq!((several.line, several.yields, one.yields), (42.0, 11.0, 5.5));
        assert_eq!(beside.price(|prices| &mut prices.line), 44.0, "of all rounds");
    }
}
