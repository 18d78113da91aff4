//! Questions to other nodes that have no answer yet.
//!
//! A call is opened when its place for the answer is written into a message, and closed by its answer, by a failure, or by the loss of the node that was asked: so each is closed, since
//! a place for an answer that is dropped on the other side says so. An asker that has given up does not close it; the answer is a dead letter then.
//!
//! A node that answers nothing has calls pile up. Those whose askers have given up are looked for whenever the number of calls has doubled, and at the limit of calls to one node, beyond which none is opened.

use super::hash::Numbers;
use super::limits::Sweeper;
use crate::node::wire::Failure;
use crate::node::{NodeId, Slot};
use crate::oneshot;
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

/// Who waits for a call.
pub(crate) trait Complete: Send {
    /// Tells what becomes of it. False if nobody waits any more.
    fn complete(self: Box<Self>, outcome: Outcome<'_>) -> bool;
    fn has_given_up(&self) -> bool;
}

/// One that is sent what a closure makes of the outcome.
pub(crate) struct Asker<R, F> {
    sender: oneshot::Sender<R>,
    make: F,
}

impl<R, F: FnOnce(Outcome<'_>) -> R> Asker<R, F> {
    pub(crate) fn new(sender: oneshot::Sender<R>, make: F) -> Self {
        Self { sender, make }
    }
}

impl<R: Send, F: FnOnce(Outcome<'_>) -> R + Send> Complete for Asker<R, F> {
    fn complete(self: Box<Self>, outcome: Outcome<'_>) -> bool {
        let Self { sender, make } = *self;
        sender.send(make(outcome)).is_ok()
    }

    fn has_given_up(&self) -> bool {
        self.sender.is_closed()
    }
}

struct Call {
    asked: NodeId,
    /// Another call of the same message, or zero.
    beside: u32,
    complete: Box<dyn Complete>,
}

struct Open {
    calls: HashMap<u32, Call, Numbers>,
    /// How many there are to each node.
    to: HashMap<NodeId, usize>,
    last: u32,
    sweeper: Sweeper,
}

impl Open {
    fn take(&mut self, call: u32) -> Option<Call> {
        let call = self.calls.remove(&call)?;
        if let Some(open) = self.to.get_mut(&call.asked) {
            *open -= 1;
        }
        Some(call)
    }

    /// Takes out those that nobody waits for any more, if it is time to look.
    fn sweep(&mut self, open: usize, most: usize) -> Vec<Call> {
        if !self.sweeper.is_due(self.calls.len(), open >= most, most) {
            return Vec::new();
        }
        let gone = self.calls.iter().filter(|(_, call)| call.complete.has_given_up());
        let gone: Vec<u32> = gone.map(|(&call, _)| call).collect();
        let gone = gone.into_iter().filter_map(|call| self.take(call)).collect();
        self.sweeper.swept(self.calls.len());
        gone
    }
}

/// The calls of one node.
pub(crate) struct Calls {
    /// How many there may be to each other node.
    most: usize,
    open: Mutex<Open>,
}

impl Calls {
    pub(crate) fn new(most: usize) -> Self {
        let open = Open {
            calls: HashMap::default(),
            to: HashMap::new(),
            last: 0,
            sweeper: Sweeper::new(),
        };
        Self { most, open: Mutex::new(open) }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a call to `asked`, and gives its number, which is not zero. None if there are too many.
    pub(crate) fn open(
        &self,
        asked: NodeId,
        beside: u32,
        complete: Box<dyn Complete>,
    ) -> Option<u32> {
        let mut open = self.lock();
        let before = open.to.get(&asked).copied().unwrap_or(0);
        // Dropped without the lock.
        let _gone = open.sweep(before, self.most);
        let there = open.to.entry(asked).or_default();
        if *there >= self.most {
            drop(open);
            return None;
        }
        *there += 1;
        loop {
            open.last = open.last.wrapping_add(1);
            let number = open.last;
            // Numbers come again after four thousand million calls.
            if number != 0 && !open.calls.contains_key(&number) {
                open.calls.insert(number, Call { asked, beside, complete });
                drop(open);
                return Some(number);
            }
        }
    }

    fn take(&self, call: u64) -> Option<Call> {
        self.lock().take(u32::try_from(call).ok()?)
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
        complete.complete(outcome)
    }

    /// Forgets calls whose message was not sent.
    pub(crate) fn forget(&self, mut call: u32) {
        while let Some(Call { beside, .. }) = self.take(call.into()) {
            call = beside;
        }
    }

    /// A node is down: nobody there answers any more.
    pub(crate) fn node_is_down(&self, node: NodeId) {
        let mut open = self.lock();
        open.to.remove(&node);
        let lost: Vec<_> = open.calls.extract_if(|_, call| call.asked == node).collect();
        drop(open);
        for (_, call) in lost {
            call.complete.complete(Outcome::NodeDown);
        }
    }

    /// How many are open.
    pub(crate) fn len(&self) -> usize {
        self.lock().calls.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{Asker, Calls, Outcome};
    use crate::node::NodeId;
    use crate::node::wire::Failure;
    use crate::oneshot;
    use std::sync::{Arc, Mutex};

    const A: NodeId = NodeId::new(1);
    const B: NodeId = NodeId::new(2);

    /// Opens a call whose outcome is noted.
    fn open(calls: &Calls, asked: NodeId, beside: u32, notes: &Arc<Mutex<Vec<String>>>) -> u32 {
        let notes = Arc::clone(notes);
        let (sender, receiver) = oneshot::channel();
        // It waits for ever.
        std::mem::forget(receiver);
        let asker = Asker::new(sender, move |outcome: Outcome<'_>| {
            notes.lock().unwrap().push(match outcome {
                Outcome::Answer(bytes) => format!("{bytes:?}"),
                Outcome::At(slot) => slot.to_string(),
                Outcome::Failed(failure, detail) => format!("{failure:?} {detail}"),
                Outcome::NodeDown => "down".to_owned(),
            });
        });
        calls.open(asked, beside, Box::new(asker)).unwrap()
    }

    #[test]
    fn a_call_is_closed_once() {
        let (calls, notes) = (Calls::new(100), Arc::default());
        let call = open(&calls, A, 0, &notes).into();
        assert!(calls.close(call, Outcome::Answer(&[7])));
        assert!(!calls.close(call, Outcome::Answer(&[8])));
        assert!(!calls.close(u64::MAX, Outcome::NodeDown), "a number that is no call's");
        assert_eq!(*notes.lock().unwrap(), ["[7]"]);
        assert_eq!(calls.len(), 0);
    }

    #[test]
    fn calls_of_one_message_fail_together_if_it_is_not_delivered() {
        let (calls, notes) = (Calls::new(100), Arc::default());
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
        let (calls, notes) = (Calls::new(100), Arc::default());
        open(&calls, A, 0, &notes);
        let other = open(&calls, B, 0, &notes);
        open(&calls, A, 0, &notes);
        calls.node_is_down(A);
        assert_eq!(*notes.lock().unwrap(), ["down", "down"]);
        assert!(calls.close(other.into(), Outcome::Answer(&[])));
    }

    #[test]
    fn calls_whose_message_was_not_sent_are_forgotten() {
        let (calls, notes) = (Calls::new(100), Arc::default());
        let first = open(&calls, A, 0, &notes);
        let second = open(&calls, A, first, &notes);
        calls.forget(second);
        assert_eq!(calls.len(), 0);
        assert!(notes.lock().unwrap().is_empty());
    }

    #[test]
    fn calls_of_those_who_have_given_up_make_room_and_each_node_has_its_own() {
        let calls = Calls::new(100);
        let open = |asked| {
            let (sender, receiver) = oneshot::channel::<()>();
            calls
                .open(asked, 0, Box::new(Asker::new(sender, |_: Outcome<'_>| ())))
                .map(|call| (call, receiver))
        };
        let mut waiting: Vec<_> = (0..100).map(|_| open(A).unwrap()).collect();
        assert!((0..1_000).all(|_| open(A).is_none()));
        let other = open(B).unwrap();
        // One that is answered makes room for one.
        assert!(calls.close(waiting.pop().unwrap().0.into(), Outcome::Answer(&[])));
        waiting.push(open(A).unwrap());
        waiting.truncate(60);
        let mut attempts = 0;
        while open(A).is_none() {
            attempts += 1;
            assert!(attempts < 100);
        }
        assert!(calls.len() < 70, "{}", calls.len());
        calls.node_is_down(A);
        assert_eq!(calls.len(), 1);
        assert!(calls.close(other.0.into(), Outcome::NodeDown));
    }
}
