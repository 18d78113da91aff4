//! Spares: threads that run errands while workers wait.
//!
//! A worker that waits inside fork-join must not run an errand: its frames may hold a lock that the
//! errand takes (see [`wait`](crate::fork_join)). It leaves its core idle meanwhile, and what it
//! waits for may wait for the errand. So a *spare* comes: one more thread, with a deque of its own
//! and an empty stack.
//!
//! # Roles
//! A *sender* leaves an [errand](super::errands). A *waiter* is a worker, or a spare, that waits
//! inside fork-join and finds nothing there that it may run. A *spare* is a thread of the pool for
//! closures that block. It runs errands and what these fork; workers that are idle steal from its
//! deque. It polls no tasks: a task that an errand spawns there goes where a task from outside
//! goes.
//!
//! # States
//! `waiting` counts the waiters, `called` the spares: a spare comes for a waiter that has none. A
//! worker that is back from its wait runs beside its spare until that errand is over. A place is
//! *free* or *taken*. Its processor is made at first need, and stays.
//!
//! # Protocol
//! *Waiter*: it counts itself in when it sees an errand or is about to nap. At each turn it looks
//! at the errands; a nap is bounded. It calls a spare if all workers are away and it has waited for
//! [`SPARE`](crate::policy::forking::SPARE), or if errands have lain there for
//! [`LAIN`](crate::policy::forking::LAIN): then the workers are in long polls, or wait within one.
//! *Sender*: after the push and its fence it calls a spare if no worker sleeps or searches, all are
//! away, and a waiter has no spare yet.
//! *Call*: one more in `called`, if fewer than `waiting`; a free place is taken, and the pool runs
//! the spare.
//! *Spare*: it runs an errand and all that this leaves in its deque, then the next, until there is
//! none or the waiters are back. Then it frees its place, whose deque is empty.
//!
//! # Why no errand lies for ever
//! If an errand lies, each worker runs code of the program's, or waits. If all run, all cores are
//! in use, and an errand is no more than the work behind them. If one waits, it looks again within
//! a nap, and calls. A call fails where as many spares as waiters are there, or all places are
//! taken: then each of those spares runs, or is a waiter itself.
//!
//! # Why the promise about locks holds
//! A spare begins an errand with an empty stack, as a thread of the errand's own would. What the
//! errand waits for is not below it. What it forks is taken by idle workers, or by workers that
//! wait for a part of it.
//!
//! # Rejected
//! Running the errand on the waiter, as rayon does: a lock that is held across a fork is taken on
//! top of the frame that holds it. The [relief](super::relief): an errand that blocks would keep it
//! from the tasks. The thread that waits for an `install`: what it forks cannot be stolen, and an
//! errand for which no thread waits is left. The waiter's number for the spare: once the waiter is
//! back, two threads have one number. So a spare has none.
//!
//! # Source
//! Threads that compensate for one that blocks: Java's `ForkJoinPool` (Lea).

use super::context::{self, Context};
use super::deque::Level;
use super::errands;
use super::job;
use super::processor::Processor;
use super::seat::Seat;
use super::shared::Shared;
use super::timers::Rules;
use crate::primitives::atomic::{AtomicBool, AtomicU64, AtomicUsize, Edge, Ordering};
use crate::primitives::thread::{self, Thread};
use crate::primitives::{Mutex, clock, fence, lock};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The fewest places: errands may wait for each other where there are few workers. An estimate; no
/// benchmark sets it.
#[cfg(not(any(loom, shuttle)))]
const FEWEST: usize = 16;
#[cfg(any(loom, shuttle))]
const FEWEST: usize = 2;

/// Gives a spare a thread that [works](work), or drops it.
pub(crate) struct Starter(pub(crate) Box<dyn Fn(Spare) + Send + Sync>);

/// The spares of one runtime.
pub(crate) struct Spares {
    /// The number of the first: as many processors have lower ones.
    first: usize,
    places: Box<[Place]>,
    rules: Rules,
    waiting: AtomicUsize,
    called: AtomicUsize,
    served: AtomicU64,
    starter: OnceLock<Starter>,
}

/// Where a spare is.
#[derive(Default)]
struct Place {
    taken: AtomicBool,
    processor: OnceLock<Box<Processor>>,
    thread: Mutex<Option<Thread>>,
}

impl Spares {
    pub(super) fn new(processors: usize, workers: usize, rules: Rules) -> Self {
        Self {
            first: processors,
            places: (0..workers.max(FEWEST)).map(|_| Place::default()).collect(),
            rules,
            waiting: AtomicUsize::new(0),
            called: AtomicUsize::new(0),
            served: AtomicU64::new(0),
            starter: OnceLock::new(),
        }
    }

    /// Says what gives spares their threads, once.
    pub(crate) fn start_by(&self, starter: Starter) {
        assert!(self.starter.set(starter).is_ok(), "it is said once");
    }

    /// The processor of the spare with this number, which has been there.
    pub(super) fn processor(&self, number: usize) -> &Processor {
        self.places[number - self.first].processor.get().expect("only a spare has its number")
    }

    /// The numbers of the spares whose deques may have jobs. Most of the time there is none.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> {
        let places = if self.called.load(Ordering::Relaxed) == 0 { &[] } else { &*self.places };
        let taken =
            |place: &Place| place.taken.load(Ordering::Acquire) && place.processor.get().is_some();
        let places = places.iter().enumerate();
        places.filter(move |(_, place)| taken(place)).map(|(index, _)| self.first + index)
    }

    /// More than any number of a spare.
    pub(super) fn end(&self) -> usize {
        self.first + self.places.len()
    }

    /// Unparks the thread of the spare with this number, whatever it is parked for.
    pub(super) fn unpark(&self, number: usize) {
        if let Some(thread) = &*lock(&self.places[number - self.first].thread) {
            thread.unpark();
        }
    }

    /// Errands that spares have run.
    pub(crate) fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Spares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spares")
            .field("waiting", &self.waiting)
            .field("called", &self.called)
            .finish_non_exhaustive()
    }
}

/// A waiter, for as long as this lives.
pub(crate) struct Waiting<'a>(&'a Spares);

impl<'a> Waiting<'a> {
    /// Counts a waiter in, up to and with the fence. It has to look at the errands before it parks.
    pub(crate) fn begin(shared: &'a Shared) -> Self {
        Self::among(&shared.spares)
    }

    fn among(spares: &'a Spares) -> Self {
        spares.waiting.fetch_add(1, Ordering::AcqRel);
        fence::after_read_modify_write(Edge::IdleSleep);
        Self(spares)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Calls a spare for an errand that was sent when no worker slept or searched, if one can run it at
/// once.
pub(super) fn offer(shared: &Shared) {
    if shared.spares.has_waiter() && shared.are_all_away() {
        call(shared);
    }
}

/// Calls a spare, if there is a waiter without one.
#[cold]
pub(crate) fn call(shared: &Shared) {
    let spares = &shared.spares;
    let Some(Starter(start)) = spares.starter.get() else { return };
    let Some(shared) = shared.processors[0].shared.upgrade() else { return };
    let mut called = spares.called.load(Ordering::Relaxed);
    loop {
        if called >= spares.waiting.load(Ordering::Relaxed) {
            return;
        }
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        match spares.called.compare_exchange_weak(called, called + 1, success, failure) {
            Ok(_) => break,
            Err(actual) => called = actual,
        }
    }
    let is_free = |place: &Place| !place.taken.swap(true, Ordering::Acquire);
    match spares.places.iter().position(is_free) {
        Some(index) => start(Spare { shared, index }),
        None => _ = spares.called.fetch_sub(1, Ordering::AcqRel),
    }
}

/// A spare that has been called. Its place is free once this is dropped.
pub(crate) struct Spare {
    shared: Arc<Shared>,
    index: usize,
}

impl Spare {
    /// The scheduler that has called it.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    fn place(&self) -> &Place {
        &self.shared.spares.places[self.index]
    }

    fn number(&self) -> usize {
        self.shared.spares.first + self.index
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        *lock(&self.place().thread) = None;
        self.place().taken.store(false, Ordering::Release);
        self.shared.spares.called.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Spares {
    fn has_waiter(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > self.called.load(Ordering::Relaxed)
    }

    /// Whether a spare stays: its waiter has not come back.
    fn stays(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= self.called.load(Ordering::Relaxed)
    }
}

/// Runs errands on this thread until there are none or the waiters are back. Where the system has
/// refused the pool a thread and this is a worker's, it does nothing: the worker waits.
pub(crate) fn work(spare: Spare) {
    if context::is_inside() || context::is_worker() {
        return;
    }
    let shared = &spare.shared;
    *lock(&spare.place().thread) = Some(thread::current());
    spare.place().processor.get_or_init(|| {
        let scheduler = Arc::downgrade(shared);
        Box::new(Processor::new(scheduler, 0, true, shared.spares.rules.clone()))
    });
    let context = Context::new(Seat::of_spare(shared, spare.number()), clock::now());
    context.enter(|| {
        loop {
            offer_jobs(&context);
            if !errands::run_next(&context) {
                break;
            }
            job::run_above(&context, Level::FLOOR);
            shared.spares.served.fetch_add(1, Ordering::Relaxed);
            if !shared.spares.stays() {
                break;
            }
        }
    });
}

/// Has the first fork publish, and wake a sleeper, if a worker is idle. One that falls asleep later
/// asks for itself.
fn offer_jobs(context: &Context) {
    fence::full(Edge::IdlePush);
    let counts = context.shared().idle.counts();
    if counts.sleeping + counts.searching > 0 {
        context.seat.processor().deque.ask();
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::primitives::mutation::check;
    use crate::scheduler::closures::Closures;

    /// Where one misses the other, the errand waits until the waiter's next turn.
    #[test]
    fn a_sender_sees_the_waiter_or_the_waiter_sees_the_errand() {
        check(&[Edge::IdlePush, Edge::IdleSleep], || {
            let shared = Arc::new((Spares::new(1, 1, Rules::new(1)), Closures::default()));
            let sender = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    let (spares, errands) = &*shared;
                    errands.push(Box::new(|| {}));
                    fence::full(Edge::IdlePush);
                    spares.has_waiter()
                })
            };
            let (spares, errands) = &*shared;
            let _waiting = Waiting::among(spares);
            let seen = !errands.is_empty();
            assert!(sender.join().unwrap() || seen);
        });
    }
}
