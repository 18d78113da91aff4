//! Medians and extremes of repeated runs, and which runs may be compared.

use crate::record::Record;

/// What repeated runs of one cell come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    /// The middle value; between the two middle ones if their number is even.
    pub(crate) median: f64,
    /// The smallest value.
    pub(crate) min: f64,
    /// The largest value.
    pub(crate) max: f64,
}

/// Summarises values; `None` without any.
pub(crate) fn summary(values: impl IntoIterator<Item = f64>) -> Option<Summary> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let (&min, &max) = (values.first()?, values.last()?);
    let middle = values.len() / 2;
    let median = if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    };
    Some(Summary { median, min, max })
}

/// The figure of a run by which runtimes are ranked, smaller being better: microseconds per
/// transfer, bytes per task, or nanoseconds per operation per processor. `None` if the run did not
/// complete.
pub(crate) fn figure(record: &Record) -> Option<f64> {
    if record.dnc {
        return None;
    }
    record.transfer_us.or(record.bytes_per_task).or(Some(record.ns_per_op_per_proc))
}

/// How the first value stands to the best of the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// So many times as fast as the best other.
    Faster(f64),
    /// So many times as slow.
    Slower(f64),
    /// It completed and no other did.
    Alone,
    /// Another completed and it did not.
    Beaten,
    /// There is nothing to compare.
    Open,
}

/// Compares a figure with others', smaller being better; `None` means not completed.
pub(crate) fn verdict(own: Option<f64>, others: &[Option<f64>]) -> Verdict {
    let best = others.iter().flatten().copied().min_by(f64::total_cmp);
    match (own, best) {
        (Some(own), Some(best)) if own <= best => Verdict::Faster(best / own),
        (Some(own), Some(best)) => Verdict::Slower(own / best),
        (Some(_), None) if !others.is_empty() => Verdict::Alone,
        (None, Some(_)) => Verdict::Beaten,
        _ => Verdict::Open,
    }
}

/// The runs of one cell that may be compared, and whether their regimes had to be mixed.
///
/// With traffic between cores, near and far cores differ by a factor of two to four, so runtimes are
/// compared in the regime in which all of them were measured, near ones first. If there is none,
/// all runs are taken, and the reader must know. On one core the regime changes nothing.
pub(crate) fn comparable<'a>(cell: &[&'a Record]) -> (Vec<&'a Record>, bool) {
    let of = |regime: &str| -> Vec<&'a Record> {
        cell.iter().copied().filter(|record| record.regime == regime).collect()
    };
    let runtimes = runtimes(cell);
    if cell.iter().all(|record| record.procs == 1) {
        return (cell.to_vec(), false);
    }
    for regime in ["near", "far", "siblings", "one core"] {
        let runs = of(regime);
        if !runs.is_empty() && self::runtimes(&runs).len() == runtimes.len() {
            return (runs, false);
        }
    }
    (cell.to_vec(), true)
}

fn runtimes(records: &[&Record]) -> Vec<String> {
    let mut names: Vec<String> = records.iter().map(|record| record.runtime.clone()).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::example;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(summary([]), None);
        assert_eq!(summary([3.0]), Some(Summary { median: 3.0, min: 3.0, max: 3.0 }));
        assert_eq!(summary([9.0, 1.0, 2.0]), Some(Summary { median: 2.0, min: 1.0, max: 9.0 }));
        let even = summary([4.0, 1.0, 2.0, 9.0]).unwrap();
        assert_eq!(even.median, 3.0);
    }

    #[test]
    fn a_verdict_names_the_side_and_the_factor() {
        assert_eq!(verdict(Some(20.0), &[Some(40.0), Some(30.0)]), Verdict::Faster(1.5));
        assert_eq!(verdict(Some(45.0), &[Some(30.0), None]), Verdict::Slower(1.5));
        assert_eq!(verdict(Some(45.0), &[None, None]), Verdict::Alone);
        assert_eq!(verdict(None, &[None, Some(3.0)]), Verdict::Beaten);
        assert_eq!(verdict(None, &[None]), Verdict::Open);
        assert_eq!(verdict(Some(1.0), &[]), Verdict::Open);
    }

    #[test]
    fn a_run_that_did_not_complete_has_no_figure() {
        assert_eq!(figure(&example("evenkeel", 20.0)), Some(20.0));
        let mut record = example("evenkeel", 0.0);
        record.transfer_us = Some(28.0);
        assert_eq!(figure(&record), Some(28.0));
        record.dnc = true;
        assert_eq!(figure(&record), None);
    }

    fn run(runtime: &str, procs: usize, regime: &str) -> Record {
        Record { procs, regime: regime.to_owned(), ..example(runtime, 20.0) }
    }

    #[test]
    fn runs_are_compared_within_the_regime_that_all_have() {
        let all =
            [run("a", 2, "near"), run("a", 2, "far"), run("b", 2, "far"), run("b", 2, "mixed")];
        let (runs, mixed) = comparable(&all.iter().collect::<Vec<_>>());
        assert!(!mixed);
        assert!(runs.iter().all(|record| record.regime == "far"));
        assert_eq!(runs.len(), 2);
    }

    #[test]
    fn without_a_common_regime_all_runs_are_taken_and_it_is_said() {
        let all = [run("a", 2, "near"), run("b", 2, "far")];
        let (runs, mixed) = comparable(&all.iter().collect::<Vec<_>>());
        assert!(mixed);
        assert_eq!(runs.len(), 2);
    }

    #[test]
    fn one_processor_has_no_regime() {
        let all = [run("a", 1, "near"), run("b", 1, "far")];
        let (runs, mixed) = comparable(&all.iter().collect::<Vec<_>>());
        assert!(!mixed);
        assert_eq!(runs.len(), 2);
    }
}
