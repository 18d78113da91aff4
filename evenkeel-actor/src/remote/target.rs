//! Delivers values from other nodes to an actor of this one.

use super::inner::Peer;
use super::scope;
use super::table::{Target, Told};
use crate::kin::control::AnyActor;
use crate::mailbox::overflow::{Full, Overflow};
use crate::refs::actor_ref::ActorRef;
use crate::trace::carry;
use crate::words::error::SendError;
use serde::de::DeserializeOwned;

impl<M: Send + DeserializeOwned + 'static, P: Overflow> Target<Peer> for ActorRef<M, P> {
    #[inline]
    fn tell(&self, from: &'static Peer, payload: &[u8]) -> Told {
        let message = match scope::read::<M>(from, payload) {
            Ok(message) => message,
            Err(error) => return Told::Unreadable(error),
        };
        match self.try_send(message) {
            Ok(()) => Told::Done,
            Err(SendError::Full(message)) if P::FULL == Full::Wait => {
                let to = self.clone();
                Told::Waits(Box::pin(carry(async move { to.send(message).await.is_ok() })))
            }
            Err(SendError::Full(message)) => Told::Full(Box::new(message)),
            Err(error) => Told::Stopped(Box::new(error.into_message())),
        }
    }

    fn any(&self) -> AnyActor {
        ActorRef::any(self)
    }

    fn is_stopped(&self) -> bool {
        ActorRef::is_stopped(self)
    }
}
