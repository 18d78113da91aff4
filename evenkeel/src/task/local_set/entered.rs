//! Entering a set without a driver.

use super::LocalSet;
use super::current::Inside;
use std::marker::PhantomData;
use std::rc::Rc;
use std::thread;

impl LocalSet {
    /// Makes the set the current one of this thread until the guard is dropped: what calls
    /// [`spawn_local()`](super::spawn_local()) meanwhile spawns here, outside of futures too.
    ///
    /// The guard drives nothing: the tasks are polled when the set is. A driver of another set, or
    /// another guard, makes that set the current one for as long as it is inside. A set that is
    /// dropped while it is entered cancels at once what is spawned in it.
    ///
    /// Do not hold the guard over an `await`: the rest of the future's thread is then inside of the
    /// set too.
    ///
    /// # Panics
    /// The drop of the guard panics if the thread has entered a set since and has not left it,
    /// unless the thread panics already. It leaves its own set all the same, and the later one
    /// stays the current one until it is left.
    ///
    /// # Examples
    /// A constructor that spawns, and knows no set:
    /// ```
    /// use evenkeel::task::{LocalJoinHandle, LocalSet, spawn_local};
    /// use std::rc::Rc;
    /// struct Watch(LocalJoinHandle<u32>);
    /// impl Watch {
    ///     fn new(hours: Rc<u32>) -> Self {
    ///         Self(spawn_local(async move { *hours }))
    ///     }
    /// }
    /// let set = LocalSet::new();
    /// let watch = {
    ///     let _entered = set.enter();
    ///     Watch::new(Rc::new(4))
    /// };
    /// assert_eq!(evenkeel::block_on(set.run_until(watch.0)).unwrap(), 4);
    /// ```
    ///
    /// In the reverse order, or the drop panics:
    /// ```should_panic
    /// use evenkeel::task::LocalSet;
    /// let sets = [LocalSet::new(), LocalSet::new()];
    /// let first = sets[0].enter();
    /// let _second = sets[1].enter();
    /// drop(first);
    /// ```
    pub fn enter(&self) -> LocalEnterGuard {
        LocalEnterGuard { inside: Inside::new(&self.tasks), _thread: PhantomData }
    }
}

/// While it lives, a set is the current one of the thread. Returned by [`LocalSet::enter`], which
/// has examples.
///
/// It is not `Send`: it belongs to the thread that has made it. A guard that is
/// [forgotten](std::mem::forget) leaves its set entered for as long as the thread lives.
#[derive(Debug)]
#[must_use = "the set is left when the guard is dropped"]
pub struct LocalEnterGuard {
    inside: Inside,
    _thread: PhantomData<Rc<()>>,
}

impl Drop for LocalEnterGuard {
    fn drop(&mut self) {
        // The field is dropped afterwards, also by the panic.
        assert!(
            self.inside.is_last() || thread::panicking(),
            "a guard of `LocalSet::enter` is dropped while a set that this thread has entered later is not left: drop \
             the guards in the reverse of the order in which they were made"
        );
    }
}
