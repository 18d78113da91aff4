//! The word of [`Idle`](super::Idle): the numbers of workers that sleep, search and are away, and
//! whether the lookout makes rounds.

/// One searcher in `word`.
pub(super) const SEARCHER: u64 = 1;
/// One worker that is away or stuck, in `word`. In a runtime with a
/// [relief](crate::scheduler::relief), the field starts so high that counting all workers in
/// carries into `ALL_AWAY`.
pub(super) const AWAY: u64 = 1 << 16;
/// All workers are away or stuck.
pub(super) const ALL_AWAY: u64 = 1 << 32;
/// The lookout makes no rounds, and has to be called.
pub(super) const UNWATCHED: u64 = 1 << 33;
/// One sleeper in `word`.
pub(super) const SLEEPER: u64 = 1 << 34;

/// The numbers of sleepers and searchers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) sleeping: usize,
    pub(crate) searching: usize,
    /// Whether all workers are away or stuck, so that a relief has to be called. Never in a runtime
    /// without one.
    pub(crate) all_away: bool,
    /// Whether no thread looks at the workers: none sleeps, and the
    /// [lookout](crate::scheduler::lookout) rests. Never in a runtime without one.
    pub(crate) is_unwatched: bool,
}

impl Counts {
    pub(super) fn of(word: u64) -> Self {
        let sleeping = (word / SLEEPER) as usize;
        Self {
            sleeping,
            searching: (word % AWAY) as usize,
            all_away: word & ALL_AWAY != 0,
            is_unwatched: sleeping == 0 && word & UNWATCHED != 0,
        }
    }
}
