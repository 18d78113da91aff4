//! A bounded buffer by external scheduling: a task that cannot go on accepts the call that must
//! come next.
//!
//! There are no conditions, and only an acceptor waits inside: an insertion into a full buffer
//! accepts one removal, ahead of all other entrants. The removal is plain code. Compare
//! `buffer_internal.rs`.
//!
//! Source: the `_Accept` of µC++ (Buhr et al., "µC++: Concurrency in the Object-oriented Language
//! C++", 1992) and the `waitfor` of C∀ (Delisle, MMath thesis, University of Waterloo, 2018).
//!
//! `cargo run --example buffer_external`

use evenkeel::accept;
use evenkeel::sync::monitor::{Entry, Monitor};
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Clone, Copy, Entry)]
enum Op {
    Insert,
    Remove,
}

struct Buffer<T> {
    items: Monitor<VecDeque<T>>,
    capacity: usize,
}

impl<T> Buffer<T> {
    fn new(capacity: usize) -> Self {
        Self { items: Monitor::default(), capacity }
    }

    async fn insert(&self, item: T) {
        let mut items = self.items.enter_as(Op::Insert).await;
        // The loop repeats only if the removing task is cancelled before the removal.
        while items.len() == self.capacity {
            accept!(items; Op::Remove => {});
        }
        items.push_back(item);
    }

    async fn remove(&self) -> T {
        let mut items = self.items.enter_as(Op::Remove).await;
        loop {
            match items.pop_front() {
                Some(item) => return item,
                None => accept!(items; Op::Insert => {}),
            };
        }
    }
}

#[evenkeel::main]
pub(crate) async fn main() {
    const ITEMS: u64 = 2_000;
    // Numbers pass through two buffers, and are squared in between.
    let (numbers, squares) = (Arc::new(Buffer::new(4)), Arc::new(Buffer::new(4)));
    let producer = evenkeel::spawn({
        let numbers = numbers.clone();
        async move {
            for number in 0..ITEMS {
                numbers.insert(Some(number)).await;
            }
            numbers.insert(None).await;
        }
    });
    let squarer = evenkeel::spawn({
        let squares = squares.clone();
        async move {
            while let Some(number) = numbers.remove().await {
                squares.insert(Some(number * number)).await;
            }
            squares.insert(None).await;
        }
    });
    let mut count = 0;
    while let Some(square) = squares.remove().await {
        assert_eq!(square, count * count, "none is missing, and they come in order");
        count += 1;
    }
    assert_eq!(count, ITEMS);
    println!("{count} numbers have been squared");
    producer.await.expect("the producer does not panic");
    squarer.await.expect("the squarer does not panic");
}
