//! What few entries need, in a box: an entry lies in the task that travels.

use std::mem::ManuallyDrop;

/// What there is rarely, in a box; that there is none is seen without a call.
#[derive(Debug)]
pub(super) struct Rarely<T>(ManuallyDrop<Option<Box<T>>>);

impl<T> Default for Rarely<T> {
    #[inline(always)]
    fn default() -> Self {
        Self(ManuallyDrop::new(None))
    }
}

impl<T> Rarely<T> {
    pub(super) fn new(rare: T) -> Self {
        Self(ManuallyDrop::new(Some(Box::new(rare))))
    }

    #[inline(always)]
    pub(super) fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }

    #[cold]
    pub(super) fn take(&mut self) -> Option<Box<T>> {
        self.0.take()
    }

    /// Drops it, if there is any.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        if self.0.is_some() {
            drop(self.take());
        }
    }
}

impl<T: Default> Rarely<T> {
    pub(super) fn get_or_default(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T> Drop for Rarely<T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.clear();
    }
}
