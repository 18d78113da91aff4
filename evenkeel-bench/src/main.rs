//! `evenkeel-bench`: the published experiments of schedulers, run on evenkeel and on its peers, side
//! by side.
//!
//! An experiment is written once, in [`workload`], for every [`runtime`] in this process. The
//! [`runner`] alternates the runtimes, repeats what was disturbed and makes a [`record`] of each run;
//! [`table`] and [`report`] show them.

mod affinity;
mod cli;
mod disturbance;
mod machine;
mod main_job;
mod record;
mod regime;
mod report;
mod runner;
mod runtime;
mod statistics;
mod table;
mod workload;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::dispatch(cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(cli::status(&error))
        }
    }
}
