//! Which of the parties that take turns on a thread is polled, and what they keep.
//!
//! # Roles
//! A thread that polls tasks polls one *party* at a time: the task. Others take turns outside of
//! tasks: the future of a `block_on`, and each local task. The call of `block_on` is the *level* of
//! all that is polled inside it: a party whose poll calls `block_on` again does not go on before
//! that call returns.
//!
//! # What parties keep
//! What is not `Send` may be kept across an await outside of tasks, and then other parties of the
//! thread may come to it. So the party leaves a *note* of it, by an address. Another party of the
//! level may wait for it: its waker lies with the note, and is woken when the note goes. A caller
//! on any other level must not wait, because the party goes on after it, or has ended; nor must one
//! wait for a party that has ended, because another one may have by now what it kept. Callers on
//! other threads wait for what a party keeps when its poll ends ([`kept`]).
//!
//! # Why no waiter sleeps for ever
//! All of it happens on one thread. A waiter leaves its waker in the poll in which it finds the
//! note. A note that is removed or replaced, one whose party ends, and one whose thread ends wakes
//! all of its waiters, and they look again.
//!
//! # Rejected
//! An error for every caller on the thread: a task of a current-thread runtime would get it where a
//! task of another one waits. A turn that is owed to waiters: the futures of a set are polled many
//! times before the future that drives it, so a waiter would have to be handed what it waits for.

use super::id::{self, Id};
use super::kept;
use crate::primitives::thread::thread_local;
use crate::primitives::unwind::wake_all;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem;
use std::task::Waker;

thread_local! {
    /// The party that is polled outside of tasks, or [`Id::NONE`].
    static PRESENT: Cell<Id> = const { Cell::new(Id::NONE) };
}

thread_local! {
    /// The number of calls, one inside the other, that poll parties.
    static LEVEL: Cell<u64> = const { Cell::new(0) };
}

thread_local! {
    static NOTES: RefCell<Notes> = const {
        RefCell::new(Notes { all: BTreeMap::new(), sought: 0, added: 0 })
    };
}

/// What parties of a thread keep.
struct Notes {
    /// By address. Mostly one or two; but a party may enter many objects at once.
    all: BTreeMap<usize, Note>,
    /// How many are sought: those of the present turn, and of turns that it interrupts.
    sought: usize,
    /// How many notes there have been.
    added: u64,
}

struct Note {
    party: Id,
    level: u64,
    /// Whether callers on other threads look for it by its address, and it has yet to be kept for
    /// them.
    is_sought: bool,
    /// When it was made, if it is sought.
    generation: u64,
    waiters: Vec<Waker>,
    /// Its number among all of the thread: the order in which waiters are woken.
    number: u64,
}

impl Note {
    fn can_be_waited_for(&self, caller: u64) -> bool {
        self.level == level() && self.party.get() != caller
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // The thread may end with the note.
        wake_all(mem::take(&mut self.waiters));
    }
}

impl Notes {
    /// Adds a note, and returns an older one, which is of something that was forgotten.
    fn add(&mut self, address: usize, mut note: Note) -> Option<Note> {
        let older = self.remove(address);
        self.added += 1;
        note.number = self.added;
        self.sought += usize::from(note.is_sought);
        self.all.insert(address, note);
        older
    }

    fn remove(&mut self, address: usize) -> Option<Note> {
        let note = self.all.remove(&address)?;
        self.sought -= usize::from(note.is_sought);
        Some(note)
    }

    /// Keeps what is sought of this party, whose turn ends.
    fn keep(&mut self, party: Id) {
        // A turn that has kept nothing new has nothing to look for, however many notes there are.
        if self.sought == 0 {
            return;
        }
        for (&address, note) in &mut self.all {
            if note.is_sought && note.party == party {
                note.is_sought = false;
                self.sought -= 1;
                kept::keep(address, note.generation);
            }
        }
    }

    fn end(&mut self, party: Id) -> Vec<Note> {
        let is_of = |(&address, note): (&usize, &Note)| (note.party == party).then_some(address);
        let ended: Vec<usize> = self.all.iter().filter_map(is_of).collect();
        let mut ended: Vec<Note> =
            ended.into_iter().filter_map(|address| self.remove(address)).collect();
        ended.sort_by_key(|note| note.number);
        ended
    }
}

/// Returns the party that this thread polls outside of tasks; [`Id::NONE`] if it polls none.
#[inline]
pub(crate) fn present() -> Id {
    PRESENT.try_with(Cell::get).unwrap_or(Id::NONE)
}

/// Returns the level of what this thread polls; zero outside of all.
fn level() -> u64 {
    LEVEL.try_with(Cell::get).unwrap_or(0)
}

/// While it lives, this party is the present one; none is, if it is [`Id::NONE`].
pub(crate) struct Turn(Id);

impl Turn {
    #[inline]
    pub(crate) fn of(party: Id) -> Self {
        Self(PRESENT.try_with(|present| present.replace(party)).unwrap_or(Id::NONE))
    }
}

impl Drop for Turn {
    #[inline]
    fn drop(&mut self) {
        let party = PRESENT.try_with(|present| present.replace(self.0)).unwrap_or(Id::NONE);
        let _ = NOTES.try_with(|notes| notes.borrow_mut().keep(party));
    }
}

/// A call that polls parties, from its beginning to its end. It is a party itself.
pub(crate) struct Level {
    party: Id,
    _between: Turn,
}

impl Level {
    pub(crate) fn begin() -> Self {
        let _ = LEVEL.try_with(|level| level.set(level.get() + 1));
        Self { party: id::take_one(), _between: Turn::of(Id::NONE) }
    }

    /// Returns the party of the call.
    pub(crate) fn party(&self) -> Id {
        self.party
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        let _ = LEVEL.try_with(|level| level.set(level.get() - 1));
        end(self.party);
    }
}

/// Ends a party, which may have handed on what it kept.
pub(crate) fn end(party: Id) {
    let any = NOTES.try_with(|notes| !notes.borrow().all.is_empty());
    if any.unwrap_or(false) {
        end_notes(party);
    }
}

#[cold]
fn end_notes(party: Id) {
    // Their drops wake, without the borrow: the waiters find that they must not wait.
    let _ended = NOTES.try_with(|notes| notes.borrow_mut().end(party));
}

/// Leaves a note of what the present party keeps, if there is one. Returns whether it does. Callers
/// on other threads wait for the [release](kept::release) of what `is_sought`.
#[inline]
pub(crate) fn note(address: usize, is_sought: bool) -> bool {
    let party = present();
    party != Id::NONE && leave(address, party, is_sought)
}

#[cold]
fn leave(address: usize, party: Id, is_sought: bool) -> bool {
    let (level, generation) = (level(), kept::generation(address));
    let note = Note { party, level, is_sought, generation, waiters: Vec::new(), number: 0 };
    // The drop of an older one wakes, without the borrow.
    let older = NOTES.try_with(|notes| notes.borrow_mut().add(address, note));
    older.is_ok()
}

/// Removes a note of this thread, and wakes those that wait.
#[cold]
pub(crate) fn forget(address: usize) {
    // Its drop wakes, without the borrow.
    let _note = NOTES.try_with(|notes| notes.borrow_mut().remove(address));
}

/// Returns whether the caller may wait for another party of this thread to go on with what is
/// noted.
#[cold]
pub(crate) fn may_wait(address: usize, caller: u64) -> bool {
    let can = |note: &Note| note.can_be_waited_for(caller);
    let may = |notes: &RefCell<Notes>| notes.borrow().all.get(&address).is_some_and(can);
    NOTES.try_with(may).unwrap_or(false)
}

/// Has `waker` woken when the note goes. Returns false if the caller [may not
/// wait](may_wait).
#[cold]
pub(crate) fn wait(address: usize, caller: u64, waker: &Waker) -> bool {
    // It may be a caller's own, whose clone and drop do anything.
    let mut waker = Some(waker.clone());
    let waits = NOTES.try_with(|notes| {
        let mut notes = notes.borrow_mut();
        let Some(note) = notes.all.get_mut(&address) else { return false };
        if !note.can_be_waited_for(caller) {
            return false;
        }
        let is_there = |last: &Waker| waker.as_ref().is_some_and(|own| last.will_wake(own));
        if !note.waiters.iter().any(is_there) {
            note.waiters.extend(waker.take());
        }
        true
    });
    waits.unwrap_or(false)
}
