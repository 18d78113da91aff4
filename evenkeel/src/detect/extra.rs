//! What structures have in builds that detect deadlocks, and not in others.
//!
//! Each hook is written once. In builds without a graph it finds no value in an [`Extra`], or
//! [`IS_ON`] false: both are constants, and the compiler removes what depends on them.

use std::marker::PhantomData;

/// The first expression in builds that detect deadlocks, the second in others.
macro_rules! either {
    ($on:expr, $off:expr $(,)?) => {{
        #[cfg(all(any(debug_assertions, feature = "detect"), not(any(loom, shuttle))))]
        {
            $on
        }
        #[cfg(not(all(any(debug_assertions, feature = "detect"), not(any(loom, shuttle)))))]
        {
            $off
        }
    }};
}

/// Whether this build detects deadlocks.
pub(super) const IS_ON: bool = either!(true, false);

/// A value, in builds that detect deadlocks. In others it has no size and no destructor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extra<T>(
    #[cfg(all(any(debug_assertions, feature = "detect"), not(any(loom, shuttle))))] T,
    PhantomData<T>,
);

impl<T> Extra<T> {
    #[inline(always)]
    pub(super) const fn new(value: T) -> Self {
        either!(Self(value, PhantomData), {
            std::mem::forget(value);
            Self(PhantomData)
        })
    }

    /// Calls `make` in builds that detect deadlocks alone.
    #[inline(always)]
    pub(super) fn of(make: impl FnOnce() -> T) -> Self {
        either!(Self(make(), PhantomData), {
            let _ = make;
            Self(PhantomData)
        })
    }

    #[inline(always)]
    pub(super) const fn get(&self) -> Option<&T> {
        either!(Some(&self.0), None)
    }

    #[inline(always)]
    pub(super) const fn get_mut(&mut self) -> Option<&mut T> {
        either!(Some(&mut self.0), None)
    }
}
