//! The record of a simulated run, in the form of the suite's records.

use evenkeel_sim::forking::{Outcome, Scheduler};
use suite::case::{Case, Fields};
use suite::record::{Quiet, Record};

/// The regime of simulated runs, which have no real cores.
const REGIME: &str = "simulated";

/// Returns the case of a program of this size, with `bytes` bytes of data.
pub(super) fn case(program: &'static str, size: &'static str, bytes: u64, workers: usize) -> Case {
    let case = Case::new(program, suite::named::NAMELESS, workers);
    case.with("size", size).with("bytes", bytes).with("simulated", true)
}

/// Returns the record of one schedule. Seconds are simulated, and sums over all workers except for
/// those of the whole run.
pub(super) fn record(
    case: &Case,
    scheduler: Scheduler,
    repeat: usize,
    alone: &Outcome,
    outcome: &Outcome,
) -> Record {
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    let (execution, makespan) = (seconds(outcome.execution), seconds(outcome.makespan));
    let figures = Fields::new()
        .with("seconds", makespan)
        .with("speedup", seconds(alone.makespan) / makespan)
        .with("execution_seconds", execution)
        .with("inflation_seconds", execution - seconds(alone.execution))
        .with("scheduling_seconds", seconds(outcome.scheduling))
        .with("idle_seconds", seconds(outcome.idle))
        .with("steals_near", outcome.steals[0] as f64)
        .with("steals_far", outcome.steals[1] as f64);
    Record {
        runtime: scheduler.name().into(),
        case: case.clone(),
        repeat,
        figures,
        dnc: false,
        quiet: Quiet {
            line_ns_before: 0.0,
            line_ns_after: 0.0,
            regime: REGIME.into(),
            cpu_share: 1.0,
        },
    }
}
