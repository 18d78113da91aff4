//! Handlers and their spans.

use super::on::{Current, Parcel, Within, running};
use super::subject::Subject;
use super::{ids, on};
use crate::words::event::Event;
use pin_project_lite::pin_project;
use std::any::type_name;
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{self, Poll};
use std::thread;
use tracing::instrument::{Instrument, Instrumented};
use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};
use tracing::{Level, Span, span};

thread_local! {
    /// What the last failed handler on this thread was handling; its life reports it next.
    static BROKEN: Cell<Current> = const { Cell::new(Current { id: 0, cause: 0 }) };
}

/// Takes what a failed handler on this thread was handling; a second call returns nothing.
pub(super) fn take_broken() -> Current {
    BROKEN.take()
}

/// Returns whether a subscriber takes spans of this level. Without one, this load is the only cost.
#[inline(always)]
fn is_on() -> bool {
    Level::DEBUG <= STATIC_MAX_LEVEL && Level::DEBUG <= LevelFilter::current()
}

/// One call of a handler.
pub(crate) struct Scene {
    span: Span,
    current: Current,
}

impl Scene {
    /// A call that is not traced, but passes its cause on.
    #[inline(always)]
    fn untraced(cause: u64) -> Self {
        Self { span: Span::none(), current: Current { id: 0, cause } }
    }

    #[cold]
    #[inline(never)]
    fn traced(
        of: &impl Subject,
        cause: u64,
        span: impl FnOnce(Option<u32>, u64, Option<u64>) -> Span,
    ) -> Self {
        let node = of.node();
        let id = ids::fresh(node);
        let span = span(node, id, (cause != 0).then_some(cause));
        if span.is_disabled() {
            return Self::untraced(cause);
        }
        Self { span, current: Current { id, cause } }
    }

    fn handle<A>(
        of: &impl Subject,
        cause: u64,
        message: &'static str,
        priority: &'static str,
    ) -> Self {
        Self::traced(of, cause, |node, id, cause| {
            span!(
                target: "evenkeel_actor::handle", parent: None, Level::DEBUG, "handle",
                actor.type = type_name::<A>(), actor.id = %of.id(),
                actor.name = of.name().as_deref(), node,
                message.type = message, message.id = id, cause, priority,
            )
        })
    }

    #[inline]
    pub(crate) fn message<A, M>(parcel: Parcel<M>, of: &impl Subject) -> (M, Self) {
        let (message, cause) = parcel.into_parts();
        let scene = if is_on() {
            Self::handle::<A>(of, cause, type_name::<M>(), "normal")
        } else {
            Self::untraced(cause)
        };
        (message, scene)
    }

    pub(crate) fn event<A>(event: &Event, of: &impl Subject) -> Self {
        if !is_on() {
            return Self::untraced(0);
        }
        let which = match event {
            Event::Down { .. } => "Event::Down",
            Event::Exit { .. } => "Event::Exit",
            Event::ChildEnded { .. } => "Event::ChildEnded",
            Event::Notice(_) => "Event::Notice",
        };
        Self::handle::<A>(of, 0, which, "system")
    }

    pub(crate) fn start<A>(born: Born, of: &impl Subject) -> Self {
        if !is_on() {
            return Self::untraced(born.0);
        }
        Self::traced(of, born.0, |node, id, cause| {
            span!(
                target: "evenkeel_actor::handle", parent: None, Level::DEBUG, "start",
                actor.type = type_name::<A>(), actor.id = %of.id(),
                actor.name = of.name().as_deref(), node,
                message.id = id, cause,
            )
        })
    }

    pub(crate) fn stop<A>(of: &impl Subject) -> Self {
        if !is_on() {
            return Self::untraced(0);
        }
        Self::traced(of, 0, |node, id, _| {
            span!(
                target: "evenkeel_actor::handle", parent: None, Level::DEBUG, "stop",
                actor.type = type_name::<A>(), actor.id = %of.id(),
                actor.name = of.name().as_deref(), node,
                message.id = id,
            )
        })
    }

    /// Polls a handler in this scene.
    #[inline]
    pub(crate) fn run<F: Future<Output: Outcome>>(self, handler: F) -> Traced<F> {
        Traced { handler: handler.instrument(self.span), current: self.current }
    }
}

/// The message that was being handled when an actor was spawned.
#[derive(Clone, Copy)]
pub(crate) struct Born(u64);

impl Born {
    #[inline]
    pub(crate) fn now() -> Self {
        Self(on::current().map_or(0, std::num::NonZeroU64::get))
    }
}

/// The result of a handler.
pub(crate) trait Outcome {
    fn is_failure(&self) -> bool;
}

impl<E> Outcome for Result<(), E> {
    fn is_failure(&self) -> bool {
        self.is_err()
    }
}

impl Outcome for () {
    fn is_failure(&self) -> bool {
        false
    }
}

pin_project! {
    /// A handler, and what it is handling.
    pub(crate) struct Traced<F> {
        #[pin]
        handler: Instrumented<F>,
        current: Current,
    }
}

/// Notes a panic of the handler.
struct Guard(Current);

impl Drop for Guard {
    fn drop(&mut self) {
        if thread::panicking() {
            BROKEN.set(self.0);
        }
    }
}

impl<F: Future<Output: Outcome>> Future for Traced<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _within = Within::enter(*this.current);
        let _guard = Guard(*this.current);
        let polled = this.handler.poll(context);
        if let Poll::Ready(outcome) = &polled
            && outcome.is_failure()
        {
            BROKEN.set(running());
        }
        polled
    }
}

macro_rules! handling {
    ($actor:ty, $message:ident, $context:ident, $handle:expr) => {{
        let subject = $context.subject();
        let ($message, scene) = $crate::trace::Scene::message::<$actor, _>($message, subject);
        scene.run($handle).await
    }};
}

macro_rules! noticing {
    ($actor:ty, $news:ident, $context:ident, $handle:expr) => {{
        let scene = $crate::trace::Scene::event::<$actor>(&$news.event, $context.subject());
        scene.run($handle).await
    }};
}

macro_rules! starting {
    ($actor:ty, $born:ident, $context:ident, $start:expr) => {{
        let scene = $crate::trace::Scene::start::<$actor>($born, $context.subject());
        scene.run($start).await
    }};
}

macro_rules! stopping {
    ($actor:ty, $context:ident, $stop:expr) => {{
        let scene = $crate::trace::Scene::stop::<$actor>($context.subject());
        scene.run($stop).await
    }};
}

pub(crate) use {handling, noticing, starting, stopping};
