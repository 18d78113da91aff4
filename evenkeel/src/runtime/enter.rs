//! Entering a runtime without `block_on`.

use super::{Handle, Runtime};
use crate::processor::current::{self, Entered};
use std::marker::PhantomData;
use std::sync::MutexGuard;
use std::thread;

impl Handle {
    /// Makes the runtime the current one of this thread until the guard is dropped: what looks for
    /// a runtime finds it, outside of tasks too.
    ///
    /// These look for one: [`spawn`](crate::spawn()), [`spawn_blocking`](crate::spawn_blocking()),
    /// [`task::Builder`](crate::task::Builder), [`Handle::current`], [`time`](crate::time),
    /// sockets, [objects](crate::object) with their classes, and outside of tasks
    /// [`fork_join`](crate::fork_join). A timer and a socket belong to the runtime in which they
    /// are first polled, so the guard has to be there at that poll. The thread itself runs no
    /// tasks. While a thread is not inside [`block_on`](crate::block_on()), a clock that
    /// [stands](crate::Builder::start_paused) does not wait for it.
    ///
    /// Guards nest, and are dropped in the reverse of the order in which they were made. Inside a
    /// task, a closure of `spawn_blocking` or a `block_on`, also of another runtime, the guard
    /// makes its runtime the current one as it does outside. The task stays one of its own runtime:
    /// its [budget](crate::budget), [`task::current`](crate::task::current()), and of
    /// [`fork_join`](crate::fork_join) the joins, jobs, yields and numbers of workers do not
    /// change. [Scopes](crate::fork_join::scope()) and
    /// [broadcasts](crate::fork_join::broadcast()) go to the entered runtime. Closures of fork-join
    /// that its thread runs meanwhile are inside the entered runtime too.
    ///
    /// A runtime that is over, or shuts down, can be entered. A task that is spawned inside is
    /// cancelled at once, as by [`Handle::spawn`]; timers panic, and sockets that have to wait
    /// return an error.
    ///
    /// Do not hold the guard over an `await`: the future is then outside of the runtime that polls
    /// it, other futures of the thread come into the entered one, and guards may be dropped in
    /// another order. The guard is not `Send`, so such a future cannot be spawned.
    ///
    /// # Panics
    /// The drop of the guard panics if the thread has entered a runtime since, by a guard or a
    /// `block_on`, and has not left it, unless the thread panics already. It leaves its own runtime
    /// all the same, and the later one stays the current one until it is left.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::Handle;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let handle = runtime.handle();
    /// let task = {
    ///     let _entered = handle.enter();
    ///     assert!(Handle::current().ptr_eq(&handle));
    ///     evenkeel::spawn(async { 7 })
    /// };
    /// assert!(Handle::try_current().is_none());
    /// assert_eq!(evenkeel::block_on(task).unwrap(), 7);
    /// ```
    ///
    /// In the reverse order, or the drop panics:
    /// ```should_panic
    /// let runtimes = [evenkeel::Runtime::new().unwrap(), evenkeel::Runtime::new().unwrap()];
    /// let first = runtimes[0].enter();
    /// let _second = runtimes[1].enter();
    /// drop(first);
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard {
            entered: current::enter(self.shared()),
            _handle: PhantomData,
            _thread: PhantomData,
        }
    }
}

impl Runtime {
    /// As [`Handle::enter`].
    ///
    /// # Examples
    /// A library that polls a future by itself, and needs the runtime's timers for it:
    /// ```
    /// use evenkeel::time::{Duration, Instant, sleep};
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let _entered = runtime.enter();
    /// let start = Instant::now();
    /// evenkeel::block_on(sleep(Duration::from_millis(2)));
    /// assert!(start.elapsed() >= Duration::from_millis(2));
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }
}

/// While it lives, a runtime is the current one of the thread. Returned by [`Handle::enter`] and
/// [`Runtime::enter`], which have examples.
///
/// It is not `Send`: it belongs to the thread that has made it. A guard that is
/// [forgotten](std::mem::forget) leaves its runtime entered for as long as the thread lives.
#[derive(Debug)]
#[must_use = "the runtime is left when the guard is dropped"]
pub struct EnterGuard<'a> {
    entered: Entered,
    _handle: PhantomData<&'a Handle>,
    /// It may be shared, and is not sent.
    _thread: PhantomData<MutexGuard<'static, ()>>,
}

impl Drop for EnterGuard<'_> {
    fn drop(&mut self) {
        // The field is dropped afterwards, also by the panic.
        assert!(
            self.entered.is_last() || thread::panicking(),
            "a guard of `enter` is dropped while a runtime that this thread has entered later is not left: drop the \
             guards in the reverse of the order in which they were made"
        );
    }
}
