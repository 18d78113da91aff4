//! A statement of a publication about several systems, and the means to judge it by what is
//! measured here.

use std::ops::RangeInclusive;
use suite::rows::Row;
use suite::summary::Summary;
use suite::words;

/// A statement.
pub(super) struct Statement {
    /// The publication's `id`.
    pub(super) of: &'static str,
    pub(super) stated: &'static str,
    pub(super) judged: Judged,
    /// Why it differs, where it does: in terms of how the systems are made.
    pub(super) why: &'static str,
}

/// How a statement is judged.
pub(super) enum Judged {
    /// By what is measured, if it is.
    Here(fn(&[Row<'_>]) -> Option<Finding>),
    /// By what is measured of one experiment with more workers than these, if anything is: else
    /// this is the reason.
    Beyond(usize, Which, fn(&[Row<'_>]) -> Option<Finding>, &'static str),
    /// Not: this is the reason.
    Not(&'static str),
}

/// What is found of a statement.
pub(super) struct Finding {
    pub(super) found: String,
    /// `None` if it may be chance.
    pub(super) agrees: Option<bool>,
}

/// Why a statement is not judged that some runs bear out and others do not.
pub(crate) const CHANCE: &str = "the runs overlap, or only some complete: it may be chance";

/// Two systems are alike within this factor.
pub(crate) const ALIKE: f64 = 1.25;

/// One system is slightly ahead of another within this factor.
pub(super) const SLIGHTLY: f64 = 1.5;

/// The thesis on C∀'s scheduler takes times of transfers within this factor for equal.
pub(crate) const EQUAL: f64 = 10.0;

/// Tokio and Go at their best.
pub(super) const PEERS: [&str; 2] = ["tokio-hand", "go-hand"];

/// Returns a judged statement.
pub(super) const fn judged(
    of: &'static str,
    stated: &'static str,
    judge: fn(&[Row<'_>]) -> Option<Finding>,
    why: &'static str,
) -> Statement {
    Statement { of, stated, judged: Judged::Here(judge), why }
}

/// Returns a statement that is not judged, and why.
pub(super) const fn not_judged(
    of: &'static str,
    stated: &'static str,
    why: &'static str,
) -> Statement {
    Statement { of, stated, judged: Judged::Not(why), why: "" }
}

/// What an experiment is told apart by: its name, its variant, and its tasks for each worker.
#[derive(Clone, Copy)]
pub(super) struct Which(pub(super) &'static str, pub(super) &'static str, pub(super) f64);

impl Which {
    fn is(self, row: &Row<'_>) -> bool {
        let Self(bench, variant, tasks) = self;
        let of = row.case.settings.number("tasks_per_proc");
        row.case.bench == bench && row.case.variant == variant && of == Some(tasks)
    }

    /// Returns its row with the most workers.
    pub(super) fn most_workers<'r, 'a>(self, rows: &'r [Row<'a>]) -> Option<&'r Row<'a>> {
        rows.iter().filter(|row| self.is(row)).max_by_key(|row| row.case.workers)
    }

    /// Returns its row with this many workers.
    pub(super) fn of_workers<'r, 'a>(
        self,
        rows: &'r [Row<'a>],
        workers: usize,
    ) -> Option<&'r Row<'a>> {
        rows.iter().find(|row| self.is(row) && row.case.workers == workers)
    }

    /// Returns the times of evenkeel, Tokio and Go, with the most workers.
    pub(super) fn times(self, rows: &[Row<'_>]) -> Option<Times> {
        self.times_with(1..=usize::MAX, rows)
    }

    /// Returns those with the most workers among `workers`.
    pub(super) fn times_with(
        self,
        workers: RangeInclusive<usize>,
        rows: &[Row<'_>],
    ) -> Option<Times> {
        let own = rows.iter().filter(|row| self.is(row) && workers.contains(&row.case.workers));
        let row = own.max_by_key(|row| row.case.workers)?;
        let of = |peer| summary(row, peer);
        Some(Times { own: of("evenkeel")?, tokio: of(PEERS[0])?, go: of(PEERS[1])? })
    }
}

/// The times of an operation, for each worker.
pub(super) struct Times {
    pub(super) own: Summary,
    pub(super) tokio: Summary,
    pub(super) go: Summary,
}

impl Times {
    /// Says by how many times those of Tokio and Go are longer than evenkeel's.
    pub(super) fn told(&self) -> String {
        if !self.own.completed() {
            return "evenkeel did not complete".to_owned();
        }
        let one = |(peer, of): (&str, &Summary)| {
            if of.completed() {
                format!("{peer} {} times", words::figure(of.median / self.own.median))
            } else {
                format!("{peer} did not complete")
            }
        };
        PEERS.into_iter().zip([&self.tokio, &self.go]).map(one).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn all(&self) -> [&Summary; 3] {
        [&self.own, &self.tokio, &self.go]
    }

    /// Returns whether each is within a factor of each other; `None` if it may be chance.
    pub(super) fn are_within(&self, factor: f64) -> Option<bool> {
        let Self { own, tokio, go } = self;
        all([(tokio, own), (go, own), (tokio, go)].map(|(one, other)| within(factor, one, other)))
    }
}

/// Returns whether a peer completes, in all of its runs; `None` if it does in some.
pub(super) fn completes(of: &Summary) -> Option<bool> {
    match of.incomplete {
        0 => Some(true),
        all if all == of.runs => Some(false),
        _ => None,
    }
}

/// The least and the greatest ratio of a run of `one` to a run of `other`.
pub(crate) fn ratios(one: &Summary, other: &Summary) -> [f64; 2] {
    [one.min / other.max, one.max / other.min]
}

/// Returns whether ratios are above a limit; `None` if some are and others are not.
pub(crate) fn are_above(limit: f64, [least, greatest]: [f64; 2]) -> Option<bool> {
    if least > limit {
        return Some(true);
    }
    (greatest <= limit).then_some(false)
}

/// Returns whether ratios are not above a limit; `None` if some are and others are not.
pub(crate) fn are_at_most(limit: f64, range: [f64; 2]) -> Option<bool> {
    are_above(limit, range).map(|are_above| !are_above)
}

/// Returns whether ratios are between two limits; `None` if some are and others are not.
pub(crate) fn are_between([low, high]: [f64; 2], range: [f64; 2]) -> Option<bool> {
    all([are_above(low, range), are_at_most(high, range)])
}

/// Returns whether each run of `one` is within a factor of each run of `other`; `None` if some are
/// and others are not.
pub(crate) fn within(factor: f64, one: &Summary, other: &Summary) -> Option<bool> {
    are_between([1.0 / factor, factor], ratios(one, other))
}

/// Returns whether all of these hold: not, if one does not; `None` if one of the others may be
/// chance.
pub(crate) fn all(each: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for one in each {
        match one {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }
    all
}

/// Returns whether `shorter` takes less time than `longer`; `None` if some run of it takes as long
/// as one of the other: of three runs each that is the test by the sums of ranks, at 10 %.
pub(super) fn is_ahead(shorter: &Summary, longer: &Summary) -> Option<bool> {
    (!shorter.overlaps(longer)).then_some(shorter.median < longer.median)
}

/// Returns whether the first of each pair takes less time than the second: not, if one of them does
/// not; `None` if one of the others may be chance.
pub(super) fn are_ahead<const N: usize>(pairs: [(&Summary, &Summary); N]) -> Option<bool> {
    all(pairs.map(|(shorter, longer)| is_ahead(shorter, longer)))
}

/// Judges whether all three are alike.
pub(super) fn alike(which: Which, rows: &[Row<'_>]) -> Option<Finding> {
    let times = which.times(rows)?;
    let agrees = times.are_within(ALIKE);
    Some(Finding { found: times.told(), agrees })
}

/// Returns a peer's first quantity, if enough of its runs count for a verdict.
pub(super) fn summary(row: &Row<'_>, peer: &str) -> Option<Summary> {
    let quantity = row.experiment.quantities.first()?;
    let cell = row.cell(peer).filter(|cell| cell.is_enough())?;
    row.summary(quantity, cell)
}

/// Returns its median.
pub(super) fn median(row: &Row<'_>, peer: &str) -> Option<f64> {
    Some(summary(row, peer)?.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_overlap_say_nothing() {
        let of = |values: [f64; 3]| Summary::of(values.to_vec()).unwrap();
        assert_eq!(is_ahead(&of([1.0, 2.0, 3.0]), &of([4.0, 5.0, 6.0])), Some(true));
        assert_eq!(is_ahead(&of([4.0, 5.0, 6.0]), &of([1.0, 2.0, 3.0])), Some(false));
        assert_eq!(is_ahead(&of([1.0, 2.0, 4.0]), &of([4.0, 5.0, 6.0])), None);
        let (short, long, between) =
            (of([1.0, 2.0, 3.0]), of([4.0, 5.0, 6.0]), of([3.0, 4.0, 5.0]));
        assert_eq!(are_ahead([(&short, &long), (&short, &long)]), Some(true));
        assert_eq!(are_ahead([(&short, &long), (&short, &between)]), None);
        assert_eq!(are_ahead([(&long, &short), (&short, &between)]), Some(false));
        // The ratios are 4/3 to 6, and 0.25 to 1.
        assert_eq!(within(8.0, &long, &short), Some(true));
        assert_eq!(within(1.25, &long, &short), Some(false));
        assert_eq!(within(2.0, &long, &short), None);
        assert_eq!(are_above(1.0, ratios(&long, &short)), Some(true));
        assert_eq!(are_above(1.0, ratios(&short, &between)), Some(false));
        assert_eq!(are_above(0.5, ratios(&short, &between)), None);
        let never = of([f64::INFINITY; 3]);
        assert_eq!(within(1.25, &never, &never), None);
    }
}
