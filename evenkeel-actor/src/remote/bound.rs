//! A value that one thread makes and uses, in a task that the type system lets others have.
//!
//! Transports may be bound to a thread, as MPI's is. On a runtime with one worker a task that
//! drives one is always run by the thread of that worker, which the compiler cannot know. So each
//! use looks which thread it is.

#![allow(unsafe_code, reason = "a value that is not `Send` is in a task")]

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// A number that no other thread has or will have; cheaper to read than what `std` calls a
    /// thread's id.
    static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
}

/// A value that only the thread that has made it uses. It is not pinned by where this is: what is
/// to be pinned is so in a box, whose memory is leaked with it.
///
/// # Panics
/// If another thread uses it. If another thread drops it, it is leaked.
pub(crate) struct Bound<T> {
    thread: u64,
    value: ManuallyDrop<T>,
}

// SAFETY: other threads can have it, and neither use nor drop the value.
unsafe impl<T> Send for Bound<T> {}

impl<T> Bound<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { thread: NUMBER.with(|&number| number), value: ManuallyDrop::new(value) }
    }

    fn is_here(&self) -> bool {
        // A thread whose own things are gone is taken for another.
        NUMBER.try_with(|&number| number == self.thread).unwrap_or(false)
    }

    fn look(&self) {
        assert!(
            self.is_here(),
            "a transport's task came to another thread: a node whose host is a task needs a runtime with one worker"
        );
    }
}

impl<T> Deref for Bound<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.look();
        &self.value
    }
}

impl<T> DerefMut for Bound<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.look();
        &mut self.value
    }
}

impl<T> Drop for Bound<T> {
    fn drop(&mut self) {
        if self.is_here() {
            // SAFETY: it is dropped here, once.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Bound;
    use std::cell::Cell;
    use std::rc::Rc;

    #[test]
    fn a_value_is_used_and_dropped_where_it_was_made() {
        let value = Rc::new(Cell::new(1));
        let bound = Bound::new(Rc::clone(&value));
        bound.set(2);
        drop(bound);
        assert_eq!((value.get(), Rc::strong_count(&value)), (2, 1));
    }

    #[test]
    fn another_thread_neither_uses_nor_drops_it() {
        let value = Rc::new(Cell::new(1));
        let bound = Bound::new(Rc::clone(&value));
        let used = std::thread::spawn(move || {
            bound.set(2);
        });
        assert!(used.join().is_err());
        assert_eq!((value.get(), Rc::strong_count(&value)), (1, 2), "it is leaked");
    }
}
