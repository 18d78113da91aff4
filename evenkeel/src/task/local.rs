//! Values that belong to a task, or to a part of one, and are found without being passed on.
//!
//! # Protocol
//! A key has a slot in each thread. A *scope* keeps its value in its future while that is not being
//! polled. A poll swaps the value and what the thread's slot has, calls the inner future, and swaps
//! them back, also when the inner future panics. The drop of the inner future is such a call too.
//! So a scope that has begun on one thread goes on with its value on another, scopes within scopes
//! find their own values and leave the outer ones, and no runtime has to know of it.
//!
//! The slot is borrowed for the swap alone, and while a caller's closure reads the value. A scope
//! that is polled inside such a closure finds the slot borrowed, and cannot swap.
//!
//! # Rejected
//! A map of values in the task: every task would pay for it, and a scope could not be a part of a
//! task, or be polled by `block_on` or another runtime.

#![allow(unsafe_code, reason = "the inner future is pinned with its scope")]

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

/// Declares keys of values that belong to a task: each a static of the type
/// [`task::LocalKey`](crate::task::LocalKey).
///
/// # Examples
/// ```
/// evenkeel::task_local! {
///     /// The number of the request that the task is about.
///     pub static REQUEST: u32;
///     static USER: &'static str;
/// }
///
/// fn log(text: &str) -> String {
///     format!("[{} {}] {text}", REQUEST.get(), USER.get())
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let line = runtime.spawn(REQUEST.scope(7, USER.scope("cook", async {
///     evenkeel::yield_now().await;
///     log("the soup is hot")
/// })));
/// assert_eq!(runtime.block_on(line).unwrap(), "[7 cook] the soup is hot");
/// ```
#[macro_export]
macro_rules! task_local {
    () => {};
    ($(#[$meta:meta])* $vis:vis static $name:ident: $value:ty; $($rest:tt)*) => {
        $crate::task_local!($(#[$meta])* $vis static $name: $value);
        $crate::task_local!($($rest)*);
    };
    ($(#[$meta:meta])* $vis:vis static $name:ident: $value:ty) => {
        $(#[$meta])*
        $vis static $name: $crate::task::LocalKey<$value> = {
            // In here the type finds this name before the program's: no program has it.
            ::std::thread_local! {
                static __EVENKEEL_KEY: ::std::cell::RefCell<::std::option::Option<$value>> =
                    const { ::std::cell::RefCell::new(::std::option::Option::None) };
            }
            $crate::task::LocalKey::new(__EVENKEEL_KEY)
        };
    };
}

/// A key of values that belong to a task. Declared by [`task_local!`](crate::task_local), which has
/// an example.
///
/// A value is there inside [`scope`](Self::scope) and [`sync_scope`](Self::sync_scope), and nowhere
/// else. A task that is spawned inside a scope is outside of it: it gets a scope of its own, by
/// `spawn(KEY.scope(KEY.get(), ..))`. But what the thread itself polls inside a scope finds the
/// value: the local tasks of a [`LocalSet`](super::LocalSet) that is driven there, and the tasks of
/// a [current-thread](crate::Builder::new_current_thread) runtime whose `block_on` is called there.
///
/// While a poll waits in [`fork_join`](crate::fork_join), its thread runs other closures, which
/// find the value of the scope that waits. Closures that run on other threads find none. While it
/// waits inside a closure of [`with`](Self::with), they cannot enter a scope of the same key, and
/// panic: fork outside of `with`, on what [`get`](Self::get) returns.
///
/// # Cost
/// Each poll of a scope moves the value twice, and allocates nothing. A large value goes into a box
/// or an `Arc`.
pub struct LocalKey<T: 'static> {
    slot: thread::LocalKey<RefCell<Option<T>>>,
}

impl<T: 'static> LocalKey<T> {
    /// For the macro.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(slot: thread::LocalKey<RefCell<Option<T>>>) -> Self {
        Self { slot }
    }

    /// Gives the key a value inside `future`: in each of its polls, and while it is dropped.
    ///
    /// The value is dropped after `future`. If that is dropped inside a closure of
    /// [`with`](Self::with) of this key, its destructors find the value that the closure has.
    /// Inside, a scope of the same key hides the value for as long as it is polled.
    ///
    /// # Panics
    /// The returned future panics if it is polled inside a closure of [`with`](Self::with) or
    /// [`try_with`](Self::try_with) of this key, or again after its end.
    ///
    /// # Cancel safety
    /// That of `future`.
    ///
    /// # Examples
    /// ```
    /// evenkeel::task_local! { static DEPTH: u32; }
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(DEPTH.scope(1, async {
    ///     assert_eq!(DEPTH.get(), 1);
    ///     DEPTH.scope(2, async { assert_eq!(DEPTH.get(), 2) }).await;
    ///     assert_eq!(DEPTH.get(), 1);
    ///     let outside = evenkeel::spawn(async { DEPTH.try_get() });
    ///     assert!(outside.await.unwrap().is_err());
    /// }));
    /// ```
    pub fn scope<F: Future>(&'static self, value: T, future: F) -> TaskLocalFuture<T, F> {
        TaskLocalFuture { key: self, value: Some(value), future: Some(future) }
    }

    /// Gives the key a value inside a closure.
    ///
    /// # Panics
    /// If the caller is inside a closure of [`with`](Self::with) or [`try_with`](Self::try_with) of
    /// this key.
    ///
    /// # Examples
    /// ```
    /// evenkeel::task_local! { static UNIT: &'static str; }
    /// assert_eq!(UNIT.sync_scope("knots", || format!("12 {}", UNIT.get())), "12 knots");
    /// ```
    #[track_caller]
    pub fn sync_scope<R>(&'static self, value: T, f: impl FnOnce() -> R) -> R {
        match self.enter(&mut Some(value), f) {
            Ok(result) => result,
            Err(refused) => panic!("`LocalKey::sync_scope`: {refused}"),
        }
    }

    /// Calls a closure with the value.
    ///
    /// # Panics
    /// Outside of the key's scopes; see [`try_with`](Self::try_with).
    ///
    /// # Examples
    /// ```
    /// use std::cell::Cell;
    /// evenkeel::task_local! { static STROKES: Cell<u32>; }
    /// let strokes = STROKES.sync_scope(Cell::new(0), || {
    ///     STROKES.with(|strokes| strokes.set(strokes.get() + 1));
    ///     STROKES.with(Cell::get)
    /// });
    /// assert_eq!(strokes, 1);
    /// ```
    #[track_caller]
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => panic!("`LocalKey::with`: {error}"),
        }
    }

    /// Calls a closure with the value, if there is one.
    ///
    /// # Errors
    /// Outside of the key's scopes.
    ///
    /// # Examples
    /// ```
    /// evenkeel::task_local! { static NAME: String; }
    /// assert!(NAME.try_with(String::len).is_err());
    /// assert_eq!(NAME.sync_scope("gig".to_owned(), || NAME.try_with(String::len)), Ok(3));
    /// ```
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        let call = |slot: &RefCell<Option<T>>| {
            // Borrowed mutably for swaps alone, which run no caller's code.
            let value = slot.try_borrow().ok()?;
            value.as_ref().map(f)
        };
        self.slot.try_with(call).ok().flatten().ok_or(AccessError(()))
    }

    /// Returns a clone of the value.
    ///
    /// # Panics
    /// Outside of the key's scopes; see [`try_get`](Self::try_get).
    #[must_use]
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Clone,
    {
        match self.try_get() {
            Ok(value) => value,
            Err(error) => panic!("`LocalKey::get`: {error}"),
        }
    }

    /// Returns a clone of the value, if there is one.
    ///
    /// # Errors
    /// Outside of the key's scopes.
    pub fn try_get(&'static self) -> Result<T, AccessError>
    where
        T: Clone,
    {
        self.try_with(T::clone)
    }

    /// Calls `f` with `value` in the thread's slot, and swaps them back afterwards.
    fn enter<R>(&'static self, value: &mut Option<T>, f: impl FnOnce() -> R) -> Result<R, Refused> {
        struct Swapped<'a, T: 'static> {
            key: &'static LocalKey<T>,
            value: &'a mut Option<T>,
        }

        impl<T> Drop for Swapped<'_, T> {
            fn drop(&mut self) {
                // No borrow is left of what ran inside, and a thread's variables are not destroyed
                // while it runs this. If it is refused all the same, the value stays.
                let _ = self.key.swap(self.value);
            }
        }

        self.swap(value)?;
        let _swapped = Swapped { key: self, value };
        Ok(f())
    }

    fn swap(&'static self, value: &mut Option<T>) -> Result<(), Refused> {
        let swapped = self.slot.try_with(|slot| match slot.try_borrow_mut() {
            Ok(mut slot) => {
                mem::swap(&mut *slot, value);
                Ok(())
            }
            Err(_) => Err(Refused::Borrowed),
        });
        swapped.unwrap_or(Err(Refused::Destroyed))
    }
}

impl<T> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// Why a scope cannot be entered.
#[derive(Clone, Copy, Debug)]
enum Refused {
    Borrowed,
    Destroyed,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Borrowed => {
                "the key's value is borrowed: enter the scope outside of the closure of `with`"
            }
            Self::Destroyed => {
                "the variables of this thread are destroyed: the thread is about to end"
            }
        })
    }
}

/// The key has no value where it was asked for: the caller is outside of its scopes.
///
/// # Examples
/// ```
/// evenkeel::task_local! { static COURSE: u32; }
/// let error = COURSE.try_get().unwrap_err();
/// let says = "the task-local key has no value here: call this inside `LocalKey::scope`";
/// assert_eq!(error.to_string(), says);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessError(());

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task-local key has no value here: call this inside `LocalKey::scope`")
    }
}

impl Error for AccessError {}

/// A future inside which a key has a value. Returned by [`LocalKey::scope`], which has an example.
#[must_use = "futures do nothing unless awaited"]
pub struct TaskLocalFuture<T: 'static, F> {
    key: &'static LocalKey<T>,
    /// None after its end. It is dropped before the value.
    future: Option<F>,
    /// None during a poll, once the value has been taken, and inside the scope that hides it.
    value: Option<T>,
}

/// The value is never pinned.
impl<T: 'static, F: Unpin> Unpin for TaskLocalFuture<T, F> {}

impl<T: 'static, F> TaskLocalFuture<T, F> {
    /// Takes the value out of the scope, after the end of the future for example. Polls that follow
    /// find the key without a value.
    ///
    /// # Examples
    /// ```
    /// use std::cell::Cell;
    /// use std::pin::pin;
    /// evenkeel::task_local! { static STROKES: Cell<u32>; }
    /// let mut rows = pin!(STROKES.scope(Cell::new(0), async {
    ///     STROKES.with(|strokes| strokes.set(12));
    /// }));
    /// evenkeel::block_on(rows.as_mut());
    /// assert_eq!(rows.as_mut().take_value(), Some(Cell::new(12)));
    /// assert_eq!(rows.as_mut().take_value(), None);
    /// ```
    pub fn take_value(self: Pin<&mut Self>) -> Option<T> {
        self.parts().1.take()
    }

    /// The parts, of which the future alone is pinned.
    fn parts(self: Pin<&mut Self>) -> (&'static LocalKey<T>, &mut Option<T>, Pin<&mut Option<F>>) {
        // SAFETY: the future is not moved out of what this returns, which pins it again; the value
        // is never pinned.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: the future is pinned with the whole, and is dropped in its place.
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        (this.key, &mut this.value, future)
    }
}

impl<T: 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let (key, value, mut future) = self.parts();
        let polled = key.enter(value, || {
            let inner = future.as_mut().as_pin_mut();
            let inner = inner.expect(
                "the future of `LocalKey::scope` is polled again after its end: keep its output, \
                 and poll it no more",
            );
            let polled = inner.poll(cx);
            if polled.is_ready() {
                future.set(None);
            }
            polled
        });
        match polled {
            Ok(polled) => polled,
            Err(refused) => panic!("`LocalKey::scope`: {refused}"),
        }
    }
}

impl<T: 'static, F> Drop for TaskLocalFuture<T, F> {
    fn drop(&mut self) {
        if self.future.is_none() || !mem::needs_drop::<F>() {
            return;
        }
        // SAFETY: this is the last use of the whole, which is not moved any more.
        let this = unsafe { Pin::new_unchecked(self) };
        let (key, value, mut future) = this.parts();
        // If the key is borrowed, the future is dropped without the value, by the fields' drop.
        let _ = key.enter(value, || future.set(None));
    }
}

impl<T: fmt::Debug, F> fmt::Debug for TaskLocalFuture<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskLocalFuture").field("value", &self.value).finish_non_exhaustive()
    }
}
