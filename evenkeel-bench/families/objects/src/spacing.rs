//! Whether objects have cache lines of their own.

use std::ops::{Deref, DerefMut};

use crossbeam_utils::CachePadded;

/// What is around each object of a run.
pub(super) trait Spacing: 'static {
    /// Around a lock with its value.
    type Lock<T: Send + Sync + 'static>: From<T> + Deref<Target = T> + Send + Sync + 'static;

    /// Around the value of an [`Object`](evenkeel::object::Object).
    type Object<T: Send + Sync + 'static>: From<T> + DerefMut<Target = T> + Send + Sync + 'static;
}

/// Each object has lines of its own.
pub(super) struct Apart;

impl Spacing for Apart {
    type Lock<T: Send + Sync + 'static> = CachePadded<T>;
    type Object<T: Send + Sync + 'static> = Lines<T>;
}

/// A value on lines of its own. A small object takes little more than one line, so those that the
/// allocator puts side by side, whose homes are not the same, would share some.
#[repr(align(64))]
pub(super) struct Lines<T>(T);

impl<T> From<T> for Lines<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for Lines<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Lines<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
