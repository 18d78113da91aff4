//! The handle of a node.

use super::cast::{self, CastReport};
use super::error::{NodeLost, RemoteError};
use super::events::Events;
use super::happened::NodeEvent;
use super::inner::Inner;
use super::leaving::Owner;
use super::metrics::NodeMetrics;
use super::requests;
use super::scope;
use crate::actor::Actor;
use crate::mailbox::overflow::Overflow;
use crate::names::registry::RegisterError;
use crate::node::NodeId;
use crate::node::multiplexer::Traffic;
use crate::node::payload::PayloadError;
use crate::refs::actor_ref::ActorRef;
use crate::system::System;
use crate::system::subscription::Subscription;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The handle of a node: a process of a job, with actors that send messages to actors of other
/// nodes. Cheap to clone. The node leaves when the last handle is dropped, or by
/// [`leave`](Self::leave).
///
/// # References
/// An [`ActorRef`] can travel in a message to another node if its messages can be serialised. There
/// it refers to the same actor: it sends, asks, stops. A [`ReplyTo`](crate::ReplyTo) can travel
/// too. A reference that comes back to the actor's node is a local one again.
///
/// A reference on another node counts as a reference on the actor's node. It makes no difference
/// whether it came from [`spawn_on`](Self::spawn_on) or [`locate`](Self::locate), or in a message,
/// an answer or arguments, from the actor's node or a third one. When the last clone on the last
/// node is dropped, and what was sent before is handled, the actor ends like one without
/// references. A message that is not read gives its references back. A node that is lost has no
/// references. The messages that keep these counts are collected for a millisecond. A message has
/// at most [65,536 references](crate::node::wire::MOST_REFERENCES): more go in several messages.
///
/// Some actors are kept until they are stopped:
/// - An actor to which a node [casts](Self::cast) by way of several other nodes, until it is
///   stopped or the casting node is gone.
/// - An actor that was handed on while more loans waited than
///   [`Limits::actors`](super::Limits::actors), likewise.
///
/// An actor that is handed on between two nodes may be kept if these lose each other, and not the
/// actor's node. It is kept until the actor's node loses the receiver. If a node is lost before the
/// actor's node learns that it has handed a reference on, that reference may name an actor that has
/// ended.
///
/// # Messages
/// Message types derive `Serialize` and `Deserialize`: the program depends on `serde` with its
/// feature `derive`. Values are written by `serde` in postcard's format and packed with others for
/// the same node. They leave when the worker has nothing else to do, when a buffer is full, or when
/// the oldest in it has waited for [a cap](crate::node::policy::Packing::cap), which is seen at the
/// next look. Every sixteenth message of a buffer is a look. While all workers are held up by long
/// polls, only the node's host looks: a thread that may sleep for up to [10
/// ms](crate::node::policy::LONGEST_WAIT), or a task of the only worker, which waits for the end of
/// the poll. Messages between two actors keep their order. The sender is the task: a child task, a
/// closure of [`spawn_blocking`](evenkeel::spawn_blocking) and a half of a
/// [`fork_join::join`](evenkeel::fork_join::join) in a handler are other senders than the actor.
/// Between the messages of two senders there is no order, even if one has ended before the other
/// sends. A message that finds a full mailbox waits at the receiver's node; when much waits there,
/// senders to that actor wait instead. All nodes have to know a type of message by the same fields:
/// run the same build everywhere.
///
/// A message's `Serialize` runs under a lock of its node. What it sends to other nodes is refused,
/// as are requests; a stop or a watch takes effect once the message is written, and a barrier, a
/// wait for the end or for the leave stays pending until then. It must not block, and must not call
/// [`metrics`](Self::metrics).
///
/// # Loss
/// When a node goes down, a [`NodeEvent`] says so, and what waits for that node fails. A question
/// waits for the node that it was handed on to last. Actors that [watch](crate::Context::watch) an
/// actor of the lost node are told. A message that was sent to the node may have been handled or
/// not.
///
/// What has come from a node that leaves in order is delivered. If an actor has a full mailbox for
/// more than a second, the node counts as down before that. What has come from a node that is lost
/// otherwise, and finds no room within that second, becomes dead letters.
///
/// # The end
/// A node has to leave before its runtime ends: until then its tasks run there, and a runtime that
/// drains, or is detached, waits for them. A runtime that aborts drops these tasks, and the node
/// leaves its job. What then waits for room in mailboxes becomes dead letters.
///
/// # Memory
/// Some 8 kilobytes of each node are never freed, and 3 more for each other node, since remote
/// references point there without counting. So are some hundred bytes for each actor that other
/// nodes knew, as many as at once, and another 8 kilobytes of a [`System`] that is made for the
/// node.
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

    /// Returns the node's number.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.inner().number
    }

    /// Returns the number of nodes of the job.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.inner().nodes
    }

    /// Returns the name that the node has given itself.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner().name
    }

    /// Returns the system of the node's actors.
    #[must_use]
    pub fn system(&self) -> System {
        self.inner().system
    }

    /// Returns a listener for the events of other nodes.
    ///
    /// # Examples
    /// See [`Events`].
    #[must_use]
    pub fn events(&self) -> Events {
        self.inner().listeners.listen()
    }

    /// Sends the events of other nodes to an actor, beginning with the last event of each node,
    /// until the subscription is dropped, the actor stops or this node leaves.
    ///
    /// Events do not wait for the actor: an event that finds its mailbox full is
    /// [counted](NodeMetrics::missed_events) and left out. The next event for which there is room
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

    /// Waits until all nodes have introduced themselves.
    ///
    /// # Errors
    /// Fails if a node is gone, or does not belong to the job.
    ///
    /// # Cancel safety
    /// A call that is dropped has changed nothing.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::System;
    /// use evenkeel_actor::node::in_process::{Faults, network};
    /// use evenkeel_actor::remote::Node;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (_control, ends) = network(3, Faults::default());
    /// evenkeel::Runtime::new()?.block_on(async {
    ///     let mut nodes = Vec::new();
    ///     for end in ends {
    ///         let builder = Node::builder().system(System::new());
    ///         nodes.push(builder.start(|| Ok::<_, String>(end)).await?);
    ///     }
    ///     for node in &nodes {
    ///         node.ready().await?;
    ///         assert_eq!(node.nodes(), 3);
    ///     }
    ///     // A node that is gone is not ready.
    ///     nodes[2].leave().await;
    ///     while nodes[0].ready().await.is_ok() {
    ///         evenkeel::yield_now().await;
    ///     }
    ///     for node in &nodes[..2] {
    ///         node.leave().await;
    ///     }
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub async fn ready(&self) -> Result<(), NodeLost> {
        self.inner().listeners.ready(self.nodes() - 1).await
    }

    /// Lets other nodes start actors here, by the name of this script, of at most 255 bytes.
    /// Returns false if the name is longer, or if there is a script of that name, which stays.
    ///
    /// A node that asks for the script earlier is told that there is none:
    /// [`NodeBuilder::script`](super::NodeBuilder::script) registers it before any node can ask.
    ///
    /// Workers call `script`: it must not block. A script that keeps a handle of its own node keeps
    /// the node until it [leaves](Self::leave).
    ///
    /// Reports that name the place at which an actor was spawned name the call of this function for
    /// a script's actor.
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
    /// The actor ends when its last reference is dropped, like an actor spawned here. Its own node
    /// keeps no reference, except those that the actor hands out itself.
    ///
    /// # Errors
    /// [`RemoteError`].
    ///
    /// # Cancel safety
    /// If the future is dropped the actor may have been started.
    ///
    /// # Examples
    /// [`Node`] has an example. A request that the node refuses:
    /// ```
    /// use evenkeel_actor::System;
    /// use evenkeel_actor::node::in_process::{Faults, network};
    /// use evenkeel_actor::remote::{Node, RemoteError};
    /// use evenkeel_actor::{Actor, Context, Handled};
    ///
    /// # struct Counter(u64);
    /// # impl Actor for Counter {
    /// #     type Message = u64;
    /// #     async fn handle(&mut self, n: u64, _: &mut Context<Self>) -> Handled {
    /// #         self.0 += n;
    /// #         Ok(())
    /// #     }
    /// # }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (_control, mut ends) = network(1, Faults::default());
    /// let end = ends.remove(0);
    /// evenkeel::Runtime::new()?.block_on(async {
    ///     let builder = Node::builder().system(System::new()).script("counter", Counter);
    ///     let node = builder.start(|| Ok::<_, String>(end)).await?;
    ///     let here = node.id();
    ///     node.spawn_on::<u64, _>(here, "counter", &7_u64).await?;
    ///
    ///     let no_script = node.spawn_on::<u64, _>(here, "conter", &7_u64).await;
    ///     assert!(matches!(no_script, Err(RemoteError::NoSuchScript { .. })));
    ///     let no_text = node.spawn_on::<String, _>(here, "counter", &7_u64).await;
    ///     assert!(matches!(no_text, Err(RemoteError::OtherMessages { .. })));
    ///     node.leave().await;
    ///     Ok(())
    /// })
    /// # }
    /// ```
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

    /// Publishes an actor of this node under a name of at most 255 bytes, by which other nodes find
    /// it. Returns false if the name is longer, if an actor of that name has not stopped, or if
    /// this node has left. Also false for an actor that has stopped, and for one on another node,
    /// which has to publish it itself. [`try_publish`](Self::try_publish) says which it is.
    ///
    /// The name counts as a reference to the actor, until it is [taken back](Self::unpublish) or
    /// the node leaves.
    ///
    /// # Examples
    /// See [`locate`](Self::locate).
    pub fn publish<M>(&self, name: &str, actor: ActorRef<M>) -> bool
    where
        M: Serialize + DeserializeOwned + Send + 'static,
    {
        self.try_publish(name, &actor).is_ok()
    }

    /// As [`publish`](Self::publish), with the reason if the actor is not published.
    ///
    /// # Errors
    /// If the name is longer than 255 bytes, or an actor that has not stopped has it; if the actor
    /// has stopped, or is on another node; if this node has left.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::node::in_process::{Faults, network};
    /// use evenkeel_actor::remote::Node;
    /// use evenkeel_actor::{Actor, Builder, Context, Handled, RegisterError, System};
    ///
    /// struct Clock;
    ///
    /// impl Actor for Clock {
    ///     type Message = u32;
    ///
    ///     async fn handle(&mut self, _hour: u32, _context: &mut Context<Self>) -> Handled {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (_control, mut ends) = network(1, Faults::default());
    /// let end = ends.remove(0);
    /// evenkeel::Runtime::new()?.block_on(async {
    ///     let node = Node::builder().system(System::new()).start(|| Ok::<_, String>(end)).await?;
    ///     let builder = Builder::new().system(node.system());
    ///     let (first, second) = (builder.clone().spawn(Clock)?, builder.spawn(Clock)?);
    ///     node.try_publish("clock", &first)?;
    ///     let taken = RegisterError::Taken { name: "clock".into(), holder: first.id() };
    ///     assert_eq!(node.try_publish("clock", &second), Err(taken));
    ///     let long = node.try_publish(&"clock".repeat(60), &second);
    ///     assert_eq!(long, Err(RegisterError::TooLong { most: 255 }));
    ///
    ///     node.leave().await;
    ///     assert_eq!(node.try_publish("watch", &second), Err(RegisterError::Left));
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub fn try_publish<M>(&self, name: &str, actor: &ActorRef<M>) -> Result<(), RegisterError>
    where
        M: Serialize + DeserializeOwned + Send + 'static,
    {
        let inner = self.inner();
        inner.scripts.publish(name, actor)?;
        // `leave` sets `has_left` before it forgets all names, so one of the two calls sees the
        // other's write, and takes this name back.
        if inner.has_left.load(Ordering::SeqCst) {
            inner.scripts.unpublish(name);
            return Err(RegisterError::Left);
        }
        Ok(())
    }

    /// Takes back a name under which other nodes [find](Self::publish) an actor. Returns false if
    /// no actor has the name, or if the actor has stopped. References that were found by the name
    /// stay valid.
    ///
    /// # Examples
    /// See [`locate`](Self::locate).
    pub fn unpublish(&self, name: &str) -> bool {
        self.inner().scripts.unpublish(name)
    }

    /// Finds an actor of a node, this one or another, by the name under which it is
    /// [published](Self::publish) there.
    ///
    /// # Errors
    /// [`RemoteError`].
    ///
    /// # Cancel safety
    /// A call that is dropped has changed nothing: an answer that comes later is discarded.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::node::NodeId;
    /// use evenkeel_actor::node::in_process::{Faults, network};
    /// use evenkeel_actor::remote::{Node, RemoteError};
    /// use evenkeel_actor::{Actor, Builder, Context, Handled, ReplyTo, System};
    ///
    /// struct Clock(u32);
    ///
    /// impl Actor for Clock {
    ///     type Message = ReplyTo<u32>;
    ///
    ///     async fn handle(&mut self, reply: ReplyTo<u32>, _: &mut Context<Self>) -> Handled {
    ///         reply.send(self.0);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (_control, mut ends) = network(2, Faults::default());
    /// let (end, other_end) = (ends.remove(0), ends.remove(0));
    /// evenkeel::Runtime::new()?.block_on(async {
    ///     let node = Node::builder().system(System::new()).start(|| Ok::<_, String>(end)).await?;
    ///     let builder = Node::builder().system(System::new());
    ///     let other = builder.start(|| Ok::<_, String>(other_end)).await?;
    ///     let clock = Builder::new().system(other.system()).spawn(Clock(12))?;
    ///     assert!(other.publish("clock", clock.clone()));
    ///     assert_eq!(clock.remote_name(), None);
    ///
    ///     let found = node.locate::<ReplyTo<u32>>(NodeId::new(1), "clock").await?;
    ///     assert_eq!(found.remote_name().map(|name| name.node), Some(NodeId::new(1)));
    ///     assert_eq!(found.ask(|reply| reply).await, Ok(12));
    ///
    ///     // The reference stays valid without the name.
    ///     assert!(other.unpublish("clock"));
    ///     let lost = node.locate::<ReplyTo<u32>>(NodeId::new(1), "clock").await;
    ///     assert!(matches!(lost, Err(RemoteError::NoSuchName { .. })));
    ///     assert_eq!(found.ask(|reply| reply).await, Ok(12));
    ///
    ///     node.leave().await;
    ///     other.leave().await;
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub async fn locate<M>(&self, node: NodeId, name: &str) -> Result<ActorRef<M>, RemoteError>
    where
        M: Serialize + DeserializeOwned + Send + 'static,
    {
        requests::locate(self.inner(), node, name).await
    }

    /// Sends a message to all of these actors. Each node passes it on to others along a binomial
    /// tree: with 100 nodes it takes seven steps, not 99.
    ///
    /// If there are several nodes, receivers on other nodes are kept from then on, each until it is
    /// stopped or this node is gone. Actors that are only referred to in the message are not. If a
    /// reference belongs to another node of this process, as in tests, that node
    /// [sends](ActorRef::send) the message to its actor.
    ///
    /// A cast to several nodes keeps no order with the sender's other casts, or with its sends: it
    /// comes by way of other nodes.
    ///
    /// # Errors
    /// Fails if the message cannot be written, or is too long. It cannot contain a
    /// [`ReplyTo`](crate::ReplyTo). If the message is too long only with the name of one of the
    /// actors beside it, others may have it.
    ///
    /// # Cancel safety
    /// If the future is dropped, some of the actors may have the message.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::node::NodeId;
    /// use evenkeel_actor::node::in_process::{Faults, network};
    /// use evenkeel_actor::remote::Node;
    /// use evenkeel_actor::{Actor, Context, Handled, System};
    /// use std::sync::mpsc::{Sender, channel};
    ///
    /// struct Display(Sender<String>);
    ///
    /// impl Actor for Display {
    ///     type Message = String;
    ///
    ///     async fn handle(&mut self, text: String, _context: &mut Context<Self>) -> Handled {
    ///         self.0.send(text)?;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (_control, ends) = network(3, Faults::default());
    /// let (sender, shown) = channel();
    /// evenkeel::Runtime::new()?.block_on(async {
    ///     let mut nodes = Vec::new();
    ///     for end in ends {
    ///         let sender = sender.clone();
    ///         let script = move |()| Display(sender.clone());
    ///         let builder = Node::builder().system(System::new()).script("display", script);
    ///         nodes.push(builder.start(|| Ok::<_, String>(end)).await?);
    ///     }
    ///     let mut displays = Vec::new();
    ///     for number in 0..3 {
    ///         displays.push(nodes[0].spawn_on(NodeId::new(number), "display", &()).await?);
    ///     }
    ///
    ///     let report = nodes[0].cast(&displays, &"high tide".to_owned()).await?;
    ///     assert_eq!((report.delivered, report.handed_on, report.refused), (1, 2, 0));
    ///     for _ in 0..3 {
    ///         assert_eq!(shown.recv()?, "high tide");
    ///     }
    ///     for node in nodes {
    ///         node.leave().await;
    ///     }
    ///     Ok(())
    /// })
    /// # }
    /// ```
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

    /// Waits until all nodes have come to the same barrier. Tasks of one node that wait at once
    /// pass together.
    ///
    /// Messages that were sent before it may be handled after it: ask, or use
    /// [`finish`](Self::finish), to wait for what they do.
    ///
    /// # Errors
    /// Fails if a node is gone: then no node passes any more.
    ///
    /// # Cancel safety
    /// If the future is dropped at a yield because the [slice](evenkeel::budget) of its poll was
    /// over, this node has not come to the barrier. If it is dropped later, the node has come all
    /// the same.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::System;
    /// use evenkeel_actor::node::in_process::{Faults, network};
    /// use evenkeel_actor::remote::Node;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (_control, mut ends) = network(2, Faults::default());
    /// let (end, other_end) = (ends.remove(0), ends.remove(0));
    /// evenkeel::Runtime::new()?.block_on(async {
    ///     let node = Node::builder().system(System::new()).start(|| Ok::<_, String>(end)).await?;
    ///     let builder = Node::builder().system(System::new());
    ///     let other = builder.start(|| Ok::<_, String>(other_end)).await?;
    ///     let (one, two) = futures::join!(node.barrier(), other.barrier());
    ///     assert!(one.is_ok() && two.is_ok());
    ///
    ///     // A node that leaves does not come to the next one.
    ///     other.leave().await;
    ///     let lost = node.barrier().await.unwrap_err();
    ///     assert_eq!(lost.node, Some(other.id()));
    ///     node.leave().await;
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub async fn barrier(&self) -> Result<(), NodeLost> {
        scope::outside(self.inner().collective.pass(self.inner())).await
    }

    /// Declares that this node begins no more work by itself, and waits for the end of the work of
    /// all nodes: all nodes have declared this, no actor of their systems is alive, and no message
    /// is on its way. So the actors have to be stopped, or all references to them dropped, on all
    /// nodes. A token that counts messages detects the end, not silence.
    ///
    /// The actor of [`System::on_dead_letter`] does not count, since it begins nothing by itself.
    /// Any other actor does, also one that only [listens](System::send_dead_letters_to). Once the
    /// end is found, it stays known.
    ///
    /// # Errors
    /// Fails if a node is gone before the end: then the end cannot be detected.
    ///
    /// # Cancel safety
    /// If the call is dropped, the others wait until it is called again, or this node leaves. What
    /// it has declared stays: if this node begins work by itself all the same, the end may be
    /// reported beside that work.
    ///
    /// # Examples
    /// Messages that travel between two nodes until their number is used up:
    /// ```
    /// use evenkeel_actor::node::NodeId;
    /// use evenkeel_actor::node::in_process::{Faults, network};
    /// use evenkeel_actor::remote::Node;
    /// use evenkeel_actor::{Actor, ActorRef, Context, Handled, System};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Ball {
    ///     hits: u32,
    ///     to: ActorRef<Ball>,
    /// }
    ///
    /// struct Player;
    ///
    /// impl Actor for Player {
    ///     type Message = Ball;
    ///
    ///     async fn handle(&mut self, ball: Ball, context: &mut Context<Self>) -> Handled {
    ///         if ball.hits > 0 {
    ///             let back = Ball { hits: ball.hits - 1, to: context.actor_ref() };
    ///             ball.to.send(back).await?;
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (_control, ends) = network(2, Faults::default());
    /// evenkeel::Runtime::new()?.block_on(async {
    ///     let mut nodes = Vec::new();
    ///     for end in ends {
    ///         let builder = Node::builder().system(System::new()).script("player", |()| Player);
    ///         nodes.push(builder.start(|| Ok::<_, String>(end)).await?);
    ///     }
    ///     let one = nodes[0].spawn_on::<Ball, _>(NodeId::new(0), "player", &()).await?;
    ///     let two = nodes[0].spawn_on::<Ball, _>(NodeId::new(1), "player", &()).await?;
    ///     two.send(Ball { hits: 100, to: one }).await?;
    ///     // The last ball has the last references to the players.
    ///     drop(two);
    ///
    ///     let (here, there) = futures::join!(nodes[0].finish(), nodes[1].finish());
    ///     assert!(here.is_ok() && there.is_ok());
    ///     for node in nodes {
    ///         assert_eq!(node.system().metrics().alive(), 0);
    ///         node.leave().await;
    ///     }
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub async fn finish(&self) -> Result<(), NodeLost> {
        scope::outside(self.inner().collective.finish(self.inner())).await
    }

    /// Leaves the job. When it returns, what was sent is on its way and the other nodes are told.
    /// What is sent from this call on is refused.
    ///
    /// If another node takes nothing for a while, and something waits for it, the call waits for
    /// it, however long. That node may be in a long poll, which cannot be told from one that never
    /// ends. The call does not wait for a node that is down or [shut out](NodeEvent::Refused). A
    /// transport may wait for all others to leave too, as that over MPI does. A program that is not
    /// to wait puts a [timeout](evenkeel::time::timeout) around the call, and ends its process.
    ///
    /// Actors to which this node has references live on. The node forgets what other nodes know,
    /// what it has [published](Self::publish), and its scripts. So actors with references from
    /// other nodes alone end like actors without references. They first handle what is in their
    /// mailboxes, and what has come and waits for room there. A message that has come and is not
    /// read yet is a dead letter.
    ///
    /// # Cancel safety
    /// The node leaves once the call has been polled, whether or not it is dropped then. Another
    /// call waits for the same end.
    pub async fn leave(&self) {
        scope::outside(async {
            self.inner().leave();
            self.0.over.wait().await;
        })
        .await;
    }

    /// Returns the traffic to and from another node.
    ///
    /// # Examples
    /// See [`metrics`](Self::metrics).
    #[must_use]
    pub fn traffic(&self, node: NodeId) -> Traffic {
        self.inner().multiplexer.traffic(node)
    }

    /// Returns what the node has counted so far.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::node::NodeId;
    /// use evenkeel_actor::node::in_process::{Faults, network};
    /// use evenkeel_actor::remote::Node;
    /// use evenkeel_actor::{Actor, Context, Handled, ReplyTo, System};
    ///
    /// struct Echo;
    ///
    /// impl Actor for Echo {
    ///     type Message = ReplyTo<()>;
    ///
    ///     async fn handle(&mut self, reply: ReplyTo<()>, _: &mut Context<Self>) -> Handled {
    ///         reply.send(());
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (_control, mut ends) = network(2, Faults::default());
    /// let (end, other_end) = (ends.remove(0), ends.remove(0));
    /// evenkeel::Runtime::new()?.block_on(async {
    ///     let node = Node::builder().system(System::new()).start(|| Ok::<_, String>(end)).await?;
    ///     let builder = Node::builder().system(System::new()).script("echo", |()| Echo);
    ///     let other = builder.start(|| Ok::<_, String>(other_end)).await?;
    ///
    ///     let echo = node.spawn_on::<ReplyTo<()>, _>(NodeId::new(1), "echo", &()).await?;
    ///     for _ in 0..10 {
    ///         echo.ask(|reply| reply).await?;
    ///     }
    ///     let metrics = node.metrics();
    ///     assert!(metrics.messages_out > 10 && metrics.messages_in > 10);
    ///     assert_eq!((metrics.open_calls, metrics.undelivered), (0, 0));
    ///     // One question at a time: few messages share a frame.
    ///     assert!(metrics.packing() >= 1.0);
    ///     // The same for one node, which here is the only other one.
    ///     assert!(node.traffic(NodeId::new(1)).messages_out >= metrics.messages_out);
    ///
    ///     node.leave().await;
    ///     other.leave().await;
    ///     Ok(())
    /// })
    /// # }
    /// ```
    #[must_use]
    pub fn metrics(&self) -> NodeMetrics {
        NodeMetrics::of(self.inner())
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("id", &self.id()).field("name", &self.name()).finish()
    }
}
