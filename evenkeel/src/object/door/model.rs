//! Models of entry, on the scheduler's own types. The values lie in loom's cells, so two operations at a time are a race, and so is an operation that does not see the one before.

#![allow(unsafe_code, reason = "whoever is inside an object has its value")]

use super::*;
use crate::object::class::Placement;
use crate::object::inner::Inner;
use crate::object::ledger::Ledgers;
use crate::policy::object::Mode as Wanted;
use crate::primitives::mutation::{check, explore};
use crate::scheduler::model::two_seats;
use crate::scheduler::seat::Seat;
use crate::scheduler::shared::Shared;
use loom::thread;
use std::sync::Arc;

pub(super) type Number = Arc<Inner<u32>>;

/// Two processors, and what lives as long as they do.
pub(super) struct World {
    shared: Arc<Shared>,
    pub(super) class: Arc<Class>,
    seats: [Option<Seat>; 2],
}

impl World {
    pub(super) fn new(placement: Placement) -> Self {
        let (one, other) = two_seats();
        let shared = one.shared().clone();
        let class = Arc::new(Class::new("numbers", placement, Some(&shared), Ledgers::new(0)));
        Self { shared, class, seats: [Some(one), Some(other)] }
    }

    /// A number that is at home at processor `home`.
    pub(super) fn number_at(&self, home: usize) -> Number {
        let mut number = Inner::new(0, self.class.clone());
        number.settle(self.home(home));
        Arc::new(number)
    }

    pub(super) fn home(&self, number: usize) -> usize {
        self.shared.home(number).addr()
    }

    /// Goes on with the change of mode. True once it is made.
    pub(super) fn turn(&self, wanted: Wanted) -> bool {
        self.class.steering.turn(&self.class, &self.shared, wanted)
    }

    /// Starts the worker of processor `number`.
    pub(super) fn start<R: 'static>(
        &mut self,
        number: usize,
        work: impl FnOnce(&Context) -> R + 'static,
    ) -> thread::JoinHandle<R> {
        let seat = self.seats[number].take().expect("each worker is started once");
        thread::spawn(move || work(&Context::new(seat, 0)))
    }

    /// Starts the worker of processor 0, which makes an operation.
    fn start_host(&mut self, number: &Number) -> thread::JoinHandle<u32> {
        let number = number.clone();
        self.start(0, move |context| visit(&number, Some(context)))
    }
}

/// Starts a thread that is no worker, and makes an operation.
fn start_visitor(number: &Number) -> thread::JoinHandle<u32> {
    let number = number.clone();
    thread::spawn(move || visit(&number, None))
}

/// An operation by one who has come in this way, or not. Says how many operations that is.
pub(super) fn operate(
    number: &Inner<u32>,
    way: Result<Way, Refusal>,
    context: Option<&Context>,
) -> u32 {
    let Ok(way) = way else { return 0 };
    add(number);
    number.leave(way, context);
    1
}

pub(super) fn add(number: &Inner<u32>) {
    // SAFETY: the caller is inside, or loom says that it is not.
    number.value.with_mut(|value| unsafe { *value += 1 });
}

pub(super) fn visit(number: &Inner<u32>, context: Option<&Context>) -> u32 {
    operate(number, number.enter(context), context)
}

/// An entry by a thread that is no worker, whatever the mode.
pub(super) fn take(number: &Inner<u32>) -> u32 {
    operate(number, number.door.take(&number.class, None), None)
}

/// Compares the value with the number of operations, all of which this thread has to see.
pub(super) fn settle(number: &Inner<u32>, operations: u32) {
    // SAFETY: all other threads have been joined.
    assert_eq!(number.value.with(|value| unsafe { *value }), operations);
    assert!(!number.door.is_locked(), "everybody has left");
}

#[test]
fn a_host_and_who_takes_the_object_exclude_each_other() {
    use Edge::{ObjectHeavy, ObjectLeave, ObjectLight, ObjectNoted, ObjectPlace, ObjectUnlock};
    check(&[ObjectLight, ObjectHeavy, ObjectLeave, ObjectNoted, ObjectPlace, ObjectUnlock], || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at(0);
        let host = world.start(0, {
            let number = number.clone();
            move |context| visit(&number, Some(context)) + visit(&number, Some(context))
        });
        let taken = take(&number);
        settle(&number, host.join().unwrap() + taken);
    });
}

/// Its guard has outlived the worker's loop, and leaves by what the object says.
#[test]
fn a_host_that_is_no_worker_any_more_and_who_takes_the_object_exclude_each_other() {
    check(&[Edge::ObjectLeave, Edge::ObjectNoted], || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at(0);
        let host = world.start(0, {
            let number = number.clone();
            move |context| {
                let Ok(way) = number.enter(Some(context)) else { return 0 };
                add(&number);
                number.leave_later(way, None);
                1
            }
        });
        let taken = take(&number);
        settle(&number, host.join().unwrap() + taken);
    });
}

/// The place of its note has another object's by the time that somebody looks.
#[test]
fn a_host_that_is_inside_another_object_has_left_this_one() {
    check(&[Edge::ObjectNote], || {
        let mut world = World::new(Placement::Home);
        let (number, other) = (world.number_at(0), world.number_at(0));
        let host = world.start(0, {
            let number = number.clone();
            move |context| {
                let done = visit(&number, Some(context));
                visit(&other, Some(context));
                done
            }
        });
        let taken = take(&number);
        settle(&number, host.join().unwrap() + taken);
    });
}

#[test]
fn two_visitors_exclude_each_other() {
    check(&[Edge::ObjectLock, Edge::ObjectUnlock], || {
        let mut world = World::new(Placement::InPlace);
        let number = Arc::new(Inner::new(0, world.class.clone()));
        let visitor = world.start(1, {
            let number = number.clone();
            move |context| visit(&number, Some(context))
        });
        let visited = visit(&number, None) + visit(&number, None);
        settle(&number, visitor.join().unwrap() + visited);
    });
}

/// The visitor comes in place, the host by its note, as soon as each may.
#[test]
fn a_class_goes_home_while_a_visitor_is_inside() {
    use Edge::{ObjectLocked, ObjectMode, ObjectModeSeen, ObjectModeSet};
    check(&[ObjectLocked, ObjectMode, ObjectModeSet, ObjectModeSeen], || {
        let mut world = World::new(Placement::InPlace);
        let number = world.number_at(0);
        let host = world.start_host(&number);
        let visitor = start_visitor(&number);
        assert!(world.turn(Wanted::AtHome), "nobody has to be waited for");
        settle(&number, host.join().unwrap() + visitor.join().unwrap());
    });
}

#[test]
fn a_class_leaves_home_while_a_host_is_inside() {
    check(&[Edge::ObjectMode, Edge::ObjectLight, Edge::ObjectNoted], || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at(0);
        let host = world.start_host(&number);
        let visitor = start_visitor(&number);
        world.turn(Wanted::InPlace);
        world.turn(Wanted::InPlace);
        settle(&number, host.join().unwrap() + visitor.join().unwrap());
    });
}

/// The visitor comes when hosts have been seen or not, so it has nothing from the one that has left but by who has waited for it.
#[test]
fn a_visitor_comes_when_the_hosts_of_a_class_are_waited_for() {
    check(&[Edge::ObjectModeSet, Edge::ObjectLeave], || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at(0);
        let host = world.start_host(&number);
        world.turn(Wanted::InPlace);
        let visitor = start_visitor(&number);
        world.turn(Wanted::InPlace);
        settle(&number, host.join().unwrap() + visitor.join().unwrap());
    });
}

/// The visitor comes while hosts are waited for, and is inside when they may enter again.
#[test]
fn a_class_leaves_home_and_goes_back_while_a_visitor_is_inside() {
    check(&[Edge::ObjectLocked, Edge::ObjectMode], || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at(0);
        let host = world.start_host(&number);
        world.turn(Wanted::InPlace);
        let visitor = start_visitor(&number);
        world.turn(Wanted::InPlace);
        world.turn(Wanted::AtHome);
        settle(&number, host.join().unwrap() + visitor.join().unwrap());
    });
}

/// The visitor was inside before.
#[test]
fn a_class_leaves_home_and_goes_back_around_one_who_has_taken_the_object() {
    explore(|| {
        let mut world = World::new(Placement::Home);
        let number = world.number_at(0);
        let host = world.start_host(&number);
        let way = number.door.take(&number.class, None);
        world.turn(Wanted::InPlace);
        world.turn(Wanted::InPlace);
        world.turn(Wanted::AtHome);
        let visited = operate(&number, way, None);
        settle(&number, host.join().unwrap() + visited);
    });
}

#[test]
fn who_has_taken_an_object_knows_that_it_is_inside() {
    explore(|| {
        let mut world = World::new(Placement::Home);
        let number = world.number_at(0);
        let visitor = world.start(1, {
            let number = number.clone();
            move |context| {
                let way = number.door.take(&number.class, Some(context)).expect("nobody is inside");
                assert!(number.refuse_own(Some(context)).is_err(), "it would wait for itself");
                operate(&number, Ok(way), Some(context));
                assert!(number.refuse_own(Some(context)).is_ok());
            }
        });
        visitor.join().unwrap();
    });
}

#[test]
fn a_suspended_object_is_entered_by_its_lock_until_somebody_finds_its_host_back() {
    use Edge::{ObjectHeavy, ObjectLight, ObjectLock, ObjectPlace, ObjectUnlock};
    check(&[ObjectLight, ObjectHeavy, ObjectPlace, ObjectUnlock, ObjectLock], || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at(0);
        let host = world.start(0, {
            let number = number.clone();
            move |context| visit(&number, Some(context)) + visit(&number, Some(context))
        });
        let visitor = world.start(1, {
            let number = number.clone();
            move |context| {
                let way = number.door.take(&number.class, Some(context));
                if way.is_ok() {
                    number.door.suspend();
                }
                let taken = operate(&number, way, Some(context));
                // The first of many, which looks for the host.
                context.operations.count();
                taken + visit(&number, Some(context))
            }
        });
        settle(&number, host.join().unwrap() + visitor.join().unwrap());
    });
}

#[test]
fn a_host_gives_the_object_to_another() {
    check(&[Edge::ObjectUnlock], || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at(0);
        let to = world.home(1);
        let old = world.start(0, {
            let number = number.clone();
            move |context| {
                let done = visit(&number, Some(context));
                let moved = number.door.move_home(Some(context), number.door.home(), to);
                assert!(moved, "nobody locks it");
                done + visit(&number, Some(context))
            }
        });
        let new = world.start(1, {
            let number = number.clone();
            move |context| visit(&number, Some(context)) + visit(&number, Some(context))
        });
        settle(&number, old.join().unwrap() + new.join().unwrap());
    });
}

#[test]
fn a_host_gives_the_object_to_another_while_somebody_takes_it() {
    use Edge::{ObjectHeavy, ObjectLight, ObjectLock, ObjectUnlock};
    check(&[ObjectLight, ObjectHeavy, ObjectLock, ObjectUnlock], || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at(0);
        let to = world.home(1);
        let old = world.start(0, {
            let number = number.clone();
            move |context| {
                let done = visit(&number, Some(context));
                number.door.move_home(Some(context), number.door.home(), to);
                done
            }
        });
        let new = world.start(1, {
            let number = number.clone();
            move |context| visit(&number, Some(context))
        });
        let taken = take(&number);
        settle(&number, old.join().unwrap() + new.join().unwrap() + taken);
    });
}

#[test]
fn who_has_the_lock_gives_the_object_another_home() {
    use Edge::{ObjectHeavy, ObjectLeave, ObjectLight, ObjectNoted, ObjectUnlock};
    check(&[ObjectLight, ObjectHeavy, ObjectLeave, ObjectNoted, ObjectUnlock], || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at(0);
        let host = |number: &Number| {
            let number = number.clone();
            move |context: &Context| visit(&number, Some(context))
        };
        let old = world.start(0, host(&number));
        let new = world.start(1, host(&number));
        let way = number.door.take(&number.class, None);
        if way.is_ok() {
            number.door.set_home(world.home(1));
        }
        let taken = operate(&number, way, None);
        settle(&number, old.join().unwrap() + new.join().unwrap() + taken);
    });
}

#[test]
fn a_host_holds_the_object_and_gives_it_back() {
    use Edge::{ObjectHeavy, ObjectLight, ObjectLock, ObjectUnlock};
    check(&[ObjectLight, ObjectHeavy, ObjectLock, ObjectUnlock], || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at(0);
        let host = world.start(0, {
            let number = number.clone();
            move |context| {
                let Ok(way) = number.enter(Some(context)) else { return 0 };
                number.door.hold(way, Some(context));
                assert!(number.door.is_locked());
                add(&number);
                number.door.give_back();
                1 + visit(&number, Some(context))
            }
        });
        let taken = take(&number);
        settle(&number, host.join().unwrap() + taken);
    });
}
