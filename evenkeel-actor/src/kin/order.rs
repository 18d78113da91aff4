//! What comes before messages.

use crate::words::event::Event;

/// What an actor is told to do, before its messages.
#[derive(Debug)]
pub(crate) enum Order {
    /// Stop after the present message.
    Stop,
    /// Stop when the messages that came before this order are handled.
    Drain,
    /// Stop after the present message, to be started again, if it is the present start that the
    /// actor's [post](super::post::Post) means.
    Cease,
    /// Something has happened to others.
    Event(Box<Event>),
}
