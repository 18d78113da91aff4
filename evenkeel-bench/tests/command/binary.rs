//! How the tests run the binary, and read what it prints.

use std::process::{Command, Output};

use serde_json::Value;

pub(crate) fn bench() -> Command {
    Command::new(env!("CARGO_BIN_EXE_evenkeel-bench"))
}

pub(crate) fn run(args: &str) -> Output {
    bench().args(args.split_whitespace()).output().unwrap()
}

pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Returns the lines of a run that has succeeded.
pub(crate) fn lines(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Asserts that the command line is refused with status 2 and with these words, before any
/// measurement.
pub(crate) fn refused(args: &str, words: &str) {
    let output = run(args);
    assert_eq!(output.status.code(), Some(2), "{args}: {}", stderr(&output));
    assert!(stderr(&output).contains(words), "{args}: {}", stderr(&output));
    assert_eq!(stdout(&output), "", "{args}");
}
