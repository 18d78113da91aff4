//! The calls that wait for answers to a message from another node. They fail if the message is not
//! delivered.

use super::inner::{Counts, Peer};
use crate::node::wire::{Failure, Places};

/// The calls with places in a message.
#[derive(Clone, Copy, Default)]
pub(super) struct Askers<'a> {
    /// The sender's own call, if it asks itself.
    pub(super) call: Option<u64>,
    /// Places of other calls that the sender hands on.
    pub(super) places: Places<'a>,
}

impl<'a> Askers<'a> {
    pub(super) fn by(call: u64) -> Self {
        Self { call: Some(call), places: Places::default() }
    }

    /// The calls that are handed on, and perhaps one of the sender's own, which is not zero.
    pub(super) fn handed_on(call: u64, places: Places<'a>) -> Self {
        Self { call: (call != 0).then_some(call), places }
    }

    /// Fails all of them. A question's asker does not know the actor that the question was handed
    /// on to. To that asker it is as if the place had been dropped.
    pub(super) fn fail(self, from: &Peer, why: Failure, detail: &str) {
        if let Some(call) = self.call {
            from.fail(call, why, detail);
        }
        for (node, call) in self.places.iter() {
            let Some(owner) = from.node.peer(node) else { continue };
            // The sender may have made up the place, which names a third node.
            if std::ptr::eq(owner, from) || owner.has_room_for_others() {
                owner.fail(call, Failure::Ended, "");
            } else {
                Counts::add(&from.node.counts.undelivered);
            }
        }
    }
}
