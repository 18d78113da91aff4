//! Spacing: whether objects have cache lines of their own.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crossbeam_utils::CachePadded;

/// The padding around each object of a run.
pub(super) trait Spacing: 'static {
    /// Around a lock with its value.
    type Lock<T: Send + Sync + 'static>: From<T> + Deref<Target = T> + Send + Sync + 'static;

    /// The same, in its own allocation, as an object is.
    type Lone<T: Send + Sync + 'static>: From<T> + Deref<Target = T> + Send + Sync + 'static;

    /// Around the value of an [`Object`](evenkeel::object::Object).
    type Object<T: Send + Sync + 'static>: From<T> + DerefMut<Target = T> + Send + Sync + 'static;
}

/// Each object has lines of its own.
pub(super) struct Apart;

impl Spacing for Apart {
    type Lock<T: Send + Sync + 'static> = CachePadded<T>;
    type Lone<T: Send + Sync + 'static> = LoneLines<T>;
    type Object<T: Send + Sync + 'static> = Lines<T>;
}

/// Objects without padding: many small ones, at each of which two parties rarely meet.
pub(super) struct Close;

impl Spacing for Close {
    type Lock<T: Send + Sync + 'static> = Bare<T>;
    type Lone<T: Send + Sync + 'static> = LoneBare<T>;
    type Object<T: Send + Sync + 'static> = Bare<T>;
}

/// A value without padding.
pub(super) struct Bare<T>(T);

/// A value followed by a cache line. A small object takes little more than one line, so neighbours
/// in the allocator, with different homes, would share lines. It is not aligned: alignment would
/// put it on another line than its object's door, while a lock and its value share one.
#[repr(C)]
pub(super) struct Lines<T>(T, [u8; 64]);

impl<T> From<T> for Lines<T> {
    fn from(value: T) -> Self {
        Self(value, [0; 64])
    }
}

impl<T> From<T> for Bare<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

macro_rules! around_a_value {
    ($name:ident) => {
        impl<T> Deref for $name<T> {
            type Target = T;

            #[inline(always)]
            fn deref(&self) -> &T {
                &self.0
            }
        }

        impl<T> DerefMut for $name<T> {
            #[inline(always)]
            fn deref_mut(&mut self) -> &mut T {
                &mut self.0
            }
        }
    };
}

around_a_value!(Bare);
around_a_value!(Lines);

/// A value without padding, and one on lines of its own, each in an allocation of its own.
pub(super) struct LoneBare<T>(Arc<T>);
pub(super) struct LoneLines<T>(Arc<CachePadded<T>>);

impl<T> From<T> for LoneBare<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for LoneBare<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> From<T> for LoneLines<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(CachePadded::new(value)))
    }
}

impl<T> Deref for LoneLines<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}
