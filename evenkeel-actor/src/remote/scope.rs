//! The node for which a value is written, or from which it is read. The references inside of a
//! message need to know it.
//!
//! `serde` passes no context to them, so the node lies in a thread-local variable while a value is
//! written or read. At other times references cannot be serialised.
//!
//! # What a value's `Serialize` may do
//! It is a caller's code and runs under the lock of a lane. Meanwhile its thread takes neither that
//! lock nor one under which other threads take it: those of ties, of what is parked and of
//! collective operations. [`Node::metrics`](super::node::Node::metrics) does, and is forbidden. A
//! value that it sends, and a request, are refused. Its stops, watches and reports
//! [wait](once_written) until the outermost value is written, and follow then, on the same thread:
//! so they come behind what the same task has sent before. A collective operation that it polls is
//! [pending](outside).

use super::arrived::Given;
use super::given::{self, Bundle};
use super::inner::Peer;
use crate::life::end::words;
use crate::node::Slot;
use crate::node::multiplexer::PutError;
use crate::node::payload::{self, PayloadError};
use crate::node::wire::{Failure, MOST_PLACES, MOST_REFERENCES, PlacesBuf, ReferencesBuf};
use crate::refs::away::Lease;
use evenkeel::internal::contain;
use serde::de::DeserializeOwned;
use std::any::type_name;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

#[derive(Clone, Copy)]
enum Scope {
    Outside,
    /// A value is written for this node.
    Writing(&'static Peer),
    /// A value is written for several nodes, or for this node, which the peer stands for.
    Casting(&'static Peer),
    /// A value from this node is read.
    Reading(&'static Peer),
}

/// What references note while a value is written.
///
/// Its fields fill it: a copy of padding that was just written in pieces waits for the writes. All
/// are zero outside of a scope.
#[derive(Clone, Copy, Default)]
struct Noted {
    /// The last call with a place in the value; zero if there is none.
    last_call: u64,
    /// The number of places for answers of other nodes in the value: the last of [`PASSED_ON`].
    passed_on: usize,
    /// The number of counted references in the value: the last of [`GIVEN`].
    given: usize,
    /// The number of values that are being written around this one, which may be written or read.
    around: usize,
}

thread_local! {
    /// Whether a value was not written because too many questions are open.
    static TOO_MANY_CALLS: Cell<bool> = const { Cell::new(false) };
    static SCOPE: Cell<Scope> = const { Cell::new(Scope::Outside) };
    static NOTED: Cell<Noted> = const {
        Cell::new(Noted { last_call: 0, passed_on: 0, given: 0, around: 0 })
    };
    /// Places for answers of other nodes in the values that are being written.
    static PASSED_ON: RefCell<Vec<(&'static Peer, u64)>> = const { RefCell::new(Vec::new()) };
    /// References in the values that are being written.
    static GIVEN: RefCell<Vec<Given>> = const { RefCell::new(Vec::new()) };
    /// Whether there is anything in [`LATER`], for a look at less cost.
    static HAS_LATER: Cell<bool> = const { Cell::new(false) };
    /// What is done once the outermost value is written.
    static LATER: RefCell<Vec<Later>> = const { RefCell::new(Vec::new()) };
}

type Later = Box<dyn FnOnce()>;

/// Restores the scope, also during a panic, and what was noted in it: nothing outside of one.
struct Back(Scope, Option<Noted>);

impl Back {
    /// Whether another value is being written around this one.
    #[inline]
    fn is_inside_of_writing(&self) -> bool {
        self.around() > 0
    }

    /// The number of values that are being written around this one.
    #[inline]
    fn around(&self) -> usize {
        let is_written = usize::from(matches!(self.0, Scope::Writing(_)));
        self.1.map_or(0, |noted| noted.around + is_written)
    }
}

impl Back {
    #[inline]
    fn restore(&self) {
        SCOPE.set(self.0);
        NOTED.set(self.1.unwrap_or_default());
    }
}

impl Drop for Back {
    #[inline]
    fn drop(&mut self) {
        self.restore();
    }
}

#[inline]
fn enter(scope: Scope) -> Back {
    let mut back = Back(SCOPE.replace(scope), None);
    if !matches!(back.0, Scope::Outside) {
        back.1 = Some(NOTED.get());
        NOTED.set(Noted { around: back.around(), ..Noted::default() });
    }
    back
}

/// What the value contains that its record has to name beside it.
pub(crate) struct Notes {
    peer: &'static Peer,
    is_nested: bool,
}

impl Notes {
    /// Whether this thread is writing another value, and so has the lock of a lane: nothing is put
    /// in meanwhile.
    #[inline]
    pub(crate) fn is_nested(&self) -> bool {
        self.is_nested
    }

    /// Whether the value contains a place for an answer, of any node, or a reference.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        let noted = NOTED.get();
        noted.last_call != 0 || noted.passed_on > 0 || noted.given > 0
    }

    /// The last of this node's calls, which leads to the others; zero if there is none.
    pub(crate) fn last_call(&self) -> u64 {
        last_call()
    }

    /// The places for answers of other nodes.
    pub(crate) fn passed_on(&self) -> PlacesBuf {
        passed_on()
    }

    #[inline]
    pub(crate) fn has_references(&self) -> bool {
        NOTED.get().given > 0
    }

    /// What a record says of the references.
    pub(crate) fn references(&self) -> ReferencesBuf {
        let given = NOTED.get().given;
        GIVEN.with_borrow(|all| given::names(self.peer, &all[all.len() - given..]))
    }

    /// Takes the references out, since this node itself reads the value. None if there are none.
    pub(super) fn take_references(&self) -> Option<Bundle> {
        self.has_references().then(|| Bundle::new(self.peer, take_given()))
    }
}

/// The places for answers of other nodes in the value so far.
pub(crate) fn passed_on() -> PlacesBuf {
    let mut places = PlacesBuf::new();
    PASSED_ON.with_borrow(|all| {
        for (owner, call) in &all[all.len() - NOTED.get().passed_on..] {
            places.push(owner.id, *call);
        }
    });
    places
}

/// A value that is being written. Its drop, also during a panic of the writer, settles what happens
/// to the places in the value.
struct Writing {
    peer: &'static Peer,
    is_put: bool,
    back: Back,
}

impl Drop for Writing {
    #[inline]
    fn drop(&mut self) {
        let noted = NOTED.get();
        if noted.passed_on > 0 || noted.given > 0 || (!self.is_put && noted.last_call != 0) {
            settle(self.peer, noted, self.is_put, &self.back);
        }
        if HAS_LATER.get() && !self.back.is_inside_of_writing() {
            self.back.restore();
            do_later();
        }
    }
}

/// Does what has waited until a value was written: the lane is not locked any more.
#[cold]
fn do_later() {
    while HAS_LATER.replace(false) {
        for later in LATER.take() {
            // The thread may be panicking already.
            contain(later);
        }
    }
}

/// Calls `f` at once, or, if this thread is writing a value, once that is written.
pub(crate) fn once_written(f: impl FnOnce() + 'static) {
    if is_writing() {
        LATER.with_borrow_mut(|all| all.push(Box::new(f)));
        HAS_LATER.set(true);
    } else {
        f();
    }
}

/// Waits for a future that takes locks, and leaves it alone while this thread is writing a value.
pub(super) async fn outside<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|context| {
        if is_writing() {
            // The next poll may come after that.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        future.as_mut().poll(context)
    })
    .await
}

/// Runs `f`, which writes a value for a node and puts it in.
#[inline]
pub(crate) fn write<E>(
    peer: &'static Peer,
    f: impl FnOnce(&Notes) -> Result<(), PutError<E>>,
) -> Result<(), PutError<E>> {
    let back = enter(Scope::Writing(peer));
    let notes = Notes { peer, is_nested: back.is_inside_of_writing() };
    let mut writing = Writing { peer, is_put: false, back };
    // An earlier refusal may not have been asked for.
    TOO_MANY_CALLS.set(false);
    let put = f(&notes);
    writing.is_put = put.is_ok();
    put
}

/// Settles the places for answers in a value: if the value was not put in, their calls fail.
#[cold]
fn settle(peer: &'static Peer, noted: Noted, is_put: bool, back: &Back) {
    let Noted { last_call, passed_on, .. } = noted;
    let given = take_given();
    let passed_on = PASSED_ON.with_borrow_mut(|all| all.split_off(all.len() - passed_on));
    // The writing is over, or has failed: messages about it belong to the outer scope.
    back.restore();
    given::settle(peer, given, is_put);
    if !is_put {
        peer.node.calls.forget(last_call);
    }
    for (owner, call) in passed_on {
        if is_put {
            owner.moved(call, peer.id);
        } else {
            owner.fail(call, Failure::Ended, "");
        }
    }
}

/// Runs `f`, which writes a value for several nodes, or for this one, which is `own`. The value
/// cannot contain places for answers. Its references count for this node until they are dropped.
pub(super) fn cast<R>(own: &'static Peer, f: impl FnOnce() -> R) -> (R, Bundle) {
    /// Takes back what was counted, also during a panic.
    struct Casting(&'static Peer, #[expect(dead_code, reason = "it is dropped after")] Back);
    impl Drop for Casting {
        fn drop(&mut self) {
            given::settle(self.0, take_given(), false);
        }
    }
    let casting = Casting(own, enter(Scope::Casting(own)));
    let written = f();
    let bundle = Bundle::new(own, take_given());
    drop(casting);
    (written, bundle)
}

/// Reads a value that has come from a node. A type's `Deserialize` is a caller's code. Its panic
/// must neither end the node nor leave a call without an outcome, so it becomes an error. This is
/// the only function that reads values.
#[inline]
pub(crate) fn read<T: DeserializeOwned>(
    peer: &'static Peer,
    bytes: &[u8],
) -> Result<T, PayloadError> {
    let _back = enter(Scope::Reading(peer));
    let read = catch_unwind(AssertUnwindSafe(|| payload::get(bytes)));
    read.unwrap_or_else(|with| {
        Err(PayloadError::Panicked { of: type_name::<T>(), why: words(with) })
    })
}

/// Why a reference cannot be written or read.
pub(crate) const OUTSIDE: &str =
    "a reference to an actor means something only in a message to another node";

/// Whether this thread is writing a value, and may have the lock of a lane: also if it writes or
/// reads another value inside of that.
pub(crate) fn is_writing() -> bool {
    NOTED.get().around > 0 || matches!(SCOPE.get(), Scope::Writing(_))
}

/// Why a value or a request is not sent while another value is written: the lane that it would go
/// by is locked for that one.
pub(crate) const NESTED: &str =
    "it is sent while another message is written, by that one's Serialize";

/// The node for which a value is being written.
#[inline]
pub(crate) fn writing() -> Result<&'static Peer, &'static str> {
    match SCOPE.get() {
        Scope::Writing(peer) | Scope::Casting(peer) => Ok(peer),
        Scope::Outside | Scope::Reading(_) => Err(OUTSIDE),
    }
}

/// The node for which a value is being written, if the value may contain a place for an answer.
pub(crate) fn asking() -> Result<&'static Peer, &'static str> {
    match SCOPE.get() {
        Scope::Writing(peer) => Ok(peer),
        Scope::Casting(_) => Err("one place for an answer cannot be sent to several actors"),
        Scope::Outside | Scope::Reading(_) => Err(OUTSIDE),
    }
}

/// The node from which a value is being read.
#[inline]
pub(crate) fn reading() -> Result<&'static Peer, &'static str> {
    match SCOPE.get() {
        Scope::Reading(peer) => Ok(peer),
        _ => Err(OUTSIDE),
    }
}

/// Whether the value may contain one more reference.
#[inline]
pub(super) fn may_refer() -> bool {
    NOTED.get().given < MOST_REFERENCES
}

/// Why it may not.
#[cold]
pub(super) fn too_many_references() -> String {
    format!("a message has at most {MOST_REFERENCES} references to actors: send them in several")
}

/// Notes a reference to an actor of this node in the value, counted for the node that the value is
/// for.
pub(super) fn note_own(slot: Slot) {
    note_given(Given::Own(slot));
}

/// Notes a reference to an actor of another node in the value.
pub(super) fn note_leased(lease: Arc<Lease>) {
    note_given(Given::Leased(lease));
}

fn note_given(given: Given) {
    GIVEN.with_borrow_mut(|all| all.push(given));
    let noted = NOTED.get();
    NOTED.set(Noted { given: noted.given + 1, ..noted });
}

/// Takes the references noted for the value.
fn take_given() -> Vec<Given> {
    let noted = NOTED.get();
    NOTED.set(Noted { given: 0, ..noted });
    GIVEN.with_borrow_mut(|all| all.split_off(all.len() - noted.given))
}

/// Notes that the value contains the place of this call.
pub(crate) fn note_call(call: u64) {
    NOTED.set(Noted { last_call: call, ..NOTED.get() });
}

/// The call noted last, or zero.
#[inline]
pub(crate) fn last_call() -> u64 {
    NOTED.get().last_call
}

/// Why a question is not written.
pub(crate) const TOO_MANY: &str = "there are too many questions to the node without an answer";

/// Notes that a question was refused, because too many questions to the node are open.
pub(crate) fn note_too_many_calls() {
    TOO_MANY_CALLS.set(true);
}

/// Whether the last failure to write was such a refusal. Resets the note.
pub(crate) fn were_too_many_calls() -> bool {
    TOO_MANY_CALLS.take()
}

/// Whether the value may contain one more place for an answer to another node.
pub(crate) fn may_pass_on() -> bool {
    NOTED.get().passed_on < MOST_PLACES
}

/// Why it may not.
pub(crate) fn too_many_places() -> String {
    format!(
        "a message hands on at most {MOST_PLACES} questions of other nodes: send them in several"
    )
}

/// Notes that the value contains a place for an answer to another node.
pub(crate) fn note_passed_on(owner: &'static Peer, call: u64) {
    PASSED_ON.with_borrow_mut(|passed_on| passed_on.push((owner, call)));
    let noted = NOTED.get();
    NOTED.set(Noted { passed_on: noted.passed_on + 1, ..noted });
}
