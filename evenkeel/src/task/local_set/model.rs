//! Models of the wakes of local tasks.

use super::ready::{Member, Place, Ready};
use super::waking::Waking;
use crate::primitives::atomic::{AtomicBool, AtomicUsize, Edge, Ordering};
use crate::primitives::mutation::{check, explore};
use crate::raw_task::id;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Wake, Waker};

fn queue() -> (Arc<Ready>, Arc<Waking>) {
    let ready = Arc::new(Ready::new());
    let member = Member { slot: 0, id: id::take_one() };
    (ready.clone(), Arc::new(Waking::new(ready, member)))
}

/// Notes that it was called.
struct Noted(AtomicBool);

impl Wake for Noted {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The task is queued, and is woken once more while a driver begins its poll.
#[test]
fn a_poll_sees_what_came_before_a_wake_or_another_poll_follows() {
    check(&[Edge::LocalWake, Edge::LocalBegin], || {
        let (ready, waking) = queue();
        waking.wake_by_ref();
        let message = Arc::new(AtomicUsize::new(0));
        let waker = {
            let (waking, message) = (waking.clone(), message.clone());
            loom::thread::spawn(move || {
                message.store(1, Ordering::Relaxed);
                waking.wake();
            })
        };
        let mut batch = VecDeque::new();
        assert!(ready.take(&mut batch));
        assert!(waking.begin());
        let is_seen = message.load(Ordering::Relaxed) == 1;
        waker.join().unwrap();
        batch.clear();
        assert!(is_seen || ready.take(&mut batch));
    });
}

#[test]
fn a_driver_that_waits_is_woken() {
    explore(|| {
        let (ready, waking) = queue();
        let waker = loom::thread::spawn(move || waking.wake());
        let noted = Arc::new(Noted(AtomicBool::new(false)));
        let mut place = Place::new(ready.clone());
        let waits = place.wait(&Waker::from(noted.clone()));
        waker.join().unwrap();
        assert_eq!(waits, noted.0.load(Ordering::Relaxed));
        assert!(ready.take(&mut VecDeque::new()));
    });
}
