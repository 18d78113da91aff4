//! How many statements of a publication agree with what is found.

use std::ops::Add;

/// Numbers of statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreement {
    pub(crate) agree: usize,
    pub(crate) differ: usize,
    /// Each with a reason beside it.
    pub(crate) not_judged: usize,
}

impl Agreement {
    pub(crate) fn all(&self) -> usize {
        self.agree + self.differ + self.not_judged
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
        assert_eq!(some, Agreement { agree: 2, differ: 1, not_judged: 1 });
        assert_eq!((some + some).all(), 8);
    }
}
