//! Models of falling asleep and waking, and of the calling of the relief.

use super::*;
use crate::primitives::mutation::{check, explore};
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;

/// One processor falls asleep while a pusher pushes one task with plain stores.
#[test]
fn a_push_finds_the_sleeper_or_the_sleeper_finds_the_push() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let idle = Arc::new(Idle::new(1, false));
        let queue = Arc::new(AtomicUsize::new(0));
        let pusher = {
            let (idle, queue) = (idle.clone(), queue.clone());
            loom::thread::spawn(move || {
                queue.store(1, Ordering::Relaxed);
                fence::full(Edge::IdlePush);
                if idle.counts().sleeping > 0 {
                    idle.wake_one();
                }
            })
        };
        idle.sit(0);
        idle.announce(0);
        if queue.load(Ordering::Relaxed) == 1 {
            idle.cancel(0);
        } else {
            // Loom reports a deadlock if nobody wakes the sleeper.
            while !idle.sleep(0, None) {}
        }
        pusher.join().unwrap();
        assert_eq!(queue.load(Ordering::Relaxed), 1);
    });
}

/// The last worker goes into fork-join, and the relief is about to rest, while a pusher pushes one task.
#[test]
fn a_push_beside_the_last_worker_that_goes_away_reaches_the_relief() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let idle = Arc::new(Idle::new(1, true));
        let queue = Arc::new(AtomicUsize::new(0));
        idle.begin_relief();
        let (pusher, worker) = ((idle.clone(), queue.clone()), (idle.clone(), queue.clone()));
        loom::thread::spawn(move || {
            let (idle, queue) = pusher;
            queue.store(1, Ordering::Relaxed);
            fence::full(Edge::IdlePush);
            if idle.is_pusher_to_look() {
                assert_eq!(idle.call(), Called::Done);
            }
        });
        loom::thread::spawn(move || {
            let (idle, queue) = worker;
            if idle.go_away().all_away && queue.load(Ordering::Relaxed) == 1 {
                assert_eq!(idle.call(), Called::Done);
            }
        });
        // Nobody is joined: a call may come late, and loom does not tell it from the end of a thread.
        loop {
            idle.announce_rest();
            if idle.counts().all_away && queue.load(Ordering::Relaxed) == 1 {
                break;
            }
            // Loom reports a deadlock if nobody calls.
            idle.rest(None);
        }
    });
}

/// What is left straight to the relief, while that is about to rest.
#[test]
fn what_is_left_to_the_relief_is_found() {
    explore(|| {
        let idle = Arc::new(Idle::new(1, true));
        let queue = Arc::new(AtomicUsize::new(0));
        idle.begin_relief();
        let pusher = (idle.clone(), queue.clone());
        loom::thread::spawn(move || {
            let (idle, queue) = pusher;
            queue.store(1, Ordering::Relaxed);
            assert_eq!(idle.call(), Called::Done);
        });
        loop {
            idle.announce_rest();
            if queue.load(Ordering::Relaxed) == 1 {
                break;
            }
            idle.rest(None);
        }
    });
}

/// The pusher relies on a searcher that is about to fall asleep.
#[test]
fn a_push_left_to_a_searcher_is_found() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let idle = Arc::new(Idle::new(1, false));
        let queue = Arc::new(AtomicUsize::new(0));
        assert!(idle.begin_search(|_| true));
        let pusher = {
            let (idle, queue) = (idle.clone(), queue.clone());
            loom::thread::spawn(move || {
                queue.store(1, Ordering::Relaxed);
                fence::full(Edge::IdlePush);
                let counts = idle.counts();
                if counts.sleeping > 0 && counts.searching == 0 {
                    idle.wake_one();
                }
            })
        };
        idle.sit(0);
        idle.end_search();
        idle.announce(0);
        if queue.load(Ordering::Relaxed) == 1 {
            idle.cancel(0);
        } else {
            while !idle.sleep(0, None) {}
        }
        pusher.join().unwrap();
    });
}
