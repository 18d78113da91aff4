//! Which rows, refusals and remarks come of lines as the suite prints them.

use clap::Parser;

use super::*;
use crate::analysis::{input, selection};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    options: Options,
}

/// Makes the design of these records under these options.
fn design_of(records: &[String], line: &str) -> Result<Design, Error> {
    let words = ["analyse", "FILE"].into_iter().chain(line.split_whitespace());
    let options = Line::try_parse_from(words).unwrap().options;
    let lines = input::parse("runs", &records.join("\n"))?;
    design(selection::select(lines, &options)?, &options, options.responses()[0])
}

fn error_of(records: &[String], line: &str) -> String {
    design_of(records, line).unwrap_err().to_string()
}

/// A record of a fork-join program with three replications.
fn forked(bench: &str, runtime: &str, workers: usize, more: &str) -> String {
    format!(
        "{{\"runtime\":\"{runtime}\",\"bench\":\"{bench}\",\"n\":10,\"workers\":{workers},\"reps\":3,\
         \"seconds\":[0.1,0.2,0.4],\"checksum\":\"{bench}\",\"cpu_share\":1.0{more}}}"
    )
}

/// Two programs on two runtimes.
fn grid(more: impl Fn(&str, &str) -> String) -> Vec<String> {
    let mut records = Vec::new();
    for bench in ["fib", "heat"] {
        for runtime in ["rayon", "evenkeel"] {
            records.push(forked(bench, runtime, 2, &more(bench, runtime)));
        }
    }
    records
}

/// Two runs of an experiment with a rate, on two runtimes at two numbers of processors.
fn rates(regime: impl Fn(usize, usize) -> &'static str) -> Vec<String> {
    let mut records = Vec::new();
    for procs in [1, 2] {
        for repeat in 0..2 {
            for (place, runtime) in ["evenkeel", "tokio-hand"].into_iter().enumerate() {
                let ns = 20 + procs + repeat + place;
                let regime = regime(procs, repeat + place);
                // In the form of earlier releases.
                records.push(format!(
                    "{{\"runtime\":\"{runtime}\",\"bench\":\"cycle\",\"variant\":\"-\",\
                     \"procs\":{procs},\"tasks_per_proc\":100,\"tasks\":{tasks},\
                     \"repeat\":{repeat},\"ops\":{ops},\"seconds\":0.25,\
                     \"ns_per_op_per_proc\":{ns}.0,\"dnc\":false,\"words\":0,\"touch\":0,\
                     \"line_ns_before\":40.0,\"line_ns_after\":40.0,\"regime\":\"{regime}\",\
                     \"cpu_share\":1.0}}",
                    tasks = procs * 500,
                    ops = repeat + place,
                ));
            }
        }
    }
    records
}

#[test]
fn a_line_of_a_fork_join_program_holds_all_replications() {
    let design = design_of(&grid(|_, _| String::new()), "").unwrap();
    assert_eq!(design.rows.fields, ["bench"]);
    assert_eq!(design.rows.levels, ["fib", "heat"]);
    // The suite's own runtime comes first.
    assert_eq!(design.columns.levels, ["evenkeel", "rayon"]);
    assert_eq!(design.replications, 3);
    assert_eq!((design.response.field.as_str(), design.response.unit.as_str()), ("seconds", "ms"));
    assert!((design.cells[0][0][2] - 400.0).abs() < 1e-9);
    assert_eq!(design.everywhere, ["workers 2", "n 10"]);
}

#[test]
fn lines_of_other_experiments_are_replications() {
    let design = design_of(&rates(|_, _| "near"), "").unwrap();
    // Tasks follow from processors, and a count is no setting.
    assert_eq!(design.rows.fields, ["workers"]);
    assert_eq!(design.replications, 2);
    assert_eq!(design.response.field, "ns_per_op_per_proc");
    assert!(design.everywhere.contains(&"cores near".to_owned()));
}

/// Two runs that do not count, with figures of 99, before the others.
fn with_doubtful() -> Vec<String> {
    let mut records = rates(|_, _| "near");
    let at = |record: &String, ns: &str| record.replace(ns, "\"ns_per_op_per_proc\":99.0");
    let disturbed = at(&records[0], "\"ns_per_op_per_proc\":21.0");
    let mixed = at(&records[4], "\"ns_per_op_per_proc\":22.0");
    let doubtful = [
        disturbed.replace("\"cpu_share\":1.0", "\"cpu_share\":0.95"),
        mixed.replace("\"near\"", "\"mixed\""),
    ];
    assert!(doubtful[0].contains("0.95") && doubtful[1].contains("mixed"), "{doubtful:?}");
    records.splice(0..0, doubtful);
    assert!(records[..2].iter().all(|record| record.contains("99.0")), "{records:?}");
    records
}

#[test]
fn runs_that_the_suite_would_not_count_are_left_out_and_counted() {
    let design = design_of(&with_doubtful(), "").unwrap();
    assert_eq!((&design.rows.fields[..], design.replications), (&["workers".to_owned()][..], 2));
    assert!(design.cells.iter().flatten().flatten().all(|value| *value < 99.0));
    assert_eq!(
        design.remarks,
        ["Left out: 1 record made while others took time of their cores; 1 record made while the \
          distance of the cores changed; --keep disturbed,mixed takes them."]
    );
    // One worker has no distance.
    let alone = rates(|procs, _| if procs == 1 { "mixed" } else { "near" });
    assert_eq!(design_of(&alone, "").unwrap().remarks.len(), 0);
}

#[test]
fn runs_that_the_suite_would_not_count_are_kept_on_request() {
    let records = with_doubtful();
    let design = design_of(&records, "--keep disturbed").unwrap();
    let remarks = design.remarks.join("\n");
    let kept = "Kept on request: 1 of 9 records, made while others took time of their cores.";
    assert!(remarks.contains(kept) && remarks.contains("--keep mixed takes them"), "{remarks}");
    // Other cells have fewer: doubtful runs go first.
    assert!(remarks.contains("1 replication left out, so that each cell has 2."), "{remarks}");
    assert!(design.cells.iter().flatten().flatten().all(|value| *value < 99.0));
    // The regimes are rows in order of appearance.
    let error = error_of(&records, "--keep mixed");
    assert!(error.contains("workers 2, cores mixed on tokio-hand has 0"), "{error}");
    assert!(error.contains("Left out: 1 record made while others took"), "{error}");
    let design = design_of(&records, "--keep disturbed,mixed --pool regime").unwrap();
    assert_eq!(design.replications, 2);
    // If no run of a cell counts, the error about the missing cell says why.
    let disturbed = |record: &String| record.replace("\"cpu_share\":1.0", "\"cpu_share\":0.9");
    let all: Vec<String> = records.iter().map(disturbed).collect();
    let error = error_of(&all, "");
    assert!(
        error.starts_with("no record that meets all conditions counts. Left out: 10"),
        "{error}"
    );
    assert!(error.ends_with("--keep disturbed takes them."), "{error}");
    let error = error_of(&[&all[2..3], &records[3..]].concat(), "");
    assert!(error.contains("one has 2, and workers 1 on evenkeel has 1;"), "{error}");
    let left_out = ". Left out: 1 record made while others took time of their cores; \
                    --keep disturbed takes them.";
    assert!(error.ends_with(left_out), "{error}");
}

#[test]
fn records_that_do_not_say_how_quiet_it_was_count() {
    let without = |record: &String| {
        let fields = record.split_once(",\"line_ns_before\"").unwrap().0;
        format!("{fields}}}").replace("procs", "workers")
    };
    let records: Vec<String> = rates(|_, _| "near").iter().map(without).collect();
    let design = design_of(&records, "").unwrap();
    assert_eq!((design.replications, design.remarks.len()), (2, 0));
}

/// Names and forms of fields that differ between releases.
#[test]
fn lines_of_an_earlier_release_and_of_this_one_are_of_the_same_rows() {
    let old = rates(|_, _| "near");
    let today = |record: &String| {
        let today =
            record.replace("procs\":", "workers\":").replace("tasks_per_workers", "tasks_per_proc");
        let today = today.replace(",\"words\":0,\"touch\":0", "").replace(",\"variant\":\"-\"", "");
        today
            .replace("\"tasks\":500,", "\"tasks\":500.0,")
            .replace("\"tasks\":1000,", "\"tasks\":1000.0,")
    };
    let new: Vec<String> = old.iter().map(today).collect();
    assert!(new[0].contains("\"workers\":1,\"tasks_per_proc\":100,\"tasks\":500.0,"), "{}", new[0]);
    let design = design_of(&[old, new].concat(), "").unwrap();
    assert_eq!(design.rows.levels, ["workers 1", "workers 2"]);
    assert_eq!(design.replications, 4);
}

#[test]
fn an_unknown_setting_makes_rows_too() {
    let records = [
        grid(|_, _| ",\"locality\":\"off\"".to_owned()),
        grid(|_, _| ",\"locality\":\"strict\"".to_owned()),
    ];
    let design = design_of(&records.concat(), "").unwrap();
    assert_eq!(design.rows.fields, ["bench", "locality"]);
    assert_eq!(design.rows.levels[1], "heat, locality off");
    assert_eq!(design.replications, 3);
}

#[test]
fn a_setting_within_a_cell_of_chosen_rows_is_refused() {
    let records = [grid(|_, _| ",\"k\":1".to_owned()), grid(|_, _| ",\"k\":2".to_owned())].concat();
    let error = error_of(&records, "--rows bench");
    assert!(error.contains("`k` differs (1, 2) between runs of fib on rayon"), "{error}");
    assert!(error.contains("--pool k"), "{error}");
    let design = design_of(&records, "--rows bench --pool k").unwrap();
    assert_eq!(design.replications, 6);
    assert!(design.remarks[0].contains("runs with k 1, 2 count as replications"));
    assert_eq!(design_of(&records, "--where k=2").unwrap().replications, 3);
}

#[test]
fn a_result_taken_for_a_setting_is_named() {
    let records = grid(|bench, runtime| format!(",\"attempts\":{}", bench.len() * runtime.len()));
    let design = design_of(&records, "").unwrap();
    // It belongs to the cells, so it splits none; but a remark reports it.
    assert!(
        design.remarks[0].contains("attempts differs with runtime within a row"),
        "{:?}",
        design.remarks
    );
    let mut twice = records.clone();
    twice.extend(grid(|_, _| ",\"attempts\":1".to_owned()));
    let error = error_of(&twice, "");
    assert!(error.contains("told apart by bench, attempts: if one of these"), "{error}");
    assert_eq!(design_of(&twice, "--pool attempts").unwrap().replications, 6);
}

#[test]
fn runs_of_two_regimes_are_not_pooled() {
    let mixed = rates(|_, run| if run == 1 { "far" } else { "near" });
    let error = error_of(&mixed, "");
    assert!(error.contains("not balanced") && error.contains("--pool regime"), "{error}");
    assert!(error.contains("workers 2, cores near on tokio-hand has 1"), "{error}");
    let design = design_of(&mixed, "--pool regime").unwrap();
    assert!(design.remarks[0].contains("runs with regime far, near count as replications"));
    let error = error_of(&mixed, "--rows workers");
    assert!(error.contains("`regime` differs (far, near) between runs of workers 2"), "{error}");
    // With one worker the distance of the cores does not matter.
    let alone = rates(|procs, run| if procs == 1 && run == 1 { "far" } else { "near" });
    assert_eq!(design_of(&alone, "").unwrap().rows.fields, ["workers"]);
    let near = design_of(&alone, "--where regime=near").unwrap();
    assert_eq!((near.rows.levels.len(), near.replications), (2, 2));
}

#[test]
fn a_near_runtime_is_not_compared_with_a_far_one() {
    let records = grid(|_, runtime| {
        format!(",\"regime\":\"{}\"", if runtime == "rayon" { "far" } else { "near" })
    });
    let error = error_of(&records, "");
    assert!(error.contains("fib, cores far on evenkeel has 0"), "{error}");
}

#[test]
fn plain_calls_are_left_out_unless_they_are_named() {
    let mut records = grid(|_, _| String::new());
    records.extend(["fib", "heat"].map(|bench| forked(bench, "serial", 1, "")));
    let design = design_of(&records, "").unwrap();
    assert_eq!(design.columns.levels.len(), 2);
    assert!(design.remarks[0].starts_with("2 records of plain calls left out"));
    let design = design_of(&records, "--where runtime=serial,evenkeel,rayon").unwrap();
    assert_eq!(design.columns.levels.len(), 3);
    assert!(
        design.remarks[0].contains(
            "workers differs with runtime within a row (1 of serial; 2 of evenkeel, rayon)"
        ),
        "{:?}",
        design.remarks
    );
    let error = error_of(&records[3..], "");
    assert!(error.contains("only one runtime") && error.contains("serial runs"), "{error}");
    let error = error_of(&records[4..], "");
    assert!(error.contains("only one runtime (`serial`)"), "{error}");
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let records = grid(|_, _| String::new());
    for line in
        ["--rows size", "--columns size", "--pool size", "--response size", "--where size=1"]
    {
        let error = error_of(&records, line);
        assert!(error.starts_with("no record has a field `size`: fields are bench, "), "{error}");
    }
    let error = error_of(&records, "--where runtime=chili");
    assert_eq!(error, "no record has `runtime` = `chili`: there are evenkeel, rayon");
    let error = error_of(&records, "--where bench=fib --where n=10 --where workers=3");
    assert!(error.contains("`workers` = `3`: there are 2"), "{error}");
    let mut records = records;
    records.push(forked("uts", "chili", 3, ""));
    let error = error_of(&records, "--where runtime=chili --where workers=2");
    assert!(error.starts_with("no record meets all conditions"), "{error}");
}

#[test]
fn records_that_lack_a_field_are_named() {
    let mut records = grid(|_, _| ",\"k\":1".to_owned());
    records[2] = forked("heat", "rayon", 2, "");
    assert!(error_of(&records, "--rows bench,k").starts_with("runs:3: the field `k` is missing"));
    assert!(error_of(&records, "--response k").starts_with("runs:3: the field `k` is missing"));
    let records = [r#"{"bench":"mixed","runtime":"a","wake_p99_us":3.5}"#.to_owned()];
    let error = error_of(&records, "");
    assert!(error.starts_with("runs:1: no known response"), "{error}");
    assert!(error.ends_with("numbers are wake_p99_us"), "{error}");
    let records = [r#"{"bench":"fib","seconds":[0.1]}"#.to_owned()];
    assert!(error_of(&records, "").starts_with("no record has a field `runtime`"));
}

#[test]
fn a_response_is_a_number() {
    let records = grid(|_, _| ",\"x\":[1.0,null]".to_owned());
    let error = error_of(&records, "--response x");
    assert!(error.starts_with("runs:1: `x` is null, and a response is a number"), "{error}");
    let error = error_of(&records, "--response checksum");
    assert!(error.starts_with("runs:1: `checksum` is \"fib\""), "{error}");
}

#[test]
fn different_figures_are_not_compared() {
    let records = [grid(|_, _| String::new()), rates(|_, _| "near")].concat();
    let error = error_of(&records, "");
    let ways = "one by one: ns_per_op_per_proc by --where bench=cycle; \
                seconds by --where 'bench!=cycle'; or name one with --response";
    assert!(error.contains(ways), "{error}");
    let timers = |variant: &str, figure: &str| {
        format!(
            "{{\"bench\":\"timers\",\"variant\":\"{variant}\",\"runtime\":\"evenkeel\",\"{figure}\":3.0}}"
        )
    };
    let error = error_of(&[timers("idle", "late_us_p99"), timers("cancel", "ns_per_timer")], "");
    assert!(error.contains("ns_per_timer by --where variant=cancel;"), "{error}");
    // If both have the same variant, no condition tells them apart.
    let error = error_of(&[timers("idle", "late_us_p99"), timers("idle", "ns_per_timer")], "");
    assert!(error.contains("ns_per_timer by leaving other records out;"), "{error}");
}

#[test]
fn runs_that_did_not_complete_are_named() {
    let mut records = grid(|_, _| String::new());
    records[1] = forked("fib", "evenkeel", 2, ",\"dnc\":true");
    let error = error_of(&records, "");
    assert!(
        error.starts_with(
            "1 run did not complete, which leaves no figure: fib on evenkeel (runs:2)"
        ),
        "{error}"
    );
}

#[test]
fn what_does_not_say_that_it_did_not_complete_did() {
    let mut records = grid(|_, _| String::new());
    records.push(forked("uts", "rayon", 2, ",\"dnc\":true"));
    let design = design_of(&records, "--where dnc=false").unwrap();
    assert_eq!(design.rows.levels, ["fib", "heat"]);
    // All runs completed, and no record has the field.
    assert_eq!(design_of(&records[..4], "--where dnc=false").unwrap().replications, 3);
}

#[test]
fn equal_records_are_told() {
    let records = [grid(|_, _| String::new()), grid(|_, _| String::new())].concat();
    let design = design_of(&records, "").unwrap();
    assert_eq!(design.replications, 6);
    assert!(
        design.remarks[0].starts_with("4 records equal an earlier one"),
        "{:?}",
        design.remarks
    );
}

#[test]
fn rows_that_do_not_differ_are_no_factor() {
    let records: Vec<String> = grid(|_, _| String::new()).into_iter().take(2).collect();
    let error = error_of(&records, "");
    assert!(error.contains("only one row (`fib, workers 2, n 10`)"), "{error}");
}

#[test]
fn the_columns_of_one_family_have_their_order_and_colours() {
    let placed = |bench: &str, runtimes: &[&str]| {
        let lines =
            runtimes.iter().map(|runtime| forked(bench, runtime, 2, "")).collect::<Vec<_>>();
        let lines = input::parse("runs", &lines.join("\n")).unwrap();
        levels_of_columns(&lines, "runtime")
    };
    let due = |of: &[(&str, usize)]| -> (Vec<String>, Vec<usize>) {
        of.iter().map(|(name, slot)| (name.to_string(), *slot)).unzip()
    };
    // The subject of a family comes first, and keeps its colour with any other columns.
    let (names, slots) = placed("directory", &["threads+spin", "automatic"]);
    assert_eq!((names[0].as_str(), slots[0]), ("automatic", 0));
    assert_ne!(slots[1], 0);
    let (_, alone) = placed("directory", &["threads+spin"]);
    assert_eq!(alone, slots[1..]);
    // With an unknown runtime, which comes last, each has the colour of its place.
    let strange = placed("fib", &["cilk", "chili", "evenkeel"]);
    assert_eq!(strange, due(&[("evenkeel", 0), ("chili", 1), ("cilk", 2)]));
}

#[test]
fn what_a_family_is_about_is_compared_with_its_peers() {
    let columns = |names: [&str; 3]| {
        let levels = names.map(str::to_owned).to_vec();
        Factor { fields: vec!["runtime".to_owned()], levels }
    };
    let compared = |names| crate::analysis::contrast::pairs(&columns(names), &[]).unwrap();
    assert_eq!(compared(["home", "automatic", "mutex"]), [(1, 0), (1, 2)]);
    assert_eq!(compared(["rayon", "chili", "evenkeel"]), [(2, 0), (2, 1)]);
    assert_eq!(compared(["rayon", "chili", "forte"]), [(0, 1), (0, 2)]);
}
