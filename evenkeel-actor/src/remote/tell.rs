//! Tells actors the values that are read, and handles values that do not get there.

use super::askers::Askers;
use super::inner::{Counts, Inner, Peer};
use super::table::{Target, Told, Wait};
use crate::kin::control::AnyActor;
use crate::node::Slot;
use crate::node::wire::{Failure, StopHow};
use crate::system::System;
use crate::system::dead_letters;
use crate::words::dead_letter::DeadLetterKind;
use evenkeel::internal::contain;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// An actor without room for a message, and the message.
pub(super) type Full = (Arc<dyn Target<Peer>>, Wait);

/// Delivers a value to the actor of a slot, which the table may have forgotten. If the mailbox is
/// full, returns what to wait for.
#[inline]
pub(super) fn tell_it(
    peer: &'static Peer,
    to: Slot,
    target: &dyn Target<Peer>,
    askers: Askers<'_>,
    payload: &[u8],
) -> Option<Wait> {
    let node = peer.node;
    // A caller's code that panics in this is contained where it runs: the reader of the value, the
    // drop of a value by a full mailbox, and wakers.
    match dead_letters::arriving(|| target.tell(peer, payload)) {
        Told::Done => {}
        Told::Waits(wait) => return Some(wait),
        Told::Full(message) => {
            node.undelivered(peer, askers, Failure::MailboxFull, "");
            contain(|| drop(message));
        }
        Told::Stopped(message) => {
            node.undelivered(peer, askers, Failure::NoSuchActor, "");
            contain(|| drop(message));
            node.table.note_stopped(to);
        }
        Told::Unreadable(error) => {
            Counts::add(&node.counts.unreadable);
            node.undelivered(peer, askers, Failure::Unreadable, &error.to_string());
        }
    }
    None
}

impl Inner {
    /// Counts a message that has not got to its actor, and fails its calls.
    #[cold]
    pub(super) fn undelivered(&self, peer: &Peer, askers: Askers<'_>, why: Failure, detail: &str) {
        self.count_undelivered(1);
        askers.fail(peer, why, detail);
    }

    /// Counts messages that have not got to their actor.
    #[cold]
    pub(super) fn count_undelivered(&self, messages: u64) {
        self.counts.undelivered.fetch_add(messages, Ordering::Relaxed);
        let kind = DeadLetterKind::Undelivered;
        dead_letters::arriving(|| note_dead(self.system, kind, messages));
    }
}

/// Notes dead letters from another node, of which only the bytes were there.
pub(crate) fn note_dead(system: System, kind: DeadLetterKind, messages: u64) {
    dead_letters::note::<[u8; 0]>(system, None, kind, messages);
}

pub(super) fn stop(actor: &AnyActor, how: StopHow) {
    match how {
        StopHow::Drain => actor.stop(),
        StopHow::Stop => actor.stop_now(),
        StopHow::Kill => actor.kill(),
    }
}
