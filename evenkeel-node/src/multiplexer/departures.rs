//! The queue of frames to the host, and the buffers that come back from it.
//!
//! # Protocol
//! Lanes push under the lock; the host takes all under the lock, and when there is nothing it
//! leaves its waker under the same hold of it. A sender that pushes takes the waker out and wakes,
//! after the lock. So a push comes before the host's look, which sees it, or after, and wakes.

use super::super::NodeId;
use super::packer::Sealed;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// As many buffers are kept to be used again. An estimate: a few lanes to a few nodes; no benchmark
/// sets it.
const SPARE: usize = 64;

/// A frame for a node.
#[derive(Debug)]
pub(crate) struct Departure {
    pub(crate) to: NodeId,
    pub(crate) sealed: Sealed,
    /// Whether its bytes count as waiting for the transport.
    pub(crate) is_queued: bool,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Departures {
    state: Mutex<State>,
    /// Whether there is anything for the host, for a look without the lock. Set under it, and
    /// cleared by the host alone, under it.
    any: AtomicBool,
    /// How much room a new buffer has.
    room: usize,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Departure>,
    spare: Vec<Vec<u8>>,
    host: Option<Waker>,
    is_closed: bool,
}

impl Departures {
    /// For frames of `frame` bytes. A buffer has room for one message more, of usual length.
    pub(crate) fn new(frame: usize) -> Self {
        Self { state: Mutex::default(), any: AtomicBool::new(false), room: frame + frame / 8 }
    }

    /// Each critical section leaves the state whole, since none runs a caller's code.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A buffer, used before or new.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        let spare = self.lock().spare.pop();
        spare.unwrap_or_else(|| Vec::with_capacity(self.room))
    }

    /// Whether a buffer is worth keeping: not one that is much longer than a frame, or has no
    /// memory.
    pub(crate) fn is_of_use(&self, buffer: &Vec<u8>) -> bool {
        (self.room / 2..=self.room * 4).contains(&buffer.capacity())
    }

    /// Takes back a buffer. One that is of no use is dropped.
    pub(crate) fn give_back(&self, mut buffer: Vec<u8>) {
        if !self.is_of_use(&buffer) {
            return;
        }
        buffer.clear();
        let mut state = self.lock();
        if state.spare.len() < SPARE {
            state.spare.push(buffer);
        }
    }

    /// Hands a frame to the host. The caller wakes whom it gets once it holds no lock.
    #[must_use]
    pub(crate) fn push(&self, departure: Departure) -> Option<Waker> {
        let mut state = self.lock();
        state.queue.push_back(departure);
        self.any.store(true, Ordering::Relaxed);
        state.host.take()
    }

    /// Moves all frames to the end of `into`. Says whether there will be no more.
    pub(crate) fn take(&self, into: &mut VecDeque<Departure>) -> bool {
        if !self.any.load(Ordering::Relaxed) {
            // What is pushed meanwhile is seen at the next look; before the host waits it looks
            // under the lock.
            return false;
        }
        let mut state = self.lock();
        into.append(&mut state.queue);
        self.any.store(state.is_closed, Ordering::Relaxed);
        state.is_closed
    }

    /// Leaves the host's waker, unless there is something for it: then false.
    pub(crate) fn park(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        let parks = state.queue.is_empty() && !state.is_closed;
        state.host = parks.then(|| waker.clone());
        parks
    }

    /// Ends the host's wait.
    pub(crate) fn wake_host(&self) {
        let host = self.lock().host.take();
        host.into_iter().for_each(Waker::wake);
    }

    /// There will be no more frames.
    pub(crate) fn close(&self) {
        let host = {
            let mut state = self.lock();
            state.is_closed = true;
            self.any.store(true, Ordering::Relaxed);
            state.host.take()
        };
        host.into_iter().for_each(Waker::wake);
    }
}
