//! Models of reading, on the scheduler's own types. The values lie in loom's cells, so an operation
//! beside a read is a race, and so is a read that does not see the operation before.

#![allow(unsafe_code, reason = "an operation that is inside an object has its value")]

use super::*;
use crate::object::class::Placement;
use crate::object::door::model::{
    Number, World, a_reader_knows_that_it_is_inside, add, read_and, settle, visit,
};
use crate::object::inner::Inner;
use crate::primitives::mutation::{check, explore};

/// Makes an object that all may read.
fn shared(number: Number) -> Number {
    number.enter(None).expect("no other operation is inside");
    number.door.share();
    number.door.leave();
    number
}

/// A read by a note, if the object is shared. Returns what it has read.
fn read(number: &Inner<u32>, context: &Context) -> Option<u32> {
    read_and(number, context, false, || ())
}

/// An operation alone, which shares the object afterwards.
fn add_and_share(number: &Inner<u32>, context: Option<&Context>) -> u32 {
    if number.enter(context).is_err() {
        return 0;
    }
    add(number);
    number.door.share();
    number.door.leave();
    1
}

#[test]
fn a_reader_and_a_writer_exclude_each_other() {
    use Edge::{ObjectHeavy, ObjectLeave, ObjectLight, ObjectNoted};
    check(&[ObjectLight, ObjectHeavy, ObjectLeave, ObjectNoted], || {
        let mut world = World::new(Placement::InPlace);
        let number = shared(world.number());
        let reader = world.start(1, {
            let number = number.clone();
            move |context| {
                read(&number, context);
                read(&number, context);
            }
        });
        let written = visit(&number, None);
        reader.join().unwrap();
        settle(&number, written);
    });
}

/// The place of the reader's note has another object's note by the time that the writer looks.
#[test]
fn a_reader_that_is_inside_another_object_has_left_this_one() {
    check(&[Edge::ObjectNote], || {
        let mut world = World::new(Placement::InPlace);
        let [number, other] = [(); 2].map(|()| shared(world.number()));
        let reader = world.start(1, {
            let number = number.clone();
            move |context| {
                read(&number, context);
                read(&other, context);
            }
        });
        let written = visit(&number, None);
        reader.join().unwrap();
        settle(&number, written);
    });
}

#[test]
fn readers_see_what_was_written_before_the_object_was_shared() {
    check(&[Edge::ObjectUnlock], || {
        let mut world = World::new(Placement::InPlace);
        let number = world.number();
        let reader = world.start(1, {
            let number = number.clone();
            move |context| read(&number, context)
        });
        let written = add_and_share(&number, None);
        if let Some(value) = reader.join().unwrap() {
            assert_eq!(value, 1);
        }
        settle(&number, written);
    });
}

/// The host shares the object, and goes on as all others do.
#[test]
fn readers_see_what_the_host_has_written_and_the_host_sees_them_leave() {
    use Edge::{ObjectHeavy, ObjectLeave, ObjectLight, ObjectNoted, ObjectUnlock};
    check(&[ObjectUnlock, ObjectLight, ObjectHeavy, ObjectLeave, ObjectNoted], || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at_home();
        let host = world.start(0, {
            let number = number.clone();
            move |context| add_and_share(&number, Some(context)) + visit(&number, Some(context))
        });
        let reader = world.start(1, {
            let number = number.clone();
            move |context| read(&number, context)
        });
        let written = host.join().unwrap();
        reader.join().unwrap();
        settle(&number, written);
    });
}

/// One writer gives up and closes the object; the next makes no fence.
#[test]
fn a_closed_object_is_entered_by_the_writer_that_finds_the_readers_gone() {
    use Edge::{ObjectHeavy, ObjectLeave, ObjectLight, ObjectLock, ObjectNoted, ObjectUnlock};
    let edges = [ObjectLight, ObjectHeavy, ObjectLeave, ObjectNoted, ObjectLock, ObjectUnlock];
    check(&edges, || {
        let mut world = World::new(Placement::InPlace);
        let number = shared(world.number());
        let reader = world.start(0, {
            let number = number.clone();
            move |context| {
                read(&number, context);
            }
        });
        let writer = world.start(1, {
            let number = number.clone();
            move |context| visit(&number, Some(context))
        });
        let written = visit(&number, None) + visit(&number, None);
        reader.join().unwrap();
        settle(&number, writer.join().unwrap() + written);
    });
}

/// The object is shared and written in turns while another worker reads, which may have seen it
/// shared before. (Where it has not, the models' light fence stands in for its second look.)
#[test]
fn an_object_is_shared_and_shared_no_more_while_readers_come() {
    use Edge::{ObjectHeavy, ObjectLeave, ObjectLight, ObjectNoted, ObjectShared, ObjectUnlock};
    let edges = [ObjectLight, ObjectHeavy, ObjectLeave, ObjectNoted, ObjectShared, ObjectUnlock];
    check(&edges, || {
        let mut world = World::new(Placement::InPlace);
        let number = shared(world.number());
        let reader = world.start(1, {
            let number = number.clone();
            move |context| {
                read(&number, context);
                read(&number, context);
            }
        });
        let written = add_and_share(&number, None) + visit(&number, None);
        reader.join().unwrap();
        settle(&number, written);
    });
}

#[test]
fn a_shared_object_is_given_to_another_host() {
    use Edge::{ObjectHeavy, ObjectLeave, ObjectLight, ObjectNoted};
    check(&[ObjectLight, ObjectHeavy, ObjectLeave, ObjectNoted], || {
        let mut world = World::new(Placement::Home);
        let number = shared(world.number_at_home());
        let old = world.start(0, {
            let number = number.clone();
            move |context| {
                number.door.move_home(Some(0), Some(1));
                read(&number, context);
            }
        });
        let new = world.start(1, {
            let number = number.clone();
            move |context| visit(&number, Some(context)) + visit(&number, Some(context))
        });
        old.join().unwrap();
        settle(&number, new.join().unwrap());
    });
}

/// The host reads the object, and is found to be back once the object is not shared any more.
#[test]
fn a_suspended_object_is_shared() {
    use Edge::{ObjectHeavy, ObjectLeave, ObjectLight, ObjectNoted};
    check(&[ObjectLight, ObjectHeavy, ObjectLeave, ObjectNoted], || {
        let mut world = World::new(Placement::Home);
        let number = world.number_at_home();
        number.enter(None).expect("no other operation is inside");
        number.door.suspend();
        number.door.share();
        number.door.leave();
        let host = world.start(0, {
            let number = number.clone();
            move |context| {
                read(&number, context);
                visit(&number, Some(context)) + visit(&number, Some(context))
            }
        });
        let written = visit(&number, None);
        settle(&number, host.join().unwrap() + written);
    });
}

#[test]
fn a_reader_with_a_note_knows_that_it_is_inside() {
    explore(|| {
        let world = World::new(Placement::InPlace);
        let number = shared(world.number());
        a_reader_knows_that_it_is_inside(world, number, false);
    });
}
