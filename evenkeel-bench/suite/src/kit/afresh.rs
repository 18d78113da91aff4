//! Runs this binary in a process of its own, and measures a process's memory.

use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use anyhow::Context;
use serde::de::DeserializeOwned;

use super::patience::PATIENCE;
use super::served;

/// The test that stands for the binary when tests call it.
static TEST: OnceLock<&str> = OnceLock::new();

/// Holds the arguments of a test that stands for the binary.
const ARGUMENTS: &str = "EVENKEEL_TEST_AFRESH";

/// Lets every later fresh process run this test, for a binary of tests has no command line of its
/// own. The test does what its [arguments](of_test) say.
pub fn by_test(name: &'static str) {
    TEST.get_or_init(|| name);
}

/// Returns the arguments for the test that stands for the binary; `None` if it runs as a test.
pub fn of_test() -> Option<Vec<String>> {
    let arguments = env::var(ARGUMENTS).ok()?;
    Some(arguments.split(' ').map(str::to_owned).collect())
}

/// Runs a fresh process of this binary with these arguments, and parses what it prints.
pub fn afresh<T: DeserializeOwned>(arguments: &[&str]) -> anyhow::Result<T> {
    let printed = served::output(&mut command(arguments)?, PATIENCE)?;
    let line = printed.lines().find_map(answer).unwrap_or(&printed);
    serde_json::from_str(line).context("the fresh process printed something else")
}

/// Returns the JSON object in a printed line; `None` if there is none. A test prints more around
/// it.
pub fn answer(line: &str) -> Option<&str> {
    line.get(line.find('{')?..)
}

/// Returns the command that starts this binary with these arguments.
pub fn command(arguments: &[&str]) -> anyhow::Result<Command> {
    let binary = env::current_exe().context("cannot find this binary to start it afresh")?;
    let mut command = Command::new(binary);
    match TEST.get() {
        Some(test) => {
            command.args([test, "--exact", "--nocapture"]).env(ARGUMENTS, arguments.join(" "))
        }
        None => command.args(arguments),
    };
    Ok(command)
}

/// Returns the resident set of this process.
pub fn resident_bytes() -> anyhow::Result<u64> {
    let path = "/proc/self/statm";
    let text = fs::read_to_string(path)
        .with_context(|| format!("memory is measured on Linux only: cannot read {path}"))?;
    let pages = text.split_whitespace().nth(1).and_then(|field| field.parse::<u64>().ok());
    let pages = pages.with_context(|| format!("{path} has no second number: `{}`", text.trim()))?;
    Ok(pages * rustix::param::page_size() as u64)
}
