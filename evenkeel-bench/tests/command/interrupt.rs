//! What remains of a session that Ctrl-C ends, or that is killed.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use suite::kit::fake::script;

use crate::binary;

/// Starts a session without toolchains, so that it measures soon.
fn session(command: &str, report: &Path) -> Command {
    let mut bench = binary::bench();
    bench.arg(command).arg("--report").arg(report).env("PATH", report);
    bench.env_remove("CC").env_remove("CXX").stdout(Stdio::piped()).stderr(Stdio::piped());
    bench
}

/// Returns the lines that a child prints to standard error.
fn lines_of(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap)
}

/// Sends a child the signal of Ctrl-C, and returns its status and the rest of its output.
fn interrupt(
    mut child: Child,
    left: impl Iterator<Item = String>,
) -> (Option<i32>, String, String) {
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let said = left.collect::<Vec<_>>().join("\n");
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    (child.wait().unwrap().code(), said, printed)
}

/// Parses a file of runs, in which every line is whole.
fn runs(file: &Path) -> Vec<Value> {
    let lines = fs::read_to_string(file).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_interrupted_run_shows_and_writes_what_it_measured() {
    let report = tempfile::tempdir().unwrap();
    let mut bench = session("run", report.path());
    bench.args("--bench yield,cycle --runtime tokio-hand --procs 1 --seconds 0.3".split(' '));
    let mut child = bench.spawn().unwrap();
    let mut said = lines_of(&mut child);
    // The rows of the first experiment are measured before the second one is announced.
    said.by_ref().find(|line| line.starts_with("cycle, 1 worker")).expect("it is named");
    let (status, said, printed) = interrupt(child, said);
    assert_eq!(status, Some(130), "{said}");
    let error = "error: not all was measured; the figures cover what was: interrupted";
    assert_eq!(said.lines().last(), Some(error));
    assert!(printed.contains("yield"), "{printed}");
    let page = fs::read_to_string(report.path().join("scheduling.html")).unwrap();
    assert!(
        page.contains("yield") && page.contains("Not all was measured: interrupted."),
        "{page}"
    );
}

#[test]
fn an_interrupted_run_leaves_an_older_picture_as_it_is() {
    let report = tempfile::tempdir().unwrap();
    let picture = report.path().join("latency.svg");
    fs::write(&picture, "old").unwrap();
    let mut bench = session("run", report.path());
    bench.args("--bench latency --runtime evenkeel --procs 1 --seconds 0.3".split(' '));
    let mut child = bench.arg("--picture").arg(&picture).spawn().unwrap();
    let mut said = lines_of(&mut child);
    said.by_ref().find(|line| line.starts_with("latency compute, 1 worker")).expect("it is named");
    let (status, said, _) = interrupt(child, said);
    assert_eq!(status, Some(130), "{said}");
    assert_eq!(fs::read_to_string(picture).unwrap(), "old");
}

#[test]
fn lines_of_an_interrupted_run_have_a_page() {
    let report = tempfile::tempdir().unwrap();
    let mut bench = session("run", report.path());
    bench.args("--bench yield --runtime tokio-hand --procs 1 --seconds 0.02".split(' '));
    let mut child = bench.args(["--repeats", "9000", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    lines.next().expect("a run is printed");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert!(lines.all(|line| line.ends_with('}')));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(report.path().join("scheduling.html").exists());
}

#[test]
fn an_interrupt_while_a_job_of_ranks_runs_is_no_failure_of_the_job() {
    for ends_with in [0, 1] {
        let folder = tempfile::tempdir().unwrap();
        let tools = folder.path().join("tools");
        // A peer that is not built spares its measurement, and keeps no jobs.
        script(&tools, "go", "[ \"$1\" = version ] && echo go version go1.24");
        script(&tools, "mpicc", "");
        let built = r#"{"target":{"name":"latency_probe"},"executable":"latency_probe"}"#;
        script(&tools, "cargo", &format!("echo '{built}'"));
        let seen = folder.path().join("seen");
        // It ends when the signal has come to the session, which says so.
        let job = format!(
            "[ \"$1\" = --version ] && exit\n\
             kill -INT $PPID\n\
             while [ -d '{}' ] && ! [ -e '{}' ]; do /bin/sleep 0.01; done\n\
             echo 'PERFORMANCE_COUNTER worker-latency = 100 ns'\n\
             exit {ends_with}",
            tools.display(),
            seen.display()
        );
        script(&tools, "mpiexec", &job);
        let mut bench = session("publications", folder.path());
        let mut child = bench.args(["--only", "thorium"]).env("PATH", &tools).spawn().unwrap();
        let mut said = lines_of(&mut child);
        said.by_ref().find(|line| line.starts_with("interrupted:")).expect("it is said");
        fs::write(&seen, "").unwrap();
        let said = said.collect::<Vec<_>>().join("\n");
        assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
        assert_eq!(said.lines().last(), Some("error: not all is on the page: interrupted"));
        let page = fs::read_to_string(folder.path().join("publications.html")).unwrap();
        assert!(page.contains("Not all is here: interrupted."), "{ends_with}");
    }
}

#[test]
fn interrupted_builds_show_and_write_what_they_measured() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let (this, version) = (env!("CARGO_BIN_EXE_evenkeel-bench"), env!("CARGO_PKG_VERSION"));
    let lines = format!(
        "if [ \"$1\" = --version ]; then echo 'evenkeel-bench {version} (default)'; exit; fi\n\
         exec '{this}' \"$@\""
    );
    let other = script(folder.path(), "default", &lines);
    let mut bench = session("builds", &report);
    bench.args("--bench yield --seconds 0.01 --repeats 1000 --other".split(' ')).arg(other);
    let mut child = bench.spawn().unwrap();
    let mut said = lines_of(&mut child);
    said.by_ref().find(|line| line == "round 2 of 1000").expect("a round is measured");
    let (status, said, printed) = interrupt(child, said);
    assert_eq!(status, Some(130), "{said}");
    let error = "error: not all was measured; table and page cover what was: interrupted";
    assert_eq!(said.lines().last(), Some(error));
    assert!(printed.contains(" default ") && printed.contains("report: "), "{printed}");
    let unfinished = report.join("unfinished");
    let page = fs::read_to_string(unfinished.join("index.html")).unwrap();
    assert!(page.contains("Not all was measured: interrupted."), "{page}");
    assert!(runs(&unfinished.join("scheduling.jsonl")).iter().any(|run| run["build"] == "default"));
}

#[test]
fn a_killed_session_leaves_its_runs_beside_those_of_an_older_session() {
    let report = tempfile::tempdir().unwrap();
    let old = report.path().join("scheduling.jsonl");
    fs::write(&old, "{\"bench\":\"old\"}\n").unwrap();
    let mut child = session("--quick", report.path()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    lines.by_ref().find(|line| line.starts_with("cycle")).expect("a row is printed");
    child.kill().unwrap();
    child.wait().unwrap();
    let unfinished = report.path().join("unfinished");
    let left = runs(&unfinished.join("scheduling.jsonl"));
    assert!(left.iter().any(|run| run["bench"] == "cycle"), "{left:?}");
    assert_eq!(runs(&old).len(), 1);
    assert!(!unfinished.join("index.html").exists());
}

#[test]
fn an_interrupted_session_leaves_the_rows_and_the_report_of_what_it_measured() {
    let report = tempfile::tempdir().unwrap();
    let old = report.path().join("actors.jsonl");
    fs::write(&old, "{\"bench\":\"old\"}\n").unwrap();
    let mut child = session("--quick", report.path()).spawn().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let said = thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).map(|_| text)
    });
    // A row is printed when it has been measured.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let is_row = |line: &String| line.starts_with("cycle, 1 worker");
    lines.by_ref().find(is_row).expect("a row is printed");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let printed: Vec<String> = lines.collect();
    let said = said.join().unwrap().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said:?}");
    let error = "error: not all was measured; summary and report cover what was: interrupted";
    assert_eq!(said.lines().last(), Some(error));
    let printed = printed.join("\n");
    assert!(printed.contains("not compared") && printed.contains("report: "), "{printed}");
    assert!(!printed.contains("savina"), "{printed}");
    let unfinished = report.path().join("unfinished");
    let page = fs::read_to_string(unfinished.join("index.html")).unwrap();
    assert!(page.contains("Not all was measured: interrupted."), "{page}");
    assert!(runs(&unfinished.join("scheduling.jsonl")).len() > 1);
    // A family that was not measured has no file, and an older file stays in its place.
    assert!(!unfinished.join("actors.jsonl").exists() && !page.contains("actors.jsonl"));
    assert!(old.exists());
}

#[test]
fn a_session_whose_reader_leaves_keeps_what_it_has_measured() {
    let report = tempfile::tempdir().unwrap();
    let mut child = session("--quick", report.path()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    lines.by_ref().find(|line| line.starts_with("cycle")).expect("a row is printed");
    drop(lines);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    let page = report.path().join("unfinished").join("index.html");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Not all was measured: the output has no reader."), "{page}");
}

#[test]
fn a_second_interrupt_ends_a_session_at_once() {
    let report = tempfile::tempdir().unwrap();
    // A full session has long runs.
    let mut child = session("full", report.path()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    // The session measures a moment after its first line.
    thread::sleep(Duration::from_millis(50));
    // Signals that arrive together count as one, so the test repeats them until the session has
    // ended.
    while child.try_wait().unwrap().is_none() {
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!report.path().join("unfinished").join("index.html").exists());
}
