//! Models of entry, on the scheduler's own types. The values lie in loom's cells, so two operations
//! at a time are a race, and so is an operation that does not see the one before.

#![allow(unsafe_code, reason = "an operation that is inside an object has its value")]

use super::*;
use crate::object::class::Placement;
use crate::object::inner::Inner;
use crate::object::ledger::Ledgers;
use crate::policy::object::Mode as Wanted;
use crate::primitives::mutation::{check, explore};
use crate::processor::seat::Seat;
use crate::processor::shared::Shared;
use crate::scheduler::model::two_seats;
use loom::thread;
use std::sync::Arc;

/// The edges between one operation and the next.
pub(super) const LOCK: [Edge; 2] = [Edge::ObjectLock, Edge::ObjectUnlock];

pub(super) type Number = Arc<Inner<u32>>;

/// Two processors, and a class of objects in their runtime.
pub(super) struct World {
    shared: Arc<Shared>,
    pub(super) class: Arc<Class>,
    seats: [Option<Seat>; 2],
}

impl World {
    pub(super) fn new(placement: Placement) -> Self {
        let (one, other) = two_seats();
        let shared = one.shared().clone();
        let class = Arc::new(Class::new("numbers", placement, Some(&shared), Ledgers::new(0), 0));
        Self { shared, class, seats: [Some(one), Some(other)] }
    }

    /// A number without a home.
    pub(super) fn number(&self) -> Number {
        Arc::new(Inner::new(0, self.class.clone()))
    }

    /// A number that is at home at worker 0.
    pub(super) fn number_at_home(&self) -> Number {
        let mut number = Inner::new(0, self.class.clone());
        number.settle(Some(0));
        Arc::new(number)
    }

    /// Changes how the class is entered.
    pub(super) fn turn(&self, wanted: Wanted) {
        self.class.turn(&self.shared, wanted);
    }

    /// Starts worker `number`.
    pub(super) fn start<R: 'static>(
        &mut self,
        number: usize,
        work: impl FnOnce(&Context) -> R + 'static,
    ) -> thread::JoinHandle<R> {
        let seat = self.seats[number].take().expect("each worker is started once");
        thread::spawn(move || work(&Context::new(seat, 0)))
    }
}

/// The operation of an entry that may have been refused. Returns the number of operations: 1 or 0.
pub(super) fn operate(number: &Inner<u32>, way: Result<Way, Refusal>) -> u32 {
    let Ok(way) = way else { return 0 };
    add(number);
    number.door.leave_by(way);
    1
}

pub(super) fn add(number: &Inner<u32>) {
    // SAFETY: the caller is inside, or loom reports that it is not.
    number.value.with_mut(|value| unsafe { *value += 1 });
}

/// An operation by this worker, or by a thread that is none.
pub(super) fn visit(number: &Inner<u32>, context: Option<&Context>) -> u32 {
    operate(number, number.enter(context))
}

/// A read beside others, if it gets in: by its note or, where the object is not shared, as a reader
/// that `counts` itself. Returns what it has read, which is the same before and after `inside`.
pub(super) fn read_and(
    number: &Inner<u32>,
    context: &Context,
    counts: bool,
    inside: impl FnOnce(),
) -> Option<u32> {
    let way = number.enter_as_reader(context, counts)?;
    // SAFETY: the caller is inside, or loom reports that it is not.
    let look = || number.value.with(|value| unsafe { *value });
    let before = look();
    inside();
    assert_eq!(look(), before, "an operation was inside beside it");
    number.door.leave_as_reader(way, Some(context));
    Some(before)
}

/// A worker reads a number that is free or shared, and knows of its read meanwhile.
pub(super) fn a_reader_knows_that_it_is_inside(mut world: World, number: Number, counts: bool) {
    let reader = world.start(1, move |context| {
        let inside = || {
            assert!(number.enter_as_reader(context, counts).is_none(), "once");
            assert_eq!(number.enter(Some(context)), Err(Refusal::Taken));
            assert!(number.refuse_own(Some(context)).is_err(), "it would wait for itself");
        };
        assert!(read_and(&number, context, counts, inside).is_some());
        assert!(number.refuse_own(Some(context)).is_ok());
        assert!(read_and(&number, context, counts, || ()).is_some(), "nothing has closed it");
    });
    reader.join().unwrap();
}

/// In the end the number is `operations`.
pub(super) fn settle(number: &Inner<u32>, operations: u32) {
    let value = number.value.with(|value| {
        // SAFETY: all others are over.
        unsafe { *value }
    });
    assert_eq!(value, operations);
    assert!(!number.door.is_locked());
}

#[test]
fn a_host_and_a_thread_that_is_no_worker_exclude_each_other() {
    check(&LOCK, || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at_home();
        let host = world.start(0, {
            let number = number.clone();
            move |context| visit(&number, Some(context)) + visit(&number, Some(context))
        });
        let visited = visit(&number, None);
        settle(&number, host.join().unwrap() + visited);
    });
}

#[test]
fn operations_in_place_and_at_home_exclude_each_other_while_the_class_turns() {
    check(&LOCK, || {
        let mut world = World::new(Placement::InPlace);
        let number = world.number_at_home();
        let host = world.start(0, {
            let number = number.clone();
            move |context| visit(&number, Some(context))
        });
        let visitor = world.start(1, {
            let number = number.clone();
            move |context| visit(&number, Some(context))
        });
        world.turn(Wanted::AtHome);
        settle(&number, host.join().unwrap() + visitor.join().unwrap());
    });
}

/// The object's word changes between the look of the next operation and its lock, or it does not.
#[test]
fn an_object_changes_its_home_while_it_is_entered() {
    check(&LOCK, || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at_home();
        let old = world.start(0, {
            let number = number.clone();
            move |context| {
                let done = visit(&number, Some(context));
                number.door.move_home(Some(0), Some(1));
                done + visit(&number, Some(context))
            }
        });
        let new = world.start(1, {
            let number = number.clone();
            move |context| visit(&number, Some(context))
        });
        let visited = visit(&number, None);
        settle(&number, old.join().unwrap() + new.join().unwrap() + visited);
    });
}

/// An operation that is inside leaves by a store of the whole word.
#[test]
fn a_home_is_not_changed_while_an_operation_is_inside() {
    explore(|| {
        let mut world = World::new(Placement::Home);
        let number = world.number_at_home();
        let entrant = world.start(0, {
            let number = number.clone();
            move |context| {
                let way = number.enter(Some(context));
                operate(&number, way);
            }
        });
        let has_moved = number.door.move_home(Some(0), Some(1));
        entrant.join().unwrap();
        assert_eq!(number.door.home(), Some(usize::from(has_moved)));
    });
}

/// A task that is no longer on its way enters where it is, until an operation finds the host back.
#[test]
fn a_suspended_object_is_entered_anywhere_until_its_host_is_found_back() {
    check(&LOCK, || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at_home();
        let host = world.start(0, {
            let number = number.clone();
            move |context| visit(&number, Some(context)) + visit(&number, Some(context))
        });
        let visitor = world.start(1, {
            let number = number.clone();
            move |context| {
                let way = number.door.enter_here(&number.class, Some(context));
                if way.is_ok() {
                    number.door.suspend();
                }
                let taken = operate(&number, way);
                // The first operation looks for the host.
                taken + visit(&number, Some(context))
            }
        });
        settle(&number, host.join().unwrap() + visitor.join().unwrap());
    });
}

/// The lock goes from thread to thread.
#[test]
fn a_held_operation_ends_on_another_thread() {
    check(&LOCK, || {
        let mut world = World::new(Placement::InPlace);
        let number = world.number();
        let way = number.enter(None).expect("it is free");
        number.door.hold();
        assert!(number.refuse_own(None).is_ok(), "it is not this thread's any more");
        let next = world.start(0, {
            let number = number.clone();
            move |context| visit(&number, Some(context))
        });
        let held = thread::spawn({
            let number = number.clone();
            move || operate(&number, Ok(way))
        });
        let operations = next.join().unwrap() + held.join().unwrap();
        settle(&number, operations);
    });
}

#[test]
fn a_thread_knows_that_it_is_inside() {
    explore(|| {
        let mut world = World::new(Placement::Home);
        let number = world.number_at_home();
        let visitor = world.start(1, {
            let number = number.clone();
            move |context| {
                let way = number.door.enter_here(&number.class, Some(context));
                assert!(way.is_err() || number.refuse_own(Some(context)).is_err());
                operate(&number, way);
                assert!(number.refuse_own(Some(context)).is_ok());
            }
        });
        visit(&number, None);
        assert!(number.refuse_own(None).is_ok());
        visitor.join().unwrap();
    });
}

#[test]
fn poison_is_seen_by_the_next_operation_and_stays_cleared() {
    explore(|| {
        let mut world = World::new(Placement::InPlace);
        let number = world.number();
        let panics = world.start(0, {
            let number = number.clone();
            move |context| {
                let way =
                    number.enter(Some(context)).expect("no other operation is inside for long");
                number.door.poison();
                operate(&number, Ok(way));
            }
        });
        panics.join().unwrap();
        let next = world.start(1, {
            let number = number.clone();
            move |context| {
                let way = number.enter(Some(context));
                let is_poisoned = way.is_ok() && number.door.is_poisoned();
                if way.is_ok() {
                    number.door.leave();
                }
                (way.is_ok(), is_poisoned)
            }
        });
        number.door.clear_poison();
        let (has_entered, _) = next.join().unwrap();
        assert!(has_entered || !number.door.is_poisoned());
        assert!(!number.door.is_poisoned());
    });
}
