//! Models of poison: an operation has panicked, and whoever comes next knows.

#![allow(unsafe_code, reason = "whoever is inside an object has its value")]

use super::Refusal;
use super::model::{World, add, visit};
use crate::object::class::Placement;
use crate::object::inner::Inner;
use crate::object::way::Way;
use crate::policy::object::Mode as Wanted;
use crate::primitives::mutation::explore;
use loom::thread;
use std::sync::Arc;

#[test]
fn poison_that_is_cleared_stays_cleared() {
    explore(|| {
        let mut world = World::new(Placement::InPlace);
        let number = Arc::new(Inner::new(0, world.class.clone()));
        number.door.poison();
        let visitor = world.start(1, {
            let number = number.clone();
            move |context| {
                if let Ok(way) = number.enter(Some(context)) {
                    number.leave(way, Some(context));
                }
            }
        });
        number.door.clear_poison();
        visitor.join().unwrap();
        assert!(!number.door.is_poisoned());
    });
}

/// The visitor locks the object in place and finds that the mode has changed.
#[test]
fn a_visitor_that_turns_back_leaves_the_poison_of_the_host() {
    explore(|| {
        let mut world = World::new(Placement::InPlace);
        let number = world.number_at(0);
        let host = world.start(0, {
            let number = number.clone();
            move |context| {
                let way = number.enter(Some(context));
                if let Ok(way) = way {
                    number.door.poison();
                    number.leave(way, Some(context));
                }
                way.is_ok()
            }
        });
        let visitor = thread::spawn({
            let number = number.clone();
            move || visit(&number, None)
        });
        world.turn(Wanted::AtHome);
        let panicked = host.join().unwrap();
        visitor.join().unwrap();
        assert_eq!(number.door.is_poisoned(), panicked);
    });
}

/// A host that panics inside, and a visitor that comes in this way once `turn` has been called: it knows of the panic if it sees what was done before.
fn visit_after_panic(
    turn: impl Fn(&World),
    come_in: impl Fn(&Inner<u32>) -> Result<Way, Refusal> + 'static,
) {
    let mut world = World::new(Placement::Home);
    let number = world.number_at(0);
    let host = world.start(0, {
        let number = number.clone();
        move |context| {
            if let Ok(way) = number.enter(Some(context)) {
                add(&number);
                number.door.poison();
                number.leave(way, Some(context));
            }
        }
    });
    turn(&world);
    if let Ok(way) = come_in(&number) {
        // SAFETY: this thread is inside, or loom says that it is not.
        let value = number.value.with(|value| unsafe { *value });
        assert_eq!(way.is_poisoned(), value > 0);
        number.leave(way, None);
    }
    host.join().unwrap();
}

/// The visitor locks the object while the host is inside, and waits for it.
#[test]
fn a_visitor_that_takes_the_object_sees_the_poison_of_the_host() {
    explore(|| visit_after_panic(|_| (), |number| number.door.take(&number.class, None)));
}

#[test]
fn a_visitor_of_a_class_that_drains_sees_the_poison_of_the_host() {
    let turn = |world: &World| _ = world.turn(Wanted::InPlace);
    explore(move || visit_after_panic(turn, |number| number.enter(None)));
}
