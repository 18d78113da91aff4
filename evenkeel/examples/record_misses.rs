//! Records the cache misses of operations on a class of objects: a line for every fifth of a
//! millisecond, with nanoseconds, operations so far, misses so far.
//!
//! In the first half of the time each task has an object of its own; in the second half all tasks
//! share some. An operation counts as a miss if another worker has used its object since this
//! worker did: then the object's line must come from there, and no other data move here. Such a
//! trace is a test input for the policy of objects, because few machines let a process count its
//! misses.
//!
//! ```sh
//! cargo run --release --example record_misses
//! ```

use evenkeel::object::{Object, Placement};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const WORKERS: usize = 2;
const TASKS: usize = 16;
const LINES: u32 = 100;
const BETWEEN: Duration = Duration::from_micros(200);

/// An object's state: the number of its operations, and the thread of the last one.
type Cell = (u64, Option<std::thread::ThreadId>);

/// The counts of all tasks. Each worker has a place of its own.
#[derive(Default)]
#[repr(align(128))]
struct Count {
    operations: AtomicU64,
    misses: AtomicU64,
}

fn main() {
    let runtime = evenkeel::Builder::new().workers(WORKERS).build().unwrap();
    let object = || Object::new(Cell::default()).placed("recorded", Placement::InPlace);
    let counts: Arc<Vec<Count>> = Arc::new((0..TASKS).map(|_| Count::default()).collect());
    let (is_shared, is_over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let all: Arc<Vec<_>> =
        runtime.block_on(async { Arc::new((0..TASKS).map(|_| object()).collect()) });
    let tasks: Vec<_> = (0..TASKS)
        .map(|number| {
            let (counts, all) = (counts.clone(), all.clone());
            let (is_shared, is_over) = (is_shared.clone(), is_over.clone());
            runtime.spawn(async move {
                let mut next = number;
                while !is_over.load(Ordering::Relaxed) {
                    if is_shared.load(Ordering::Relaxed) {
                        next = (next * 5 + 3) % TASKS;
                    }
                    let is_miss = all[next].with(|(operations, last)| {
                        *operations += 1;
                        let me = Some(std::thread::current().id());
                        std::mem::replace(last, me) != me
                    });
                    let is_miss = is_miss.await.unwrap();
                    let count = &counts[number];
                    count.operations.fetch_add(1, Ordering::Relaxed);
                    count.misses.fetch_add(u64::from(is_miss), Ordering::Relaxed);
                }
            })
        })
        .collect();
    // Skips the time until the rates are steady.
    std::thread::sleep(Duration::from_millis(100));
    let total = |of: fn(&Count) -> &AtomicU64| -> u64 {
        counts.iter().map(|count| of(count).load(Ordering::Relaxed)).sum()
    };
    let read = || (total(|count| &count.operations), total(|count| &count.misses));
    let (began, before) = (Instant::now(), read());
    for line in 1..=LINES {
        std::thread::sleep((began + line * BETWEEN).saturating_duration_since(Instant::now()));
        let (operations, misses) = read();
        let nanos = began.elapsed().as_nanos();
        println!("{nanos} {} {}", operations - before.0, misses - before.1);
        is_shared.store(line >= LINES / 2, Ordering::Relaxed);
    }
    is_over.store(true, Ordering::Relaxed);
    tasks.into_iter().for_each(|task| evenkeel::block_on(task).unwrap());
}
