//! What a row says of the subject beside its best peer.
//!
//! Only peers with [`RUNS`] runs that count are compared, and the subject needs as many. The
//! rule is the same in every family.

use super::enough::RUNS;
use super::peer::Role;
use super::quantity::{Better, Quantity};
use super::rows::{Cell, Row};
use super::summary::Summary;
use crate::words;

/// Who is ahead; a page marks it by colour as well as by the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The subject is ahead of every peer.
    Ahead,
    /// A peer is ahead of the subject.
    Behind,
    /// Equal, or nothing to compare, or their ranges overlap: chance may have made the difference.
    Even,
}

/// What the question mark after a ratio means.
pub const DOUBT: &str = "?: the ranges overlap, so it may be chance";

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The subject is this many times as good as the best peer, or so many times as bad.
    Compared {
        /// Who is ahead; neither, if their ranges overlap or the figures are equal.
        standing: Standing,
        /// From 1 on.
        factor: f64,
        /// Whether the subject's median is the better one.
        is_better: bool,
        /// The best peer.
        peer: &'static str,
    },
    /// The subject completes, and no peer does.
    OnlyOne,
    /// The subject does not complete; the peer that does, if there is one.
    Unfinished(Option<&'static str>),
    /// Nothing can be said.
    NotCompared(Why),
}

/// Why nothing can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The subject has no figure.
    NoSubject,
    /// No peer has one.
    NoPeer,
    /// The subject has only so many runs that count.
    FewRuns(usize),
    /// No peer has enough of them, and this one, the best, has so many.
    FewRunsOf(&'static str, usize),
    /// Nothing is left of what is measured, for this reason.
    Removed(&'static str),
}

/// Figures that differ by less are equal.
const EQUAL: f64 = 1.005;

impl Verdict {
    /// Compares the subject with the best peer of the row.
    pub fn of(row: &Row<'_>, quantity: &Quantity) -> Self {
        if let Some(why) = row.removed {
            return Self::NotCompared(Why::Removed(why));
        }
        let figure = |cell| Some((cell, row.summary(quantity, cell)?));
        let of = |role| row.cells.iter().filter(move |cell| cell.peer.role == role);
        let Some((subject, own)) = of(Role::Subject).find_map(figure) else {
            return Self::NotCompared(Why::NoSubject);
        };
        let peers: Vec<(&Cell<'_>, Summary)> = of(Role::Peer).filter_map(figure).collect();
        let best = |among: &dyn Fn(&Cell<'_>) -> bool| {
            let completed = peers.iter().filter(|(cell, of)| among(cell) && of.completed());
            completed.copied().reduce(|best, one| {
                let is_better = quantity.better.is_better(one.1.median, best.1.median);
                if is_better { one } else { best }
            })
        };
        match best(&|cell| cell.is_enough()) {
            _ if peers.is_empty() => Self::NotCompared(Why::NoPeer),
            best if !own.completed() => Self::Unfinished(best.map(|(cell, _)| cell.peer.name)),
            _ if !subject.is_enough() => Self::NotCompared(Why::FewRuns(subject.counted)),
            Some((peer, other)) => Self::ratio(quantity.better, &own, &other, peer.peer.name),
            None => match best(&|_| true) {
                None => Self::OnlyOne,
                Some((few, _)) => Self::NotCompared(Why::FewRunsOf(few.peer.name, few.counted)),
            },
        }
    }

    fn ratio(better: Better, own: &Summary, other: &Summary, peer: &'static str) -> Self {
        let (a, b) = (own.median, other.median);
        let is_better = a == b || better.is_better(a, b);
        let factor = if a == b { 1.0 } else { a.max(b) / a.min(b) };
        let standing = match is_better {
            _ if factor < EQUAL || own.overlaps(other) => Standing::Even,
            true => Standing::Ahead,
            false => Standing::Behind,
        };
        Self::Compared { standing, factor, is_better, peer }
    }

    /// Who is ahead, for a mark.
    pub fn standing(&self) -> Standing {
        match self {
            Self::Compared { standing, .. } => *standing,
            Self::OnlyOne => Standing::Ahead,
            Self::Unfinished(Some(_)) => Standing::Behind,
            Self::Unfinished(None) | Self::NotCompared(_) => Standing::Even,
        }
    }

    /// The peer that it is about.
    pub fn peer(&self) -> Option<&'static str> {
        match self {
            Self::Compared { peer, .. } => Some(peer),
            Self::Unfinished(peer) => *peer,
            Self::OnlyOne | Self::NotCompared(_) => None,
        }
    }

    /// Such as `2.1 x faster`, which follows the subject's name and `is`.
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

    /// The same where it stands alone, with the peer that it is about: `2.1 x faster than tokio`.
    /// A loss is to be as plain as a win.
    pub fn sentence(&self, better: Better) -> String {
        let words = self.plain(better);
        match *self {
            Self::Compared { factor, peer, .. } if factor < EQUAL => format!("{words} to {peer}"),
            Self::Compared { peer, .. } => format!("{words} than {peer}"),
            Self::Unfinished(Some(peer)) => format!("{words}: {peer}"),
            Self::OnlyOne | Self::Unfinished(None) | Self::NotCompared(_) => words,
        }
    }

    /// The words for a terminal, where a loss has no colour and stands in capitals.
    pub fn plain(&self, better: Better) -> String {
        let words = self.words(better);
        if self.standing() == Standing::Behind { words.to_uppercase() } else { words }
    }
}

/// Two decimals near 1, because a loss of 4 per cent must not be rounded to a draw.
fn times(factor: f64) -> String {
    match factor {
        f if f < 1.995 => format!("{f:.2}"),
        f if f < 19.95 => format!("{f:.1}"),
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

    /// The verdict of the only row.
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
        vec![Record { dnc: true, ..run(runtime, 2, 0.0) }]
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
        assert_eq!(of(&[ours(), dnc("go"), peer]).peer(), Some("tokio"));
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
