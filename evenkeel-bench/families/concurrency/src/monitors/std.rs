//! The standard library's mutex and condition variable.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{Condition, Datum, Lock};

impl Lock for Mutex<Datum> {
    type Guard<'a> = MutexGuard<'a, Datum>;

    fn new() -> Self {
        Mutex::new(Datum::NEW)
    }

    async fn lock(&self) -> MutexGuard<'_, Datum> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Condition<Mutex<Datum>> for Condvar {
    fn new() -> Self {
        Condvar::new()
    }

    async fn wait<'a>(
        &'a self,
        _lock: &'a Mutex<Datum>,
        guard: MutexGuard<'a, Datum>,
    ) -> MutexGuard<'a, Datum> {
        self.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self) {
        self.notify_one();
    }
}
