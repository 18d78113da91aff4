//! Models of readers that count themselves, on the scheduler's own types. The values lie in loom's
//! cells, so an operation beside a read is a race, and so is a read that does not see the operation
//! before, or an operation that does not see the read before.

#![allow(unsafe_code, reason = "an operation that is inside an object has its value")]

use super::*;
use crate::object::class::Placement;
use crate::object::door::model::{LOCK, World, settle, visit};
use crate::object::inner::Inner;
use crate::primitives::mutation::{check, explore};
use loom::thread;

/// A read, if it gets in. Gives what it has read.
fn read(number: &Inner<u32>, context: &Context) -> Option<u32> {
    let way = number.enter_as_reader(context, true)?;
    // SAFETY: it is inside, or loom says that it is not.
    let value = number.value.with(|value| unsafe { *value });
    number.door.leave_as_reader(way, Some(context));
    Some(value)
}

#[test]
fn a_counted_reader_and_writers_exclude_each_other() {
    check(&LOCK, || {
        let mut world = World::new(Placement::InPlace);
        let number = world.number();
        let reader = world.start(1, {
            let number = number.clone();
            move |context| {
                read(&number, context);
                read(&number, context);
                visit(&number, Some(context))
            }
        });
        let written = visit(&number, None) + visit(&number, None);
        settle(&number, written + reader.join().unwrap());
    });
}

#[test]
fn two_counted_readers_and_a_writer_exclude_each_other() {
    check(&LOCK, || {
        let mut world = World::new(Placement::InPlace);
        let number = world.number();
        let readers = [0, 1].map(|worker| {
            let number = number.clone();
            world.start(worker, move |context| _ = read(&number, context))
        });
        let written = visit(&number, None);
        for reader in readers {
            reader.join().unwrap();
        }
        settle(&number, written);
    });
}

/// One that reads for as long as an operation waits for it is in no way disturbed, and keeps no
/// other operation out for ever.
#[test]
fn an_operation_gives_up_and_the_next_one_enters() {
    check(&LOCK, || {
        let mut world = World::new(Placement::InPlace);
        let number = world.number();
        let reader = world.start(1, {
            let number = number.clone();
            move |context| {
                let Some(way) = number.enter_as_reader(context, true) else { return };
                // SAFETY: it is inside, or loom says that it is not.
                let before = number.value.with(|value| unsafe { *value });
                thread::yield_now();
                // SAFETY: as above.
                assert_eq!(number.value.with(|value| unsafe { *value }), before);
                number.door.leave_as_reader(way, Some(context));
            }
        });
        let written = visit(&number, None);
        reader.join().unwrap();
        settle(&number, written + visit(&number, None));
        assert_eq!(number.enter(None).map(|_| ()), Ok(()), "nothing is left in the way");
    });
}

#[test]
fn a_home_is_changed_and_the_class_goes_home_while_it_is_read() {
    check(&LOCK, || {
        let mut world = World::new(Placement::InPlace);
        let number = world.number_at(0);
        let reader = world.start(1, {
            let number = number.clone();
            move |context| {
                read(&number, context);
                visit(&number, Some(context))
            }
        });
        number.door.move_home(Some(0), Some(1));
        world.turn(crate::policy::object::Mode::AtHome);
        let written = visit(&number, None);
        settle(&number, written + reader.join().unwrap());
    });
}

#[test]
fn a_counted_reader_knows_that_it_is_inside() {
    explore(|| {
        let mut world = World::new(Placement::InPlace);
        let number = world.number();
        let reader = world.start(1, {
            let number = number.clone();
            move |context| {
                let way = number.enter_as_reader(context, true).expect("nothing is in the way");
                assert!(number.enter_as_reader(context, true).is_none(), "once");
                assert_eq!(number.enter(Some(context)), Err(Refusal::Taken));
                assert!(number.refuse_own(Some(context)).is_err(), "it would wait for itself");
                number.door.leave_as_reader(way, Some(context));
                assert!(number.refuse_own(Some(context)).is_ok());
                assert!(read(&number, context).is_some(), "nothing has closed it");
            }
        });
        reader.join().unwrap();
    });
}
