//! The set that the thread's running code is inside of.

use super::handle::LocalJoinHandle;
use super::tasks::Tasks;
use crate::primitives::thread::thread_local;
use std::cell::RefCell;
use std::future::Future;
use std::panic::Location;
use std::rc::Rc;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Tasks>>> = const { RefCell::new(None) };
}

/// Spawns a local task in the set that the caller is inside of: that of the running local task, or
/// of the [`run_until`](super::LocalSet::run_until) that runs on this thread; of nested sets, the
/// inner one.
///
/// # Panics
/// If the caller is inside of no set; see [`LocalSet::spawn_local`](super::LocalSet::spawn_local).
/// A task that is spawned on a worker is never inside of one.
///
/// # Examples
/// ```
/// use evenkeel::task::{LocalSet, spawn_local};
/// use std::rc::Rc;
/// let set = LocalSet::new();
/// let course = evenkeel::block_on(set.run_until(async {
///     let course = Rc::new(90);
///     spawn_local(async move { spawn_local(async move { *course }).await.unwrap() }).await.unwrap()
/// }));
/// assert_eq!(course, 90);
/// ```
#[track_caller]
pub fn spawn_local<F>(future: F) -> LocalJoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let current = CURRENT.try_with(|current| current.borrow().clone()).ok().flatten();
    let Some(tasks) = current else {
        panic!(
            "`spawn_local` is called outside of a `LocalSet`: call it in a local task or inside `LocalSet::run_until`, \
             or use `LocalSet::spawn_local`"
        )
    };
    tasks.spawn(future, Location::caller())
}

/// Calls `f` inside of a set.
pub(super) fn enter<R>(tasks: &Rc<Tasks>, f: impl FnOnce(&Tasks) -> R) -> R {
    /// Restores the thread's former set when it is dropped.
    struct Inside {
        before: Option<Rc<Tasks>>,
    }

    impl Drop for Inside {
        fn drop(&mut self) {
            let before = self.before.take();
            // What comes out is alive elsewhere: the caller has it.
            let _ = CURRENT.try_with(|current| current.replace(before));
        }
    }

    let own = tasks.clone();
    // A thread that destroys its thread-locals has no current set.
    let before = CURRENT.try_with(|current| current.replace(Some(own)));
    let _inside = Inside { before: before.ok().flatten() };
    f(tasks)
}
