//! What handlers, the teller and listeners share. See [`hub`](super::hub) for the protocol.

use super::count::Count;
use super::pipe::{Reader, Writer};
use super::waiters::{Seen, Waiters};
use std::io::Result;
use std::mem;
use std::task::{Poll, Waker};

/// The counts of `KINDS` kinds, what waits for them, and the handlers' end of the pipe.
#[derive(Debug)]
pub(super) struct Post<const KINDS: usize> {
    counts: [Count; KINDS],
    waiters: [Waiters; KINDS],
    pipe: Writer,
}

impl<const KINDS: usize> Post<KINDS> {
    pub(super) fn new(pipe: Writer) -> Self {
        Self {
            counts: std::array::from_fn(|_| Count::new()),
            waiters: std::array::from_fn(|_| Waiters::new()),
            pipe,
        }
    }

    /// Counts an arrival, and calls the teller. The work of a handler: it takes no lock, allocates
    /// nothing and does not panic.
    pub(super) fn arrive(&self, index: usize) {
        let Some(count) = self.counts.get(index) else { return };
        count.add();
        self.pipe.write();
    }

    /// Makes sure that a kind is handled, and returns what a new listener has seen.
    ///
    /// # Errors
    /// Those of `install`, which installs the handler if it is not there.
    pub(super) fn listen(
        &self,
        index: usize,
        install: impl FnOnce() -> Result<()>,
    ) -> Result<Seen> {
        self.waiters[index].handle(install)?;
        Ok(Seen::new(&self.counts[index]))
    }

    /// Returns whether a signal has come since, or leaves the waker.
    pub(super) fn poll(&self, index: usize, seen: &mut Seen, waker: &Waker) -> Poll<()> {
        self.waiters[index].poll(&self.counts[index], seen, waker)
    }

    /// Takes the waker of a listener that waits no more.
    pub(super) fn leave(&self, index: usize, seen: &mut Seen) {
        self.waiters[index].leave(seen);
    }

    /// Wakes listeners for as long as the pipe is open. The work of the teller.
    pub(super) fn tell(&self, mut reader: Reader) {
        let mut told = [0; KINDS];
        while reader.read() {
            for (index, told) in told.iter_mut().enumerate() {
                let count = self.counts[index].load();
                if mem::replace(told, count) != count {
                    self.waiters[index].wake();
                }
            }
        }
    }

    /// Ends the teller of a model.
    #[cfg(loom)]
    pub(super) fn close(&self) {
        self.pipe.close();
    }
}
