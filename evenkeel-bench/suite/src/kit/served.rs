//! Programs that run once for each line that they are sent, and answer with one line.
//!
//! So they take turns with the runtimes of this process, and with each other.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};

/// A running program. It ends when this is dropped.
pub struct Served {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
    errors: ChildStderr,
    quiet: Duration,
}

impl Served {
    /// Starts a program, which is left alone for a time after each answer. Its cores are those of
    /// the calling thread.
    pub fn start(command: &mut Command, quiet: Duration) -> anyhow::Result<Served> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let requests = child.stdin.take().context("it has no input")?;
        let answered = child.stdout.take().context("it has no output")?;
        let errors = child.stderr.take().context("it has no errors")?;
        // A thread of its own reads, so that whoever waits for an answer can stop waiting.
        let (answer, answers) = mpsc::channel();
        thread::spawn(move || {
            let lines = BufReader::new(answered).lines().map_while(Result::ok);
            // Nobody listens any more: the end.
            lines.map(|line| answer.send(line)).take_while(Result::is_ok).for_each(drop);
        });
        Ok(Served { child, requests, answers, errors, quiet })
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a line and waits for the answer. `None` if that takes longer than `patience`; the
    /// program is of no use then.
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

    /// Why the program has ended.
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
        // It may be in the middle of a run. One that has ended by itself cannot be killed, which is
        // no error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
