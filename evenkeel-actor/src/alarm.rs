//! A moment at which an actor is told something: for what waits for its orders alone, and cannot
//! wait for a timer beside.

use crate::event::{Event, Notice, NoticeKind};
use crate::kin::peer::Peer;
use evenkeel::JoinHandle;
use evenkeel::time::{Duration, sleep};

/// An alarm that is set. Dropped, it is off; one that has gone off meanwhile is known by its
/// number.
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
