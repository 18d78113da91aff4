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

const LIGHT: &str = "a worker of evenkeel's pushes and pops tasks in a queue that is its own until another one asks; in Tokio and Go each push and pop is atomic, in a queue from which others steal";

const NO_LIBFIBRE: &str = "libfibre is not measured";

const NO_PROCESSORS: &str =
    "it is about 16 to 256 processors, and peers are measured on those of this machine alone";

static STATEMENTS: [Statement; 13] = [
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
            let most = most_workers(rows, "yield", "-")?;
            let one = of_workers(rows, "yield", "-", 1)?;
            // The time is that of an operation for each worker.
            let gain = |peer| {
                let times = median(one, peer)? / median(most, peer)?;
                Some((peer, times * most.case.workers as f64))
            };
            let gains = ["evenkeel", "tokio-hand", "go-hand"].map(gain);
            let gains: Vec<_> = gains.into_iter().collect::<Option<_>>()?;
            let one = |(peer, gain): &(&str, f64)| format!("{peer} {}", words::figure(*gain));
            let told: Vec<String> = gains.iter().map(one).collect();
            let workers = words::count(most.case.workers, "worker");
            let found = format!("throughput with {workers} beside one, times: {}", told.join(", "));
            Some((found, gains[0].1 > 1.0 && gains[1..].iter().all(|(_, gain)| *gain <= 1.0)))
        }),
        why: "what collapses is a queue that all processors share, with many of them: Tokio from 16 on, as the thesis says",
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
        stated: "Go varies in Churn from 72 processors on; Tokio collapses in Yield after 16.",
        judged: Judged::Not(NO_PROCESSORS),
        why: "",
    },
    Statement {
        of: "scheduler",
        stated: "Cycle, few tasks: Go is slightly ahead of C∀ and Tokio.",
        judged: Judged::Not(
            "this page measures many tasks: `run --bench cycle --tasks-per-proc 1` measures few",
        ),
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
        why: "a ping and its reply are two wakes and two polls, and this machine has few cores for them",
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
        why: "an entry takes a lock of each monitor, a few nanoseconds, so the order of these times is chance where runs are disturbed",
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
            None => {
                not("it was not measured with these peers, or fewer than three runs of each count")
            }
            Some((found, true)) => Verdict { found, agrees: Some(true), why: "" },
            Some((found, false)) => Verdict { found, agrees: Some(false), why: statement.why },
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

/// Returns the rows of an experiment.
fn of<'r, 'a>(
    rows: &'r [Row<'a>],
    bench: &'static str,
    variant: &'static str,
) -> impl Iterator<Item = &'r Row<'a>> {
    rows.iter().filter(move |row| row.case.bench == bench && row.case.variant == variant)
}

/// Returns its row with the most workers.
fn most_workers<'r, 'a>(
    rows: &'r [Row<'a>],
    bench: &'static str,
    variant: &'static str,
) -> Option<&'r Row<'a>> {
    of(rows, bench, variant).max_by_key(|row| row.case.workers)
}

/// Returns its row with so many workers.
fn of_workers<'r, 'a>(
    rows: &'r [Row<'a>],
    bench: &'static str,
    variant: &'static str,
    workers: usize,
) -> Option<&'r Row<'a>> {
    of(rows, bench, variant).find(|row| row.case.workers == workers)
}

/// Returns the median of a peer's first quantity, if enough of its runs count for a verdict.
pub(super) fn median(row: &Row<'_>, peer: &str) -> Option<f64> {
    let quantity = row.experiment.quantities.first()?;
    let cell = row.cell(peer).filter(|cell| cell.is_enough())?;
    Some(row.summary(quantity, cell)?.median)
}

/// Returns by how many times the time of Tokio and of Go is longer than evenkeel's, both at their
/// best: infinitely, if they have not completed.
fn beside(
    rows: &[Row<'_>],
    bench: &'static str,
    variant: &'static str,
) -> Option<Vec<(&'static str, f64)>> {
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
fn alike(rows: &[Row<'_>], bench: &'static str, variant: &'static str) -> Option<(String, bool)> {
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

    /// As many runs as a verdict needs.
    const REPEATS: usize = 3;

    fn measured(runs: &[(&'static str, &'static str, &'static str, usize, f64)]) -> Measured {
        let mut measured = Measured::nothing(families::named("scheduling").unwrap());
        for (repeat, &(runtime, bench, variant, workers, value)) in
            (0..REPEATS).flat_map(|repeat| runs.iter().map(move |run| (repeat, run)))
        {
            let field = if bench == "transfer" { "transfer_us" } else { "ns_per_op_per_proc" };
            measured.records.push(Record {
                runtime: runtime.into(),
                case: Case::new(bench, variant, workers).with("tasks_per_proc", 100),
                repeat,
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
    }

    #[test]
    fn every_statement_that_may_differ_has_its_reason() {
        for statement in &STATEMENTS {
            let is_judged = matches!(statement.judged, Judged::Here(_));
            assert_eq!(is_judged, !statement.why.is_empty(), "{}", statement.stated);
        }
    }

    #[test]
    fn yield_collapses_where_more_workers_make_no_more() {
        let run = |tokio: f64, go: f64| {
            let runs = [
                ("evenkeel", "yield", "-", 1, 10.0),
                ("tokio-hand", "yield", "-", 1, 20.0),
                ("go-hand", "yield", "-", 1, 50.0),
                ("evenkeel", "yield", "-", 2, 12.0),
                ("tokio-hand", "yield", "-", 2, tokio),
                ("go-hand", "yield", "-", 2, go),
            ];
            verdict(&table("scheduler", &measured(&runs)).unwrap(), "Yield")
        };
        assert_eq!(run(50.0, 200.0).1, "agrees");
        // A tenth more with twice the workers is no collapse.
        let (found, verdict) = run(36.0, 200.0);
        assert_eq!(verdict, "differs");
        let told = "throughput with 2 workers beside one, times: evenkeel 1.67, tokio-hand 1.11, go-hand 0.50";
        assert_eq!(found, told);
    }

    #[test]
    fn what_has_too_few_runs_that_count_is_not_judged() {
        let runs = ["evenkeel", "tokio-hand", "go-hand"].map(|name| (name, "churn", "-", 2, 9.0));
        let mut measured = measured(&runs);
        assert_eq!(verdict(&table("scheduler", &measured).unwrap(), "Churn").1, "agrees");
        measured.records.retain(|record| record.repeat != 0 || record.runtime != "go-hand");
        assert_eq!(verdict(&table("scheduler", &measured).unwrap(), "Churn").1, "not judged");
    }

    #[test]
    fn a_publication_without_such_statements_has_no_table() {
        assert!(super::table("growth", &measured(&[])).is_none());
    }
}
