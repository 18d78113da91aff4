//! What all lanes know of one node: whether it can be sent to, how much waits for it, who waits for room.
//!
//! # Waiting for room
//! `queued` counts the bytes of frames that lanes have handed over and the transport has not taken. Lanes add to it, the host subtracts under the lock
//! of `waiters`. Whoever wants to wait looks under the same lock: either there is room, or the subtraction that makes room comes later and
//! finds the waiter. A waiter is left when at least `most` bytes are queued, and it *holds* the gate: from then on nobody finds room, so that those who
//! do not wait cannot keep the queue above the half for ever, at which all waiters are woken and the hold ends. Every frame is taken by the transport or
//! dropped with its node, so that comes. Those who are woken are in no order; one that finds no room waits again.

use super::super::NodeId;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

const OPEN: u8 = 0;
const DOWN: u8 = 1;
const LEAVING: u8 = 2;

/// Why a gate is shut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shut {
    Down,
    Leaving,
}

/// What has gone to a node and come from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Frames that have left for it.
    pub frames_out: u64,
    /// The messages in them. Divided by the frames: the packing ratio.
    pub messages_out: u64,
    /// Their bytes.
    pub bytes_out: u64,
    /// Frames that have come from it.
    pub frames_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Messages for it that were lost with it, of those that were put in.
    pub messages_lost: u64,
}

/// The gate to a node.
#[derive(Debug)]
pub(crate) struct Gate {
    node: NodeId,
    most: usize,
    state: AtomicU8,
    queued: AtomicUsize,
    /// Whether somebody waits for the queue to become half as long. Changed under the lock of `waiters`.
    held: AtomicBool,
    waiters: Mutex<Waiters>,
    frames_out: AtomicU64,
    messages_out: AtomicU64,
    bytes_out: AtomicU64,
    frames_in: AtomicU64,
    bytes_in: AtomicU64,
    messages_lost: AtomicU64,
}

/// Who waits for room, the first first.
#[derive(Debug, Default)]
struct Waiters {
    next: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl Gate {
    pub(crate) fn new(node: NodeId, most: usize) -> Self {
        Self {
            node,
            most,
            state: AtomicU8::new(OPEN),
            queued: AtomicUsize::new(0),
            held: AtomicBool::new(false),
            waiters: Mutex::default(),
            frames_out: AtomicU64::new(0),
            messages_out: AtomicU64::new(0),
            bytes_out: AtomicU64::new(0),
            frames_in: AtomicU64::new(0),
            bytes_in: AtomicU64::new(0),
            messages_lost: AtomicU64::new(0),
        }
    }

    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    /// How many bytes may be queued.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Bytes that lanes have handed over and the transport has not taken.
    pub(crate) fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// Whether it is shut. To be asked under the lock of a lane; [`shut`](Self::shut) says why.
    #[inline]
    pub(crate) fn is_shut(&self) -> Option<Shut> {
        match self.state.load(Ordering::Relaxed) {
            OPEN => None,
            DOWN => Some(Shut::Down),
            _ => Some(Shut::Leaving),
        }
    }

    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.queued.load(Ordering::Relaxed) < self.most && !self.held.load(Ordering::Relaxed)
    }

    /// Shuts it. Whoever does so takes the lock of each lane afterwards and clears it of the node: a message that is put in before that is cleared, and whoever
    /// takes the lock after that sees the gate shut.
    pub(crate) fn shut(&self, why: Shut) {
        let state = match why {
            Shut::Down => DOWN,
            Shut::Leaving => LEAVING,
        };
        // A node that leaves stays so: what is down may come up again, and must then not be sent to.
        let shut = |old| (old != LEAVING).then_some(state);
        let _ = self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, shut);
        self.wake_all();
    }

    /// Opens it: the node is up, perhaps again.
    pub(crate) fn open(&self) {
        // A node that leaves itself opens nothing.
        let _ = self.state.compare_exchange(DOWN, OPEN, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// A frame is handed over.
    pub(crate) fn departs(&self, bytes: usize, messages: u32) {
        self.queued.fetch_add(bytes, Ordering::Relaxed);
        self.frames_out.fetch_add(1, Ordering::Relaxed);
        self.messages_out.fetch_add(messages.into(), Ordering::Relaxed);
        self.bytes_out.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// The transport has taken a frame, or it was dropped.
    pub(crate) fn taken(&self, bytes: usize) {
        let woken = {
            let mut waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
            let queued = self.queued.fetch_sub(bytes, Ordering::Relaxed) - bytes;
            if queued > self.most / 2 {
                return;
            }
            self.held.store(false, Ordering::Relaxed);
            std::mem::take(&mut waiters.wakers)
        };
        woken.into_values().for_each(Waker::wake);
    }

    pub(crate) fn arrived(&self, bytes: usize) {
        self.frames_in.fetch_add(1, Ordering::Relaxed);
        self.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn lost(&self, messages: u64) {
        self.messages_lost.fetch_add(messages, Ordering::Relaxed);
    }

    /// Whether there is room, or nothing to wait for; else leaves the waker under the number in `place`.
    pub(crate) fn has_room_or_wait(&self, place: &mut Option<u64>, waker: &Waker) -> bool {
        let mut waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        if self.has_room() || self.is_shut().is_some() {
            return true;
        }
        let number = *place.get_or_insert_with(|| {
            waiters.next += 1;
            waiters.next
        });
        waiters.wakers.insert(number, waker.clone());
        self.held.store(true, Ordering::Relaxed);
        false
    }

    /// Somebody no longer waits.
    pub(crate) fn forget(&self, place: u64) {
        let mut waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        waiters.wakers.remove(&place);
    }

    fn wake_all(&self) {
        let woken = {
            let mut waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut waiters.wakers)
        };
        woken.into_values().for_each(Waker::wake);
    }

    pub(crate) fn traffic(&self) -> Traffic {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Traffic {
            frames_out: read(&self.frames_out),
            messages_out: read(&self.messages_out),
            bytes_out: read(&self.bytes_out),
            frames_in: read(&self.frames_in),
            bytes_in: read(&self.bytes_in),
            messages_lost: read(&self.messages_lost),
        }
    }
}
