//! Monitors as the experiments need them: data that parties enter one at a time, and a condition to
//! wait for inside.
//!
//! This project has them. No peer has monitors in the sense of the thesis, so each is put together
//! as its documentation says: a mutex per monitor, and a condition variable or an event. Several
//! are entered in order. Who waits inside leaves all of them; who is woken enters all of them anew,
//! and others may have been there before it.

mod async_lock;
mod evenkeel;
mod parking_lot;
mod std;
mod tokio;

use ::std::future::Future;
use ::std::ops::DerefMut;

pub(super) use self::evenkeel::Evenkeel;

use suite::kit::work::Work;

/// Those of Tokio: `Mutex` with `Notify`.
pub(super) type Tokio<const M: usize> =
    Locks<::tokio::sync::Mutex<Datum>, ::tokio::sync::Notify, M>;

/// Those of async-lock, with an event of event-listener.
pub(super) type AsyncLock<const M: usize> =
    Locks<::async_lock::Mutex<Datum>, ::event_listener::Event, M>;

/// Those of parking_lot.
pub(super) type ParkingLot<const M: usize> =
    Locks<::parking_lot::Mutex<Datum>, ::parking_lot::Condvar, M>;

/// Those of the standard library.
pub(super) type Std<const M: usize> = Locks<::std::sync::Mutex<Datum>, ::std::sync::Condvar, M>;

/// What a monitor guards.
#[derive(Debug)]
pub(super) struct Datum {
    /// How often it was entered, by those who count.
    pub(super) entries: u64,
    /// Of the first monitor: somebody is inside a wait, for this to become false.
    pub(super) waiting: bool,
    /// What contended entries are long by: about 100 ns each.
    pub(super) work: Work<100>,
}

impl Datum {
    /// Nobody has been there.
    pub(super) const NEW: Datum = Datum { entries: 0, waiting: false, work: Work::new(1, 0) };
}

/// So many monitors, which are entered together.
pub(super) trait Monitors<const M: usize>: Sized + Send + Sync + 'static {
    /// The right to be inside, with access to what they guard.
    type Held<'a>;

    /// New ones, with nobody inside.
    fn new() -> Self;

    /// Enters all.
    fn enter(&self) -> impl Future<Output = Self::Held<'_>>;

    /// What they guard.
    fn data<'h>(held: &'h mut Self::Held<'_>) -> [&'h mut Datum; M];

    /// Enters all, has a look at what they guard, and leaves.
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

    /// Wakes who waits, before or after the caller leaves.
    fn signal(&self, held: &mut Self::Held<'_>);
}

/// A peer's mutex. One whose locking blocks the thread is locked at once.
pub(super) trait Lock: Send + Sync + 'static {
    /// The right to the datum.
    type Guard<'a>: DerefMut<Target = Datum>;

    /// A free one.
    fn new() -> Self;

    /// Waits until it is free and takes it.
    fn lock(&self) -> impl Future<Output = Self::Guard<'_>>;
}

/// What a peer has for a condition, beside its mutex.
pub(super) trait Condition<L: Lock>: Send + Sync + 'static {
    /// One that nobody waits for.
    fn new() -> Self;

    /// Gives the lock back, waits for a signal, and takes the lock. A signal since it was given
    /// back counts. May return without a signal.
    fn wait<'a>(&'a self, lock: &'a L, guard: L::Guard<'a>) -> impl Future<Output = L::Guard<'a>>;

    /// Wakes one who waits.
    fn signal(&self);
}

/// A peer's monitors: mutexes, and a condition that goes with the first.
pub(super) struct Locks<L, C, const M: usize> {
    locks: [L; M],
    condition: C,
}

/// Gives these locks back, if there are any.
fn leave<G, const N: usize>(_guards: [G; N]) {}

/// Monitors of a first mutex and of others, entered one by one without a loop.
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

            /// With a variable for each guard: moved as an array, they go through memory, at up to
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
