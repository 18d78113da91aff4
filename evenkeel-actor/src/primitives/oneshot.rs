//! A channel for one value: an answer, or word of an actor's end.
//!
//! # Roles
//! The *sender* sends, or is dropped without having sent. The *receiver* waits for either, or is
//! closed or dropped, which may happen at any moment, also during a send.
//!
//! # Protocol
//! One lock guards all that both use. In one hold, the sender checks whether the receiver has gone;
//! if not, it leaves the value, marks the channel as *over* and takes the waker. In one hold, the
//! receiver checks whether the channel is over and leaves its waker. In one hold, a receiver
//! that is closed or dropped marks itself as gone and takes out what is there for it; one that is
//! closed returns the value. Wakers and values run a caller's code, so they are woken, cloned and
//! dropped outside of the lock. The last of the two frees the memory.
//!
//! # Why nothing is lost
//! The lock orders a send and a check: the check finds the value, or the send finds the waker. It
//! also orders a send and the receiver's drop: the receiver takes the value out, or the sender has
//! it back.
//!
//! # Rejected
//! The crate `oneshot`: in its versions up to 0.2.1, a receiver that is dropped during a send frees
//! the memory from which the sender takes the waker (<https://github.com/faern/oneshot/issues/87>).
//! A state of our own without a lock: it would save the count of two, two locked instructions, and
//! has just this case for a trap.

use evenkeel::budget;
use evenkeel::internal::{SpinLock, contain};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker, ready};

/// The state that both share.
struct Place<T> {
    state: SpinLock<State<T>>,
    /// Whether the sender is done. It is for the sender, which alone writes it, and so need not
    /// lock to read it.
    is_over: AtomicBool,
}

struct State<T> {
    value: Option<T>,
    waker: Option<Waker>,
    /// The sender has sent, or is gone.
    is_over: bool,
    /// The receiver is gone.
    is_deaf: bool,
}

impl<T> Place<T> {
    /// Ends the channel for the sender, with a value or without. Returns the value if the receiver
    /// is gone.
    fn end(&self, value: Option<T>) -> Result<(), Option<T>> {
        self.is_over.store(true, Ordering::Relaxed);
        let mut state = self.state.lock();
        if state.is_deaf {
            drop(state);
            return Err(value);
        }
        state.value = value;
        state.is_over = true;
        let waker = state.waker.take();
        drop(state);
        // A waker may be a caller's, and panic.
        contain(|| waker.map(Waker::wake));
        Ok(())
    }
}

/// Sends one value.
pub(crate) struct Sender<T>(Arc<Place<T>>);

/// Waits for one value; there is none if the sender is dropped.
pub(crate) struct Receiver<T> {
    /// None once it has returned its outcome.
    place: Option<Arc<Place<T>>>,
    /// Whether it has left a waker, or yielded.
    waits: bool,
}

/// The sender was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// Returns a sender and its receiver.
pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let state = State { value: None, waker: None, is_over: false, is_deaf: false };
    let place = Place { state: SpinLock::new(state), is_over: AtomicBool::new(false) };
    let place = Arc::new(place);
    (Sender(Arc::clone(&place)), Receiver { place: Some(place), waits: false })
}

impl<T> Sender<T> {
    /// Sends the value, or returns it if the receiver is gone.
    pub(crate) fn send(self, value: T) -> Result<(), T> {
        self.0.end(Some(value)).map_err(|value| value.expect("it was given one"))
    }

    /// Returns whether the receiver is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.state.lock().is_deaf
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if !self.0.is_over.load(Ordering::Relaxed) {
            // There is no value to come back.
            let _ = self.0.end(None);
        }
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, Gone>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(place) = &this.place else { return Poll::Ready(Err(Gone)) };
        // The first poll most likely has to leave a waker; later polls have left one.
        let mut fresh = (!this.waits).then(|| context.waker().clone());
        loop {
            let mut state = place.state.lock();
            if state.is_over {
                if !this.waits {
                    drop(state);
                    // From here on it is as one that has waited, which needs no unit.
                    this.waits = true;
                    ready!(budget::poll_consume(context));
                    continue;
                }
                let value = state.value.take();
                drop(state);
                this.place = None;
                return Poll::Ready(value.ok_or(Gone));
            }
            if state.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                return Poll::Pending;
            }
            if let Some(fresh) = fresh.take() {
                let before = state.waker.replace(fresh);
                drop(state);
                drop(before);
                this.waits = true;
                return Poll::Pending;
            }
            drop(state);
            fresh = Some(context.waker().clone());
        }
    }
}

impl<T> Receiver<T> {
    /// Stops waiting, as a drop does: the sender then has its value back. Returns the value if it
    /// was sent before, since its sender takes it for received.
    pub(crate) fn close(&mut self) -> Option<T> {
        let place = self.place.take()?;
        let mut state = place.state.lock();
        state.is_deaf = true;
        let (value, waker) = (state.value.take(), state.waker.take());
        drop(state);
        drop(waker);
        value
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        drop(self.close());
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{Gone, Receiver, channel};
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
        assert_eq!(size_of::<Option<super::Sender<[u64; 9]>>>(), size_of::<usize>());
    }

    /// A receiver that has left its waker is closed during a send.
    #[test]
    fn a_receiver_may_go_while_it_is_sent_to() {
        const ROUNDS: u32 = 100_000;
        let (count, waker) = Count::new();
        let value = Arc::new(());
        let mut closed = 0;
        let (give, take) = mpsc::sync_channel::<super::Sender<Arc<()>>>(1);
        let sending = std::thread::spawn({
            let value = Arc::clone(&value);
            move || {
                take.into_iter().fold(0, |back, sender| {
                    back + u32::from(sender.send(Arc::clone(&value)).is_err())
                })
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
}
