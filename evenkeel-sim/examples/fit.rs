//! The longest waits on simulated machines, to which the constants of the promise are fitted.
//!
//! Prints, for each load and size of machine, the longest wait beyond a task's share of the work,
//! what the promise allows, and the longest neglect of a backlog:
//! `cargo run --release -p evenkeel-sim --example fit -- SEEDS PROCESSORS...`
//!
//! The seeds are from zero on, each without sockets and with them. `tests/promise.rs` asserts the
//! bound on others.

use evenkeel_sim::promise::{Kind, Policy, SOCKETS, run};
use std::process::ExitCode;
use std::thread;

fn main() -> ExitCode {
    let numbers: Option<Vec<u64>> =
        std::env::args().skip(1).map(|argument| argument.parse().ok()).collect();
    let Some([seeds, sizes @ ..]) = numbers.as_deref() else {
        eprintln!("usage: fit SEEDS PROCESSORS..., all of them numbers");
        return ExitCode::FAILURE;
    };
    println!(
        "{:>11} {:>10} {:>9} {:>10} {:>9}",
        "load", "processors", "wait, µs", "allowed, µs", "neglect, µs"
    );
    thread::scope(|scope| {
        for kind in Kind::ALL {
            scope.spawn(move || {
                for &processors in sizes {
                    let outcomes = (0..*seeds)
                        .chain((0..*seeds).map(|seed| SOCKETS | seed))
                        .map(|seed| run(kind, seed, processors as usize, Policy::default()));
                    // The run that comes nearest to what is allowed, or exceeds it most.
                    let (mut nearest, mut neglected) = ((0, 1), 0);
                    for outcome in outcomes {
                        let (waited, allowed) = (outcome.waited, outcome.allowed);
                        if waited * nearest.1 > nearest.0 * allowed {
                            nearest = (waited, allowed);
                        }
                        neglected = neglected.max(outcome.neglected);
                    }
                    let name = format!("{kind:?}");
                    println!(
                        "{name:>11} {processors:>10} {:>9} {:>10} {:>9}",
                        nearest.0 / 1_000,
                        nearest.1 / 1_000,
                        neglected / 1_000
                    );
                }
            });
        }
    });
    ExitCode::SUCCESS
}
