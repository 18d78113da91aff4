//! Models of homes that are given and taken by who is inside in place.

use super::model::{Number, World, operate, settle, take, visit};
use crate::object::class::Placement;
use crate::object::inner::Inner;
use crate::policy::object::Mode as Wanted;
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::check;
use crate::scheduler::context::Context;
use loom::thread;
use std::sync::Arc;

/// An operation by one who comes in by the lock, if it does, and gives the object this home.
fn visit_and_settle(number: &Inner<u32>, context: Option<&Context>, home: usize) -> u32 {
    let way = number.enter(context);
    if way.is_ok_and(|way| way.is_by_lock()) {
        number.door.set_home(home);
    }
    operate(number, way, context)
}

#[test]
fn an_object_gets_its_first_home_and_its_host_comes_in() {
    check(&[Edge::ObjectUnlock], || {
        let mut world = World::new(Placement::Home);
        let number: Number = Arc::new(Inner::new(0, world.class.clone()));
        let home = world.home(0);
        let host = world.start(0, {
            let number = number.clone();
            move |context| visit(&number, Some(context)) + visit(&number, Some(context))
        });
        let done = visit_and_settle(&number, None, home);
        settle(&number, host.join().unwrap() + done);
    });
}

/// One of them gives it the home, the other takes it from there.
#[test]
fn an_object_gets_its_first_home_while_others_come() {
    use Edge::{ObjectLock, ObjectUnlock};
    check(&[ObjectLock, ObjectUnlock], || {
        let mut world = World::new(Placement::Home);
        let number: Number = Arc::new(Inner::new(0, world.class.clone()));
        let home = world.home(0);
        let host = world.start(0, {
            let number = number.clone();
            move |context| visit(&number, Some(context))
        });
        let visitor = thread::spawn({
            let number = number.clone();
            move || visit_and_settle(&number, None, home)
        });
        let taken = take(&number);
        settle(&number, host.join().unwrap() + visitor.join().unwrap() + taken);
    });
}

#[test]
fn an_object_loses_its_home_in_place_while_its_class_goes_home() {
    use Edge::{ObjectLocked, ObjectMode, ObjectModeSeen, ObjectModeSet};
    check(&[ObjectLocked, ObjectMode, ObjectModeSet, ObjectModeSeen], || {
        let mut world = World::new(Placement::InPlace);
        let number = world.number_at(0);
        let host = world.start(0, {
            let number = number.clone();
            move |context| visit(&number, Some(context))
        });
        let visitor = thread::spawn({
            let number = number.clone();
            move || visit_and_settle(&number, None, 0)
        });
        assert!(world.turn(Wanted::AtHome), "nobody has to be waited for");
        settle(&number, host.join().unwrap() + visitor.join().unwrap());
    });
}
