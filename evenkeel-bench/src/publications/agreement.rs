//! How many statements of a publication agree with what is found.

use std::ops::Add;

/// Numbers of statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreement {
    pub(crate) agree: usize,
    /// Judged in several sizes, of which some agree.
    pub(crate) in_part: usize,
    pub(crate) differ: usize,
    /// Each with a reason beside it.
    pub(crate) not_judged: usize,
}

impl Agreement {
    pub(crate) fn all(&self) -> usize {
        self.agree + self.in_part + self.differ + self.not_judged
    }

    /// Counts statements that are judged in several sizes, each once. It agrees if it does in all,
    /// and differs if it does so in some and agrees in none. One without a size is left out.
    pub(crate) fn by_sizes(verdicts: impl IntoIterator<Item = Vec<Option<bool>>>) -> Self {
        let mut all = Self::default();
        for sizes in verdicts.into_iter().filter(|sizes| !sizes.is_empty()) {
            let has = |verdict| sizes.contains(&verdict);
            *match (has(Some(true)), has(Some(false)), has(None)) {
                (true, false, false) => &mut all.agree,
                (true, ..) => &mut all.in_part,
                (false, true, _) => &mut all.differ,
                (false, false, _) => &mut all.not_judged,
            } += 1;
        }
        all
    }
}

/// Whether each statement agrees; `None` if it is not judged.
impl FromIterator<Option<bool>> for Agreement {
    fn from_iter<I: IntoIterator<Item = Option<bool>>>(verdicts: I) -> Self {
        let mut all = Self::default();
        for verdict in verdicts {
            *match verdict {
                Some(true) => &mut all.agree,
                Some(false) => &mut all.differ,
                None => &mut all.not_judged,
            } += 1;
        }
        all
    }
}

impl Add for Agreement {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            agree: self.agree + other.agree,
            in_part: self.in_part + other.in_part,
            differ: self.differ + other.differ,
            not_judged: self.not_judged + other.not_judged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_is_counted_once() {
        let some: Agreement = [Some(true), None, Some(false), Some(true)].into_iter().collect();
        assert_eq!(some, Agreement { agree: 2, in_part: 0, differ: 1, not_judged: 1 });
        assert_eq!((some + some).all(), 8);
    }

    #[test]
    fn a_statement_about_several_sizes_is_counted_once() {
        let of = |verdicts: &[Option<bool>]| Agreement::by_sizes([verdicts.to_vec()]);
        let (yes, no) = (Some(true), Some(false));
        let one = Agreement::default();
        assert_eq!(of(&[yes, yes, yes]), Agreement { agree: 1, ..one });
        assert_eq!(of(&[yes, no, yes]), Agreement { in_part: 1, ..one });
        assert_eq!(of(&[yes, None]), Agreement { in_part: 1, ..one });
        assert_eq!(of(&[no, None]), Agreement { differ: 1, ..one });
        assert_eq!(of(&[None]), Agreement { not_judged: 1, ..one });
        assert_eq!(of(&[]), one);
    }
}
