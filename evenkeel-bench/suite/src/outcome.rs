//! The outcome of a whole session: each family's tally, and the worst losses.

use super::description::Description;
use super::entry::Measured;
use super::rows::{Row, rows};
use super::table::{Plain, plain};
use super::tally::Tally;
use super::verdict::Verdict;
use crate::verdict::Standing;
use crate::words;

/// The number of losses that are named.
const NAMED: usize = 3;

/// The verdicts of a session.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Each measured family, in the order in which it was measured.
    pub families: Vec<Ended>,
    /// All of them together.
    pub all: Tally,
    /// All losses: the cases that only peers complete, then the largest factors by which a peer is
    /// ahead.
    pub losses: Vec<Loss>,
}

/// The outcome of one family.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its place on the page.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Its verdicts.
    pub tally: Tally,
}

/// A row in which a peer is ahead.
#[derive(Clone, Debug)]
pub struct Loss {
    /// The case and the quantity.
    pub what: String,
    /// The experiment, where the page shows the row.
    pub bench: &'static str,
    /// Such as `2.1 X SLOWER than go-hand`.
    pub words: String,
    factor: f64,
}

impl Outcome {
    /// Judges all measurements.
    pub fn of(measured: &[Measured]) -> Self {
        let (mut families, mut all_losses) = (Vec::new(), Vec::new());
        for Measured { of, records, absent } in measured {
            let rows = rows(of, records, absent);
            if !rows.is_empty() {
                let Description { name, title, .. } = *of;
                families.push(Ended { name, title, tally: Tally::of(&rows) });
                all_losses.extend(rows.iter().flat_map(losses));
            }
        }
        all_losses.sort_by(|a: &Loss, b| b.factor.total_cmp(&a.factor));
        let all = families.iter().map(|family| family.tally).sum();
        Self { families, all, losses: all_losses }
    }

    /// Returns the losses that a summary names.
    pub fn worst(&self) -> &[Loss] {
        &self.losses[..self.losses.len().min(NAMED)]
    }

    /// Renders the summary for one screen: a line for each family, then the worst losses.
    pub fn render(&self, width: Option<u16>) -> String {
        let mut text = plain(&self.counts(), width);
        if !self.losses.is_empty() {
            text.push_str(&format!("\n{}:\n", words::capital(&self.headline())));
        }
        for Loss { what, words, .. } in self.worst() {
            text.push_str(&super::table::wrapped(&format!("  {what}: {words}"), width));
        }
        text
    }

    /// Returns the table of the tallies: a line for each family, and one for all.
    pub fn counts(&self) -> Plain {
        const HEADING: [&str; 6] = ["", "won", "lost", "even", "unfinished", "not compared"];
        let line = |title: &str, tally: &Tally| {
            let counts = tally.parts().map(|(_, count)| count.to_string());
            [title.to_owned()].into_iter().chain(counts).collect()
        };
        let mut lines: Vec<Vec<String>> =
            self.families.iter().map(|family| line(family.title, &family.tally)).collect();
        lines.push(line("all", &self.all));
        Plain { heading: HEADING.map(str::to_owned).to_vec(), lines, figures: 1..HEADING.len() }
    }

    /// Returns the heading of the worst losses.
    pub fn headline(&self) -> String {
        match self.worst().len() {
            1 => "the only loss".to_owned(),
            number => format!("the {} losses", if number < NAMED { "two" } else { "three worst" }),
        }
    }
}

/// Returns the losses of a row. The worst is not to complete where a peer does.
fn losses(row: &Row<'_>) -> Vec<Loss> {
    let loss = |quantity| {
        let verdict = Verdict::of(row, quantity);
        let factor = match verdict {
            // A ratio to zero is no worse than not to complete.
            Verdict::Compared { standing: Standing::Behind, factor, .. } => factor.min(f64::MAX),
            Verdict::Unfinished(Some(_)) => f64::INFINITY,
            _ => return None,
        };
        Some(Loss {
            what: format!("{}, {}", row.name(), quantity.name),
            bench: row.experiment.name,
            words: verdict.sentence(quantity.better),
            factor,
        })
    };
    row.quantities().filter(|quantity| quantity.is_compared()).filter_map(loss).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::record::Record;
    use crate::rows::tests::{family, three};

    /// A row for each of these figures of the peer, beside 20 ns of the subject.
    fn measured(peer: &[f64]) -> Measured {
        let mut records: Vec<Record> = Vec::new();
        for (tasks, ns) in peer.iter().enumerate() {
            let mut row = [three("evenkeel", [20.0; 3]), three("tokio", [*ns; 3])].concat();
            for record in &mut row {
                record.case = Case::new("cycle", "-", 2).with("tasks", tasks);
            }
            records.extend(row);
        }
        Measured { of: family(), records, absent: Vec::new() }
    }

    #[test]
    fn the_summary_adds_up_and_names_the_worst_losses_first() {
        let outcome = Outcome::of(&[measured(&[10.0, 2.0, 40.0, 5.0, 4.0]), measured(&[20.0])]);
        assert_eq!((outcome.all.won, outcome.all.lost, outcome.all.even), (1, 4, 1));
        assert_eq!(outcome.families.len(), 2);
        let words: Vec<&str> = outcome.worst().iter().map(|loss| loss.words.as_str()).collect();
        assert_eq!(
            words,
            ["10.0 X SLOWER than tokio", "5.0 X SLOWER than tokio", "4.0 X SLOWER than tokio"]
        );
        let text = outcome.render(Some(80));
        assert!(text.contains("The three worst losses:"), "{text}");
        assert!(
            text.contains("cycle, 2 workers, tasks 1, cores near, ns: 10.0 X SLOWER"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn what_only_peers_complete_comes_before_a_ratio_to_zero() {
        let mut measured = measured(&[0.0, 10.0]);
        let own =
            |run: &&mut Record| run.runtime == "evenkeel" && run.figures.number("ns").is_some();
        let last = measured.records.len() / 2;
        measured.records[last..].iter_mut().filter(own).for_each(|run| run.dnc = true);
        let outcome = Outcome::of(&[measured]);
        let words: Vec<&str> = outcome.worst().iter().map(|loss| loss.words.as_str()).collect();
        assert_eq!(words, ["DID NOT COMPLETE, A PEER DID: tokio", "∞ X SLOWER than tokio"]);
    }

    #[test]
    fn families_of_which_nothing_was_measured_are_left_out() {
        let outcome = Outcome::of(&[measured(&[])]);
        assert!(outcome.families.is_empty() && outcome.losses.is_empty());
        assert!(!outcome.render(None).contains("losses"));
    }

    #[test]
    fn fewer_losses_are_called_what_they_are() {
        let of = |peer: &[f64]| Outcome::of(&[measured(peer)]).headline();
        assert_eq!(of(&[10.0]), "the only loss");
        assert_eq!(of(&[10.0, 5.0]), "the two losses");
    }
}
