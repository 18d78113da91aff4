//! How the workers spend the time of a run: the four metrics of the evaluation of the Cilk Locality
//! runtime, summed over all workers.

use evenkeel::metrics::Times;
use evenkeel::topology::Distance;
use serde_json::{Value, json};

use suite::case::Fields;

/// Adds the metrics of these workers' times; `alone` is the execution seconds of one worker alone.
///
/// Execution beyond `alone` is inflation. Scheduling is the time of successful steals; idle is the
/// time of failed steals, of waiting and of sleep. `levels` has the work by the distance of the
/// steal, the worker's own first, without distances that the machine lacks; `per_worker` has
/// execution, scheduling and idle seconds of each worker.
pub(super) fn with_metrics(figures: Fields, workers: &[Times], alone: f64) -> Fields {
    let all: Times = workers.iter().copied().sum();
    let level = |distance: Distance| {
        let seconds = all.execution[distance].as_secs_f64();
        let steals = all.steals[distance];
        (steals > 0 || seconds > 0.0).then(|| {
            json!({
                "distance": format!("{distance:?}"),
                "execution_seconds": seconds,
                "scheduling_seconds": all.scheduling[distance].as_secs_f64(),
                "steals": steals,
            })
        })
    };
    let each = |times: &Times| {
        let parts = [times.execution.total(), times.scheduling.total(), times.idle()];
        json!(parts.map(|time| time.as_secs_f64()))
    };
    let execution = all.execution.total().as_secs_f64();
    figures
        .with("execution_seconds", execution)
        .with("inflation_seconds", execution - alone)
        .with("scheduling_seconds", all.scheduling.total().as_secs_f64())
        .with("idle_seconds", all.idle().as_secs_f64())
        .with("steals", all.steals.total())
        .with("levels", Distance::ALL.into_iter().filter_map(level).collect::<Vec<Value>>())
        .with("per_worker", workers.iter().map(each).collect::<Vec<Value>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forker::{Evenkeel, Forker};
    use crate::program::Program;

    #[test]
    fn the_times_of_the_workers_add_up_to_those_of_the_run() {
        let evenkeel = <Evenkeel as Forker>::start(2).unwrap();
        let run = Program::Nqueens.run(9, &evenkeel);
        let metrics = with_metrics(Fields::new(), &run.times, 0.25);
        let list = |name| metrics.get(name).and_then(Value::as_array).unwrap().clone();
        let number = |value: &Value| value.as_f64().unwrap();
        let workers = list("per_worker");
        assert_eq!(workers.len(), 2);
        let all: f64 = workers.iter().flat_map(|one| one.as_array().unwrap()).map(number).sum();
        let of = |name| metrics.number(name).unwrap();
        let execution = of("execution_seconds");
        let sum = execution + of("scheduling_seconds") + of("idle_seconds");
        assert!((all - sum).abs() < 1e-6, "{metrics:?}");
        // The snapshots enclose the run.
        assert!(sum >= 2.0 * run.seconds, "{sum} of 2 x {}", run.seconds);
        let levels = list("levels");
        let by_level: f64 = levels.iter().map(|level| number(&level["execution_seconds"])).sum();
        assert!((by_level - execution).abs() < 1e-6, "{metrics:?}");
        assert_eq!(levels[0]["distance"], "Same");
        assert_eq!(of("inflation_seconds"), execution - 0.25);
    }
}
