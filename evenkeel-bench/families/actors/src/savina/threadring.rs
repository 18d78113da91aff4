//! threadring: a token goes round a ring of 100 actors; the actor that receives the last one ends
//! all, one after another.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::stage::{Life, Stage, expect};
use crate::system::{Actor, Flow, System, Table};
use suite::kit::fault::Fault;

/// Actors in the ring.
pub(super) const RING: usize = 100;

/// The token on each of its passes, and the end of each actor.
pub(super) fn messages(passes: u64) -> u64 {
    passes + 1 + RING as u64
}

/// State that all actors of a run share.
struct Shared<S: System> {
    ring: Table<S, Member<S>>,
    stage: Arc<Stage>,
    /// The actor that received the last token.
    last: AtomicU32,
    tokens: AtomicU64,
}

enum Message {
    /// A token with this number of passes before it.
    Token(u32),
    /// This number of actors has still to end, the receiver among them.
    Exit(u32),
}

struct Member<S: System> {
    shared: Arc<Shared<S>>,
    place: usize,
    tokens: u64,
    _life: Life,
}

impl<S: System> Member<S> {
    #[inline]
    fn pass(&self, message: Message) {
        let ring = self.shared.ring.get().expect("it is there before the first message");
        let next = if self.place + 1 == ring.len() { 0 } else { self.place + 1 };
        S::post(&ring[next], message);
    }
}

impl<S: System> Actor for Member<S> {
    type Message = Message;

    async fn handle(&mut self, message: Message) -> Flow {
        match message {
            Message::Token(left) => {
                self.tokens += 1;
                if left > 0 {
                    self.pass(Message::Token(left - 1));
                } else {
                    self.shared.last.store(self.place as u32, Ordering::Relaxed);
                    self.pass(Message::Exit(RING as u32));
                }
                Flow::Go
            }
            Message::Exit(left) => {
                self.shared.tokens.fetch_add(self.tokens, Ordering::Relaxed);
                if left > 1 {
                    self.pass(Message::Exit(left - 1));
                }
                Flow::Stop
            }
        }
    }
}

pub(super) async fn run<S: System>(spawner: S::Spawner, passes: u32) -> Result<Duration, Fault> {
    let stage = Stage::of(RING);
    let started = Instant::now();
    let shared = Arc::new(Shared::<S> {
        ring: OnceLock::new(),
        stage: stage.clone(),
        last: AtomicU32::new(u32::MAX),
        tokens: AtomicU64::new(0),
    });
    let mut ring = Vec::with_capacity(RING);
    for place in 0..RING {
        let life = stage.life();
        let member = Member { shared: shared.clone(), place, tokens: 0, _life: life };
        ring.push(S::spawn(&spawner, place, member).await);
    }
    let ring = shared.ring.get_or_init(|| ring.into_boxed_slice());
    S::post(&ring[0], Message::Token(passes));
    let took = shared.stage.over(started).await?;
    let (last, tokens) = (&shared.last, &shared.tokens);
    expect("tokens", tokens.load(Ordering::Relaxed), u64::from(passes) + 1)?;
    let last = u64::from(last.load(Ordering::Relaxed));
    expect("the place of the last token", last, u64::from(passes) % RING as u64)?;
    Ok(took)
}
