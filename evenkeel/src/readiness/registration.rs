//! A registration: a source, and the set in which it is.
//!
//! # Moves
//! A source begins in the set of the worker at which it first has to wait. At each wait the
//! waiter's worker says [which set is better](crate::policy::readiness::gathers): its own, if it
//! has more tasks; otherwise that of a worker with a lower number that comes to look. After some
//! such waits in a row for the same one the source moves there. So under light load one worker
//! looks at all sockets, and sleeps among them. Its tasks, if they are many, are stolen, and wake
//! others' sockets at others.
//!
//! # Why no readiness is lost by a move
//! The socket enters the new set before it leaves the former one, so it is always in one of them.
//! The system tells the new set of the state in which the socket is then. The source stays the
//! same, with its word and its waiters. It may get a note of both sets, which says nothing new.

#![cfg_attr(loom, allow(dead_code, reason = "sockets, which use the rest, are in no model"))]

use super::set::Set;
use super::source::Source;
use super::system::Socket;
use crate::policy::readiness;
use crate::primitives::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::primitives::{Mutex, lock};
use std::io;
use std::sync::Arc;

/// The part of `elsewhere` that counts.
const COUNT: u64 = (1 << 16) - 1;

/// A source in a set, until it [leaves](Self::leave).
#[derive(Debug)]
pub(crate) struct Registration {
    source: Arc<Source>,
    place: Mutex<Place>,
    /// The processor in whose set it is.
    home: AtomicUsize,
    /// The processor of the last wait that was not at home, plus one, and below it the number of
    /// waits there in a row; zero after a wait at home. Two operations that wait at the same time
    /// may lose one of two counts.
    elsewhere: AtomicU64,
}

/// Where a source is.
#[derive(Debug)]
struct Place {
    set: Arc<Set>,
    number: usize,
}

impl Registration {
    /// Enters a socket into the set of processor `home`.
    pub(crate) fn enter(set: &Arc<Set>, home: usize, socket: Socket<'_>) -> io::Result<Self> {
        let source = Arc::new(Source::default());
        let number = set.enter(&source, socket)?;
        Ok(Self {
            source,
            place: Mutex::new(Place { set: set.clone(), number }),
            home: AtomicUsize::new(home),
            elsewhere: AtomicU64::new(0),
        })
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Counts a wait after which processor `to` had better look. Returns the processor in whose set
    /// the source is, if it is to move to that of `to`.
    #[inline]
    pub(crate) fn wait_for(&self, to: usize) -> Option<usize> {
        let home = self.home.load(Ordering::Relaxed);
        let last = self.elsewhere.load(Ordering::Relaxed);
        if home == to {
            if last != 0 {
                self.elsewhere.store(0, Ordering::Relaxed);
            }
            return None;
        }
        let here = (to as u64 + 1) * (COUNT + 1);
        let waits = if last & !COUNT == here { (last & COUNT) + 1 } else { 1 };
        let is_worth_moving = readiness::is_worth_moving(waits);
        let next = if is_worth_moving { 0 } else { here + waits };
        self.elsewhere.store(next, Ordering::Relaxed);
        is_worth_moving.then_some(home)
    }

    /// Moves the source from `former` to the set of processor `me`, if it is still there. If the
    /// system refuses, the source stays.
    #[cold]
    pub(crate) fn change(&self, former: &Set, set: &Arc<Set>, me: usize, socket: Socket<'_>) {
        let mut place = lock(&self.place);
        if !std::ptr::eq(&*place.set, former) {
            return;
        }
        let Ok(number) = set.enter(&self.source, socket) else { return };
        place.set.leave(place.number, socket);
        *place = Place { set: set.clone(), number };
        self.home.store(me, Ordering::Relaxed);
        set.tally.moved.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes the socket out of its set.
    pub(crate) fn leave(&self, socket: Socket<'_>) {
        let place = lock(&self.place);
        place.set.leave(place.number, socket);
    }
}
