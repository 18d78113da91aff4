//! pingpong: pairs of a client and a destination, with many pings of each pair under way.
//!
//! The rules are those of Akka's `TellThroughput`, of "50 million messages per second": a client
//! sends the permitted number of pings in flight, then one for each reply, until all are sent and
//! answered.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::super::system::Table;
use super::{Counts, Totals};
use crate::finish::Finish;
use crate::spec::{Outcome, Spec};
use crate::system::{Actor, Flow, System};
use suite::kit::fault::Fault;

/// State that all actors of a run share.
struct Shared<S: System> {
    /// Clients at even places, each before its destination.
    table: Table<S, Player<S>>,
    done: Finish,
    stopped: Finish,
    totals: Totals,
}

/// A message to a player.
enum Message {
    Start,
    Ping,
    Pong,
    Stop,
}

/// A client or a destination.
struct Player<S: System> {
    shared: Arc<Shared<S>>,
    /// The partner's place.
    other: usize,
    /// Pings at the start.
    in_flight: u32,
    /// Pings to send.
    left: u32,
    /// Replies still to come.
    missing: u32,
    counts: Counts,
}

impl<S: System> Player<S> {
    #[inline]
    fn post(&self, message: Message) {
        let table = self.shared.table.get().expect("it is there before the first message");
        S::post(&table[self.other], message);
    }
}

impl<S: System> Actor for Player<S> {
    type Message = Message;

    async fn handle(&mut self, message: Message) -> Flow {
        match message {
            Message::Start => {
                let first = self.in_flight.min(self.left);
                self.left -= first;
                (0..first).for_each(|_| self.post(Message::Ping));
            }
            Message::Ping => {
                self.counts.answered += 1;
                self.post(Message::Pong);
            }
            Message::Pong => {
                self.counts.received += 1;
                if self.left > 0 {
                    self.left -= 1;
                    self.post(Message::Ping);
                }
                self.missing -= 1;
                if self.missing == 0 {
                    self.shared.done.one();
                }
            }
            Message::Stop => {
                self.shared.totals.add(self.counts);
                self.shared.stopped.one();
                return Flow::Stop;
            }
        }
        Flow::Go
    }
}

pub(super) async fn run<S: System>(spawner: S::Spawner, spec: Spec) -> Result<Outcome, Fault> {
    let shared = Arc::new(Shared::<S> {
        table: OnceLock::new(),
        done: Finish::of(spec.pairs),
        stopped: Finish::of(spec.actors()),
        totals: Totals::default(),
    });
    let mut table = Vec::with_capacity(spec.actors());
    for place in 0..spec.actors() {
        let player = Player {
            shared: shared.clone(),
            other: place ^ 1,
            in_flight: spec.in_flight,
            left: spec.pings,
            missing: spec.pings,
            counts: Counts::default(),
        };
        // A pair has one place, in systems where actors have places.
        table.push(S::spawn(&spawner, place / 2, player).await);
    }
    let table = shared.table.get_or_init(|| table.into_boxed_slice());
    let started = Instant::now();
    table.iter().step_by(2).for_each(|client| S::post(client, Message::Start));
    let ended = shared.done.wait().await;
    table.iter().for_each(|player| S::post(player, Message::Stop));
    shared.stopped.wait().await;
    shared.totals.check(spec.messages() / 2)?;
    Ok(super::timed(ended.saturating_duration_since(started)))
}
