//! Open calls: questions to other nodes that are not answered yet.
//!
//! A call is opened when its place for the answer is written into a message. It is closed by its
//! answer, by a failure, or by the loss of the node that has the place.
//!
//! # Which node has the place
//! At first the asked node has it. A node that hands the place on to another node tells the node
//! that has opened the call (`Moved`), once the message is on its way. These messages come in any
//! order, since each comes from another node: so they are counted. A node has one place less for
//! each `Moved` that it has sent, and one more for each that names it. Once all have come, exactly
//! one node has one place. While some are on their way, more than one may seem to have it. Then the
//! loss of any of these closes the call, and an answer that still comes is a dead letter.
//!
//! A request for an actor is in no value, so no node hands on the place for its answer: the asked
//! node has it until it answers or is lost. A `Moved` for it is ignored. Its sender is not shut
//! out, since it may be honest: the asked node may have named the call to it, as a place in a
//! value.
//!
//! # Why no asker waits in vain
//! A place that is dropped says so. The loss of a node is noted in its standing before the calls
//! are searched, and a reader that notes a move checks the standing under their lock: one of both
//! closes the call. A message that hands a place on names it beside its payload, so a node that
//! cannot deliver the message fails the call for it. The arguments of a script do not name their
//! places. The node that asks for the script knows which places it has written, and fails their
//! calls once it hears that there is no actor. What is not covered ends with the asker's
//! [limit](crate::System::set_ask_limit):
//! - a message that a node hands on, and that does not get to a third node because these two alone
//!   have lost each other;
//! - a place that a node claims to have handed on, and has not;
//! - a place in an answer that is not read, because no asker waits for it or it is of another type;
//! - a place in the arguments of a script that fails after the task that asked for it has given up,
//!   once that task's call is forgotten.
//!
//! # Which answer counts
//! An answer counts from any node that knows the number. Numbers are a keyed hash of 64 bits: a
//! node cannot guess a number that it was not told.
//!
//! # What stays
//! An asker that has given up does not close its call, and its answer is then a dead letter. Calls
//! to a node that does not answer pile up. Calls without an asker are swept whenever the number of
//! calls has doubled, and at the limit of calls to one node. Beyond that limit no call is opened.

use crate::node::NodeId;
use crate::node::wire::Failure;
use crate::primitives::hash::Numbers;
use crate::primitives::oneshot;
use crate::primitives::sweeper::Sweeper;
use crate::refs::away::Lease;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The outcome of a call.
pub(crate) enum Outcome<'a> {
    /// The answer, not read yet.
    Answer(&'a [u8]),
    /// The place of an actor, leased.
    At(&'a Arc<Lease>),
    /// There is no answer.
    Failed(Failure, &'a str),
    /// The node is down.
    NodeDown,
}

/// The end of a call at which its outcome is awaited.
trait Asker: Send {
    /// Hands over the outcome. False if the asker is gone.
    fn complete(self: Box<Self>, outcome: Outcome<'_>) -> bool;

    /// Whether the asker is gone.
    fn is_gone(&self) -> bool;
}

/// An asker, and how it reads the outcome.
struct Waits<T, F> {
    asker: oneshot::Sender<T>,
    read: F,
}

impl<T: Send, F: FnOnce(Outcome<'_>) -> T + Send> Asker for Waits<T, F> {
    fn complete(self: Box<Self>, outcome: Outcome<'_>) -> bool {
        self.asker.send((self.read)(outcome)).is_ok()
    }

    fn is_gone(&self) -> bool {
        self.asker.is_closed()
    }
}

struct Call {
    asked: NodeId,
    /// Whether the asked node may hand the place for the answer on.
    may_move: bool,
    /// How many more places each node has than at first; without zeros.
    moves: Vec<(NodeId, i64)>,
    /// Another call of the same message, or zero.
    beside: u64,
    asker: Box<dyn Asker>,
}

impl Call {
    fn places(&mut self, node: NodeId, more: i64) {
        match self.moves.iter().position(|of| of.0 == node) {
            Some(at) => {
                self.moves[at].1 = self.moves[at].1.wrapping_add(more);
                if self.moves[at].1 == 0 {
                    self.moves.swap_remove(at);
                }
            }
            None => self.moves.push((node, more)),
        }
    }

    /// Whether a node has the place, as far as is known.
    fn is_with(&self, node: NodeId) -> bool {
        let moved = self.moves.iter().find(|of| of.0 == node).map_or(0, |of| of.1);
        moved.saturating_add((self.asked == node).into()) > 0
    }
}

struct Open {
    calls: HashMap<u64, Call, Numbers>,
    /// The number of calls to each node.
    to: HashMap<NodeId, usize, Numbers>,
    last: u64,
    sweeper: Sweeper,
}

impl Open {
    fn take(&mut self, call: u64) -> Option<Call> {
        let call = self.calls.remove(&call)?;
        if let Some(open) = self.to.get_mut(&call.asked) {
            *open -= 1;
        }
        Some(call)
    }

    /// Takes out the calls without an asker, if a sweep is due. A call through which a failure
    /// would close another one stays until that one is closed.
    fn sweep(&mut self, open: usize, most: usize) -> Vec<Call> {
        if !self.sweeper.is_due(self.calls.len(), open >= most, most) {
            return Vec::new();
        }
        let is_needed = |call: &Call| call.beside != 0 && self.calls.contains_key(&call.beside);
        let gone = self.calls.iter().filter(|(_, call)| call.asker.is_gone() && !is_needed(call));
        let gone: Vec<u64> = gone.map(|(&number, _)| number).collect();
        let gone = gone.into_iter().filter_map(|number| self.take(number)).collect();
        self.sweeper.swept(self.calls.len());
        gone
    }
}

/// The open calls of one node.
pub(crate) struct Calls {
    /// The most calls to one other node.
    most: usize,
    open: Mutex<Open>,
    key: RandomState,
}

impl Calls {
    pub(crate) fn new(most: usize) -> Self {
        let open = Open {
            calls: HashMap::default(),
            to: HashMap::default(),
            last: 0,
            sweeper: Sweeper::new(),
        };
        Self { most, open: Mutex::new(open), key: RandomState::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a call to `asked`, and returns its number, the lower half of which is not zero. `read`
    /// turns the outcome into what the asker gets. None if there are too many calls.
    pub(crate) fn open<T: Send + 'static>(
        &self,
        asked: NodeId,
        beside: u64,
        asker: oneshot::Sender<T>,
        read: impl FnOnce(Outcome<'_>) -> T + Send + 'static,
    ) -> Option<u64> {
        self.add(asked, true, beside, Box::new(Waits { asker, read }))
    }

    /// Does the same as [`open`](Self::open) for a request, which `asked` itself answers.
    pub(crate) fn request<T: Send + 'static>(
        &self,
        asked: NodeId,
        beside: u64,
        asker: oneshot::Sender<T>,
        read: impl FnOnce(Outcome<'_>) -> T + Send + 'static,
    ) -> Option<u64> {
        self.add(asked, false, beside, Box::new(Waits { asker, read }))
    }

    fn add(
        &self,
        asked: NodeId,
        may_move: bool,
        beside: u64,
        asker: Box<dyn Asker>,
    ) -> Option<u64> {
        let call = Call { asked, may_move, moves: Vec::new(), beside, asker };
        let mut open = self.lock();
        let there = open.to.entry(asked).or_default();
        let before = *there;
        *there += 1;
        // Dropped without the lock, as is the call if there are too many.
        let _gone = open.sweep(before, self.most);
        if before >= self.most
            && let Some(there) = open.to.get_mut(&asked)
            && *there > self.most
        {
            *there -= 1;
            drop(open);
            return None;
        }
        let number = loop {
            open.last = open.last.wrapping_add(1);
            let number = self.key.hash_one(open.last);
            if number as u32 != 0 && !open.calls.contains_key(&number) {
                break number;
            }
        };
        open.calls.insert(number, call);
        drop(open);
        Some(number)
    }

    fn take(&self, call: u64) -> Option<Call> {
        self.lock().take(call)
    }

    /// Closes a call with an outcome. False if no asker waits for it.
    pub(crate) fn close(&self, call: u64, outcome: Outcome<'_>) -> bool {
        // `complete` runs without the lock: it may drop values that open calls.
        let Some(Call { asker, beside, .. }) = self.take(call) else { return false };
        // The message was not delivered, so there will be no other answers.
        if let Outcome::Failed(failure, _) = outcome
            && failure != Failure::Ended
            && failure != Failure::Unwritable
        {
            self.close_beside(beside, failure);
        }
        asker.complete(outcome)
    }

    /// Closes the calls with places in the same message, in a loop: there may be a million.
    fn close_beside(&self, mut call: u64, failure: Failure) {
        while call != 0
            && let Some(Call { asker, beside, .. }) = self.take(call)
        {
            asker.complete(Outcome::Failed(failure, ""));
            call = beside;
        }
    }

    /// Forgets the calls of a message that was not sent.
    pub(crate) fn forget(&self, mut call: u64) {
        while let Some(Call { beside, .. }) = self.take(call) {
            call = beside;
        }
    }

    /// Notes that a node has handed the place for a call's answer on to another, unless the call is
    /// a request. `is_down` says whether that other node is down.
    pub(crate) fn moved(
        &self,
        call: u64,
        from: NodeId,
        to: NodeId,
        is_down: impl FnOnce() -> bool,
    ) {
        let mut open = self.lock();
        let Some(moved) = open.calls.get_mut(&call).filter(|call| call.may_move) else { return };
        moved.places(from, -1);
        moved.places(to, 1);
        let is_lost = moved.is_with(to) && is_down();
        let lost = if is_lost { open.take(call) } else { None };
        drop(open);
        if let Some(lost) = lost {
            lost.asker.complete(Outcome::NodeDown);
        }
    }

    /// Closes the calls of a node that is down: none of them will be answered.
    pub(crate) fn node_is_down(&self, node: NodeId) {
        let mut open = self.lock();
        let lost = open.calls.iter().filter(|(_, call)| call.is_with(node));
        let lost: Vec<u64> = lost.map(|(&number, _)| number).collect();
        let lost: Vec<_> = lost.into_iter().filter_map(|number| open.take(number)).collect();
        drop(open);
        for call in lost {
            call.asker.complete(Outcome::NodeDown);
        }
    }

    /// Gives back the memory of calls that are closed.
    pub(crate) fn shrink(&self) {
        self.lock().calls.shrink_to_fit();
    }

    /// The number of open calls.
    pub(crate) fn len(&self) -> usize {
        self.lock().calls.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{Calls, Outcome};
    use crate::node::NodeId;
    use crate::node::wire::Failure;
    use crate::primitives::oneshot;
    use crate::primitives::sweeper::FIRST_SWEEP;
    use std::cell::RefCell;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    const A: NodeId = NodeId::new(1);
    const B: NodeId = NodeId::new(2);
    const C: NodeId = NodeId::new(3);

    type Asker = RefCell<oneshot::Receiver<String>>;

    /// Opens a call with an outcome in words.
    fn open(calls: &Calls, asked: NodeId, beside: u64) -> (u64, Asker) {
        let (sender, receiver) = oneshot::channel();
        let read = |outcome: Outcome<'_>| match outcome {
            Outcome::Answer(bytes) => format!("{bytes:?}"),
            Outcome::At(lease) => lease.name().slot.to_string(),
            Outcome::Failed(failure, detail) => format!("{failure:?} {detail}"),
            Outcome::NodeDown => "down".to_owned(),
        };
        (calls.open(asked, beside, sender, read).unwrap(), RefCell::new(receiver))
    }

    fn heard(asker: &Asker) -> Option<String> {
        let mut asker = asker.borrow_mut();
        match Pin::new(&mut *asker).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(told) => told.ok(),
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_call_is_closed_once() {
        let calls = Calls::new(1 << 20);
        let (call, asker) = open(&calls, A, 0);
        assert!(calls.close(call, Outcome::Answer(&[7])));
        assert!(!calls.close(call, Outcome::Answer(&[8])));
        assert!(!calls.close(u64::MAX, Outcome::NodeDown), "a number that is no call's");
        assert_eq!(heard(&asker).unwrap(), "[7]");
        assert_eq!(calls.len(), 0);
    }

    /// On a stack that would not hold a frame for each call.
    #[test]
    fn any_number_of_calls_of_one_message_fail_together() {
        let many = || {
            let calls = Calls::new(1 << 20);
            let mut last = 0;
            let mut askers = Vec::new();
            for _ in 0..100_000 {
                let (call, asker) = open(&calls, A, last);
                last = call;
                askers.push(asker);
            }
            calls.close(last, Outcome::Failed(Failure::NoSuchActor, ""));
            assert_eq!(calls.len(), 0);
            assert!(askers.iter().all(|asker| heard(asker).unwrap() == "NoSuchActor "));
        };
        std::thread::Builder::new().stack_size(256 << 10).spawn(many).unwrap().join().unwrap();
    }

    #[test]
    fn calls_of_one_message_fail_together_if_it_is_not_delivered() {
        let calls = Calls::new(1 << 20);
        let (first, _a) = open(&calls, A, 0);
        let (second, b) = open(&calls, A, first);
        let (third, c) = open(&calls, A, second);
        calls.close(third, Outcome::Failed(Failure::NoSuchActor, "gone"));
        assert_eq!(calls.len(), 0);
        assert_eq!(
            (heard(&b).unwrap(), heard(&c).unwrap()),
            ("NoSuchActor ".into(), "NoSuchActor gone".into())
        );
        // A dropped place fails its own call alone.
        let (first, _a) = open(&calls, A, 0);
        let (second, _b) = open(&calls, A, first);
        calls.close(second, Outcome::Failed(Failure::Ended, ""));
        assert_eq!(calls.len(), 1);
    }

    #[test]
    fn a_node_that_is_down_fails_its_calls_and_no_others() {
        let calls = Calls::new(1 << 20);
        let (_, first) = open(&calls, A, 0);
        let (other, _other) = open(&calls, B, 0);
        let (_, second) = open(&calls, A, 0);
        calls.node_is_down(A);
        assert_eq!([heard(&first), heard(&second)].map(Option::unwrap), ["down", "down"]);
        assert!(calls.close(other, Outcome::Answer(&[])));
    }

    #[test]
    fn a_call_is_with_the_node_that_has_its_place_in_whatever_order_that_is_told() {
        // From A to B, back to A, and finally to C.
        let moves = [(A, B), (B, A), (A, C)];
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let calls = Calls::new(1 << 20);
            let (call, asker) = open(&calls, A, 0);
            for (from, to) in order.map(|step| moves[step]) {
                calls.moved(call, from, to, || false);
            }
            calls.node_is_down(A);
            calls.node_is_down(B);
            assert_eq!(heard(&asker), None);
            calls.node_is_down(C);
            assert_eq!(heard(&asker).unwrap(), "down");
        }
    }

    #[test]
    fn a_call_that_moves_to_a_node_that_is_down_fails() {
        let calls = Calls::new(1 << 20);
        let (call, asker) = open(&calls, A, 0);
        calls.moved(call, A, B, || true);
        assert_eq!(heard(&asker).unwrap(), "down");
        calls.moved(call, A, B, || panic!("it is closed"));
    }

    #[test]
    fn a_request_stays_with_the_asked_node() {
        for to in [NodeId::new(0), A, B] {
            let calls = Calls::new(1 << 20);
            let (sender, receiver) = oneshot::channel();
            let asker = RefCell::new(receiver);
            let read = |outcome: Outcome<'_>| match outcome {
                Outcome::NodeDown => "down".to_owned(),
                _ => panic!("there was no answer"),
            };
            let call = calls.request(A, 0, sender, read).unwrap();
            calls.moved(call, A, to, || panic!("it does not move"));
            calls.node_is_down(B);
            assert_eq!(heard(&asker), None);
            calls.node_is_down(A);
            assert_eq!(heard(&asker).unwrap(), "down");
        }
    }

    #[test]
    fn calls_whose_message_was_not_sent_are_forgotten() {
        let calls = Calls::new(1 << 20);
        let (first, a) = open(&calls, A, 0);
        let (second, _b) = open(&calls, A, first);
        calls.forget(second);
        assert_eq!(calls.len(), 0);
        assert_eq!(heard(&a), None);
    }

    #[test]
    fn calls_without_a_waiter_are_forgotten_in_time() {
        let calls = Calls::new(1 << 20);
        let (waits, asker) = open(&calls, A, 0);
        // A call without an asker; its failure closes another call too.
        let (last, _) = open(&calls, A, waits);
        for _ in 0..10 * FIRST_SWEEP {
            drop(open(&calls, A, 0));
            assert!(calls.len() <= FIRST_SWEEP);
        }
        calls.close(last, Outcome::Failed(Failure::NoSuchActor, ""));
        assert_eq!(heard(&asker).unwrap(), "NoSuchActor ");
    }

    #[test]
    fn calls_of_askers_that_have_given_up_make_room_and_each_node_has_its_own() {
        let calls = Calls::new(100);
        let open = |asked| {
            let (sender, receiver) = oneshot::channel::<()>();
            calls.open(asked, 0, sender, |_: Outcome<'_>| ()).map(|call| (call, receiver))
        };
        let mut waiting: Vec<_> = (0..100).map(|_| open(A).unwrap()).collect();
        assert!((0..1_000).all(|_| open(A).is_none()));
        let other = open(B).unwrap();
        // One that is answered makes room for one.
        assert!(calls.close(waiting.pop().unwrap().0, Outcome::Answer(&[])));
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
        assert!(calls.close(other.0, Outcome::NodeDown));
    }
}
