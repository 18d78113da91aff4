//! Questions to other nodes that have no answer yet.
//!
//! A call is opened when its place for the answer is written into a message, and closed by its answer, by a failure, or by the loss of the node that was asked: so each is closed, since
//! a place for an answer that is dropped on the other side says so. An asker that has given up does not close it; the answer is a dead letter then.

use super::hash::Numbers;
use crate::node::wire::Failure;
use crate::node::{NodeId, Slot};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What becomes of a call.
pub(crate) enum Outcome<'a> {
    /// The answer, not read yet.
    Answer(&'a [u8]),
    /// Where an actor is.
    At(Slot),
    /// There is none.
    Failed(Failure, &'a str),
    /// The node is down.
    NodeDown,
}

/// Told what becomes of a call. False if nobody waits any more.
pub(crate) type Complete = Box<dyn FnOnce(Outcome<'_>) -> bool + Send>;

struct Call {
    asked: NodeId,
    /// Another call of the same message, or zero.
    beside: u32,
    complete: Complete,
}

#[derive(Default)]
struct Open {
    calls: HashMap<u32, Call, Numbers>,
    last: u32,
}

/// The calls of one node.
#[derive(Default)]
pub(crate) struct Calls(Mutex<Open>);

impl Calls {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a call to `asked`, and gives its number, which is not zero.
    pub(crate) fn open(&self, asked: NodeId, beside: u32, complete: Complete) -> u32 {
        let mut open = self.lock();
        loop {
            open.last = open.last.wrapping_add(1);
            let number = open.last;
            // Numbers come again after four thousand million calls.
            if number != 0 && !open.calls.contains_key(&number) {
                open.calls.insert(number, Call { asked, beside, complete });
                return number;
            }
        }
    }

    fn take(&self, call: u64) -> Option<Call> {
        self.lock().calls.remove(&u32::try_from(call).ok()?)
    }

    /// What becomes of a call. False if nobody waits for it.
    pub(crate) fn close(&self, call: u64, outcome: Outcome<'_>) -> bool {
        // What completes it runs without the lock: it may drop what opens calls.
        let Some(Call { complete, beside, .. }) = self.take(call) else { return false };
        // The message was not delivered, so there will be no other answers.
        if let Outcome::Failed(failure, _) = outcome
            && failure != Failure::Ended
            && failure != Failure::Unwritable
            && beside != 0
        {
            self.close(beside.into(), Outcome::Failed(failure, ""));
        }
        complete(outcome)
    }

    /// Forgets calls whose message was not sent.
    pub(crate) fn forget(&self, mut call: u32) {
        while let Some(Call { beside, .. }) = self.take(call.into()) {
            call = beside;
        }
    }

    /// A node is down: nobody there answers any more.
    pub(crate) fn node_is_down(&self, node: NodeId) {
        let lost: Vec<_> = self.lock().calls.extract_if(|_, call| call.asked == node).collect();
        for (_, call) in lost {
            (call.complete)(Outcome::NodeDown);
        }
    }

    /// How many are open.
    pub(crate) fn len(&self) -> usize {
        self.lock().calls.len()
    }
}
