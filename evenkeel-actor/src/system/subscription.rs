//! Subscriptions: an actor receives news until its subscription is dropped.

use std::fmt;

/// A list of subscribers by number.
pub(crate) trait Subscribed: Send + Sync {
    /// Removes this subscriber.
    fn unsubscribe(&self, number: u64);
}

/// The outcome of telling a subscriber something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Taken,
    /// The subscriber had no room for it.
    Full,
    /// The subscriber has stopped.
    Gone,
}

/// A subscription. The subscriber receives nothing more once this is dropped.
///
/// # Examples
/// ```
/// use evenkeel_actor::kit;
/// use std::sync::{Arc, Mutex};
///
/// kit::run(1, |kit| async move {
///     let letters = Arc::<Mutex<Vec<_>>>::default();
///     let list = letters.clone();
///     let leave_behind = async || {
///         let actor = kit.probe::<u32>().actor();
///         actor.try_send(7).unwrap();
///         actor.kill();
///         kit.settle().await;
///     };
///
///     let subscription =
///         kit.system().on_dead_letter(move |letter| list.lock().unwrap().push(letter.message));
///     leave_behind().await;
///     drop(subscription);
///     leave_behind().await;
///     assert_eq!(*letters.lock().unwrap(), ["u32"]);
///     assert_eq!(kit.dead_letters(), 2);
/// });
/// ```
#[must_use = "a subscription that is dropped ends at once"]
pub struct Subscription {
    at: &'static dyn Subscribed,
    number: u64,
}

impl Subscription {
    pub(crate) fn new(at: &'static dyn Subscribed, number: u64) -> Self {
        Self { at, number }
    }

    /// Keeps the subscription for as long as its actor lives.
    ///
    /// # Examples
    /// See [`System::send_dead_letters_to`](crate::System::send_dead_letters_to).
    pub fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.at.unsubscribe(self.number);
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("number", &self.number).finish_non_exhaustive()
    }
}
