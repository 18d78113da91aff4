//! Primitives of the platform: one set of names for `std`, loom and shuttle.
//!
//! Every atomic, cell, lock, fence, park and spin that a protocol rests on goes through this
//! module. So the code that runs in production is the code that the model checkers explore. `--cfg
//! loom` swaps in loom's types (weak memory, tiny models), `--cfg shuttle` swaps in shuttle's
//! (sequentially consistent, whole scheduler).
//!
//! Invariant: this room knows nothing of tasks, processors or policies.

/// Makes a function `const`, but for models: their atomics are made at run time.
macro_rules! const_unless_model {
    ($(#[$meta:meta])* $vis:vis const fn $name:ident($($args:tt)*) -> $output:ty $body:block) => {
        #[cfg(not(any(loom, shuttle)))]
        $(#[$meta])*
        $vis const fn $name($($args)*) -> $output $body

        #[cfg(any(loom, shuttle))]
        $(#[$meta])*
        $vis fn $name($($args)*) -> $output $body
    };
}
pub(crate) use const_unless_model;

pub(crate) mod affinity;
pub(crate) mod ahead;
pub(crate) mod atomic;
pub(crate) mod cell;
pub(crate) mod clock;
pub(crate) mod counter;
pub(crate) mod cpu;
pub(crate) mod fence;
pub(crate) mod list;
pub(crate) mod misses;
#[cfg(loom)]
pub(crate) mod mutation;
pub(crate) mod once;
pub(crate) mod prefetch;
pub(crate) mod probe;
pub(crate) mod slab;
pub(crate) mod slots;
pub(crate) mod spin;
pub(crate) mod spin_lock;
pub(crate) mod thread;
pub(crate) mod unwind;
pub(crate) mod wait_word;
pub(crate) mod wakers;

#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard};
#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

#[cfg(loom)]
pub(crate) use loom::sync::Condvar;

/// Locks `mutex` and ignores poisoning: each critical section of the crate leaves its data whole
/// even when it unwinds, because none of them runs a caller's code.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
