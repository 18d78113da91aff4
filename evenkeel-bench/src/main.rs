//! `evenkeel-bench`: the published experiments of schedulers, run on evenkeel and on its peers, side
//! by side.
//!
//! An experiment is written once, in [`workload`], for every [`runtime`] in this process. Fork-join
//! programs are [apart](forking): they have a size and an end, where the others have a rate. So is
//! what runs [both](mixed) at once, the tables of a thesis, which count [rounds](concurrency), and
//! [actors], whose systems are peers of their own. [`analysis`] judges the records of all of them,
//! and [`report`] shows them.
//!
//! What all families do alike is being moved to [`suite`]; [`families`] are those that run on it.

// `say!` and `note!` end quietly where these panic.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod actors;
mod affinity;
mod analysis;
mod builds;
mod cli;
mod concurrency;
mod disturbance;
mod families;
mod figures;
mod forking;
mod installer;
mod machine;
mod main_job;
mod misses;
mod mixed;
mod named;
mod objects;
mod patience;
mod places;
mod regime;
mod report;
mod runtime;
mod served;
mod simulated;
mod suite;
mod table;
mod timers;
mod toolchain;
mod verdict;
mod words;
mod work;
mod workload;

use std::process::ExitCode;

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
