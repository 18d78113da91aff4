//! The buffers of one lane, one for each node, under one lock.

use super::super::policy::Packing;
use super::departures::{Departure, Departures};
use super::gate::{Gate, Shut};
use super::packer::{Appended, Packer};
use super::{PutError, Wakes};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// A lane.
#[derive(Debug)]
pub(crate) struct Lane {
    number: u16,
    /// Whether a node's buffer has messages, for a look without the lock. Changed under the lock.
    /// May be true for longer: until the next flush.
    any: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By the nodes' numbers.
    packers: Vec<Entry>,
    /// The nodes with messages in their buffers, and perhaps others, each once.
    dirty: Vec<u32>,
    /// The waker of the flusher; none while the flusher is woken.
    flusher: Option<Waker>,
    is_closed: bool,
    /// The epoch of [trails](super::trail) that are laid here.
    epoch: u64,
}

#[derive(Debug)]
struct Entry {
    packer: Packer,
    gate: Arc<Gate>,
    is_dirty: bool,
}

impl Lane {
    pub(crate) fn new(number: u16, gates: &[Arc<Gate>]) -> Self {
        let entry = |gate: &Arc<Gate>| Entry {
            packer: Packer::new(number),
            gate: Arc::clone(gate),
            is_dirty: false,
        };
        let packers = gates.iter().map(entry).collect();
        Self {
            number,
            any: AtomicBool::new(false),
            state: Mutex::new(State { packers, ..State::default() }),
        }
    }

    /// The only caller's code that runs under the lock is a message's writer. If it panics, half a
    /// record is left at the end of a buffer, and the packer discards it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts in a message for the node of `gate`, and returns the epoch in which it did.
    #[inline]
    pub(crate) fn put<E>(
        &self,
        gate: &Gate,
        packing: &Packing,
        departures: &Departures,
        now: impl FnOnce() -> u64,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(Wakes, u64), PutError<E>> {
        let mut state = self.lock();
        match gate.is_shut() {
            None => {}
            Some(Shut::Down) => return Err(PutError::Down),
            Some(Shut::Leaving) => return Err(PutError::Leaving),
        }
        let state = &mut *state;
        let node = gate.node().number();
        let entry = &mut state.packers[node as usize];
        if entry.packer.is_bare() {
            entry.packer.refill(departures.buffer());
        }
        let mut wakes = Wakes::default();
        match entry.packer.append(packing, now, write)? {
            Appended::Joined => {}
            Appended::First => {
                if !std::mem::replace(&mut entry.is_dirty, true) {
                    state.dirty.push(node);
                }
                self.any.store(true, Ordering::Relaxed);
                wakes.flusher = state.flusher.take();
            }
            Appended::Leaves => wakes.host = depart(entry, departures),
        }
        Ok((wakes, state.epoch))
    }

    /// Takes the lane's messages for the host, as far as its thread sees them without the lock: its
    /// own, and those that other threads have put in some time ago. Frames that were handed over
    /// before go first.
    #[inline]
    pub(crate) fn take(
        &self,
        departures: &Departures,
        spare: &mut Vec<Vec<u8>>,
        into: &mut VecDeque<Departure>,
    ) {
        if !self.has_any() {
            return;
        }
        let mut state = self.lock();
        let state = &mut *state;
        self.any.store(false, Ordering::Relaxed);
        // Under the lock, so that the host sees all handed-over frames of this lane.
        departures.take(into);
        for node in state.dirty.drain(..) {
            let entry = &mut state.packers[node as usize];
            entry.is_dirty = false;
            if !entry.packer.is_empty() {
                let fresh = spare.pop().unwrap_or_else(|| departures.buffer());
                let sealed = entry.packer.seal(fresh);
                entry.gate.departs_at_once(sealed.frame.len(), sealed.messages);
                into.push_back(Departure { to: entry.gate.node(), sealed, is_queued: false });
            }
        }
    }

    /// Sends all messages. When this returns, all that were put in before are with the host,
    /// whichever thread handed them over.
    pub(crate) fn flush(&self, departures: &Departures) -> Wakes {
        self.flush_all(&mut self.lock(), departures)
    }

    /// Sends the messages for one node. The node may stay in the dirty list, and the flusher then
    /// finds nothing for it.
    pub(crate) fn flush_to(&self, gate: &Gate, departures: &Departures) -> Wakes {
        let mut state = self.lock();
        let entry = &mut state.packers[gate.node().number() as usize];
        let host = if entry.packer.is_empty() { None } else { depart(entry, departures) };
        Wakes { flusher: None, host }
    }

    /// Sends the messages for all nodes, and begins an epoch.
    pub(crate) fn begin_epoch(&self, epoch: u64, departures: &Departures) -> Wakes {
        let mut state = self.lock();
        state.epoch = epoch;
        self.flush_all(&mut state, departures)
    }

    /// Sends all messages, and leaves the waker of the flusher. Returns whether the lane is closed.
    pub(crate) fn flush_as(&self, flusher: &Waker, departures: &Departures) -> (Wakes, bool) {
        let mut state = self.lock();
        let wakes = self.flush_all(&mut state, departures);
        state.flusher = (!state.is_closed).then(|| flusher.clone());
        (wakes, state.is_closed)
    }

    /// Sends all messages if the lock is free and one of them has waited for `cap`.
    pub(crate) fn flush_old(&self, now: u64, cap: u64, departures: &Departures) -> Wakes {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => return Wakes::default(),
        };
        let state = &mut *state;
        let packers = &state.packers;
        let is_old = |&node: &u32| packers[node as usize].packer.age(now) >= cap;
        if state.dirty.iter().any(is_old) {
            self.flush_all(state, departures)
        } else {
            Wakes::default()
        }
    }

    /// Makes each node read the lane's next frame after all frames that have left before.
    pub(crate) fn fence(&self) {
        self.lock().packers.iter_mut().for_each(|entry| entry.packer.fence());
    }

    /// Makes one node read the lane's next frame after all frames that have left for it before.
    pub(crate) fn fence_to(&self, gate: &Gate) {
        self.lock().packers[gate.node().number() as usize].packer.fence();
    }

    /// Drops the messages for a node with a shut gate, and returns their number.
    pub(crate) fn discard(&self, gate: &Gate) -> u64 {
        self.lock().packers[gate.node().number() as usize].packer.discard().into()
    }

    /// Sends all messages and ends the flusher. The gates are already shut.
    pub(crate) fn close(&self, departures: &Departures) -> Wakes {
        let mut state = self.lock();
        state.is_closed = true;
        let mut wakes = self.flush_all(&mut state, departures);
        wakes.flusher = state.flusher.take();
        wakes
    }

    pub(crate) fn number(&self) -> u16 {
        self.number
    }

    /// Returns whether messages wait here, as far as this thread sees without the lock.
    #[inline]
    pub(crate) fn has_any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Returns the bytes of the lane's buffers, with those in use.
    #[cfg(test)]
    pub(crate) fn memory(&self) -> usize {
        self.lock().packers.iter().map(|entry| entry.packer.memory()).sum()
    }

    fn flush_all(&self, state: &mut State, departures: &Departures) -> Wakes {
        self.any.store(false, Ordering::Relaxed);
        let mut wakes = Wakes::default();
        for node in state.dirty.drain(..) {
            let entry = &mut state.packers[node as usize];
            entry.is_dirty = false;
            if !entry.packer.is_empty() {
                // The host parks at most once between two of these.
                wakes.host = depart(entry, departures).or(wakes.host);
            }
        }
        wakes
    }
}

/// Hands a buffer over. The next message brings a new one: otherwise each lane would keep one for
/// each node that it has ever sent to.
fn depart(entry: &mut Entry, departures: &Departures) -> Option<Waker> {
    let sealed = entry.packer.seal(Vec::new());
    entry.gate.departs(sealed.frame.len(), sealed.messages);
    departures.push(Departure { to: entry.gate.node(), sealed, is_queued: true })
}
