//! Which children are started anew when one has ended.

use std::ops::Range;

/// What becomes of the other children of a supervisor when one is restarted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Nothing: the children do not depend on each other.
    #[default]
    OneForOne,
    /// All are stopped and started anew: each depends on each.
    OneForAll,
    /// Those that were started after it are stopped and started anew: each depends on those before
    /// it.
    RestForOne,
}

/// After which ends a child is started anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restart {
    /// After each.
    #[default]
    Permanent,
    /// After those that are not in order: a failure or a kill.
    Transient,
    /// After none. Nor is it started anew with its siblings.
    Temporary,
}

impl Restart {
    /// Whether a child of this kind is started anew after such an end of its own.
    pub(crate) fn is_due(self, normal: bool) -> bool {
        match self {
            Self::Permanent => true,
            Self::Transient => !normal,
            Self::Temporary => false,
        }
    }

    /// Whether it is started anew after it has been stopped for the sake of a sibling.
    pub(crate) fn is_due_with_others(self) -> bool {
        self != Self::Temporary
    }
}

impl Strategy {
    /// The children that are stopped for the sake of the one that is restarted, and that one, of so
    /// many.
    pub(crate) fn affected(self, index: usize, children: usize) -> Range<usize> {
        match self {
            Self::OneForOne => index..index + 1,
            Self::OneForAll => 0..children,
            Self::RestForOne => index..children,
        }
    }

    /// Whether children wait for those before them when they start.
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
