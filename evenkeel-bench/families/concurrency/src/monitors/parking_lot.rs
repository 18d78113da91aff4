//! The mutex and the condition variable of parking_lot.

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::{Condition, Datum, Lock};

impl Lock for Mutex<Datum> {
    type Guard<'a> = MutexGuard<'a, Datum>;

    fn new() -> Self {
        Mutex::new(Datum::NEW)
    }

    async fn lock(&self) -> MutexGuard<'_, Datum> {
        self.lock()
    }
}

impl Condition<Mutex<Datum>> for Condvar {
    fn new() -> Self {
        Condvar::new()
    }

    async fn wait<'a>(
        &'a self,
        _lock: &'a Mutex<Datum>,
        mut guard: MutexGuard<'a, Datum>,
    ) -> MutexGuard<'a, Datum> {
        self.wait(&mut guard);
        guard
    }

    fn signal(&self) {
        self.notify_one();
    }
}
