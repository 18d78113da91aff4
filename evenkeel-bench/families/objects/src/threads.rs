//! The modes without tasks: a pinned thread per core, which enters objects by some lock, or without
//! one.

use std::sync::Arc;
use std::thread;

use super::locks::Shared;
use super::party::{Choice, Party, Tally};
use super::run::Finished;
use super::score::Score;
use super::work::Work;
use suite::affinity;
use suite::kit::fault::Fault;
use suite::kit::runtime::Lost;

/// Runs as many threads, each on a core of its own as long as there are so many.
pub(super) fn run<W: Work, S: Shared<W>>(
    work: W,
    workers: usize,
    objects: usize,
    score: &Arc<Score>,
    seed: u64,
) -> Result<Finished, Fault> {
    let cores = affinity::cores();
    let shared = S::new(work, objects);
    let go = |number: usize| -> Tally {
        affinity::settle_on(cores[number % cores.len()]);
        let mut party = Party::new(score, Choice::Random, seed, number);
        while let Some(object) = party.next() {
            let done = shared.operate(object, work, &mut party.random);
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
    Ok(Finished { performance, tallies: tallies?, total: shared.total(work), homes: None })
}

fn panicked() -> Fault {
    Fault::Lost(Lost("a thread panicked".to_owned()))
}
