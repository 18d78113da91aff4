//! Orders, which an actor handles before its messages.

use crate::words::event::Event;

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
    Event(Box<Event>),
}

impl Order {
    /// Returns whether it tells the actor to stop, with or without its messages.
    pub(crate) fn is_stop(&self) -> bool {
        matches!(self, Self::Stop | Self::Drain)
    }
}
