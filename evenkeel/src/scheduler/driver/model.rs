//! Models of the seat's way from one driver to the next, and of a wake that meets a driver on its
//! way to sleep. A thread that parks for ever is a deadlock, which loom reports.

use crate::idle::Idle;
use crate::primitives::atomic::{Edge, Ordering};
use crate::primitives::mutation::{check, explore};
use crate::primitives::thread;
use crate::processor::driving::Driving;
use crate::readiness::Registration;
use crate::readiness::modelled::Pipe;
use loom::sync::atomic::AtomicUsize;
use std::sync::Arc;

/// Takes the seat as the waiter with this number, which parks while another thread has it.
fn take(driving: &Driving, number: u64) {
    while !driving.take_or_wait(number) {
        thread::park(None);
    }
}

/// Makes a thread that takes the seat and gives it back.
fn waiter(driving: &Arc<Driving>, number: u64) -> loom::thread::JoinHandle<()> {
    let driving = driving.clone();
    loom::thread::spawn(move || {
        take(&driving, number);
        assert!(!driving.give());
    })
}

#[test]
fn a_seat_that_is_given_is_taken() {
    explore(|| {
        let driving = Arc::new(Driving::default());
        take(&driving, 0);
        let waiter = waiter(&driving, 1);
        assert!(!driving.give());
        waiter.join().unwrap();
    });
}

/// The thread that the giver unparks has been woken for its own future, and does not drive.
#[test]
fn a_waiter_that_withdraws_passes_the_call_on() {
    explore(|| {
        let driving = Arc::new(Driving::default());
        take(&driving, 0);
        assert!(!driving.take_or_wait(1));
        let waiter = waiter(&driving, 2);
        let giver = {
            let driving = driving.clone();
            loom::thread::spawn(move || assert!(!driving.give()))
        };
        assert!(!driving.withdraw(1));
        waiter.join().unwrap();
        giver.join().unwrap();
    });
}

/// An abandoned runtime is driven on by one of the two: the driver that leaves, or the thread that
/// abandons it.
#[test]
fn an_orphan_is_driven_once() {
    explore(|| {
        let driving = Arc::new(Driving::default());
        take(&driving, 0);
        let giver = {
            let driving = driving.clone();
            loom::thread::spawn(move || driving.give())
        };
        let is_mine = driving.orphan();
        assert!(is_mine != giver.join().unwrap());
    });
}

/// A thread that abandons a runtime, and can have it driven only later, leaves the seat to a thread
/// that waits. One of the two drives the runtime to its end.
#[test]
fn a_seat_that_is_put_back_is_taken() {
    explore(|| {
        let driving = Arc::new(Driving::default());
        let waiter = {
            let driving = driving.clone();
            loom::thread::spawn(move || {
                take(&driving, 1);
                driving.give()
            })
        };
        if driving.orphan() {
            driving.put_back();
        }
        let is_driven = waiter.join().unwrap();
        assert!(is_driven != driving.withdraw(2));
    });
}

/// The waker finds the thread in its seat, and so its set; or the thread sees what it is woken for.
#[test]
fn a_driver_that_takes_its_seat_is_woken_in_its_set() {
    check(&[Edge::IdleInSet, Edge::IdleCallSet], || {
        let idle = Arc::new(Idle::new(1, 0));
        let pipe = Pipe::new();
        let set = idle.set(0).open().unwrap();
        let _registration = Registration::enter(set, 0, &pipe, None).unwrap();
        let due = Arc::new(AtomicUsize::new(0));
        let waker = {
            let (idle, due, driver) = (idle.clone(), due.clone(), thread::current());
            loom::thread::spawn(move || {
                due.store(1, Ordering::Relaxed);
                idle.unpark_thread(&driver);
            })
        };
        idle.sit(0);
        idle.announce(0);
        while due.load(Ordering::Relaxed) == 0 {
            assert!(!idle.sleep(0, None, false).is_woken, "no thread counts it as a searcher");
        }
        assert!(idle.cancel(0));
        waker.join().unwrap();
    });
}
