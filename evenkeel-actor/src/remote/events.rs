//! The events of nodes, and the listeners that they are sent to.

use super::error::NodeLost;
use super::happened::{MOST, NodeEvent};
use super::subscribers::Subscriber;
use crate::mailbox::overflow::Overflow;
use crate::node::NodeId;
use crate::primitives::sweeper::Sweeper;
use crate::refs::actor_ref::ActorRef;
use crate::system::subscription::{Subscribed, Subscription};
use evenkeel::budget;
use evenkeel::internal::wake_all;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker, ready};

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<NodeEvent>,
    missed: u64,
    waker: Option<Waker>,
    is_over: bool,
}

impl Queue {
    /// Returns whether there is something to return.
    fn is_ready(&self) -> bool {
        !self.events.is_empty() || self.missed > 0 || self.is_over
    }
}

type Shared = Mutex<Queue>;

fn lock(queue: &Shared) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds an event, and returns the waker of the task that waits for one.
fn push(queue: &Shared, event: NodeEvent) -> Option<Waker> {
    let mut queue = lock(queue);
    if queue.events.len() < MOST {
        queue.events.push_back(event);
    } else {
        queue.missed += 1;
    }
    queue.waker.take()
}

/// The listeners of a node's events.
#[derive(Default)]
pub(crate) struct Listeners {
    all: Mutex<All>,
    /// Events that actors were not sent.
    missed: AtomicU64,
}

#[derive(Default)]
struct All {
    /// The queues of listeners. Those of dropped ones are left out at the next event or sweep.
    queues: Vec<Weak<Shared>>,
    sweeper: Sweeper,
    /// In the order of their numbers. Those of actors that have stopped are left out at the next
    /// event or sweep.
    subscribers: Vec<Arc<Subscriber>>,
    subscriber_sweeper: Sweeper,
    subscribed: u64,
    /// The last event of each node, for later listeners.
    last: Vec<(NodeId, NodeEvent)>,
    is_over: bool,
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tell(&self, event: &NodeEvent) {
        self.tell_if(event, || true);
    }

    /// Sends an event to the listeners if `happens`, which makes it happen, returns true. A thread
    /// that undoes the event, and sends that afterwards, is heard after this.
    pub(crate) fn tell_if(&self, event: &NodeEvent, happens: impl FnOnce() -> bool) {
        let mut all = self.lock();
        if !happens() {
            return;
        }
        if let Some(node) = event.node() {
            all.last.retain(|last| last.0 != node);
            all.last.push((node, event.clone()));
        }
        let mut wakers = Vec::new();
        all.queues.retain(|queue| match queue.upgrade() {
            Some(queue) => {
                wakers.extend(push(&queue, event.clone()));
                true
            }
            None => false,
        });
        let subscribers = all.subscribers.clone();
        for subscriber in &subscribers {
            subscriber.push(event.clone(), &self.missed);
        }
        drop(all);
        wake_all(wakers);
        let is_gone = |subscriber: &&Arc<Subscriber>| !subscriber.drain(&self.missed);
        let gone: Vec<_> = subscribers.iter().filter(is_gone).map(|gone| gone.number).collect();
        if !gone.is_empty() {
            // One pass for all.
            let is_gone = |one: &mut Arc<Subscriber>| gone.binary_search(&one.number).is_ok();
            let gone: Vec<_> = self.lock().subscribers.extract_if(.., is_gone).collect();
            drop(gone);
        }
    }

    /// Sends an actor the events, at first the last one of each other node.
    pub(crate) fn subscribe<M, P>(&'static self, actor: ActorRef<M, P>) -> Subscription
    where
        M: From<NodeEvent> + Send + 'static,
        P: Overflow,
    {
        let mut all = self.lock();
        all.subscribed += 1;
        let number = all.subscribed;
        let subscriber = Arc::new(Subscriber::new(number, actor));
        for (_, event) in &all.last {
            subscriber.push(event.clone(), &self.missed);
        }
        let mut gone = Vec::new();
        if !all.is_over {
            let len = all.subscribers.len();
            if all.subscriber_sweeper.is_due(len, false, usize::MAX) {
                gone.extend(all.subscribers.extract_if(.., |one| one.has_stopped()));
                let left = all.subscribers.len();
                all.subscriber_sweeper.swept(left);
            }
            all.subscribers.push(Arc::clone(&subscriber));
        }
        drop(all);
        drop(gone);
        if !subscriber.drain(&self.missed) {
            self.unsubscribe(number);
        }
        Subscription::new(self, number)
    }

    /// The number of events that actors were not sent.
    pub(crate) fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// Waits until this many other nodes are up.
    pub(crate) async fn ready(&self, others: u32) -> Result<(), NodeLost> {
        // A node that is alone in its job waits for no event, which would take a unit.
        budget::consume().await;
        let mut events = self.listen();
        let mut missing = others;
        while missing > 0 {
            match events.next().await {
                Some(NodeEvent::Up { .. }) => missing -= 1,
                // What was missed may be such events: a new listener has the last of each node.
                Some(NodeEvent::Missed(_)) => (events, missing) = (self.listen(), others),
                Some(event) => return Err(NodeLost { node: event.node() }),
                None => return Err(NodeLost { node: None }),
            }
        }
        Ok(())
    }

    pub(crate) fn listen(&self) -> Events {
        let mut all = self.lock();
        let events = all.last.iter().map(|last| last.1.clone()).collect();
        let queue = Queue { events, is_over: all.is_over, ..Queue::default() };
        let queue = Arc::new(Mutex::new(queue));
        if all.is_over {
            return Events(queue);
        }
        let len = all.queues.len();
        if all.sweeper.is_due(len, false, usize::MAX) {
            all.queues.retain(|queue| queue.strong_count() > 0);
            let left = all.queues.len();
            all.sweeper.swept(left);
        }
        all.queues.push(Arc::downgrade(&queue));
        Events(queue)
    }

    /// Ends all queues and subscriptions: there will be no more events.
    pub(crate) fn end(&self) {
        let mut all = self.lock();
        all.is_over = true;
        let subscribers = std::mem::take(&mut all.subscribers);
        let mut wakers = Vec::new();
        for queue in std::mem::take(&mut all.queues).iter().filter_map(Weak::upgrade) {
            let mut queue = lock(&queue);
            queue.is_over = true;
            wakers.extend(queue.waker.take());
        }
        drop(all);
        drop(subscribers);
        wake_all(wakers);
    }
}

impl Subscribed for Listeners {
    fn unsubscribe(&self, number: u64) {
        let mut all = self.lock();
        let place = all.subscribers.iter().position(|subscriber| subscriber.number == number);
        let gone = place.map(|place| all.subscribers.remove(place));
        drop(all);
        if let Some(gone) = gone {
            gone.end();
        }
    }
}

/// A listener for the events of a node, in order; at first the last event of each other node.
///
/// # Examples
/// ```
/// use evenkeel_actor::System;
/// use evenkeel_actor::node::in_process::{Faults, network};
/// use evenkeel_actor::node::{DownReason, NodeId};
/// use evenkeel_actor::remote::{Node, NodeEvent};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (_control, mut ends) = network(2, Faults::default());
/// let (end, other_end) = (ends.remove(0), ends.remove(0));
/// evenkeel::Runtime::new()?.block_on(async {
///     let node = Node::builder().system(System::new()).start(|| Ok::<_, String>(end)).await?;
///     let builder = Node::builder().system(System::new()).name("lighthouse");
///     let other = builder.start(|| Ok::<_, String>(other_end)).await?;
///
///     let mut events = node.events();
///     let up = NodeEvent::Up { node: NodeId::new(1), name: "lighthouse".into() };
///     assert_eq!(events.next().await, Some(up));
///     other.leave().await;
///     let event = events.next().await.ok_or("this node has left")?;
///     assert!(event.is_loss());
///     assert_eq!(event.node(), Some(NodeId::new(1)));
///     assert!(matches!(event, NodeEvent::Down { reason: DownReason::Left, .. }));
///
///     // A later listener begins with the last event of each node.
///     assert_eq!(node.events().next().await, Some(event));
///     node.leave().await;
///     assert_eq!(events.next().await, None);
///     Ok(())
/// })
/// # }
/// ```
pub struct Events(Arc<Shared>);

impl Events {
    /// Waits for the next event. Returns `None` once this node has left.
    ///
    /// # Cancel safety
    /// A future that is dropped before it is ready has taken nothing.
    pub async fn next(&mut self) -> Option<NodeEvent> {
        poll_fn(|context| {
            if lock(&self.0).is_ready() {
                ready!(budget::poll_consume(context));
            }
            // The clone and the drop of a waker are a caller's code: outside of the lock.
            let waker = context.waker().clone();
            let mut queue = lock(&self.0);
            if let Some(event) = queue.events.pop_front() {
                return Poll::Ready(Some(event));
            }
            if queue.missed > 0 {
                return Poll::Ready(Some(NodeEvent::Missed(std::mem::take(&mut queue.missed))));
            }
            if queue.is_over {
                return Poll::Ready(None);
            }
            let before = queue.waker.replace(waker);
            drop(queue);
            drop(before);
            Poll::Pending
        })
        .await
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("waiting", &lock(&self.0).events.len()).finish()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::{Listeners, MOST, NodeEvent};
    use crate::node::{DownReason, NodeId};
    use crate::{Actor, Handled};
    use std::future::Future;
    use std::pin::pin;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Poll, Waker};

    #[test]
    fn nodes_that_come_up_faster_than_they_are_counted_are_all_counted() {
        let listeners = Listeners::default();
        let nodes = 3 * MOST as u32;
        let mut ready = pin!(listeners.ready(nodes));
        let mut context = Context::from_waker(Waker::noop());
        assert!(ready.as_mut().poll(&mut context).is_pending());
        for node in 0..nodes {
            let name = node.to_string().into();
            listeners.tell(&NodeEvent::Up { node: NodeId::new(node), name });
        }
        assert_eq!(ready.as_mut().poll(&mut context), Poll::Ready(Ok(())));
    }

    #[test]
    fn listeners_that_are_dropped_between_two_events_leave_nothing() {
        let listeners = Listeners::default();
        let kept = listeners.listen();
        (0..100_000).for_each(|_| drop(listeners.listen()));
        let left = listeners.lock().queues.len();
        assert!(left < 1_000, "{left} queues are left of 100,000 listeners");
        listeners.end();
        drop(listeners.listen());
        assert_eq!(listeners.lock().queues.len(), 0);
        drop(kept);
    }

    /// Takes all events.
    struct Sink;

    impl Actor for Sink {
        type Message = NodeEvent;

        async fn handle(&mut self, _: NodeEvent, _context: &mut crate::Context<Self>) -> Handled {
            Ok(())
        }
    }

    #[test]
    fn kept_subscriptions_of_actors_that_end_between_two_events_leave_nothing() {
        crate::kit::run(1, |_| async {
            let listeners: &'static Listeners = Box::leak(Box::default());
            let left = || listeners.lock().subscribers.len();
            let kept = crate::spawn(Sink);
            listeners.subscribe(kept.clone()).keep();
            for _ in 0..1_000 {
                let actor = crate::spawn(Sink);
                listeners.subscribe(actor.clone()).keep();
                actor.stop();
                actor.stopped().await;
            }
            assert!(left() < 200, "{} subscribers are left of 1,000 that have ended", left());
            let node = NodeId::new(1);
            listeners.tell(&NodeEvent::Down { node, reason: DownReason::Left, lost: 0 });
            assert_eq!(left(), 1, "an event removes all that have ended");
            listeners.end();
        });
    }

    #[test]
    fn a_node_is_not_up_after_it_was_down() {
        let node = NodeId::new(1);
        let up = NodeEvent::Up { node, name: "one".into() };
        let down = NodeEvent::Down { node, reason: DownReason::Left, lost: 0 };
        for _ in 0..1_000 {
            let (listeners, is_down) = (Listeners::default(), AtomicBool::new(false));
            std::thread::scope(|scope| {
                scope.spawn(|| listeners.tell_if(&up, || !is_down.load(Ordering::SeqCst)));
                is_down.store(true, Ordering::SeqCst);
                listeners.tell(&down);
            });
            let mut events = listeners.listen();
            listeners.end();
            let last = evenkeel::block_on(events.next());
            assert_eq!(last, Some(down.clone()));
        }
    }
}
