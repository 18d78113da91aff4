//! Actor systems in other languages: programs of their own, built when their toolchain is found.
//!
//! A program runs for as long as its cell of the table is measured. It receives a line of flags,
//! runs once, checks its own result and answers with one JSON line. If a compiler at run time needs
//! a warm-up, the program warms up before its first answer to new flags.

mod caf;
mod erlang;
mod go;
mod pekko;

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Deserialize;

use suite::kit::places::Places;
use suite::kit::served::Served;
use suite::kit::toolchain::Workshop;
use suite::named;

named! {
    /// An actor system in another language.
    pub(crate) enum Name as "actor system" {
        /// Classic actors of Pekko, by a program in Java.
        Pekko = "pekko",
        /// Processes of Erlang.
        Erlang = "erlang",
        /// The C++ Actor Framework.
        Caf = "caf",
        /// Goroutines with a channel each.
        Go = "go",
    }
}

impl Name {
    /// The version of its toolchain or library, if installed.
    fn version(self, places: &Places) -> Option<String> {
        match self {
            Name::Pekko => pekko::version(places),
            Name::Erlang => erlang::version(places),
            Name::Caf => caf::version(),
            Name::Go => go::version(),
        }
    }

    /// Returns one line that installs the missing parts, with what is wrong with the installed
    /// ones; `None` if the program can be built here. Takes about a second.
    fn missing(self, places: &Places) -> anyhow::Result<Option<String>> {
        match self {
            Name::Pekko => pekko::missing(places),
            Name::Erlang => Ok(erlang::missing(places)),
            Name::Caf => caf::missing(places),
            Name::Go => Ok(go::missing()),
        }
    }
}

/// Looks for these systems in parallel: returns for each the version that would build it, or one
/// line that installs it.
pub(crate) fn look(names: &[Name]) -> anyhow::Result<Vec<Result<Option<String>, String>>> {
    let places = Places::here();
    let found = together(names, |name| {
        Ok(name.missing(&places)?.map_or_else(|| Ok(name.version(&places)), Err))
    });
    found.into_iter().collect()
}

fn together<T: Send>(names: &[Name], each: impl Fn(Name) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let each = &each;
        let started: Vec<_> = names.iter().map(|&name| scope.spawn(move || each(name))).collect();
        let ended = started.into_iter().map(|thread| thread.join());
        ended.map(|ended| ended.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// A request for one run. Each benchmark reads its own fields.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// `latency_probe`, `pingpong`, `fanin`, `actor_spawn` or `actor_memory`.
    pub(crate) bench: &'static str,
    /// `alive` or `waves`; `idle` or `used`.
    pub(crate) mode: Option<&'static str>,
    /// Workers: threads or schedulers that run actors.
    pub(crate) workers: usize,
    /// latency_probe: actors for each worker.
    pub(crate) actors_per_worker: usize,
    /// latency_probe: pings of each actor.
    pub(crate) pings: u32,
    /// pingpong: pairs in all.
    pub(crate) pairs: usize,
    /// pingpong: pings of each pair.
    pub(crate) repeats: u32,
    /// pingpong: pings of a pair that are under way at once.
    pub(crate) in_flight: u32,
    /// fanin: actors that send.
    pub(crate) producers: usize,
    /// fanin: messages of each.
    pub(crate) messages: u32,
    /// actor_spawn and actor_memory: actors in all.
    pub(crate) actors: usize,
}

impl Request {
    /// The request as a line.
    fn line(&self) -> String {
        let Request { bench, workers, actors_per_worker, pings, pairs, .. } = self;
        let Request { repeats, in_flight, producers, messages, actors, .. } = self;
        // Another benchmark's settings stay at their defaults: 0 is out of their bounds.
        let numbers = match *bench {
            "latency_probe" => format!("--actors-per-worker {actors_per_worker} --pings {pings}"),
            "pingpong" => format!("--pairs {pairs} --repeats {repeats} --in-flight {in_flight}"),
            "fanin" => format!("--producers {producers} --messages {messages}"),
            _ => format!("--actors {actors}"),
        };
        let mode = self.mode.map(|mode| format!(" --mode {mode}")).unwrap_or_default();
        format!("--bench {bench} --workers {workers} {numbers}{mode}")
    }
}

/// The measurements of a run that passed its own check.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Answer {
    /// Name of the actor system.
    pub(crate) runtime: String,
    /// Name of the benchmark.
    pub(crate) bench: String,
    /// Workers of the run.
    pub(crate) workers: usize,
    /// Actors in all.
    pub(crate) actors: usize,
    /// Messages in all, replies among them.
    pub(crate) messages: u64,
    /// From right before the first message until the last actor is done.
    pub(crate) seconds: f64,
    /// actor_memory: growth of the resident set per actor; `None` where the system does not tell.
    pub(crate) bytes_per_actor: Option<f64>,
    /// actor_memory: the same by the runtime's own account of its heap, after a collection, if it
    /// has one.
    #[serde(default)]
    pub(crate) heap_bytes_per_actor: Option<f64>,
    /// Whether its check passed.
    checked: bool,
}

/// Reads the line that answers a request.
fn read(name: Name, request: &Request, line: &str) -> anyhow::Result<Answer> {
    let answer: Answer =
        serde_json::from_str(line).with_context(|| format!("it answered `{line}`"))?;
    let asked = (name.name(), request.bench, request.workers);
    let told = (&*answer.runtime, &*answer.bench, answer.workers);
    ensure!(told == asked, "it answered `{line}` to `{}`", request.line());
    ensure!(answer.checked, "it did not check its result: it answered `{line}`");
    ensure!(
        answer.seconds > 0.0 && answer.seconds.is_finite(),
        "it answered `{line}`, in which the time is no time"
    );
    Ok(answer)
}

/// A built program.
pub(crate) struct Built {
    name: Name,
    program: Program,
}

/// A folder with a program, and its launcher: the program itself or a virtual machine, with its
/// major version where that matters.
struct Program {
    workshop: Workshop,
    tool: PathBuf,
    major: u32,
}

/// The purpose of a process. A runtime that grows its heap takes as much as it can for speed, and
/// no more than it needs when memory is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Speed,
    Memory,
}

impl Built {
    /// Builds the programs of these systems in parallel.
    pub(crate) fn all(names: &[Name]) -> anyhow::Result<Vec<Built>> {
        together(names, Built::new).into_iter().collect()
    }

    fn new(name: Name) -> anyhow::Result<Built> {
        let places = Places::here();
        let program = match name {
            Name::Pekko => pekko::build(&places),
            Name::Erlang => erlang::build(&places),
            Name::Caf => caf::build(&places),
            Name::Go => go::build(),
        };
        Ok(Built { name, program: program? })
    }

    /// The actor system.
    pub(crate) fn name(&self) -> Name {
        self.name
    }

    fn command(&self, workers: usize, purpose: Purpose) -> anyhow::Result<Command> {
        let mut command = match self.name {
            Name::Pekko => pekko::command(&self.program, workers, purpose)?,
            Name::Erlang => erlang::command(&self.program, workers),
            // These programs set their threads themselves.
            Name::Caf | Name::Go => Command::new(&self.program.tool),
        };
        command.args(["--workers", &workers.to_string(), "--reps", "0"]);
        Ok(command)
    }

    /// Starts the program for all runs of a cell except those of `actor_memory`. It runs on the
    /// cores of the calling thread.
    pub(crate) fn start(&self, workers: usize) -> anyhow::Result<Peer> {
        self.serve(workers, Purpose::Speed)
    }

    fn serve(&self, workers: usize, purpose: Purpose) -> anyhow::Result<Peer> {
        let served = Served::start(&mut self.command(workers, purpose)?, QUIET)
            .with_context(|| format!("cannot start {}", self.name))?;
        Ok(Peer { name: self.name, served })
    }

    /// Runs `actor_memory` once, in a process of its own: memory left by an earlier run would count
    /// as free. `None` if the run takes longer than `patience`.
    pub(crate) fn memory(
        &self,
        request: &Request,
        patience: Duration,
    ) -> anyhow::Result<Option<Answer>> {
        self.serve(request.workers, Purpose::Memory)?.once(request, patience)
    }
}

/// How long a program rests after its answer: idle schedulers look for work for some milliseconds
/// before they sleep, and would take that time from the next run. An estimate.
const QUIET: Duration = Duration::from_millis(20);

/// A running program. It ends when this value is dropped.
pub(crate) struct Peer {
    name: Name,
    served: Served,
}

impl Peer {
    /// The process identifier, so that its time counts for this peer.
    pub(crate) fn id(&self) -> u32 {
        self.served.id()
    }

    /// Runs once, after a warm-up if these flags are new. `None` if the run takes longer than
    /// `patience`; the program is useless from then on.
    pub(crate) fn once(
        &mut self,
        request: &Request,
        patience: Duration,
    ) -> anyhow::Result<Option<Answer>> {
        let asked = self.served.ask(&request.line(), patience);
        let line = asked.with_context(|| self.name.to_string())?;
        let answer = line.map(|line| read(self.name, request, &line));
        answer.transpose().with_context(|| self.name.to_string())
    }
}

#[cfg(test)]
mod tests;
