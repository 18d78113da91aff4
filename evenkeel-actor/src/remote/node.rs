//! Nodes: the handle, and leaving.

use super::cast::{self, CastReport};
use super::error::{NodeLost, RemoteError};
use super::events::Events;
use super::happened::NodeEvent;
use super::inner::Inner;
use super::metrics::NodeMetrics;
use super::requests;
use crate::actor::Actor;
use crate::mailbox::overflow::Overflow;
use crate::node::NodeId;
use crate::node::multiplexer::Traffic;
use crate::node::payload::PayloadError;
use crate::refs::actor_ref::ActorRef;
use crate::system::System;
use crate::system::subscription::Subscription;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// When the host is gone.
#[derive(Default)]
pub(super) struct Ending(pub(super) Mutex<(bool, Vec<Waker>)>);

impl Ending {
    /// Waits for it.
    async fn wait(&self) {
        poll_fn(|context| {
            let mut ending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if ending.0 {
                return Poll::Ready(());
            }
            ending.1.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

pub(super) struct Owner {
    pub(super) inner: &'static Inner,
    pub(super) over: Arc<Ending>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.inner.leave();
    }
}

impl Inner {
    /// Takes part in nothing any more, and tells all who wait for something from other nodes. So it
    /// is when the node leaves, and when its host has ended otherwise.
    ///
    /// Nobody is missed: once the multiplexer is closed nothing is put in, so who comes later is
    /// refused, and who has put something in before is told here.
    pub(super) fn leave(&self) {
        self.has_left.store(true, Ordering::SeqCst);
        self.multiplexer.close();
        for peer in self.others() {
            peer.holds.end();
            self.calls.node_is_down(peer.id);
            peer.untie_all();
        }
        self.collective.abandon();
        self.listeners.end();
        // Last: a script is dropped with what it has, and that may panic.
        self.table.clear();
        self.scripts.clear();
    }
}

/// A process of a job whose actors send messages to those of others: the handle. Cheap to clone;
/// the node leaves when the last one is dropped, or by [`leave`](Self::leave).
///
/// # References
/// An [`ActorRef`] whose messages can be serialised can be in a message to another node, and is a
/// reference to the same actor there: it sends, asks, stops. So can a [`ReplyTo`](crate::ReplyTo).
/// A reference that comes home is a local one again.
///
/// What a node has of another's actor counts as a reference on the actor's node, whether it was
/// given by [`spawn_on`](Self::spawn_on) or [`locate`](Self::locate), or was in a message, an
/// answer or arguments, of the actor's node or of a third one: when the last clone on the last node
/// is dropped, and what was sent before is handled, the actor ends as one does that has no
/// reference. A message that is not read gives back what is in it. A node that is lost has nothing
/// any more. These messages of nodes are collected for a millisecond. An
/// actor that is [cast](Self::cast) to by a node that has several others on the way is kept until
/// it is stopped, or that node is gone. So is one that was handed on while more loans waited than
/// [`Limits::actors`](super::Limits::actors). An actor that is handed on between two nodes which
/// lose each other, and not the actor's node, may be kept until that loses the receiver. If a node
/// is lost before the actor's node has heard that it has handed a reference on, that reference may
/// name an actor that has ended.
///
/// # Messages
/// Their types derive `Serialize` and `Deserialize`: the program has `serde` with its feature
/// `derive` among its dependencies. They are written by `serde` in postcard's format, packed with
/// others for the same node, and leave when the worker has nothing else to do, when a buffer is
/// full, or at the latest after [a cap](crate::node::policy::Packing::cap). Between two actors they
/// keep their order. What finds a mailbox full waits at its node; when that is much, whoever sends
/// to the actor waits instead. What one node calls a type the others have to know by the same
/// fields: run the same build everywhere.
///
/// # Loss
/// A node that is down is a [`NodeEvent`]; what waits for it fails (a question waits for the node
/// that it was handed on to last), and whoever [watches](crate::Context::watch) an actor of it is
/// told. A message that was sent to it may have been handled or not.
///
/// # The end
/// A node leaves before its runtime ends: until then tasks of it run there, which a runtime that is
/// dropped waits for.
///
/// # Memory
/// A few kilobytes of a node are never freed: remote references lead there without counting.
///
/// # Examples
/// ```
/// use evenkeel_actor::node::NodeId;
/// use evenkeel_actor::node::in_process::{Faults, network};
/// use evenkeel_actor::remote::Node;
/// use evenkeel_actor::{Actor, Context, Handled, ReplyTo, System};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// enum Message {
///     Add(u64),
///     Get(ReplyTo<u64>),
/// }
///
/// struct Counter(u64);
///
/// impl Actor for Counter {
///     type Message = Message;
///
///     async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
///         match message {
///             Message::Add(n) => self.0 += n,
///             Message::Get(reply) => reply.send(self.0),
///         }
///         Ok(())
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Two nodes in one process.
/// let (_control, mut ends) = network(2, Faults::default());
/// let (end, other_end) = (ends.remove(0), ends.remove(0));
/// let runtime = evenkeel::Runtime::new()?;
/// let sum = runtime.block_on(async {
///     let node = Node::builder().system(System::new()).start(|| Ok::<_, String>(end)).await?;
///     let other = Node::builder().system(System::new()).start(|| Ok::<_, String>(other_end)).await?;
///     other.register_script("counter", |from: u64| Counter(from));
///
///     let counter = node.spawn_on::<Message, _>(NodeId::new(1), "counter", &40_u64).await?;
///     counter.send(Message::Add(2)).await?;
///     let sum = counter.ask(Message::Get).await?;
///     node.leave().await;
///     other.leave().await;
///     Ok::<_, Box<dyn std::error::Error>>(sum)
/// })?;
/// assert_eq!(sum, 42);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Node(pub(super) Arc<Owner>);

impl Node {
    pub(super) fn inner(&self) -> &'static Inner {
        self.0.inner
    }

    /// The node's number.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.inner().number
    }

    /// How many nodes the job has.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.inner().nodes
    }

    /// What the node calls itself.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner().name
    }

    /// The system of the node's actors.
    #[must_use]
    pub fn system(&self) -> System {
        self.inner().system
    }

    /// What happens to other nodes.
    #[must_use]
    pub fn events(&self) -> Events {
        self.inner().listeners.listen()
    }

    /// Has an actor be sent what happens to other nodes, at first the last event of each of them,
    /// until the subscription is dropped, the actor has stopped or this node has left.
    ///
    /// Nobody waits for the actor: an event that finds its mailbox full is
    /// [counted](NodeMetrics::missed_events) and left out, and the next one for which there is room
    /// comes behind [`NodeEvent::Missed`]. The subscription counts as a reference to the actor.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::node::in_process::{Faults, network};
    /// use evenkeel_actor::node::NodeId;
    /// use evenkeel_actor::remote::{Node, NodeEvent};
    /// use evenkeel_actor::{Actor, Context, Handled, spawn};
    ///
    /// /// Stops when it hears that a node is gone.
    /// struct Guard;
    ///
    /// impl Actor for Guard {
    ///     type Message = NodeEvent;
    ///
    ///     async fn handle(&mut self, event: NodeEvent, context: &mut Context<Self>) -> Handled {
    ///         if event.is_loss() {
    ///             context.stop();
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
    /// runtime.block_on(async {
    ///     let (control, mut ends) = network(2, Faults::default());
    ///     let end = ends.remove(0);
    ///     let node = Node::builder().start(|| Ok::<_, String>(end)).await.unwrap();
    ///     let guard = spawn(Guard);
    ///     let _subscription = node.send_events_to(&guard);
    ///     control.kill(NodeId::new(1));
    ///     assert!(guard.stopped().await.is_normal());
    ///     node.leave().await;
    /// });
    /// ```
    pub fn send_events_to<M, P>(&self, actor: &ActorRef<M, P>) -> Subscription
    where
        M: From<NodeEvent> + Send + 'static,
        P: Overflow,
    {
        self.inner().listeners.subscribe(actor.clone())
    }

    /// Waits until all nodes have said who they are.
    ///
    /// # Errors
    /// If one of them is gone, or does not belong to the job.
    pub async fn ready(&self) -> Result<(), NodeLost> {
        let mut events = self.events();
        let mut missing = self.nodes() - 1;
        while missing > 0 {
            match events.next().await {
                Some(NodeEvent::Up { .. }) => missing -= 1,
                Some(NodeEvent::Missed(_)) => {}
                Some(event) => return Err(NodeLost { node: event.node() }),
                None => return Err(NodeLost { node: None }),
            }
        }
        Ok(())
    }

    /// Has other nodes start actors here, by name. False if there is a script of that name; it
    /// stays.
    ///
    /// A node that asks for it before is told that there is none:
    /// [`NodeBuilder::script`](super::NodeBuilder::script) registers it before any can.
    ///
    /// `script` is called by a worker: it does not block. A script that keeps a handle of its own
    /// node keeps the node until it [leaves](Self::leave).
    ///
    /// Where reports name the place at which an actor was spawned, that of a script's actor is the
    /// call of this.
    #[track_caller]
    pub fn register_script<A, Arguments>(
        &self,
        name: &str,
        script: impl Fn(Arguments) -> A + Send + Sync + 'static,
    ) -> bool
    where
        A: Actor,
        A::Message: Serialize + DeserializeOwned,
        Arguments: DeserializeOwned,
    {
        self.inner().scripts.register(name, script)
    }

    /// Starts an actor on a node, this one or another, by a script that is registered there.
    ///
    /// The actor ends when nothing has a reference to it any more, as one that is spawned here
    /// does: on its own node nothing does but what it hands out itself.
    ///
    /// # Errors
    /// [`RemoteError`].
    ///
    /// # Cancel safety
    /// If the future is dropped the actor may have been started.
    pub async fn spawn_on<M, Arguments>(
        &self,
        node: NodeId,
        script: &str,
        arguments: &Arguments,
    ) -> Result<ActorRef<M>, RemoteError>
    where
        M: Serialize + DeserializeOwned + Send + 'static,
        Arguments: Serialize + ?Sized,
    {
        requests::spawn_on(self.inner(), node, script, arguments).await
    }

    /// Lets other nodes find an actor of this one by a name, of at most 255 bytes. False if there
    /// is another one of that name, which has not stopped, if the actor is on another node, which
    /// publishes it itself, or if this node has left.
    ///
    /// The name counts as a reference to the actor, until it is [taken back](Self::unpublish) or
    /// the node leaves.
    pub fn publish<M>(&self, name: &str, actor: ActorRef<M>) -> bool
    where
        M: Serialize + DeserializeOwned + Send + 'static,
    {
        let inner = self.inner();
        let is_public = inner.scripts.publish(name, actor);
        // Whoever leaves says so before it forgets all names: one of both sees the other, and takes
        // this one back.
        if is_public && inner.has_left.load(Ordering::SeqCst) {
            inner.scripts.unpublish(name);
            return false;
        }
        is_public
    }

    /// Takes a name back under which other nodes [find](Self::publish) an actor. False if no actor
    /// has it, or one that has stopped. Those that have found the actor keep their references.
    pub fn unpublish(&self, name: &str) -> bool {
        self.inner().scripts.unpublish(name)
    }

    /// Finds an actor of a node, this one or another, by the name under which it is
    /// [published](Self::publish) there.
    ///
    /// # Errors
    /// [`RemoteError`].
    pub async fn locate<M>(&self, node: NodeId, name: &str) -> Result<ActorRef<M>, RemoteError>
    where
        M: Serialize + DeserializeOwned + Send + 'static,
    {
        requests::locate(self.inner(), node, name).await
    }

    /// Sends a message to all of these actors, each node passing it on to others along a binomial
    /// tree: with 100 nodes it takes seven steps, not 99.
    ///
    /// Actors of other nodes that it goes to are kept from then on, if there are several nodes:
    /// each until it is stopped or this node is gone. References in the message are not.
    ///
    /// # Errors
    /// If the message cannot be written. A [`ReplyTo`](crate::ReplyTo) cannot be in it.
    ///
    /// # Cancel safety
    /// If the future is dropped some have it.
    pub async fn cast<M, P>(
        &self,
        to: &[ActorRef<M, P>],
        message: &M,
    ) -> Result<CastReport, PayloadError>
    where
        M: Serialize + DeserializeOwned + Clone + Send + Sync + 'static,
        P: Overflow,
    {
        cast::cast(self.inner(), to, message).await
    }

    /// Waits until all nodes have come as far. Tasks of one node that wait at once pass together.
    ///
    /// # Errors
    /// If a node is gone: then nobody passes any more.
    ///
    /// # Cancel safety
    /// If the future is dropped this node has come as far all the same.
    pub async fn barrier(&self) -> Result<(), NodeLost> {
        self.inner().collective.pass(self.inner()).await
    }

    /// Declares that this node begins no more work by itself, and waits for the end of all work of
    /// all nodes: all have declared so, no actor of their systems is alive, and no message is on
    /// its way. So actors are to be stopped, or all references to them dropped, on all nodes. It is
    /// found by a token that counts messages, not by silence.
    ///
    /// That of [`System::on_dead_letter`] does not count, since it begins nothing by itself; any
    /// other actor does, also one that only [listens](System::send_dead_letters_to). Once it is
    /// found it stays known.
    ///
    /// # Errors
    /// If a node is gone before: then it cannot be known.
    pub async fn finish(&self) -> Result<(), NodeLost> {
        self.inner().collective.finish(self.inner()).await
    }

    /// Leaves the job: what has been sent is on its way when it returns, the others are told, and
    /// what is sent from now on is refused.
    ///
    /// Actors live on that something here has a reference to. Those that other nodes alone have
    /// known end as others do that nobody has a reference to, once they have handled what is in
    /// their mailboxes, and what has come and waits for room there: the node forgets whom others
    /// know, what it has [published](Self::publish), and its scripts.
    pub async fn leave(&self) {
        self.inner().leave();
        self.0.over.wait().await;
    }

    /// What has gone to another node and come from it.
    #[must_use]
    pub fn traffic(&self, node: NodeId) -> Traffic {
        self.inner().multiplexer.traffic(node)
    }

    /// What the node has counted so far.
    #[must_use]
    pub fn metrics(&self) -> NodeMetrics {
        let inner = self.inner();
        let (counts, traffic) = (&inner.counts, inner.others().map(|peer| self.traffic(peer.id)));
        let mut metrics = NodeMetrics {
            messages_in: counts.messages.load(Ordering::Relaxed)
                + counts.control.load(Ordering::Relaxed),
            undelivered: counts.undelivered.load(Ordering::Relaxed),
            unreadable: counts.unreadable.load(Ordering::Relaxed),
            late_answers: counts.late.load(Ordering::Relaxed),
            open_calls: inner.calls.len(),
            known_actors: inner.table.len(),
            missed_events: inner.listeners.missed(),
            unread_frames: inner.unread.load(Ordering::Relaxed),
            waiting_messages: inner.others().map(|peer| peer.parking.len()).sum(),
            ..NodeMetrics::default()
        };
        for peer in inner.others() {
            let [watching, watched, links] = peer.ties.count();
            metrics.open_watches += watching;
            metrics.watched += watched;
            metrics.links += links;
        }
        for traffic in traffic {
            metrics.frames_in += traffic.frames_in;
            metrics.bytes_in += traffic.bytes_in;
            metrics.frames_out += traffic.frames_out;
            metrics.bytes_out += traffic.bytes_out;
            metrics.messages_out += traffic.messages_out;
            metrics.messages_lost += traffic.messages_lost;
        }
        metrics
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("id", &self.id()).field("name", &self.name()).finish()
    }
}
