//! A million idle actors, and ten thousand with full mailboxes: their memory is bounded, does not
//! grow, and is freed.
//!
//! The tests count bytes allocated and not freed, by all threads; not the resident set, which
//! depends on the allocator.

#[path = "common/until.rs"]
mod until;

use evenkeel::budget::unconstrained;
use evenkeel::sync::Semaphore;
use evenkeel_actor::{
    Actor, ActorRef, Builder, Child, Context, DeadLetterKind, DropNewest, DropOldest, Fail,
    Handled, Overflow, Restart, SendFuture, Supervisor, System, Wait,
};
use futures::FutureExt;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use until::until;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// Bytes allocated at present.
fn bytes() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

/// One test at a time, because the bytes are the process's.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs a test as a task, after which all its actors end and all memory is freed.
fn on_workers<F: Future<Output = ()> + Send + 'static>(
    workers: usize,
    test: impl FnOnce(System) -> F,
) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // Each relief that comes takes 4 MiB of addresses, which count as bytes.
    let build = || evenkeel::Builder::new().workers(workers).reliefs(0).build().unwrap();
    // The memory of its deques, mostly untouched, stays for the next runtime.
    drop(build());
    let before = bytes();
    let runtime = build();
    let (system, built) = (System::new(), bytes());
    let test = test(system);
    runtime.block_on(async {
        evenkeel::spawn(test).await.unwrap();
        until(|| system.metrics().alive() == 0).await;
    });
    // A worker counts an actor's end before it frees the actor's memory, and may lose its core in
    // between.
    let patience = Instant::now() + PATIENCE;
    while bytes() > built + CACHES && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(1));
    }
    let cached = bytes().saturating_sub(built);
    drop(runtime);
    let kept = bytes().saturating_sub(before);
    // With deadlock detection, tables keep their largest capacity.
    if cfg!(not(debug_assertions)) {
        assert!(cached <= CACHES, "{cached} bytes are kept by the workers");
        assert!(kept <= ASIDE, "{kept} bytes are leaked");
    }
}

/// Memory that a process, or a test harness, keeps for ever. An estimate.
const ASIDE: usize = 256 << 10;

/// Memory that two workers keep after a million actors: at most 3.25 MiB of blocks each, and queues
/// and tables with capacity for all tasks that were ready or present at once. An estimate.
const CACHES: usize = 48 << 20;

/// How long a test waits for memory that the workers are about to free: longer than any machine
/// needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The counts over all actors of a test.
#[derive(Default)]
struct Counts {
    started: AtomicUsize,
    handled: AtomicUsize,
    dropped: AtomicUsize,
}

impl Counts {
    fn count(counter: &AtomicUsize) {
        counter.fetch_add(1, Ordering::SeqCst);
    }
}

struct Idler(Arc<Counts>);

impl Actor for Idler {
    type Message = u64;

    async fn started(&mut self, _context: &mut Context<Self>) -> Handled {
        Counts::count(&self.0.started);
        Ok(())
    }

    async fn handle(&mut self, number: u64, _context: &mut Context<Self>) -> Handled {
        self.0.handled.fetch_add(number as usize, Ordering::SeqCst);
        Ok(())
    }
}

impl Drop for Idler {
    fn drop(&mut self) {
        Counts::count(&self.0.dropped);
    }
}

#[test]
fn a_million_idle_actors_take_256_bytes_each_and_give_them_back() {
    const ACTORS: usize = 1_000_000;
    /// With deadlock detection an actor takes a little more.
    const EACH: usize = if cfg!(debug_assertions) { 272 } else { 256 };
    /// Includes the kept reference to each.
    const MOST: usize = ACTORS * (EACH + size_of::<ActorRef<u64>>()) + ASIDE;
    on_workers(2, |system| async move {
        let counts = Arc::new(Counts::default());
        let count = |counter: fn(&Counts) -> &AtomicUsize| counter(&counts).load(Ordering::SeqCst);
        let before = bytes();
        let mut actors = Vec::with_capacity(ACTORS);
        let builder = Builder::new().system(system);
        while actors.len() < ACTORS {
            for _ in 0..1_000 {
                actors.push(builder.clone().spawn(Idler(Arc::clone(&counts))).unwrap());
            }
            // They run as they come, so that the ready queue stays short.
            until(|| count(|counts| &counts.started) == actors.len()).await;
        }
        let idle = bytes() - before;
        assert!(idle <= MOST, "{} bytes each", idle / ACTORS);
        // After a message, an actor that waits for the next is no larger.
        for (number, actors) in (0..).zip(actors.chunks(1_000)) {
            for actor in actors {
                actor.try_send(1).unwrap();
            }
            until(|| count(|counts| &counts.handled) == (number + 1) * 1_000).await;
        }
        let used = bytes() - before;
        assert!(used <= MOST, "{} bytes each", used / ACTORS);
        assert_eq!(system.metrics().alive(), ACTORS as u64);
        // The last reference to each: they end by themselves.
        drop(actors);
        until(|| system.metrics().ended == ACTORS as u64).await;
        let metrics = system.metrics();
        assert_eq!((metrics.alive(), metrics.failed, metrics.dead_letters), (0, 0, 0));
        assert_eq!(count(|counts| &counts.dropped), ACTORS);
        assert_eq!(Arc::strong_count(&counts), 1);
    });
}

/// Actors of each policy.
const FULL: usize = 2_500;
const CAPACITY: usize = 16;
const ROUNDS: usize = 12;

enum Message {
    /// Waits for a permit.
    Hold(Arc<Semaphore>),
    /// Owns memory, as most messages do.
    Note(Box<[u64; 4]>),
}

fn note() -> Message {
    Message::Note(Box::new([7; 4]))
}

struct Busy(Arc<Counts>);

impl Actor for Busy {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::Hold(gate) => gate.take().await,
            Message::Note(numbers) => {
                assert_eq!(*numbers, [7; 4]);
                Counts::count(&self.0.handled);
            }
        }
        Ok(())
    }
}

/// Actors of one policy.
struct Crowd<P: Overflow> {
    actors: Vec<ActorRef<Message, P>>,
}

impl<P: Overflow> Crowd<P> {
    fn new(system: System, counts: &Arc<Counts>) -> Self {
        let builder = Builder::new().system(system).capacity(CAPACITY).overflow::<P>();
        let spawn = |_| builder.clone().spawn(Busy(Arc::clone(counts))).unwrap();
        Self { actors: (0..FULL).map(spawn).collect() }
    }

    /// Occupies each actor with a message, and leaves its mailbox empty.
    async fn hold(&self, gate: &Arc<Semaphore>) {
        for actor in &self.actors {
            actor.send(Message::Hold(Arc::clone(gate))).await.unwrap();
        }
        for actor in &self.actors {
            until(|| actor.depth() == 0).await;
        }
    }

    /// Waits until each has handled `handled` messages and rests.
    async fn rest(&self, handled: usize) {
        for actor in &self.actors {
            until(|| actor.metrics().handled == handled as u64).await;
        }
    }

    /// Fills the mailboxes, and then calls `further` on each.
    fn crowd(&self, mut further: impl FnMut(&ActorRef<Message, P>)) {
        for actor in &self.actors {
            for _ in 0..CAPACITY {
                actor.try_send(note()).unwrap();
            }
            (0..3).for_each(|_| further(actor));
            assert_eq!(actor.depth(), CAPACITY);
        }
    }
}

/// Waits for room, and is abandoned.
fn give_up(mut send: SendFuture<'_, Message, Wait>) {
    assert!((&mut send).now_or_never().is_none());
}

#[test]
fn ten_thousand_actors_with_full_mailboxes_do_not_grow() {
    on_workers(2, |system| async move {
        let counts = Arc::new(Counts::default());
        let before = bytes();
        let wait = Crowd::<Wait>::new(system, &counts);
        let fail = Crowd::<Fail>::new(system, &counts);
        let newest = Crowd::<DropNewest>::new(system, &counts);
        let oldest = Crowd::<DropOldest>::new(system, &counts);
        // The bytes when all are full, and when all are empty again.
        let (mut full, mut empty) = (Vec::new(), Vec::new());
        for round in 1..=ROUNDS {
            let gate = Arc::new(Semaphore::new(0));
            wait.hold(&gate).await;
            fail.hold(&gate).await;
            newest.hold(&gate).await;
            oldest.hold(&gate).await;
            wait.crowd(|actor| {
                assert!(actor.try_send(note()).unwrap_err().is_full());
                give_up(actor.send(note()));
            });
            fail.crowd(|actor| {
                assert!(actor.try_send(note()).unwrap_err().is_full());
                let refused =
                    unconstrained(actor.send(note())).now_or_never().expect("it never waits");
                assert!(refused.unwrap_err().is_full());
            });
            newest.crowd(|actor| actor.try_send(note()).unwrap());
            oldest.crowd(|actor| actor.try_send(note()).unwrap());
            // A sender that stays in the line of each.
            let waiting = wait.actors.iter().map(|actor| {
                let mut send = actor.send(note());
                assert!((&mut send).now_or_never().is_none());
                send
            });
            let waiting: Vec<_> = waiting.collect();
            full.push(bytes());
            (0..4 * FULL).for_each(|_| gate.add_permits(1));
            for send in waiting {
                send.await.unwrap();
            }
            wait.rest(round * (CAPACITY + 2)).await;
            fail.rest(round * (CAPACITY + 1)).await;
            newest.rest(round * (CAPACITY + 1)).await;
            oldest.rest(round * (CAPACITY + 1)).await;
            let handled = counts.handled.load(Ordering::SeqCst);
            assert_eq!(handled, round * (4 * CAPACITY + 1) * FULL);
            drop(gate);
            empty.push(bytes());
            let dropped = (3 * FULL * round) as u64;
            assert_eq!(system.dead_letters_of(DeadLetterKind::DroppedNewest), dropped);
            assert_eq!(system.dead_letters_of(DeadLetterKind::DroppedOldest), dropped);
            assert_eq!(system.dead_letters(), 2 * dropped);
        }
        // A mailbox has two rings, which alternate; in the first rounds both are allocated.
        for (what, bytes) in [("full", full), ("empty", empty)] {
            let (first, last) = bytes.split_at(ROUNDS / 2);
            let grown =
                last.iter().max() > first.iter().max().map(|most| most + 4 * ASIDE).as_ref();
            assert!(!grown, "{what}: {bytes:?}, of which {before} before");
        }
    });
}

/// The supervisor's rows of children that come and go.
#[test]
fn a_supervisor_forgets_children_that_have_ended_for_good() {
    struct Quick;
    impl Actor for Quick {
        type Message = ();
        async fn handle(&mut self, (): (), _: &mut Context<Self>) -> Handled {
            Ok(())
        }
    }
    const ROUND: usize = 2_000;
    on_workers(1, |system| async move {
        let tree = Supervisor::one_for_one().system(system).spawn();
        let mut before = 0;
        for round in 0..2 * ROUND {
            if round == ROUND {
                before = bytes();
            }
            let child = Child::new("quick", || Quick).restart(Restart::Temporary);
            let child = tree.add(child).await.unwrap();
            child.stop();
            child.stopped().await;
        }
        let grown = bytes().saturating_sub(before);
        assert!(grown / ROUND < 16, "{} bytes for each child that is gone", grown / ROUND);
        tree.stop();
        tree.stopped().await;
    });
}
