//! The memory of an object beside its value, counted at the allocator.

#![allow(unsafe_code, reason = "an allocator that counts")]

use evenkeel::object::{Object, Placement, enter_all};
use evenkeel::{Builder, block_on};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// The bytes that the thread has allocated and not freed.
    static BYTES: Cell<isize> = const { Cell::new(0) };
    /// The allocations of the thread.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    let _ = BYTES.try_with(|count| count.set(count.get() + bytes));
}

struct Counting;

// SAFETY: this is the system's allocator; the count is a thread-local without a destructor, which
// allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most that an object takes beside its value, in bytes: the two counts of its handles, its
/// class and its lock. So an `Object<u64>` takes 8 bytes more than an
/// `Arc<parking_lot::Mutex<u64>>`.
const BAR: isize = 32;

const OBJECTS: usize = 1_000_000;

/// Makes a million objects, and returns the bytes of each beside its value and its handle.
fn beside<T>(value: impl Fn(usize) -> T, check: impl Fn(&[Object<T>])) -> isize {
    let mut objects = Vec::with_capacity(OBJECTS);
    let before = BYTES.get();
    objects.extend((0..OBJECTS).map(|number| Object::new(value(number))));
    let taken = BYTES.get() - before;
    check(&objects);
    drop(objects);
    let handles = (OBJECTS * size_of::<Object<T>>()) as isize;
    assert_eq!(BYTES.get(), before - handles, "all of it is given back");
    assert_eq!(taken % OBJECTS as isize, 0, "each takes the same");
    taken / OBJECTS as isize - size_of::<T>() as isize
}

/// Objects without waiters have no line; the first waiter makes one.
#[test]
fn of_a_million_objects() {
    // Allocates what the thread and the class need once.
    block_on(async { Object::new(()).with(|()| ()).await.unwrap() });
    Object::new(()).call_blocking(|()| ()).unwrap();
    let enter = |objects: &[Object<u64>]| {
        for (number, object) in objects.iter().enumerate() {
            assert_eq!(object.call_blocking(|value| *value), Ok(number as u64));
        }
    };
    let of_a_word = beside(|number| number as u64, enter);
    let of_nothing = beside(|_| (), |_| ());
    let of_two_lines = beside(|_| [0_u8; 128], |_| ());
    println!("beside its value: u64 {of_a_word}, () {of_nothing}, [u8; 128] {of_two_lines}");
    for bytes in [of_a_word, of_nothing, of_two_lines] {
        assert!(bytes <= BAR, "{bytes}");
    }
}

/// Objects of a runtime, in place and at homes, take the same.
#[test]
fn of_a_million_objects_of_a_runtime() {
    let runtime = Builder::new().workers(2).build().expect("the runtime starts");
    for (name, placement) in [("here", Placement::InPlace), ("at home", Placement::Home)] {
        runtime.block_on(async {
            let class = Object::new(0_u64).placed(name, placement);
            let mut objects = Vec::with_capacity(OBJECTS);
            let before = BYTES.get();
            objects.extend((0..OBJECTS).map(|number| Object::new(number as u64).class(name)));
            let taken = BYTES.get() - before;
            assert!(taken <= (BAR + 8) * OBJECTS as isize, "{taken}");
            for (number, object) in objects.iter().enumerate().step_by(10_007) {
                assert_eq!(object.home().is_some(), class.home().is_some());
                assert_eq!(object.with(|value| *value).await, Ok(number as u64));
            }
        });
    }
}

/// An entry lies in the travelling task.
#[test]
fn of_an_entry() {
    let object = Object::new(0_u64);
    assert_eq!(size_of_val(&object.enter()), 48);
    assert_eq!(size_of_val(&object.with(|_| ())), 48);
    assert_eq!(size_of_val(&object.try_enter().unwrap().unwrap()), 16);
}

/// One allocation is for the guards, which are returned as they are, and one for the order.
#[test]
fn several_objects_are_entered_with_two_allocations() {
    block_on(async {
        let objects = [0, 1, 2, 3, 4].map(Object::new);
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3], [1, 2, 3, 4, 0]] {
            let all = order.map(|number| &objects[number]);
            drop(enter_all(&all).await.unwrap());
            let before = ALLOCATIONS.get();
            let guards = enter_all(&all).await.unwrap();
            assert_eq!(ALLOCATIONS.get() - before, 2);
            assert!(guards.iter().map(|guard| **guard).eq(order));
        }
    });
}
