//! The modes without tasks: a pinned thread per core, which enters objects under some lock, or
//! without one.

use std::sync::Arc;
use std::thread;

use super::locks::Shared;
use super::party::{Party, Tally};
use super::run::Finished;
use super::score::Score;
use super::work::Kind;
use suite::affinity;
use suite::kit::fault::Fault;
use suite::kit::runtime::Lost;

/// Runs `workers` threads, each on a core of its own while cores remain.
pub(super) fn run<K: Kind, S: Shared<K>>(
    kind: K,
    workers: usize,
    objects: usize,
    score: &Arc<Score>,
    seed: u64,
) -> Result<Finished, Fault> {
    let cores = affinity::cores();
    let shared = S::new(kind, objects);
    let go = |number: usize| -> Tally {
        affinity::settle_on(cores[number % cores.len()]);
        let mut party = Party::new(score, seed, number);
        while let Some(done) = shared.operate(kind, &mut party) {
            party.count(done);
        }
        party.into_tally()
    };
    let go = &go;
    let (performance, tallies) = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|number| scope.spawn(move || go(number))).collect();
        let performance = score.conduct(|| 0);
        let tallies: Result<Vec<Tally>, Fault> =
            threads.into_iter().map(|thread| thread.join().map_err(|_| panicked())).collect();
        (performance, tallies)
    });
    Ok(Finished { performance, tallies: tallies?, held: shared.held(kind), homes: None })
}

pub(super) fn panicked() -> Fault {
    Fault::Lost(Lost("a thread panicked".to_owned()))
}
