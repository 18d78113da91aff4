//! Models of the channel: a value, a waker and the place are each used by one side at a time, once.
//!
//! The sender is the spawned thread: it uses the word once.

#![allow(unsafe_code, reason = "what loom watches goes from thread to thread")]

use super::{Gone, Receiver, channel};
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::{check, explore};
use loom::cell::UnsafeCell;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// A foreign waker. Loom watches what is behind it: the receiver writes that, then the sender.
struct Watched {
    behind: UnsafeCell<()>,
    thread: loom::thread::Thread,
    left: Arc<AtomicUsize>,
}

// SAFETY: loom fails a model in which two threads are behind it at once.
unsafe impl Send for Watched {}
// SAFETY: as above.
unsafe impl Sync for Watched {}

impl Wake for Watched {
    /// A panic in here is contained, so that the receiver sleeps for ever, which loom finds.
    fn wake(self: Arc<Self>) {
        self.behind.with_mut(|_| ());
        self.thread.unpark();
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.left.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Makes wakers, and counts those that are left.
#[derive(Default)]
struct Wakers(Arc<AtomicUsize>);

impl Wakers {
    fn make(&self) -> Waker {
        self.0.fetch_add(1, Ordering::Relaxed);
        let behind = UnsafeCell::new(());
        behind.with_mut(|_| ());
        let thread = loom::thread::current();
        Arc::new(Watched { behind, thread, left: self.0.clone() }).into()
    }

    /// Polls with a new waker.
    fn poll<T>(&self, receiver: &mut Receiver<T>) -> Poll<Result<T, Gone>> {
        Pin::new(receiver).poll(&mut Context::from_waker(&self.make()))
    }

    /// Waits for the outcome. Each poll leaves another waker.
    fn wait<T>(&self, receiver: &mut Receiver<T>) -> Result<T, Gone> {
        loop {
            match self.poll(receiver) {
                Poll::Ready(outcome) => return outcome,
                Poll::Pending => loom::thread::park(),
            }
        }
    }

    fn left(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn what_is_sent_is_received_or_wakes_its_receiver() {
    check(&[Edge::AnswerSend, Edge::AnswerLook, Edge::AnswerWait], || {
        let wakers = Wakers::default();
        let (sender, mut receiver) = channel();
        let sending = loom::thread::spawn(move || sender.send(7));
        assert_eq!(wakers.wait(&mut receiver), Ok(7));
        assert_eq!(sending.join().unwrap(), Ok(()));
        assert_eq!(wakers.left(), 0, "each waker is dropped");
    });
}

#[test]
fn a_receiver_that_another_task_polls_is_woken_by_its_last_waker() {
    explore(|| {
        let wakers = Wakers::default();
        let (sender, mut receiver) = channel();
        let sending = loom::thread::spawn(move || sender.send(7));
        if wakers.poll(&mut receiver).is_pending() {
            assert_eq!(wakers.wait(&mut receiver), Ok(7));
        }
        assert_eq!(sending.join().unwrap(), Ok(()));
        assert_eq!(wakers.left(), 0, "each waker is dropped");
    });
}

#[test]
fn a_sender_that_goes_wakes_its_receiver() {
    explore(|| {
        let wakers = Wakers::default();
        let (sender, mut receiver) = channel::<u32>();
        let going = loom::thread::spawn(move || drop(sender));
        assert_eq!(wakers.wait(&mut receiver), Err(Gone));
        going.join().unwrap();
        assert_eq!(wakers.left(), 0, "each waker is dropped");
    });
}

/// The receiver has left a waker, or has not.
#[test]
fn a_value_stays_on_one_side_if_the_receiver_closes() {
    check(&[Edge::AnswerClose], || {
        let (sender, mut receiver) = channel();
        let sending = loom::thread::spawn(move || sender.send(7));
        let ends = (receiver.close(), sending.join().unwrap());
        assert!(matches!(ends, (Some(7), Ok(())) | (None, Err(7))));
    });
    explore(|| {
        let wakers = Wakers::default();
        let (sender, mut receiver) = channel();
        let sending = loom::thread::spawn(move || sender.send(7));
        let taken = match wakers.poll(&mut receiver) {
            Poll::Ready(outcome) => outcome.is_ok(),
            Poll::Pending => receiver.close().is_some(),
        };
        assert_eq!(sending.join().unwrap().is_ok(), taken);
        assert_eq!(wakers.left(), 0, "each waker is dropped");
    });
}

#[test]
fn of_two_sides_that_go_at_once_one_frees_the_place() {
    explore(|| {
        let wakers = Wakers::default();
        let (sender, mut receiver) = channel::<u32>();
        let going = loom::thread::spawn(move || drop(sender));
        let _ = wakers.poll(&mut receiver);
        drop(receiver);
        going.join().unwrap();
        assert_eq!(wakers.left(), 0, "each waker is dropped");
    });
}
