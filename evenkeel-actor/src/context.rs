//! What an actor can do about itself.

use crate::actor::Actor;
use crate::actor_ref::ActorRef;
use crate::control::{ActorId, AnyActor};
use crate::mailbox::overflow::{Overflow, Wait};
use crate::mailbox::{HasId, Next, Receiver};
use crate::system::System;
use crate::turn::Turn;
use std::fmt;

/// What an actor can do about itself, lent to its handlers.
pub struct Context<A: Actor> {
    receiver: Receiver<A::Message>,
    turn: Turn,
    /// Set once the actor is to stop after the present message.
    ends: bool,
}

impl<A: Actor> Context<A> {
    pub(crate) fn new(receiver: Receiver<A::Message>) -> Self {
        Self { receiver, turn: Turn::default(), ends: false }
    }

    /// A reference to the actor itself, with the default policy: a message that finds the mailbox full waits.
    #[must_use]
    pub fn me(&self) -> ActorRef<A::Message> {
        self.me_with::<Wait>()
    }

    /// A reference to the actor itself, by which a message that finds the mailbox full is treated as `P` says.
    pub(crate) fn me_with<P: Overflow>(&self) -> ActorRef<A::Message, P> {
        ActorRef::local(self.receiver.own().public())
    }

    /// The actor's number, which no other of this process has.
    #[must_use]
    pub fn id(&self) -> ActorId {
        HasId::id(self.receiver.own())
    }

    /// The actor, without the type of its messages.
    #[must_use]
    pub fn myself(&self) -> AnyActor {
        AnyActor::local(self.receiver.own().public())
    }

    /// The system that the actor belongs to.
    #[must_use]
    pub fn system(&self) -> System {
        self.receiver.own().system()
    }

    /// Stops the actor after the present message. What is left in its mailbox becomes dead letters.
    pub fn stop(&mut self) {
        self.ends = true;
    }

    #[inline(always)]
    pub(crate) fn ends(&self) -> bool {
        self.ends
    }

    /// Notes what has been handled in a turn that is over.
    #[inline(always)]
    pub(crate) fn end_turn(&mut self) {
        let handled = self.turn.end();
        self.receiver.own().note_handled(handled);
    }

    /// Begins a life: what is left of the one before a restart goes.
    #[inline(always)]
    pub(crate) fn begin(&mut self) {
        if self.receiver.own().starts_again() {
            self.receiver.clear_timers();
        }
    }

    pub(crate) fn receiver(&mut self) -> &mut Receiver<A::Message> {
        &mut self.receiver
    }

    /// Whether there is nothing to be done: then the turn is over, and the actor parks when its poll ends.
    #[inline(always)]
    pub(crate) fn is_idle(&mut self) -> bool {
        let idle = self.receiver.is_idle();
        if idle {
            self.end_turn();
        }
        idle
    }

    /// What is to be done next. There is something.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Next<A::Message> {
        self.receiver.next()
    }

    /// Whether the actor is to give way to others, after a message.
    #[inline(always)]
    pub(crate) fn is_turn_over(&mut self) -> bool {
        let own = self.receiver.own();
        self.turn.is_over(|handled| own.note_handled(handled))
    }

    pub(crate) fn drain(&mut self) {
        self.receiver.drain();
    }
}

impl<A: Actor> fmt::Debug for Context<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("id", &self.id()).finish_non_exhaustive()
    }
}
