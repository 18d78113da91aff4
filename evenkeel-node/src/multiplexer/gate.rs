//! The state of one node that all lanes share: whether it can be sent to, how many bytes wait for
//! it, which senders wait for room.
//!
//! # Waiting for room
//! `queued` counts the bytes of frames that lanes have handed over and the transport has not
//! accepted. A frame that the host takes from a lane itself counts if the transport refuses it. The
//! host subtracts under the lock of `waiters`. A sender that wants to wait looks under the same
//! lock: either there is room, or the subtraction that makes room comes later and finds the waiter.
//!
//! A waiter comes when at least `most` bytes are queued, and it *holds* the gate: from then on no
//! sender finds room. Without the hold, senders that do not wait could keep the queue above half of
//! `most` for ever. At that half all waiters are woken and the hold ends. The transport accepts
//! every frame or drops it with its node, so the half is reached. Woken senders are in no order;
//! one that finds no room waits again.

use super::super::NodeId;
use evenkeel::internal::{WakerPlace, Wakers, wake_all};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

const OPEN: u8 = 0;
const DOWN: u8 = 1;
const LEAVING: u8 = 2;

/// Why a gate is shut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shut {
    Down,
    Leaving,
}

/// The traffic to and from a node.
///
/// # Examples
/// See [`Multiplexer`](super::Multiplexer).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Frames that have left for the node.
    pub frames_out: u64,
    /// The messages in them. Divided by the frames: the packing ratio.
    pub messages_out: u64,
    /// The bytes in those frames.
    pub bytes_out: u64,
    /// Frames that have come from the node.
    pub frames_in: u64,
    /// The bytes in those frames.
    pub bytes_in: u64,
    /// Messages that were put in for the node and lost with it.
    pub messages_lost: u64,
}

/// The gate to a node.
#[derive(Debug)]
pub(crate) struct Gate {
    node: NodeId,
    most: usize,
    state: AtomicU8,
    /// Whether the node is down or was shut out: `state` says so until this node leaves.
    is_down: AtomicBool,
    queued: AtomicUsize,
    /// Whether a sender waits for the queue to become half as long. Changed under the lock of
    /// `waiters`.
    held: AtomicBool,
    /// The senders that wait for room.
    waiters: Mutex<Wakers>,
    /// Counts frames that lanes have handed over to the host.
    out: Tally,
    /// Counts frames that the host has taken from lanes itself.
    taken_out: Tally,
    into: Tally,
    messages_lost: AtomicU64,
}

/// Counts of frames, their messages and bytes.
#[derive(Debug, Default)]
struct Tally {
    frames: AtomicU64,
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl Tally {
    fn add(&self, bytes: usize, messages: u32) {
        self.frames.fetch_add(1, Ordering::Relaxed);
        self.messages.fetch_add(messages.into(), Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Does the same for a tally to which only one thread adds: without locked instructions, which
    /// would be a tenth of the host's cost of a frame.
    fn add_alone(&self, bytes: usize, messages: u32) {
        let add = |counter: &AtomicU64, more: u64| {
            counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        };
        add(&self.frames, 1);
        add(&self.messages, messages.into());
        add(&self.bytes, bytes as u64);
    }

    fn read(&self) -> (u64, u64, u64) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (read(&self.frames), read(&self.messages), read(&self.bytes))
    }
}

impl Gate {
    pub(crate) fn new(node: NodeId, most: usize) -> Self {
        Self {
            node,
            most,
            state: AtomicU8::new(OPEN),
            is_down: AtomicBool::new(false),
            queued: AtomicUsize::new(0),
            held: AtomicBool::new(false),
            waiters: Mutex::default(),
            out: Tally::default(),
            taken_out: Tally::default(),
            into: Tally::default(),
            messages_lost: AtomicU64::new(0),
        }
    }

    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    /// Returns how many bytes may be queued.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Returns the bytes that lanes have handed over and the transport has not accepted.
    pub(crate) fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// Returns whether and why the gate is shut. Callers hold the lock of a lane, for the reason in
    /// [`shut`](Self::shut).
    #[inline]
    pub(crate) fn is_shut(&self) -> Option<Shut> {
        match self.state.load(Ordering::Relaxed) {
            OPEN => None,
            DOWN => Some(Shut::Down),
            _ => Some(Shut::Leaving),
        }
    }

    /// Returns whether the node is down or was shut out, also if this node leaves.
    pub(crate) fn is_down(&self) -> bool {
        self.is_down.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.queued.load(Ordering::Relaxed) < self.most && !self.held.load(Ordering::Relaxed)
    }

    /// Shuts the gate. The caller takes the lock of each lane afterwards and clears the lane of the
    /// node. A message that is put in before is cleared, and a thread that takes the lock
    /// afterwards sees the gate shut. A gate is never opened again: a node that was shut out stays
    /// so, even if the transport reports it up.
    pub(crate) fn shut(&self, why: Shut) {
        let state = match why {
            Shut::Down => DOWN,
            Shut::Leaving => LEAVING,
        };
        if why == Shut::Down {
            self.is_down.store(true, Ordering::Relaxed);
        }
        // That this node leaves outranks that the other is down.
        let shut = |old| (old != LEAVING).then_some(state);
        let _ = self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, shut);
        self.wake_all();
    }

    /// Counts a frame that a lane hands over.
    pub(crate) fn departs(&self, bytes: usize, messages: u32) {
        self.queues(bytes);
        self.out.add(bytes, messages);
    }

    /// Counts a frame that the host has taken from a lane itself. It does not wait yet: the host is
    /// about to try to send it.
    pub(crate) fn departs_at_once(&self, bytes: usize, messages: u32) {
        self.taken_out.add_alone(bytes, messages);
    }

    /// Counts a frame that waits for the transport.
    pub(crate) fn queues(&self, bytes: usize) {
        self.queued.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a waiting frame that the transport has accepted, or that was dropped.
    pub(crate) fn taken(&self, bytes: usize) {
        let woken = {
            let mut waiters = self.lock();
            let queued = self.queued.fetch_sub(bytes, Ordering::Relaxed) - bytes;
            if queued > self.most / 2 {
                return;
            }
            self.held.store(false, Ordering::Relaxed);
            waiters.take_all()
        };
        wake_all(woken);
    }

    /// Counts a frame that the host has received.
    pub(crate) fn arrived(&self, bytes: usize) {
        self.into.add_alone(bytes, 0);
    }

    pub(crate) fn lost(&self, messages: u64) {
        self.messages_lost.fetch_add(messages, Ordering::Relaxed);
    }

    /// Waits until there is room, or nothing to wait for.
    ///
    /// # Cancel safety
    /// Dropping the future forgets the wait.
    pub(crate) async fn room(&self) {
        struct Wait<'a>(&'a Gate, Option<WakerPlace>);
        impl Drop for Wait<'_> {
            fn drop(&mut self) {
                if self.1.is_some() {
                    let left = self.0.lock().take(&mut self.1);
                    drop(left);
                }
            }
        }
        let mut wait = Wait(self, None);
        poll_fn(|context| {
            // The clone and the drop of a waker are a caller's code: outside of the lock.
            let waker = context.waker().clone();
            let mut waiters = self.lock();
            if self.has_room() || self.is_shut().is_some() {
                return Poll::Ready(());
            }
            let before = waiters.leave(&mut wait.1, waker);
            self.held.store(true, Ordering::Relaxed);
            drop(waiters);
            drop(before);
            Poll::Pending
        })
        .await;
    }

    fn wake_all(&self) {
        let woken = self.lock().take_all();
        wake_all(woken);
    }

    fn lock(&self) -> MutexGuard<'_, Wakers> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn traffic(&self) -> Traffic {
        let (out, taken, into) = (self.out.read(), self.taken_out.read(), self.into.read());
        Traffic {
            frames_out: out.0 + taken.0,
            messages_out: out.1 + taken.1,
            bytes_out: out.2 + taken.2,
            frames_in: into.0,
            bytes_in: into.2,
            messages_lost: self.messages_lost.load(Ordering::Relaxed),
        }
    }
}
