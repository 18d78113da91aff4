//! Programs that run once for each line that they receive, and answer with one line.
//!
//! So they take turns with the runtimes of this process, and with each other.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};

use super::afresh;

/// A running program. Dropping this value ends it.
pub struct Served {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
    errors: ChildStderr,
    quiet: Duration,
}

impl Served {
    /// Starts a program, which is left alone for `quiet` after each answer. It has the cores of the
    /// calling thread.
    pub fn start(command: &mut Command, quiet: Duration) -> anyhow::Result<Served> {
        Self::reading(command, quiet, Some)
    }

    /// Starts a fresh process of this binary with these arguments, which answers in JSON objects.
    pub fn afresh(arguments: &[&str]) -> anyhow::Result<Served> {
        let object = |line: String| afresh::answer(&line).map(str::to_owned);
        Self::reading(&mut afresh::command(arguments)?, Duration::ZERO, object)
    }

    /// Starts a program, of whose lines `tell` returns those that are answers.
    fn reading(
        command: &mut Command,
        quiet: Duration,
        tell: fn(String) -> Option<String>,
    ) -> anyhow::Result<Served> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let requests = child.stdin.take().context("it has no input")?;
        let answered = child.stdout.take().context("it has no output")?;
        let errors = child.stderr.take().context("it has no errors")?;
        // A thread of its own reads, so that the caller can stop waiting for an answer.
        let (answer, answers) = mpsc::channel();
        thread::spawn(move || {
            let lines = BufReader::new(answered).lines().map_while(Result::ok);
            let lines = lines.filter_map(tell);
            // The receiver is gone: the end.
            lines.map(|line| answer.send(line)).take_while(Result::is_ok).for_each(drop);
        });
        Ok(Served { child, requests, answers, errors, quiet })
    }

    /// Returns the id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a line and waits for the answer. Returns `None` if that takes longer than `patience`;
    /// the program is then of no further use.
    pub fn ask(&mut self, request: &str, patience: Duration) -> anyhow::Result<Option<String>> {
        let asked = writeln!(self.requests, "{request}").and_then(|()| self.requests.flush());
        match asked.map(|()| self.answers.recv_timeout(patience)) {
            Ok(Ok(line)) => {
                thread::sleep(self.quiet);
                Ok(Some(line))
            }
            Ok(Err(RecvTimeoutError::Timeout)) => Ok(None),
            Ok(Err(RecvTimeoutError::Disconnected)) | Err(_) => Err(self.end()),
        }
    }

    /// Returns why the program has ended.
    fn end(&mut self) -> anyhow::Error {
        let mut errors = String::new();
        let read = self.errors.read_to_string(&mut errors);
        match (read, self.child.wait()) {
            (Ok(1..), _) => anyhow!("it ended: {}", errors.trim()),
            (_, Ok(status)) => anyhow!("it ended without a word ({status})"),
            (_, Err(error)) => anyhow!("it ended: {error}"),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may be in the middle of a run. A program that has already ended cannot be killed,
        // which is no error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
