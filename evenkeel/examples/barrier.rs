//! A barrier with an action of the last arrival: tasks that work in rounds wait for each other, and
//! the last one combines their parts.
//!
//! The last arrival acts while it is inside, before it releases the waiters. All waiters leave
//! before any task enters for the next round, because signalled tasks go before entrants. So no
//! task laps another, and rounds need no number.
//!
//! Source: Buhr, Fortier and Coffin, "Monitor classification", 1995, and the barrier of C∀'s
//! library.
//!
//! `cargo run --example barrier`

use evenkeel::sync::monitor::{Condition, Monitor};
use std::sync::Arc;

/// A barrier for a fixed number of tasks, with a value that they share.
struct Barrier<T, A> {
    size: usize,
    last_arrival: A,
    inside: Monitor<Round<T>, Condition>,
}

struct Round<T> {
    arrived: usize,
    value: T,
}

impl<T, A: Fn(&mut T)> Barrier<T, A> {
    fn new(size: usize, value: T, last_arrival: A) -> Self {
        let round = Round { arrived: 0, value };
        Self { size, last_arrival, inside: Monitor::with_conditions(round, Condition::new()) }
    }

    /// Adds the caller's part to the value, waits until all tasks have arrived and the last has
    /// acted, and reads the result. A task that is dropped while it waits still counts as arrived.
    async fn arrive<R>(&self, bring: impl FnOnce(&mut T), take: impl FnOnce(&T) -> R) -> R {
        let mut round = self.inside.enter().await;
        bring(&mut round.value);
        round.arrived += 1;
        if round.arrived < self.size {
            round = self.inside.conditions().wait(round).await;
        } else {
            (self.last_arrival)(&mut round.value);
            round.arrived = 0;
            self.inside.conditions().signal_all(&mut round);
        }
        take(&round.value)
    }
}

/// Pascal's triangle, row by row, with a task for each place.
#[derive(Default)]
struct Triangle {
    row: Vec<u64>,
    next: Vec<u64>,
    rows: usize,
}

#[evenkeel::main]
pub(crate) async fn main() {
    const PLACES: usize = 16;
    let mut triangle = Triangle { next: vec![0; PLACES], ..Triangle::default() };
    triangle.row = triangle.next.clone();
    triangle.row[0] = 1;
    let barrier = Arc::new(Barrier::new(PLACES, triangle, |triangle: &mut Triangle| {
        std::mem::swap(&mut triangle.row, &mut triangle.next);
        triangle.rows += 1;
    }));
    let tasks = (0..PLACES).map(|place| {
        let barrier = barrier.clone();
        evenkeel::spawn(async move {
            // The number at this place, and the one to its left.
            let (mut number, mut left) = (u64::from(place == 0), u64::from(place == 1));
            for row in 1..PLACES {
                let sum = number + left;
                let bring = |triangle: &mut Triangle| triangle.next[place] = sum;
                (number, left) = barrier
                    .arrive(bring, |triangle| {
                        assert_eq!(triangle.rows, row, "the last one has acted once for each row");
                        (triangle.row[place], if place > 0 { triangle.row[place - 1] } else { 0 })
                    })
                    .await;
            }
            number
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let mut row = Vec::new();
    for task in tasks {
        row.push(task.await.expect("no task panics"));
    }
    println!("row {} of Pascal's triangle: {row:?}", PLACES - 1);
    let binomial = |k| (0..k).fold(1, |number, i| number * (PLACES as u64 - 1 - i) / (i + 1));
    assert_eq!(row, (0..PLACES as u64).map(binomial).collect::<Vec<_>>());
}
