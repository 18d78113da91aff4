//! What is left of a session that Ctrl-C ends.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Without toolchains, so that it measures soon.
fn session(command: &str, report: &Path) -> Command {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_evenkeel-bench"));
    bench.arg(command).arg("--report").arg(report).env("PATH", report);
    bench.env_remove("CC").env_remove("CXX").stdout(Stdio::piped()).stderr(Stdio::piped());
    bench
}

#[test]
fn an_interrupted_session_leaves_the_tables_and_the_report_of_what_it_measured() {
    let report = tempfile::tempdir().unwrap();
    let mut child = session("--quick", report.path()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let printed = thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    // A row is named before it is measured: with the third there are two.
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    lines.by_ref().take(3).for_each(|line| drop(line.unwrap()));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let said: Vec<String> = lines.map(|line| line.unwrap()).collect();
    let printed = printed.join().unwrap().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said:?}");
    let error = "error: not all was measured; table and report are of what was: interrupted";
    assert_eq!(said.last().map(String::as_str), Some(error));
    // The run that was under way is its last.
    assert!(said.len() <= 2, "{said:?}");
    assert!(printed.contains("evenkeel") && printed.contains("report: "), "{printed}");
    let page = std::fs::read_to_string(report.path().join("index.html")).unwrap();
    assert!(page.contains("Not all was measured: interrupted."), "{page}");
    let records = std::fs::read_to_string(report.path().join("scheduling.jsonl")).unwrap();
    assert!(records.lines().count() > 1, "{records}");
}

#[test]
fn a_second_interrupt_ends_a_session_at_once() {
    let report = tempfile::tempdir().unwrap();
    // Its runs are long.
    let mut child = session("full", report.path()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    // Signals that come together are one, so it is asked until it has ended.
    while child.try_wait().unwrap().is_none() {
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!report.path().join("index.html").exists());
}
