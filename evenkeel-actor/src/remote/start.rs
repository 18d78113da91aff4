//! How a node starts, and how it learns that its host has ended.

use super::barriers::Collective;
use super::bound::Bound;
use super::calls::Calls;
use super::error::StartError;
use super::events::Listeners;
use super::inbound::Receiver;
use super::inner::{Counts, Inner, Peer};
use super::leaving::{Ending, Owner};
use super::limits::Limits;
use super::node::Node;
use super::scope;
use super::scripts::Scripts;
use super::senders::{Senders, has_one_thread};
use super::table::Table;
use crate::actor::Actor;
use crate::node::host::Host;
use crate::node::multiplexer::Multiplexer;
use crate::node::policy::Packing;
use crate::node::wire::LONGEST_NAME;
use crate::node::{NodeId, Transport};
use crate::primitives::oneshot;
use crate::system::System;
use evenkeel::Handle;
use evenkeel::internal::contain;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::thread;

/// Where a transport is driven.
///
/// # Examples
/// ```
/// use evenkeel_actor::node::in_process::{Faults, network};
/// use evenkeel_actor::remote::{Hosting, Node, StartError};
///
/// let (_control, mut ends) = network(1, Faults::default());
/// let end = ends.remove(0);
/// let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
/// let error = runtime.block_on(async {
///     Node::builder().hosting(Hosting::Task).start(|| Ok::<_, String>(end)).await.unwrap_err()
/// });
/// assert!(matches!(error, StartError::Workers { workers: 2 }));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hosting {
    /// A task if the runtime has one worker, which is a thread of its own, and no
    /// [reliefs](evenkeel::Builder::reliefs), else a thread.
    #[default]
    Auto,
    /// A thread of its own.
    Thread,
    /// A task of the runtime, which has to have one worker and no
    /// [reliefs](evenkeel::Builder::reliefs), and not to be a
    /// [current-thread](evenkeel::Builder::new_current_thread) one; else it is an
    /// [error](StartError). The transport is made, driven and dropped on that worker's thread.
    Task,
}

/// The longest message that nodes have to send: [`Hello`](crate::node::wire::Message::Hello), with
/// two names. Error texts are shortened as needed.
const LEAST_LONGEST: usize = 1 + 5 + 5 + 10 + 10 + 10 + 2 * (2 + LONGEST_NAME);

/// Configures and starts a node.
///
/// # Examples
/// ```
/// use evenkeel_actor::node::in_process::{Faults, network};
/// use evenkeel_actor::node::policy::Packing;
/// use evenkeel_actor::remote::{Hosting, Limits, Node};
/// use evenkeel_actor::System;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (_control, mut ends) = network(1, Faults::default());
/// let end = ends.remove(0);
/// evenkeel::Runtime::new()?.block_on(async {
///     let system = System::new();
///     let node = Node::builder()
///         .job("simulation")
///         .name("harbour")
///         .system(system)
///         // The thread drives the transport, the workers run the actors.
///         .hosting(Hosting::Thread)
///         .packing(Packing { frame: 8 << 10, ..Packing::default() })
///         .limits(Limits { calls: 1_000, ..Limits::default() })
///         .start(|| Ok::<_, String>(end))
///         .await?;
///     assert_eq!((node.name(), node.nodes()), ("harbour", 1));
///     assert_eq!(node.system(), system);
///     node.leave().await;
///     Ok(())
/// })
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder starts nothing by itself"]
pub struct NodeBuilder {
    job: String,
    name: Option<String>,
    packing: Packing,
    system: Option<System>,
    hosting: Hosting,
    limits: Limits,
    scripts: Scripts<Peer>,
}

/// The number of the next node of this process.
static NEXT: AtomicU16 = AtomicU16::new(0);

impl NodeBuilder {
    pub(super) fn new() -> Self {
        Self {
            job: "job".to_owned(),
            name: None,
            packing: Packing::default(),
            system: None,
            hosting: Hosting::Auto,
            limits: Limits::default(),
            scripts: Scripts::default(),
        }
    }

    /// Sets the name of the job, which is the same on all nodes. `job` by default.
    pub fn job(mut self, name: impl Into<String>) -> Self {
        self.job = name.into();
        self
    }

    /// Sets the name of the node, which no other node of the job may have. `node` and its number by
    /// default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets how messages are packed, and how many may wait. Frames and messages that would be
    /// longer than the transport takes are limited to that length.
    pub fn packing(mut self, packing: Packing) -> Self {
        self.packing = packing;
        self
    }

    /// Sets the system of the node's actors. The caller's by default.
    pub fn system(mut self, system: System) -> Self {
        self.system = Some(system);
        self
    }

    /// Sets where the transport is driven.
    pub fn hosting(mut self, hosting: Hosting) -> Self {
        self.hosting = hosting;
        self
    }

    /// Sets the most that the node keeps for other nodes. The defaults are those of [`Limits`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Registers a script, as [`Node::register_script`] does, before any other node learns of this
    /// one: so none asks for it too early. The first script of a name stays. A script with a name
    /// of more than 255 bytes is left out: no node can ask for it.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::node::in_process::{Faults, network};
    /// use evenkeel_actor::remote::Node;
    /// use evenkeel_actor::{Actor, Context, Handled, System};
    ///
    /// struct Worker;
    ///
    /// impl Actor for Worker {
    ///     type Message = u64;
    ///
    ///     async fn handle(&mut self, _message: u64, _context: &mut Context<Self>) -> Handled {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (_control, mut ends) = network(1, Faults::default());
    /// let end = ends.remove(0);
    /// evenkeel::Runtime::new()?.block_on(async {
    ///     let builder = Node::builder().system(System::new()).script("worker", |()| Worker);
    ///     let node = builder.start(|| Ok::<_, String>(end)).await?;
    ///     assert!(!node.register_script("worker", |()| Worker));
    ///     node.leave().await;
    ///     Ok::<_, Box<dyn std::error::Error>>(())
    /// })
    /// # }
    /// ```
    #[track_caller]
    pub fn script<A, Arguments>(
        self,
        name: &str,
        script: impl Fn(Arguments) -> A + Send + Sync + 'static,
    ) -> Self
    where
        A: Actor,
        A::Message: Serialize + DeserializeOwned,
        Arguments: DeserializeOwned,
    {
        self.scripts.register(name, script);
        self
    }

    /// Starts the node on the caller's runtime. Calls `transport` once, on the thread that drives
    /// the transport which it makes.
    ///
    /// # Errors
    /// [`StartError`]. Then nothing is left running.
    ///
    /// # Cancel safety
    /// If the call is dropped once it has been polled, the node starts all the same, and leaves at
    /// once: the other nodes learn that it is up and gone.
    ///
    /// # Examples
    /// What the function returns as an error is the source of the node's error:
    /// ```
    /// use evenkeel_actor::node::in_process::InProcess;
    /// use evenkeel_actor::remote::{Node, StartError};
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let transport = || Err::<InProcess, _>("no such network");
    ///     let error = Node::builder().start(transport).await.unwrap_err();
    ///     assert!(matches!(error, StartError::Transport(_)));
    ///     assert_eq!(error.to_string(), "the transport has not started: no such network");
    ///
    ///     let transport = || Err::<InProcess, _>("is not called");
    ///     let error = Node::builder().name("").start(transport).await.unwrap_err();
    ///     assert!(matches!(error, StartError::Name { of: "node", .. }));
    /// });
    /// ```
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
        let (waiting, parked) = (self.packing.waiting, self.limits.parked);
        if waiting >= parked / 2 {
            return Err(StartError::Waiting { waiting, parked });
        }
        let backlog = self.limits.backlog;
        if waiting >= backlog / 2 {
            return Err(StartError::Backlog { waiting, backlog });
        }
        let workers = handle.metrics().processors.len();
        let is_task = match self.hosting {
            Hosting::Auto => has_one_thread(&handle),
            Hosting::Thread => false,
            Hosting::Task => true,
        };
        if is_task && workers > 1 {
            return Err(StartError::Workers { workers });
        }
        if is_task && handle.reliefs() > 0 {
            return Err(StartError::Reliefs { reliefs: handle.reliefs() });
        }
        if is_task && handle.is_current_thread() {
            return Err(StartError::CurrentThread);
        }
        let (started, starts) = oneshot::channel();
        let make = move |handle: &Handle| -> Option<(Host<T, Receiver>, Over)> {
            let transport = match transport() {
                Ok(transport) => transport,
                Err(error) => {
                    drop(started.send(Err(StartError::Transport(error.into()))));
                    return None;
                }
            };
            let longest = fit(self.packing, transport.longest_frame()).longest_message;
            if longest < LEAST_LONGEST {
                let least = LEAST_LONGEST;
                drop(started.send(Err(StartError::ShortMessages { longest, least })));
                return None;
            }
            let (node, host) = self.build(transport, handle.clone(), workers, is_task);
            let over = Over { node: node.0.inner, ending: node.0.over.clone() };
            // If the caller waits no more, the handle is dropped with the message, and the node
            // leaves.
            drop(started.send(Ok(node)));
            Some((host, over))
        };
        if is_task {
            drop(handle.clone().spawn(async move {
                let host = {
                    let Some((host, over)) = make(&handle) else { return };
                    (over, Bound::new(Box::pin(host.drive())))
                };
                // The node leaves before its host is dropped: a transport may then wait for others.
                let (over, mut drive) = host;
                let _runs = Runs(over.node);
                poll_fn(|context| drive.as_mut().poll(context)).await;
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

    pub(super) fn build<T: Transport>(
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
        let ties = self.limits.ties.max(Limits::LEAST_TIES);
        let limits = Limits { ties, ..self.limits };
        let inner: &'static Inner = Box::leak(Box::new(Inner {
            here: NEXT.fetch_add(1, Ordering::Relaxed),
            number,
            nodes,
            limits,
            job: self.job.into(),
            name: name.into(),
            system: self.system.unwrap_or_else(System::current),
            workers,
            multiplexer: Arc::clone(&multiplexer),
            longest_frame: transport.longest_frame(),
            reads_inline,
            senders: Senders::new(&handle, Arc::clone(&multiplexer)),
            table: Table::new(number),
            calls: Calls::new(limits.calls),
            scripts: self.scripts,
            listeners: Listeners::default(),
            collective: Collective::new(number, nodes),
            has_left: false.into(),
            counts: Counts::default(),
            unread: 0.into(),
            frames: (0..nodes).map(|_| Mutex::default()).collect(),
            names: Mutex::new(names),
            peers: OnceLock::new(),
            handle: RwLock::new(Some(handle.clone())),
        }));
        let peer = |node| Peer::new(inner, node, multiplexer.link(node));
        let peers = inner.peers.set((0..nodes).map(NodeId::new).map(peer).collect());
        assert!(peers.is_ok(), "they are set here alone");
        // A host that is a task flushes itself.
        for flusher in multiplexer.flushers().filter(|_| !reads_inline) {
            let runs = Runs(inner);
            drop(handle.spawn(async move {
                let _runs = runs;
                flusher.await;
            }));
        }
        inner.system.set_node(number.number());
        // Before any task can send, so that it arrives first.
        inner.greet();
        let host = Host::new(transport, multiplexer, Receiver::new(inner, handle));
        let host = if reads_inline { host.flushing() } else { host };
        let over = Arc::new(Ending::default());
        (Node(Arc::new(Owner { inner, over })), host)
    }
}

impl Node {
    /// Returns a builder with the defaults.
    pub fn builder() -> NodeBuilder {
        NodeBuilder::new()
    }
}

/// Limits the packing to frames that the transport takes: a frame is longer than a full one by at
/// most one message. An empty frame has a head, for which 8 bytes are enough.
fn fit(packing: Packing, longest_frame: usize) -> Packing {
    let frame = packing.frame.min(longest_frame / 2).max(8);
    let longest_message = packing.longest_message.min(longest_frame.saturating_sub(frame));
    Packing { frame, longest_message, ..packing }
}

/// In the tasks of a node: it leaves the job when its runtime ends and drops them. Nothing reads
/// its frames from then on.
struct Runs(&'static Inner);

impl Drop for Runs {
    fn drop(&mut self) {
        let node = self.0;
        if !node.has_left.load(Ordering::SeqCst) {
            contain(|| scope::once_written(move || node.leave()));
        }
    }
}

/// Notes at its drop, also during a panic, that the host is gone: then the node leaves the job.
struct Over {
    node: &'static Inner,
    ending: Arc<Ending>,
}

impl Drop for Over {
    fn drop(&mut self) {
        // The thread may be panicking already.
        contain(|| self.node.leave());
        self.node.part();
        self.ending.end();
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
            for frame in 1..=8 {
                let packing = Packing { frame, longest_message: usize::MAX, ..packing };
                assert!(fit(packing, longest).longest_frame() <= longest, "{frame} {longest}");
            }
        }
    }
}
