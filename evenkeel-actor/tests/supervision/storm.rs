//! Trees of supervisors under random kills, panics and stops, from a seed.

use evenkeel::time::{Duration, Instant};
use evenkeel_actor::{
    Actor, ActorRef, Child, Context, Handled, Restart, Strategy, Supervisor, SupervisorBuilder,
    SupervisorRef, System,
};
use evenkeel_policy::random::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Counts over all actors.
#[derive(Default)]
struct Counts {
    made: AtomicU64,
    dropped: AtomicU64,
    twice: AtomicU64,
    handled: AtomicU64,
}

struct Leaf {
    counts: Arc<Counts>,
    /// The number of live instances of this child.
    here: Arc<AtomicU32>,
}

impl Leaf {
    fn new(counts: &Arc<Counts>, here: &Arc<AtomicU32>) -> Self {
        counts.made.fetch_add(1, Ordering::Relaxed);
        if here.fetch_add(1, Ordering::Relaxed) != 0 {
            counts.twice.fetch_add(1, Ordering::Relaxed);
        }
        Self { counts: counts.clone(), here: here.clone() }
    }
}

impl Drop for Leaf {
    fn drop(&mut self) {
        self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        self.here.fetch_sub(1, Ordering::Relaxed);
    }
}

enum Message {
    Work,
    Yield,
    Panic,
    Fail,
    Stop,
}

impl Actor for Leaf {
    type Message = Message;

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        match message {
            Message::Work => drop(self.counts.handled.fetch_add(1, Ordering::Relaxed)),
            Message::Yield => {
                evenkeel::yield_now().await;
                evenkeel::yield_now().await;
            }
            Message::Panic => std::panic::resume_unwind(Box::new("on purpose")),
            Message::Fail => Err(std::io::Error::other("on purpose"))?,
            Message::Stop => context.stop(),
        }
        Ok(())
    }
}

#[derive(Default)]
struct Grown {
    leaves: Vec<ActorRef<Message>>,
    branches: Vec<SupervisorRef>,
}

fn branch(
    random: &mut Random,
    depth: u32,
    counts: &Arc<Counts>,
    system: System,
    grown: &mut Grown,
) -> SupervisorBuilder {
    let strategies = [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne];
    // The inner ones give up now and then, the outermost never.
    let restarts = if depth == 0 { 1_000_000 } else { random.below(20) as u32 };
    let mut builder = Supervisor::with_strategy(strategies[random.below(3) as usize])
        .intensity(restarts, Duration::from_secs(3_600))
        .system(system);
    for _ in 0..1 + random.below(4) {
        if depth < 3 && random.below(3) == 0 {
            let inner = branch(random, depth + 1, counts, system, grown);
            grown.branches.push(builder.supervisor("branch", inner));
        } else {
            let (counts, here) = (counts.clone(), Arc::new(AtomicU32::new(0)));
            let mut child = Child::new("leaf", move || Leaf::new(&counts, &here));
            if random.below(4) == 0 {
                child = child.restart(Restart::Transient);
            }
            grown.leaves.push(builder.child(child));
        }
    }
    builder
}

async fn storm(seed: u64) {
    let mut random = Random::new(seed);
    let (counts, system) = (Arc::new(Counts::default()), System::new());
    system.on_failure(|_| ());
    let mut grown = Grown::default();
    let tree = branch(&mut random, 0, &counts, system, &mut grown).spawn();
    for _ in 0..150 {
        let leaf = &grown.leaves[random.below(grown.leaves.len() as u64) as usize];
        let _ = match random.below(12) {
            0 => leaf.try_send(Message::Panic),
            1 => leaf.try_send(Message::Fail),
            2 => leaf.try_send(Message::Stop),
            3 | 4 => leaf.try_send(Message::Yield),
            5 => {
                leaf.kill();
                Ok(())
            }
            6 => {
                match random.below(4) {
                    0 => leaf.stop(),
                    1 => leaf.stop_now(),
                    _ => {
                        if let Some(branch) = grown.branches.first() {
                            branch.kill();
                        }
                    }
                }
                Ok(())
            }
            7 | 8 => {
                evenkeel::yield_now().await;
                Ok(())
            }
            _ => leaf.try_send(Message::Work),
        };
    }
    // No leaf is lost: each one that has not ended for good still handles messages.
    for leaf in &grown.leaves {
        while leaf.try_send(Message::Work).is_err_and(|error| error.is_full()) {
            evenkeel::yield_now().await;
        }
        while leaf.depth() > 0 {
            evenkeel::yield_now().await;
        }
    }
    if random.below(4) == 0 {
        tree.kill()
    } else {
        tree.stop()
    }
    tree.stopped().await;
    for branch in &grown.branches {
        branch.stopped().await;
    }
    for leaf in &grown.leaves {
        leaf.stopped().await;
    }
    let counts = [&counts.made, &counts.dropped, &counts.twice].map(|n| n.load(Ordering::Relaxed));
    assert_eq!(counts[0], counts[1], "seed {seed}");
    assert_eq!(counts[2], 0, "seed {seed}");
}

fn storms(workers: usize) {
    // The clock would move if all tasks waited for a time limit: every actor that is told to stop
    // must hear it.
    let runtime = evenkeel::Builder::new().workers(workers).start_paused(true).build().unwrap();
    runtime.block_on(async move {
        let begin = Instant::now();
        for round in 0..40 {
            // Two at once, so that there is other work to run.
            let other = evenkeel::spawn(storm(1_000 * workers as u64 + 2 * round));
            evenkeel::spawn(storm(1_000 * workers as u64 + 2 * round + 1)).await.unwrap();
            other.await.unwrap();
        }
        assert_eq!(begin.elapsed(), Duration::ZERO);
    });
}

#[test]
fn trees_survive_storms_on_one_worker() {
    storms(1);
}

#[test]
fn trees_survive_storms_on_two_workers() {
    storms(2);
}

#[test]
fn trees_survive_storms_on_four_workers() {
    storms(4);
}

#[test]
fn a_runtime_that_ends_in_a_storm_leaves_nothing() {
    for seed in 0..40 {
        let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
        let counts = Arc::new(Counts::default());
        let noted = counts.clone();
        runtime.block_on(async move {
            let mut random = Random::new(seed);
            let mut grown = Grown::default();
            let system = System::new();
            system.on_failure(|_| ());
            let tree = branch(&mut random, 0, &noted, system, &mut grown).spawn();
            for _ in 0..random.below(60) {
                let leaf = &grown.leaves[random.below(grown.leaves.len() as u64) as usize];
                let _ = leaf.try_send(Message::Fail);
                if random.below(4) == 0 {
                    evenkeel::yield_now().await;
                }
            }
            std::mem::forget(tree);
        });
        drop(runtime);
        let counts =
            [&counts.made, &counts.dropped, &counts.twice].map(|n| n.load(Ordering::Relaxed));
        assert_eq!(counts[0], counts[1], "seed {seed}");
        assert_eq!(counts[2], 0, "seed {seed}");
    }
}
