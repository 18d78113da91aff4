//! The handles of an object: they count themselves, and the last one frees it. As `Arc`, but for
//! weak handles, of which there are none: their count would take 8 bytes of each object.
//!
//! # Why it is not used once it is freed
//! A handle is counted from before it exists until it is dropped. Each drop is a release, and who
//! counts down to zero acquires all of them: it sees what was done by any handle. A handle that is
//! made from another one needs no order: the other one is counted meanwhile.

#![allow(unsafe_code, reason = "it frees what the handles share")]

use super::inner::Inner;
use crate::primitives::atomic::{AtomicUsize, Edge, Ordering, edge};
use std::ops::Deref;
use std::ptr::NonNull;

/// Handles of one object, from which on another one ends the process: those of a program that
/// forgets them in a loop. As many as that again fit into the count.
const MOST: usize = isize::MAX as usize;

/// How many handles there are.
#[derive(Debug)]
pub(super) struct Count(AtomicUsize);

impl Count {
    pub(super) fn one() -> Self {
        Self(AtomicUsize::new(1))
    }
}

/// A handle of an object.
pub(super) struct Handle<T>(NonNull<Inner<T>>);

// SAFETY: as `Arc`: a handle gives `&Inner` to its thread, and the last one drops that there.
unsafe impl<T> Send for Handle<T> where Inner<T>: Send + Sync {}
// SAFETY: as above; from a shared handle others are made.
unsafe impl<T> Sync for Handle<T> where Inner<T>: Send + Sync {}

impl<T> Handle<T> {
    /// The first one.
    pub(super) fn new(inner: Inner<T>) -> Self {
        Self(NonNull::from(Box::leak(Box::new(inner))))
    }

    /// The object itself, if this is its only handle.
    pub(super) fn get_mut(&mut self) -> Option<&mut Inner<T>> {
        // What was done by the others is over, and this thread sees it.
        if self.handles.0.load(Ordering::Acquire) != 1 {
            return None;
        }
        // SAFETY: the only handle is borrowed, so there is no other borrow, and no other handle
        // comes to be.
        Some(unsafe { self.0.as_mut() })
    }

    /// Whether both are of the same object.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Deref for Handle<T> {
    type Target = Inner<T>;

    #[inline(always)]
    fn deref(&self) -> &Inner<T> {
        // SAFETY: it is freed when its last handle is dropped, and this one is not.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Clone for Handle<T> {
    #[inline]
    fn clone(&self) -> Self {
        if self.handles.0.fetch_add(1, Ordering::Relaxed) > MOST {
            std::process::abort();
        }
        Self(self.0)
    }
}

impl<T> Drop for Handle<T> {
    #[inline]
    fn drop(&mut self) {
        if self.handles.0.fetch_sub(1, edge(Edge::ObjectHandle, Ordering::Release)) == 1 {
            self.free();
        }
    }
}

impl<T> Handle<T> {
    /// Frees the object, whose last handle this was.
    #[inline(never)]
    fn free(&mut self) {
        self.handles.0.load(edge(Edge::ObjectLastHandle, Ordering::Acquire));
        // SAFETY: it was made from a box, and no handle is left that would use it or free it again.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

#[cfg(all(test, loom))]
mod model {
    //! A model of handles that are dropped at the same time, on the object's own type.

    use super::*;
    use crate::object::class::{Class, Placement};
    use crate::object::ledger::Ledgers;
    use crate::primitives::cell::UnsafeCell;
    use crate::primitives::mutation::check;
    use std::sync::Arc;

    /// What is written when it is dropped: a race with a thread that uses it yet.
    struct Value(UnsafeCell<u32>);

    impl Drop for Value {
        fn drop(&mut self) {
            // SAFETY: no thread uses it any more, or loom says so.
            self.0.with_mut(|value| unsafe { *value = 1 });
        }
    }

    fn uses(object: &Handle<Value>) {
        object.value.with(|value| {
            // SAFETY: it is changed when it is dropped, which is later, or loom says so.
            let value = unsafe { &(*value).0 };
            // SAFETY: as above.
            assert_eq!(value.with(|value| unsafe { *value }), 0);
        });
    }

    #[test]
    fn the_last_handle_frees_the_object_after_all_that_was_done_by_others() {
        check(&[Edge::ObjectHandle, Edge::ObjectLastHandle], || {
            let class = Class::new("values", Placement::InPlace, None, Ledgers::new(0));
            let value = Value(UnsafeCell::new(0));
            let object = Handle::new(Inner::new(value, Arc::new(class)));
            let other = object.clone();
            let user = loom::thread::spawn(move || uses(&other));
            uses(&object);
            drop(object);
            user.join().unwrap();
        });
    }
}
