//! Several nodes, each with a runtime of its own.

use evenkeel::Runtime;
use evenkeel_actor::node::NodeId;
use evenkeel_actor::node::in_process::{Control, Faults, network};
use evenkeel_actor::node::policy::Packing;
use evenkeel_actor::remote::{Node, NodeBuilder};
use evenkeel_actor::{Actor, ActorRef, Context, Handled, ReplyTo, System};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Messages to the tests' actors.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    Add(u64),
    Get(ReplyTo<u64>),
    /// Sends this to that actor.
    Pass(ActorRef<Message>, u64),
    /// Answers with the actor itself.
    Me(ReplyTo<ActorRef<Message>>),
    /// Keeps this and does not answer.
    Keep(ReplyTo<u64>),
    /// Answers all kept questions.
    Release,
    /// Drops this.
    Forget(ReplyTo<u64>),
    /// Has that actor answer.
    Ask(ActorRef<Message>, ReplyTo<u64>),
    Stop,
}

/// Adds numbers up.
#[derive(Default)]
pub(crate) struct Sum {
    pub(crate) sum: u64,
    kept: Vec<ReplyTo<u64>>,
}

impl Sum {
    pub(crate) fn new(sum: u64) -> Self {
        Self { sum, kept: Vec::new() }
    }
}

impl Actor for Sum {
    type Message = Message;

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        match message {
            Message::Add(n) => self.sum += n,
            Message::Get(reply) => reply.send(self.sum),
            Message::Pass(to, n) => drop(to.send(Message::Add(n)).await),
            Message::Me(reply) => reply.send(context.actor_ref()),
            Message::Keep(reply) => self.kept.push(reply),
            Message::Release => self.kept.drain(..).for_each(|reply| reply.send(self.sum)),
            Message::Forget(_) => {}
            Message::Ask(whom, reply) => drop(whom.send(Message::Get(reply)).await),
            Message::Stop => context.stop(),
        }
        Ok(())
    }
}

/// Handles its first message for ever.
pub(crate) struct Stuck;

impl Actor for Stuck {
    type Message = Message;

    async fn handle(&mut self, _message: Message, _context: &mut Context<Self>) -> Handled {
        std::future::pending().await
    }
}

pub(crate) struct World {
    pub(crate) control: Control,
    pub(crate) nodes: Vec<(Runtime, Node)>,
}

/// With one worker there are no reliefs: the host of a node is a task.
pub(crate) fn runtime(workers: usize) -> Runtime {
    let reliefs = if workers == 1 { 0 } else { 64 };
    evenkeel::Builder::new().workers(workers).reliefs(reliefs).build().unwrap()
}

/// A network that delays frames and lets those of different pairs overtake each other.
pub(crate) fn slow(seed: u64) -> Faults {
    let delay = Duration::ZERO..Duration::from_micros(300);
    Faults { seed, delay, ..Faults::default() }
}

impl World {
    pub(crate) fn new(nodes: u32, workers: usize, faults: Faults) -> Self {
        Self::with(nodes, workers, faults, Packing::default())
    }

    pub(crate) fn with(nodes: u32, workers: usize, faults: Faults, packing: Packing) -> Self {
        Self::built(nodes, workers, faults, |_, builder| builder.packing(packing))
    }

    /// A world with nodes from a function of their numbers.
    pub(crate) fn built(
        nodes: u32,
        workers: usize,
        faults: Faults,
        build: impl Fn(u32, NodeBuilder) -> NodeBuilder,
    ) -> Self {
        let (control, ends) = network(nodes, faults);
        let start = |(number, end)| {
            let runtime = runtime(workers);
            let builder = build(number, Node::builder().system(System::new()));
            let node = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap();
            node.register_script("sum", Sum::new);
            (runtime, node)
        };
        let nodes: Vec<_> = (0..).zip(ends).map(start).collect();
        for (runtime, node) in &nodes {
            runtime.block_on(node.ready()).unwrap();
        }
        Self { control, nodes }
    }

    /// Runs a function on a node.
    pub(crate) fn on<R: Send + 'static>(&self, node: usize, f: impl AsyncFnOnce(Node) -> R) -> R {
        let (runtime, node) = &self.nodes[node];
        runtime.block_on(f(node.clone()))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for (runtime, node) in &self.nodes {
            runtime.block_on(node.leave());
        }
    }
}

pub(crate) fn id(node: u32) -> NodeId {
    NodeId::new(node)
}
