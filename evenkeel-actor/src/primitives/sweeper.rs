//! Sweeps of lists, whose cost is spread over the entries that are added.

/// Lists shorter than this are not swept. A choice; no benchmark sets it.
pub(crate) const FIRST_SWEEP: usize = 64;

/// Says when a list is searched for entries that no task needs any more: when the list has doubled,
/// and at its limit after each sixteenth of that many further attempts. So a search costs each
/// attempt a few steps.
#[derive(Debug)]
pub(crate) struct Sweeper {
    at: usize,
    since: usize,
}

impl Default for Sweeper {
    fn default() -> Self {
        Self::new()
    }
}

impl Sweeper {
    pub(crate) const fn new() -> Self {
        Self { at: FIRST_SWEEP, since: 0 }
    }

    /// Whether a list with `len` entries is to be swept before one more is added; `is_full` if it
    /// is at its limit `most`.
    pub(crate) fn is_due(&mut self, len: usize, is_full: bool, most: usize) -> bool {
        self.since += 1;
        let due = len >= self.at || (is_full && self.since >= most / 16);
        if due {
            self.since = 0;
        }
        due
    }

    /// Notes that a sweep has left `left` entries.
    pub(crate) fn swept(&mut self, left: usize) {
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
