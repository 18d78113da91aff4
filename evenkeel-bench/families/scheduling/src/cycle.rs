//! Cycle: rings of five tasks around each of which one token travels.
//!
//! A task waits for its token, then posts to the next task: one operation. At the stop each task
//! posts once more before it ends, so that the token reaches every task and comes to rest where the
//! last lap began. Then the counts around a ring fall at most once, by one: between the task that
//! began the lap and its predecessor.

use super::crew::{self, Tally};
use super::{Outcome, RING, Spec};
use suite::kit::fault::Fault;
use suite::kit::runtime::{Parker, Runtime};

pub(super) fn run<R: Runtime>(spec: &Spec) -> Result<Outcome, Fault> {
    let tasks = spec.tasks();
    let tokens: Vec<R::Parker> = (0..tasks).map(|_| R::Parker::default()).collect();
    let runtime = crew::start::<R>(spec)?;
    let crew = crew::muster(&runtime, tasks, move |number, mut meter| {
        let place = number % RING;
        let own = tokens[number].clone();
        let successor = tokens[number - place + (place + 1) % RING].clone();
        async move {
            own.attach().await;
            meter.gather::<R>().await;
            if place == 0 {
                R::Parker::unpark(&own.unparker());
            }
            let next = successor.unparker();
            loop {
                own.park().await;
                // The task reads the stop while it has the token: after the post, the token may
                // come round and wait for a task that then ends with it.
                let more = meter.count(1);
                R::Parker::unpark(&next);
                if !more {
                    break meter.tally();
                }
            }
        }
    })?;
    let (tallies, elapsed) = crew.measure(spec, || ())?;
    for (number, ring) in tallies.chunks(RING).enumerate() {
        check(number, ring)?;
    }
    crew::outcome(&tallies, elapsed)
}

/// The token starts at the first task, so no task is ahead of its predecessor, or behind by more
/// than one.
fn check(number: usize, ring: &[Tally]) -> Result<(), Fault> {
    let ordered = ring.windows(2).all(|pair| pair[0].total >= pair[1].total);
    let lap = ring[0].total - ring[RING - 1].total.min(ring[0].total);
    if ordered && lap <= 1 {
        return Ok(());
    }
    let counts: Vec<u64> = ring.iter().map(|tally| tally.total).collect();
    Fault::check(format!("ring {number}: counts {counts:?} mean that a token was lost or doubled"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(counts: [u64; RING]) -> [Tally; RING] {
        counts.map(|total| Tally { total, measured: 0 })
    }

    #[test]
    fn a_token_that_stops_anywhere_passes() {
        check(0, &ring([7, 7, 7, 7, 7])).unwrap();
        check(0, &ring([8, 8, 7, 7, 7])).unwrap();
    }

    #[test]
    fn a_lost_or_doubled_token_is_found() {
        check(0, &ring([9, 7, 7, 7, 7])).unwrap_err();
        check(0, &ring([7, 8, 7, 7, 7])).unwrap_err();
        let fault = check(3, &ring([7, 7, 7, 7, 8])).unwrap_err();
        assert!(fault.to_string().starts_with("ring 3: counts [7, 7, 7, 7, 8]"));
    }
}
