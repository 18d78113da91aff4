//! Programs in processes of their own: those that end by themselves, and those that run once for
//! each line that they receive, and answer with one line.
//!
//! The latter take turns with the runtimes of this process, and with each other.
//!
//! Threads of their own read what a program prints, so that the caller can stop waiting, no program
//! waits for room in a pipe, and nothing looks at a program now and then, which would take a little
//! of the core that it runs on.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use super::afresh;

/// A program has ended by this status, and has written no error.
#[derive(Debug, thiserror::Error)]
#[error("it ended without a word ({0})")]
pub struct Wordless(ExitStatus);

impl Wordless {
    /// Returns whether the system has killed the program, as it does if memory runs out.
    pub fn was_killed(&self) -> bool {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&self.0);
        #[cfg(not(unix))]
        let signal = None;
        signal == Some(9)
    }
}

/// Runs a program to its end, on the cores of the calling thread, and returns what it prints. Kills
/// it if it takes longer than `patience`.
pub fn output(command: &mut Command, patience: Duration) -> anyhow::Result<String> {
    let served = Served::reading(command, Duration::ZERO, Some);
    let mut served = served.context("cannot start the program")?;
    // `None`: a time so long that it does not end.
    let end = Instant::now().checked_add(patience);
    let mut printed = String::new();
    loop {
        let left = end.map_or(patience, |end| end.saturating_duration_since(Instant::now()));
        match served.answers.recv_timeout(left) {
            Ok(line) => printed = printed + &line + "\n",
            Err(RecvTimeoutError::Timeout) => {
                let errors: String = served.errors.try_iter().map(|line| line + "\n").collect();
                let told = format!("it was still running after {patience:?}\n{errors}");
                return Err(anyhow!("{}", told.trim()));
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    if served.child.wait()?.success() { Ok(printed) } else { Err(served.end()) }
}

/// A running program. Dropping this value ends it.
pub struct Served {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<String>,
    errors: Receiver<String>,
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
        let answers = lines(child.stdout.take().context("it has no output")?, tell);
        let errors = lines(child.stderr.take().context("it has no errors")?, Some);
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
        let errors = self.errors.iter().collect::<Vec<_>>().join("\n");
        match (errors.trim(), self.child.wait()) {
            ("", Ok(status)) => Wordless(status).into(),
            ("", Err(error)) => anyhow!("it ended: {error}"),
            (errors, _) => anyhow!("it ended: {errors}"),
        }
    }
}

/// Reads a pipe to its end, and sends those lines that `tell` returns.
fn lines(pipe: impl Read + Send + 'static, tell: fn(String) -> Option<String>) -> Receiver<String> {
    let (told, lines) = mpsc::channel();
    thread::spawn(move || {
        let all = BufReader::new(pipe).split(b'\n').map_while(Result::ok);
        let text = all.map(|line| String::from_utf8_lossy(&line).trim_end().to_owned());
        // A receiver that is gone takes no more, and the program's pipe is read to its end.
        text.filter_map(tell).for_each(|line| drop(told.send(line)));
    });
    lines
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may be in the middle of a run. A program that has already ended cannot be killed,
        // which is no error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(line: &str, patience: Duration) -> anyhow::Result<String> {
        output(Command::new("sh").args(["-c", line]), patience)
    }

    #[test]
    fn a_program_may_write_more_than_a_pipe_holds() {
        let many = "head -c 300000 /dev/zero | tr '\\0' e >&2; echo one; echo two";
        assert_eq!(shell(many, LONG).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn the_end_of_a_program_is_told_in_its_words_or_by_its_status() {
        let error = shell("echo odd >&2; exit 1", LONG).unwrap_err();
        assert_eq!(error.to_string(), "it ended: odd");
        for (line, due, killed) in
            [("kill -9 $$", "signal: 9", true), ("exit 9", "status: 9", false)]
        {
            let error = shell(line, LONG).unwrap_err();
            let told = error.to_string();
            assert!(told.starts_with("it ended without a word (") && told.contains(due), "{told}");
            assert_eq!(error.downcast::<Wordless>().unwrap().was_killed(), killed);
        }
    }

    #[test]
    fn a_program_that_goes_on_is_killed_and_quoted() {
        // It waits for a line. A busy machine may take its time until it says so.
        let late = |millis| {
            let error = shell("echo odd >&2; read line", Duration::from_millis(millis));
            error.unwrap_err().to_string()
        };
        let mut told = [100, 1_000, 10_000, 60_000].into_iter().map(late);
        assert!(told.any(|told| told.starts_with("it was still running after") && told.ends_with("odd")));
    }
}
