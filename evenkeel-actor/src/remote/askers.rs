//! Who waits for answers to a message that has come from another node: they are told if it is not
//! delivered.

use super::inner::{Counts, Peer};
use crate::node::wire::{Failure, Places};

/// Whose questions are in a message.
#[derive(Clone, Copy, Default)]
pub(super) struct Askers<'a> {
    /// The sender's, if it asks itself.
    pub(super) call: Option<u64>,
    /// Those of others that the sender hands on.
    pub(super) places: Places<'a>,
}

impl<'a> Askers<'a> {
    pub(super) fn by(call: u64) -> Self {
        Self { call: Some(call), places: Places::default() }
    }

    /// Questions that are handed on, and perhaps one of the sender's own, which is not zero.
    pub(super) fn handed_on(call: u64, places: Places<'a>) -> Self {
        Self { call: (call != 0).then_some(call), places }
    }

    /// Tells all of them that there will be no answer. Of an actor that a question was handed on to
    /// its asker knows nothing, so that is as if the place had been dropped.
    pub(super) fn fail(self, from: &Peer, why: Failure, detail: &str) {
        if let Some(call) = self.call {
            from.fail(call, why, detail);
        }
        for (node, call) in self.places.iter() {
            let Some(owner) = from.node.peer(node) else { continue };
            // The place may be made up, and is the sender's word about a third node.
            if std::ptr::eq(owner, from) || owner.has_room_for_others() {
                owner.fail(call, Failure::Ended, "");
            } else {
                Counts::add(&from.node.counts.undelivered);
            }
        }
    }
}
