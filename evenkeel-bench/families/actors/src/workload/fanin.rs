//! fanin: many actors send to one, as fast as the receiver admits.
//!
//! Where the system has back-pressure, mailboxes apply it. Where it has none, a sender stops after
//! two portions until the receiver has answered one: its queue stays in the cache, for one more
//! message per portion. Messages are numbered, so that the consumer sees whether one has overtaken
//! another of the same sender.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use super::super::system::Table;
use crate::finish::Finish;
use crate::spec::{Outcome, Spec};
use crate::system::{Actor, Flow, System};
use suite::kit::fault::Fault;

/// State that all actors of a run share.
struct Shared<S: System> {
    consumer: OnceLock<S::Ref<Consumer<S>>>,
    producers: Table<S, Producer<S>>,
    done: Finish,
    /// The first message out of order: its sender, its number, and the expected number.
    odd: Mutex<Option<(Item, u32)>>,
}

/// A message: the sender's place, and the number among its messages.
#[derive(Clone, Copy)]
struct Item {
    producer: u32,
    number: u32,
}

/// Permission to send this number of messages.
struct Credit(u32);

struct Producer<S: System> {
    shared: Arc<Shared<S>>,
    place: u32,
    sent: u32,
    messages: u32,
}

impl<S: System> Actor for Producer<S> {
    type Message = Credit;

    async fn handle(&mut self, Credit(credit): Credit) -> Flow {
        let consumer = self.shared.consumer.get().expect("it is there before the first message");
        let until = self.messages.min(self.sent.saturating_add(credit));
        while self.sent < until {
            S::send(consumer, Item { producer: self.place, number: self.sent }).await;
            self.sent += 1;
        }
        if self.sent == self.messages { Flow::Stop } else { Flow::Go }
    }
}

struct Consumer<S: System> {
    shared: Arc<Shared<S>>,
    /// The next expected number of each producer.
    next: Box<[u32]>,
    /// Messages still to come.
    left: u64,
}

impl<S: System> Actor for Consumer<S> {
    type Message = Item;

    async fn handle(&mut self, item: Item) -> Flow {
        let next = &mut self.next[item.producer as usize];
        if item.number != *next {
            let mut odd = self.shared.odd.lock().unwrap_or_else(PoisonError::into_inner);
            odd.get_or_insert((item, *next));
        }
        *next = item.number + 1;
        if let Some(portion) = S::CREDIT
            && next.is_multiple_of(portion)
        {
            let producers = self.shared.producers.get().expect("they have sent this");
            S::post(&producers[item.producer as usize], Credit(portion));
        }
        self.left -= 1;
        if self.left == 0 {
            self.shared.done.one();
            return Flow::Stop;
        }
        Flow::Go
    }
}

pub(super) async fn run<S: System>(spawner: S::Spawner, spec: Spec) -> Result<Outcome, Fault> {
    let shared = Arc::new(Shared::<S> {
        consumer: OnceLock::new(),
        producers: OnceLock::new(),
        done: Finish::of(1),
        odd: Mutex::new(None),
    });
    let consumer = Consumer {
        shared: shared.clone(),
        next: vec![0; spec.producers].into_boxed_slice(),
        left: spec.messages(),
    };
    let consumer = S::spawn_bounded(&spawner, 0, consumer).await;
    shared.consumer.get_or_init(|| consumer);
    let mut producers = Vec::with_capacity(spec.producers);
    for place in 0..spec.producers {
        let (shared, messages) = (shared.clone(), spec.messages_each);
        let producer = Producer { shared, place: place as u32, sent: 0, messages };
        producers.push(S::spawn(&spawner, place, producer).await);
    }
    let producers = shared.producers.get_or_init(|| producers.into_boxed_slice());
    let started = Instant::now();
    producers.iter().for_each(|producer| S::post(producer, Credit(S::AHEAD)));
    let ended = shared.done.wait().await;
    if let Some((Item { producer, number }, due)) =
        *shared.odd.lock().unwrap_or_else(PoisonError::into_inner)
    {
        return Fault::check(format!("message {number} of producer {producer} came for {due}"));
    }
    Ok(super::timed(ended.saturating_duration_since(started)))
}
