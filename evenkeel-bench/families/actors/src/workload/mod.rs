//! The experiments, each written once for every system in this process.

mod fanin;
mod latency_probe;
mod pingpong;
mod spawn;

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::bench::Bench;
use super::savina::{self, Program};
use super::spec::{Outcome, Spec};
use super::system::System;
use suite::kit::fault::Fault;
use suite::kit::runtime::Lost;

/// Runs an experiment once. latency_probe reports round trips if it is `sampled`.
pub(crate) fn run<S: System>(spec: &Spec, sampled: bool) -> Result<Outcome, Fault> {
    let system = S::start(spec.workers).map_err(Fault::Start)?;
    let spec = spec.clone();
    match spec.bench {
        Bench::LatencyProbe => within(&system, |s| latency_probe::run::<S>(s, spec, sampled)),
        Bench::Pingpong => within(&system, |s| pingpong::run::<S>(s, spec)),
        Bench::Fanin => within(&system, |s| fanin::run::<S>(s, spec)),
        Bench::Spawn => within(&system, |s| spawn::run::<S>(s, spec)),
        Bench::Memory => Fault::check("memory is measured in a process of its own"),
        _ => Fault::check("a program of Savina is run as such"),
    }
}

/// Runs a program of Savina once.
pub(crate) fn run_savina<S: System>(spec: &Spec, program: Program) -> Result<Outcome, Fault> {
    let system = S::start(spec.workers).map_err(Fault::Start)?;
    let rounds = spec.rounds;
    within(&system, move |s| async move { savina::run::<S>(s, program, rounds).await.map(timed) })
}

fn within<S, F>(system: &S, work: impl FnOnce(S::Spawner) -> F) -> Result<Outcome, Fault>
where
    S: System,
    F: Future<Output = Result<Outcome, Fault>> + Send + 'static,
{
    let lost = || Lost("the task that drives the experiment has panicked".to_owned());
    system.run(work).ok_or_else(lost)?
}

/// Makes an outcome that is a time alone.
fn timed(took: Duration) -> Outcome {
    Outcome {
        seconds: took.as_secs_f64(),
        trips: None,
        bytes_per_actor: None,
        heap_bytes_per_actor: None,
    }
}

/// The counts of a run's actors; each actor adds its own when it stops.
#[derive(Default)]
struct Totals(Mutex<Counts>);

/// Counts of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Answered pings.
    answered: u64,
    /// Received replies.
    received: u64,
}

impl Totals {
    fn add(&self, counts: Counts) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.answered += counts.answered;
        all.received += counts.received;
    }

    /// Returns an error unless exactly `pings` pings were answered, and as many replies came.
    fn check(&self, pings: u64) -> Result<(), Fault> {
        let Counts { answered, received } = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (answered, received) == (pings, pings) {
            true => Ok(()),
            false => Fault::check(format!(
                "{answered} pings of {pings} were answered, and {received} replies have come"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_are_not_exact_are_a_fault() {
        let totals = Totals::default();
        totals.add(Counts { answered: 3, received: 1 });
        totals.add(Counts { answered: 1, received: 3 });
        totals.check(4).unwrap();
        let fault = totals.check(5).unwrap_err().to_string();
        assert_eq!(fault, "4 pings of 5 were answered, and 4 replies have come");
        totals.add(Counts { answered: 1, received: 0 });
        totals.check(5).unwrap_err();
    }
}
