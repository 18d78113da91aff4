//! Yield: tasks that only yield, the least work for a scheduler.

use super::crew;
use super::{Outcome, Spec};
use suite::kit::fault::Fault;
use suite::kit::runtime::Runtime;

pub(super) fn run<R: Runtime>(spec: &Spec) -> Result<Outcome, Fault> {
    let runtime = crew::start::<R>(spec)?;
    let crew = crew::muster(&runtime, spec.tasks(), |_number, mut meter| async move {
        meter.gather::<R>().await;
        loop {
            R::yield_now().await;
            if !meter.count(1) {
                break meter.tally();
            }
        }
    })?;
    let (tallies, elapsed) = crew.measure(spec, || ())?;
    crew::outcome(&tallies, elapsed)
}
