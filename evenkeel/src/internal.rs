//! What evenkeel's own crates use of the library, and other crates should not: it comes without any
//! promise of stability.

pub use crate::primitives::slots::Slots;
pub use crate::primitives::spin_lock::{SpinGuard, SpinLock};
pub use crate::primitives::unwind::{contain, wake_all};
pub use crate::primitives::wakers::{WakerPlace, Wakers};
pub use crate::raw_task::berth::{After, Berth, Parked, Part, Right};
pub use crate::task::public::{Own, Public, Weak};

#[cfg(not(any(loom, shuttle)))]
pub use crate::scheduler::interleave::is_deterministic;
/// Returns false: no run of a checker is deterministic by a seed of ours.
#[cfg(any(loom, shuttle))]
#[must_use]
pub const fn is_deterministic() -> bool {
    false
}
#[cfg(shuttle)]
pub use crate::runtime::checked::check;
/// The channel of one answer.
pub mod answer {
    pub use crate::task::answer::{Gone, Receiver, Sender, channel};
}
/// What actors tell [`detect`](crate::detect).
pub mod detect {
    pub use crate::detect::actors::{Kept, Reply, Room, called, came, closed, name, sends};
}

use crate::primitives::clock;
use crate::processor::entered;
use crate::time::{Instant, Sleep};
use std::pin::Pin;
use std::time::Duration;

/// Returns the deadline of a [`sleep`](crate::time::sleep()) of `duration` that begins now.
#[must_use]
#[inline]
pub fn deadline(duration: Duration) -> Instant {
    Instant::in_at_least(duration)
}

/// Does the same; none outside of any runtime, where no sleep can be polled.
#[must_use]
#[inline]
pub fn deadline_here(duration: Duration) -> Option<Instant> {
    Instant::in_runtime(duration)
}

/// Cancels a sleep whose memory is to be used again: [reset](Sleep::reset) it before it is polled.
/// It keeps no waker, and nothing of its runtime. That is a drop, without making a new one.
#[inline]
pub fn cancel(sleep: Pin<&mut Sleep>) {
    sleep.cancel();
}

/// Returns the machine's clock in nanoseconds, read cheaply where the caller is a worker: up to 5
/// µs ahead, never behind.
#[must_use]
#[inline]
pub fn now() -> u64 {
    entered::with(|context| context.map(|context| context.ahead.now())).unwrap_or_else(clock::now)
}

/// Returns the address of the task that this thread polls, if it is a worker: a number that no
/// other task has while this one exists.
#[must_use]
#[inline]
pub fn running() -> Option<usize> {
    entered::with(|context| context.map(|context| context.task_address()).filter(|&at| at != 0))
}

/// Returns how many pieces of foreign work are on this thread's stack, one within the other: what a
/// worker runs while a job of its own waits, though it is no part of that job.
#[must_use]
#[inline]
pub fn guests() -> u32 {
    entered::with(|context| context.map_or(0, |context| context.guests()))
}

/// Returns whether the task that this thread polls keeps no other waiting: the thread is a worker
/// without another ready task, and no other thread has handed it one.
#[must_use]
#[inline]
pub fn is_alone() -> bool {
    entered::with(|context| context.is_some_and(|context| context.is_alone()))
}

/// Returns a number that no task of this process has, nor will have.
#[must_use]
pub fn fresh_id() -> crate::task::Id {
    crate::raw_task::id::take_one()
}
