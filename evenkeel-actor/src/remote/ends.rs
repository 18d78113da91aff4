//! How the ends of actors are written for other nodes.

use crate::node::NodeId;
use crate::node::wire::{End, EndBy, EndKind};
use crate::words::exit::{ExitReason, Failure};
use crate::words::id::ActorId;
use evenkeel::internal::contain;
use std::sync::Arc;

/// An end, as it is written. Made before any lock is taken: a user's code describes a failure.
pub(super) struct Words {
    by: EndBy,
    kind: EndKind,
    node: NodeId,
    detail: String,
}

impl Words {
    pub(super) fn of(mut reason: &ExitReason) -> Self {
        let mut by = EndBy::Itself;
        while let ExitReason::Linked { reason: first, .. } = reason {
            (by, reason) = (EndBy::Link, first);
        }
        let (kind, node, detail) = match reason {
            ExitReason::Normal => (EndKind::Normal, None, String::new()),
            ExitReason::Unreferenced => (EndKind::Stopped, None, String::new()),
            ExitReason::Killed | ExitReason::Linked { .. } => {
                (EndKind::Killed, None, String::new())
            }
            ExitReason::Panicked(words) => (EndKind::Panicked, None, words.to_string()),
            ExitReason::Failed(failure) => {
                let words = contain(|| failure.to_string()).unwrap_or_default();
                (EndKind::Error, None, words)
            }
            ExitReason::NodeDown(node) => (EndKind::NodeDown, Some(*node), String::new()),
            ExitReason::Forgotten => (EndKind::NoSuchActor, None, String::new()),
            ExitReason::TooManyTies(node) => (EndKind::TooManyTies, Some(*node), String::new()),
        };
        Self { by, kind, node: node.unwrap_or_default(), detail }
    }

    /// The end with the detail that `short` makes of its text, short enough to be sent.
    pub(super) fn end<'a>(&'a self, short: impl FnOnce(&'a str) -> &'a str) -> End<'a> {
        let detail = short(&self.detail);
        End { by: self.by, kind: self.kind, node: self.node, detail }
    }
}

/// The reason of an end that another node has sent.
pub(super) fn reason(end: &End<'_>) -> ExitReason {
    let reason = match end.kind {
        EndKind::Normal => ExitReason::Normal,
        EndKind::Stopped => ExitReason::Unreferenced,
        EndKind::Killed => ExitReason::Killed,
        EndKind::Panicked => ExitReason::Panicked(end.detail.into()),
        EndKind::Error => ExitReason::Failed(Arc::new(Failure::message(end.detail))),
        EndKind::NoSuchActor => ExitReason::Forgotten,
        EndKind::NodeDown => ExitReason::NodeDown(end.node),
        EndKind::TooManyTies => ExitReason::TooManyTies(end.node),
    };
    match end.by {
        EndBy::Itself => reason,
        // Other nodes may have no name for the first actor of the chain: this node knows nothing
        // but its end.
        EndBy::Link => ExitReason::Linked { actor: ActorId::fresh(), reason: Arc::new(reason) },
    }
}

#[cfg(test)]
mod tests {
    use super::{Words, reason};
    use crate::node::NodeId;
    use crate::node::wire::LONGEST_DETAIL;
    use crate::words::exit::{ExitReason, Failure};
    use crate::words::id::ActorId;
    use std::error::Error;
    use std::fmt;
    use std::sync::Arc;

    fn cut(words: &str) -> &str {
        crate::remote::inner::short(words, LONGEST_DETAIL)
    }

    #[test]
    fn a_reason_is_the_same_on_the_other_node() {
        let node = NodeId::new(4);
        let own = [
            ExitReason::Normal,
            ExitReason::Unreferenced,
            ExitReason::Killed,
            ExitReason::Panicked("paper jam".into()),
            ExitReason::Failed(Arc::new(Failure::message("no more ink"))),
            ExitReason::NodeDown(node),
            ExitReason::Forgotten,
            ExitReason::TooManyTies(node),
        ];
        for own in own {
            assert_eq!(format!("{:?}", reason(&Words::of(&own).end(cut))), format!("{own:?}"));
            let linked = own.for_linked(ActorId::fresh());
            let ExitReason::Linked { reason: first, .. } = reason(&Words::of(&linked).end(cut))
            else {
                panic!("{linked}");
            };
            assert_eq!(format!("{first:?}"), format!("{own:?}"));
        }
    }

    #[test]
    fn long_words_are_cut_and_those_that_panic_are_none() {
        let long = ExitReason::Panicked("ä".repeat(1_000).into());
        let ExitReason::Panicked(words) = reason(&Words::of(&long).end(cut)) else {
            panic!("{long}")
        };
        assert_eq!(*words, *"ä".repeat(512));

        #[derive(Debug)]
        struct Mute;
        impl Error for Mute {}
        impl fmt::Display for Mute {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                panic!("no words");
            }
        }
        let mute = ExitReason::Failed(Arc::new(Failure::from(Mute)));
        assert_eq!(reason(&Words::of(&mute).end(cut)).to_string(), "failed: ");
    }
}
