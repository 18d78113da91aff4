use super::pool::RayonTokio;
use super::*;
use suite::affinity::confined;
use suite::kit::runtime::evenkeel::Evenkeel;

fn spec(variant: Variant, workers: usize, tasks: usize) -> Spec {
    Spec { variant, workers, tasks, n: 6, time: Duration::from_millis(60), seed: 1 }
}

/// Ways to place six queens.
const RIGHT: u64 = 4;

/// Each run checks itself; this checks that there are figures.
fn sane<P: Pool>() {
    for (workers, tasks) in [(1, 2), (2, 2), (2, 40)] {
        for variant in Variant::ALL {
            let spec = spec(variant, workers, tasks);
            let outcome = confined(workers, || run::<P>(&spec, RIGHT)).unwrap();
            assert!(outcome.seconds >= 0.06, "{spec:?}");
            assert!(outcome.computations.count() > 0, "{spec:?}");
            match (variant, outcome.tasks) {
                (Variant::Joins, Tasks::Polls(polls)) => assert!(polls > 0, "{spec:?}"),
                (Variant::Wakes, Tasks::Wakes { outside, relayed }) => {
                    assert!(outside.count() > 0, "{spec:?}");
                    assert_eq!(outside.count(), relayed.count(), "{spec:?}");
                }
                _ => panic!("{spec:?} measures something else"),
            }
        }
    }
}

#[test]
fn evenkeel_does_both() {
    sane::<Evenkeel>();
}

#[test]
fn rayon_and_tokio_do_both() {
    sane::<RayonTokio>();
}

/// A wrong result is a fault, and the tasks still end.
#[test]
fn a_wrong_computation_is_a_fault() {
    for variant in Variant::ALL {
        let Err(fault) = run::<Evenkeel>(&spec(variant, 2, 4), RIGHT + 1) else {
            panic!("{variant} takes a wrong result");
        };
        let text = fault.to_string();
        assert_eq!(text, "a computation of size 6 came to 4 instead of 5");
    }
}
