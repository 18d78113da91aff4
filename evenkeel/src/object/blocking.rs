//! Operations from threads that are no workers.

#![allow(unsafe_code, reason = "whoever has come in makes its guard")]

use super::{EnterError, Object, guard};
use crate::primitives::spin::Backoff;
use crate::runtime::enter;

impl<T: Send> Object<T> {
    /// Enters the object from a thread that is no worker, calls `operation` and leaves; the thread waits until it gets in, and does not sleep meanwhile.
    ///
    /// # Errors
    /// As [`enter`](Self::enter).
    ///
    /// # Panics
    /// On a worker: it would stop it. And if `operation` does, which poisons the object.
    ///
    /// # Cost
    /// That of a lock; an object with a home is taken from there for the time of the operation, which takes two to ten microseconds. While it waits the thread keeps its core busy, or gives it away to others, but never sleeps; where operations [await inside](Self::enter_held), `evenkeel::block_on(object.with(..))` is better, which does.
    ///
    /// # Examples
    /// ```
    /// let object = evenkeel::object::Object::new(1);
    /// assert_eq!(object.call_blocking(|value| *value + 1).unwrap(), 2);
    /// ```
    #[track_caller]
    pub fn call_blocking<R>(&self, operation: impl FnOnce(&mut T) -> R) -> Result<R, EnterError> {
        enter::refuse_on_worker("call_blocking", "`with`");
        self.inner.refuse_own(None)?;
        let mut backoff = Backoff::new();
        let way = loop {
            if let Ok(way) = self.inner.enter(None) {
                break way;
            }
            backoff.snooze();
        };
        if way.is_poisoned() {
            self.inner.leave(way, None);
            return Err(EnterError::poisoned(self.inner.names()));
        }
        // SAFETY: this thread has just come in.
        Ok(unsafe { guard::run(&self.inner, way, operation) })
    }
}
