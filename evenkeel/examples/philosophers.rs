//! Dining philosophers by bulk entry: both forks at once, and no deadlock.
//!
//! `lock_all` enters the monitors of a set by their addresses, whatever their order in the set. So
//! the philosophers never wait in a circle, each with one fork and in want of the next. There is no
//! need for a waiter, a limit on those at the table or a left-handed philosopher. Each fork has a
//! queue, first come, first served, so that no philosopher starves.
//!
//! Source: Dijkstra, "Hierarchical ordering of sequential processes", 1971, for the problem and for
//! the order; C∀ (Delisle, MMath thesis, University of Waterloo, 2018) for bulk entry.
//!
//! `cargo run --example philosophers`

use evenkeel::sync::monitor::{Monitor, lock_all};
use evenkeel::yield_now;
use std::sync::Arc;

const NAMES: [&str; 5] = ["Baruch", "Émilie", "Hannah", "Marcus", "Xanthippe"];

#[derive(Default)]
struct Fork {
    /// The meals that the fork has served, by the user on either side.
    meals: [u32; 2],
    /// Whether a philosopher eats with it.
    in_use: bool,
}

#[evenkeel::main]
pub(crate) async fn main() {
    const MEALS: u32 = 100;
    let forks: Arc<[Monitor<Fork>; NAMES.len()]> = Arc::default();
    let philosophers: Vec<_> = (0..NAMES.len())
        .map(|seat| {
            let forks = forks.clone();
            let dine = async move {
                let (left, right) = (&forks[seat], &forks[(seat + 1) % NAMES.len()]);
                for _ in 0..MEALS {
                    let mut both = lock_all((left, right)).await;
                    let (left, right) = both.values_mut();
                    assert!(!left.in_use && !right.in_use, "no other user has either of them");
                    (left.in_use, right.in_use) = (true, true);
                    // Eating takes a while.
                    yield_now().await;
                    left.meals[0] += 1;
                    right.meals[1] += 1;
                    (left.in_use, right.in_use) = (false, false);
                    drop(both);
                    // So does thinking.
                    yield_now().await;
                }
            };
            evenkeel::task::Builder::new().name(NAMES[seat]).spawn(dine)
        })
        .collect();
    for philosopher in philosophers {
        philosopher.await.expect("no philosopher panics");
    }
    for fork in &*forks {
        assert_eq!(fork.enter().await.meals, [MEALS; 2]);
    }
    println!("{} have eaten {MEALS} times each", NAMES.join(", "));
}
