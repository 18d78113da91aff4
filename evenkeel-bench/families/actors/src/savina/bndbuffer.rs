//! bounded buffer: a manager keeps the items of 40 producers until one of 40 consumers is free, and
//! makes producers wait while the buffer is nearly full. Nearly all of the time is in the items:
//! making one and consuming one take 2,500 logarithms each.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::sequence::Sequence;
use super::stage::{Life, Stage, expect};
use crate::system::{Actor, Flow, System, Table};
use suite::kit::fault::Fault;

const PRODUCERS: usize = 40;
const CONSUMERS: usize = 40;

/// The number of actors; the manager is the last.
pub(super) const ACTORS: usize = PRODUCERS + CONSUMERS + 1;

/// Items that fit into the buffer.
const BUFFER: usize = 50;

/// From this number of items on a producer waits: each of the others may have an item under way.
const NEARLY_FULL: usize = BUFFER - PRODUCERS;

/// Hundreds of logarithms that an item costs its producer, and its consumer too.
const COST: u32 = 25;

/// An item is ordered, made, given to a consumer, and consumed; each producer receives one order
/// more than it has items; each actor but the manager ends.
pub(super) fn messages(items: u64) -> u64 {
    PRODUCERS as u64 * (4 * items + 2) + CONSUMERS as u64
}

/// The computation for an item. Each system calls the same code: inlined anew into each system's
/// handler, it would differ by more than messages cost.
#[inline(never)]
fn work(mut term: f64) -> f64 {
    let mut random = Sequence::new(COST);
    for _ in 0..COST * 100 {
        term += (random.fraction() + 0.01).ln();
    }
    term
}

/// State that all actors of a run share.
struct Shared<S: System> {
    manager: OnceLock<S::Ref<Manager<S>>>,
    producers: Table<S, Producer<S>>,
    consumers: Table<S, Consumer<S>>,
    stage: Arc<Stage>,
    items_each: u32,
    /// The consumed items.
    consumed: Box<[AtomicBool]>,
}

impl<S: System> Shared<S> {
    fn to_manager(&self, message: ToManager) {
        S::post(self.manager.get().expect("it is spawned first"), message);
    }
}

/// One item.
struct Item {
    producer: u32,
    number: u32,
    data: f64,
}

enum ToManager {
    Start,
    Made(Item),
    /// The consumer at this place is free.
    Free(u32),
    ProducerDone,
}

struct Manager<S: System> {
    shared: Arc<Shared<S>>,
    buffer: VecDeque<Item>,
    /// Waiting producers and waiting consumers.
    full: VecDeque<u32>,
    free: VecDeque<u32>,
    producers: usize,
    _life: Life,
}

impl<S: System> Manager<S> {
    fn order(&self, producer: u32) {
        let producers = self.shared.producers.get().expect("they are there");
        S::post(&producers[producer as usize], ());
    }

    fn consumers(&self) -> &[S::Ref<Consumer<S>>] {
        self.shared.consumers.get().expect("they are there before the first message")
    }

    fn give(&self, consumer: u32, item: Item) {
        S::post(&self.consumers()[consumer as usize], Some(item));
    }

    fn made(&mut self, item: Item) {
        let producer = item.producer;
        match self.free.pop_front() {
            Some(consumer) => self.give(consumer, item),
            None => self.buffer.push_back(item),
        }
        if self.buffer.len() > BUFFER {
            self.shared
                .stage
                .object(format!("{} items in a buffer for {BUFFER}", self.buffer.len()));
        }
        match self.buffer.len() < NEARLY_FULL {
            true => self.order(producer),
            false => self.full.push_back(producer),
        }
    }

    fn free(&mut self, consumer: u32) {
        let Some(item) = self.buffer.pop_front() else {
            self.free.push_back(consumer);
            return;
        };
        self.give(consumer, item);
        if let Some(producer) = self.full.pop_front() {
            self.order(producer);
        }
    }
}

impl<S: System> Actor for Manager<S> {
    type Message = ToManager;

    async fn handle(&mut self, message: ToManager) -> Flow {
        match message {
            ToManager::Start => {
                self.free.extend(0..CONSUMERS as u32);
                (0..PRODUCERS as u32).for_each(|producer| self.order(producer));
            }
            ToManager::Made(item) => self.made(item),
            ToManager::Free(consumer) => self.free(consumer),
            ToManager::ProducerDone => self.producers -= 1,
        }
        if self.producers > 0 || self.free.len() < CONSUMERS {
            return Flow::Go;
        }
        self.consumers().iter().for_each(|consumer| S::post(consumer, None));
        Flow::Stop
    }
}

struct Producer<S: System> {
    shared: Arc<Shared<S>>,
    place: u32,
    made: u32,
    term: f64,
    _life: Life,
}

impl<S: System> Actor for Producer<S> {
    /// An order to make an item.
    type Message = ();

    async fn handle(&mut self, (): ()) -> Flow {
        if self.made == self.shared.items_each {
            self.shared.to_manager(ToManager::ProducerDone);
            return Flow::Stop;
        }
        self.term = work(self.term);
        let item = Item { producer: self.place, number: self.made, data: self.term };
        self.made += 1;
        self.shared.to_manager(ToManager::Made(item));
        Flow::Go
    }
}

struct Consumer<S: System> {
    shared: Arc<Shared<S>>,
    place: u32,
    term: f64,
    _life: Life,
}

impl<S: System> Actor for Consumer<S> {
    /// An item, or the end.
    type Message = Option<Item>;

    async fn handle(&mut self, message: Option<Item>) -> Flow {
        let Some(Item { producer, number, data }) = message else {
            black_box(self.term);
            return Flow::Stop;
        };
        self.term = work(self.term + data);
        let shared = &self.shared;
        let place = producer as usize * shared.items_each as usize + number as usize;
        if shared.consumed[place].swap(true, Ordering::Relaxed) {
            shared.stage.object(format!("item {number} of producer {producer} came twice"));
        }
        shared.to_manager(ToManager::Free(self.place));
        Flow::Go
    }
}

pub(super) async fn run<S: System>(spawner: S::Spawner, items: u32) -> Result<Duration, Fault> {
    let stage = Stage::of(ACTORS);
    let all = PRODUCERS * items as usize;
    let consumed = (0..all).map(|_| AtomicBool::new(false)).collect();
    let started = Instant::now();
    let shared = Arc::new(Shared::<S> {
        manager: OnceLock::new(),
        producers: OnceLock::new(),
        consumers: OnceLock::new(),
        stage: stage.clone(),
        items_each: items,
        consumed,
    });
    let manager = Manager {
        shared: shared.clone(),
        buffer: VecDeque::new(),
        full: VecDeque::new(),
        free: VecDeque::new(),
        producers: PRODUCERS,
        _life: stage.life(),
    };
    let manager = S::spawn(&spawner, 0, manager).await;
    let (mut producers, mut consumers) = (Vec::new(), Vec::new());
    for place in 0..PRODUCERS as u32 {
        let life = stage.life();
        let producer = Producer { shared: shared.clone(), place, made: 0, term: 0.0, _life: life };
        producers.push(S::spawn(&spawner, place as usize, producer).await);
    }
    for place in 0..CONSUMERS as u32 {
        let consumer = Consumer { shared: shared.clone(), place, term: 0.0, _life: stage.life() };
        consumers.push(S::spawn(&spawner, place as usize, consumer).await);
    }
    shared.producers.get_or_init(|| producers.into_boxed_slice());
    shared.consumers.get_or_init(|| consumers.into_boxed_slice());
    S::post(shared.manager.get_or_init(|| manager), ToManager::Start);
    let took = stage.over(started).await?;
    let consumed = shared.consumed.iter().filter(|item| item.load(Ordering::Relaxed)).count();
    expect("items that were consumed", consumed as u64, all as u64)?;
    Ok(took)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::tokio::Tokio;

    fn shared(stage: &Arc<Stage>) -> Arc<Shared<Tokio<false>>> {
        Arc::new(Shared {
            manager: OnceLock::new(),
            producers: OnceLock::new(),
            consumers: OnceLock::new(),
            stage: stage.clone(),
            items_each: 1,
            consumed: (0..PRODUCERS).map(|_| AtomicBool::new(false)).collect(),
        })
    }

    fn item(producer: u32) -> Item {
        Item { producer, number: 0, data: 0.0 }
    }

    #[test]
    fn an_item_that_comes_twice_is_a_fault() {
        let stage = Stage::of(1);
        let shared = shared(&stage);
        let (manager, mut inbox) = tokio::sync::mpsc::unbounded_channel();
        shared.manager.get_or_init(|| manager);
        let mut consumer = Consumer { shared, place: 3, term: 0.0, _life: stage.life() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let fault = runtime.block_on(async move {
            for producer in [5, 6, 5] {
                consumer.handle(Some(item(producer))).await;
                assert!(matches!(inbox.try_recv(), Ok(ToManager::Free(3))));
            }
            drop(consumer);
            stage.over(Instant::now()).await
        });
        assert_eq!(fault.unwrap_err().to_string(), "item 0 of producer 5 came twice");
    }

    #[test]
    fn a_buffer_that_overflows_is_a_fault() {
        let stage = Stage::of(1);
        let shared = shared(&stage);
        let (producer, _inbox) = tokio::sync::mpsc::unbounded_channel();
        shared.producers.get_or_init(|| vec![producer; PRODUCERS].into_boxed_slice());
        let mut manager = Manager {
            shared,
            buffer: VecDeque::new(),
            full: VecDeque::new(),
            free: VecDeque::new(),
            producers: PRODUCERS,
            _life: stage.life(),
        };
        for _ in 0..BUFFER {
            manager.made(item(0));
        }
        assert_eq!(manager.full.len(), BUFFER - NEARLY_FULL + 1);
        assert_eq!(stage.wrong(), None);
        manager.made(item(0));
        assert_eq!(stage.wrong(), Some("51 items in a buffer for 50"));
    }
}
