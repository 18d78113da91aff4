//! What publications state of several systems, beside what is measured here.
//!
//! A simulation judges statements about a publication's own system. These are about its peers too,
//! and are judged by the rows that were measured with the most workers.

use super::agreement::Agreement;
use super::stated::STATEMENTS;
use super::statement::{ALIKE, CHANCE, Finding, Judged, Statement, Which};
use crate::analysis::tables::Table;
use suite::entry::Measured;
use suite::rows::rows;

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
    let most = |of: Which| of.most_workers(&rows).map_or(0, |row| row.case.workers);
    let verdict = |statement: &'static Statement| match statement.judged {
        Judged::Not(why) => not(why),
        Judged::Beyond(workers, of, _, why) if most(of) <= workers => not(why),
        Judged::Here(judge) | Judged::Beyond(_, _, judge, _) => match judge(&rows) {
            None => {
                not("it was not measured with these peers, or fewer than three runs of each count")
            }
            Some(Finding { found, agrees: None }) => Verdict { found, ..not(CHANCE) },
            Some(Finding { found, agrees: Some(true) }) => {
                Verdict { found, agrees: Some(true), why: "" }
            }
            Some(Finding { found, agrees: Some(false) }) => {
                Verdict { found, agrees: Some(false), why: statement.why }
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
            "Times of a peer are in terms of evenkeel's, medians, with the most workers that were measured. Within a factor of {ALIKE} two are alike. What is stated of one machine is judged on this one: of two statements that differ by machine, one differs here."
        ),
    })
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
        let found = verdict(&table, "Cycle on Intel, many");
        assert_eq!(found, ("tokio-hand 4.00 times, go-hand 1.05 times".into(), "differs".into()));
        let found = verdict(&table, "Transfer, yield");
        let told = "tokio-hand did not complete, go-hand 20.0 times";
        assert_eq!(found, (told.into(), "agrees".into()));
        assert_eq!(verdict(&table, "Churn on Intel: all").1, "not judged");
        assert_eq!(verdict(&table, "libfibre").1, "not judged");
    }

    #[test]
    fn peers_on_both_sides_of_evenkeel_are_compared_with_each_other() {
        let run = |bench, variant, [own, tokio, go]: [f64; 3], tasks: usize, begins: &str| {
            let runs = [
                ("evenkeel", bench, variant, 2, own),
                ("tokio-hand", bench, variant, 2, tokio),
                ("go-hand", bench, variant, 2, go),
            ];
            let mut measured = measured(&runs);
            for record in &mut measured.records {
                record.case = Case::new(bench, variant, 2).with("tasks_per_proc", tasks);
            }
            verdict(&table("scheduler", &measured).unwrap(), begins).1
        };
        let many = |times| run("cycle", "-", times, 100, "Cycle on Intel, many");
        assert_eq!(many([20.0, 24.0, 20.0]), "agrees");
        assert_eq!(many([20.0, 24.0, 16.5]), "differs");
        let few = |times| run("cycle", "-", times, 1, "Cycle on Intel, few");
        assert_eq!(few([20.0, 24.0, 17.0]), "agrees");
        assert_eq!(few([20.0, 24.0, 14.0]), "differs");
        let amd = |times| run("cycle", "-", times, 1, "Cycle on AMD, few");
        assert_eq!(amd([29.0, 20.0, 23.0]), "agrees");
        assert_eq!(amd([31.0, 20.0, 23.0]), "differs");
        let park = |times| run("transfer", "park", times, 100, "Transfer, park");
        assert_eq!(park([20.0, 100.0, 15.0]), "agrees");
        assert_eq!(park([20.0, 100.0, 5.0]), "differs");
    }

    #[test]
    fn a_transfer_that_evenkeel_does_not_complete_agrees_with_nothing() {
        let runs = [
            ("evenkeel", "transfer", "yield", 2, f64::INFINITY),
            ("tokio-hand", "transfer", "yield", 2, f64::INFINITY),
            ("go-hand", "transfer", "yield", 2, 400.0),
            ("evenkeel", "transfer", "park", 2, f64::INFINITY),
            ("tokio-hand", "transfer", "park", 2, f64::INFINITY),
            ("go-hand", "transfer", "park", 2, 400.0),
        ];
        let table = table("scheduler", &measured(&runs)).unwrap();
        for begins in ["Transfer, yield", "Transfer, park"] {
            let found = ("evenkeel did not complete".to_owned(), "differs".to_owned());
            assert_eq!(verdict(&table, begins), found);
        }
    }

    #[test]
    fn what_may_be_chance_is_not_judged() {
        let run = |go: f64| {
            let runs = [
                ("evenkeel", "locality", "share", 2, 20.0),
                ("tokio-hand", "locality", "share", 2, 20.0),
                ("go-hand", "locality", "share", 2, go),
            ];
            verdict(
                &table("scheduler", &measured(&runs)).unwrap(),
                "Locality, share: C∀ and Tokio, which wake tasks where the waker",
            )
        };
        assert_eq!(run(20.1).1, "agrees");
        assert_eq!(run(20.0).1, "not judged");
        assert_eq!(run(19.9).1, "differs");
    }

    #[test]
    fn every_statement_that_may_differ_has_its_reason() {
        for statement in &STATEMENTS {
            let is_judged = !matches!(statement.judged, Judged::Not(_));
            assert_eq!(is_judged, !statement.why.is_empty(), "{}", statement.stated);
        }
    }

    #[test]
    fn yield_collapses_where_more_workers_make_no_more() {
        let run = |workers, most: f64| {
            let runs = [
                ("evenkeel", "yield", "-", 1, 10.0),
                ("go-hand", "yield", "-", 1, 50.0),
                ("evenkeel", "yield", "-", workers, 12.0),
                ("go-hand", "yield", "-", workers, most),
            ];
            verdict(&table("scheduler", &measured(&runs)).unwrap(), "Yield: Go")
        };
        assert_eq!(run(32, 3_200.0).1, "agrees");
        // A tenth more with 32 times the workers is no collapse.
        let (found, verdict) = run(32, 1_440.0);
        assert_eq!(verdict, "differs");
        let told = "throughput with 32 workers beside one, times: evenkeel 26.7, go-hand 1.11";
        assert_eq!(found, told);
        assert_eq!(run(16, 3_200.0), (String::new(), "not judged".into()));
    }

    #[test]
    fn the_workers_of_another_experiment_do_not_judge_yield() {
        let runs = [
            ("evenkeel", "yield", "-", 1, 10.0),
            ("go-hand", "yield", "-", 1, 50.0),
            ("evenkeel", "yield", "-", 2, 12.0),
            ("go-hand", "yield", "-", 2, 3_200.0),
            ("evenkeel", "cycle", "-", 32, 20.0),
        ];
        let found = verdict(&table("scheduler", &measured(&runs)).unwrap(), "Yield: Go");
        assert_eq!(found, (String::new(), "not judged".into()));
    }

    #[test]
    fn few_churns_are_compared_up_to_the_processors_of_the_thesis() {
        let runs = |workers, go| {
            [
                ("evenkeel", "churn", "-", workers, 20.0),
                ("tokio-hand", "churn", "-", workers, 20.0),
                ("go-hand", "churn", "-", workers, go),
            ]
        };
        let both = [runs(32, 10.0), runs(64, 30.0)];
        let mut measured = measured(both.as_flattened());
        for record in &mut measured.records {
            record.case = Case::new("churn", "-", record.case.workers).with("tasks_per_proc", 2);
        }
        let found = verdict(&table("scheduler", &measured).unwrap(), "Churn on AMD, few tasks: C∀");
        assert_eq!(found.1, "agrees", "{}", found.0);
    }

    #[test]
    fn a_transfer_that_completes_in_some_runs_is_not_judged() {
        let runs = |own| {
            [
                ("evenkeel", "transfer", "yield", 2, own),
                ("tokio-hand", "transfer", "yield", 2, f64::INFINITY),
                ("go-hand", "transfer", "yield", 2, 400.0),
                ("evenkeel", "transfer", "park", 2, own),
                ("tokio-hand", "transfer", "park", 2, 30.0),
                ("go-hand", "transfer", "park", 2, 40.0),
            ]
        };
        let mut measured = measured(&runs(20.0));
        let never = self::measured(&runs(f64::INFINITY)).records;
        let own = |record: &&mut Record| record.runtime == "evenkeel" && record.repeat == 0;
        for record in measured.records.iter_mut().filter(own) {
            let same = |other: &&Record| {
                other.repeat == 0 && other.runtime == "evenkeel" && other.case == record.case
            };
            *record = never.iter().find(same).unwrap().clone();
        }
        let table = table("scheduler", &measured).unwrap();
        for begins in ["Transfer, yield", "Transfer, park"] {
            assert_eq!(verdict(&table, begins).1, "not judged");
        }
    }

    #[test]
    fn what_has_too_few_runs_that_count_is_not_judged() {
        let runs = ["evenkeel", "tokio-hand", "go-hand"].map(|name| (name, "churn", "-", 2, 9.0));
        let mut measured = measured(&runs);
        assert_eq!(
            verdict(&table("scheduler", &measured).unwrap(), "Churn on Intel: all").1,
            "agrees"
        );
        measured.records.retain(|record| record.repeat != 0 || record.runtime != "go-hand");
        assert_eq!(
            verdict(&table("scheduler", &measured).unwrap(), "Churn on Intel: all").1,
            "not judged"
        );
    }

    #[test]
    fn a_publication_without_such_statements_has_no_table() {
        assert!(super::table("growth", &measured(&[])).is_none());
    }
}
