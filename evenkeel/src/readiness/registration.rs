//! A registration: a source, and the set in which it is.
//!
//! # Moves
//! A source begins in the set of the worker at which it first has to wait. At each wait the policy
//! says [which set is better](crate::policy::readiness::better): the one where it is, that of the
//! worker that polls the task, or that of the *gatherer*, if that one comes to look. A source that
//! is [drawn](crate::policy::readiness::drawn) elsewhere often enough moves there. So under light
//! load one worker looks at all sockets, and sleeps among them; if it has too much to do, others
//! steal its tasks, and then get their sockets, until each is busy with its own. The gatherer is
//! the first worker, until one that looks has [most of the
//! traffic](crate::policy::readiness::Traffic).
//!
//! # Why no readiness is lost by a move
//! The socket enters the new set before it leaves the former one, so it is always in one of them.
//! The system tells the new set of the state in which the socket is then. The source stays the
//! same, with its word and its waiters. It may get a note of both sets, which says nothing new.

#![cfg_attr(loom, allow(dead_code, reason = "sockets, which use the rest, are in no model"))]

use super::set::Set;
use super::source::{Direction, Source};
use super::system::Socket;
use crate::primitives::atomic::Ordering;
use crate::primitives::{Mutex, lock};
use std::io;
use std::sync::Arc;

/// A source in a set, until it [leaves](Self::leave).
#[derive(Debug)]
pub(crate) struct Registration {
    source: Arc<Source>,
    place: Mutex<Place>,
}

/// Where a source is.
#[derive(Debug)]
struct Place {
    set: Arc<Set>,
    number: usize,
}

impl Registration {
    /// Enters a socket into the set of processor `home`. The system has refused an operation in the
    /// direction `refused`, if there is one.
    pub(crate) fn enter(
        set: &Arc<Set>,
        home: usize,
        socket: Socket<'_>,
        refused: Option<Direction>,
    ) -> io::Result<Self> {
        let source = Arc::new(Source::entered(refused));
        source.stay.begin(home);
        let (number, woken) = set.enter(&source, socket)?;
        woken.wake();
        Ok(Self { source, place: Mutex::new(Place { set: set.clone(), number }) })
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Returns the processor in whose set the source is.
    #[inline]
    pub(crate) fn home(&self) -> usize {
        self.source.stay.home()
    }

    /// Counts a wait, for which the set of another processor is better if `elsewhere`. Returns
    /// whether the source is to move there.
    #[inline]
    pub(crate) fn wait(&self, elsewhere: bool) -> bool {
        self.source.stay.wait(elsewhere)
    }

    /// Moves the source from `former` to the set of processor `me`, if it is still there. If the
    /// system refuses, the source stays.
    #[cold]
    pub(crate) fn change(&self, former: &Set, set: &Arc<Set>, me: usize, socket: Socket<'_>) {
        let mut place = lock(&self.place);
        if !std::ptr::eq(&*place.set, former) {
            return;
        }
        let Ok((number, woken)) = set.enter(&self.source, socket) else { return };
        place.set.leave(place.number, socket);
        *place = Place { set: set.clone(), number };
        self.source.stay.begin(me);
        set.tally.moved.fetch_add(1, Ordering::Relaxed);
        drop(place);
        woken.wake();
    }

    /// Takes the socket out of its set.
    pub(crate) fn leave(&self, socket: Socket<'_>) {
        let place = lock(&self.place);
        place.set.leave(place.number, socket);
    }
}
