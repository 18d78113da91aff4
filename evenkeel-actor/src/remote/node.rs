//! Nodes: handles, starting and leaving.

use super::bound::Bound;
use super::calls::Calls;
use super::cast::{self, CastReport};
use super::collective::Collective;
use super::error::{NodeLost, RemoteError, StartError};
use super::events::{Events, Listeners, NodeEvent};
use super::inbound::Receiver;
use super::inner::{Counts, Inner};
use super::route::Peer;
use super::scripts::{self, Scripts};
use super::senders::Senders;
use super::table::Table;
use crate::actor::Actor;
use crate::actor_ref::ActorRef;
use crate::mailbox::overflow::Overflow;
use crate::node::host::Host;
use crate::node::multiplexer::{Multiplexer, Traffic};
use crate::node::payload::PayloadError;
use crate::node::policy::Packing;
use crate::node::wire::LONGEST_NAME;
use crate::node::{NodeId, Transport};
use crate::system::System;
use evenkeel::Handle;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

/// On what a transport is driven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hosting {
    /// A task if the runtime has one worker, else a thread.
    #[default]
    Auto,
    /// A thread of its own.
    Thread,
    /// A task of the runtime, which has one worker. The transport is made, driven and dropped on that worker's thread.
    Task,
}

/// What a node begins with.
///
/// # Examples
/// See [`Node`].
#[derive(Clone, Debug)]
#[must_use = "a builder starts nothing by itself"]
pub struct NodeBuilder {
    job: String,
    name: Option<String>,
    packing: Packing,
    system: Option<System>,
    hosting: Hosting,
}

impl NodeBuilder {
    /// What the job calls itself, on all nodes the same. By default `job`.
    pub fn job(mut self, name: impl Into<String>) -> Self {
        self.job = name.into();
        self
    }

    /// What the node calls itself, unlike all others. By default `node` and its number.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How messages are packed, and how many may wait. Frames and messages that would be longer than the transport takes are made as long as that.
    pub fn packing(mut self, packing: Packing) -> Self {
        self.packing = packing;
        self
    }

    /// The system of the node's actors. By default that of the caller.
    pub fn system(mut self, system: System) -> Self {
        self.system = Some(system);
        self
    }

    /// On what the transport is driven.
    pub fn hosting(mut self, hosting: Hosting) -> Self {
        self.hosting = hosting;
        self
    }

    /// Starts the node on the runtime that the caller belongs to. `transport` is called once, on the thread that drives what it makes.
    ///
    /// # Errors
    /// [`StartError`]. Nothing is left running then.
    pub async fn start<T, E>(
        self,
        transport: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<Node, StartError>
    where
        T: Transport + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let handle = Handle::try_current().ok_or(StartError::NoRuntime)?;
        for (of, name) in [("job", Some(&self.job)), ("node", self.name.as_ref())] {
            if name.is_some_and(|name| name.is_empty() || name.len() > LONGEST_NAME) {
                return Err(StartError::Name { of, most: LONGEST_NAME });
            }
        }
        let workers = handle.metrics().processors.len();
        let is_task = match self.hosting {
            Hosting::Auto => workers == 1,
            Hosting::Thread => false,
            Hosting::Task => true,
        };
        let (started, starts) = oneshot::async_channel();
        let make = move |handle: &Handle| -> Option<(Host<T, Receiver>, Over)> {
            let transport = match transport() {
                Ok(transport) => transport,
                Err(error) => {
                    drop(started.send(Err(StartError::Transport(error.into()))));
                    return None;
                }
            };
            let (node, host) = self.build(transport, handle.clone(), workers, is_task);
            let over = node.0.over.clone();
            // Nobody waits any more: the handle is dropped with the message, and the node leaves.
            drop(started.send(Ok(node)));
            Some((host, Over(over)))
        };
        if is_task {
            drop(handle.clone().spawn(async move {
                let host = {
                    let Some((host, over)) = make(&handle) else { return };
                    (Bound::new(host.drive()), over)
                };
                let (drive, _over) = host;
                let mut drive = pin!(drive);
                poll_fn(|context| drive.as_mut().as_pin_mut().poll(context)).await;
            }));
        } else {
            let thread = thread::Builder::new().name("evenkeel-node".to_owned());
            let run = move || {
                if let Some((host, _over)) = make(&handle) {
                    host.run();
                }
            };
            thread.spawn(run).map_err(StartError::Thread)?;
        }
        starts.await.unwrap_or(Err(StartError::Lost))
    }

    fn build<T: Transport>(
        self,
        transport: T,
        handle: Handle,
        workers: usize,
        reads_inline: bool,
    ) -> (Node, Host<T, Receiver>) {
        let (number, nodes) = (transport.local(), transport.nodes());
        let packing = fit(self.packing, transport.longest_frame());
        let multiplexer = Multiplexer::new(number, nodes, workers, packing);
        let name = self.name.unwrap_or_else(|| format!("node {number}"));
        let mut names = vec![None; nodes as usize];
        names[number.number() as usize] = Some(Arc::from(&*name));
        let inner: &'static Inner = Box::leak(Box::new(Inner {
            number,
            nodes,
            job: self.job.into(),
            name: name.into(),
            system: self.system.unwrap_or_else(System::current),
            workers,
            multiplexer: Arc::clone(&multiplexer),
            longest_frame: transport.longest_frame(),
            reads_inline,
            senders: Senders::new(workers),
            table: Table::new(),
            calls: Calls::default(),
            scripts: Scripts::default(),
            listeners: Listeners::default(),
            collective: Collective::new(number, nodes),
            counts: Counts::default(),
            unread: 0.into(),
            frames: (0..nodes).map(|_| Mutex::default()).collect(),
            names: Mutex::new(names),
            peers: OnceLock::new(),
            handle: handle.clone(),
        }));
        let peer = |node| Peer::new(inner, node, multiplexer.link(node));
        let peers = inner.peers.set((0..nodes).map(NodeId::new).map(peer).collect());
        assert!(peers.is_ok(), "they are set here alone");
        // A host that is a task is the flusher.
        for flusher in multiplexer.flushers().filter(|_| !reads_inline) {
            drop(handle.spawn(flusher));
        }
        // Before anybody can send, so that it is the first that arrives.
        inner.greet();
        let host = Host::new(transport, multiplexer, Receiver::new(inner));
        let host = if reads_inline { host.flushing() } else { host };
        let over = Arc::new(Ending::default());
        (Node(Arc::new(Owner { inner, over })), host)
    }
}

/// The packing with frames that the transport takes: a frame is longer by at most one message than one that is full.
fn fit(packing: Packing, longest_frame: usize) -> Packing {
    let frame = packing.frame.min(longest_frame / 2).max(1);
    let longest_message = packing.longest_message.min(longest_frame - frame);
    Packing { frame, longest_message, ..packing }
}

/// When the host is gone.
#[derive(Default)]
struct Ending(Mutex<(bool, Vec<std::task::Waker>)>);

/// Says that the host is gone when it is dropped, by a panic too.
struct Over(Arc<Ending>);

impl Drop for Over {
    fn drop(&mut self) {
        let waiting = {
            let mut ending = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
            ending.0 = true;
            std::mem::take(&mut ending.1)
        };
        waiting.into_iter().for_each(std::task::Waker::wake);
    }
}

struct Owner {
    inner: &'static Inner,
    over: Arc<Ending>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.inner.leave();
    }
}

impl Inner {
    fn leave(&self) {
        self.multiplexer.close();
        self.scripts.clear();
        self.table.clear();
        for peer in self.others() {
            self.calls.node_is_down(peer.id);
        }
        self.listeners.end();
    }
}

/// A process of a job whose actors send messages to those of others: the handle. Cheap to clone; the node leaves when the last one is dropped, or by [`leave`](Self::leave).
///
/// # References
/// An [`ActorRef`] whose messages can be serialised can be in a message to another node, and is a reference to the same actor there: it sends, asks, stops. So can a [`ReplyTo`](crate::ReplyTo). A
/// reference that comes home is a local one again. An actor that other nodes have been told of is kept until it is stopped: whether they still know it is not known.
///
/// # Messages
/// They are written by `serde` in postcard's format, packed with others for the same node, and leave when the worker has nothing else to do, when a buffer is full, or at
/// the latest after [a cap](Packing::cap). Between two actors they keep their order. What one node calls a type the others have to know by the same fields: run the same build everywhere.
///
/// # Loss
/// A node that is down is a [`NodeEvent`]; what waits for it fails. A message that was sent to it may have been handled or not.
///
/// # The end
/// A node leaves before its runtime ends: until then tasks of it run there, which a runtime that is dropped waits for.
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
pub struct Node(Arc<Owner>);

impl Node {
    /// The defaults.
    pub fn builder() -> NodeBuilder {
        NodeBuilder {
            job: "job".to_owned(),
            name: None,
            packing: Packing::default(),
            system: None,
            hosting: Hosting::Auto,
        }
    }

    fn inner(&self) -> &'static Inner {
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

    /// Has other nodes start actors here, by name. False if there is a script of that name; it stays.
    ///
    /// `script` is called by a worker: it does not block. A script that keeps a handle of its own node keeps the node until it [leaves](Self::leave).
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
        scripts::spawn_on(self.inner(), node, script, arguments).await
    }

    /// Lets other nodes find an actor of this one by a name. False if there is another one of that name.
    pub fn publish<M>(&self, name: &str, actor: ActorRef<M>) -> bool
    where
        M: Serialize + DeserializeOwned + Send + 'static,
    {
        self.inner().scripts.publish(name, actor)
    }

    /// Finds an actor of a node, this one or another, by the name under which it is [published](Self::publish) there.
    ///
    /// # Errors
    /// [`RemoteError`].
    pub async fn locate<M>(&self, node: NodeId, name: &str) -> Result<ActorRef<M>, RemoteError>
    where
        M: Serialize + DeserializeOwned + Send + 'static,
    {
        scripts::locate(self.inner(), node, name).await
    }

    /// Sends a message to all of these actors, each node passing it on to others along a binomial tree: with 100 nodes it takes seven steps, not 99.
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

    /// Declares that this node begins no more work by itself, and waits for the end of all work of all nodes: all have declared so, no actor of
    /// their systems is alive, and no message is on its way. So actors are to be stopped; those that other nodes know do not end by themselves. It is found by a token that counts messages, not by silence.
    ///
    /// # Errors
    /// If a node is gone before: then it cannot be known.
    pub async fn finish(&self) -> Result<(), NodeLost> {
        self.inner().collective.finish(self.inner()).await
    }

    /// Leaves the job: what has been sent is on its way when it returns, the others are told, and what is sent from now on is refused. The actors live on.
    pub async fn leave(&self) {
        self.inner().leave();
        poll_fn(|context| {
            let mut ending = self.0.over.0.lock().unwrap_or_else(PoisonError::into_inner);
            if ending.0 {
                return std::task::Poll::Ready(());
            }
            ending.1.push(context.waker().clone());
            std::task::Poll::Pending
        })
        .await;
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
            messages_in: counts.messages.load(Ordering::Relaxed),
            undelivered: counts.undelivered.load(Ordering::Relaxed),
            unreadable: counts.unreadable.load(Ordering::Relaxed),
            late_answers: counts.late.load(Ordering::Relaxed),
            open_calls: inner.calls.len(),
            known_actors: inner.table.len(),
            unread_frames: inner.unread.load(Ordering::Relaxed),
            ..NodeMetrics::default()
        };
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

/// What a node has counted, of all other nodes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeMetrics {
    /// Frames that have left.
    pub frames_out: u64,
    /// The messages in them.
    pub messages_out: u64,
    /// Their bytes.
    pub bytes_out: u64,
    /// Frames that have come.
    pub frames_in: u64,
    /// Messages of them that were read.
    pub messages_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Messages that were lost with their nodes on this side.
    pub messages_lost: u64,
    /// Messages that have not got to their actors: these had stopped, or were full, or the values were not of their types.
    pub undelivered: u64,
    /// Those of them that were not of their actors' types.
    pub unreadable: u64,
    /// Answers that nobody waited for any more.
    pub late_answers: u64,
    /// Questions that are not answered.
    pub open_calls: usize,
    /// Actors that other nodes have been told of.
    pub known_actors: usize,
    /// Frames that have come and are not read yet.
    pub unread_frames: usize,
}

impl NodeMetrics {
    /// Messages per frame that has left.
    #[must_use]
    pub fn packing(&self) -> f64 {
        self.messages_out as f64 / self.frames_out.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::{Packing, fit};

    #[test]
    fn packing_is_made_to_fit_the_transport() {
        let packing = Packing::default();
        assert_eq!(fit(packing, 1 << 30), packing);
        for longest in [16 << 20, 100_000, 1_000] {
            assert!(fit(packing, longest).longest_frame() <= longest, "{longest}");
        }
    }
}
