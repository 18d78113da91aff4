//! Operations that await inside.

#![allow(unsafe_code, reason = "a held operation has the value")]

use super::inner::Inner;
use super::line::Turn;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Holding an [`Object`](super::Object) across awaits: access to its value, until it is dropped.
///
/// All other operations wait in line meanwhile, first come first served. The object stays where it
/// is; a task that is polled by another worker goes on from there.
///
/// # Panics
/// A panic that drops it poisons the object.
///
/// # Cancel safety
/// A future, or a task, that is dropped while it has the guard ends the operation where it is: the
/// value stays as it was left, and nothing is poisoned.
///
/// # Examples
/// A refill that takes several turns, which other operations do not see half done:
/// ```
/// use evenkeel::object::{HeldGuard, Object};
///
/// async fn refill(mut stock: HeldGuard<'_, Vec<u32>>) {
///     while stock.len() < 3 {
///         evenkeel::yield_now().await;
///         stock.push(7);
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let stock = Object::new(Vec::new());
///     let held = stock.enter_held().await.unwrap();
///     let counts = evenkeel::spawn({
///         let stock = stock.clone();
///         async move { stock.with(|stock| stock.len()).await.unwrap() }
///     });
///     refill(held).await;
///     assert_eq!(counts.await.unwrap(), 3);
/// });
/// ```
#[must_use = "the operation ends as soon as its guard is dropped"]
pub struct HeldGuard<'a, T> {
    object: &'a Inner<T>,
    turn: Turn,
    panicking: bool,
}

// SAFETY: the value may go to another thread, and any thread may give back the lock that the guard
// has.
unsafe impl<T: Send> Send for HeldGuard<'_, T> {}
// SAFETY: a shared guard gives shared access to the value and nothing else.
unsafe impl<T: Sync> Sync for HeldGuard<'_, T> {}

impl<'a, T> HeldGuard<'a, T> {
    /// # Safety
    /// The caller has the lock, with no note, and gives it to the guard.
    pub(super) unsafe fn new(object: &'a Inner<T>, turn: Turn) -> Self {
        Self { object, turn, panicking: std::thread::panicking() }
    }
}

impl<T> Deref for HeldGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard has the lock until it is dropped, and the borrow ends before.
        self.object.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for HeldGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above; no other operation is inside, and `&mut self` rules out another borrow.
        self.object.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for HeldGuard<'_, T> {
    fn drop(&mut self) {
        if !self.panicking && std::thread::panicking() {
            self.object.door.poison();
        }
        self.turn.end();
        self.object.door.leave();
    }
}

impl<T: fmt::Debug> fmt::Debug for HeldGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HeldGuard").field(&**self).finish()
    }
}
