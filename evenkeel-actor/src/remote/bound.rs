//! A value that one thread makes and uses, in a task that may move between threads for the type
//! system.
//!
//! Transports may be bound to a thread, as MPI's is. On a runtime with one worker thread and no
//! reliefs, that thread always runs the task that drives the transport. The compiler cannot know
//! that, so each use checks the thread.

#![allow(unsafe_code, reason = "a value that is not `Send` is in a task")]

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// A number that no other thread has or will have; cheaper to read than the thread id of `std`.
    static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
}

/// A value that only the thread which made it uses. Pinning this does not pin the value: what has
/// to be pinned is in a box, and the memory of the box is leaked with the value.
///
/// # Panics
/// If another thread uses it. If another thread drops it, it is leaked.
pub(crate) struct Bound<T> {
    thread: u64,
    value: ManuallyDrop<T>,
}

// SAFETY: other threads can have the `Bound`, and neither use nor drop the value.
unsafe impl<T> Send for Bound<T> {}

impl<T> Bound<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { thread: NUMBER.with(|&number| number), value: ManuallyDrop::new(value) }
    }

    fn is_here(&self) -> bool {
        // A thread that has lost its thread-local variables counts as another one.
        NUMBER.try_with(|&number| number == self.thread).unwrap_or(false)
    }

    fn look(&self) {
        assert!(
            self.is_here(),
            "a transport's task came to another thread: a node whose host is a task needs a runtime with one worker thread and no reliefs"
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
            // SAFETY: the value is dropped here, once.
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
