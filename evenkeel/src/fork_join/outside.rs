//! How a thread that is no worker waits for some.

use crate::policy::{forking, searching};
use crate::primitives::{clock, thread};
use crate::scheduler::shared::Shared;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a thread of the process waits awake. One at a time: a crowd would be in the way of the workers that it waits for. A hint, which orders
/// nothing.
static AWAKE: AtomicBool = AtomicBool::new(false);

/// The right to wait awake.
struct Awake;

impl Awake {
    fn begin() -> Option<Self> {
        let is_free = !AWAKE.load(Ordering::Relaxed) && !AWAKE.swap(true, Ordering::Relaxed);
        is_free.then_some(Self)
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        AWAKE.store(false, Ordering::Relaxed);
    }
}

/// Waits until workers of `shared` have made sure that it is `over`. Who does so unparks this thread after it.
///
/// At first it stays awake, if there is room for it: what a worker does for others is often short, and a sleep and a wake-up cost some 25 µs, with an
/// interrupt of the other core. The core itself goes to whoever else can run there at each turn.
pub(super) fn wait(shared: &Shared, over: impl Fn() -> bool) {
    if over() {
        return;
    }
    if let Some(_awake) = Awake::begin() {
        let start = clock::now();
        while !forking::sleep(clock::now().saturating_sub(start)) && has_room(shared) {
            thread::yield_now();
            if over() {
                return;
            }
        }
    }
    while !over() {
        thread::park(None);
    }
}

fn has_room(shared: &Shared) -> bool {
    let sleeping = shared.idle.counts().sleeping;
    searching::may_wait_awake(shared.workers.saturating_sub(sleeping), sleeping, cores())
}

/// How many threads the process can run at once, when it was first asked for.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}
