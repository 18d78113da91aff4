//! Spawn: the cost of creating an empty task and joining it.
//!
//! A task spawns a thousand and then joins them (`batch`), or joins each before it spawns the next
//! (`serial`); one operation is one spawn with its join. Each empty task returns its number, which
//! the spawner checks.

use super::crew;
use super::{Outcome, Spec, Variant};
use suite::kit::fault::Fault;
use suite::kit::runtime::{Lost, Runtime};

/// Enough that the join's own cost vanishes, few enough that all tasks stay in the cache.
const BATCH: usize = 1000;

pub(super) fn run<R: Runtime>(spec: &Spec) -> Result<Outcome, Fault> {
    let size = if spec.variant == Variant::Batch { BATCH } else { 1 };
    let runtime = crew::start::<R>(spec)?;
    let crew = crew::muster(&runtime, spec.tasks(), move |_number, mut meter| async move {
        meter.gather::<R>().await;
        let mut children = Vec::with_capacity(size);
        let mut wrong = 0_usize;
        loop {
            children.extend((0..size).map(|number| R::spawn(async move { number })));
            for (number, child) in children.drain(..).enumerate() {
                wrong += usize::from(child.await? != number);
            }
            if !meter.count(size as u64) {
                break Ok::<_, Lost>((meter.tally(), wrong));
            }
        }
    })?;
    let (left, elapsed) = crew.measure(spec, || ())?;
    let mut tallies = Vec::with_capacity(left.len());
    for spawner in left {
        let (tally, wrong) = spawner?;
        if wrong > 0 {
            return Fault::check(format!("{wrong} joins brought the result of another task"));
        }
        tallies.push(tally);
    }
    crew::outcome(&tallies, elapsed)
}
