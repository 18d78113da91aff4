//! Models of falling asleep and waking, of the calling of the relief, and of how it finds stuck
//! workers.
//!
//! The sleeper, the relief and the stuck worker take their steps by the code that runs. The pusher
//! is a store and a fence in the place of a queue and its fence: the model says what [`Idle`] needs
//! of any pusher. The models of [`sleep`](crate::scheduler) have the pushers that run, each with
//! its own fence.
//!
//! The threads share by `std`'s `Arc`: loom's `Arc` panics when it is dropped in a model that has
//! failed, which would end the process instead of the weakened run.

use super::*;
use crate::primitives::mutation::{check, check_without, explore};
use loom::sync::atomic::AtomicUsize;
use std::sync::Arc;

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
            // Loom reports a deadlock if the sleeper is not woken.
            while !idle.sleep(0, None) {}
        }
        pusher.join().unwrap();
        assert_eq!(queue.load(Ordering::Relaxed), 1);
    });
}

/// A sleeper may see that it is awake before it parks, or before its waker unparks it. Here no
/// unpark comes: it would order what the sleeper sees, and loom explores none that comes late.
#[test]
fn a_sleeper_that_is_awake_sees_what_it_was_woken_for() {
    check(&[Edge::IdleWoken, Edge::IdleAwake], || {
        let idle = Arc::new(Idle::new(1, false));
        let queue = Arc::new(AtomicUsize::new(0));
        idle.announce(0);
        let pusher = {
            let (idle, queue) = (idle.clone(), queue.clone());
            loom::thread::spawn(move || {
                queue.store(1, Ordering::Relaxed);
                assert!(idle.wake_one());
            })
        };
        while !idle.sleep(0, Some(Duration::ZERO)) {}
        assert_eq!(queue.load(Ordering::Relaxed), 1);
        assert_eq!(idle.counts().searching, 1);
        pusher.join().unwrap();
    });
}

/// The last worker goes into fork-join, and the relief is about to rest, while a pusher pushes one
/// task.
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
            if idle.go_away(&Absence::new()).all_away && queue.load(Ordering::Relaxed) == 1 {
                assert_eq!(idle.call(), Called::Done);
            }
        });
        // No thread is joined: a call may come late, and loom cannot tell it from the end of a
        // thread.
        loop {
            idle.announce_rest();
            if idle.counts().all_away && queue.load(Ordering::Relaxed) == 1 {
                break;
            }
            // Loom reports a deadlock if the relief is not called.
            idle.rest(None);
        }
    });
}

/// A pusher leaves a task directly to the relief, which is about to rest.
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

/// A pusher calls the relief while that is about to rest. Here the relief has no thread, so that no
/// unpark orders what it sees: a second call tells whether the first one still stands.
#[test]
fn a_relief_that_takes_a_call_sees_what_it_was_called_for() {
    // The fence is spared: the change of the word is enough.
    check_without(&[Edge::IdleSleep], &[Edge::ReliefCall, Edge::ReliefRest], || {
        let idle = Arc::new(Idle::new(1, true));
        let queue = Arc::new(AtomicUsize::new(0));
        assert_eq!(idle.call(), Called::Start);
        let pusher = {
            let (idle, queue) = (idle.clone(), queue.clone());
            loom::thread::spawn(move || {
                queue.store(1, Ordering::Relaxed);
                let _ = idle.call();
            })
        };
        idle.announce_rest();
        let has_seen = queue.load(Ordering::Relaxed) == 1;
        pusher.join().unwrap();
        assert!(has_seen || idle.call() == Called::Done);
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

/// The relief finds the last worker stuck, and is about to rest, while a pusher pushes one task.
#[test]
fn a_push_beside_a_worker_that_is_found_stuck_reaches_the_relief() {
    // The fence before the relief's rest does not pair with a pusher's light fence.
    check_without(&[Edge::IdleSleep], &[Edge::IdlePush, Edge::StuckFind], || {
        let idle = Arc::new(Idle::new(1, true));
        let queue = Arc::new(AtomicUsize::new(0));
        idle.begin_relief();
        spawn_pusher(&idle, &queue);
        assert!(idle.find_stuck(0, &Absence::new()));
        rest_until_found(&idle, &queue);
    });
}

/// The same, while that worker goes away by itself.
#[test]
fn a_push_beside_a_worker_that_goes_away_stuck_reaches_the_relief() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let idle = Arc::new(Idle::new(1, true));
        let queue = Arc::new(AtomicUsize::new(0));
        let absence = Arc::new(Absence::new());
        idle.begin_relief();
        spawn_pusher(&idle, &queue);
        let worker = (idle.clone(), queue.clone(), absence.clone());
        loom::thread::spawn(move || {
            let (idle, queue, absence) = worker;
            if idle.go_away(&absence).all_away && queue.load(Ordering::Relaxed) == 1 {
                assert_eq!(idle.call(), Called::Done);
            }
        });
        assert!(idle.find_stuck(0, &absence));
        rest_until_found(&idle, &queue);
    });
}

fn spawn_pusher(idle: &Arc<Idle>, queue: &Arc<AtomicUsize>) {
    let (idle, queue) = (idle.clone(), queue.clone());
    loom::thread::spawn(move || {
        queue.store(1, Ordering::Relaxed);
        fence::full(Edge::IdlePush);
        if idle.is_pusher_to_look() {
            assert_eq!(idle.call(), Called::Done);
        }
    });
}

/// The relief, until it finds the task beside workers that are all away.
fn rest_until_found(idle: &Idle, queue: &AtomicUsize) {
    // No thread is joined: a call may come late, and loom cannot tell it from the end of a thread.
    loop {
        idle.announce_rest();
        if idle.counts().all_away && queue.load(Ordering::Relaxed) == 1 {
            return;
        }
        // Loom reports a deadlock if the relief is not called.
        idle.rest(None);
    }
}

/// A worker counts itself out before it sleeps, while a pusher that sees it away leaves the task to
/// the relief, which leaves it to the worker.
#[test]
fn a_push_beside_a_stuck_worker_that_falls_asleep_is_found() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let idle = Arc::new(Idle::new(1, true));
        let queue = Arc::new(AtomicUsize::new(0));
        let absence = Absence::new();
        assert!(idle.find_stuck(0, &absence));
        let pusher = (idle.clone(), queue.clone());
        let pusher = loom::thread::spawn(move || {
            let (idle, queue) = pusher;
            queue.store(1, Ordering::Relaxed);
            fence::full(Edge::IdlePush);
            let counts = idle.counts();
            if !counts.all_away && counts.sleeping > 0 {
                idle.wake_one();
            }
        });
        idle.sit(0);
        idle.announce(0);
        idle.come_unstuck(&absence);
        if queue.load(Ordering::Relaxed) == 1 {
            idle.cancel(0);
        } else {
            // Loom reports a deadlock if the sleeper is not woken.
            while !idle.sleep(0, None) {}
        }
        pusher.join().unwrap();
        assert!(!idle.counts().all_away);
    });
}

/// The relief counts a worker in by an older observation; by then the worker sleeps, is away, or
/// has come back. The order of the changes of the word is enough: there is no edge.
#[test]
fn a_worker_that_is_found_stuck_too_late_is_counted_out() {
    let leave: [fn(&Idle, &Absence); 2] = [
        |idle, absence| {
            idle.announce(0);
            idle.come_unstuck(absence);
        },
        |idle, absence| {
            let _ = idle.go_away(absence);
            idle.come_back(absence);
            idle.announce(0);
            idle.come_unstuck(absence);
        },
    ];
    for leave in leave {
        explore(move || {
            let idle = Arc::new(Idle::new(1, true));
            let absence = Arc::new(Absence::new());
            let relief = (idle.clone(), absence.clone());
            let relief = loom::thread::spawn(move || {
                assert!(relief.0.find_stuck(0, &relief.1));
            });
            leave(&idle, &absence);
            relief.join().unwrap();
            if !idle.is_asleep(0) {
                // The relief has woken it.
                idle.come_unstuck(&absence);
            }
            assert!(!absence.is_away() && !idle.counts().all_away);
        });
    }
}

/// A worker goes away, comes back and looks whether it is stuck, and the relief finds it stuck
/// meanwhile: of two workers it counts for one.
#[test]
fn a_worker_is_not_counted_twice() {
    explore(|| {
        let idle = Arc::new(Idle::new(2, true));
        let absence = Arc::new(Absence::new());
        let worker = (idle.clone(), absence.clone());
        let worker = loom::thread::spawn(move || {
            let (idle, absence) = worker;
            assert!(!idle.go_away(&absence).all_away);
            idle.come_back(&absence);
            idle.come_unstuck(&absence);
        });
        for _ in 0..2 {
            assert!(idle.find_stuck(0, &absence));
            assert!(!idle.counts().all_away);
        }
        worker.join().unwrap();
    });
}

/// States of the queue: nothing yet, a task, and a task that has been found.
const EMPTY: usize = 0;
const READY: usize = 1;
const FOUND: usize = 2;

fn find(queue: &AtomicUsize) -> bool {
    queue.compare_exchange(READY, FOUND, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

/// The relief counts the last worker in by an older observation, and the worker sleeps by then. A
/// pusher that sees all away calls the relief, and does not wake the sleeper.
#[test]
fn a_push_beside_a_sleeper_that_is_found_stuck_is_found() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let idle = Arc::new(Idle::new(1, true));
        let queue = Arc::new(AtomicUsize::new(EMPTY));
        let absence = Arc::new(Absence::new());
        idle.begin_relief();
        let worker = (idle.clone(), queue.clone(), absence.clone());
        loom::thread::spawn(move || sleep_until_found(&worker.0, &worker.1, &worker.2));
        let pusher = (idle.clone(), queue.clone());
        loom::thread::spawn(move || {
            let (idle, queue) = pusher;
            queue.store(READY, Ordering::Relaxed);
            fence::full(Edge::IdlePush);
            let counts = idle.counts();
            if counts.all_away {
                assert_eq!(idle.call(), Called::Done);
            } else if counts.sleeping > 0 {
                idle.wake(0);
            }
        });
        assert!(idle.find_stuck(0, &absence));
        loop {
            if absence.is_away() && find(&queue) {
                loom::sync::atomic::fence(Ordering::SeqCst);
                idle.wake(0);
                return;
            }
            idle.announce_rest();
            match queue.load(Ordering::Relaxed) {
                FOUND => return,
                READY if idle.counts().all_away => {}
                // Loom reports a deadlock if the relief is not called.
                _ => _ = idle.rest(None),
            }
        }
    });
}

/// The worker, until it or the relief finds the task.
fn sleep_until_found(idle: &Idle, queue: &AtomicUsize, absence: &Absence) {
    idle.sit(0);
    loop {
        idle.announce(0);
        idle.come_unstuck(absence);
        if queue.load(Ordering::Relaxed) != EMPTY {
            break;
        }
        // Loom reports a deadlock if the sleeper is not woken.
        while !idle.sleep(0, None) {}
        idle.come_unstuck(absence);
    }
    idle.cancel(0);
    if find(queue) {
        assert_eq!(idle.call(), Called::Done);
    }
}

/// A worker begins to wait inside a fork for a job that a thief has taken from its deque, while the
/// relief is about to end its looks.
#[test]
fn a_worker_that_waits_is_seen_by_the_relief_that_it_asks() {
    check(&[Edge::StuckWait, Edge::StuckLook], || {
        let idle = Arc::new(Idle::new(2, true));
        let absence = Arc::new(Absence::new());
        idle.begin_relief();
        // The thief asks.
        assert!(idle.ask_to_look());
        let host = (idle.clone(), absence.clone());
        loom::thread::spawn(move || {
            let (idle, absence) = host;
            absence.begin_wait();
            if idle.ask_to_look() {
                assert_eq!(idle.call(), Called::Done);
            }
        });
        look_until(&idle, || absence.is_waiting());
    });
}

/// A thief asks a relief that is about to end its looks.
#[test]
fn a_stolen_job_is_seen_by_the_relief_that_its_thief_asks() {
    check(&[Edge::IdleSleep, Edge::StuckLook], || {
        let idle = Arc::new(Idle::new(2, true));
        let stolen = Arc::new(AtomicUsize::new(0));
        idle.begin_relief();
        assert!(idle.ask_to_look());
        let thief = (idle.clone(), stolen.clone());
        loom::thread::spawn(move || {
            let (idle, stolen) = thief;
            stolen.store(1, Ordering::Relaxed);
            let _ = idle.go_away(&Absence::new());
            if idle.ask_to_look() {
                assert_eq!(idle.call(), Called::Done);
            }
        });
        look_until(&idle, || stolen.load(Ordering::Relaxed) == 1);
    });
}

/// The relief, until a look sees that a worker `is_in_fork`.
fn look_until(idle: &Idle, is_in_fork: impl Fn() -> bool) {
    loop {
        if idle.is_to_look() {
            let is_asked = idle.begin_look();
            if is_in_fork() {
                return;
            }
            if is_asked || !idle.end_looks() {
                continue;
            }
        }
        idle.announce_rest();
        if !idle.is_to_look() {
            // Loom reports a deadlock if the relief is not called.
            idle.rest(None);
        }
    }
}
