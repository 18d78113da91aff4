//! Which children a supervisor restarts when one has ended.

use std::ops::Range;

/// The effect of a child's restart on the other children of its supervisor.
///
/// # Examples
/// The second of three children fails:
/// ```
/// use evenkeel_actor::{Actor, Child, Context, Handled, Strategy, Supervisor, kit};
///
/// /// Panics at its first message.
/// struct Stage;
///
/// impl Actor for Stage {
///     type Message = ();
///
///     async fn handle(&mut self, _message: (), _context: &mut Context<Self>) -> Handled {
///         panic!("on purpose")
///     }
/// }
///
/// kit::run(1, |kit| async move {
///     kit.system().on_failure(|_| ());
///     for (strategy, restarts) in [
///         (Strategy::OneForOne, [0, 1, 0]),
///         (Strategy::OneForAll, [1, 1, 1]),
///         (Strategy::RestForOne, [0, 1, 1]),
///     ] {
///         let mut tree = Supervisor::with_strategy(strategy);
///         let names = ["read", "parse", "write"];
///         let stages = names.map(|name| tree.child(Child::new(name, || Stage)));
///         let _tree = tree.spawn();
///         kit.settle().await;
///         stages[1].send(()).await.unwrap();
///         kit.settle().await;
///         assert_eq!(stages.map(|stage| stage.metrics().restarts), restarts);
///     }
/// });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// None: the children do not depend on each other.
    #[default]
    OneForOne,
    /// All are stopped and restarted: each depends on each.
    OneForAll,
    /// The children that were started after it are stopped and restarted: each depends on those
    /// before it.
    RestForOne,
}

/// After which ends a supervisor restarts a child.
///
/// # Examples
/// ```
/// use evenkeel_actor::{Actor, Child, Context, Handled, Restart, Supervisor, kit};
///
/// struct Job;
///
/// impl Actor for Job {
///     type Message = ();
///
///     async fn handle(&mut self, _end: (), context: &mut Context<Self>) -> Handled {
///         context.stop();
///         Ok(())
///     }
/// }
///
/// kit::run(1, |kit| async move {
///     let mut tree = Supervisor::one_for_one();
///     let kinds = [Restart::Permanent, Restart::Transient, Restart::Temporary];
///     let jobs = kinds.map(|kind| tree.child(Child::new("job", || Job).restart(kind)));
///     let _tree = tree.spawn();
///     for job in &jobs {
///         job.send(()).await.unwrap();
///     }
///     kit.settle().await;
///     // An end in order: only the permanent child starts again.
///     assert_eq!(jobs.map(|job| job.is_stopped()), [false, true, true]);
/// });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restart {
    /// After each end.
    #[default]
    Permanent,
    /// After an abnormal end: a failure or a kill.
    Transient,
    /// Never, not even with its siblings.
    Temporary,
}

impl Restart {
    /// Returns whether a child of this kind is restarted after an end of its own, normal or not.
    pub(crate) fn is_due(self, normal: bool) -> bool {
        match self {
            Self::Permanent => true,
            Self::Transient => !normal,
            Self::Temporary => false,
        }
    }

    /// Returns whether a child of this kind is restarted after it was stopped for a sibling.
    pub(crate) fn is_due_with_others(self) -> bool {
        self != Self::Temporary
    }
}

impl Strategy {
    /// Returns which of `children` children are stopped for the restart of the child `index`, with
    /// that child.
    pub(crate) fn affected(self, index: usize, children: usize) -> Range<usize> {
        match self {
            Self::OneForOne => index..index + 1,
            Self::OneForAll => 0..children,
            Self::RestForOne => index..children,
        }
    }

    /// Returns whether each child waits at its start for those before it.
    pub(crate) fn is_ordered(self) -> bool {
        self != Self::OneForOne
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_after_each_end() {
        let table = [
            (Restart::Permanent, true, true, true),
            (Restart::Transient, false, true, true),
            (Restart::Temporary, false, false, false),
        ];
        for (kind, after_normal, after_failure, with_others) in table {
            assert_eq!(kind.is_due(true), after_normal, "{kind:?}");
            assert_eq!(kind.is_due(false), after_failure, "{kind:?}");
            assert_eq!(kind.is_due_with_others(), with_others, "{kind:?}");
        }
    }

    #[test]
    fn each_strategy_for_each_child() {
        for children in 1..6 {
            for index in 0..children {
                assert_eq!(Strategy::OneForOne.affected(index, children), index..index + 1);
                assert_eq!(Strategy::OneForAll.affected(index, children), 0..children);
                assert_eq!(Strategy::RestForOne.affected(index, children), index..children);
            }
        }
    }
}
