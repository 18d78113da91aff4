//! The queue of frames to the host, and the buffers that it returns.
//!
//! # Protocol
//! Lanes push under the lock. The host takes all frames under the lock; if there are none, it
//! leaves its waker in the same hold. A sender that pushes takes the waker out, and calls it after
//! the lock. So a push comes before the host's look, which sees it, or after it, and wakes the
//! host.

use super::super::NodeId;
use super::packer::Sealed;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The most buffers that are kept for reuse. An estimate: a few lanes to a few nodes; no benchmark
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
    /// Whether there is anything for the host, for a look without the lock. Set under the lock, and
    /// cleared under it by the host alone.
    any: AtomicBool,
    /// The capacity of a new buffer.
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
    /// Creates a queue for frames of `frame` bytes. A buffer has room for one more message of usual
    /// length.
    pub(crate) fn new(frame: usize) -> Self {
        Self { state: Mutex::default(), any: AtomicBool::new(false), room: frame + frame / 8 }
    }

    /// No critical section runs a caller's code, so each leaves the state whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a buffer, reused or new.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        let spare = self.lock().spare.pop();
        spare.unwrap_or_else(|| Vec::with_capacity(self.room))
    }

    /// Returns whether a buffer is worth keeping: it has memory, and is not much longer than a
    /// frame.
    pub(crate) fn is_of_use(&self, buffer: &Vec<u8>) -> bool {
        (self.room / 2..=self.room * 4).contains(&buffer.capacity())
    }

    /// Takes back a buffer, and drops it if it is of no use, or if no more frames follow.
    pub(crate) fn give_back(&self, mut buffer: Vec<u8>) {
        if !self.is_of_use(&buffer) {
            return;
        }
        buffer.clear();
        let mut state = self.lock();
        if state.spare.len() < SPARE && !state.is_closed {
            state.spare.push(buffer);
        }
    }

    /// Hands a frame to the host. Returns the waker that the caller calls once it holds no lock.
    #[must_use]
    pub(crate) fn push(&self, departure: Departure) -> Option<Waker> {
        let mut state = self.lock();
        state.queue.push_back(departure);
        self.any.store(true, Ordering::Relaxed);
        state.host.take()
    }

    /// Moves all frames to the end of `into`. Returns whether they are the last.
    pub(crate) fn take(&self, into: &mut VecDeque<Departure>) -> bool {
        if !self.any.load(Ordering::Relaxed) {
            // A frame that is pushed meanwhile is seen at the next look; before the host waits it
            // looks under the lock.
            return false;
        }
        let mut state = self.lock();
        into.append(&mut state.queue);
        self.any.store(state.is_closed, Ordering::Relaxed);
        state.is_closed
    }

    /// Leaves the host's waker and returns true, or returns false if there is something for the
    /// host.
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

    /// Notes that no more frames follow, and drops the buffers for them: a multiplexer may outlive
    /// its host for long.
    pub(crate) fn close(&self) {
        let (host, _spare) = {
            let mut state = self.lock();
            state.is_closed = true;
            self.any.store(true, Ordering::Relaxed);
            (state.host.take(), std::mem::take(&mut state.spare))
        };
        host.into_iter().for_each(Waker::wake);
    }
}
