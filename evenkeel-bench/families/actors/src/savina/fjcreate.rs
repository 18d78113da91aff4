//! fork-join-create: actors are spawned one after another; each receives a message at once,
//! computes a little and ends.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::stage::{Life, Stage, expect};
use crate::system::{Actor, Flow, System};
use suite::kit::fault::Fault;

/// The argument of the computed sine.
const THETA: f64 = 37.2;

struct Forked {
    done: Arc<AtomicU64>,
    _life: Life,
}

impl Actor for Forked {
    type Message = ();

    async fn handle(&mut self, (): ()) -> Flow {
        let sine = black_box(THETA).sin();
        if sine * sine > 0.0 {
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        Flow::Stop
    }
}

pub(super) async fn run<S: System>(spawner: S::Spawner, actors: u32) -> Result<Duration, Fault> {
    let stage = Stage::of(actors as usize);
    let done = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    for place in 0..actors as usize {
        let forked = Forked { done: done.clone(), _life: stage.life() };
        S::post(&S::spawn(&spawner, place, forked).await, ());
    }
    let took = stage.over(started).await?;
    expect("actors that have computed", done.load(Ordering::Relaxed), actors.into())?;
    Ok(took)
}
