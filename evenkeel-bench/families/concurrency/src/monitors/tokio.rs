//! Tokio's mutex, with `Notify` for a condition.

use tokio::sync::{Mutex, MutexGuard, Notify};

use super::{Condition, Datum, Lock};

impl Lock for Mutex<Datum> {
    type Guard<'a> = MutexGuard<'a, Datum>;

    fn new() -> Self {
        Mutex::new(Datum::NEW)
    }

    async fn lock(&self) -> MutexGuard<'_, Datum> {
        self.lock().await
    }
}

/// Without a waiter it keeps a permit, so a signal between leaving and waiting is not lost.
impl Condition<Mutex<Datum>> for Notify {
    fn new() -> Self {
        Notify::new()
    }

    async fn wait<'a>(
        &'a self,
        lock: &'a Mutex<Datum>,
        guard: MutexGuard<'a, Datum>,
    ) -> MutexGuard<'a, Datum> {
        drop(guard);
        self.notified().await;
        lock.lock().await
    }

    fn signal(&self) {
        self.notify_one();
    }
}
