//! What an actor is to its supervisor.

use super::peer::Peer;
use crate::words::event::{Notice, NoticeKind};

/// What a supervised actor is told by its supervisor, and by those that kill it.
#[derive(Default)]
pub(crate) struct Post {
    /// The present start.
    pub(crate) term: u64,
    /// Who is told, and as which child.
    pub(crate) supervisor: Option<(Peer, usize)>,
    /// The next start.
    pub(crate) rise: Option<u64>,
    /// The start that is to be stopped.
    pub(crate) cease: Option<u64>,
    /// It was told to stop before it had a supervisor.
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
