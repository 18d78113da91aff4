//! What a `timeout` of [`accept!`](crate::accept) may be: a duration, a point in time, or a future.
//!
//! Which one it is the compiler finds by the order in which it looks for methods: `(&limit).kind()`
//! is that of [`Time`] if the type has it, and else, by one more reference, that of [`Other`]. A
//! trait for all three cannot be: nobody knows that durations will never be futures.

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
