//! Threads of the operating system.

#[cfg(loom)]
pub(crate) use loom::thread::{Thread, current, yield_now};
#[cfg(shuttle)]
pub(crate) use shuttle::thread::{Thread, current, yield_now};
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::thread::{Thread, current, yield_now};
use std::time::Duration;

/// Loom's `thread_local!`, in the form that takes constants.
#[cfg(loom)]
macro_rules! loom_thread_local {
    ($(#[$attribute:meta])* static $name:ident: $type:ty = const $value:block;) => {
        loom::thread_local! { $(#[$attribute])* static $name: $type = $value; }
    };
}
#[cfg(loom)]
pub(crate) use loom_thread_local as thread_local;
#[cfg(shuttle)]
pub(crate) use shuttle::thread_local;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::thread_local;

/// Sleeps until unparked, or for at most `limit`; may return early. A model checker has no time, so
/// there a bounded sleep yields once.
pub(crate) fn park(limit: Option<Duration>) {
    #[cfg(loom)]
    match limit {
        Some(_) => loom::thread::yield_now(),
        None => loom::thread::park(),
    }
    #[cfg(shuttle)]
    match limit {
        Some(_) => shuttle::thread::yield_now(),
        None => shuttle::thread::park(),
    }
    #[cfg(not(any(loom, shuttle)))]
    match limit {
        Some(limit) => std::thread::park_timeout(limit),
        None => std::thread::park(),
    }
}
