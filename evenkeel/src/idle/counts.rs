//! The word of [`Idle`](super::Idle): the numbers of workers that sleep, search and are away.

/// One searcher in `word`.
pub(super) const SEARCHER: u64 = 1;
/// One worker that is away, inside fork-join, in `word`. In a runtime with a
/// [relief](crate::scheduler::relief), the field starts so high that counting all workers in
/// carries into `ALL_AWAY`.
pub(super) const AWAY: u64 = 1 << 16;
/// All workers are inside fork-join.
pub(super) const ALL_AWAY: u64 = 1 << 32;
/// One sleeper in `word`.
pub(super) const SLEEPER: u64 = 1 << 33;

/// The numbers of sleepers and searchers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) sleeping: usize,
    pub(crate) searching: usize,
    /// Whether all workers are inside fork-join, so that the relief has to be called. Never in a
    /// runtime without one.
    pub(crate) all_away: bool,
}

impl Counts {
    pub(super) fn of(word: u64) -> Self {
        Self {
            sleeping: (word / SLEEPER) as usize,
            searching: (word % AWAY) as usize,
            all_away: word & ALL_AWAY != 0,
        }
    }
}
