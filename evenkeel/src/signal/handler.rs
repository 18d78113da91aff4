//! The handlers of signals, and what they do.

#![allow(unsafe_code, reason = "a handler interrupts any code, and must be safe inside of all")]

use super::kind::NUMBERS;
use crate::primitives::atomic::{AtomicUsize, Ordering};
use std::ffi::c_int;
use std::io::{Error, Result};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// How often a kind of signal has come.
#[derive(Debug)]
pub(super) struct Count(AtomicUsize);

impl Count {
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    pub(super) fn load(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// What handlers reach: the counts of all kinds, and their end of the pipe.
#[derive(Debug)]
pub(super) struct Handlers {
    counts: [Count; NUMBERS],
    /// Does not block.
    pipe: UnixStream,
}

impl Handlers {
    /// Makes the part of the hub that handlers reach.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn new(pipe: UnixStream) -> Result<Self> {
        pipe.set_nonblocking(true)?;
        Ok(Self { counts: std::array::from_fn(|_| Count::new()), pipe })
    }

    /// Returns the count of the kind with this index.
    pub(super) fn count(&self, index: usize) -> &Count {
        &self.counts[index]
    }

    /// Installs the handler of a kind for the rest of the process, after those that are there.
    ///
    /// # Errors
    /// Fails if the system has no such signal, or keeps it for itself.
    pub(super) fn install(self: &Arc<Self>, index: usize) -> Result<()> {
        let own = self.clone();
        // SAFETY: the handler adds to an atomic and writes to a descriptor that does not block.
        // Both may be done inside of any code that a signal interrupts: they take no lock, allocate
        // nothing and do not panic. The registry restores the error number of that code, and drops
        // nothing in the handler.
        let installed =
            unsafe { signal_hook_registry::register(index as c_int, move || own.arrive(index)) };
        match installed {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::new(
                error.kind(),
                format!("the system lets no program handle signal {index}: {error}"),
            )),
        }
    }

    /// Counts an arrival, and calls the teller.
    fn arrive(&self, index: usize) {
        let Some(count) = self.counts.get(index) else { return };
        count.add();
        // One call of the system. It fails if the pipe is full: then the teller has yet to read.
        let _ = rustix::io::write(&self.pipe, &[0]);
    }
}
