//! The numbers of coroutines, which are those that tasks do not get.

use crate::primitives::thread::thread_local;
pub(super) use crate::raw_task::id::Id;
use crate::raw_task::id::Ids;
use std::cell::Cell;

thread_local! {
    /// This thread's own.
    static IDS: Cell<Ids> = const { Cell::new(Ids::new()) };
}

/// A number that no other coroutine has, had or will have.
#[inline]
pub(super) fn take() -> Id {
    IDS.with(|ids| {
        let mut own = ids.get();
        let id = own.take();
        ids.set(own);
        id
    })
}
