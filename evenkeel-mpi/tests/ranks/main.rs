//! Jobs of several ranks, started by `mpiexec`: this program starts them, and is each of their
//! ranks.
//!
//! `EVENKEEL_MPIEXEC` names another `mpiexec`. Jobs run one after the other. `mpiexec` itself
//! limits each to [`LIMIT`], which only protects from a hanging job. An argument that is not a flag
//! selects the tests with names that contain it.

mod jobs;
mod programs;

use std::env;
use std::panic;
use std::process::ExitCode;

/// The variable that names the program of a rank.
const PROGRAM: &str = "EVENKEEL_MPI_PROGRAM";

/// The number of seconds after which `mpiexec` ends a job.
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
