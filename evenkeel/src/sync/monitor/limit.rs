//! The limits that a `timeout` of [`accept!`](crate::accept) takes: a duration, a point in time, or
//! a future.
//!
//! The compiler picks the kind by the order in which it resolves methods: `(&limit).kind()` is that
//! of [`Time`] if the type implements it, and else, by one more reference, that of [`Other`]. One
//! trait for all three is impossible: to the compiler, `Duration` could become a future one day.

use crate::time::{Duration, Instant, Sleep, sleep, sleep_until};
use std::future::Future;

/// A duration or a point in time.
pub trait Time {
    #[doc(hidden)]
    fn kind(&self) -> OfTime {
        OfTime
    }

    #[doc(hidden)]
    fn wait(self) -> Sleep;
}

impl Time for Duration {
    fn wait(self) -> Sleep {
        sleep(self)
    }
}

impl Time for Instant {
    fn wait(self) -> Sleep {
        sleep_until(self)
    }
}

/// A future.
pub trait Other {
    #[doc(hidden)]
    fn kind(&self) -> OfFuture {
        OfFuture
    }
}

impl<F: Future<Output = ()>> Other for &F {}

#[doc(hidden)]
#[derive(Debug)]
pub struct OfTime;

impl OfTime {
    pub fn until<T: Time>(self, time: T) -> Sleep {
        time.wait()
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub struct OfFuture;

impl OfFuture {
    pub fn until<F: Future<Output = ()>>(self, future: F) -> F {
        future
    }
}
