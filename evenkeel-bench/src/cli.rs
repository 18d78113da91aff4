//! The command line and its commands.
//!
//! [`args`] has the options of `run`. The [registry](crate::families) names the experiments.

mod args;
mod list;
mod publications;
mod run;
mod simulate;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use self::args::{RunArgs, Usage};
use crate::builds::build;
use crate::main_job;
use crate::{analysis, builds};
use latency::promise;
use scheduling::memory;
use serving::{client, server};
use suite::effort::Effort;
#[cfg(test)]
use suite::entry::{Entry, Part};
use suite::interrupt::Interrupted;
use suite::kit::toolchain;

/// Published experiments of schedulers, run on evenkeel and on its peers, side by side.
///
/// Without a command: five experiments (locality and transfer in two variants each), with many and
/// with few tasks, the delays of light tasks, tasks beside fork-join, the eight fork-join programs,
/// and timers, at one and at all cores, the tables of "Concurrency in C∀", actors, and objects with
/// homes, on every runtime found, in about six minutes; then a summary and an HTML report.
#[derive(Debug, Parser)]
#[command(version = build::VERSION, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    session: SessionArgs,
    /// One short pass over everything, in less than 40 seconds
    #[arg(long)]
    quick: bool,
}

#[derive(Debug, Args)]
struct SessionArgs {
    /// Folder for the HTML report
    #[arg(long, value_name = "DIR", default_value = "report")]
    report: PathBuf,
    /// Print all tables too, fitted to the terminal; the report has them in any case
    #[arg(long)]
    tables: bool,
    /// Write the tables as a Markdown page too
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

impl SessionArgs {
    fn run(&self, effort: Effort) -> anyhow::Result<()> {
        main_job::run(effort, &self.report, self.markdown.as_deref(), self.tables)
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The main job with 15 repeats, longer runs, spawn, memory, large arrays, fork-join in three
    /// sizes, and growth up to ten million tasks, of which Tokio's take 7 GB
    Full(SessionArgs),
    /// Run chosen experiments and print their figures
    Run(Box<RunArgs>),
    /// Simulate the four programs of the Cilk Locality evaluation on its machine of 4 x 8 cores,
    /// with its two schedulers and each locality; Figure 4 of CoreTime; or C∀'s experiments at 1 to
    /// 256 processors
    Simulate(simulate::Options),
    Publications(publications::Options),
    Promise(promise::Options),
    Analyse(analysis::Options),
    Builds(builds::Options),
    /// Name the experiments, their variants, the programs, their sizes, and the runtimes found and
    /// missing
    List,
    /// Measure memory in this process; used by the binary itself
    #[command(name = memory::COMMAND, hide = true)]
    MemoryProbe(memory::ProbeArgs),
    /// Measure the memory of actors in this process; used by the binary itself
    #[command(name = actors::memory::COMMAND, hide = true)]
    ActorMemoryProbe(actors::memory::ProbeArgs),
    /// Measure what tasks and timers cost in this process; used by the binary itself
    #[command(name = growth::probe::COMMAND, hide = true)]
    GrowthProbe(growth::probe::ProbeArgs),
    /// Serve for a client; used by the binary itself
    #[command(name = server::COMMAND, hide = true)]
    ServingServer(server::ServerArgs),
    /// Send requests to a server; used by the binary itself
    #[command(name = client::COMMAND, hide = true)]
    ServingClient(client::ClientArgs),
}

/// Runs the command of the command line.
pub(crate) fn dispatch(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        None if cli.quick => cli.session.run(Effort::Quick),
        None => cli.session.run(Effort::Usual),
        Some(Command::Full(session)) => session.run(Effort::Full),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Simulate(args)) => simulate::run(&args),
        Some(Command::Publications(options)) => publications::run(&options),
        Some(Command::Promise(options)) => promise::run(&options),
        Some(Command::Analyse(options)) => analysis::run(&options),
        Some(Command::Builds(options)) => {
            // Each build would find a wrong option, but the other one has to be built first.
            let line = builds::line(&options, 0);
            run::check(line.iter().map(String::as_str), builds::FAMILY)?;
            builds::run(&options)
        }
        Some(Command::List) => list::list(),
        Some(Command::MemoryProbe(args)) => memory::probe(&args),
        Some(Command::ActorMemoryProbe(args)) => actors::memory::probe(&args),
        Some(Command::GrowthProbe(args)) => growth::probe::probe(&args),
        Some(Command::ServingServer(args)) => server::run(&args),
        Some(Command::ServingClient(args)) => client::run(&args),
    }
}

/// Returns what a line of options asks a family for.
#[cfg(test)]
pub(crate) fn part_of(entry: &Entry, line: &str) -> Box<dyn Part> {
    let line = ["evenkeel-bench", "run"].into_iter().chain(line.split_whitespace());
    match Cli::try_parse_from(line).unwrap().command {
        Some(Command::Run(args)) => (entry.asked)(&run::asked(&args, &(entry.describe)())).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Parses the command line of this process; an invalid one ends the process with status 2.
pub(crate) fn parse() -> Cli {
    Cli::parse()
}

/// Returns the exit status for an error: 2 if the command line is wrong, 130 after Ctrl-C, else 1.
pub(crate) fn status(error: &anyhow::Error) -> u8 {
    if error.is::<Interrupted>() {
        return toolchain::INTERRUPTED;
    }
    let of_analysis =
        error.downcast_ref::<analysis::Error>().is_some_and(analysis::Error::is_usage);
    if error.is::<Usage>() || of_analysis { 2 } else { 1 }
}
