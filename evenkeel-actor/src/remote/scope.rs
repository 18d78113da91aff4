//! For which node values are written, and from which they are read: what references need to know that are inside of messages.
//!
//! `serde` hands nothing through to them, so it is a thread's variable while a value is written or read. Outside of that they cannot be.

use super::route::Peer;
use crate::node::multiplexer::PutError;
use std::cell::{Cell, RefCell};

#[derive(Clone, Copy)]
enum Scope {
    Outside,
    /// A value is written for this node.
    Writing(&'static Peer),
    /// A value is written for this node and others.
    Casting(&'static Peer),
    /// A value from this node is read.
    Reading(&'static Peer),
}

thread_local! {
    static SCOPE: Cell<Scope> = const { Cell::new(Scope::Outside) };
    /// The last of the calls whose places are in the value that is written; zero if there is none.
    static CALLS: Cell<u32> = const { Cell::new(0) };
    /// Places for answers of other nodes that are in it.
    static PASSED_ON: RefCell<Vec<(&'static Peer, u32)>> = const { RefCell::new(Vec::new()) };
}

/// Puts the scope back, by a panic too.
struct Back(Scope, u32);

impl Back {
    /// Whether a value is written around what it goes back from.
    #[inline]
    fn is_inside_of_writing(&self) -> bool {
        matches!(self.0, Scope::Writing(_))
    }
}

impl Drop for Back {
    fn drop(&mut self) {
        SCOPE.set(self.0);
        CALLS.set(self.1);
    }
}

fn enter(scope: Scope) -> Back {
    Back(SCOPE.replace(scope), CALLS.replace(0))
}

/// The calls whose places are in the value that is written.
pub(crate) struct Calls {
    is_nested: bool,
}

impl Calls {
    /// Whether another value is being written by this thread, which then has the lock of a lane: nothing is put in meanwhile.
    #[inline]
    pub(crate) fn is_nested(&self) -> bool {
        self.is_nested
    }

    /// The last of them, which knows the others.
    #[inline]
    pub(crate) fn first(&self) -> Option<u64> {
        match CALLS.get() {
            0 => None,
            call => Some(call.into()),
        }
    }
}

/// Runs `f`, which writes a value for a node and puts it in.
#[inline]
pub(crate) fn write<E>(
    peer: &'static Peer,
    f: impl FnOnce(&Calls) -> Result<(), PutError<E>>,
) -> Result<(), PutError<E>> {
    let back = enter(Scope::Writing(peer));
    let put = f(&Calls { is_nested: back.is_inside_of_writing() });
    let passed_on = PASSED_ON.with_borrow(|passed_on| !passed_on.is_empty());
    if passed_on || (put.is_err() && CALLS.get() != 0) {
        settle(peer, put.is_err());
    }
    put
}

/// A value with places for answers was put in, or not: then nobody will answer.
#[cold]
fn settle(peer: &'static Peer, failed: bool) {
    let passed_on = PASSED_ON.take();
    if failed {
        peer.node.calls.forget(CALLS.get());
        for (peer, call) in passed_on {
            peer.fail(call.into(), crate::node::wire::Failure::Ended, "");
        }
    }
}

/// Runs `f`, which writes a value for several nodes, seen from any of them. It cannot have places for answers in it.
pub(crate) fn cast<R>(peer: &'static Peer, f: impl FnOnce() -> R) -> R {
    let _back = enter(Scope::Casting(peer));
    f()
}

/// Runs `f`, which reads a value that has come from a node.
#[inline]
pub(crate) fn read<R>(peer: &'static Peer, f: impl FnOnce() -> R) -> R {
    let _back = enter(Scope::Reading(peer));
    f()
}

/// Why a reference cannot be written or read.
pub(crate) const OUTSIDE: &str =
    "a reference to an actor means something only in a message to another node";

/// Whether this thread writes a value, and may have the lock of a lane.
pub(crate) fn is_writing() -> bool {
    matches!(SCOPE.get(), Scope::Writing(_))
}

/// For which node a value is written.
#[inline]
pub(crate) fn writing() -> Result<&'static Peer, &'static str> {
    match SCOPE.get() {
        Scope::Writing(peer) | Scope::Casting(peer) => Ok(peer),
        Scope::Outside | Scope::Reading(_) => Err(OUTSIDE),
    }
}

/// For which node a value is written in which a place for an answer is.
pub(crate) fn asking() -> Result<&'static Peer, &'static str> {
    match SCOPE.get() {
        Scope::Writing(peer) => Ok(peer),
        Scope::Casting(_) => Err("one place for an answer cannot be sent to several actors"),
        Scope::Outside | Scope::Reading(_) => Err(OUTSIDE),
    }
}

/// From which node a value is read.
#[inline]
pub(crate) fn reading() -> Result<&'static Peer, &'static str> {
    match SCOPE.get() {
        Scope::Reading(peer) => Ok(peer),
        _ => Err(OUTSIDE),
    }
}

/// The place of this call is in the value that is written. Gives the one before.
pub(crate) fn note_call(call: u32) -> u32 {
    CALLS.replace(call)
}

/// The call that was noted last.
pub(crate) fn last_call() -> u32 {
    CALLS.get()
}

/// The place for an answer to another node is in the value that is written.
pub(crate) fn note_passed_on(peer: &'static Peer, call: u32) {
    PASSED_ON.with_borrow_mut(|passed_on| passed_on.push((peer, call)));
}
