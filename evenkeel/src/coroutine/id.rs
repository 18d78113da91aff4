//! The numbers of coroutines, which are distinct from those of tasks.

use crate::primitives::thread::thread_local;
pub(super) use crate::raw_task::id::Id;
use crate::raw_task::id::Ids;
use std::cell::Cell;

thread_local! {
    /// This thread's numbers.
    static IDS: Cell<Ids> = const { Cell::new(Ids::new()) };
}

/// Returns a number that no other coroutine ever has.
#[inline]
pub(super) fn take() -> Id {
    IDS.with(|ids| {
        let mut own = ids.get();
        let id = own.take();
        ids.set(own);
        id
    })
}
