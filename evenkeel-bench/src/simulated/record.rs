//! What a simulation leaves behind.

use evenkeel::Locality;
use serde::{Deserialize, Serialize};

use super::engine::Outcome;
use crate::figures::Summary;
use crate::forking::program::Program;

/// One program with one locality: all seeds of it. Times are simulated seconds, and the median unless they are a list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Always true: no core has run this.
    pub(crate) simulated: bool,
    /// The locality, in the place of a runtime.
    pub(crate) runtime: String,
    pub(crate) bench: String,
    pub(crate) workers: usize,
    /// Seeds.
    pub(crate) reps: usize,
    pub(crate) seconds_median: f64,
    pub(crate) seconds_min: f64,
    pub(crate) seconds_max: f64,
    pub(crate) seconds: Vec<f64>,
    /// Over one worker.
    pub(crate) speedup: f64,
    pub(crate) execution_seconds: f64,
    /// Execution of all workers beyond that of one alone.
    pub(crate) inflation_seconds: f64,
    pub(crate) scheduling_seconds: f64,
    pub(crate) idle_seconds: f64,
    /// Of each seed.
    pub(crate) inflation: Vec<f64>,
    pub(crate) idle: Vec<f64>,
    /// Jobs taken within the package and from another, the mean of all seeds.
    pub(crate) steals_near: f64,
    pub(crate) steals_far: f64,
}

impl Record {
    pub(super) fn new(
        program: Program,
        locality: Locality,
        workers: usize,
        alone: &Outcome,
        outcomes: &[Outcome],
    ) -> Self {
        let seconds = |nanos: u64| nanos as f64 / 1e9;
        let all = |of: fn(&Outcome) -> u64| -> Vec<f64> {
            outcomes.iter().map(of).map(seconds).collect()
        };
        let median = |values: &[f64]| {
            Summary::of(values.to_vec()).map_or(f64::NAN, |summary| summary.median)
        };
        let mean = |class: usize| {
            let steals = outcomes.iter().map(|outcome| outcome.steals[class]).sum::<u64>();
            steals as f64 / outcomes.len() as f64
        };
        let makespans = all(|outcome| outcome.makespan);
        let execution = all(|outcome| outcome.execution);
        let inflation: Vec<f64> =
            execution.iter().map(|execution| execution - seconds(alone.execution)).collect();
        let idle = all(|outcome| outcome.idle);
        Self {
            simulated: true,
            runtime: format!("{locality:?}").to_lowercase(),
            bench: program.to_string(),
            workers,
            reps: outcomes.len(),
            seconds_median: median(&makespans),
            seconds_min: makespans.iter().copied().fold(f64::INFINITY, f64::min),
            seconds_max: makespans.iter().copied().fold(0.0, f64::max),
            speedup: seconds(alone.makespan) / median(&makespans),
            execution_seconds: median(&execution),
            inflation_seconds: median(&inflation),
            scheduling_seconds: median(&all(|outcome| outcome.scheduling)),
            idle_seconds: median(&idle),
            inflation,
            idle,
            steals_near: mean(0),
            steals_far: mean(1),
            seconds: makespans,
        }
    }
}
