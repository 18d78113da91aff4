//! A value that is set once.

#[cfg(not(loom))]
pub(crate) use std::sync::OnceLock;

#[cfg(loom)]
pub(crate) use watched::OnceLock;

/// Loom does not know the standard library's: here loom's own word says that the value is set. So a
/// model fails in which a thread relies on a value that another thread has set, and has not
/// synchronised with that.
#[cfg(loom)]
mod watched {
    use crate::primitives::atomic::{AtomicBool, Ordering};

    pub(crate) struct OnceLock<T> {
        is_set: AtomicBool,
        value: std::sync::OnceLock<T>,
    }

    impl<T> OnceLock<T> {
        pub(crate) fn new() -> Self {
            Self { is_set: AtomicBool::new(false), value: std::sync::OnceLock::new() }
        }

        pub(crate) fn get(&self) -> Option<&T> {
            if self.is_set.load(Ordering::Acquire) { self.value.get() } else { None }
        }

        /// One thread at a time calls this.
        pub(crate) fn get_or_init(&self, init: impl FnOnce() -> T) -> &T {
            let value = self.value.get_or_init(init);
            self.is_set.store(true, Ordering::Release);
            value
        }
    }
}
