//! count: one actor sends another a number of increments, asks for the sum, and compares.
//!
//! Mailboxes apply back-pressure if the system has any. Elsewhere the producer waits for credit, as
//! in fanin, so that queues are short on all systems; in the published programs the mailbox takes
//! all.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::stage::{Life, Stage, expect};
use crate::system::{Actor, Flow, System};
use suite::kit::fault::Fault;

/// The producer and the counter.
pub(super) const ACTORS: usize = 2;

/// The start, the increments, the question and the answer. Credit is part of what a portion costs.
pub(super) fn messages(increments: u64) -> u64 {
    increments + 3
}

/// State that both actors share.
struct Shared<S: System> {
    producer: OnceLock<S::Ref<Producer<S>>>,
    stage: Arc<Stage>,
    sum: OnceLock<u64>,
}

enum ToCounter {
    Increment,
    Retrieve,
}

struct Counter<S: System> {
    shared: Arc<Shared<S>>,
    count: u64,
    _life: Life,
}

impl<S: System> Counter<S> {
    fn producer(&self) -> &S::Ref<Producer<S>> {
        self.shared.producer.get().expect("it has sent this")
    }
}

impl<S: System> Actor for Counter<S> {
    type Message = ToCounter;

    async fn handle(&mut self, message: ToCounter) -> Flow {
        match message {
            ToCounter::Increment => {
                self.count += 1;
                if let Some(portion) = S::CREDIT
                    && self.count.is_multiple_of(portion.into())
                {
                    S::post(self.producer(), ToProducer::Credit(portion));
                }
                Flow::Go
            }
            ToCounter::Retrieve => {
                S::post(self.producer(), ToProducer::Sum(self.count));
                Flow::Stop
            }
        }
    }
}

enum ToProducer {
    /// Permission to send this number of increments.
    Credit(u32),
    Sum(u64),
}

struct Producer<S: System> {
    shared: Arc<Shared<S>>,
    counter: S::Ref<Counter<S>>,
    /// Increments still to send.
    left: u32,
    _life: Life,
}

/// The reference is never pinned.
impl<S: System> Unpin for Producer<S> {}

impl<S: System> Actor for Producer<S> {
    type Message = ToProducer;

    async fn handle(&mut self, message: ToProducer) -> Flow {
        match message {
            // It has asked before.
            ToProducer::Credit(_) if self.left == 0 => Flow::Go,
            ToProducer::Credit(credit) => {
                let now = self.left.min(credit);
                for _ in 0..now {
                    S::send(&self.counter, ToCounter::Increment).await;
                }
                self.left -= now;
                if self.left == 0 {
                    S::send(&self.counter, ToCounter::Retrieve).await;
                }
                Flow::Go
            }
            ToProducer::Sum(sum) => {
                if self.shared.sum.set(sum).is_err() {
                    self.shared.stage.object("there are two sums".to_owned());
                }
                Flow::Stop
            }
        }
    }
}

pub(super) async fn run<S: System>(
    spawner: S::Spawner,
    increments: u32,
) -> Result<Duration, Fault> {
    let stage = Stage::of(ACTORS);
    let started = Instant::now();
    let shared = Arc::new(Shared::<S> {
        producer: OnceLock::new(),
        stage: stage.clone(),
        sum: OnceLock::new(),
    });
    let counter = Counter { shared: shared.clone(), count: 0, _life: stage.life() };
    let counter = S::spawn_bounded(&spawner, 0, counter).await;
    let producer =
        Producer { shared: shared.clone(), counter, left: increments, _life: stage.life() };
    let producer = S::spawn(&spawner, 1, producer).await;
    S::post(shared.producer.get_or_init(|| producer), ToProducer::Credit(S::AHEAD));
    let took = stage.over(started).await?;
    let sum = shared.sum.get().copied().unwrap_or(0);
    expect("increments that were counted", sum, increments.into())?;
    Ok(took)
}
