//! big: 120 actors, each with one ping in flight to a random actor, possibly itself; a sink waits
//! for all of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::sequence::Sequence;
use super::stage::{Life, Stage, expect};
use crate::system::{Actor, Flow, System, Table};
use suite::kit::fault::Fault;

/// Actors that ping.
pub(super) const PINGERS: usize = 120;

/// For each actor: a start, its pings and their replies, its report to the sink, its end.
pub(super) fn messages(pings: u64) -> u64 {
    PINGERS as u64 * (2 * pings + 3)
}

/// State that all actors of a run share.
struct Shared<S: System> {
    pingers: Table<S, Pinger<S>>,
    sink: OnceLock<S::Ref<Sink<S>>>,
    stage: Arc<Stage>,
    answered: AtomicU64,
}

impl<S: System> Shared<S> {
    fn pingers(&self) -> &[S::Ref<Pinger<S>>] {
        self.pingers.get().expect("it is there before the first message")
    }
}

enum Message {
    Start,
    /// From the actor at this place.
    Ping(u32),
    /// From the actor at this place.
    Pong(u32),
    Exit,
}

struct Pinger<S: System> {
    shared: Arc<Shared<S>>,
    place: u32,
    random: Sequence,
    /// Pings to send.
    left: u32,
    /// The actor that has the ping under way.
    target: u32,
    answered: u64,
    _life: Life,
}

impl<S: System> Pinger<S> {
    #[inline]
    fn next(&mut self) {
        if self.left == 0 {
            S::post(self.shared.sink.get().expect("it is spawned first"), ());
            return;
        }
        self.left -= 1;
        let pingers = self.shared.pingers();
        let target = self.random.below(pingers.len());
        self.target = target as u32;
        S::post(&pingers[target], Message::Ping(self.place));
    }
}

impl<S: System> Actor for Pinger<S> {
    type Message = Message;

    async fn handle(&mut self, message: Message) -> Flow {
        match message {
            Message::Start => self.next(),
            Message::Ping(source) => {
                self.answered += 1;
                S::post(&self.shared.pingers()[source as usize], Message::Pong(self.place));
            }
            Message::Pong(source) => {
                if source != self.target {
                    let Self { place, target, .. } = self;
                    self.shared.stage.object(format!(
                        "{source} has answered {place}, which waited for {target}"
                    ));
                }
                self.next();
            }
            Message::Exit => {
                self.shared.answered.fetch_add(self.answered, Ordering::Relaxed);
                return Flow::Stop;
            }
        }
        Flow::Go
    }
}

/// Waits for all pingers, and ends them.
struct Sink<S: System> {
    shared: Arc<Shared<S>>,
    left: usize,
    _life: Life,
}

impl<S: System> Actor for Sink<S> {
    type Message = ();

    async fn handle(&mut self, (): ()) -> Flow {
        self.left -= 1;
        if self.left > 0 {
            return Flow::Go;
        }
        self.shared.pingers().iter().for_each(|pinger| S::post(pinger, Message::Exit));
        Flow::Stop
    }
}

pub(super) async fn run<S: System>(spawner: S::Spawner, pings: u32) -> Result<Duration, Fault> {
    let stage = Stage::of(PINGERS + 1);
    let started = Instant::now();
    let shared = Arc::new(Shared::<S> {
        pingers: OnceLock::new(),
        sink: OnceLock::new(),
        stage: stage.clone(),
        answered: AtomicU64::new(0),
    });
    let sink = Sink { shared: shared.clone(), left: PINGERS, _life: stage.life() };
    let sink = S::spawn(&spawner, 0, sink).await;
    shared.sink.get_or_init(|| sink);
    let mut pingers = Vec::with_capacity(PINGERS);
    for place in 0..PINGERS {
        let pinger = Pinger {
            shared: shared.clone(),
            place: place as u32,
            random: Sequence::new(place as u32),
            left: pings,
            target: 0,
            answered: 0,
            _life: stage.life(),
        };
        pingers.push(S::spawn(&spawner, place, pinger).await);
    }
    let pingers = shared.pingers.get_or_init(|| pingers.into_boxed_slice());
    pingers.iter().for_each(|pinger| S::post(pinger, Message::Start));
    let took = stage.over(started).await?;
    let answered = shared.answered.load(Ordering::Relaxed);
    expect("pings that were answered", answered, PINGERS as u64 * u64::from(pings))?;
    Ok(took)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::tokio::Tokio;

    #[test]
    fn an_answer_of_another_than_was_asked_is_a_fault() {
        let stage = Stage::of(1);
        let shared = Arc::new(Shared::<Tokio<false>> {
            pingers: OnceLock::new(),
            sink: OnceLock::new(),
            stage: stage.clone(),
            answered: AtomicU64::new(0),
        });
        let (sink, mut inbox) = tokio::sync::mpsc::unbounded_channel();
        shared.sink.get_or_init(|| sink);
        let mut pinger = Pinger {
            shared,
            place: 0,
            random: Sequence::new(0),
            left: 0,
            target: 7,
            answered: 0,
            _life: stage.life(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let fault = runtime.block_on(async move {
            assert_eq!(pinger.handle(Message::Pong(8)).await, Flow::Go);
            inbox.try_recv().unwrap();
            drop(pinger);
            stage.over(Instant::now()).await
        });
        assert_eq!(fault.unwrap_err().to_string(), "8 has answered 0, which waited for 7");
    }
}
