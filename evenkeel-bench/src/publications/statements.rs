//! What publications state of several systems, beside what is measured here.
//!
//! A simulation judges statements about a publication's own system. These are about its peers too,
//! and are judged by the rows that were measured with the most workers.

use super::agreement::Agreement;
use crate::analysis::tables::Table;
use suite::entry::Measured;
use suite::rows::{Row, rows};
use suite::words;

/// A statement.
struct Statement {
    /// The publication's `id`.
    of: &'static str,
    stated: &'static str,
    judged: Judged,
    /// Why it differs, where it does: in terms of how the systems are made.
    why: &'static str,
}

/// How a statement is judged.
enum Judged {
    /// By what is measured: says what is found, and whether it agrees.
    Here(fn(&[Row<'_>]) -> Option<(String, bool)>),
    /// Not: this is the reason.
    Not(&'static str),
}

/// Two systems are alike within this factor.
const ALIKE: f64 = 1.25;

/// The thesis on C∀'s scheduler takes times of transfers within this factor for equal.
const EQUAL: f64 = 10.0;

const LIGHT: &str = "a task here is a future without a stack, and its wake takes no lock; the thesis compares threads and tasks that all wake through shared queues";

/// Where it usually agrees.
const UNKNOWN: &str = "it is not known: it usually agrees";

const NO_LIBFIBRE: &str = "libfibre is not measured";

const NO_PROCESSORS: &str =
    "it is about 16 to 256 processors, and peers are measured on those of this machine alone";

static STATEMENTS: [Statement; 12] = [
    Statement {
        of: "scheduler",
        stated: "Cycle, many tasks: C∀, Go and Tokio are the same.",
        judged: Judged::Here(|rows| alike(rows, "cycle", "-")),
        why: LIGHT,
    },
    Statement {
        of: "scheduler",
        stated: "Yield: Go and Tokio collapse, C∀ does not.",
        judged: Judged::Here(|rows| {
            let beside = beside(rows, "yield", "-")?;
            Some((told(&beside), beside.iter().all(|(_, ratio)| *ratio >= 2.0)))
        }),
        why: "",
    },
    Statement {
        of: "scheduler",
        stated: "Churn: all runtimes are alike.",
        judged: Judged::Here(|rows| alike(rows, "churn", "-")),
        why: LIGHT,
    },
    Statement {
        of: "scheduler",
        stated: "Locality, share: C∀ and Tokio, which wake tasks where the waker is, are ahead of Go.",
        judged: Judged::Here(|rows| {
            let beside = beside(rows, "locality", "share")?;
            let ratio =
                |name| beside.iter().find(|(peer, _)| *peer == name).map(|(_, ratio)| *ratio);
            let (tokio, go) = (ratio("tokio-hand")?, ratio("go-hand")?);
            Some((told(&beside), go > tokio && go > 1.0))
        }),
        why: "on two processors one of them has most of the tasks, wherever they are woken",
    },
    Statement {
        of: "scheduler",
        stated: "Transfer, park: all runtimes complete, within a factor of ten.",
        judged: Judged::Here(|rows| {
            let beside = beside(rows, "transfer", "park")?;
            let is_equal = |ratio: f64| (1.0 / EQUAL..EQUAL).contains(&ratio);
            Some((told(&beside), beside.iter().all(|(_, ratio)| is_equal(*ratio))))
        }),
        why: "evenkeel's thieves take what lies behind a poll within microseconds",
    },
    Statement {
        of: "scheduler",
        stated: "Transfer, yield: C∀ and Go complete, Tokio does not.",
        judged: Judged::Here(|rows| {
            let beside = beside(rows, "transfer", "yield")?;
            let completes = |name| {
                beside.iter().find(|(peer, _)| *peer == name).map(|(_, ratio)| ratio.is_finite())
            };
            Some((told(&beside), completes("go-hand")? && !completes("tokio-hand")?))
        }),
        why: "with few processors it depends on where the leader and the others are at the beginning",
    },
    Statement {
        of: "scheduler",
        stated: "libfibre: slightly behind in Cycle, with many tasks; 4 to 8 times its Cycle in Yield; marginally ahead in Locality, noshare; no Transfer by yielding.",
        judged: Judged::Not(NO_LIBFIBRE),
        why: "",
    },
    Statement {
        of: "scheduler",
        stated: "Go varies in Churn from 72 processors on; Tokio collapses in Yield after 16; with few tasks Go is slightly ahead in Cycle.",
        judged: Judged::Not(NO_PROCESSORS),
        why: "",
    },
    Statement {
        of: "scheduler",
        stated: "Whether to wake a task at its waker or where it last ran is prohibitively difficult to detect at run time.",
        judged: Judged::Not(
            "evenkeel does not choose between the two; it tries whether quick tasks do better on one processor than on two",
        ),
        why: "",
    },
    Statement {
        of: "thorium",
        stated: "Two million messages a second are within reach.",
        judged: Judged::Here(|rows| {
            let row = most_workers(rows, "latency_probe", "-")?;
            // A ping and its reply are two messages; Thorium counts one.
            let pings = 1e9 / (2.0 * median(row, "evenkeel")?);
            let workers = words::count(row.case.workers, "worker");
            Some((format!("{} pings a second, {workers}", words::figure(pings)), pings >= 2e6))
        }),
        why: "",
    },
    Statement {
        of: "thorium",
        stated: "A contended spin lock of the outbound ring stirs the caches most; look-ups in hash tables miss branches most.",
        judged: Judged::Not("it is about the code of Thorium, which is not here"),
        why: "",
    },
    Statement {
        of: "concurrency",
        stated: "Entry of 1, 2 and 4 monitors takes 46, 82 and 165 ns: more with each.",
        judged: Judged::Here(|rows| {
            let one = |monitors: f64| {
                let is = |row: &&Row<'_>| {
                    row.case.bench == "mutex"
                        && row.case.settings.number("monitors") == Some(monitors)
                };
                median(rows.iter().find(is)?, "evenkeel")
            };
            let (one, two, four) = (one(1.0)?, one(2.0)?, one(4.0)?);
            let found = format!(
                "entry takes {}, {} and {} ns",
                words::figure(one),
                words::figure(two),
                words::figure(four)
            );
            Some((found, one < two && two < four))
        }),
        why: "",
    },
];

/// What becomes of a statement.
struct Verdict {
    found: String,
    /// `None` if it is not judged.
    agrees: Option<bool>,
    /// Why it differs, or is not judged.
    why: &'static str,
}

/// Judges a publication's statements.
fn judged(id: &str, measured: &Measured) -> Vec<(&'static Statement, Verdict)> {
    let rows = rows(&measured.of, &measured.records, &measured.absent);
    let not = |why| Verdict { found: String::new(), agrees: None, why };
    let verdict = |statement: &'static Statement| match statement.judged {
        Judged::Not(why) => not(why),
        Judged::Here(judge) => match judge(&rows) {
            None => not("it was not measured with these peers"),
            Some((found, true)) => Verdict { found, agrees: Some(true), why: "" },
            Some((found, false)) => {
                let why = if statement.why.is_empty() { UNKNOWN } else { statement.why };
                Verdict { found, agrees: Some(false), why }
            }
        },
    };
    let own = STATEMENTS.iter().filter(|one| one.of == id);
    own.map(|statement| (statement, verdict(statement))).collect()
}

/// Returns how many of a publication's statements agree with what is measured.
pub(crate) fn agreement(id: &str, measured: &Measured) -> Agreement {
    judged(id, measured).into_iter().map(|(_, verdict)| verdict.agrees).collect()
}

/// Returns a publication's statements; `None` if there are none, or nothing is measured.
pub(crate) fn table(id: &str, measured: &Measured) -> Option<Table> {
    let line = |(statement, verdict): (&Statement, Verdict)| {
        let agrees = match verdict.agrees {
            Some(true) => "agrees",
            Some(false) => "differs",
            None => "not judged",
        };
        [statement.stated, &verdict.found, agrees, verdict.why].map(str::to_owned).to_vec()
    };
    let lines: Vec<_> = judged(id, measured).into_iter().map(line).collect();
    (!lines.is_empty()).then(|| Table {
        title: "Statements about several systems, and what is measured here".to_owned(),
        heading: ["stated", "found", "", "why"].map(str::to_owned).to_vec(),
        lines,
        note: format!(
            "Times of a peer are in terms of evenkeel's, medians, with the most workers that were measured. Within a factor of {ALIKE} two are alike."
        ),
    })
}

/// Returns the row of an experiment with many tasks and the most workers.
fn most_workers<'r, 'a>(rows: &'r [Row<'a>], bench: &str, variant: &str) -> Option<&'r Row<'a>> {
    let own = rows.iter().filter(|row| row.case.bench == bench && row.case.variant == variant);
    own.max_by_key(|row| row.case.workers)
}

/// Returns the median of a peer's first quantity.
pub(super) fn median(row: &Row<'_>, peer: &str) -> Option<f64> {
    let quantity = row.experiment.quantities.first()?;
    Some(row.summary(quantity, row.cell(peer)?)?.median)
}

/// Returns by how many times the time of Tokio and of Go is longer than evenkeel's, both at their
/// best: infinitely, if they have not completed.
fn beside(rows: &[Row<'_>], bench: &str, variant: &str) -> Option<Vec<(&'static str, f64)>> {
    let row = most_workers(rows, bench, variant)?;
    let own = median(row, "evenkeel")?;
    let ratio = |peer| Some((peer, median(row, peer)? / own));
    ["tokio-hand", "go-hand"].into_iter().map(ratio).collect()
}

fn told(beside: &[(&str, f64)]) -> String {
    let one = |(peer, ratio): &(&str, f64)| {
        if ratio.is_finite() {
            format!("{peer} {} times", words::figure(*ratio))
        } else {
            format!("{peer} did not complete")
        }
    };
    beside.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Judges whether all are alike.
fn alike(rows: &[Row<'_>], bench: &str, variant: &str) -> Option<(String, bool)> {
    let beside = beside(rows, bench, variant)?;
    let is_alike = |ratio: f64| (1.0 / ALIKE..ALIKE).contains(&ratio);
    Some((told(&beside), beside.iter().all(|(_, ratio)| is_alike(*ratio))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families;
    use suite::case::{Case, Fields};
    use suite::kit::fake;
    use suite::record::Record;

    fn measured(runs: &[(&'static str, &'static str, &'static str, usize, f64)]) -> Measured {
        let mut measured = Measured::nothing(families::named("scheduling").unwrap());
        for &(runtime, bench, variant, workers, value) in runs {
            let field = if bench == "transfer" { "transfer_us" } else { "ns_per_op_per_proc" };
            measured.records.push(Record {
                runtime: runtime.into(),
                case: Case::new(bench, variant, workers).with("tasks_per_proc", 100),
                repeat: 0,
                figures: Fields::new().with(field, value),
                dnc: value.is_infinite(),
                quiet: fake::quiet("near"),
            });
        }
        measured
    }

    fn verdict(table: &Table, begins: &str) -> (String, String) {
        let line = table.lines.iter().find(|line| line[0].starts_with(begins)).unwrap();
        (line[1].clone(), line[2].clone())
    }

    #[test]
    fn the_most_workers_judge_and_what_is_missing_is_not_judged() {
        let runs = [
            ("evenkeel", "cycle", "-", 1, 20.0),
            ("tokio-hand", "cycle", "-", 1, 20.0),
            ("go-hand", "cycle", "-", 1, 20.0),
            ("evenkeel", "cycle", "-", 2, 20.0),
            ("tokio-hand", "cycle", "-", 2, 80.0),
            ("go-hand", "cycle", "-", 2, 21.0),
            ("evenkeel", "transfer", "yield", 2, 20.0),
            ("tokio-hand", "transfer", "yield", 2, f64::INFINITY),
            ("go-hand", "transfer", "yield", 2, 400.0),
        ];
        let table = table("scheduler", &measured(&runs)).unwrap();
        let found = verdict(&table, "Cycle, many");
        assert_eq!(found, ("tokio-hand 4.00 times, go-hand 1.05 times".into(), "differs".into()));
        let found = verdict(&table, "Transfer, yield");
        let told = "tokio-hand did not complete, go-hand 20.0 times";
        assert_eq!(found, (told.into(), "agrees".into()));
        assert_eq!(verdict(&table, "Churn").1, "not judged");
        assert_eq!(verdict(&table, "libfibre").1, "not judged");
        assert!(table.lines.iter().all(|line| line[2] == "agrees" || !line[3].is_empty()));
    }

    #[test]
    fn a_publication_without_such_statements_has_no_table() {
        assert!(super::table("growth", &measured(&[])).is_none());
    }
}
