//! The verdict of a row on the subject beside its peers.
//!
//! The subject needs [`RUNS`] runs that count, and is compared with each peer that has as many. It
//! is behind if any of these peers is better, and ahead if it is better than all, by more than
//! [chance](super::differ) explains. A peer with fewer runs cannot put the subject behind. Such a
//! peer leaves the row uncompared, unless all its runs are worse than all of the subject's and
//! another peer is nearer. A peer whose few runs did not complete leaves the row uncompared in any
//! case: it may complete in the next one. The rule is the same in every family.

use super::differ::differ;
use super::enough::RUNS;
use super::peer::Role;
use super::quantity::{Better, Quantity};
use super::rows::Row;
use super::summary::Summary;
use crate::words;

/// Whether the subject is ahead; a page marks it by colour as well as by the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The subject is ahead of every peer.
    Ahead,
    /// A peer is ahead of the subject.
    Behind,
    /// Equal, or nothing to compare, or chance may have made the difference.
    Even,
}

/// The meaning of the question mark after a ratio.
pub const DOUBT: &str = "?: it may be chance (rank-sum test beside each peer, 10 %); equal: less than half a per cent \
    apart, however sure";

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The subject is `factor` times as good as a peer, or as bad.
    Compared {
        /// Whether the subject is ahead; even, if the difference may be chance or the figures are
        /// equal.
        standing: Standing,
        /// The ratio of the two medians, at least 1; infinite if one of them is zero.
        factor: f64,
        /// Whether the subject's median is the better one.
        is_better: bool,
        /// The best peer: of those that are ahead, else of those that may be ahead, else of all.
        peer: &'static str,
    },
    /// The subject completes, and no peer does.
    OnlyOne,
    /// The subject does not complete; with the peer that does, if there is one.
    Unfinished(Option<&'static str>),
    /// Not compared.
    NotCompared(Why),
}

/// Why a row is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The subject has no figure.
    NoSubject,
    /// No peer has a figure.
    NoPeer,
    /// The subject has only this number of runs that count.
    FewRuns(usize),
    /// The best peer has only this number of runs that count.
    FewRunsOf(&'static str, usize),
    /// Nothing is left of what is measured, for this reason.
    Removed(&'static str),
}

/// The ratio below which figures are equal.
const EQUAL: f64 = 1.005;

/// The runs of one cell that have a figure.
struct Side {
    name: &'static str,
    values: Vec<f64>,
    summary: Summary,
    /// The number of values that count.
    counted: usize,
}

impl Side {
    fn is_enough(&self) -> bool {
        self.counted >= RUNS
    }

    /// Returns whether its median is better than that of the other side.
    fn is_better(&self, other: &Self, better: Better) -> bool {
        better.is_better(self.summary.median, other.summary.median)
    }

    /// Returns whether each of its values is better than each value of the other side.
    fn is_apart(&self, other: &Self, better: Better) -> bool {
        let all = |a: f64| other.values.iter().all(|&b| better.is_better(a, b));
        self.values.iter().all(|&a| all(a))
    }

    fn differs(&self, other: &Self) -> bool {
        factor(self, other) >= EQUAL && differ(&self.values, &other.values)
    }
}

/// Returns the ratio of the larger median to the smaller, at least 1.
fn factor(a: &Side, b: &Side) -> f64 {
    let (a, b) = (a.summary.median, b.summary.median);
    if a == b { 1.0 } else { a.max(b) / a.min(b) }
}

impl Verdict {
    /// Compares the subject with the peers of the row.
    pub fn of(row: &Row<'_>, quantity: &Quantity) -> Self {
        if let Some(why) = row.removed {
            return Self::NotCompared(Why::Removed(why));
        }
        let mut sides = row.cells.iter().filter_map(|cell| {
            let values = row.figures(quantity, cell);
            let summary = Summary::of(values.clone())?;
            let counted = if cell.counted == 0 { 0 } else { values.len() };
            Some((cell.peer.role, Side { name: cell.peer.name, values, summary, counted }))
        });
        let Some((_, own)) = sides.clone().find(|(role, _)| *role == Role::Subject) else {
            return Self::NotCompared(Why::NoSubject);
        };
        let (done, undone): (Vec<Side>, Vec<Side>) = sides
            .by_ref()
            .filter(|(role, _)| *role == Role::Peer)
            .map(|(_, side)| side)
            .partition(|side| side.summary.completed());
        if done.is_empty() && undone.is_empty() {
            return Self::NotCompared(Why::NoPeer);
        }
        Self::between(&own, &done, &undone, quantity.better)
    }

    /// Judges the subject beside peers that completed, and peers that did not.
    fn between(own: &Side, done: &[Side], undone: &[Side], better: Better) -> Self {
        let best = |among: &dyn Fn(&Side) -> bool| {
            let among = done.iter().filter(|side| among(side));
            among.reduce(|best, one| if one.is_better(best, better) { one } else { best })
        };
        let few = |side: &Side| Self::NotCompared(Why::FewRunsOf(side.name, side.counted));
        if !own.is_enough() {
            return Self::NotCompared(Why::FewRuns(own.counted));
        }
        // To show that a peer does not complete takes as many runs as to show that it is slow.
        let untold = undone.iter().find(|side| !side.is_enough());
        if !own.summary.completed() {
            return match (best(&|_| true), untold) {
                (None, Some(side)) => few(side),
                // One run is enough to show that a peer completes.
                (best, _) => Self::Unfinished(best.map(|side| side.name)),
            };
        }
        let is_ahead = |side: &Side| side.is_better(own, better);
        if let Some(peer) = best(&|side| side.is_enough() && is_ahead(side) && side.differs(own)) {
            return Self::ratio(own, peer, Standing::Behind, better);
        }
        let in_doubt = best(&|side| !side.is_enough() && !own.is_apart(side, better));
        if let Some(side) = in_doubt.or(untold) {
            return few(side);
        }
        let is_beaten = |side: &Side| own.is_better(side, better) && own.differs(side);
        match best(&|side| side.is_enough() && !is_beaten(side)) {
            Some(peer) => Self::ratio(own, peer, Standing::Even, better),
            None => match best(&|_| true) {
                Some(peer) if peer.is_enough() => Self::ratio(own, peer, Standing::Ahead, better),
                // How far the subject is ahead of the nearest peer is unknown.
                Some(peer) => few(peer),
                None => Self::OnlyOne,
            },
        }
    }

    fn ratio(own: &Side, peer: &Side, standing: Standing, better: Better) -> Self {
        let is_better = own.summary.median == peer.summary.median || own.is_better(peer, better);
        Self::Compared { standing, factor: factor(own, peer), is_better, peer: peer.name }
    }

    /// Returns whether the subject is ahead, for a mark.
    pub fn standing(&self) -> Standing {
        match self {
            Self::Compared { standing, .. } => *standing,
            Self::OnlyOne => Standing::Ahead,
            Self::Unfinished(Some(_)) => Standing::Behind,
            Self::Unfinished(None) | Self::NotCompared(_) => Standing::Even,
        }
    }

    /// Returns the peer with which the subject was compared.
    pub fn peer(&self) -> Option<&'static str> {
        match self {
            Self::Compared { peer, .. } => Some(peer),
            Self::Unfinished(peer) => *peer,
            Self::OnlyOne | Self::NotCompared(_) => None,
        }
    }

    /// Returns words such as `2.1 x faster`, which follow the subject's name and `is`.
    pub fn words(&self, better: Better) -> String {
        match *self {
            Self::Compared { factor, .. } if factor < EQUAL => "equal".to_owned(),
            Self::Compared { standing, factor, is_better, .. } => {
                let word = match (better, is_better) {
                    (Better::Less(good, _) | Better::More(good, _), true) => good,
                    (Better::Less(_, bad) | Better::More(_, bad), false) => bad,
                    (Better::Neither, _) => "apart",
                };
                let doubt = if standing == Standing::Even { "?" } else { "" };
                format!("{} x {word}{doubt}", times(factor))
            }
            Self::OnlyOne => "only one to complete".to_owned(),
            Self::Unfinished(Some(_)) => "did not complete, a peer did".to_owned(),
            Self::Unfinished(None) => "no runtime completed".to_owned(),
            Self::NotCompared(why) => why.words(),
        }
    }

    /// Returns words that stand alone, with the peer's name: `2.1 x faster than tokio`. A loss must
    /// be as plain as a win.
    pub fn sentence(&self, better: Better) -> String {
        let words = self.plain(better);
        match *self {
            Self::Compared { factor, peer, .. } if factor < EQUAL => format!("{words} to {peer}"),
            Self::Compared { peer, .. } => format!("{words} than {peer}"),
            Self::Unfinished(Some(peer)) => format!("{words}: {peer}"),
            Self::OnlyOne | Self::Unfinished(None) | Self::NotCompared(_) => words,
        }
    }

    /// Returns the words for a terminal, where a loss has no colour and is in capitals.
    pub fn plain(&self, better: Better) -> String {
        let words = self.words(better);
        if self.standing() == Standing::Behind { words.to_uppercase() } else { words }
    }
}

/// Formats a factor, with two decimals near 1: a loss of 4 per cent must not be rounded to a draw.
fn times(factor: f64) -> String {
    match factor {
        f if f < 1.995 => format!("{f:.2}"),
        f if f < 19.95 => format!("{f:.1}"),
        f if f.is_infinite() => words::figure(f),
        f => words::thousands(f.round() as i64),
    }
}

impl Why {
    fn words(self) -> String {
        match self {
            Self::NoSubject => "not compared: subject not measured".to_owned(),
            Self::NoPeer => "no peer to compare".to_owned(),
            Self::Removed(why) => format!("not compared: {why}"),
            Self::FewRuns(runs) => format!("not compared: {} of {RUNS}", words::count(runs, "run")),
            Self::FewRunsOf(peer, runs) => {
                format!("not compared: {peer} has {} of {RUNS}", words::count(runs, "run"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::Description;
    use crate::kit::fake::run;
    use crate::quantity::{Drawn, Read};
    use crate::record::Record;
    use crate::rows::rows;
    use crate::rows::tests::{family, three};

    /// Returns the verdict of the only row.
    fn of(records: &[Vec<Record>]) -> Verdict {
        let (of, records): (Description, Vec<Record>) = (family(), records.concat());
        let rows = rows(&of, &records, &[]);
        assert_eq!(rows.len(), 1);
        Verdict::of(&rows[0], &of.experiments[0].quantities[0])
    }

    fn words(records: &[Vec<Record>]) -> String {
        of(records).words(Better::Less("faster", "slower"))
    }

    fn ours() -> Vec<Record> {
        three("evenkeel", [20.0, 21.0, 22.0])
    }

    fn dnc(runtime: &'static str) -> Vec<Record> {
        vec![Record { dnc: true, ..run(runtime, 2, 0.0) }; 3]
    }

    #[test]
    fn the_subject_is_compared_with_the_best_peer() {
        let peers = [three("tokio", [40.0, 42.0, 44.0]), three("go", [60.0, 61.0, 62.0])];
        let verdict = of(&[ours(), peers[0].clone(), peers[1].clone()]);
        let standing = Standing::Ahead;
        let due = Verdict::Compared { standing, factor: 2.0, is_better: true, peer: "tokio" };
        assert_eq!(verdict, due);
        assert_eq!(words(&[ours(), three("go", [10.0, 10.5, 11.0])]), "2.0 x slower");
        assert_eq!(words(&[ours(), three("go", [420.0, 420.0, 420.0])]), "20 x faster");
    }

    #[test]
    fn a_median_of_zero_is_ahead_by_no_finite_factor() {
        let zero = |runtime| three(runtime, [0.0; 3]);
        let verdict = of(&[ours(), zero("go")]);
        assert_eq!((verdict.standing(), verdict.peer()), (Standing::Behind, Some("go")));
        assert_eq!(words(&[ours(), zero("go")]), "∞ x slower");
        assert_eq!(words(&[zero("evenkeel"), three("go", [410.0; 3])]), "∞ x faster");
        assert_eq!(words(&[zero("evenkeel"), zero("go")]), "equal");
    }

    #[test]
    fn a_peer_that_is_surely_ahead_is_not_hidden_by_one_that_may_be() {
        let peers = [three("tokio", [10.0, 20.0, 30.0]), three("go", [20.5, 21.0, 21.5])];
        let ours = three("evenkeel", [29.0, 30.0, 31.0]);
        let verdict = of(&[ours, peers[0].clone(), peers[1].clone()]);
        assert_eq!((verdict.standing(), verdict.peer()), (Standing::Behind, Some("go")));
    }

    #[test]
    fn a_subject_that_may_be_behind_a_peer_is_not_ahead_of_every_peer() {
        let peers = [three("tokio", [39.0, 40.0, 41.0]), three("go", [19.0, 42.0, 60.0])];
        let verdict = of(&[ours(), peers[0].clone(), peers[1].clone()]);
        assert_eq!((verdict.standing(), verdict.peer()), (Standing::Even, Some("go")));
        assert_eq!(verdict.words(Better::Less("faster", "slower")), "2.0 x faster?");
    }

    #[test]
    fn a_peer_that_may_be_better_and_has_few_runs_leaves_no_winner() {
        let tokio = three("tokio", [40.0, 42.0, 44.0]);
        let go = three("go", [10.0, 10.5, 11.0]);
        let words = |go: &[Record]| words(&[ours(), tokio.clone(), go.to_vec()]);
        assert_eq!(words(&go[..2]), "not compared: go has 2 runs of 3");
        assert_eq!(words(&go), "2.0 x slower");
        assert_eq!(
            words(&three("go", [21.5, 60.0, 61.0])[..2]),
            "not compared: go has 2 runs of 3"
        );
        // A peer that is behind anyhow changes nothing.
        assert_eq!(words(&three("go", [60.0, 61.0, 62.0])[..2]), "2.0 x faster");
        // A peer that is behind, but nearer than the others, leaves the distance to the nearest
        // unknown.
        assert_eq!(words(&three("go", [23.0, 24.0, 25.0])[..1]), "not compared: go has 1 run of 3");
    }

    #[test]
    fn ranges_that_overlap_have_no_winner() {
        let verdict = [ours(), three("go", [21.5, 26.0, 27.0])];
        assert_eq!(words(&verdict), "1.24 x faster?");
        assert_eq!(of(&verdict).standing(), Standing::Even);
        assert_eq!(
            words(&[ours(), ours()[..0].to_vec(), three("go", [20.0, 21.05, 30.0])]),
            "equal"
        );
    }

    #[test]
    fn one_run_against_one_run_is_no_win() {
        let few = |runs| ours()[..runs].to_vec();
        let peer = three("tokio", [146.0, 147.0, 148.0]);
        assert_eq!(words(&[few(1), peer.clone()]), "not compared: 1 run of 3");
        assert_eq!(words(&[few(2), peer.clone()]), "not compared: 2 runs of 3");
        assert_eq!(words(&[few(1), peer[..1].to_vec()]), "not compared: 1 run of 3");
        assert_eq!(words(&[ours(), peer[..2].to_vec()]), "not compared: tokio has 2 runs of 3");
    }

    #[test]
    fn runs_that_do_not_count_win_nothing() {
        let disturbed: Vec<Record> = ours()
            .into_iter()
            .map(|mut record| {
                record.quiet.cpu_share = 0.55;
                record
            })
            .collect();
        let peer = three("tokio", [146.0, 147.0, 148.0]);
        assert_eq!(words(&[disturbed, peer.clone()]), "not compared: 0 runs of 3");
        let mut mixed = [ours(), peer];
        mixed.iter_mut().flatten().for_each(|record| record.quiet.regime = "mixed".into());
        assert_eq!(words(&mixed), "not compared: 0 runs of 3");
    }

    #[test]
    fn a_peer_that_does_not_complete_is_no_peer_to_lose_to() {
        assert_eq!(of(&[ours(), dnc("go")]), Verdict::OnlyOne);
        let peer = three("tokio", [40.0, 42.0, 44.0]);
        assert_eq!(of(&[dnc("evenkeel"), peer.clone()]), Verdict::Unfinished(Some("tokio")));
        assert_eq!(of(&[dnc("evenkeel"), dnc("go")]), Verdict::Unfinished(None));
        assert_eq!(of(&[ours(), dnc("go"), peer.clone()]).peer(), Some("tokio"));
        // One run shows that a peer completes.
        let once = peer[..1].to_vec();
        assert_eq!(of(&[dnc("evenkeel"), once]), Verdict::Unfinished(Some("tokio")));
    }

    #[test]
    fn one_run_that_does_not_complete_decides_nothing() {
        let once = |runtime| dnc(runtime)[..1].to_vec();
        assert_eq!(words(&[ours(), once("go")]), "not compared: go has 1 run of 3");
        let peer = three("tokio", [40.0, 42.0, 44.0]);
        assert_eq!(words(&[once("evenkeel"), peer.clone()]), "not compared: 1 run of 3");
        // One run of several that does not complete is the worst of them.
        let go = [peer, once("go")].concat().into_iter();
        let go: Vec<Record> = go.map(|run| Record { runtime: "go".into(), ..run }).collect();
        assert_eq!(words(&[ours(), go]), "2.0 x faster");
    }

    #[test]
    fn what_did_not_complete_while_it_was_disturbed_decides_nothing() {
        let mut disturbed = dnc("go");
        disturbed.iter_mut().for_each(|run| run.quiet.cpu_share = 0.5);
        assert_eq!(words(&[ours(), disturbed.clone()]), "not compared: go has 0 runs of 3");
        let peer = three("tokio", [40.0, 42.0, 44.0]);
        let others = [ours(), disturbed.clone(), peer.clone()];
        assert_eq!(words(&others), "not compared: go has 0 runs of 3");
        let none = [dnc("evenkeel"), disturbed.clone()];
        assert_eq!(words(&none), "not compared: go has 0 runs of 3");
        disturbed.iter_mut().for_each(|run| run.runtime = "evenkeel".into());
        assert_eq!(words(&[disturbed, peer]), "not compared: 0 runs of 3");
    }

    #[test]
    fn what_is_missing_is_said() {
        assert_eq!(of(&[ours()]), Verdict::NotCompared(Why::NoPeer));
        let peer = three("tokio", [40.0, 42.0, 44.0]);
        assert_eq!(of(&[peer]), Verdict::NotCompared(Why::NoSubject));
        assert_eq!(
            of(&[ours(), three("call", [1.0, 1.0, 1.0])]),
            Verdict::NotCompared(Why::NoPeer)
        );
    }

    #[test]
    fn a_case_of_which_nothing_is_left_is_not_compared() {
        let mut records = [ours(), three("tokio", [40.0, 42.0, 44.0])];
        records.iter_mut().flatten().for_each(|record| record.case.variant = "removed".into());
        assert_eq!(words(&records), "not compared: nothing is left of it");
    }

    #[test]
    fn more_can_be_better() {
        let quantity = Quantity {
            name: "Mop/s",
            read: Read::Field("ns"),
            better: Better::More("better", "worse"),
            drawn: Drawn::No,
        };
        let of = family();
        let say = |peer: Vec<Record>| {
            let records = [ours(), peer].concat();
            Verdict::of(&rows(&of, &records, &[])[0], &quantity).words(quantity.better)
        };
        assert_eq!(say(three("tokio", [42.0, 42.0, 42.0])), "2.0 x worse");
        assert_eq!(say(three("tokio", [7.0, 7.0, 7.0])), "3.0 x better");
        assert_eq!(say(dnc("tokio")), "only one to complete");
    }
}
