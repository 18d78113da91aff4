//! The binary's behaviour when its readers have gone, as `head` does after its lines.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, pipe};
use std::process::{Command, ExitStatus, Stdio};

use crate::binary;

fn bench(args: &str) -> Command {
    let mut bench = binary::bench();
    bench.args(args.split_whitespace());
    bench
}

/// A short command that prints its line at once.
const BRIEF: &str = "run --bench yield --runtime tokio-hand --procs 1 --seconds 0.02 --repeats 1";

/// Returns a pipe without a reader.
fn unread() -> Stdio {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    writer.into()
}

/// Runs a command with this standard output; returns its status and its standard error.
fn with_stdout(command: &mut Command, stdout: impl Into<Stdio>) -> (ExitStatus, String) {
    let output = command.stdin(Stdio::null()).stdout(stdout).output().unwrap();
    (output.status, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn output_that_has_no_reader_ends_each_command_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let brief_lines = format!("{BRIEF} --json");
    let runs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/code-size.jsonl");
    let analyse = format!("analyse {runs} --columns processor --response size");
    let page = folder.path().join("page");
    let quick = format!("--quick --report {}", page.display());
    for args in [
        "--help",
        "run --help",
        "list",
        BRIEF,
        &brief_lines,
        &analyse,
        "simulate --bench heat --size small --seeds 1",
        "simulate --bench heat --size small --seeds 1 --json",
        "simulate --coretime --kib 64",
        &quick,
    ] {
        let (status, said) = with_stdout(&mut bench(args), unread());
        assert_eq!(status.code(), Some(0), "{args}: {said}");
        assert!(!said.contains("panicked") && !said.contains("error"), "{args}: {said}");
    }
}

#[test]
fn a_reader_that_leaves_after_a_line_ends_the_measuring() {
    // If it ignored the lost reader, it would measure for an hour.
    let args =
        "run --bench yield --runtime tokio-hand --procs 1 --seconds 0.4 --repeats 9000 --json";
    let (reader, writer) = pipe().unwrap();
    let mut child = bench(args).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line).unwrap();
    assert!(line.starts_with('{'), "{line}");
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn notes_that_have_no_reader_are_left_out_and_the_results_come() {
    let output = bench(BRIEF).stderr(unread()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("tokio-hand"));
    // The error has no reader either, but the status reports it.
    let output = bench("run --bench spin").stderr(unread()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_page_is_written_though_its_table_has_no_reader() {
    let folder = tempfile::tempdir().unwrap();
    for args in [
        "simulate --bench heat --size small --seeds 1",
        "simulate --coretime --kib 64",
        "run --bench travel --repeats 1 --seconds 0.02 --procs 2",
        "simulate --bench heat --size small --seeds 1 --json",
        "simulate --coretime --kib 64 --json",
        "run --bench yield --runtime tokio-hand --procs 1 --seconds 0.02 --repeats 1 --json",
    ] {
        let page = folder.path().join(args.replace(' ', "_"));
        let (status, said) = with_stdout(bench(args).arg("--report").arg(&page), unread());
        assert_eq!(status.code(), Some(0), "{args}: {said}");
        let pages = std::fs::read_dir(&page).unwrap().count();
        assert!(pages > 0, "{args}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_the_output_is_an_error_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().display();
    for args in [
        BRIEF,
        &format!("{BRIEF} --json --report {report}"),
        &format!("simulate --bench heat --size small --seeds 1 --json --report {report}"),
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let (status, said) = with_stdout(&mut bench(args), full);
        assert_eq!(status.code(), Some(1), "{args}: {said}");
        assert!(said.contains("cannot write to standard output: No space left"), "{args}: {said}");
        assert!(!said.contains("panicked"), "{args}: {said}");
    }
}
