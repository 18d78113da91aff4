//! The state that a supervised actor shares with its supervisor.

use super::peer::Peer;
use crate::words::event::{Notice, NoticeKind};

/// Orders to a supervised actor from its supervisor, and from callers that kill it.
#[derive(Default)]
pub(crate) struct Post {
    /// The number of the present start.
    pub(crate) term: u64,
    /// The supervisor to tell, and the actor's index among its children.
    pub(crate) supervisor: Option<(Peer, usize)>,
    /// The number of the next start.
    pub(crate) rise: Option<u64>,
    /// The number of the start that is to stop.
    pub(crate) cease: Option<u64>,
    /// The actor was told to stop before it had a supervisor.
    pub(crate) told: bool,
    /// The body is to be dropped.
    pub(crate) raze: bool,
    /// The life is to end.
    pub(crate) orphaned: bool,
}

impl Post {
    pub(crate) fn notice(&self, kind: NoticeKind) -> Option<(Peer, Notice)> {
        let (peer, index) = self.supervisor.as_ref()?;
        Some((peer.clone(), Notice { index: *index, kind }))
    }
}
