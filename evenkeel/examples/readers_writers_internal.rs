//! Readers and writers by internal scheduling: one condition, with a datum that tells readers from
//! writers.
//!
//! All tasks that cannot go on wait in one queue, so that neither side starves. Each waiter brings
//! its side as its datum. A reader that goes on looks at the `front`, and signals the next waiter
//! if that is a reader too. `readers_writers.rs` accepts calls instead.
//!
//! Source: Courtois, Heymans and Parnas, "Concurrent control with readers and writers", 1971, for
//! the problem; the µC++ manual (Buhr) for the data of waiters.
//!
//! `cargo run --example readers_writers_internal`

use evenkeel::sync::monitor::{Condition, Held, Monitor};
use evenkeel::yield_now;
use futures::future::{join, join_all};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Reader,
    Writer,
}

/// The present readers and writer.
#[derive(Default)]
struct Activity {
    readers: usize,
    writing: bool,
}

impl Activity {
    fn has_room_for(&self, side: Side) -> bool {
        !self.writing && (side == Side::Reader || self.readers == 0)
    }
}

type Shared = Monitor<Activity, Condition<Side>>;

#[derive(Default)]
struct ReadersWriters {
    activity: Shared,
}

impl ReadersWriters {
    async fn start(&self, side: Side) {
        let queue = self.activity.conditions();
        let mut activity = self.activity.enter().await;
        if !activity.has_room_for(side) || !queue.is_empty(&activity) {
            activity = queue.wait_with(activity, side).await;
            // A task that is cancelled after its signal passes the signal on to the next waiter,
            // which may be of the other side.
            while !activity.has_room_for(side) {
                activity = queue.wait_with(activity, side).await;
            }
        }
        match side {
            Side::Reader => activity.readers += 1,
            Side::Writer => activity.writing = true,
        }
        self.admit(&mut activity);
    }

    async fn end(&self, side: Side) {
        let mut activity = self.activity.enter().await;
        match side {
            Side::Reader => activity.readers -= 1,
            Side::Writer => activity.writing = false,
        }
        self.admit(&mut activity);
    }

    /// Signals the next waiter if there is room for it.
    fn admit(&self, activity: &mut Held<&Shared>) {
        let queue = self.activity.conditions();
        if queue.front(activity).is_some_and(|next| activity.has_room_for(next)) {
            queue.signal(activity);
        }
    }
}

#[evenkeel::main]
pub(crate) async fn main() {
    const ROUNDS: usize = 200;
    let turns = Arc::new(ReadersWriters::default());
    let inside = Arc::new([const { AtomicUsize::new(0) }; 2]);
    let tasks: Vec<_> = [Side::Reader; 5]
        .into_iter()
        .chain([Side::Writer; 2])
        .map(|side| {
            let (turns, inside) = (turns.clone(), inside.clone());
            evenkeel::spawn(async move {
                let [readers, writers] = &*inside;
                let mine = if side == Side::Reader { readers } else { writers };
                let mut most = 0;
                for _ in 0..ROUNDS {
                    turns.start(side).await;
                    let count = mine.fetch_add(1, Ordering::SeqCst) + 1;
                    yield_now().await;
                    let others = readers.load(Ordering::SeqCst) + writers.load(Ordering::SeqCst);
                    assert!(side == Side::Reader || others == 1, "a writer is alone");
                    most = most.max(count);
                    mine.fetch_sub(1, Ordering::SeqCst);
                    turns.end(side).await;
                }
                (side, most)
            })
        })
        .collect();
    for task in tasks {
        let (side, most) = task.await.expect("no task panics");
        println!("a {side:?} has been inside {ROUNDS} times, at most {most} at once");
        assert!(side == Side::Reader || most == 1);
    }
    in_turn(&turns).await;
}

/// Tasks that arrive during a read go on in the order of arrival: neighbouring readers together,
/// writers alone.
async fn in_turn(turns: &ReadersWriters) {
    use Side::{Reader, Writer};
    let log = RefCell::new(Vec::new());
    turns.start(Reader).await;
    let visits = [Writer, Reader, Reader, Writer, Reader].map(async |side| {
        turns.start(side).await;
        log.borrow_mut().push(format!("{side:?} in"));
        yield_now().await;
        log.borrow_mut().push(format!("{side:?} out"));
        turns.end(side).await;
    });
    join(join_all(visits), turns.end(Reader)).await;
    let log = log.into_inner().join(", ");
    println!("{log}");
    assert_eq!(
        log,
        "Writer in, Writer out, Reader in, Reader in, Reader out, Reader out, Writer in, Writer out, Reader in, Reader out"
    );
}
