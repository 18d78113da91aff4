//! The channel, on real threads.

use super::{Gone, Receiver, Sender, channel};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll, Wake, Waker};

/// Counts its wakes.
#[derive(Default)]
struct Count(AtomicU32);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Count {
    fn new() -> (Arc<Self>, Waker) {
        let count = Arc::new(Self::default());
        (Arc::clone(&count), count.into())
    }

    fn wakes(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

fn poll<T>(receiver: &mut Receiver<T>, waker: &Waker) -> Poll<Result<T, Gone>> {
    Pin::new(receiver).poll(&mut Context::from_waker(waker))
}

#[test]
fn what_is_sent_is_received_before_and_after_the_wait_begins() {
    let (count, waker) = Count::new();
    let (sender, mut receiver) = channel();
    assert_eq!(sender.send(7), Ok(()));
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Ok(7)));
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Err(Gone)), "it is told once");
    let (sender, mut receiver) = channel();
    assert_eq!(poll(&mut receiver, &waker), Poll::Pending);
    assert_eq!(poll(&mut receiver, &waker), Poll::Pending);
    assert_eq!((count.wakes(), Arc::strong_count(&count)), (0, 3));
    assert_eq!(sender.send(8), Ok(()));
    assert_eq!((count.wakes(), Arc::strong_count(&count)), (1, 2));
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Ok(8)));
}

#[test]
fn the_last_waker_is_woken() {
    let ((first, one), (second, two)) = (Count::new(), Count::new());
    let (sender, mut receiver) = channel();
    assert_eq!(poll(&mut receiver, &one), Poll::Pending);
    assert_eq!(poll(&mut receiver, &two), Poll::Pending);
    assert_eq!(Arc::strong_count(&first), 2, "the other has been dropped");
    assert_eq!(sender.send(()), Ok(()));
    assert_eq!((first.wakes(), second.wakes()), (0, 1));
}

#[test]
fn the_side_that_is_left_alone_is_told() {
    let (count, waker) = Count::new();
    let (sender, mut receiver) = channel::<u32>();
    assert_eq!(poll(&mut receiver, &waker), Poll::Pending);
    drop(sender);
    assert_eq!(count.wakes(), 1);
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Err(Gone)));
    let (sender, mut receiver) = channel();
    assert_eq!(poll(&mut receiver, &waker), Poll::Pending);
    assert!(!sender.is_closed());
    drop(receiver);
    assert!(sender.is_closed());
    assert_eq!(sender.send(9), Err(9));
    assert_eq!((count.wakes(), Arc::strong_count(&count)), (1, 2));
}

#[test]
fn a_receiver_that_is_closed_returns_what_was_sent_before() {
    let (count, waker) = Count::new();
    let (sender, mut receiver) = channel();
    assert_eq!(poll(&mut receiver, &waker), Poll::Pending);
    assert_eq!(sender.send(7), Ok(()));
    assert_eq!((receiver.close(), receiver.close()), (Some(7), None));
    assert_eq!(poll(&mut receiver, &waker), Poll::Ready(Err(Gone)));
    let (sender, mut receiver) = channel();
    assert_eq!(poll(&mut receiver, &waker), Poll::Pending);
    assert_eq!(receiver.close(), None);
    assert_eq!((sender.send(8), Arc::strong_count(&count)), (Err(8), 2));
}

#[test]
fn a_sender_takes_a_word_and_so_does_none() {
    assert_eq!(size_of::<Option<Sender<[u64; 9]>>>(), size_of::<usize>());
}

/// A receiver that has left its waker is closed during a send.
#[test]
fn a_receiver_may_go_while_it_is_sent_to() {
    const ROUNDS: u32 = 100_000;
    let (count, waker) = Count::new();
    let value = Arc::new(());
    let mut closed = 0;
    let (give, take) = mpsc::sync_channel::<Sender<Arc<()>>>(1);
    let sending = std::thread::spawn({
        let value = Arc::clone(&value);
        move || {
            take.into_iter()
                .fold(0, |back, sender| back + u32::from(sender.send(Arc::clone(&value)).is_err()))
        }
    });
    for round in 0..ROUNDS {
        let (sender, mut receiver) = channel();
        assert_eq!(poll(&mut receiver, &waker), Poll::Pending);
        give.send(sender).unwrap();
        (0..round % 256).for_each(|_| std::hint::spin_loop());
        closed += u32::from(receiver.close().is_some());
    }
    drop(give);
    let back = sending.join().unwrap();
    // Each value has come back, or has woken and was returned by the close.
    assert_eq!((count.wakes() + back, closed + back), (ROUNDS, ROUNDS));
    assert_eq!((Arc::strong_count(&value), Arc::strong_count(&count)), (1, 2));
}
