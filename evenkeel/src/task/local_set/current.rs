//! The set that the thread's running code is inside of.
//!
//! A thread keeps the sets that it has entered, the last one at the end: that is its current one.
//! An entry is left in any order, so none outlives its guard.

use super::handle::LocalJoinHandle;
use super::tasks::Tasks;
use crate::primitives::thread::thread_local;
use std::cell::RefCell;
use std::future::Future;
use std::panic::Location;
use std::rc::Rc;

thread_local! {
    static ENTRIES: RefCell<Entries> = const { RefCell::new(Entries { stack: Vec::new(), next: 0 }) };
}

/// The sets that a thread has entered and not left.
struct Entries {
    stack: Vec<Entry>,
    /// The number of the next entry.
    next: u64,
}

struct Entry {
    tasks: Rc<Tasks>,
    number: u64,
}

/// Spawns a local task in the set that the caller is inside of: that of the running local task, or
/// of the [`run_until`](super::LocalSet::run_until) that runs on this thread, or the one that the
/// thread has [entered](super::LocalSet::enter); of nested sets, the inner one.
///
/// # Panics
/// If the caller is inside of no set; see [`LocalSet::spawn_local`](super::LocalSet::spawn_local).
/// A task that a worker polls is never inside of one. A task of a
/// [current-thread](crate::Builder::new_current_thread) runtime is inside of the set that its
/// driver, the thread in `block_on`, has entered around that.
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
    spawn_here(future, None, Location::caller())
}

/// Spawns a local task in the current set, with a name or without one.
#[track_caller]
pub(in crate::task) fn spawn_here<F>(
    future: F,
    name: Option<Box<str>>,
    site: &'static Location<'static>,
) -> LocalJoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let last =
        |entries: &RefCell<Entries>| entries.borrow().stack.last().map(|entry| entry.tasks.clone());
    let Some(tasks) = ENTRIES.try_with(last).ok().flatten() else {
        panic!(
            "`spawn_local` is called outside of a `LocalSet`: call it in a local task or inside `LocalSet::run_until`, \
             enter a set by `LocalSet::enter`, or use `LocalSet::spawn_local`"
        )
    };
    tasks.spawn(future, name, site)
}

/// Calls `f` inside of a set.
pub(super) fn enter<R>(tasks: &Rc<Tasks>, f: impl FnOnce(&Tasks) -> R) -> R {
    let _inside = Inside::new(tasks);
    f(tasks)
}

/// While it lives, a set is the thread's current one, unless the thread has entered another one
/// since. Its drop leaves the set alone.
#[derive(Debug)]
pub(super) struct Inside {
    /// None on a thread that destroys its thread-locals: it has no current set.
    number: Option<u64>,
}

impl Inside {
    pub(super) fn new(tasks: &Rc<Tasks>) -> Self {
        let number = ENTRIES.try_with(|entries| {
            let mut entries = entries.borrow_mut();
            let number = entries.next;
            entries.next += 1;
            entries.stack.push(Entry { tasks: tasks.clone(), number });
            number
        });
        Self { number: number.ok() }
    }

    /// Returns whether the thread has entered no set since that it has not left.
    pub(super) fn is_last(&self) -> bool {
        let is_own = |entries: &RefCell<Entries>| {
            entries.borrow().stack.last().is_some_and(|entry| Some(entry.number) == self.number)
        };
        // At the end of the thread there is no order to keep.
        self.number.is_none() || ENTRIES.try_with(is_own).unwrap_or(true)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let left = ENTRIES.try_with(|entries| {
            let stack = &mut entries.borrow_mut().stack;
            let place = stack.iter().rposition(|entry| Some(entry.number) == self.number)?;
            Some(stack.remove(place))
        });
        // Not before: with the last entry of a set its memory is freed.
        drop(left);
    }
}
