use std::sync::{Mutex, PoisonError};

use clap::{Args, Command, FromArgMatches};

use super::*;
use suite::affinity::confined;
use suite::kit::afresh;
use suite::kit::random::Random;
use suite::kit::runtime::evenkeel::Evenkeel;
use suite::kit::runtime::tokio_hand::TokioHand;
use suite::kit::runtime::tokio_native::TokioNative;

#[test]
fn random_numbers_stay_below_their_bound_and_reach_all() {
    let mut random = Random::new(1, 0);
    let mut seen = [0_u32; 7];
    for _ in 0..7000 {
        seen[random.below(7)] += 1;
    }
    assert!(seen.iter().all(|&count| (800..1200).contains(&count)), "{seen:?}");
}

fn spec(bench: Bench, variant: Variant, procs: usize, tasks_per_proc: usize) -> Spec {
    Spec {
        bench,
        variant,
        procs,
        tasks_per_proc,
        words: 2,
        touch: 2,
        // A batch of twenty spawners takes some 50 ms where nothing is optimised.
        time: Duration::from_millis(if variant == Variant::Batch { 300 } else { 50 }),
        patience: Duration::from_millis(300),
        seed: 1,
    }
}

/// Runs take turns, because each uses the first cores for its measured time.
fn taking_turns(spec: &Spec, run: fn(&Spec) -> Result<Outcome, Fault>) -> Outcome {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    confined(spec.procs, || run(spec)).unwrap()
}

/// Runs every variant of the experiment with many and few tasks. Each run checks itself; this
/// checks that there is a figure.
fn sane<R: Runtime>(bench: Bench) {
    for &variant in bench.variants() {
        for (procs, tasks) in [(1, 20), (1, 2), (2, 20), (2, 1)] {
            let spec = spec(bench, variant, procs, tasks);
            let outcome = taking_turns(&spec, run::<R>);
            assert!(outcome.ops > 0, "{spec:?}");
            assert!(outcome.seconds >= 0.05, "{spec:?}: {outcome:?}");
            assert!(!outcome.dnc, "{spec:?}");
        }
    }
}

/// The leader has the only processor and keeps it: the run must still end, within the time and the
/// patience. It has figures if the runtime completes it.
fn ends_without_progress<R: Runtime>() {
    for &variant in Bench::Transfer.variants() {
        let spec = spec(Bench::Transfer, variant, 1, 20);
        let outcome = taking_turns(&spec, run::<R>);
        let Outcome { dnc, ops, seconds, .. } = outcome;
        assert!(dnc || ops > 0, "{spec:?}: {outcome:?}");
        let most = spec.time + spec.patience * 2;
        assert!(seconds < most.as_secs_f64() + 5.0, "{spec:?}: {outcome:?}");
    }
}

/// Tokio leaves the others behind the leader.
#[test]
fn a_transfer_on_one_processor_does_not_complete_on_tokio() {
    let spec = spec(Bench::Transfer, Variant::Park, 1, 20);
    assert!(taking_turns(&spec, run::<TokioNative>).dnc);
}

macro_rules! check {
    ($($module:ident: $runtime:ty),*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn cycle() {
                sane::<$runtime>(Bench::Cycle);
            }

            #[test]
            fn yields() {
                sane::<$runtime>(Bench::Yield);
            }

            #[test]
            fn churn() {
                sane::<$runtime>(Bench::Churn);
            }

            #[test]
            fn locality() {
                sane::<$runtime>(Bench::Locality);
            }

            #[test]
            fn spawn() {
                sane::<$runtime>(Bench::Spawn);
            }

            #[test]
            fn a_transfer_on_one_processor_ends() {
                ends_without_progress::<$runtime>();
            }
        }
    )*};
}

check!(evenkeel: Evenkeel, tokio_hand: TokioHand, tokio_native: TokioNative);

/// The promise of this project, which its peers fail: two processors, and a task that spins on one
/// of them.
#[test]
fn evenkeel_completes_transfers_beside_a_spinning_leader() {
    for &variant in Bench::Transfer.variants() {
        let mut spec = spec(Bench::Transfer, variant, 2, 20);
        spec.patience = Duration::from_secs(5);
        let outcome = taking_turns(&spec, run::<Evenkeel>);
        assert!(!outcome.dnc && outcome.ops > 0, "{spec:?}: {outcome:?}");
    }
}

/// Stands for this binary where its tests call it [afresh](suite::kit::afresh).
#[test]
fn this_binary_called_afresh() {
    let Some(arguments) = afresh::of_test() else { return };
    let probe = memory::ProbeArgs::augment_args(Command::new(memory::COMMAND));
    let line = probe.get_matches_from(arguments);
    memory::probe(&memory::ProbeArgs::from_arg_matches(&line).unwrap()).unwrap();
}
