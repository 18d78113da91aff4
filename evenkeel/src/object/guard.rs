//! Being inside an object: for as long as a guard lives, which poisons the object if a panic begins
//! meanwhile, or for one closure, which does so if it unwinds.
//!
//! A closure is a part of the call that has come in. A guard lives as long as its owner likes, on
//! its thread: it may leave a deterministic run as the run's output, or wait in a thread-local
//! until the runtime has ended and the thread works for another one. So a guard leaves by what the
//! object says, and only a closure by what the thread is at that time. The sample of an operation
//! concerns only the worker that took it.

#![allow(unsafe_code, reason = "an operation that is inside an object has its value")]

use super::inner::Inner;
use super::way::Way;
use crate::processor::entered;
use crate::raw_task::{kept, party};
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::ops::{Deref, DerefMut};

/// Being inside an [`Object`](super::Object): access to its value, until it is dropped.
///
/// On its thread it may outlive the [run](crate::deterministic) or the runtime that it was made in:
/// it is inside until it is dropped, and others wait. A guard that is [forgotten](std::mem::forget)
/// leaves its own object locked for ever, and no other one. [`Object::enter`](super::Object::enter)
/// has an example.
///
/// The future of `block_on` and local tasks may keep it across an `.await`. Other tasks, local
/// tasks and futures of `block_on` then wait, asleep, until it is dropped. One that enters again
/// before its next await comes before those that wait. [`enter_held`](super::Object::enter_held) is
/// for operations that await: those are first come, first served.
///
/// It is not `Send`: a task that holds it across an `.await` could be polled by another worker
/// after that. So code that does so does not compile in a spawned task.
///
/// ```compile_fail
/// let object = evenkeel::object::Object::new(0);
/// evenkeel::spawn(async move {
///     let mut value = object.enter().await.unwrap();
///     evenkeel::yield_now().await;
///     *value += 1;
/// })
/// .detach();
/// ```
///
/// # Panics
/// A panic that drops it poisons the object; one that is caught before that does not.
#[must_use = "the operation ends as soon as its guard is dropped"]
pub struct Guard<'a, T> {
    object: &'a Inner<T>,
    way: Way,
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives shared access to the value and nothing else.
unsafe impl<T: Sync> Sync for Guard<'_, T> {}

impl<'a, T> Guard<'a, T> {
    /// # Safety
    /// This thread is inside, by `way`, and leaves when the guard is dropped.
    #[inline(always)]
    pub(super) unsafe fn new(object: &'a Inner<T>, way: Way) -> Self {
        let way = if party::note(object.door.address(), true) { way.noted() } else { way };
        Self { object, way: way.panicking(std::thread::panicking()), not_send: PhantomData }
    }
}

/// Leaves an object. The caller is inside it alone.
#[inline(always)]
fn leave<T>(object: &Inner<T>, way: Way) {
    object.door.leave_by(way);
    if way.is_sampled() {
        object.end_sample();
    }
}

/// An operation that has not returned.
struct Running<'a, T> {
    object: &'a Inner<T>,
    way: Way,
}

impl<T> Drop for Running<'_, T> {
    #[cold]
    fn drop(&mut self) {
        self.object.door.poison();
        leave(self.object, self.way.changed());
    }
}

/// Makes an operation, and leaves. One that unwinds poisons the object.
///
/// # Safety
/// This thread is inside, alone, by `way`.
#[inline(always)]
pub(super) unsafe fn run<T, R>(
    object: &Inner<T>,
    way: Way,
    operation: impl FnOnce(&mut T) -> R,
) -> R {
    let running = Running { object, way };
    // SAFETY: this thread is inside until it leaves below, or as it unwinds, and the borrow ends
    // before.
    let result = object.value.with_mut(|value| operation(unsafe { &mut *value }));
    mem::forget(running);
    leave(object, way);
    result
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this thread is inside until the guard is dropped, and the borrow ends before.
        self.object.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above; no other operation is inside, and `&mut self` rules out another borrow.
        self.object.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if std::thread::panicking() && !self.way.was_panicking() {
            self.object.door.poison();
            self.way = self.way.changed();
        }
        leave(self.object, self.way);
        if self.way.is_noted() {
            party::forget(self.object.door.address());
            kept::release(self.object.door.address());
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Guard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guard").field(&**self).finish()
    }
}

/// Being inside for reading, alone or beside other readers, until it is dropped. A panic
/// meanwhile poisons nothing.
struct Reading<'a, T> {
    object: &'a Inner<T>,
    way: Way,
}

/// Makes an operation that only reads, and leaves.
///
/// # Safety
/// This thread is inside, by `way`.
#[inline(always)]
pub(super) unsafe fn read<T: Sync, R>(
    object: &Inner<T>,
    way: Way,
    operation: impl FnOnce(&T) -> R,
) -> R {
    let reading = Reading { object, way };
    // SAFETY: this thread is inside until `reading` is dropped, and the borrow ends before; others
    // that are inside read too, which is allowed because the value is `Sync`.
    reading.object.value.with(|value| operation(unsafe { &*value }))
}

impl<T> Drop for Reading<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.way.is_shared() {
            entered::with(|context| self.object.door.leave_as_reader(self.way, context));
        } else {
            leave(self.object, self.way);
        }
    }
}
