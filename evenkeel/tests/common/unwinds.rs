//! A future that panics, and records whether its destructor runs during the unwinding.

use std::future::Future;
use std::panic::panic_any;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread;

/// Panics with "first" when polled. Its destructor records whether the thread is unwinding, and
/// then calls `then`, which may panic too.
pub(crate) struct Unwinds {
    noted: Arc<Mutex<Vec<bool>>>,
    then: fn(),
}

impl Unwinds {
    pub(crate) fn new(noted: &Arc<Mutex<Vec<bool>>>, then: fn()) -> Self {
        Self { noted: noted.clone(), then }
    }
}

impl Future for Unwinds {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        panic_any("first");
    }
}

impl Drop for Unwinds {
    fn drop(&mut self) {
        self.noted.lock().unwrap().push(thread::panicking());
        (self.then)();
    }
}
