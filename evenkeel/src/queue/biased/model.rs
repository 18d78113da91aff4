//! Models of the owner-biased lock.

use super::*;
use crate::primitives::mutation::{check, check_without};
use loom::sync::Arc;

#[test]
fn owner_and_thief_exclude_each_other() {
    use Edge::{BiasedBusy, BiasedClaim, BiasedClaimed, BiasedFenced, BiasedHeavy};
    use Edge::{BiasedLeave, BiasedLight, BiasedUnclaim};
    let fences = [BiasedLight, BiasedHeavy, BiasedFenced, BiasedClaimed];
    let accesses = [BiasedLeave, BiasedBusy, BiasedUnclaim, BiasedClaim];
    check(&[fences, accesses].concat(), || {
        let lock = Arc::new(Biased::new(0_u32));
        let thief = {
            let lock = lock.clone();
            loom::thread::spawn(move || {
                let mut taken = 0;
                if let Some(mut value) = lock.claim(true) {
                    taken = *value;
                    *value = 0;
                }
                taken
            })
        };
        for _ in 0..2 {
            // SAFETY: this thread is the only owner.
            let mut value = unsafe { lock.enter() };
            *value += 1;
        }
        let taken = thief.join().unwrap();
        // SAFETY: as above.
        let left = *unsafe { lock.enter() };
        assert_eq!(taken + left, 2);
    });
}

/// The thief never makes the heavy fence, and the owner makes full fences for a while. The light
/// fence is left out, so that all depends on the accesses to `fenced`.
#[test]
fn a_thief_that_spares_the_heavy_fence_meets_fenced_operations_only() {
    use Edge::{BiasedClaimed, BiasedFenced, BiasedShow, BiasedUnfence};
    check_without(
        &[Edge::BiasedLight],
        &[BiasedFenced, BiasedUnfence, BiasedShow, BiasedClaimed],
        || {
            let lock = Arc::new(Biased::new(0_u32));
            let thief = {
                let lock = lock.clone();
                loom::thread::spawn(move || {
                    let claimed = lock.claim(false);
                    claimed.map_or(0, |mut value| std::mem::take(&mut *value))
                })
            };
            // SAFETY: this thread is the only owner.
            let add = || *unsafe { lock.enter() } += 1;
            // SAFETY: as above.
            let set_fenced = |fenced| unsafe { lock.set_fenced(fenced) };
            add();
            set_fenced(true);
            add();
            set_fenced(false);
            add();
            let taken = thief.join().unwrap();
            // SAFETY: as above.
            let left = *unsafe { lock.enter() };
            assert_eq!(taken + left, 3);
        },
    );
}

#[test]
fn a_request_is_either_answered_or_withdrawn() {
    loom::model(|| {
        let lock = Arc::new(Biased::new(()));
        let owner = {
            let lock = lock.clone();
            loom::thread::spawn(move || {
                // SAFETY: this thread is the only owner.
                drop(unsafe { lock.enter() });
                lock.is_asked() && lock.take_request() == Some(3)
            })
        };
        assert!(lock.ask(3));
        let withdrawn = lock.withdraw(3);
        let answered = owner.join().unwrap();
        assert!(withdrawn != answered, "exactly one of the two");
    });
}
