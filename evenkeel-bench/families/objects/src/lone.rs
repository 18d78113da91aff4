//! The mode with one thread, which owns all objects: the plainest rival of objects that admit one
//! party at a time.

use std::sync::{Arc, mpsc};
use std::thread;

use super::party::{Party, Tally};
use super::run::Finished;
use super::score::Score;
use super::threads::panicked;
use super::work::{Done, Held, Kind, PairWork, Work};
use suite::affinity;
use suite::kit::fault::Fault;

/// Runs one thread on the first core. It makes one operation after another, until `operate` returns
/// none.
pub(super) fn run<K: Kind>(
    kind: K,
    objects: usize,
    score: &Arc<Score>,
    seed: u64,
    operate: impl Fn(K, &mut [K::Value], &mut Party) -> Option<Done> + Sync,
) -> Result<Finished, Fault> {
    let (made, is_made) = mpsc::channel::<()>();
    let operate = &operate;
    let go = move || -> (Tally, Held) {
        affinity::settle_on(affinity::cores()[0]);
        let mut values: Box<[K::Value]> = (0..objects).map(|number| kind.make(number)).collect();
        let mut party = Party::new(score, seed, 0);
        drop(made);
        while let Some(done) = operate(kind, &mut values, &mut party) {
            party.count(done);
        }
        let held = values.iter().map(|value| Held::by(kind, value)).sum();
        (party.into_tally(), held)
    };
    let (performance, ended) = thread::scope(|scope| {
        let thread = scope.spawn(go);
        // The other modes make their values before the run begins, too: until then it waits.
        _ = is_made.recv();
        (score.conduct(|| 0), thread.join())
    });
    let (tally, held) = ended.map_err(|_| panicked())?;
    Ok(Finished { performance, tallies: vec![tally], held, homes: None })
}

/// An operation on one object.
#[inline]
pub(super) fn one<W: Work>(work: W, values: &mut [W::Value], party: &mut Party) -> Option<Done> {
    let number = party.next(work)?;
    Some(work.operate(&mut values[number], &mut party.hand))
}

/// An operation on two objects.
#[inline]
pub(super) fn pair<W: PairWork>(
    work: W,
    values: &mut [W::Value],
    party: &mut Party,
) -> Option<Done> {
    let (first, second) = party.next_pair(work)?;
    let [first, second] = values.get_disjoint_mut([first, second]).ok()?;
    Some(work.operate(first, second, &mut party.hand))
}
