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

/// The result of a handler. `?` turns any error into a [`Failure`], with which the actor fails as
/// if it had panicked. For an error in a box, or one of `anyhow`, write
/// [`map_err(Failure::new)?`](Failure::new).
pub type Handled = Result<(), Failure>;

/// A value that handles messages, one at a time.
///
/// A handler may await anything. Meanwhile the actor handles nothing else, and its mailbox fills up
/// to its capacity.
///
/// # Failure
/// An actor fails if its handler panics or returns an error, and its value is dropped. A supervisor
/// makes a new value, if its strategy says so, and keeps the mailbox. Without a supervisor the
/// actor has stopped, and its remaining messages become dead letters.
///
/// # Examples
/// The [crate's page](crate) has a first actor. This one notes what happens to it:
/// ```
/// use evenkeel_actor::{Actor, Context, Event, ExitReason, Handled, spawn};
/// use std::sync::mpsc::{Sender, channel};
///
/// struct Captain(Sender<String>);
///
/// impl Actor for Captain {
///     type Message = &'static str;
///
///     async fn started(&mut self, context: &mut Context<Self>) -> Handled {
///         self.0.send("on board".to_owned())?;
///         context.spawn(Mate);
///         Ok(())
///     }
///
///     async fn handle(&mut self, order: &'static str, context: &mut Context<Self>) -> Handled {
///         self.0.send(order.to_owned())?;
///         if order == "anchor" {
///             context.stop();
///         }
///         Ok(())
///     }
///
///     async fn event(&mut self, event: Event, _context: &mut Context<Self>) -> Handled {
///         if let Event::ChildEnded { reason, .. } = event {
///             self.0.send(format!("the mate {reason}"))?;
///         }
///         Ok(())
///     }
///
///     async fn stopped(&mut self, reason: &ExitReason, _context: &mut Context<Self>) {
///         let _ = self.0.send(format!("ashore, {reason}"));
///     }
/// }
///
/// /// Stops at once.
/// struct Mate;
///
/// impl Actor for Mate {
///     type Message = ();
///
///     async fn started(&mut self, context: &mut Context<Self>) -> Handled {
///         context.stop();
///         Ok(())
///     }
///
///     async fn handle(&mut self, _message: (), _context: &mut Context<Self>) -> Handled {
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let (sender, log) = channel();
/// runtime.block_on(async {
///     let captain = spawn(Captain(sender));
///     assert_eq!(log.recv().unwrap(), "on board");
///     // An event comes before messages, as soon as it happens.
///     assert_eq!(log.recv().unwrap(), "the mate stopped");
///     captain.send("anchor").await.unwrap();
///     captain.stopped().await;
/// });
/// assert_eq!(log.iter().collect::<Vec<_>>(), ["anchor", "ashore, stopped"]);
/// ```
pub trait Actor: Send + Sized + 'static {
    /// The type of its messages.
    type Message: Send + 'static;

    /// Runs once before the first message, and again after each restart.
    ///
    /// # Errors
    /// With an error the actor fails.
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

    /// Handles an event: the end of an actor that it [watches](Context::watch) or is
    /// [linked](Context::link) to, or of one of its [children](Context::spawn). Events come before
    /// the messages in the mailbox, one at a time, in the order in which they happened. An actor
    /// that stops in order, and waits for its children, receives no more events.
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

    /// Runs once after the last message of an actor that stops in order, and after the end of its
    /// children. It does not run after a failure, nor when the actor is killed.
    fn stopped(
        &mut self,
        reason: &ExitReason,
        context: &mut Context<Self>,
    ) -> impl Future<Output = ()> + Send {
        let _ = (reason, context);
        ready(())
    }
}
