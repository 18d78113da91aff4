//! Counts the verdicts on the rows of a family.

use std::iter::Sum;

use super::rows::Row;
use super::verdict::Verdict;
use crate::verdict::Standing;

/// The number of verdicts of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The subject is ahead of every peer, or only it completes.
    pub won: usize,
    /// A peer is ahead, or completes where the subject does not.
    pub lost: usize,
    /// The subject and its peers were compared, and neither is ahead.
    pub even: usize,
    /// No runtime completes.
    pub unfinished: usize,
    /// Not compared.
    pub not_compared: usize,
}

impl Tally {
    /// Counts each compared quantity of each row, except rows that are not to be compared.
    pub fn of(rows: &[Row<'_>]) -> Self {
        let mut tally = Self::default();
        for row in rows.iter().filter(|row| row.removed.is_none()) {
            for quantity in row.quantities().filter(|quantity| quantity.is_compared()) {
                let verdict = Verdict::of(row, quantity);
                *match (verdict, verdict.standing()) {
                    (Verdict::NotCompared(_), _) => &mut tally.not_compared,
                    (Verdict::Unfinished(None), _) => &mut tally.unfinished,
                    (_, Standing::Ahead) => &mut tally.won,
                    (_, Standing::Behind) => &mut tally.lost,
                    (_, Standing::Even) => &mut tally.even,
                } += 1;
            }
        }
        tally
    }

    /// Returns the number of verdicts.
    pub fn all(&self) -> usize {
        self.parts().into_iter().map(|(_, count)| count).sum()
    }

    /// Returns each kind with its count, in the order of tables and pictures.
    pub fn parts(&self) -> [(&'static str, usize); 5] {
        let Self { won, lost, even, unfinished, not_compared } = *self;
        [
            ("won", won),
            ("lost", lost),
            ("even", even),
            ("unfinished", unfinished),
            ("not compared", not_compared),
        ]
    }

    /// Returns the counts in words: `won 3, lost 1, even 2, not compared 4`.
    pub fn words(&self) -> String {
        let is_said = |(kind, count): &(&str, usize)| *kind != "unfinished" || *count > 0;
        let say = |(kind, count)| format!("{kind} {count}");
        let said: Vec<String> = self.parts().into_iter().filter(is_said).map(say).collect();
        said.join(", ")
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |a, b| Self {
            won: a.won + b.won,
            lost: a.lost + b.lost,
            even: a.even + b.even,
            unfinished: a.unfinished + b.unfinished,
            not_compared: a.not_compared + b.not_compared,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;
    use crate::rows::rows;
    use crate::rows::tests::{family, three};

    #[test]
    fn each_compared_quantity_of_a_row_ends_in_one_way() {
        let of = family();
        let peers = [[40.0; 3], [10.0; 3], [21.5, 26.0, 27.0], [0.0; 3], [40.0; 3]];
        let mut records: Vec<Record> = Vec::new();
        for (tasks, peer) in peers.into_iter().enumerate() {
            let mut row = [three("evenkeel", [20.0, 21.0, 22.0]), three("tokio", peer)].concat();
            for record in &mut row {
                record.case = crate::case::Case::new("cycle", "-", 2).with("tasks", tasks);
                // The subject's runs of the last row but one did not complete.
                record.dnc = tasks == 3 && record.runtime == "evenkeel";
                if tasks == 4 {
                    record.quiet.cpu_share = 0.5;
                }
            }
            records.extend(row);
        }
        // Nothing is left of the work of one row, which gives no verdict.
        records.extend(three("evenkeel", [1.0; 3]).into_iter().map(|mut record| {
            record.case.variant = "removed".into();
            record
        }));
        let rows = rows(&of, &records, &[]);
        let tally = Tally::of(&rows);
        let due = Tally { won: 1, lost: 2, even: 1, unfinished: 0, not_compared: 1 };
        assert_eq!((rows.len(), tally), (6, due));
        assert_eq!(tally.words(), "won 1, lost 2, even 1, not compared 1");
    }
}
