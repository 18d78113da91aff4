//! How many processors look for work at once, and for how long.
//!
//! The bound is that of Go and Tokio: at most half of the awake processors search, and a searcher
//! that finds work wakes the next one, so that the number of awake processors follows the load
//! without a crowd at every queue. Two may always: on a machine of two, the second would else fall asleep at once between two short
//! parallel loops, and each loop would wait for it to wake.

/// How long a processor searches before it sleeps: twice the time of a sleep and a wake-up through
/// the kernel, which is what searching in vain may cost (the ski-rental bound). Longer than
/// [`super::stealing::PATIENCE`], so that a searcher never sleeps beside a task that waits. An estimate from the
/// cost of a sleep and a wake-up, some 25 µs; no benchmark sets it.
pub const SEARCH: u64 = 50_000;

/// How long a processor that searches keeps its core to itself. Set by the comparison of `evenkeel-rayon` on two cores: a broadcast from a thread
/// beside two workers takes 4.8 µs with this, 8.7 with 5,000, and a short loop from there (`chunks`) 30 and 34 µs.
pub const SPIN: u64 = 1_000;

/// Whether a processor that has searched for so long offers its core to other threads between two looks.
///
/// # Examples
/// ```
/// use evenkeel::policy::searching::{SPIN, yields};
/// assert!(!yields(SPIN - 1));
/// assert!(yields(SPIN));
/// ```
#[must_use]
pub fn yields(waited: u64) -> bool {
    waited >= SPIN
}

/// Whether a thread from outside stays awake while it waits for a runtime that is `awake` with so many of its workers, while so many are
/// `sleeping`, on a machine of so many `cores`: as long as a processor [searches](SEARCH), giving its core away all the time, but without a sleep from
/// which another thread would have to wake it. Not where a sleeper that is woken might find no free core beside it: the operating system
/// leaves that one behind a worker for milliseconds, with a core free soon after (strings' `par_sort` in the comparison of `evenkeel-rayon`).
///
/// # Examples
/// ```
/// use evenkeel::policy::searching::may_wait_awake;
/// assert!(may_wait_awake(2, 0, 2), "nobody is left to be woken");
/// assert!(!may_wait_awake(1, 1, 2));
/// assert!(may_wait_awake(1, 1, 3));
/// assert!(may_wait_awake(0, 2, 2), "the first to be woken has a core");
/// ```
#[must_use]
pub fn may_wait_awake(awake: usize, sleeping: usize, cores: usize) -> bool {
    sleeping == 0 || awake + 2 <= cores
}

/// Whether one more processor may search.
///
/// # Examples
/// ```
/// use evenkeel::policy::searching::may_search;
/// assert!(may_search(0, 1));
/// assert!(may_search(0, 2));
/// assert!(may_search(1, 2));
/// assert!(!may_search(2, 4));
/// assert!(may_search(1, 4));
/// ```
#[must_use]
pub fn may_search(searching: usize, awake: usize) -> bool {
    searching == 0 || searching < awake.min(2) || 2 * (searching + 1) <= awake
}
