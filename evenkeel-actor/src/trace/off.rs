//! Causes and spans without the feature `tracing`: nothing here has a size or a body. With the
//! feature, `on.rs` and `scene.rs` take its place.

use std::num::NonZeroU64;

/// A message in its mailbox.
pub(crate) type Parcel<M> = M;

#[inline(always)]
pub(crate) fn seal<M>(message: M) -> Parcel<M> {
    message
}

#[inline(always)]
pub(crate) fn open<M>(parcel: Parcel<M>) -> M {
    parcel
}

/// Returns the cause that a message to another node carries.
#[inline(always)]
pub(crate) fn current() -> Option<NonZeroU64> {
    None
}

/// A guard. Until it is dropped, a message is the cause of what the thread does.
pub(crate) struct Within;

#[inline(always)]
pub(crate) fn within(_cause: Option<NonZeroU64>) -> Within {
    Within
}

#[inline(always)]
pub(crate) fn carry<F>(future: F) -> F {
    future
}

/// The message that was being handled when an actor was spawned.
#[derive(Clone, Copy)]
pub(crate) struct Born;

impl Born {
    #[inline(always)]
    pub(crate) fn now() -> Self {
        Self
    }
}

// Macros, so that the handler's future is awaited in place: a function around it might make the
// actor's future larger.

macro_rules! handling {
    ($actor:ty, $message:ident, $context:ident, $handle:expr) => {
        $handle.await
    };
}

macro_rules! noticing {
    ($actor:ty, $news:ident, $context:ident, $handle:expr) => {
        $handle.await
    };
}

macro_rules! starting {
    ($actor:ty, $born:ident, $context:ident, $start:expr) => {{
        let $crate::trace::Born = $born;
        $start.await
    }};
}

macro_rules! stopping {
    ($actor:ty, $context:ident, $stop:expr) => {
        $stop.await
    };
}

pub(crate) use {handling, noticing, starting, stopping};
