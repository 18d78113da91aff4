//! `analyse` as a command: its output for new and stored runs, and its refusals.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::binary::{bench, run, stderr, stdout};

/// Runs `analyse` on text from standard input.
fn piped(text: &[u8], args: &str) -> Output {
    let mut child = bench()
        .arg("analyse")
        .args(args.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // If the command line is refused, standard input is closed before it is read.
    let _ = child.stdin.take().unwrap().write_all(text);
    child.wait_with_output().unwrap()
}

/// The path of stored test data.
fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).display().to_string()
}

/// The words of the line that begins with `name`.
fn line<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).split_whitespace().collect()
}

/// Returns the response of a design with these factors. Each cell must have at least three
/// replications: a run that does not count is repeated.
fn repeated<'a>(text: &'a str, factors: &str) -> &'a str {
    let design = text.lines().next().unwrap();
    let design = design.strip_prefix("design: ").and_then(|design| design.strip_prefix(factors));
    let design = design.and_then(|design| design.strip_prefix(" x "));
    let design = design.unwrap_or_else(|| panic!("no {factors} in {text}"));
    let (replications, response) = design.split_once(" replications = ").unwrap();
    assert!(replications.parse::<usize>().unwrap() >= 3, "{text}");
    response.split_once(" observations of ").unwrap().1
}

/// Arguments for new runs, made on a machine that may be busy.
const KEEP: &str = "- --keep disturbed";

#[test]
fn fork_join_programs_are_analysed_as_they_come() {
    let runs = run("run --bench fib,nqueens --n 8 --workers 1 --reps 3 --json --runtime \
         serial,evenkeel,evenkeel-worker,rayon,chili");
    assert!(runs.status.success(), "{}", stderr(&runs));
    let output = piped(&runs.stdout, KEEP);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert_eq!(repeated(text, "2 rows (bench) x 4 columns (runtime)"), "seconds, in µs", "{text}");
    assert!(text.contains(" records of plain calls left out"), "{text}");
    assert!(
        text.contains("== Additive model") && text.contains("== Multiplicative model"),
        "{text}"
    );
    assert!(text.contains("evenkeel / rayon"), "{text}");
}

#[test]
fn tasks_beside_a_program_are_analysed_by_what_the_tables_compare() {
    let output = run(&format!("analyse {}", data("old/mixed.jsonl")));
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let response = repeated(text, "2 rows (variant) x 2 columns (runtime)");
    assert_eq!(response, "computations_per_second, in computations/s (higher is better)", "{text}");
    assert!(text.contains("has the smaller response, which is the worse one."), "{text}");
}

/// Earlier releases write one line for all repeats, and 1 as the workers of plain calls.
#[test]
fn fork_join_lines_of_an_earlier_release_are_analysed_as_before() {
    let file = data("old/fork-join.jsonl");
    let output = run(&format!("analyse {file} --keep disturbed"));
    assert!(output.status.success(), "{}", stderr(&output));
    let design = "design: 4 rows (bench, workers) x 2 columns (runtime) x 3 replications = \
         24 observations of seconds";
    assert!(stdout(&output).starts_with(design), "{}", stdout(&output));
    // One of the runs was disturbed, and its cell lacks it.
    let output = run(&format!("analyse {file}"));
    let said = stderr(&output);
    assert!(said.contains("fib, workers 2 on evenkeel has 0"), "{said}");
    assert!(said.contains("Left out: 1 record made while others took time"), "{said}");
}

#[test]
fn other_experiments_are_analysed_as_they_come() {
    let runs = run("run --bench cycle,yield --runtime tokio-hand,tokio-native --procs 1 \
         --tasks-per-proc 4 --seconds 0.1 --reps 3 --json");
    assert!(runs.status.success(), "{}", stderr(&runs));
    let output = piped(&runs.stdout, &format!("{KEEP} --model multiplicative"));
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let response = repeated(text, "2 rows (bench) x 2 columns (runtime)");
    assert_eq!(response, "ns_per_op_per_proc, in ns/op per worker (lower is better)", "{text}");
    assert!(!text.contains("Additive model"), "{text}");
    // Without evenkeel the first runtime is compared.
    assert!(text.contains("tokio-hand / tokio-native"), "{text}");
}

#[test]
fn the_four_metrics_of_simulations_are_analysed_as_they_come() {
    let runs = run("simulate --bench transpose,heat --size small --seeds 3 --json");
    assert!(runs.status.success(), "{}", stderr(&runs));
    let output = piped(&runs.stdout, "- --metrics --contrast cilk-restricted,cilk-random");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let designs: Vec<&str> = text.lines().filter(|line| line.starts_with("design:")).collect();
    assert_eq!(designs.len(), 4, "{text}");
    for (design, metric) in
        designs.iter().zip(["seconds", "inflation_seconds", "scheduling_seconds", "idle_seconds"])
    {
        let of = format!(
            "2 rows (bench) x 7 columns (runtime) x 3 replications = 42 observations of {metric}"
        );
        assert!(design.contains(&of), "{design}");
    }
    assert!(text.contains("cilk-restricted - cilk-random"), "{text}");
}

#[test]
fn stored_runs_print_the_published_figures() {
    let file = data("code-size.jsonl");
    let output = run(&format!(
        "analyse {file} --columns processor --response size --model multiplicative --contrast Y,W"
    ));
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert_eq!(
        line(text, "B: processor")[2..],
        ["2.930", "65.96", "3", "0.9765", "1,340", "2.226", "3.8e-40"]
    );
    assert_eq!(line(text, "errors"), ["errors", "0.02915", "0.66", "40", "0.0007287"]);
    assert_eq!(line(text, "Y "), ["Y", "0.360", "0.350", "0.370", "2.292", "2.239", "2.346"]);
    // The only effect with zero in its interval.
    let marked =
        text.lines().filter(|line| line.starts_with("workload") && line.ends_with("1.039  ~"));
    assert!(marked.eq(["workload K   0.005  -0.007   0.016   1.011  0.984  1.039  ~"]), "{text}");
    assert!(text.contains("Y / W") && !text.contains("W / X"), "{text}");
}

#[test]
fn the_report_is_written_beside_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().display();
    let output = run(&format!("analyse {} --report {folder}", data("two-way.jsonl")));
    assert!(output.status.success(), "{}", stderr(&output));
    let page = stdout(&output).lines().last().unwrap().strip_prefix("report: ").unwrap();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Normal quantile-quantile plot"), "{page}");
}

#[test]
fn several_files_are_joined() {
    let text = std::fs::read_to_string(data("two-way.jsonl")).unwrap();
    let (first, second): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.contains("\"fib\"") || line.contains("\"uts\""));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), first.join("\n")).unwrap();
    let both = piped(second.join("\n").as_bytes(), &format!("{} -", file.path().display()));
    assert!(both.status.success(), "{}", stderr(&both));
    assert!(stdout(&both).starts_with("design: 7 rows"), "{}", stdout(&both));
}

/// Asserts that the command is refused with this status and these words, and prints no result.
fn refused(text: &str, args: &str, status: i32, words: &str) {
    let output = piped(text.as_bytes(), args);
    assert_eq!(output.status.code(), Some(status), "{args}: {}", stderr(&output));
    assert!(stderr(&output).contains(words), "{args}: {}", stderr(&output));
    assert_eq!(stdout(&output), "", "{args}");
}

#[test]
fn what_cannot_be_analysed_is_refused_with_a_way_out() {
    let record = |bench: &str, runtime: &str, seconds: &str| {
        format!("{{\"bench\":\"{bench}\",\"runtime\":\"{runtime}\",\"seconds\":{seconds}}}\n")
    };
    let grid = |seconds: &str| {
        [("fib", "a"), ("fib", "b"), ("heat", "a"), ("heat", "b")]
            .map(|(bench, runtime)| record(bench, runtime, seconds))
            .concat()
    };
    let good = grid("[0.1,0.2]");
    refused("", "-", 1, "no records in standard input");
    refused(&format!("{good}{{\"bench\""), "-", 1, "standard input:5: not a line of JSON");
    refused(&good, "- --rows size", 2, "no record has a field `size`");
    refused(&good, "- --where runtime=c", 2, "there are a, b");
    refused(&good, "- --contrast a,c", 2, "no runtime `c` to compare: there are a, b");
    refused(&good, "- --contrast a", 2, "is not two names");
    refused(&good, "- --confidence 100", 2, "is not a percentage");
    refused(&good, "- --confidence 99.99999999999999", 2, "is not a percentage");
    refused(&good, "- --where runtime", 2, "is not of the form FIELD=VALUE or FIELD!=VALUE");
    refused(&good, "- --where bench!=spin", 2, "there are fib, heat");
    refused(&good, "- --where bench!=fib", 1, "only one row");
    refused(&good, "- --where bench=fib,fib", 2, "`bench=fib` is named twice by --where");
    refused(&good, "- --contrast a,b --contrast b,a", 2, "`a,b` is named twice by --contrast");
    refused(&good, "- --keep mixed,mixed", 2, "`mixed` is named twice by --keep");
    refused(&good, "- --keep noisy", 2, "disturbed, mixed");
    let stuck = "{\"bench\":\"spin\",\"runtime\":\"a\",\"dnc\":true,\"ns_per_op_per_proc\":0.0}\n";
    let stuck = format!("{}{stuck}", good.replace("seconds", "ns_per_op_per_proc"));
    refused(&stuck, "-", 1, "1 run did not complete");
    refused(&stuck, "-", 1, "--where bench!=... or --where runtime!=...");
    assert!(
        piped(stuck.as_bytes(), "- --where bench!=spin --response ns_per_op_per_proc")
            .status
            .success()
    );
    refused(&good, "- --where runtime=a", 1, "only one runtime (`a`)");
    refused(&good, "- --where bench=fib", 1, "only one row");
    refused(&grid("[0.1]"), "-", 1, "one replication only");
    refused(&grid("[0.1,0.1]"), "-", 1, "F is undefined");
    refused(&grid("[0.1,0.0]"), "- --model multiplicative", 1, "use --model additive");
    let output = piped(grid("[0.1,0.0]").as_bytes(), "-");
    assert!(stdout(&output).contains("the additive model alone is fitted"), "{}", stdout(&output));
    refused(&good, "- --response seconds,seconds", 2, "`seconds` is named twice by --response");
    refused(&good, "- --metrics", 2, "no record has a field `inflation_seconds`");
    refused(&good, "- --metrics --response seconds", 2, "cannot be used with");
    refused(&grid("[0.1,\"x\"]"), "-", 1, "a response is a number");
    let further = format!("{good}{}", record("fib", "b", "[0.3]"));
    let output = piped(further.as_bytes(), "-");
    assert!(stdout(&output).contains("1 replication left out"), "{}", stdout(&output));
    let unbalanced = format!("{good}{}", record("fib", "b", "[0.3,0.4,0.5]"));
    refused(&unbalanced, "-", 1, "fib on a has 2; heat on a has 2; heat on b has 2; measure them");
    refused(&good, "/nowhere/runs.jsonl", 1, "cannot read `/nowhere/runs.jsonl`: No such file");
    assert!(piped(grid("[0.1,0.0]").as_bytes(), "- --model additive").status.success());
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    let analyse = format!("analyse {}", data("two-way.jsonl"));
    for args in [
        "list",
        &analyse,
        "simulate --bench heat --size small --seeds 2",
        "simulate --coretime --kib 64",
    ] {
        for width in ["60", "100"] {
            let output =
                bench().args(args.split_whitespace()).env("COLUMNS", width).output().unwrap();
            assert!(output.status.success(), "{args}: {}", stderr(&output));
            let text = stdout(&output);
            let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= width.parse().unwrap(), "{args} has {longest} letters:\n{text}");
        }
    }
}
