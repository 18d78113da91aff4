//! A bounded buffer by internal scheduling: a task that cannot go on waits inside for a condition.
//!
//! No task barges in between a signal and the task that it wakes, and there are no spurious wakes.
//! So what was true at the signal is true after the wait: an `if` suffices, where other conditions
//! need a loop. Compare `buffer_external.rs`.
//!
//! Source: Hoare, "Monitors: an operating system structuring concept", 1974.
//!
//! `cargo run --example buffer_internal`

use evenkeel::sync::monitor::{Condition, Monitor};
use std::collections::VecDeque;
use std::sync::Arc;

struct Buffer<T> {
    items: Monitor<VecDeque<T>, Conditions>,
    capacity: usize,
}

#[derive(Default)]
struct Conditions {
    not_empty: Condition,
    not_full: Condition,
}

impl<T> Buffer<T> {
    fn new(capacity: usize) -> Self {
        Self { items: Monitor::default(), capacity }
    }

    async fn insert(&self, item: T) {
        let Conditions { not_empty, not_full } = self.items.conditions();
        let mut items = self.items.enter().await;
        if items.len() == self.capacity {
            items = not_full.wait(items).await;
        }
        assert!(items.len() < self.capacity);
        items.push_back(item);
        not_empty.signal(&mut items);
    }

    async fn remove(&self) -> T {
        let Conditions { not_empty, not_full } = self.items.conditions();
        let mut items = self.items.enter().await;
        if items.is_empty() {
            items = not_empty.wait(items).await;
        }
        let item = items.pop_front().expect("it has been signalled that there is one");
        not_full.signal(&mut items);
        item
    }
}

#[evenkeel::main]
pub(crate) async fn main() {
    const ITEMS: u64 = 1_000;
    let buffer = Arc::new(Buffer::new(10));
    let producers = [0, 1, 2, 3].map(|producer| {
        let buffer = buffer.clone();
        evenkeel::spawn(async move {
            for item in 0..ITEMS {
                buffer.insert(Some(producer * ITEMS + item)).await;
            }
        })
    });
    let consumers = [(); 3].map(|()| {
        let buffer = buffer.clone();
        evenkeel::spawn(async move {
            let (mut count, mut sum) = (0, 0);
            while let Some(item) = buffer.remove().await {
                count += 1;
                sum += item;
            }
            (count, sum)
        })
    });
    for producer in producers {
        producer.await.expect("no producer panics");
    }
    for _ in &consumers {
        buffer.insert(None).await;
    }
    let mut total = (0, 0);
    for (number, consumer) in consumers.into_iter().enumerate() {
        let (count, sum) = consumer.await.expect("no consumer panics");
        println!("consumer {number} has taken {count} items");
        total = (total.0 + count, total.1 + sum);
    }
    assert_eq!(total, (4 * ITEMS, (0..4 * ITEMS).sum()));
    println!("none of {} is missing", total.0);
}
