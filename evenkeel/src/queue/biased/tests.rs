//! Tests of the owner-biased lock.

use super::*;

#[test]
fn a_request_names_the_processor_that_asks() {
    let lock = Biased::new(());
    assert!(lock.ask(5));
    assert!(!lock.ask(6), "one request at a time");
    assert!(!lock.withdraw(6));
    assert!(lock.is_asked());
    assert_eq!(lock.take_request(), Some(5));
    assert_eq!(lock.take_request(), None);
    assert!(!lock.withdraw(5));
}

#[test]
fn a_thief_goes_away_from_an_owner_that_stays_inside() {
    let lock = Biased::new(1);
    // SAFETY: this thread is the only owner.
    let owned = unsafe { lock.enter() };
    std::thread::scope(|scope| {
        scope.spawn(|| assert!(lock.claim(true).is_none()));
    });
    drop(owned);
    assert_eq!(lock.claim(true).as_deref(), Some(&1));
}

#[test]
fn owner_and_thieves_lose_no_update() {
    const TOTAL: u64 = 5_000_000;
    let lock = Biased::new(0_u64);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let thieves: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut taken = 0;
                    while !done.load(Ordering::Acquire) {
                        if let Some(mut value) = lock.claim(true) {
                            taken += std::mem::take(&mut *value);
                        }
                        // Gives the owner its turn.
                        std::thread::sleep(std::time::Duration::from_micros(1));
                    }
                    taken
                })
            })
            .collect();
        for turn in 0..TOTAL {
            if turn % 64 == 0 {
                // SAFETY: this thread is the only owner.
                unsafe { lock.set_fenced(turn % 128 == 0) };
            }
            // SAFETY: as above.
            *unsafe { lock.enter() } += 1;
        }
        done.store(true, Ordering::Release);
        let taken: u64 = thieves.into_iter().map(|thief| thief.join().unwrap()).sum();
        // SAFETY: as above.
        assert_eq!(taken + *unsafe { lock.enter() }, TOTAL);
    });
}
