//! Groups the records of a simulation by program and size, and reads their figures.

use super::Scheduler;
use crate::analysis::Estimate;
use crate::analysis::compare;
use suite::named;
use suite::record::Record;

/// The confidence of all intervals: that of the paper.
pub(crate) const CONFIDENCE: f64 = 0.9;

named! {
    /// The four metrics of the paper.
    pub(crate) enum Metric as "metric" {
        Time = "time": "of the whole run",
        Inflation = "inflation": "execution of all workers beyond that of one alone",
        Scheduling = "scheduling": "all workers' looks and steals that end with a job",
        Idle = "idle": "what is left of all workers' time",
    }
}

impl Metric {
    /// Returns the figure of a record that holds it.
    pub(crate) fn field(self) -> &'static str {
        match self {
            Self::Time => "seconds",
            Self::Inflation => "inflation_seconds",
            Self::Scheduling => "scheduling_seconds",
            Self::Idle => "idle_seconds",
        }
    }
}

/// One program in one size, on all schedulers.
pub(crate) struct Row<'a> {
    pub(crate) program: &'a str,
    pub(crate) size: &'a str,
    /// The size of all data of the program.
    pub(crate) bytes: u64,
    records: Vec<&'a Record>,
}

/// Groups records into rows, in their order.
pub(crate) fn rows(records: &[Record]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for record in records {
        let program = record.case.bench.as_ref();
        let size = record.case.settings.text("size").unwrap_or_default();
        match rows.iter_mut().find(|row| (row.program, row.size) == (program, size)) {
            Some(row) => row.records.push(record),
            None => {
                let bytes = record.case.settings.number("bytes").unwrap_or_default() as u64;
                rows.push(Row { program, size, bytes, records: vec![record] });
            }
        }
    }
    rows
}

impl<'a> Row<'a> {
    /// Returns whether the scheduler has run it.
    pub(crate) fn has(&self, scheduler: Scheduler) -> bool {
        self.of(scheduler).next().is_some()
    }

    fn of(&self, scheduler: Scheduler) -> impl Iterator<Item = &'a Record> {
        let name = scheduler.name();
        self.records.iter().copied().filter(move |record| record.runtime == name)
    }

    /// Returns a figure of each run.
    pub(crate) fn figures(&self, scheduler: Scheduler, field: &str) -> Vec<f64> {
        self.of(scheduler).filter_map(|record| record.figures.number(field)).collect()
    }

    /// Returns a metric of each run, in seconds.
    pub(crate) fn values(&self, scheduler: Scheduler, metric: Metric) -> Vec<f64> {
        self.figures(scheduler, metric.field())
    }

    /// Returns the mean of a figure.
    pub(crate) fn mean(&self, scheduler: Scheduler, field: &str) -> f64 {
        let values = self.figures(scheduler, field);
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Returns the number of successful steals of each run.
    pub(crate) fn steals(&self, scheduler: Scheduler) -> Vec<f64> {
        let [near, far] = ["steals_near", "steals_far"].map(|field| self.figures(scheduler, field));
        near.iter().zip(far).map(|(near, far)| near + far).collect()
    }

    /// Returns the seconds for which one worker alone executes.
    pub(crate) fn alone(&self) -> f64 {
        let of = |record: &&Record| {
            let figure = |name| record.figures.number(name);
            Some(figure("execution_seconds")? - figure("inflation_seconds")?)
        };
        self.records.first().and_then(of).unwrap_or(f64::NAN)
    }

    /// Returns the difference in seconds between a metric of the first scheduler and of the second.
    pub(crate) fn difference(
        &self,
        pair: (Scheduler, Scheduler),
        metric: Metric,
    ) -> Option<Estimate> {
        let [one, other] = [pair.0, pair.1].map(|scheduler| self.values(scheduler, metric));
        compare::difference(&one, &other, CONFIDENCE)
    }
}

/// Returns the ratio of the first scheduler's time to the second's, as the geometric mean over
/// these rows.
pub(crate) fn ratio(rows: &[&Row<'_>], (one, other): (Scheduler, Scheduler)) -> Option<Estimate> {
    let times = |row: &&Row<'_>| (row.values(one, Metric::Time), row.values(other, Metric::Time));
    let pairs: Vec<_> = rows.iter().map(times).collect();
    compare::ratio(&pairs, CONFIDENCE)
}
