//! Models of signals that come while listeners wait, and while listeners are made.

use super::pipe;
use super::post::Post;
use crate::primitives::atomic::{AtomicUsize, Edge, Ordering};
use crate::primitives::mutation::{check, explore, unparker};
use loom::thread;
use std::sync::Arc;
use std::task::Waker;

/// Two signals come while a listener waits: it is woken, and sees what came before each of them.
/// The pipe holds one byte, so it may be full at the second one.
#[test]
fn a_listener_that_waits_is_woken_and_sees_what_came_before() {
    check(&[Edge::SignalCome, Edge::SignalSeen, Edge::SignalAgain], || {
        let (reader, writer) = pipe::pair().unwrap();
        let post = Arc::new(Post::<1>::new(writer));
        let message = Arc::new(AtomicUsize::new(0));
        let mut seen = post.listen(0, || Ok(())).unwrap();
        let listener = {
            let (post, message) = (post.clone(), message.clone());
            thread::spawn(move || {
                let waker = unparker();
                while message.load(Ordering::Relaxed) < 2 {
                    while post.poll(0, &mut seen, &waker).is_pending() {
                        thread::park();
                    }
                }
                post.leave(0, &mut seen);
                post.close();
            })
        };
        let handler = {
            let post = post.clone();
            thread::spawn(move || {
                for text in 1..=2 {
                    message.store(text, Ordering::Relaxed);
                    post.arrive(0);
                }
            })
        };
        post.tell(reader);
        listener.join().unwrap();
        handler.join().unwrap();
    });
}

/// Two listeners are made at once: each finds the handler installed, once.
#[test]
fn a_kind_is_handled_once_and_before_its_listeners_are_there() {
    explore(|| {
        let (_reader, writer) = pipe::pair().unwrap();
        let post = Arc::new(Post::<1>::new(writer));
        let installed = Arc::new(AtomicUsize::new(0));
        let listen = move |post: Arc<Post<1>>, installed: Arc<AtomicUsize>| {
            let install = || {
                installed.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            let mut seen = post.listen(0, install).unwrap();
            assert_eq!(installed.load(Ordering::Relaxed), 1);
            post.arrive(0);
            assert!(post.poll(0, &mut seen, Waker::noop()).is_ready(), "it came later");
        };
        let other = {
            let (post, installed) = (post.clone(), installed.clone());
            thread::spawn(move || listen(post, installed))
        };
        listen(post, installed);
        other.join().unwrap();
    });
}

/// A wait is given up while a signal comes. The next wait has it, whatever became of the waker.
#[test]
fn a_wait_that_is_given_up_loses_no_signal() {
    explore(|| {
        let (reader, writer) = pipe::pair().unwrap();
        let post = Arc::new(Post::<1>::new(writer));
        let mut seen = post.listen(0, || Ok(())).unwrap();
        let listener = {
            let post = post.clone();
            thread::spawn(move || {
                let waker = unparker();
                let was_told = post.poll(0, &mut seen, Waker::noop()).is_ready();
                post.leave(0, &mut seen);
                if !was_told {
                    while post.poll(0, &mut seen, &waker).is_pending() {
                        thread::park();
                    }
                }
                assert!(post.poll(0, &mut seen, Waker::noop()).is_pending(), "it came once");
                post.leave(0, &mut seen);
                post.close();
            })
        };
        let handler = {
            let post = post.clone();
            thread::spawn(move || post.arrive(0))
        };
        post.tell(reader);
        listener.join().unwrap();
        handler.join().unwrap();
    });
}
