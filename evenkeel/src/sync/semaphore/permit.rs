//! Permits that go back by themselves.

use super::Semaphore;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A permit of a [`Semaphore`], with its datum, to which it dereferences. Dropping it releases it:
/// to the task that has waited longest, or to the store if no task waits.
///
/// # Panics
/// Its drop, if the store has `usize::MAX` permits by then.
///
/// # Examples
/// ```
/// use evenkeel::sync::Semaphore;
/// let semaphore = Semaphore::new(2);
/// let permit = semaphore.try_acquire().unwrap();
/// assert_eq!(semaphore.available_permits(), 1);
/// drop(permit);
/// assert_eq!(semaphore.available_permits(), 2);
/// ```
#[must_use = "a permit that is dropped is released at once"]
pub struct Permit<'a, D: Send = ()> {
    semaphore: &'a Semaphore<D>,
    /// None once it has been taken out.
    datum: Option<D>,
}

impl<'a, D: Send> Permit<'a, D> {
    #[inline(always)]
    pub(super) fn new(semaphore: &'a Semaphore<D>, datum: D) -> Self {
        Self { semaphore, datum: Some(datum) }
    }

    /// Takes the datum out. The permit is not released: the semaphore has one less, until a task
    /// [hands one over](Semaphore::hand_over).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::sync::Semaphore;
    /// let semaphore = Semaphore::with_data(["chart"]);
    /// assert_eq!(semaphore.try_acquire().unwrap().into_inner(), "chart");
    /// assert_eq!(semaphore.available_permits(), 0);
    /// ```
    #[inline]
    pub fn into_inner(mut self) -> D {
        self.datum.take().expect("a permit has its datum until it is used up")
    }

    /// Drops the datum. The permit is not released: the semaphore has one less, until a task
    /// [adds one](Semaphore::add_permits).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::sync::Semaphore;
    /// let semaphore = Semaphore::new(2);
    /// semaphore.try_acquire().unwrap().forget();
    /// assert_eq!(semaphore.available_permits(), 1);
    /// ```
    #[inline]
    pub fn forget(self) {
        drop(self.into_inner());
    }
}

/// A [`Permit`] that owns a share of its semaphore, so that it can be sent to other tasks.
///
/// # Examples
/// ```
/// use evenkeel::sync::Semaphore;
/// use std::sync::Arc;
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let semaphore = Arc::new(Semaphore::new(1));
///     let permit = semaphore.clone().acquire_owned().await;
///     let task = evenkeel::spawn(async move { drop(permit) });
///     task.await.unwrap();
///     assert_eq!(semaphore.available_permits(), 1);
/// });
/// ```
/// It keeps its semaphore, and it need not be released:
/// ```
/// use evenkeel::sync::Semaphore;
/// use std::sync::Arc;
///
/// let permit = Arc::new(Semaphore::with_data([7, 8])).try_acquire_owned().unwrap();
/// let semaphore = permit.semaphore().clone();
/// assert_eq!(permit.into_inner(), 7);
/// semaphore.clone().try_acquire_owned().unwrap().forget();
/// assert_eq!(semaphore.available_permits(), 0);
/// ```
#[must_use = "a permit that is dropped is released at once"]
pub struct OwnedPermit<D: Send = ()> {
    semaphore: Arc<Semaphore<D>>,
    /// None once it has been taken out.
    datum: Option<D>,
}

impl<D: Send> OwnedPermit<D> {
    pub(super) fn new(semaphore: Arc<Semaphore<D>>, datum: D) -> Self {
        Self { semaphore, datum: Some(datum) }
    }

    /// As [`Permit::into_inner`].
    pub fn into_inner(mut self) -> D {
        self.datum.take().expect("a permit has its datum until it is used up")
    }

    /// As [`Permit::forget`].
    pub fn forget(self) {
        drop(self.into_inner());
    }

    /// Returns the semaphore.
    pub fn semaphore(&self) -> &Arc<Semaphore<D>> {
        &self.semaphore
    }
}

/// What both kinds of permits do, whichever way they hold their semaphore.
macro_rules! is_permit {
    ($name:literal: $permit:ty) => {
        impl<D: Send> Drop for $permit {
            #[inline]
            fn drop(&mut self) {
                if let Some(datum) = self.datum.take() {
                    self.semaphore.hand_over(datum);
                }
            }
        }

        impl<D: Send> Deref for $permit {
            type Target = D;

            fn deref(&self) -> &D {
                self.datum.as_ref().expect("a permit has its datum until it is used up")
            }
        }

        impl<D: Send> DerefMut for $permit {
            fn deref_mut(&mut self) -> &mut D {
                self.datum.as_mut().expect("a permit has its datum until it is used up")
            }
        }

        impl<D: Send + fmt::Debug> fmt::Debug for $permit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple($name).field(&**self).finish()
            }
        }
    };
}

is_permit!("Permit": Permit<'_, D>);
is_permit!("OwnedPermit": OwnedPermit<D>);
