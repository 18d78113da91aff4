//! Causes and spans where there are none: nothing. Nothing here has a size or a body. With the
//! feature `tracing`, `on.rs` and `scene.rs` stand here instead.

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

/// What a message to another node says of its cause.
#[inline(always)]
pub(crate) fn current() -> Option<NonZeroU64> {
    None
}

/// What is done until this is dropped is done because of a message.
pub(crate) struct Within;

#[inline(always)]
pub(crate) fn within(_cause: Option<NonZeroU64>) -> Within {
    Within
}

#[inline(always)]
pub(crate) fn carry<F>(future: F) -> F {
    future
}

/// Because of which message an actor was spawned.
#[derive(Clone, Copy)]
pub(crate) struct Born;

impl Born {
    #[inline(always)]
    pub(crate) fn now() -> Self {
        Self
    }
}

// Macros, so that what is awaited is what stands there: a function that it went through might make
// the actor's future larger.

macro_rules! handling {
    ($actor:ty, $message:ident, $context:ident, $handle:expr) => {
        $handle.await
    };
}

macro_rules! noticing {
    ($actor:ty, $event:ident, $context:ident, $handle:expr) => {
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
