//! Models of arming, firing and cancelling.

#![allow(unsafe_code, reason = "a datum that loom watches, and timers by hand")]

use super::*;
use crate::idle::{Absence, Called, Idle};
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::{check, check_without};
use crate::runtime::block_on;
use crate::task::word_waker::WordWaker;
use loom::cell::UnsafeCell;
use std::future::poll_fn;
use std::task::Poll;

/// The tick of the models' wheels: a nanosecond.
const TICK: u64 = 1;

/// The deadline of the models' timers.
const DEADLINE: u64 = 100;

/// A wheel, a timer that only one thread arms in it, and a datum that the firing thread uses before
/// it fires.
struct Subject {
    timers: Lease,
    entry: Entry,
    datum: UnsafeCell<u32>,
}

// SAFETY: the models keep the rules of timers, and loom fails one in which two threads reach the
// datum at once.
unsafe impl Send for Subject {}
// SAFETY: as above.
unsafe impl Sync for Subject {}

impl Subject {
    fn new() -> Arc<Self> {
        let timers = Lease::new(Rules::new::<WordWaker>(TICK));
        Arc::new(Self { timers, entry: Entry::new(), datum: UnsafeCell::new(0) })
    }

    fn arm(&self, waker: &Waker) -> Armed {
        let (entry, waker) = (NonNull::from(&self.entry), WordWaker::of(waker));
        // SAFETY: the entry is idle; the subject outlives the timer, which is cancelled or has
        // fired before it is dropped.
        unsafe { self.timers.arm(entry, DEADLINE, 0, waker) }
    }

    fn cancel(&self) -> bool {
        // SAFETY: this thread armed it there.
        unsafe { self.timers.cancel::<WordWaker>(NonNull::from(&self.entry)) }
    }

    /// Uses the datum, as the timer's future does once the timer is not armed.
    fn use_datum(&self) {
        self.datum.with_mut(|datum| {
            // SAFETY: the timer is not armed.
            unsafe { *datum += 1 };
        });
    }
}

/// The waiting thread sees without a lock all writes of the firing thread before it fired.
#[test]
fn a_task_that_sees_that_a_timer_has_fired_sees_what_was_before() {
    check(&[Edge::TimerFire, Edge::TimerSeen], || {
        let subject = Subject::new();
        assert_eq!(subject.arm(Waker::noop()), Armed::Waits { is_next: true });
        // The spawned thread is the one that only looks: loom misses a look that comes before the
        // other thread's own.
        let looker = {
            let subject = subject.clone();
            loom::thread::spawn(move || {
                if subject.entry.progress() == Progress::Fired {
                    subject.use_datum();
                }
            })
        };
        subject.use_datum();
        assert_eq!(subject.timers.fire(DEADLINE), 1);
        looker.join().unwrap();
    });
}

/// One thread fires and one cancels: the timer ends once.
#[test]
fn a_timer_fires_once_or_is_cancelled() {
    check(&[Edge::SpinLock, Edge::SpinUnlock], || {
        let subject = Subject::new();
        assert_eq!(subject.arm(Waker::noop()), Armed::Waits { is_next: true });
        let firer = {
            let subject = subject.clone();
            loom::thread::spawn(move || subject.timers.fire(DEADLINE))
        };
        let cancelled = subject.cancel();
        let fired = firer.join().unwrap();
        assert_eq!(usize::from(cancelled) + fired, 1);
        let progress = if cancelled { Progress::Idle } else { Progress::Fired };
        assert_eq!(subject.entry.progress(), progress);
        assert_eq!(subject.timers.refresh(), NEVER);
    });
}

/// A task waits; another thread fires while the waker is renewed.
#[test]
fn a_waiter_is_woken() {
    check(&[Edge::SpinLock, Edge::SpinUnlock], || {
        let subject = Subject::new();
        let firer = {
            let subject = subject.clone();
            loom::thread::spawn(move || subject.timers.fire(DEADLINE))
        };
        // Loom reports a deadlock if the task is not woken.
        let mut armed = false;
        block_on(poll_fn(|context| match subject.entry.progress() {
            Progress::Idle if !armed => {
                armed = true;
                assert_eq!(subject.arm(Waker::noop()), Armed::Waits { is_next: true });
                let fresh = WordWaker::of(context.waker());
                // SAFETY: this thread armed it there.
                match unsafe { subject.timers.renew(&subject.entry, context.waker(), Some(fresh)) }
                {
                    // The firing thread may have come before the timer.
                    Renewed::Done if subject.timers.next() <= DEADLINE => {
                        subject.timers.fire(DEADLINE);
                        Poll::Pending
                    }
                    Renewed::Done => Poll::Pending,
                    Renewed::Ended => Poll::Ready(()),
                    Renewed::Other => unreachable!("there is a waker to leave"),
                }
            }
            Progress::Fired => Poll::Ready(()),
            progress => panic!("{progress:?}"),
        }));
        firer.join().unwrap();
    });
}

/// The owner falls asleep while another thread arms a timer that is due before the owner's sleep
/// ends.
#[test]
fn a_sleeper_learns_of_an_earlier_timer() {
    check(&[Edge::SpinLock, Edge::SpinUnlock], || {
        let subject = Subject::new();
        let idle = Arc::new(Idle::new(1, false));
        idle.sit(0);
        let armer = {
            let (subject, idle) = (subject.clone(), idle.clone());
            loom::thread::spawn(move || {
                assert_eq!(subject.arm(Waker::noop()), Armed::Waits { is_next: true });
                if idle.is_asleep(0) {
                    idle.unpark(0);
                }
            })
        };
        idle.announce(0);
        // Loom reports a deadlock if the sleeper is not unparked: a model has no time.
        while subject.timers.refresh() == NEVER {
            assert!(!idle.sleep(0, None));
        }
        assert!(idle.cancel(0));
        armer.join().unwrap();
        assert_eq!(subject.timers.fire(DEADLINE), 1);
    });
}

/// The last worker goes away, and the relief is about to rest, while a thread outside arms a timer.
#[test]
fn the_relief_learns_of_a_timer_of_workers_that_are_away() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let idle = Arc::new(Idle::new(1, true));
        let next = Arc::new(AtomicU64::new(NEVER));
        idle.begin_relief();
        let (armer, worker) = ((idle.clone(), next.clone()), (idle.clone(), next.clone()));
        let call = |idle: &Idle, next: &AtomicU64| {
            if next.load(Ordering::Relaxed) < idle.rests_until() {
                let _ = idle.call();
            }
        };
        loom::thread::spawn(move || {
            let (idle, next) = armer;
            next.store(DEADLINE, Ordering::Relaxed);
            crate::primitives::fence::full(Edge::IdlePush);
            if idle.counts().all_away {
                call(&idle, &next);
            }
        });
        loom::thread::spawn(move || {
            let (idle, next) = worker;
            if idle.go_away(&Absence::new()).all_away {
                call(&idle, &next);
            }
        });
        // No thread is joined: a call may come late, and loom cannot tell it from the end of a
        // thread.
        loop {
            idle.announce_rest();
            if idle.counts().all_away && next.load(Ordering::Relaxed) == DEADLINE {
                idle.rest_until(DEADLINE);
                break;
            }
            // Loom reports a deadlock if the relief is not called.
            idle.rest(None);
        }
    });
}

/// A worker arms a timer in its poll, behind a light fence, while the relief finds it stuck.
#[test]
fn the_relief_learns_of_a_timer_of_the_worker_that_it_finds_stuck() {
    // The fence before the relief's rest does not pair with a light fence.
    check_without(&[Edge::IdleSleep], &[Edge::TimerArm, Edge::StuckFind], || {
        let idle = Arc::new(Idle::new(1, true));
        let next = Arc::new(AtomicU64::new(NEVER));
        idle.begin_relief();
        let worker = (idle.clone(), next.clone());
        loom::thread::spawn(move || {
            let (idle, next) = worker;
            next.store(DEADLINE, Ordering::Relaxed);
            crate::primitives::fence::light_if_paired(Edge::TimerArm);
            if idle.counts().all_away && next.load(Ordering::Relaxed) < idle.rests_until() {
                assert_eq!(idle.call(), Called::Done);
            }
        });
        assert!(idle.find_stuck(0, &Absence::new()));
        // The worker is not joined: a call may come late, and loom cannot tell it from the end of a
        // thread.
        loop {
            idle.announce_rest();
            if next.load(Ordering::Relaxed) == DEADLINE {
                break;
            }
            // Loom reports a deadlock if the relief is not called.
            idle.rest(None);
        }
    });
}
