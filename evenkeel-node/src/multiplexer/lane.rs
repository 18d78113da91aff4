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
    /// Whether a node's buffer has something in it, for a look without the lock. Changed under it.
    any: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By the nodes' numbers.
    packers: Vec<Entry>,
    /// The nodes whose buffers have something in them, and perhaps others, each once.
    dirty: Vec<u32>,
    /// Who sends what is there; not there while it is on its way.
    flusher: Option<Waker>,
    is_closed: bool,
    /// Which [trails](super::trail) were laid since it began.
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

    /// The only caller's code that runs under the lock is a message's writer. If it panics there is
    /// half a record at the end of a buffer, which the packer takes back.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a message for the node of `gate` in, and says in which epoch that was.
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

    /// The host takes what is there, as far as its thread can see without the lock: what it has put
    /// in itself, and what others have some time ago. What was handed over before goes before it.
    #[inline]
    pub(crate) fn take(
        &self,
        departures: &Departures,
        spare: &mut Vec<Vec<u8>>,
        into: &mut VecDeque<Departure>,
    ) {
        if !self.any.load(Ordering::Relaxed) {
            return;
        }
        let mut state = self.lock();
        let state = &mut *state;
        self.any.store(false, Ordering::Relaxed);
        // Under the lock, so that all frames of this lane are seen that were handed over.
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

    /// Sends what is there. When it returns, all that was put in before is with the host, whoever
    /// took it there.
    pub(crate) fn flush(&self, departures: &Departures) -> Wakes {
        flush(&mut self.lock(), departures)
    }

    /// Sends what is there for one node. It may stay among those that have something, and the
    /// flusher, which then finds nothing of it.
    pub(crate) fn flush_to(&self, gate: &Gate, departures: &Departures) -> Wakes {
        let mut state = self.lock();
        let entry = &mut state.packers[gate.node().number() as usize];
        let host = if entry.packer.is_empty() { None } else { depart(entry, departures) };
        Wakes { flusher: None, host }
    }

    /// The same, to all nodes, and an epoch begins.
    pub(crate) fn begin_epoch(&self, epoch: u64, departures: &Departures) -> Wakes {
        let mut state = self.lock();
        state.epoch = epoch;
        flush(&mut state, departures)
    }

    /// The same as the lane's flusher: leaves its waker. Says whether the lane is closed.
    pub(crate) fn flush_as(&self, flusher: &Waker, departures: &Departures) -> (Wakes, bool) {
        let mut state = self.lock();
        let wakes = flush(&mut state, departures);
        state.flusher = (!state.is_closed).then(|| flusher.clone());
        (wakes, state.is_closed)
    }

    /// Sends what is there if nobody has the lane now and some of it has waited for `cap`.
    pub(crate) fn flush_old(&self, now: u64, cap: u64, departures: &Departures) -> Wakes {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => return Wakes::default(),
        };
        let state = &mut *state;
        let packers = &state.packers;
        let is_old = |&node: &u32| packers[node as usize].packer.age(now) >= cap;
        if state.dirty.iter().any(is_old) { flush(state, departures) } else { Wakes::default() }
    }

    /// The next frame of the lane to each node is read after all that have left before.
    pub(crate) fn fence(&self) {
        self.lock().packers.iter_mut().for_each(|entry| entry.packer.fence());
    }

    /// The next frame of the lane to one node is read after all that have left for it before.
    pub(crate) fn fence_to(&self, gate: &Gate) {
        self.lock().packers[gate.node().number() as usize].packer.fence();
    }

    /// Drops what is there for a node whose gate is shut, and says how many messages that were.
    pub(crate) fn discard(&self, gate: &Gate) -> u64 {
        self.lock().packers[gate.node().number() as usize].packer.discard().into()
    }

    /// Sends what is there and ends the flusher. The gates are shut.
    pub(crate) fn close(&self, departures: &Departures) -> Wakes {
        let mut state = self.lock();
        state.is_closed = true;
        let mut wakes = flush(&mut state, departures);
        wakes.flusher = state.flusher.take();
        wakes
    }

    pub(crate) fn number(&self) -> u16 {
        self.number
    }
}

fn flush(state: &mut State, departures: &Departures) -> Wakes {
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

fn depart(entry: &mut Entry, departures: &Departures) -> Option<Waker> {
    let sealed = entry.packer.seal(departures.buffer());
    entry.gate.departs(sealed.frame.len(), sealed.messages);
    departures.push(Departure { to: entry.gate.node(), sealed, is_queued: true })
}
