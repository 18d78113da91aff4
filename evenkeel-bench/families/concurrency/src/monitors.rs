//! Monitors as the experiments need them: data that parties enter one at a time, and a condition to
//! wait for inside.
//!
//! This project has them. No peer has monitors in the sense of the thesis, so each is composed as
//! its documentation says: a mutex per monitor, and a condition variable or an event. A party
//! enters several in order. A waiter inside leaves all of them; a woken waiter enters all of them
//! anew, after other parties may have been there.

mod async_lock;
mod evenkeel;
mod parking_lot;
mod std;
mod tokio;

use ::std::future::Future;
use ::std::ops::DerefMut;

pub(super) use self::evenkeel::Evenkeel;

use suite::kit::work::Work;

/// Tokio's: `Mutex` with `Notify`.
pub(super) type Tokio<const M: usize> =
    Locks<::tokio::sync::Mutex<Datum>, ::tokio::sync::Notify, M>;

/// async-lock's, with an event of event-listener.
pub(super) type AsyncLock<const M: usize> =
    Locks<::async_lock::Mutex<Datum>, ::event_listener::Event, M>;

/// parking_lot's.
pub(super) type ParkingLot<const M: usize> =
    Locks<::parking_lot::Mutex<Datum>, ::parking_lot::Condvar, M>;

/// The standard library's.
pub(super) type Std<const M: usize> = Locks<::std::sync::Mutex<Datum>, ::std::sync::Condvar, M>;

/// The data that a monitor guards.
#[derive(Debug)]
pub(super) struct Datum {
    /// The number of entries, in experiments that count them.
    pub(super) entries: u64,
    /// Of the first monitor: the waiter waits inside until this is false.
    pub(super) waiting: bool,
    /// The length of contended entries: about 100 ns each.
    pub(super) work: Work<100>,
}

impl Datum {
    /// The datum of a monitor that no party has entered.
    pub(super) const NEW: Datum = Datum { entries: 0, waiting: false, work: Work::new(1, 0) };
}

/// Several monitors that a party enters together.
pub(super) trait Monitors<const M: usize>: Sized + Send + Sync + 'static {
    /// The right to be inside, with access to the data.
    type Held<'a>;

    /// Makes free monitors.
    fn new() -> Self;

    /// Enters all.
    fn enter(&self) -> impl Future<Output = Self::Held<'_>>;

    /// The data of all.
    fn data<'h>(held: &'h mut Self::Held<'_>) -> [&'h mut Datum; M];

    /// Enters all, calls `look` on the data, and leaves.
    fn visit<R>(&self, look: impl FnOnce([&mut Datum; M]) -> R) -> impl Future<Output = R> {
        async {
            let mut held = self.enter().await;
            look(Self::data(&mut held))
        }
    }
}

/// Monitors with a condition.
pub(super) trait Conditions<const M: usize>: Monitors<M> {
    /// Leaves all, waits for a signal, and enters all. May return without a signal.
    fn wait<'a>(&'a self, held: Self::Held<'a>) -> impl Future<Output = Self::Held<'a>>;

    /// Wakes the waiter, before or after the caller leaves.
    fn signal(&self, held: &mut Self::Held<'_>);
}

/// A peer's mutex. If its locking blocks the thread, the future is ready at once.
pub(super) trait Lock: Send + Sync + 'static {
    /// The right to the datum.
    type Guard<'a>: DerefMut<Target = Datum>;

    /// Makes a free lock.
    fn new() -> Self;

    /// Waits until the lock is free, and takes it.
    fn lock(&self) -> impl Future<Output = Self::Guard<'_>>;
}

/// A peer's condition, beside its mutex.
pub(super) trait Condition<L: Lock>: Send + Sync + 'static {
    /// Makes a condition without waiters.
    fn new() -> Self;

    /// Releases the lock, waits for a signal, and takes the lock. A signal after the release
    /// counts. May return without a signal.
    fn wait<'a>(&'a self, lock: &'a L, guard: L::Guard<'a>) -> impl Future<Output = L::Guard<'a>>;

    /// Wakes one waiter.
    fn signal(&self);
}

/// A peer's monitors: mutexes, and a condition that belongs to the first.
pub(super) struct Locks<L, C, const M: usize> {
    locks: [L; M],
    condition: C,
}

/// Releases these locks, if there are any.
fn leave<G, const N: usize>(_guards: [G; N]) {}

/// Monitors of a first mutex and others, entered one by one without a loop.
macro_rules! locks {
    ($number:literal: 0 $first:ident $($other:literal $guard:ident)*) => {
        impl<L: Lock, C: Condition<L>> Monitors<$number> for Locks<L, C, $number> {
            type Held<'a> = [L::Guard<'a>; $number];

            fn new() -> Self {
                Locks { locks: [(); $number].map(|()| L::new()), condition: C::new() }
            }

            async fn enter(&self) -> Self::Held<'_> {
                [self.locks[0].lock().await, $(self.locks[$other].lock().await),*]
            }

            fn data<'h>(held: &'h mut Self::Held<'_>) -> [&'h mut Datum; $number] {
                held.each_mut().map(|guard| &mut **guard)
            }

            /// Has a variable for each guard: guards moved as an array go through memory, at up to
            /// twice the cost.
            async fn visit<R>(&self, look: impl FnOnce([&mut Datum; $number]) -> R) -> R {
                let mut $first = self.locks[0].lock().await;
                $(let mut $guard = self.locks[$other].lock().await;)*
                look([&mut *$first, $(&mut *$guard),*])
            }
        }

        impl<L: Lock, C: Condition<L>> Conditions<$number> for Locks<L, C, $number> {
            async fn wait<'a>(&'a self, held: Self::Held<'a>) -> Self::Held<'a> {
                let [first, others @ ..] = held;
                leave(others);
                // All parties enter in the same order, here as elsewhere.
                let first = self.condition.wait(&self.locks[0], first).await;
                [first, $(self.locks[$other].lock().await),*]
            }

            fn signal(&self, _held: &mut Self::Held<'_>) {
                self.condition.signal();
            }
        }
    };
}

locks!(1: 0 a);
locks!(2: 0 a 1 b);
locks!(4: 0 a 1 b 2 c 3 d);
