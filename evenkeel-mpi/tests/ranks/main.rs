//! Jobs of several ranks, started by `mpiexec`: this program starts them, and is each of their
//! ranks.
//!
//! `EVENKEEL_MPIEXEC` names another `mpiexec`. Jobs run one after the other, each limited to
//! [`LIMIT`] by `mpiexec` itself, which protects from a job that hangs and decides nothing
//! otherwise. An argument that is not a flag picks the tests whose names contain it.

mod jobs;
mod programs;

use std::env;
use std::panic;
use std::process::ExitCode;

/// What a rank finds in its environment: which of the programs it is.
const PROGRAM: &str = "EVENKEEL_MPI_PROGRAM";

/// After how many seconds `mpiexec` ends a job.
const LIMIT: &str = "120";

fn main() -> ExitCode {
    match env::var(PROGRAM) {
        Ok(program) => programs::run(&program),
        Err(_) => tests(),
    }
}

fn tests() -> ExitCode {
    let picked = env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let picked: Vec<_> = jobs::TESTS
        .iter()
        .filter(|(name, _)| picked.as_ref().is_none_or(|part| name.contains(part.as_str())))
        .collect();
    println!("\nrunning {} tests", picked.len());
    let mut failed = 0;
    for (name, test) in picked {
        // Its message goes to the standard error.
        let passed = panic::catch_unwind(test).is_ok();
        failed += usize::from(!passed);
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
    }
    println!("\ntest result: {failed} failed\n");
    ExitCode::from(u8::from(failed > 0))
}
