//! Models of tokens: a canceller beside a waiter, and beside a child that is made.

use super::tree::Place;
use crate::primitives::atomic::{AtomicBool, Edge, Ordering};
use crate::primitives::mutation::{check, explore, unparker};
use loom::thread;
use std::sync::Arc;

#[test]
fn a_waiter_is_woken_and_sees_what_the_canceller_did() {
    check(&[Edge::TokenSet, Edge::TokenSeen], || {
        let root = Place::root();
        let child = root.child();
        let done = Arc::new(AtomicBool::new(false));
        let waiter = {
            let done = done.clone();
            thread::spawn(move || {
                let (waker, mut place) = (unparker(), None);
                while child.signal().poll(&mut place, &waker).is_pending() {
                    thread::park();
                }
                if let Some(place) = place {
                    child.signal().leave(place);
                }
                assert!(done.load(Ordering::Relaxed));
            })
        };
        done.store(true, Ordering::Relaxed);
        root.cancel();
        waiter.join().unwrap();
    });
}

/// A child is made, and its parent goes, while the root is cancelled.
#[test]
fn a_child_that_is_made_meanwhile_is_cancelled() {
    explore(|| {
        let root = Place::root();
        let parent = root.child();
        let maker = thread::spawn(move || {
            let child = parent.child();
            drop(parent);
            child
        });
        root.cancel();
        assert!(maker.join().unwrap().signal().is_set());
    });
}
