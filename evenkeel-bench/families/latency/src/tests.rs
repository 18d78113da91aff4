use std::sync::{Mutex, PoisonError};

use super::*;
use crate::peer::Peer;
use suite::affinity::confined;
use suite::kit::runtime::evenkeel::Evenkeel;
use suite::kit::runtime::tokio_native::TokioNative;

fn spec(variant: Variant, workers: usize) -> Spec {
    Spec {
        variant,
        workers,
        rate: 1_000,
        time: Duration::from_millis(200),
        patience: Duration::from_millis(300),
        seed: 1,
    }
}

/// Runs take turns, because each uses the first cores for its measured time.
fn taking_turns(spec: &Spec, run: impl FnOnce(&Spec) -> Result<Outcome, Fault>) -> Outcome {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    confined(spec.workers, || run(spec)).unwrap()
}

/// Each run checks itself; this checks that there are figures, and that tasks run where nothing
/// keeps them from it.
fn sane(run: impl Fn(&Spec) -> Result<Outcome, Fault>) {
    for workers in [1, 2] {
        for variant in Variant::ALL {
            let spec = spec(variant, workers);
            let Outcome { seconds, wakes, spawns, .. } = taking_turns(&spec, &run);
            assert!(seconds >= 0.19, "{spec:?}");
            for delays in [&wakes, &spawns] {
                assert_eq!(delays.count, 200, "{spec:?}");
                let cells: u32 = delays.heat.iter().map(|(.., count)| count).sum();
                assert_eq!(cells, 200, "{spec:?}");
            }
            if variant == Variant::Alone {
                assert_eq!((wakes.never, spawns.never), (0, 0), "{spec:?}");
                assert!(wakes.p50.is_some_and(|p50| p50 > 0.0), "{spec:?}");
            }
        }
    }
}

#[test]
fn evenkeel_runs_every_load_and_ends() {
    sane(run::<Evenkeel>);
}

#[test]
fn tokio_runs_every_load_and_ends() {
    sane(run::<TokioNative>);
}

#[test]
fn the_programs_run_every_load_and_end_where_their_tools_are_found() {
    for peer in [Peer::Go, Peer::Java] {
        if foreign::look(peer).is_ok() {
            let program = foreign::Program::build(peer).unwrap().unwrap();
            sane(|spec| program.run(spec));
        }
    }
}

/// Tokio's budget ends loops of awaits that are always ready.
#[test]
fn light_tasks_run_beside_ready_loops_on_tokio() {
    let outcome = taking_turns(&spec(Variant::Ready, 2), run::<TokioNative>);
    assert_eq!((outcome.wakes.never, outcome.spawns.never), (0, 0));
}
