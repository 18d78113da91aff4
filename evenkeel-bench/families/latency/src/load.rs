//! The tasks that keep the workers from the light ones.

use std::future::Future;
use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use crate::board::{Alive, Board};
use crate::{BLOCK, COMPUTE};
use suite::kit::runtime::{Parker, Runtime, Semaphores};

/// What the runtime does beside the light tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// Nothing.
    Nothing,
    /// For each of as many workers two loops of awaits that are always ready: of the runtime's own
    /// semaphore, and of Tokio's.
    Ready(usize),
    /// As many loops without an await.
    Loops(usize),
    /// As many pairs of tasks that wake each other.
    Pairs(usize),
}

impl Load {
    /// Spawns the tasks, from within the runtime. They end when the board says so.
    pub(crate) fn start<R: Runtime>(self, board: &Arc<Board>) {
        match self {
            Load::Nothing => {}
            Load::Ready(workers) => {
                let own = Arc::new(R::Permits::new(workers, workers));
                for number in 0..workers {
                    drop(R::spawn(own_ready::<R>(board, own.clone(), number)));
                    drop(R::spawn(tokio_ready(board)));
                }
            }
            Load::Loops(count) => (0..count).for_each(|_| drop(R::spawn(endless(board)))),
            Load::Pairs(count) => (0..count).for_each(|_| pair::<R>(board)),
        }
    }
}

/// Takes permits of the runtime's own semaphore, which always has one.
fn own_ready<R: Runtime>(
    board: &Arc<Board>,
    permits: Arc<R::Permits>,
    number: usize,
) -> impl Future<Output = ()> + Send + 'static {
    let alive = Alive::new(board);
    let mut seat = permits.seat(number);
    async move {
        while !alive.is_over() {
            permits.release(number, ());
            permits.acquire(number, &mut seat).await;
        }
    }
}

/// Takes permits of Tokio's semaphore, which always has one.
fn tokio_ready(board: &Arc<Board>) -> impl Future<Output = ()> + Send + 'static {
    let (alive, semaphore) = (Alive::new(board), Semaphore::new(1));
    async move {
        while !alive.is_over() {
            drop(semaphore.acquire().await);
        }
    }
}

/// Loops without an await.
fn endless(board: &Arc<Board>) -> impl Future<Output = ()> + Send + 'static {
    let alive = Alive::new(board);
    async move {
        while !alive.is_over() {
            hint::spin_loop();
        }
    }
}

/// Spawns two tasks that wake each other by turns.
fn pair<R: Runtime>(board: &Arc<Board>) {
    let tokens = [R::Parker::default(), R::Parker::default()];
    let attached = Arc::new(AtomicUsize::new(0));
    for own in 0..2 {
        let (alive, tokens, attached) = (Alive::new(board), tokens.clone(), attached.clone());
        drop(R::spawn(async move {
            tokens[own].attach().await;
            attached.fetch_add(1, Ordering::AcqRel);
            while attached.load(Ordering::Acquire) < tokens.len() {
                R::yield_now().await;
            }
            let other = tokens[1 - own].unparker();
            if own == 0 {
                R::Parker::unpark(&other);
            }
            while !alive.is_over() {
                tokens[own].park().await;
                R::Parker::unpark(&other);
            }
            // The other may have parked in the meantime.
            R::Parker::unpark(&other);
        }));
    }
}

/// Computes for [`COMPUTE`] in one poll.
pub(crate) fn compute(board: &Arc<Board>) -> impl Future<Output = ()> + Send + 'static {
    let alive = Alive::new(board);
    async move {
        busy(COMPUTE);
        drop(alive);
    }
}

/// Blocks its thread for [`BLOCK`].
pub(crate) fn block(board: &Arc<Board>) -> impl Future<Output = ()> + Send + 'static {
    let alive = Alive::new(board);
    async move {
        thread::sleep(BLOCK);
        drop(alive);
    }
}

/// Keeps the thread for a time.
pub(crate) fn busy(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        hint::spin_loop();
    }
}
