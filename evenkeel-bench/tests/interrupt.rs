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
fn an_interrupted_session_leaves_the_rows_and_the_report_of_what_it_measured() {
    let report = tempfile::tempdir().unwrap();
    let mut child = session("--quick", report.path()).spawn().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let said = thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).map(|_| text)
    });
    // A row is printed once it is measured.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let is_row = |line: &String| line.starts_with("cycle, 1 worker");
    lines.by_ref().find(is_row).expect("a row is printed");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let printed: Vec<String> = lines.collect();
    let said = said.join().unwrap().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said:?}");
    let error = "error: not all was measured; summary and report are of what was: interrupted";
    assert_eq!(said.lines().last(), Some(error));
    let printed = printed.join("\n");
    assert!(printed.contains("not compared") && printed.contains("report: "), "{printed}");
    assert!(!printed.contains("savina"), "{printed}");
    let page = std::fs::read_to_string(report.path().join("index.html")).unwrap();
    assert!(page.contains("Not all was measured: interrupted."), "{page}");
    let records = std::fs::read_to_string(report.path().join("scheduling.jsonl")).unwrap();
    assert!(records.lines().count() > 1, "{records}");
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
    let page = std::fs::read_to_string(report.path().join("index.html")).unwrap();
    assert!(page.contains("Not all was measured: what is printed has no reader."), "{page}");
}

#[test]
fn a_second_interrupt_ends_a_session_at_once() {
    let report = tempfile::tempdir().unwrap();
    // Its runs are long.
    let mut child = session("full", report.path()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    // It measures a moment after its first line.
    thread::sleep(Duration::from_millis(50));
    // Signals that come together are one, so it is asked until it has ended.
    while child.try_wait().unwrap().is_none() {
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!report.path().join("index.html").exists());
}
