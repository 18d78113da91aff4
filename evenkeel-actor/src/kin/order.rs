//! Orders, which an actor handles before its messages.

use crate::words::event::Event;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An order to an actor, which it handles before its messages.
#[derive(Debug)]
pub(crate) enum Order {
    /// Stop after the present message.
    Stop,
    /// Stop when the messages that came before this order are handled.
    Drain,
    /// Stop after the present message, to be restarted, if the actor's [post](super::post::Post)
    /// names the present start.
    Cease,
    /// Handle an event.
    Event(Box<News>),
}

/// An event on its way to its actor.
#[derive(Debug)]
pub(crate) struct News {
    pub(crate) event: Event,
    _counted: Option<Counted>,
}

/// Counts an event that another node has caused, until its actor has handled it.
#[derive(Debug)]
pub(crate) struct Counted(&'static AtomicUsize);

impl Counted {
    pub(crate) fn by(count: &'static AtomicUsize) -> Self {
        // Relaxed: the count guards no memory.
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Order {
    pub(crate) fn event(event: Event, counted: Option<Counted>) -> Self {
        Self::Event(Box::new(News { event, _counted: counted }))
    }

    /// Returns whether it tells the actor to stop, with or without its messages.
    pub(crate) fn is_stop(&self) -> bool {
        matches!(self, Self::Stop | Self::Drain)
    }
}
