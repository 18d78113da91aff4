//! Models of readers that count themselves, on the scheduler's own types. The values lie in loom's
//! cells, so an operation beside a read is a race, and so is a read that does not see the operation
//! before, or an operation that does not see the read before.

use super::*;
use crate::object::class::Placement;
use crate::object::door::model::{
    LOCK, World, a_reader_knows_that_it_is_inside, read_and, settle, visit,
};
use crate::object::inner::Inner;
use crate::primitives::mutation::{check, explore};
use loom::thread;

/// A read that counts itself, if it gets in. Returns what it has read.
fn read(number: &Inner<u32>, context: &Context) -> Option<u32> {
    read_and(number, context, true, || ())
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

/// A reader is not disturbed while an operation waits for it, and keeps no other operation out for
/// ever.
#[test]
fn an_operation_gives_up_and_the_next_one_enters() {
    check(&LOCK, || {
        let mut world = World::new(Placement::InPlace);
        let number = world.number();
        let reader = world.start(1, {
            let number = number.clone();
            move |context| _ = read_and(&number, context, true, thread::yield_now)
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
        let number = world.number_at_home();
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
        let world = World::new(Placement::InPlace);
        let number = world.number();
        a_reader_knows_that_it_is_inside(world, number, true);
    });
}
