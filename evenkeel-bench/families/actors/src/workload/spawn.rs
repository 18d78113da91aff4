//! actor_spawn: actors are spawned, handle one message and stop; the clock stops when the last
//! actor's state is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::bench::Variant;
use crate::finish::Finish;
use crate::spec::{Outcome, Spec, WAVE};
use crate::system::{Actor, Flow, System};
use suite::kit::fault::Fault;

/// State that the actors of a wave share.
struct Wave {
    handled: AtomicUsize,
    stopped: Finish,
}

/// An actor that handles one message.
struct Once(Arc<Wave>);

impl Actor for Once {
    type Message = ();

    async fn handle(&mut self, (): ()) -> Flow {
        self.0.handled.fetch_add(1, Ordering::Relaxed);
        Flow::Stop
    }
}

impl Drop for Once {
    fn drop(&mut self) {
        self.0.stopped.one();
    }
}

pub(super) async fn run<S: System>(spawner: S::Spawner, spec: Spec) -> Result<Outcome, Fault> {
    let wave = match spec.variant {
        Variant::Waves => WAVE,
        _ => spec.actors(),
    };
    let mut references = Vec::with_capacity(wave.min(spec.actors()));
    let mut left = spec.actors();
    let mut handled = 0;
    let mut ended = Instant::now();
    let started = Instant::now();
    while left > 0 {
        let actors = wave.min(left);
        let of_wave = Arc::new(Wave { handled: AtomicUsize::new(0), stopped: Finish::of(actors) });
        for place in 0..actors {
            references.push(S::spawn(&spawner, place, Once(of_wave.clone())).await);
        }
        references.iter().for_each(|actor| S::post(actor, ()));
        ended = of_wave.stopped.wait().await;
        references.clear();
        handled += of_wave.handled.load(Ordering::Relaxed);
        left -= actors;
    }
    match handled == spec.actors() {
        true => Ok(super::timed(ended.saturating_duration_since(started))),
        false => Fault::check(format!("{handled} actors of {} have handled it", spec.actors())),
    }
}
