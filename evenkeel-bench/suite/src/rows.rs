//! Makes rows from records: all peers of one case, each with the runs that count.
//!
//! A row belongs to one regime of the cores and excludes runs of others: a line that crosses
//! between two last-level caches costs several times as much as one that does not. Excluded runs
//! are counted, so that tables and pages can report them.

use std::fmt;

use super::case::Case;
use super::description::{Description, Experiment};
use super::enough::{Counts, counts, regime};
use super::peer::{Known, Role};
use super::published::Average;
use super::quantity::Quantity;
use super::record::Record;
use super::summary::Summary;

/// A peer without a run of a case, or without further ones, and the reason.
#[derive(Clone, Debug)]
pub struct Absent {
    /// The case.
    pub case: Case,
    /// The peer.
    pub runtime: &'static str,
    /// The reason, as the end of a sentence.
    pub why: String,
    /// The number of its runs before that.
    pub runs: usize,
}

/// Formats such as `go has no figure of cycle, 2 workers: it took too long`.
impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figure = if self.runs == 0 { "figure" } else { "further figure" };
        write!(f, "{} has no {figure} of {}: {}", self.runtime, self.case, self.why)
    }
}

/// One case, on all peers that were measured in it.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The case.
    pub case: &'a Case,
    /// Its experiment.
    pub experiment: &'a Experiment,
    /// The distance of the cores; `None` if its runs do not depend on it.
    pub regime: Option<&'a str>,
    /// The peers that were measured, in the order of the tables.
    pub cells: Vec<Cell<'a>>,
    /// The peers that were not measured, though they could be.
    pub absent: Vec<&'a Absent>,
    /// The runs that do not count.
    pub left_out: LeftOut,
    /// Why it is not compared, whatever its figures are; `None` if it is.
    pub removed: Option<&'static str>,
    /// All records of the family, for figures that are relative to those of other rows.
    all: &'a [Record],
}

/// The runs of one peer in a row.
#[derive(Clone, Debug)]
pub struct Cell<'a> {
    /// The peer.
    pub peer: Known,
    /// Its runs that count; all of them if none does.
    pub runs: Vec<&'a Record>,
    /// The number of its runs that count.
    pub counted: usize,
}

/// The numbers of runs that do not count, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Other processes took time of their cores.
    pub disturbed: usize,
    /// The distance of the cores changed.
    pub mixed: usize,
    /// The cores were nearer or farther than in the row.
    pub elsewhere: usize,
}

/// Makes all rows: by experiment, then by variant, then in the order of measurement. Leaves out
/// records of experiments and peers that the family does not know.
pub fn rows<'a>(of: &'a Description, records: &'a [Record], absent: &'a [Absent]) -> Vec<Row<'a>> {
    let mut cases: Vec<(&Case, &Experiment)> = Vec::new();
    let measured = records.iter().map(|record| &record.case);
    for case in measured.chain(absent.iter().map(|absent| &absent.case)) {
        let experiment = of.experiment(&case.bench);
        if !cases.iter().any(|(known, _)| *known == case) {
            cases.extend(experiment.map(|experiment| (case, experiment)));
        }
    }
    let place = |(case, experiment): &(&Case, &Experiment)| {
        let variant = experiment.variants.iter().position(|variant| case.variant == *variant);
        (of.experiments.iter().position(|known| known.name == experiment.name), variant)
    };
    cases.sort_by_key(place);
    let row = |(case, experiment)| row(of, case, experiment, records, absent);
    cases.into_iter().map(row).collect()
}

fn row<'a>(
    of: &Description,
    case: &'a Case,
    experiment: &'a Experiment,
    all: &'a [Record],
    absent: &'a [Absent],
) -> Row<'a> {
    let own: Vec<&Record> = all.iter().filter(|record| record.case == *case).collect();
    let regime = if experiment.is_bound(case) { regime(&own, of.subject()) } else { None };
    let mut left_out = LeftOut::default();
    let mut cells = Vec::new();
    for peer in &of.peers {
        let runs: Vec<&Record> = own.iter().copied().filter(|r| r.runtime == peer.name).collect();
        let mut counted = Vec::new();
        for run in &runs {
            match counts(run, regime) {
                Counts::Yes => counted.push(*run),
                Counts::Disturbed => left_out.disturbed += 1,
                Counts::Mixed => left_out.mixed += 1,
                Counts::Elsewhere => left_out.elsewhere += 1,
            }
        }
        if !runs.is_empty() {
            let number = counted.len();
            let runs = if counted.is_empty() { runs } else { counted };
            cells.push(Cell { peer: *peer, runs, counted: number });
        }
    }
    let absent = absent.iter().filter(|absent| absent.case == *case).collect();
    let removed = (of.removed)(case);
    Row { case, experiment, regime, cells, absent, left_out, removed, all }
}

impl<'a> Row<'a> {
    /// Returns the row in words: its case, and the distance of the cores.
    pub fn name(&self) -> String {
        let cores = self.regime.map_or(String::new(), |regime| format!(", cores {regime}"));
        format!("{}{cores}", self.case)
    }

    /// Returns the cell of a peer, if it was measured.
    pub fn cell(&self, name: &str) -> Option<&Cell<'a>> {
        self.cells.iter().find(|cell| cell.peer.name == name)
    }

    /// Returns the quantities with a figure in any cell. If no run of the row completes, these are
    /// all that are compared, too.
    pub fn quantities(&self) -> impl Iterator<Item = &'a Quantity> {
        let all: &'a [Quantity] = self.experiment.quantities;
        // What did not complete is infinitely bad by each compared quantity, also by one that is
        // not measured in this row.
        let is_complete = all.iter().any(|one| one.is_compared() && self.has(one, f64::is_finite));
        all.iter().filter(move |one| self.has(one, |figure| figure.is_finite() || !is_complete))
    }

    /// Returns whether a run has such a figure.
    fn has(&self, quantity: &Quantity, is: impl Fn(f64) -> bool) -> bool {
        self.cells.iter().any(|cell| self.figures(quantity, cell).into_iter().any(&is))
    }

    /// Returns the figure of a cell.
    pub fn summary(&self, quantity: &Quantity, cell: &Cell<'_>) -> Option<Summary> {
        Summary::of(self.figures(quantity, cell))
    }

    /// Returns the average of the runs that count in a cell; `None` if there are fewer than two.
    pub fn average(&self, quantity: &Quantity, cell: &Cell<'_>) -> Option<Average> {
        Average::of(&self.figures(quantity, cell)).filter(|_| cell.counted > 0)
    }

    pub(super) fn figures(&self, quantity: &Quantity, cell: &Cell<'_>) -> Vec<f64> {
        cell.runs.iter().filter_map(|record| quantity.of(record, self.all)).collect()
    }

    /// Returns the name of the best peer among those compared, if there are at least two.
    pub fn best(&self, quantity: &Quantity) -> Option<&'static str> {
        let compared = |cell: &&Cell<'_>| {
            cell.is_enough() && matches!(cell.peer.role, Role::Subject | Role::Peer)
        };
        let figure = |cell: &Cell<'_>| {
            let summary = self.summary(quantity, cell).filter(Summary::completed)?;
            Some((cell.peer.name, summary.median))
        };
        let figures: Vec<_> = self.cells.iter().filter(compared).filter_map(figure).collect();
        if figures.len() < 2 || !quantity.is_compared() || self.removed.is_some() {
            return None;
        }
        let better = |best: (_, f64), one: (_, f64)| {
            if quantity.better.is_better(one.1, best.1) { one } else { best }
        };
        figures.into_iter().reduce(better).map(|(name, _)| name)
    }
}

impl Cell<'_> {
    /// Returns whether it has enough runs to be compared.
    pub fn is_enough(&self) -> bool {
        self.counted >= super::enough::RUNS
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::kit::fake::run;
    use crate::published::Published;
    use crate::quantity::{Better, Drawn, Read};
    use crate::words;

    const NS: Quantity = Quantity {
        name: "ns",
        read: Read::Field("ns"),
        better: Better::Less("faster", "slower"),
        drawn: Drawn::Dots,
    };
    const QUANTITIES: [Quantity; 2] = [
        NS,
        Quantity {
            name: "share of the best, %",
            read: Read::Derived(|record, all| {
                let ns = |record: &Record| record.figures.number("ns");
                let best = all.iter().filter_map(ns).reduce(f64::min)?;
                Some(best / ns(record)? * 100.0)
            }),
            better: Better::Neither,
            drawn: Drawn::No,
        },
    ];

    /// A family with one experiment.
    pub(crate) fn family() -> Description {
        let peer = |name, role, slot| Known { name, what: "a peer", role, slot };
        let cycle = Experiment {
            name: "cycle",
            what: "rings pass a token",
            variants: Vec::new(),
            settings: &["tasks"],
            options: &["procs"],
            quantities: &QUANTITIES,
            depends_on_distance: true,
        };
        Description {
            name: "rings",
            title: "Rings",
            about: "A ring is passed on.",
            experiments: vec![cycle],
            aliases: Vec::new(),
            peers: vec![
                peer("evenkeel", Role::Subject, 0),
                peer("tokio", Role::Peer, 1),
                peer("go", Role::Peer, 2),
                peer("call", Role::Floor, 3),
            ],
            published: |case| match case.workers {
                2 => vec![Published {
                    system: "published Cilk",
                    median: 23.0,
                    figure: "23 / 24 ± 1".into(),
                }],
                _ => Vec::new(),
            },
            removed: |case| (case.variant == "removed").then_some("nothing is left of it"),
            remarks: |rows| vec![format!("{} in all:\n  listed", words::count(rows.len(), "row"))],
            draws: false,
            pictures: |_| Vec::new(),
            listed: |_| None,
            appendix: |_| String::new(),
        }
    }

    /// Three runs of a peer on two workers.
    pub(crate) fn three(runtime: &'static str, ns: [f64; 3]) -> Vec<Record> {
        ns.into_iter().map(|ns| run(runtime, 2, ns)).collect()
    }

    #[test]
    fn a_row_holds_the_runs_that_count_and_counts_the_others() {
        let of = family();
        let mut records = three("evenkeel", [20.0, 21.0, 22.0]);
        records.extend(three("tokio", [40.0, 41.0, 42.0]));
        records[1].quiet.cpu_share = 0.55;
        records[4].quiet.regime = "far".into();
        records[5].quiet.regime = "mixed".into();
        let rows = rows(&of, &records, &[]);
        let [row] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!(row.regime, Some("near"));
        assert_eq!(row.left_out, LeftOut { disturbed: 1, mixed: 1, elsewhere: 1 });
        let summary = |name| row.summary(&NS, row.cell(name).unwrap()).unwrap();
        assert_eq!((summary("evenkeel").median, summary("evenkeel").runs), (21.0, 2));
        assert_eq!((summary("tokio").median, summary("tokio").runs), (40.0, 1));
    }

    #[test]
    fn a_cell_of_which_no_run_counts_shows_all_of_them() {
        let of = family();
        let mut records = three("evenkeel", [20.0, 21.0, 22.0]);
        records.extend(three("tokio", [40.0, 41.0, 42.0]));
        records[3..].iter_mut().for_each(|record| record.quiet.regime = "far".into());
        let rows = rows(&of, &records, &[]);
        let cell = rows[0].cell("tokio").unwrap();
        assert_eq!((cell.counted, cell.runs.len()), (0, 3));
        assert_eq!(rows[0].average(&NS, cell), None);
        assert!(rows[0].average(&NS, rows[0].cell("evenkeel").unwrap()).is_some());
        assert_eq!(rows[0].best(&NS), None);
    }

    #[test]
    fn cases_are_rows_of_their_own_and_one_worker_has_no_regime() {
        let of = family();
        let mut records = vec![run("tokio", 2, 40.0), run("evenkeel", 1, 18.0)];
        records.push(Record { case: Case::new("unknown", "-", 1), ..records[0].clone() });
        records.push(Record { runtime: "forgotten".into(), ..records[0].clone() });
        records.push(run("evenkeel", 2, 20.0));
        let rows = rows(&of, &records, &[]);
        let seen: Vec<_> = rows
            .iter()
            .map(|row| {
                let names: Vec<_> = row.cells.iter().map(|cell| cell.peer.name).collect();
                (row.case.workers, row.regime, names)
            })
            .collect();
        assert_eq!(
            seen,
            [(2, Some("near"), vec!["evenkeel", "tokio"]), (1, None, vec!["evenkeel"])]
        );
    }

    #[test]
    fn what_did_not_complete_has_no_figures_that_others_have_not() {
        const LATE: Quantity = Quantity { name: "late", read: Read::Field("late"), ..NS };
        let mut of = family();
        of.experiments[0].quantities = &[NS, LATE];
        let names = |records: &[Record]| {
            let rows = rows(&of, records, &[]);
            rows[0].quantities().map(|quantity| quantity.name).collect::<Vec<_>>()
        };
        let dnc = vec![Record { dnc: true, ..run("go", 2, 0.0) }; 3];
        assert_eq!(names(&[three("evenkeel", [20.0; 3]), dnc.clone()].concat()), ["ns"]);
        // A row in which nothing completes stays.
        assert_eq!(names(&dnc), ["ns", "late"]);
    }

    #[test]
    fn the_best_is_of_those_that_are_compared() {
        let of = family();
        let mut records = three("evenkeel", [20.0, 21.0, 22.0]);
        records.extend(three("call", [1.0, 1.0, 1.0]));
        records.push(run("go", 2, 2.0));
        assert_eq!(rows(&of, &records, &[])[0].best(&NS), None);
        records.extend(three("tokio", [40.0, 41.0, 42.0]));
        assert_eq!(rows(&of, &records, &[])[0].best(&NS), Some("evenkeel"));
        let derived = &QUANTITIES[1];
        assert_eq!(rows(&of, &records, &[])[0].best(derived), None);
        let rows = rows(&of, &records, &[]);
        let summary = rows[0].summary(derived, rows[0].cell("go").unwrap()).unwrap();
        assert_eq!(summary.median, 50.0);
    }
}
