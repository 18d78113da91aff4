//! References may go to other threads, also those in the messages that they are for.
//!
//! What a reference is made of is `Send` too, but the compiler would find that out by way of a
//! trait that holds for mailboxes of messages that are `Send`: for a message with a reference to
//! actors of its own kind it would go round in a circle, and refuse. Said of the reference itself
//! the circle is one of `Send` alone, which holds.

#![allow(unsafe_code, reason = "what is Send and Sync anyway is said to be")]

use crate::actor_ref::ActorRef;
use crate::mailbox::overflow::Overflow;

// SAFETY: a constant in `actor_ref` compiles only if all that a reference is made of may be sent,
// for every message that may.
unsafe impl<M: Send + 'static, P: Overflow> Send for ActorRef<M, P> {}
// SAFETY: as above; the same constant asks whether it may be shared.
unsafe impl<M: Send + 'static, P: Overflow> Sync for ActorRef<M, P> {}

#[cfg(test)]
mod tests {
    use super::ActorRef;

    #[test]
    fn a_message_may_hold_a_reference_to_an_actor_of_its_own_kind() {
        struct Hello {
            _from: ActorRef<Hello>,
            _others: Vec<ActorRef<Hello>>,
        }
        fn goes_anywhere<T: Send + Sync + 'static>() {}
        goes_anywhere::<ActorRef<Hello>>();
        goes_anywhere::<Hello>();
    }
}
