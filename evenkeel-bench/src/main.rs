//! `evenkeel-bench`: the published experiments of schedulers, run on evenkeel and on its peers,
//! side by side.
//!
//! The code that all families of experiments share is the crate [`suite`]; each family is a crate
//! below `families/`, and [`families`] is their registry. The peers' code is compiled with the
//! family that measures it, so each crate is one unit of code generation, and they build side by
//! side. [`analysis`] judges the records of all of them, and [`report`] shows them.

// `say!` and `note!` end quietly where these macros panic.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod analysis;
mod builds;
mod cli;
mod families;
mod main_job;
mod publications;
mod ranks;
mod report;
mod simulated;

use std::process::ExitCode;

use suite::kit::toolchain;
use suite::output::note;

fn main() -> ExitCode {
    let cli = cli::parse();
    match toolchain::tidy_on_interrupt().and_then(|()| cli::dispatch(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note!("error: {error:#}");
            ExitCode::from(cli::status(&error))
        }
    }
}
