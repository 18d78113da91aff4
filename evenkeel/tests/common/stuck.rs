//! Polls, closures and destructors that do not return until they are told to.

use crate::common::until::until;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A task or closure that stays inside one poll or call until it is told to leave.
#[derive(Clone)]
pub(crate) struct Stuck {
    begun: Arc<AtomicBool>,
    open: Arc<AtomicBool>,
    returned: Arc<AtomicBool>,
}

impl Stuck {
    pub(crate) fn new() -> Self {
        Self { begun: Arc::default(), open: Arc::default(), returned: Arc::default() }
    }

    pub(crate) fn body(&self) -> impl FnOnce() + Send + 'static {
        let own = self.clone();
        move || {
            own.begun.store(true, Ordering::Release);
            until(|| own.open.load(Ordering::Acquire));
            own.returned.store(true, Ordering::Release);
        }
    }

    /// Waits until it is inside.
    pub(crate) fn begun(&self) {
        until(|| self.begun.load(Ordering::Acquire));
    }

    /// Waits until it has left.
    pub(crate) fn returned(&self) {
        until(|| self.returned.load(Ordering::Acquire));
    }

    pub(crate) fn release(&self) {
        self.open.store(true, Ordering::Release);
    }
}
