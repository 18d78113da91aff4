//! What an actor is, and what its handlers can do.

pub(crate) mod context;
pub(crate) mod others;
pub(crate) mod stash;
pub(crate) mod timing;
pub(crate) mod turn;

use self::context::Context;
use crate::words::event::Event;
use crate::words::exit::{ExitReason, Failure};
use std::future::{Future, ready};

/// What a handler comes to: `Ok`, or a [`Failure`], made by `?` of any error, with which the actor
/// fails as if it had panicked.
pub type Handled = Result<(), Failure>;

/// A value that handles messages, one at a time.
///
/// A handler may await anything. Meanwhile the actor handles nothing else, and its mailbox fills up
/// to its capacity.
///
/// # Failure
/// An actor whose handler panics or returns an error is dropped. With a supervisor it is made anew,
/// if the strategy says so, with the mailbox that it had; without one it has stopped, and the
/// messages it had are dead letters.
///
/// # Examples
/// See the [crate's page](crate).
pub trait Actor: Send + Sized + 'static {
    /// What it is sent.
    type Message: Send + 'static;

    /// Called once before the first message, and again after each restart.
    ///
    /// # Errors
    /// An actor that cannot start fails.
    fn started(&mut self, context: &mut Context<Self>) -> impl Future<Output = Handled> + Send {
        let _ = context;
        ready(Ok(()))
    }

    /// Handles one message.
    ///
    /// # Errors
    /// With an error the actor fails.
    fn handle(
        &mut self,
        message: Self::Message,
        context: &mut Context<Self>,
    ) -> impl Future<Output = Handled> + Send;

    /// Told of others: of the end of an actor that it [watches](Context::watch) or is
    /// [linked](Context::link) to, and of its [children](Context::spawn). Events come before the
    /// messages that wait, one at a time, in the order in which they happened. An actor that stops
    /// in order, and waits for its children, is told of nothing any more.
    ///
    /// # Errors
    /// With an error the actor fails.
    fn event(
        &mut self,
        event: Event,
        context: &mut Context<Self>,
    ) -> impl Future<Output = Handled> + Send {
        let _ = (event, context);
        ready(Ok(()))
    }

    /// Called once after the last message of an actor that stops in order, and after the end of its
    /// children; not after a failure, nor when it is killed.
    fn stopped(
        &mut self,
        reason: &ExitReason,
        context: &mut Context<Self>,
    ) -> impl Future<Output = ()> + Send {
        let _ = (reason, context);
        ready(())
    }
}
