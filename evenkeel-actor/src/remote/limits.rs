//! Limits of what a node keeps for other nodes.

/// The most that a node keeps for another node, whatever that node sends or leaves unanswered: see
/// [`NodeBuilder::limits`](super::NodeBuilder::limits).
///
/// Other bounds are fixed: 256 frames that wait to be read, of the transport's longest each, and
/// beyond that, while this node's transport is sending, as many as may be [parked](Self::parked);
/// 1,024 events for each listener; 65,536 references in a message; 65,536 elements of a message's
/// sequences and maps that take [no bytes](crate::node::payload::get); 255 bytes for names of nodes
/// and scripts. Names of actors that a peer makes up cost nothing: the node does not keep them.
///
/// # Examples
/// At most two questions to one node may wait for their answers:
/// ```
/// use evenkeel_actor::node::NodeId;
/// use evenkeel_actor::node::in_process::{Faults, network};
/// use evenkeel_actor::remote::{Limits, Node};
/// use evenkeel_actor::{Actor, AskError, Context, Handled, ReplyTo, System};
///
/// /// Keeps each question.
/// struct Silent(Vec<ReplyTo<u32>>);
///
/// impl Actor for Silent {
///     type Message = ReplyTo<u32>;
///
///     async fn handle(&mut self, reply: ReplyTo<u32>, _context: &mut Context<Self>) -> Handled {
///         self.0.push(reply);
///         Ok(())
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (_control, mut ends) = network(2, Faults::default());
/// let (end, other_end) = (ends.remove(0), ends.remove(0));
/// evenkeel::Runtime::new()?.block_on(async {
///     let limits = Limits { calls: 2, ..Limits::default() };
///     let builder = Node::builder().system(System::new()).limits(limits);
///     let node = builder.start(|| Ok::<_, String>(end)).await?;
///     let other = Node::builder().system(System::new()).script("silent", |()| Silent(Vec::new()));
///     let other = other.start(|| Ok::<_, String>(other_end)).await?;
///
///     let silent = node.spawn_on::<ReplyTo<u32>, _>(NodeId::new(1), "silent", &()).await?;
///     let mut asks = [silent.ask(|reply| reply), silent.ask(|reply| reply)];
///     for ask in &mut asks {
///         assert!(futures::poll!(ask).is_pending());
///     }
///     assert_eq!(node.metrics().open_calls, 2);
///     assert_eq!(silent.ask(|reply| reply).await, Err(AskError::TooManyCalls));
///
///     other.leave().await;
///     node.leave().await;
///     Ok(())
/// })
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Watches and links between actors of this node and of one other. Those made here and those
    /// made there are counted separately. At the limit, an actor of this node that watches or links
    /// is told of [`ExitReason::TooManyTies`](crate::ExitReason::TooManyTies). A node that opens
    /// more than it was told is [shut out](super::NodeEvent::Refused). A link that was made there,
    /// and has ended, counts until the actor of this node has handled the
    /// [event](crate::Event::Exit), if it gets one. A link beyond that ends at once, as at the
    /// limit. At least 64.
    pub ties: usize,
    /// Open questions to one node. Questions that their askers have given up make room; beyond that
    /// a question is refused with [`AskError::TooManyCalls`](crate::AskError::TooManyCalls).
    pub calls: usize,
    /// Actors of this node that may be known to one other before scripts are refused to it. An
    /// actor counts that this node made known first: by a script that the other has started, or in
    /// a message to it. Actors that have ended make room, and so do those without references from
    /// other nodes. Also bounds the actors of one other node for which messages to it wait that
    /// third nodes have caused: that references were handed on, or given back. Beyond the limit
    /// these messages are not sent.
    pub actors: usize,
    /// Messages of collective sends from one node that wait for room in mailboxes. Further ones are
    /// dead letters, as are those that come while 16 MiB of the node wait.
    pub waiting_casts: usize,
    /// Bytes of one node that wait for room in mailboxes. From 16 MiB on, the node is told to hold
    /// messages for each actor with a full mailbox, and at half of this limit to hold all. A node
    /// of which more wait is [shut out](super::Mismatch::Parked), and so is one of which more bytes
    /// [wait to be read](super::Mismatch::Unread), where a frame counts 128 bytes more than it has,
    /// and 128 more may wait for each five bytes that this node's own packing lets
    /// [wait](crate::node::policy::Packing::waiting).
    /// The other half is for what an honest node has on its way when it hears of that: what
    /// [waits](crate::node::policy::Packing::waiting) there, what its transport has taken, and the
    /// frames that wait to be read here. A node does not start if its own packing lets as much
    /// wait. With messages of megabytes, or a transport that keeps as much, allow more.
    pub parked: usize,
    /// Bytes that wait to be sent to a node while that node goes on sending: answers, ends and
    /// failures do not wait for room. A node that lets more pile up is shut out. Messages that
    /// other nodes cause take half of it at most. Beyond that, collective sends are not passed on
    /// to the node, and places for answers that have come from a third node are not answered. A
    /// node does not start if its own packing lets as much
    /// [wait](crate::node::policy::Packing::waiting).
    pub backlog: usize,
}

impl Default for Limits {
    /// 65,536 ties, 1,048,576 calls and actors each, 65,536 waiting messages of collective sends,
    /// 256 MiB parked and 256 MiB of backlog. Choices; no benchmark sets them.
    fn default() -> Self {
        Self {
            ties: 1 << 16,
            calls: 1 << 20,
            actors: 1 << 20,
            waiting_casts: 1 << 16,
            parked: 256 << 20,
            backlog: 256 << 20,
        }
    }
}

impl Limits {
    /// The ties that each node takes: actors can open these before their node knows the peer's
    /// limit.
    pub(crate) const LEAST_TIES: usize = 64;
}
