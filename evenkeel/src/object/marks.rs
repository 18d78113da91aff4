//! What an entry carries with it: marks in one word, and in a box what few entries need. It lies in the task that travels.

use std::mem::ManuallyDrop;

/// What has been found out about an entry. Bits of one word: where the compiler clears it by stores that overlap, whoever reads waits until they have left the store buffer, which is a tenth of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(u32);

impl Marks {
    /// The others have had their turn.
    pub(super) const COUNTED: u32 = 1;
    /// Its worker's ledger wants to hear of it.
    pub(super) const SAMPLED: u32 = 2;
    /// It is one of many, of which few are asked what their way in is good for.
    pub(super) const ASKED: u32 = 4;

    #[inline(always)]
    pub(super) fn has(self, mark: u32) -> bool {
        self.0 & mark != 0
    }

    pub(super) fn set(&mut self, mark: u32, is_so: bool) {
        self.0 = if is_so { self.0 | mark } else { self.0 & !mark };
    }
}

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
