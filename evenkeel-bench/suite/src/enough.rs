//! The one rule for which runs count, and for when a row has enough of them.
//!
//! A run counts unless other processes took its cores' time, or the cores were nearer or farther
//! than in the other runs of its row. A row has enough when each of its peers has [`RUNS`] runs
//! that count. Until then the runner adds rounds, within a [`Bound`] on their number and their
//! time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::record::Record;
use crate::disturbance::ENOUGH;
use crate::regime::{MIXED, NEAR};

/// The runs that a peer needs to be compared. The ranges of two samples of three runs of the same
/// thing lie apart by chance in 1 of 10 cases; of fewer runs, more often.
pub const RUNS: usize = 3;

/// Whether a run counts in its row, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// It counts.
    Yes,
    /// Other processes took time of its cores.
    Disturbed,
    /// The distance of the cores changed during it.
    Mixed,
    /// The cores were nearer or farther than those of the row.
    Elsewhere,
}

/// Returns whether a run counts in a row of this regime; `None` if the row does not depend on it.
/// An incomplete run counts in any regime: it used up its time, however near the cores are.
pub fn counts(record: &Record, regime: Option<&str>) -> Counts {
    let own = record.quiet.regime.as_ref();
    match regime {
        _ if is_disturbed(record) => Counts::Disturbed,
        Some(_) if own == MIXED && !record.dnc => Counts::Mixed,
        Some(regime) if own != regime && !record.dnc => Counts::Elsewhere,
        _ => Counts::Yes,
    }
}

/// Returns whether other processes took more of the run's time than chance explains.
pub fn is_disturbed(record: &Record) -> bool {
    record.quiet.cpu_share < ENOUGH
}

/// Returns the regime in which a row compares: the one in which the subject and most peers have
/// [`RUNS`] runs. Among equals it is the one in which most peers were measured, then the one with
/// most of the needed runs, then near cores.
///
/// Runs that would not count have no say while there are others.
pub fn regime<'a>(records: &[&'a Record], subject: Option<&str>) -> Option<&'a str> {
    let mixed = |record: &Record| record.quiet.regime == MIXED;
    let quiet = |record: &&&Record| !mixed(record) && !is_disturbed(record);
    let chosen = |keep: &dyn Fn(&&&'a Record) -> bool| {
        let runs: Vec<&Record> = records.iter().filter(keep).copied().collect();
        let regimes: BTreeSet<&str> = runs.iter().map(|run| run.quiet.regime.as_ref()).collect();
        regimes.into_iter().max_by_key(|regime| {
            let within = runs.iter().filter(|run| run.quiet.regime == *regime);
            let mut peers: BTreeMap<&str, usize> = BTreeMap::new();
            within.for_each(|run| *peers.entry(run.runtime.as_ref()).or_default() += 1);
            let of = |name: Option<&str>| name.and_then(|name| peers.get(name)).copied();
            let own = of(subject).unwrap_or(0);
            let enough = peers.values().filter(|runs| **runs >= RUNS).count();
            let compared = if own >= RUNS { enough } else { 0 };
            let needed: usize = peers.values().map(|runs| RUNS.min(*runs)).sum();
            let all: usize = peers.values().sum();
            (own > 0, compared, peers.len(), needed, *regime == NEAR, all)
        })
    };
    chosen(&quiet).or_else(|| chosen(&|record| !mixed(record))).or_else(|| chosen(&|_| true))
}

/// How often and how long rows are measured.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Planned rounds of each row; each peer runs once in each round.
    pub(super) rounds: usize,
    /// The most further rounds of a row.
    pub(super) extra: usize,
    /// The time left for further rounds of any row.
    spare: Duration,
    /// The divisor of the time of planned rounds: each adds its time divided by `part` to `spare`.
    part: u32,
}

/// The time that a session may spend on further rounds before its planned rounds have earned any.
const START: Duration = Duration::from_secs(2);

impl Bound {
    /// Creates the bound of a session: on a machine that is never quiet it takes at most about a
    /// fifth longer.
    pub fn session(rounds: usize) -> Self {
        Self { rounds, extra: rounds, spare: START, part: 5 }
    }

    /// Sets the planned rounds of the rows that follow. They may take the time that earlier rows
    /// have left.
    pub fn go_on_with(&mut self, rounds: usize) {
        (self.rounds, self.extra) = (rounds, rounds);
    }

    /// Creates the bound for a user who waits for these rows alone.
    pub fn rows(rounds: usize) -> Self {
        Self { rounds, extra: rounds, spare: Duration::MAX, part: 1 }
    }

    /// Returns the runs that count which each peer of a row needs; a peer with fewer runs again.
    pub(super) fn needed(&self) -> usize {
        self.rounds.min(RUNS)
    }

    /// Records that a planned round took this long.
    pub(super) fn planned(&mut self, time: Duration) {
        self.spare = self.spare.saturating_add(time / self.part);
    }

    /// Returns whether there is time for a round that takes about `time`.
    pub(super) fn grants(&self, time: Duration) -> bool {
        self.spare >= time
    }

    /// Records that a further round took this long.
    pub(super) fn spent(&mut self, time: Duration) {
        self.spare = self.spare.saturating_sub(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::fake::run;

    fn at(runtime: &'static str, regime: &'static str, share: f64) -> Record {
        let mut record = run(runtime, 2, 20.0);
        (record.quiet.regime, record.quiet.cpu_share) = (regime.into(), share);
        record
    }

    #[test]
    fn a_run_counts_if_it_was_quiet_and_its_cores_were_where_the_row_is() {
        let near = Some("near");
        assert_eq!(counts(&at("a", "near", 1.0), near), Counts::Yes);
        assert_eq!(counts(&at("a", "near", 0.55), near), Counts::Disturbed);
        assert_eq!(counts(&at("a", "mixed", 1.0), near), Counts::Mixed);
        assert_eq!(counts(&at("a", "far", 1.0), near), Counts::Elsewhere);
        assert_eq!(counts(&at("a", "mixed", 1.0), None), Counts::Yes);
        assert_eq!(counts(&at("a", "mixed", 0.55), None), Counts::Disturbed);
        assert_eq!(counts(&Record { dnc: true, ..at("a", "far", 1.0) }, near), Counts::Yes);
        assert_eq!(counts(&Record { dnc: true, ..at("a", "near", 0.5) }, near), Counts::Disturbed);
        assert_eq!(counts(&Record { dnc: true, ..at("a", "mixed", 1.0) }, near), Counts::Yes);
    }

    #[test]
    fn mixed_runs_make_no_regime_while_there_are_others() {
        let all = [at("a", "mixed", 1.0), at("b", "mixed", 1.0), at("a", "far", 1.0)];
        let of = |records: &[Record]| {
            let records: Vec<&Record> = records.iter().collect();
            regime(&records, Some("a")).map(str::to_owned)
        };
        assert_eq!(of(&all).as_deref(), Some("far"));
        assert_eq!(of(&all[..2]).as_deref(), Some("mixed"));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn the_subject_beside_most_peers_settles_the_regime() {
        let of = |records: &[Record]| {
            let records: Vec<&Record> = records.iter().collect();
            regime(&records, Some("a")).map(str::to_owned)
        };
        let (a, b, c) = (at("a", "far", 1.0), at("b", "far", 1.0), at("a", "near", 1.0));
        assert_eq!(of(&[a.clone(), b.clone(), c.clone(), c.clone()]).as_deref(), Some("far"));
        // The regime that will sooner be complete.
        assert_eq!(of(&[a.clone(), c.clone(), a.clone()]).as_deref(), Some("far"));
        // The peers' regime is not the row's if the subject is not in it.
        let others = [at("b", "near", 1.0), at("c", "near", 1.0), a.clone()];
        assert_eq!(of(&others).as_deref(), Some("far"));
        // A disturbed run has no say.
        assert_eq!(of(&[a, at("a", "near", 0.5), at("b", "near", 0.5)]).as_deref(), Some("far"));
    }

    #[test]
    fn the_regime_in_which_rows_are_complete_is_the_rows() {
        let rounds = |regimes: &[&'static str]| {
            let of = |regime: &&'static str| [at("a", regime, 1.0), at("b", regime, 1.0)];
            let records: Vec<Record> = regimes.iter().flat_map(of).collect();
            let records: Vec<&Record> = records.iter().collect();
            regime(&records, Some("a")).map(str::to_owned)
        };
        assert_eq!(rounds(&["near", "far", "far", "far"]).as_deref(), Some("far"));
        assert_eq!(rounds(&["near", "far", "far"]).as_deref(), Some("far"));
        assert_eq!(rounds(&["near", "far"]).as_deref(), Some("near"));
        let both = ["near", "far", "far", "far", "far", "near", "near"];
        assert_eq!(rounds(&both).as_deref(), Some("near"));
    }

    #[test]
    fn further_rounds_take_of_the_time_that_planned_ones_have_earned() {
        let second = Duration::from_secs(1);
        let mut bound = Bound::session(3);
        assert!(bound.grants(START));
        bound.spent(START);
        assert!(!bound.grants(second));
        bound.planned(5 * second);
        assert!(bound.grants(second));
        bound.spent(second);
        assert!(!bound.grants(Duration::from_nanos(1)));
        assert!(Bound::rows(1).grants(3_600 * second));
        // What one family leaves is the next one's, and no more.
        bound.planned(10 * second);
        bound.go_on_with(5);
        assert_eq!((bound.rounds, bound.extra), (5, 5));
        assert!(bound.grants(2 * second) && !bound.grants(3 * second));
    }
}
