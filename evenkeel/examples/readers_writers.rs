//! Readers and writers: any number may read at once, whoever writes is alone, and nobody starves.
//!
//! The turn is that of the entry queue: a reader behind a writer does not overtake it, nor a writer
//! a reader. A writer at its turn accepts the ends of those that are reading, past everybody in the
//! queue; a reader at its turn accepts the end of one that is writing. So each waits for those
//! before it, and for no others. `readers_writers_internal.rs` does it with a condition.
//!
//! Source: Courtois, Heymans and Parnas, "Concurrent control with readers and writers", 1971, for
//! the problem; Buhr, Fortier and Coffin, "Monitor classification", 1995, and µC++ for external
//! scheduling.
//!
//! `cargo run --example readers_writers`

use evenkeel::sync::monitor::{Entry, Monitor};
use evenkeel::{accept, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, Entry)]
enum Op {
    StartRead,
    EndRead,
    StartWrite,
    EndWrite,
}

/// Who is at it.
#[derive(Default)]
struct Activity {
    readers: usize,
    writing: bool,
}

#[derive(Default)]
struct ReadersWriters {
    activity: Monitor<Activity>,
}

impl ReadersWriters {
    async fn start_read(&self) {
        let mut activity = self.activity.enter_as(Op::StartRead).await;
        while activity.writing {
            accept!(activity; Op::EndWrite => {});
        }
        activity.readers += 1;
    }

    async fn end_read(&self) {
        self.activity.enter_as(Op::EndRead).await.readers -= 1;
    }

    async fn start_write(&self) {
        let mut activity = self.activity.enter_as(Op::StartWrite).await;
        while activity.writing {
            accept!(activity; Op::EndWrite => {});
        }
        while activity.readers > 0 {
            accept!(activity; Op::EndRead => {});
        }
        activity.writing = true;
    }

    async fn end_write(&self) {
        self.activity.enter_as(Op::EndWrite).await.writing = false;
    }
}

/// Two copies of a number, which differ while somebody writes.
#[derive(Default)]
struct Shared {
    turns: ReadersWriters,
    copies: [AtomicU64; 2],
}

#[evenkeel::main]
pub(crate) async fn main() {
    const ROUNDS: u64 = 200;
    let shared = Arc::new(Shared::default());
    let writers = [(); 2].map(|()| {
        let shared = shared.clone();
        evenkeel::spawn(async move {
            for _ in 0..ROUNDS {
                shared.turns.start_write().await;
                for copy in &shared.copies {
                    // No other writes, so that this loses nothing.
                    copy.store(copy.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                    yield_now().await;
                }
                shared.turns.end_write().await;
            }
        })
    });
    let readers = [(); 5].map(|()| {
        let shared = shared.clone();
        evenkeel::spawn(async move {
            let mut most = 0;
            for _ in 0..ROUNDS {
                shared.turns.start_read().await;
                let first = shared.copies[0].load(Ordering::Relaxed);
                yield_now().await;
                assert_eq!(first, shared.copies[1].load(Ordering::Relaxed), "nobody writes");
                most = first;
                shared.turns.end_read().await;
            }
            most
        })
    });
    for writer in writers {
        writer.await.expect("no writer panics");
    }
    for (number, reader) in readers.into_iter().enumerate() {
        let seen = reader.await.expect("no reader panics");
        println!("reader {number} has seen {seen} of {} writes at last", 2 * ROUNDS);
    }
    assert_eq!(shared.copies[1].load(Ordering::Relaxed), 2 * ROUNDS);

    // While one reads, a writer comes, and then another reader, who would have room: it waits for
    // its turn, and so for the writer.
    let Shared { turns, copies: [number, _] } = &*shared;
    turns.start_read().await;
    let write = async {
        turns.start_write().await;
        number.store(7, Ordering::Relaxed);
        turns.end_write().await;
    };
    let read = async {
        turns.start_read().await;
        let seen = number.load(Ordering::Relaxed);
        turns.end_read().await;
        seen
    };
    let ((), seen, ()) = futures::join!(write, read, turns.end_read());
    assert_eq!(seen, 7);
}
