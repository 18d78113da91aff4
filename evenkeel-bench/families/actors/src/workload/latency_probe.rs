//! latency_probe: every actor is source and target, with one ping in flight to a random actor,
//! possibly itself.
//!
//! The rules are Thorium's at the time of the post on it: 100 actors for each worker, 40,000 pings
//! of each, empty replies. A ping carries its source's place in a shared table, so that no message
//! counts a reference.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use super::super::system::Table;
use super::{Counts, Totals};
use crate::finish::Finish;
use crate::spec::{Outcome, Spec};
use crate::system::{Actor, Flow, System};
use suite::kit::fault::Fault;
use suite::kit::latency::Latencies;
use suite::kit::random::Random;

/// One in `SAMPLE` pings is timed, in runs that time pings.
const SAMPLE: u32 = 64;

/// State that all actors of a run share.
struct Shared<S: System> {
    table: Table<S, Probe<S>>,
    done: Finish,
    stopped: Finish,
    totals: Totals,
    trips: Mutex<Latencies>,
}

/// A message to a probe.
enum Message {
    Start,
    /// From the actor at this place.
    Ping(u32),
    Pong,
    Stop,
}

/// An actor.
struct Probe<S: System> {
    shared: Arc<Shared<S>>,
    place: u32,
    /// Pings to send.
    left: u32,
    random: Random,
    sampled: bool,
    /// When the ping under way was sent, if it is timed.
    sent: Option<Instant>,
    /// Nanoseconds of the timed pings.
    trips: Vec<u64>,
    counts: Counts,
}

impl<S: System> Probe<S> {
    fn table(&self) -> &[S::Ref<Probe<S>>] {
        self.shared.table.get().expect("it is there before the first message")
    }

    #[inline]
    fn ping(&mut self) {
        self.left -= 1;
        // Each actor at other times, so that the timed pings do not meet.
        if self.sampled && self.left.wrapping_add(self.place).is_multiple_of(SAMPLE) {
            self.sent = Some(Instant::now());
        }
        let target = self.random.below(self.table().len());
        S::post(&self.table()[target], Message::Ping(self.place));
    }
}

impl<S: System> Actor for Probe<S> {
    type Message = Message;

    async fn handle(&mut self, message: Message) -> Flow {
        match message {
            Message::Start => self.ping(),
            Message::Ping(source) => {
                self.counts.answered += 1;
                S::post(&self.table()[source as usize], Message::Pong);
            }
            Message::Pong => {
                self.counts.received += 1;
                if let Some(sent) = self.sent.take() {
                    self.trips.push(sent.elapsed().as_nanos() as u64);
                }
                match self.left {
                    0 => self.shared.done.one(),
                    _ => self.ping(),
                }
            }
            Message::Stop => {
                self.shared.totals.add(self.counts);
                let mut trips = self.shared.trips.lock().unwrap_or_else(PoisonError::into_inner);
                trips.extend(self.trips.drain(..));
                drop(trips);
                self.shared.stopped.one();
                return Flow::Stop;
            }
        }
        Flow::Go
    }
}

pub(super) async fn run<S: System>(
    spawner: S::Spawner,
    spec: Spec,
    sampled: bool,
) -> Result<Outcome, Fault> {
    let actors = spec.actors();
    let shared = Arc::new(Shared::<S> {
        table: OnceLock::new(),
        done: Finish::of(actors),
        stopped: Finish::of(actors),
        totals: Totals::default(),
        trips: Mutex::new(Latencies::default()),
    });
    let mut table = Vec::with_capacity(actors);
    for place in 0..actors {
        let probe = Probe {
            shared: shared.clone(),
            place: place as u32,
            left: spec.pings,
            random: Random::new(spec.seed, place),
            sampled,
            sent: None,
            trips: Vec::new(),
            counts: Counts::default(),
        };
        table.push(S::spawn(&spawner, place, probe).await);
    }
    let table = shared.table.get_or_init(|| table.into_boxed_slice());
    let started = Instant::now();
    table.iter().for_each(|actor| S::post(actor, Message::Start));
    let ended = shared.done.wait().await;
    table.iter().for_each(|actor| S::post(actor, Message::Stop));
    shared.stopped.wait().await;
    shared.totals.check(spec.messages() / 2)?;
    let mut trips = shared.trips.lock().unwrap_or_else(PoisonError::into_inner);
    let trips = sampled.then(|| std::mem::take(&mut *trips));
    Ok(Outcome { trips, ..super::timed(ended.saturating_duration_since(started)) })
}
