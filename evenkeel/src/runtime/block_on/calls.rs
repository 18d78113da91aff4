//! The calls of `block_on` that a thread is inside, one within the other.

use super::signal::Signal;
use crate::primitives::thread::thread_local;
use crate::processor::shared::Shared;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

thread_local! {
    /// The calls of `block_on` that this thread is inside, the innermost last.
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

/// A call of `block_on`. It does not count as a share of its signal: `detect` counts those.
struct Call {
    signal: Weak<Signal>,
    /// The address of the runtime that the call is inside.
    inside: Option<*const Shared>,
    is_deaf: bool,
}

/// While this lives, wakes of the innermost `block_on` of this thread inside a runtime are not
/// counted: the thread does not come to them, and may sleep inside of that runtime otherwise. Its
/// future is polled once more afterwards.
pub(in crate::runtime) struct Deaf(Option<Weak<Signal>>);

impl Deaf {
    pub(in crate::runtime) fn to(shared: &Arc<Shared>) -> Self {
        // A thread that destroys its thread-locals is inside no call that is noted.
        let signal = CALLS.try_with(|calls| {
            let mut calls = calls.borrow_mut();
            let is_of = |call: &&mut Call| call.inside == Some(Arc::as_ptr(shared));
            let call = calls.iter_mut().rev().find(is_of)?;
            let was_deaf = std::mem::replace(&mut call.is_deaf, true);
            (!was_deaf).then(|| call.signal.clone())
        });
        let signal = signal.ok().flatten();
        if let Some(signal) = signal.as_ref().and_then(Weak::upgrade) {
            signal.deafen();
        }
        Self(signal)
    }
}

impl Drop for Deaf {
    fn drop(&mut self) {
        let Some(signal) = &self.0 else { return };
        _ = CALLS.try_with(|calls| {
            let mut calls = calls.borrow_mut();
            let call = calls.iter_mut().find(|call| call.signal.ptr_eq(signal));
            if let Some(call) = call {
                call.is_deaf = false;
            }
        });
        // The signal counts as woken, as it has all the time.
        if let Some(signal) = signal.upgrade()
            && let Some(shared) = &signal.inside
        {
            shared.clock.come();
        }
    }
}

/// Notes a call of this thread while this lives.
pub(super) struct Noted(bool);

impl Noted {
    pub(super) fn new(signal: &Arc<Signal>) -> Self {
        let inside = signal.inside.as_ref().map(Arc::as_ptr);
        let call = Call { signal: Arc::downgrade(signal), inside, is_deaf: false };
        Self(CALLS.try_with(|calls| calls.borrow_mut().push(call)).is_ok())
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if self.0 {
            // Calls end in the order in which they are nested.
            _ = CALLS.try_with(|calls| calls.borrow_mut().pop());
        }
    }
}
