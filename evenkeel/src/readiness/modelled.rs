//! The operating system, for the models: it tells each change once, and the present state to a set
//! into which a socket is entered; it keeps what it has to tell, and an interrupt, until a look.
//! With each change it tells that a socket is closed, if it is.

use super::source::{self, Done};
use crate::primitives::atomic::{AtomicBool, Ordering};
use crate::primitives::{Condvar, Mutex, lock};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

pub(crate) type Socket<'a> = &'a Pipe;

/// A socket that is ready to be read, or not, as the model says.
#[derive(Debug)]
pub(crate) struct Pipe {
    /// Not under the lock: what an operation knows of the system it knows from the note.
    is_ready: AtomicBool,
    is_closed: AtomicBool,
    /// The sets that it is in, and its numbers there.
    sets: Mutex<Vec<(System, usize)>>,
}

impl Pipe {
    pub(crate) fn new() -> Self {
        let sets = Mutex::new(Vec::new());
        Self { is_ready: AtomicBool::new(false), is_closed: AtomicBool::new(false), sets }
    }

    /// The peer writes.
    pub(crate) fn write(&self) {
        let sets = lock(&self.sets);
        self.is_ready.store(true, Ordering::Relaxed);
        self.tell(&sets, source::READ);
    }

    /// The peer closes its side, which another peer may take up: a read would block then, and finds
    /// no end.
    pub(crate) fn close(&self) {
        let sets = lock(&self.sets);
        self.is_closed.store(true, Ordering::Relaxed);
        self.tell(&sets, 0);
    }

    fn tell(&self, sets: &[(System, usize)], ready: u64) {
        let is_closed = self.is_closed.load(Ordering::Relaxed);
        let ready = ready | if is_closed { source::READ_CLOSED } else { 0 };
        for (system, number) in sets {
            system.tell(*number, ready);
        }
    }

    /// Reads, or would block.
    pub(crate) fn read(&self) -> io::Result<Done<()>> {
        if self.is_ready.load(Ordering::Relaxed) {
            self.is_ready.store(false, Ordering::Relaxed);
            return Ok(Done::new(()));
        }
        Err(io::ErrorKind::WouldBlock.into())
    }
}

#[derive(Clone, Debug)]
pub(super) struct System(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    untold: Mutex<Untold>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Untold {
    notes: VecDeque<(usize, u64)>,
    is_interrupted: bool,
}

impl Untold {
    fn is_any(&self) -> bool {
        !self.notes.is_empty() || self.is_interrupted
    }
}

#[derive(Debug)]
pub(super) struct Looker {
    system: System,
    notes: VecDeque<(usize, u64)>,
}

impl System {
    pub(super) fn open() -> io::Result<(Self, Looker)> {
        let untold = Mutex::new(Untold::default());
        let system = Self(Arc::new(Shared { untold, changed: Condvar::new() }));
        Ok((system.clone(), Looker { system, notes: VecDeque::new() }))
    }

    pub(super) fn enter(&self, socket: Socket<'_>, number: usize) -> io::Result<()> {
        let mut sets = lock(&socket.sets);
        if socket.is_ready.load(Ordering::Relaxed) {
            self.tell(number, source::READ);
        }
        sets.push((self.clone(), number));
        Ok(())
    }

    pub(super) fn leave(&self, socket: Socket<'_>) {
        lock(&socket.sets).retain(|(system, _)| !Arc::ptr_eq(&system.0, &self.0));
    }

    pub(super) fn has_notes(&self) -> bool {
        lock(&self.0.untold).is_any()
    }

    pub(super) fn interrupt(&self) {
        lock(&self.0.untold).is_interrupted = true;
        self.0.changed.notify_one();
    }

    fn tell(&self, number: usize, ready: u64) {
        lock(&self.0.untold).notes.push_back((number, ready));
        self.0.changed.notify_one();
    }
}

impl Looker {
    /// A model has no time: a look with a limit does not wait.
    pub(super) fn look(&mut self, limit: Option<Duration>) -> bool {
        self.wait(limit);
        let mut untold = lock(&self.system.0.untold);
        let is_any = untold.is_any();
        untold.is_interrupted = false;
        self.notes = std::mem::take(&mut untold.notes);
        is_any
    }

    /// Nor does a wait with a limit.
    pub(super) fn wait(&self, limit: Option<Duration>) {
        let Shared { untold, changed } = &*self.system.0;
        let mut untold = lock(untold);
        while limit.is_none() && !untold.is_any() {
            untold = changed.wait(untold).unwrap();
        }
    }

    pub(super) fn notes(&self) -> impl Iterator<Item = (usize, u64)> {
        self.notes.iter().copied()
    }
}
