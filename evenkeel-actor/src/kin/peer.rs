//! Addresses by which actors are told of others, and which keep no actor alive.

use super::order::Counted;
use crate::words::event::{Event, Notice, NoticeKind};
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use evenkeel::JoinHandle;
use evenkeel::time::{Duration, sleep};
use std::sync::Arc;

/// What other actors tell an actor. The peer of an actor on another node sends it there.
pub(crate) trait Reach: Send + Sync {
    /// Tells the actor that `from`, which it may be watching, has ended.
    fn down(&self, from: ActorId, reason: &ExitReason);
    /// Tells the actor that `from`, to which it may be linked, has ended. If that is an event, it
    /// is `counted`.
    fn exit(&self, from: ActorId, reason: &ExitReason, counted: Option<Counted>);
    /// Links the actor to `to`, which has that peer. Returns false if the actor has ended.
    fn link(&self, to: ActorId, peer: Peer) -> bool;
    /// Tells the actor that `from` has given up its link.
    fn unlink(&self, from: ActorId);
    /// Tells the actor that its child with this number has ended.
    fn child_ended(&self, number: u64, child: ActorId, reason: &ExitReason);
    /// Tells the actor an event, without a condition.
    fn event(&self, event: Event);
    /// Returns whether the actor has ended.
    fn is_gone(&self) -> bool;
    /// Detaches the peer from its actor, which ends.
    fn sever(&self);
}

pub(crate) type Peer = Arc<dyn Reach>;

/// An actor's own peer, in the actor's hands. Dropping it severs the peer, however the actor ends.
pub(crate) struct OwnPeer(pub(crate) Peer);

impl Drop for OwnPeer {
    fn drop(&mut self) {
        self.0.sever();
    }
}

/// A timer that tells an actor something, for an actor that waits for its orders alone and cannot
/// also wait for a timer. Dropping the alarm cancels it. An alarm that has rung meanwhile is
/// recognised by its number.
#[derive(Debug)]
pub(crate) struct Alarm {
    task: JoinHandle<()>,
    pub(crate) number: u64,
}

impl Alarm {
    /// Tells `peer` after `time`, with the alarm's number.
    pub(crate) fn after(time: Duration, peer: Peer, index: usize, number: u64) -> Self {
        let task = evenkeel::spawn(async move {
            sleep(time).await;
            peer.event(Event::Notice(Notice { index, kind: NoticeKind::Alarm { number } }));
        });
        Self { task, number }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An actor that nothing reaches, and whether it has gone.
#[cfg(test)]
pub(super) struct Far(pub(super) bool);

#[cfg(test)]
impl Reach for Far {
    fn down(&self, _from: ActorId, _reason: &ExitReason) {}
    fn exit(&self, _from: ActorId, _reason: &ExitReason, _counted: Option<Counted>) {}
    fn link(&self, _to: ActorId, _peer: Peer) -> bool {
        false
    }
    fn unlink(&self, _from: ActorId) {}
    fn child_ended(&self, _number: u64, _child: ActorId, _reason: &ExitReason) {}
    fn event(&self, _event: Event) {}
    fn is_gone(&self) -> bool {
        self.0
    }
    fn sever(&self) {}
}
