//! Addresses by which actors are told of others, and which keep no actor alive.

use crate::words::event::{Event, Notice, NoticeKind};
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use evenkeel::JoinHandle;
use evenkeel::time::{Duration, sleep};
use std::sync::Arc;

/// What is told to an actor by those it has to do with. An actor of another node has one that sends
/// it there.
pub(crate) trait Reach: Send + Sync {
    /// The actor `from`, which it may be watching, has ended.
    fn down(&self, from: ActorId, reason: &ExitReason);
    /// The actor `from`, to which it may be linked, has ended.
    fn exit(&self, from: ActorId, reason: &ExitReason);
    /// It is linked to the actor `to` from now on, which has that peer. False if it has ended.
    fn link(&self, to: ActorId, peer: Peer) -> bool;
    /// The actor `from` has given up its link.
    fn unlink(&self, from: ActorId);
    /// Its child with this number has ended.
    fn child_ended(&self, number: u64, child: ActorId, reason: &ExitReason);
    /// Something that it is always told.
    fn event(&self, event: Event);
    /// Whether it has ended.
    fn is_gone(&self) -> bool;
    /// It ends.
    fn sever(&self);
}

pub(crate) type Peer = Arc<dyn Reach>;

/// An actor's own peer, as the actor has it: severed when it is dropped, however that comes about.
pub(crate) struct OwnPeer(pub(crate) Peer);

impl Drop for OwnPeer {
    fn drop(&mut self) {
        self.0.sever();
    }
}

/// A moment at which an actor is told something: for one that waits for its orders alone, and
/// cannot wait for a timer beside. Dropped, it is off; one that has gone off meanwhile is known by
/// its number.
#[derive(Debug)]
pub(crate) struct Alarm {
    task: JoinHandle<()>,
    pub(crate) number: u64,
}

impl Alarm {
    /// Tells `peer` after a time, with a number by which it is known.
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
