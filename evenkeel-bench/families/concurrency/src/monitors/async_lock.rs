//! The mutex of async-lock, with an event of event-listener for a condition.

use async_lock::{Mutex, MutexGuard};
use event_listener::Event;

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

/// A waiter listens before it releases the lock, so no signal is lost.
impl Condition<Mutex<Datum>> for Event {
    fn new() -> Self {
        Event::new()
    }

    async fn wait<'a>(
        &'a self,
        lock: &'a Mutex<Datum>,
        guard: MutexGuard<'a, Datum>,
    ) -> MutexGuard<'a, Datum> {
        let signal = self.listen();
        drop(guard);
        signal.await;
        lock.lock().await
    }

    fn signal(&self) {
        self.notify(1);
    }
}
