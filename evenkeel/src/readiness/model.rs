//! Models of an operation that waits while a looker notes, and while its socket moves.

use super::modelled::Pipe;
use super::registration::Registration;
use super::set::Set;
use super::source::{Direction, Source};
use crate::primitives::atomic::{AtomicBool, Edge, Ordering};
use crate::primitives::mutation::{check, explore, unparker};
use crate::primitives::{Mutex, lock};
use loom::thread;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};

/// Notes that it was called.
struct Called(AtomicBool);

impl Wake for Called {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn poll(registration: &Registration, pipe: &Pipe, waker: &Waker) -> Poll<()> {
    let mut ticket = None;
    let source = registration.source();
    let wait = |source: &Source| source.poll_one(waker, Direction::Read, &mut ticket);
    source.operate(waker, Direction::Read, || pipe.read(), wait).map(Result::unwrap)
}

/// Reads on another thread, which sleeps while the operation waits.
fn read(registration: &Arc<Registration>, pipe: &Arc<Pipe>) -> thread::JoinHandle<()> {
    let (pipe, registration) = (pipe.clone(), registration.clone());
    thread::spawn(move || {
        let waker = unparker();
        while poll(&registration, &pipe, &waker).is_pending() {
            thread::park();
        }
    })
}

/// A socket becomes ready while an operation finds that it would block, and waits. The word says
/// that the socket is ready at first, as after an earlier read.
#[test]
fn an_operation_is_woken_and_finds_what_it_waited_for() {
    check(&[Edge::SourceNote, Edge::SourceSeen], || {
        let set = Arc::new(Set::open().unwrap());
        let pipe = Arc::new(Pipe::new());
        let registration = Arc::new(Registration::enter(&set, 0, &pipe, None).unwrap());
        pipe.write();
        set.look(0);
        assert!(poll(&registration, &pipe, Waker::noop()).is_ready());
        let reader = read(&registration, &pipe);
        pipe.write();
        set.look(0);
        reader.join().unwrap();
    });
}

/// An operation would block although its direction is closed, and data come meanwhile: it waits,
/// as long as there is nothing new, and is woken.
#[test]
fn an_operation_waits_although_its_direction_is_closed() {
    check(&[Edge::SourceNote, Edge::SourceSeen], || {
        let set = Arc::new(Set::open().unwrap());
        let pipe = Arc::new(Pipe::new());
        let registration = Arc::new(Registration::enter(&set, 0, &pipe, None).unwrap());
        pipe.close();
        set.look(0);
        let reader = read(&registration, &pipe);
        pipe.write();
        set.look(0);
        reader.join().unwrap();
        assert!(poll(&registration, &pipe, Waker::noop()).is_pending(), "it was tried once more");
    });
}

/// A socket moves while it becomes ready, and while the owner of its former set looks.
#[test]
fn a_socket_that_moves_loses_no_note() {
    explore(|| {
        let sets = [(); 2].map(|()| Arc::new(Set::open().unwrap()));
        let pipe = Arc::new(Pipe::new());
        let registration = Registration::enter(&sets[0], 0, &pipe, None).unwrap();
        let called = Arc::new(Called(AtomicBool::new(false)));
        assert!(poll(&registration, &pipe, &called.clone().into()).is_pending());
        let peer = {
            let (pipe, former) = (pipe.clone(), sets[0].clone());
            thread::spawn(move || {
                pipe.write();
                former.look(0);
            })
        };
        registration.change(&sets[0], &sets[1], 1, &pipe);
        peer.join().unwrap();
        sets[1].look(0);
        assert!(called.0.load(Ordering::Relaxed));
        assert!(poll(&registration, &pipe, Waker::noop()).is_ready());
        registration.leave(&pipe);
        assert!(!sets[0].is_used() && !sets[1].is_used());
    });
}

/// A thread that finds the owner asleep, and would move a clock, sees that a source is ready:
/// with the system, or with the owner, which is out by then.
#[test]
fn what_an_owner_takes_under_a_clock_that_stands_is_not_overlooked() {
    explore(|| {
        let set = Arc::new(Set::open().unwrap());
        let pipe = Pipe::new();
        let _registration = Registration::enter(&set, 0, &pipe, None).unwrap();
        let is_asleep = Arc::new(Mutex::new(true));
        let owner = {
            let (set, is_asleep) = (set.clone(), is_asleep.clone());
            thread::spawn(move || {
                let woken = set.sleep(None, true, || false);
                *lock(&is_asleep) = false;
                woken.wake();
            })
        };
        pipe.write();
        {
            let is_asleep = lock(&is_asleep);
            assert!(!*is_asleep || set.has_untold(), "the clock would move");
        }
        owner.join().unwrap();
    });
}

/// Two owners have come out, and look whether they are to move a clock, one after the other: the
/// second one does.
#[test]
fn of_two_owners_that_come_in_the_second_sees_that_nothing_is_left() {
    explore(|| {
        let sets = [(); 2].map(|()| Arc::new(Set::open().unwrap()));
        for set in &sets {
            set.interrupt();
            set.sleep(None, true, || false).wake();
        }
        let movers = Arc::new(Mutex::new(0));
        let look = |own: usize| {
            let (sets, movers) = (sets.clone(), movers.clone());
            move || {
                let mut movers = lock(&movers);
                sets[own].come_in();
                *movers += usize::from(sets.iter().all(|set| !set.has_untold()));
            }
        };
        let other = thread::spawn(look(1));
        look(0)();
        other.join().unwrap();
        assert_eq!(*lock(&movers), 1);
    });
}
