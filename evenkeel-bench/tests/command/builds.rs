//! The suite beside another build of itself.

use std::io::pipe;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use suite::kit::fake::script;

const THIS: &str = env!("CARGO_BIN_EXE_evenkeel-bench");

/// Arguments for short rounds.
const SHORT: [&str; 4] = ["--bench", "yield", "--seconds", "0.01"];

fn builds(args: &[&str]) -> Command {
    let mut bench = Command::new(THIS);
    bench.arg("builds").args(args);
    bench
}

/// Writes a program that poses as Cargo's default build, and runs the shell line `first` before it
/// measures.
fn guise(folder: &Path, first: &str) -> PathBuf {
    let version = env!("CARGO_PKG_VERSION");
    let lines = format!(
        "if [ \"$1\" = --version ]; then echo 'evenkeel-bench {version} (default)'; exit; fi\n\
         {first}\n\
         exec '{THIS}' \"$@\""
    );
    script(folder, "default", &lines)
}

/// Measures `rounds` rounds of this build beside that program, and leaves the report in the folder.
fn measured(folder: &Path, rounds: &str, first: &str) -> Output {
    let (other, report) = (guise(folder, first), folder.join("report"));
    let mut bench = builds(&SHORT);
    bench.args(["--repeats", rounds, "--other"]).arg(other).arg("--report").arg(report);
    bench.output().unwrap()
}

/// Reads the page of a report.
fn page(report: &Path) -> String {
    std::fs::read_to_string(report.join("index.html")).unwrap()
}

/// Reads the runs of a report, in their order.
fn runs(report: &Path) -> Vec<Value> {
    let lines = std::fs::read_to_string(report.join("scheduling.jsonl")).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the kind of this build: release tests have another one.
fn this() -> String {
    let output = Command::new(THIS).arg("--version").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    said.split(['(', ')']).nth(1).unwrap().to_owned()
}

#[test]
fn rows_of_two_builds_stand_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let output = measured(folder.path(), "1", "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let printed = String::from_utf8_lossy(&output.stdout);
    let rows = |build: &str| printed.lines().filter(|line| line.contains(build)).count();
    assert!(printed.lines().next().is_some_and(|heading| heading.contains(" build ")), "{printed}");
    assert!(rows(" default ") > 0 && rows("tokio-hand") > 0, "{printed}");
    let page = page(&folder.path().join("report"));
    assert!(page.contains("build default"), "{page}");
    // Each build is described correctly.
    let this = this();
    for words in [&format!("<code>{this}</code> is "), "<code>default</code> is <code>cargo build"]
    {
        assert!(page.contains(words), "{words} is missing");
    }
    assert_eq!(page.contains("a debug build"), this == "debug");
    assert_eq!(page.contains("<code>tuned</code>"), this == "tuned");
}

#[test]
fn which_build_is_first_alternates_from_round_to_round() {
    let folder = tempfile::tempdir().unwrap();
    let output = measured(folder.path(), "3", "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let turn = |run: &Value| (run["repeat"].as_u64().unwrap(), run["build"].to_string());
    let mut turns: Vec<(u64, String)> =
        runs(&folder.path().join("report")).iter().map(turn).collect();
    turns.dedup();
    let (this, other) = (format!("\"{}\"", this()), "\"default\"".to_owned());
    let due = [(0, &this), (0, &other), (1, &other), (1, &this), (2, &this), (2, &other)];
    assert_eq!(turns, due.map(|(round, build)| (round, build.clone())));
}

#[test]
fn what_was_measured_before_a_failure_is_shown_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let fails = "case \"$*\" in *'--seed 2'*) echo 'it is broken' >&2; exit 7 ;; esac";
    let output = measured(folder.path(), "5", fails);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let words = "error: not all was measured; table and page cover what was: ";
    assert!(said.contains(words) && said.contains("it is broken"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains(" default "));
    let unfinished = folder.path().join("report").join("unfinished");
    assert!(page(&unfinished).contains("Not all was measured: "));
    assert!(runs(&unfinished).iter().any(|run| run["build"] == "default"));
}

#[test]
fn a_line_that_is_no_record_is_quoted_beside_what_the_build_says() {
    let folder = tempfile::tempdir().unwrap();
    let odd = "case \"$*\" in *'--seed 2'*) echo 'it is odd' >&2; echo 'no record'; exit ;; esac";
    let output = measured(folder.path(), "5", odd);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let error = said.lines().last().unwrap();
    assert!(error.contains("it is odd") && error.contains(" printed `no record`: "), "{said}");
}

#[test]
fn the_page_is_written_though_the_table_has_no_reader() {
    let folder = tempfile::tempdir().unwrap();
    let (other, report) = (guise(folder.path(), ""), folder.path().join("report"));
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let mut bench = builds(&SHORT);
    bench.args(["--repeats", "1", "--other"]).arg(other).arg("--report").arg(report);
    let output = bench.stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(page(&folder.path().join("report")).contains("build default"));
}

/// Each build would refuse them too, but one of them may have to be built before.
#[test]
fn wrong_options_are_refused_before_anything_is_built() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    for (line, words) in [
        ("--bench cycel", "unknown experiment `cycel`: known are cycle, yield"),
        ("--bench fib", "--seconds is not for fib"),
        ("--bench cycle,cycle", "named twice"),
        ("--seconds x", "`x` is not a number above 0"),
    ] {
        let line = line.split(' ').chain(["--other", "/no/such/program", "--report"]);
        let mut bench = builds(&line.collect::<Vec<_>>());
        let output = bench.arg(&report).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
        assert!(!report.exists());
    }
}

#[test]
fn another_build_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().to_str().unwrap();
    let refused = |other: &str| {
        let args = [&SHORT[..], &["--repeats", "1", "--report", report, "--other", other]];
        let output = builds(&args.concat()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, said) = refused("/no/such/program");
    assert_eq!(status, Some(1));
    assert!(said.contains("cannot run /no/such/program"), "{said}");
    let (status, said) = refused(THIS);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("is a build of the same kind as this program"), "{said}");
    let (status, said) = refused("/bin/sh");
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("/bin/sh is no build of this program"), "{said}");
    assert!(!folder.path().join("index.html").exists());
}
