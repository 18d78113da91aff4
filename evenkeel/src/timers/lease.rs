//! The wheels of runtimes: their memory is lent, and never freed.
//!
//! # Why a node may outlive its runtime
//! A future that was polled inside a runtime can be dropped after the runtime is gone. So the
//! memory of wheels is never freed, but lent: the end of a runtime makes its timers *orphaned*
//! under the lock, wakes them, and gives the wheel to the next runtime. A future that cancels late
//! takes a lock that still exists, and finds that its node is not armed.

use super::{Rules, Timers};
use std::ops::Deref;

/// A processor's timers, for as long as its runtime lives.
#[derive(Debug)]
pub(crate) struct Lease(&'static Timers);

impl Lease {
    pub(crate) fn new(rules: Rules) -> Self {
        let timers = store::take().unwrap_or_else(|| Box::leak(Box::new(Timers::new())));
        timers.open(rules);
        Self(timers)
    }

    /// Returns the timers, which are never freed.
    #[inline(always)]
    pub(crate) fn get(&self) -> &'static Timers {
        self.0
    }
}

impl Deref for Lease {
    type Target = Timers;

    #[inline(always)]
    fn deref(&self) -> &Timers {
        self.0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        store::put(self.0);
    }
}

/// The store: wheels that no runtime has.
#[cfg(not(any(loom, shuttle)))]
mod store {
    use crate::primitives::{Mutex, lock};
    use crate::timers::Timers;

    static FREE: Mutex<Vec<&'static Timers>> = Mutex::new(Vec::new());

    pub(crate) fn take() -> Option<&'static Timers> {
        lock(&FREE).pop()
    }

    pub(crate) fn put(timers: &'static Timers) {
        timers.close();
        lock(&FREE).push(timers);
    }
}

/// A checker's objects belong to one execution: no wheel is lent twice, and a wheel that is dropped
/// with a failed execution is left alone.
#[cfg(any(loom, shuttle))]
mod store {
    use crate::timers::Timers;

    pub(crate) fn take() -> Option<&'static Timers> {
        None
    }

    pub(crate) fn put(_timers: &'static Timers) {}
}
