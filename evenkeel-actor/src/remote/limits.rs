//! How much of other nodes a node keeps.

/// How much a node keeps of another, at most, whatever that sends or leaves unanswered: see
/// [`NodeBuilder::limits`](super::NodeBuilder::limits).
///
/// What is bounded elsewhere: frames that wait to be read are 256 at most, of the transport's
/// longest each; events 1,024 for each listener; names of nodes and scripts 255 bytes. Names of
/// actors that a peer makes up cost nothing: nothing is kept of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Watches and links between actors of this node and of one other, those that were made here
    /// and those that were made there each counted for themselves. Where there are as many, an own
    /// actor that watches or links is told of
    /// [`ExitReason::TooManyTies`](crate::ExitReason::TooManyTies); a node that opens more than it
    /// was told is [shut out](super::NodeEvent::Refused). 64 at least.
    pub ties: usize,
    /// Questions to one node without an answer. Those whose askers have given up make room; then a
    /// question is refused with [`AskError::TooManyCalls`](crate::AskError::TooManyCalls).
    pub calls: usize,
    /// Actors of this node that were made known for one other first, by a script that it has
    /// started or in a message to it, before scripts are refused to that one. Those that have ended
    /// make room, and those to which no node has a reference any more. Also the actors of one other
    /// node of which waits to be said to it that references were handed on, or given back that had
    /// come from third nodes; of more it is not said.
    pub actors: usize,
    /// Messages of collective sends from one node that wait for room in mailboxes. Further ones are
    /// dead letters, as are those that come while 16 MiB of the node wait.
    pub waiting_casts: usize,
    /// Bytes of one node that wait for room in mailboxes. From 16 MiB on it is told to hold
    /// messages for each actor whose mailbox is full, and at half of this limit to hold all; a node
    /// of which more wait is [shut out](super::Mismatch::Parked). So what an honest node has on its
    /// way when it hears of that fits into the other half: what
    /// [waits](crate::node::policy::Packing::waiting) there, what its transport has taken, and the
    /// frames that wait to be read here. A node does not start whose own packing lets as much wait.
    /// With messages of megabytes, or a transport that keeps as much, allow more.
    pub parked: usize,
    /// Bytes that wait to be sent to a node while that goes on sending: answers, and what tells of
    /// ends and failures, wait for nobody. A node that lets more pile up is shut out. What others
    /// cause takes half of it at most: beyond that, collective sends are not passed on to the node,
    /// and places for answers that have come from a third node are not answered.
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
    /// The ties that each node takes, so that some can be opened before it is known how many
    /// another takes.
    pub(crate) const LEAST_TIES: usize = 64;
}

/// Below that nobody looks for what is to go. A choice; no benchmark sets it.
pub(super) const FIRST_SWEEP: usize = 64;

/// Says when a list is searched for what nobody needs any more: when it has doubled, and at its
/// limit, there after a sixteenth of that many more attempts. So a search costs each attempt a few
/// steps.
#[derive(Debug)]
pub(super) struct Sweeper {
    at: usize,
    since: usize,
}

impl Sweeper {
    pub(super) const fn new() -> Self {
        Self { at: FIRST_SWEEP, since: 0 }
    }

    /// There are so many, and one more is to come; perhaps there are as many as may be.
    pub(super) fn is_due(&mut self, len: usize, is_full: bool, most: usize) -> bool {
        self.since += 1;
        let due = len >= self.at || (is_full && self.since >= most / 16);
        if due {
            self.since = 0;
        }
        due
    }

    /// So many are left.
    pub(super) fn swept(&mut self, left: usize) {
        self.at = FIRST_SWEEP.max(2 * left);
    }
}

#[cfg(test)]
mod tests {
    use super::Sweeper;

    #[test]
    fn a_list_at_its_limit_is_searched_seldom_and_often_enough() {
        let mut sweeper = Sweeper::new();
        assert!(!sweeper.is_due(63, false, 1_000));
        assert!(sweeper.is_due(64, false, 1_000));
        sweeper.swept(64);
        assert!(!sweeper.is_due(127, false, 1_000));
        assert!(sweeper.is_due(128, false, 1_000));
        sweeper.swept(900);
        let searches = (0..1_600).filter(|_| sweeper.is_due(1_000, true, 1_000)).count();
        assert_eq!(searches, 1_600 / 62);
    }
}
