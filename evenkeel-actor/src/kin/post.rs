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
    /// Whether an order to stop ends the actor for good: it is not restarted after such an end.
    pub(crate) ends: bool,
    /// The body is to be dropped; before the first start, it is not to be made.
    pub(crate) raze: bool,
    /// The life is to end.
    pub(crate) orphaned: bool,
}

impl Post {
    /// Leaves the number of the next start. A kill from before concerns the body of the last one;
    /// if there was none, it concerns the start itself.
    pub(crate) fn rise(&mut self, term: u64, supervisor: (Peer, usize)) -> Option<(Peer, usize)> {
        self.raze &= self.supervisor.is_none();
        self.rise = Some(term);
        self.supervisor.replace(supervisor)
    }

    /// Takes back a start that the life has not found, and has the body dropped, if there was one.
    pub(crate) fn withdraw(&mut self) {
        self.raze |= self.supervisor.is_some();
        self.rise = None;
    }

    /// Takes a kill, which concerns the body. Without a supervisor, it waits for the first start.
    pub(crate) fn take_raze(&mut self) -> bool {
        self.supervisor.is_some() && std::mem::take(&mut self.raze)
    }

    pub(crate) fn notice(&self, kind: NoticeKind) -> Option<(Peer, Notice)> {
        let (peer, index) = self.supervisor.as_ref()?;
        Some((peer.clone(), Notice { index: *index, kind }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kin::peer::Far;
    use std::sync::Arc;

    fn supervisor() -> (Peer, usize) {
        (Arc::new(Far(false)), 0)
    }

    #[test]
    fn a_kill_concerns_the_body_or_the_first_start() {
        let mut post = Post { raze: true, ..Post::default() };
        assert!(!post.take_raze(), "there is no start to come");
        assert!(post.rise(1, supervisor()).is_none());
        assert!(post.take_raze() && !post.take_raze());
        post.raze = true;
        assert!(post.rise(2, supervisor()).is_some());
        assert!(!post.take_raze(), "it was the body of the first start");
        post.raze = true;
        assert!(post.take_raze(), "it comes after the start");
    }

    #[test]
    fn a_start_that_is_taken_back_does_not_take_place() {
        let mut post = Post::default();
        post.withdraw();
        assert!(!post.raze, "there is no body");
        post.rise(1, supervisor());
        post.withdraw();
        assert!(post.rise.is_none() && post.take_raze());
    }
}
