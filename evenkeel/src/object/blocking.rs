//! Operations from threads that are no workers.

#![allow(unsafe_code, reason = "an operation that has come in makes its guard")]

use super::{EnterError, Object, guard, visit};
use crate::primitives::spin::Backoff;
use crate::processor::current;
use crate::runtime::block_on;

impl<T: Send> Object<T> {
    /// Enters the object from a thread that is no worker, calls `operation` and leaves; the thread
    /// waits until it gets in. The destructor of a thread-local may do so too.
    ///
    /// # Errors
    /// As [`enter`](Self::enter).
    ///
    /// # Panics
    /// On a worker: it would stop it. Also with the panic of `operation`, which poisons the object.
    ///
    /// # Cost
    /// As much as a lock, and as fetching the value if the object's home is elsewhere. While the
    /// thread waits it keeps its core busy, or yields it to other threads. It sleeps behind an
    /// operation that [awaits inside](Self::enter_held), where it stands in line, and behind a
    /// guard that another thread keeps between two polls of a `block_on` or a local task. Inside a
    /// current-thread runtime that no other thread drives, it drives that meanwhile, as
    /// [`block_on`](crate::block_on()) does.
    ///
    /// # Examples
    /// ```
    /// let object = evenkeel::object::Object::new(1);
    /// assert_eq!(object.call_blocking(|value| *value + 1).unwrap(), 2);
    /// ```
    #[track_caller]
    pub fn call_blocking<R>(&self, operation: impl FnOnce(&mut T) -> R) -> Result<R, EnterError> {
        current::refuse_on_worker("call_blocking", "`with`");
        self.inner.refuse_own_thread()?;
        let mut backoff = Backoff::new();
        let mut turn = None;
        let way = loop {
            if let Ok(way) = self.inner.enter(None) {
                break way;
            }
            if turn.is_none() && self.inner.door.is_held() {
                turn = Some(block_on(self.inner.turn())?);
            }
            if self.inner.is_kept() {
                block_on(self.inner.release());
            }
            backoff.snooze();
        };
        drop(turn);
        let way = visit::refuse_poisoned(&self.inner, way)?;
        // SAFETY: this thread has just come in.
        Ok(unsafe { guard::run(&self.inner, way, operation) })
    }
}
