//! A park cell that adds one locked instruction to the cost of Tokio's own wake and poll.
//!
//! **Protocol.** A post stores the token and then always wakes the owner. The owner takes the token
//! by a swap if it is there, and returns `Pending` if not.
//!
//! **Why nothing is lost.** Waking is a read-modify-write of the task's state, and so is going idle
//! after a poll. If the post's comes first, the owner is polled again and sees the token; if the
//! owner's comes first, the post finds it idle and queues it. Since the owner takes by a swap, it
//! either takes a post, with all that the poster did before, or leaves the post's token for its
//! next wait.
//!
//! **Rejected.** A cell that knows whether its owner waits saves needless wakes of a running owner,
//! and costs a second locked instruction in every wait.

use std::future::{self, Future};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use crate::kit::runtime::Parker;

/// One task's cell. Aligned to a cache line, so that neighbours in the heap do not share one.
#[derive(Default)]
#[repr(align(64))]
pub struct Slot {
    token: AtomicBool,
    /// The owner's waker. A task has the same waker for life, so it is stored once.
    waker: OnceLock<Waker>,
}

/// A handle of a cell.
#[derive(Clone, Default)]
pub struct Cell(Arc<Slot>);

impl Parker for Cell {
    type Unparker = Arc<Slot>;

    #[inline]
    fn attach(&self) -> impl Future<Output = ()> + Send {
        future::poll_fn(|cx| {
            self.0.waker.get_or_init(|| cx.waker().clone());
            Poll::Ready(())
        })
    }

    #[inline]
    fn park(&self) -> impl Future<Output = ()> + Send {
        Park(&self.0)
    }

    #[inline]
    fn unparker(&self) -> Arc<Slot> {
        assert!(self.0.waker.get().is_some(), "the cell is attached before it is used");
        self.0.clone()
    }

    #[inline]
    fn unpark(slot: &Arc<Slot>) {
        slot.post();
    }
}

impl Slot {
    #[inline]
    fn post(&self) {
        self.token.store(true, Ordering::Release);
        if let Some(waker) = self.waker.get() {
            waker.wake_by_ref();
        }
    }
}

struct Park<'a>(&'a Slot);

impl Future for Park<'_> {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Park(slot) = *self;
        debug_assert!(slot.waker.get().is_some_and(|kept| kept.will_wake(cx.waker())));
        // The load spares a swap where there is no token; the poll that follows a post sees it.
        if slot.token.load(Ordering::Relaxed) && slot.token.swap(false, Ordering::AcqRel) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
