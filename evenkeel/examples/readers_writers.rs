//! Readers and writers: several readers may be inside at once, a writer is alone, and no task
//! starves.
//!
//! Turns follow the entry queue: a reader does not overtake an earlier writer, nor a writer an
//! earlier reader. A writer at its turn accepts the ends of the present readers, ahead of the
//! queue; a reader at its turn accepts the end of a present writer. So each waits for those before
//! it, and for no others. `readers_writers_internal.rs` uses a condition instead.
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

/// The present readers and writer.
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

/// Two copies of a number, which differ during a write.
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
                    // There is no other writer, so this loses nothing.
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
                assert_eq!(first, shared.copies[1].load(Ordering::Relaxed), "there is no writer");
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

    // During a read, a writer arrives, and then another reader, for which there would be room: it
    // waits for its turn, and so for the writer.
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
