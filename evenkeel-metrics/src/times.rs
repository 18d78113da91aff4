//! How workers have spent their time, in seconds that never go back.
//!
//! # Why they do not
//! A reader of a worker's meter may miss a change that is under way, so two readings in a row may
//! differ by a little in the wrong direction. Prometheus takes a value that goes back for one that
//! began anew, and adds all of it. So an exporter keeps the highest values that it has seen, under
//! a lock that it holds until they are recorded.

use crate::series::Series;
use evenkeel::metrics::Times;
use evenkeel::topology::Distance;
use metrics::{Label, Recorder, Unit};
use std::time::Duration;

const SECONDS: &str = "evenkeel_times_seconds_total";
const STEALS: &str = "evenkeel_times_steals_total";

/// The values of the label `occupation`.
const OCCUPATIONS: [&str; 4] = ["execution", "scheduling", "searching", "asleep"];

/// The most time that a worker was seen to have spent on each occupation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Highest([Duration; OCCUPATIONS.len()]);

impl Highest {
    /// Raises the values to those of a snapshot where these are higher.
    fn raise(&mut self, times: &Times) {
        let seen =
            [times.execution.total(), times.scheduling.total(), times.searching, times.asleep];
        for (highest, seen) in self.0.iter_mut().zip(seen) {
            *highest = seen.max(*highest);
        }
    }
}

pub(crate) fn describe(recorder: &dyn Recorder) {
    recorder.describe_gauge(
        SECONDS.into(),
        Some(Unit::Seconds),
        "Time that the worker has spent on an occupation".into(),
    );
    recorder.describe_counter(
        STEALS.into(),
        Some(Unit::Count),
        "Times that the worker has taken work from others, by the distance to them".into(),
    );
}

pub(crate) fn record(series: &Series<'_>, highest: &mut Highest, times: &Times) {
    highest.raise(times);
    for (occupation, time) in OCCUPATIONS.into_iter().zip(highest.0) {
        let label = Label::from_static_parts("occupation", occupation);
        series.gauge(SECONDS, Some(label), time.as_secs_f64());
    }
    for (distance, steals) in times.steals.iter() {
        let label = Label::from_static_parts("distance", name(distance));
        series.count(STEALS, Some(label), steals);
    }
}

/// The value of the label `distance`.
fn name(distance: Distance) -> &'static str {
    match distance {
        Distance::Same => "same",
        Distance::SmtSibling => "smt_sibling",
        Distance::SharedL2 => "shared_l2",
        Distance::SharedLlc => "shared_llc",
        Distance::SameNode => "same_node",
        Distance::SamePackage => "same_package",
        Distance::Remote => "remote",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_goes_back() {
        let mut highest = Highest::default();
        let mut times = Times::default();
        (times.searching, times.asleep) = (Duration::from_secs(3), Duration::from_secs(5));
        highest.raise(&times);
        (times.searching, times.asleep) = (Duration::from_secs(2), Duration::from_secs(6));
        highest.raise(&times);
        assert_eq!(highest.0, [0, 0, 3, 6].map(Duration::from_secs));
    }
}
