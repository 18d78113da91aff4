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

#[cfg(test)]
mod tests {
    use super::{Calls, Outcome};
    use crate::node::NodeId;
    use crate::node::wire::Failure;
    use std::sync::{Arc, Mutex};

    const A: NodeId = NodeId::new(1);
    const B: NodeId = NodeId::new(2);

    /// Opens a call whose outcome is noted.
    fn open(calls: &Calls, asked: NodeId, beside: u32, notes: &Arc<Mutex<Vec<String>>>) -> u32 {
        let notes = Arc::clone(notes);
        let complete = Box::new(move |outcome: Outcome<'_>| {
            notes.lock().unwrap().push(match outcome {
                Outcome::Answer(bytes) => format!("{bytes:?}"),
                Outcome::At(slot) => slot.to_string(),
                Outcome::Failed(failure, detail) => format!("{failure:?} {detail}"),
                Outcome::NodeDown => "down".to_owned(),
            });
            true
        });
        calls.open(asked, beside, complete)
    }

    #[test]
    fn a_call_is_closed_once() {
        let (calls, notes) = (Calls::default(), Arc::default());
        let call = open(&calls, A, 0, &notes).into();
        assert!(calls.close(call, Outcome::Answer(&[7])));
        assert!(!calls.close(call, Outcome::Answer(&[8])));
        assert!(!calls.close(u64::MAX, Outcome::NodeDown), "a number that is no call's");
        assert_eq!(*notes.lock().unwrap(), ["[7]"]);
        assert_eq!(calls.len(), 0);
    }

    #[test]
    fn calls_of_one_message_fail_together_if_it_is_not_delivered() {
        let (calls, notes) = (Calls::default(), Arc::default());
        let first = open(&calls, A, 0, &notes);
        let second = open(&calls, A, first, &notes);
        let third = open(&calls, A, second, &notes);
        calls.close(third.into(), Outcome::Failed(Failure::NoSuchActor, "gone"));
        assert_eq!(calls.len(), 0);
        assert_eq!(notes.lock().unwrap().len(), 3);
        // Each place that is dropped is told of alone.
        let first = open(&calls, A, 0, &notes);
        let second = open(&calls, A, first, &notes);
        calls.close(second.into(), Outcome::Failed(Failure::Ended, ""));
        assert_eq!(calls.len(), 1);
    }

    #[test]
    fn a_node_that_is_down_fails_its_calls_and_no_others() {
        let (calls, notes) = (Calls::default(), Arc::default());
        open(&calls, A, 0, &notes);
        let other = open(&calls, B, 0, &notes);
        open(&calls, A, 0, &notes);
        calls.node_is_down(A);
        assert_eq!(*notes.lock().unwrap(), ["down", "down"]);
        assert!(calls.close(other.into(), Outcome::Answer(&[])));
    }

    #[test]
    fn calls_whose_message_was_not_sent_are_forgotten() {
        let (calls, notes) = (Calls::default(), Arc::default());
        let first = open(&calls, A, 0, &notes);
        let second = open(&calls, A, first, &notes);
        calls.forget(second);
        assert_eq!(calls.len(), 0);
        assert!(notes.lock().unwrap().is_empty());
    }
}
