//! Models of what the words of [`Idle`] pass from thread to thread, and of its counts. A store
//! before a call stands for all that the caller has done. The models of
//! [`scheduler`](crate::scheduler), in its `sleep` and its `relief`, have the pushers that run,
//! each with its own fence.
//!
//! The threads share by `std`'s `Arc`: loom's `Arc` panics when it is dropped in a model that has
//! failed, which would end the process instead of the weakened run.

use super::*;
use crate::primitives::mutation::{check, check_without, explore};
use crate::readiness::Registration;
use crate::readiness::modelled::Pipe;
use crate::readiness::source::Direction;
use loom::sync::atomic::AtomicUsize;
use std::sync::Arc;
use std::task::{Wake, Waker};

/// A sleeper may see that it is awake before it parks, or before its waker unparks it. Here no
/// unpark comes: it would order what the sleeper sees, and loom explores none that comes late.
#[test]
fn a_sleeper_that_is_awake_sees_what_it_was_woken_for() {
    check(&[Edge::IdleWoken, Edge::IdleAwake], || {
        let idle = Arc::new(Idle::new(1, 0));
        let queue = Arc::new(AtomicUsize::new(0));
        idle.announce(0);
        let pusher = {
            let (idle, queue) = (idle.clone(), queue.clone());
            loom::thread::spawn(move || {
                queue.store(1, Ordering::Relaxed);
                assert!(idle.wake_one());
            })
        };
        while !idle.sleep(0, Some(Duration::ZERO), false).is_woken {}
        assert_eq!(queue.load(Ordering::Relaxed), 1);
        assert_eq!(idle.counts().searching, 1);
        pusher.join().unwrap();
    });
}

/// A pusher calls the relief while that is about to rest. Here the relief has no thread, so that no
/// unpark orders what it sees.
#[test]
fn a_relief_that_takes_a_call_sees_what_it_was_called_for() {
    // The fence is spared: the change of the word is enough.
    check_without(&[Edge::IdleSleep], &[Edge::ReliefCall, Edge::ReliefRest], || {
        let idle = Arc::new(Idle::new(1, 1));
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
        assert!(has_seen || idle.calling.called.load(Ordering::Relaxed), "the call stands");
    });
}

/// A pusher makes the first call, while the lookout finds that the relief has no thread: one of
/// them starts it. The order of the changes of a word is enough: there is no edge.
#[test]
fn a_relief_is_started_once() {
    explore(|| {
        let idle = Arc::new(Idle::new(1, 1));
        let lookout = {
            let idle = idle.clone();
            let appoints = move || idle.lacks_relief() && idle.appoint() == Appointed::New(1);
            loom::thread::spawn(appoints)
        };
        let is_called = idle.call() == Called::Start;
        assert!(is_called != lookout.join().unwrap());
    });
}

/// A relief that rests may see that it is called before its caller unparks it. Here it has no
/// thread, as above.
#[test]
fn a_relief_that_is_called_sees_what_it_is_called_for() {
    // The fence is spared: the change of the word is enough.
    check_without(&[Edge::StuckWait], &[Edge::ReliefCall, Edge::ReliefCalled], || {
        let idle = Arc::new(Idle::new(1, 1));
        let queue = Arc::new(AtomicUsize::new(0));
        let relief = {
            let (idle, queue) = (idle.clone(), queue.clone());
            loom::thread::spawn(move || {
                idle.rest(Some(Duration::ZERO));
                !idle.end_rest() || queue.load(Ordering::Relaxed) == 1
            })
        };
        queue.store(1, Ordering::Relaxed);
        let _ = idle.call();
        assert!(relief.join().unwrap());
    });
}

/// The thread that moves a standing clock looks whether the relief, which has been called, rests.
#[test]
fn a_thread_that_sees_the_relief_rest_sees_what_it_has_done() {
    // The fence is spared: the change of the word is enough.
    check_without(&[Edge::IdleSleep], &[Edge::ReliefRest, Edge::ReliefResting], || {
        let idle = Arc::new(Idle::new(1, 1));
        let queue = Arc::new(AtomicUsize::new(0));
        idle.begin_relief(1);
        assert_eq!(idle.call(), Called::Done);
        let mover = {
            let (idle, queue) = (idle.clone(), queue.clone());
            loom::thread::spawn(move || !idle.is_resting() || queue.load(Ordering::Relaxed) == 1)
        };
        queue.store(1, Ordering::Relaxed);
        idle.announce_rest();
        assert!(mover.join().unwrap());
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
            let idle = Arc::new(Idle::new(1, 1));
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
        let idle = Arc::new(Idle::new(2, 1));
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

/// Notes that it was called.
struct Flag(AtomicUsize);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(1, Ordering::Relaxed);
    }
}

/// Starts a thread that parks as processor 0 until it sees `done`.
fn sleeper(idle: &Arc<Idle>, done: impl Fn() -> bool + 'static) -> loom::thread::JoinHandle<()> {
    let idle = idle.clone();
    loom::thread::spawn(move || {
        idle.sit(0);
        while !done() {
            idle.seats[0].park(None, false).wake();
        }
    })
}

/// A thread calls a sleeper, which goes to sleep in its set.
#[test]
fn a_sleeper_in_its_set_is_called() {
    check(&[Edge::IdleInSet, Edge::IdleCallSet], || {
        let idle = Arc::new(Idle::new(1, 0));
        let pipe = Pipe::new();
        let set = idle.set(0).open().unwrap();
        let _registration = Registration::enter(set, 0, &pipe, None).unwrap();
        let queue = Arc::new(AtomicUsize::new(0));
        let pushed = queue.clone();
        let sleeper = sleeper(&idle, move || pushed.load(Ordering::Relaxed) == 1);
        queue.store(1, Ordering::Relaxed);
        idle.unpark(0);
        sleeper.join().unwrap();
    });
}

/// The same, while another worker, which has found the sleeper overdue, looks into its set: the
/// interrupt may go to that one. The sleeper has no thread: an unpark would take it from the lock
/// for which it waits, by a fault of loom.
#[test]
fn a_sleeper_in_its_set_is_called_beside_another_looker() {
    explore(|| {
        let idle = Arc::new(Idle::new(1, 0));
        let pipe = Pipe::new();
        let set = idle.set(0).open().unwrap();
        let _registration = Registration::enter(set, 0, &pipe, None).unwrap();
        let queue = Arc::new(AtomicUsize::new(0));
        let pushed = queue.clone();
        let sleeper = {
            let idle = idle.clone();
            loom::thread::spawn(move || {
                while pushed.load(Ordering::Relaxed) == 0 {
                    idle.seats[0].park(None, false).wake();
                }
            })
        };
        let looker = {
            let set = set.clone();
            loom::thread::spawn(move || set.look(0))
        };
        queue.store(1, Ordering::Relaxed);
        idle.unpark(0);
        sleeper.join().unwrap();
        looker.join().unwrap();
    });
}

/// A thread from outside gives a sleeper its first socket, and waits for it. The sleeper is on its
/// way to the futex, or there. The set is open before, because loom does not know the standard
/// library's `OnceLock`: that it is seen after an unpark is the unpark's doing.
#[test]
fn a_sleeper_without_a_set_goes_into_that_of_its_first_socket() {
    explore(|| {
        let idle = Arc::new(Idle::new(1, 0));
        let set = idle.set(0).open().unwrap();
        let waker = Arc::new(Flag(AtomicUsize::new(0)));
        let woken = waker.clone();
        let sleeper = sleeper(&idle, move || woken.0.load(Ordering::Relaxed) == 1);
        let pipe = Pipe::new();
        let registration = Registration::enter(set, 0, &pipe, None).unwrap();
        idle.unpark(0);
        let waker: Waker = waker.into();
        assert!(registration.source().poll(&waker, Direction::Read).is_pending());
        pipe.write();
        sleeper.join().unwrap();
    });
}
