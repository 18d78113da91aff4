//! When a worker that waits for a stolen job, or that looks for one, gives up waiting for its
//! owner.

/// How long a request for jobs waits for an answer before the jobs are seized: an owner that forks
/// at all answers within its next fork; one inside a long leaf does not. A third of what the heavy
/// fence of the seizure costs. An estimate; no benchmark sets it.
pub const ANSWER: u64 = 3_000;

/// How long a worker that waits for a stolen job stays on its core: twice the time of a sleep and a
/// wake-up, as in [`super::searching::SEARCH`].
pub const STAY: u64 = super::searching::SEARCH;

/// The shortest and the longest nap of a worker that waits for a stolen job: between them it looks
/// whether there is something to run. The same of the relief while it looks for stuck workers.
/// Estimates: some ten and a hundred times what a sleep costs; no benchmark sets them.
pub const NAP: (u64, u64) = (100_000, 1_000_000);

/// How long a worker has to be inside one poll that forks before it is stuck, and the relief counts
/// it as away: longer than all but few polls, and no longer than the relief's first nap between two
/// looks. An estimate; no benchmark sets it.
pub const STUCK: u64 = NAP.0;

/// How long a worker has to be back from fork-join before the relief leaves the tasks to it: as
/// long as a search, so that one that comes back only to go away again is not counted on. An
/// estimate; no benchmark sets it.
pub const BACK: u64 = super::searching::SEARCH;

/// How long a worker waits with nothing to run before a spare runs errands in its stead: as long as
/// a sleep and a wake-up take, so that many short waits beside many calls do not wake a thread
/// each. An estimate; no benchmark sets it.
pub const SPARE: u64 = super::searching::SEARCH / 2;

/// How long errands lie beside a worker that waits before a spare runs them, if another worker may
/// still come for them: longer than all but few polls, and no longer than a search. An estimate; no
/// benchmark sets it.
pub const LAIN: u64 = super::searching::SEARCH;

/// Whether a worker that has waited for so long has a spare run the errands that have been lying
/// for so long. If all workers are away, none comes for them soon.
///
/// # Examples
/// ```
/// use evenkeel_policy::forking::{LAIN, SPARE, send_spare};
/// assert!(send_spare(SPARE, 0, true));
/// assert!(!send_spare(1_000, 1_000, true));
/// assert!(!send_spare(LAIN, 1_000, false));
/// assert!(send_spare(LAIN, LAIN, false));
/// ```
#[inline]
#[must_use]
pub fn send_spare(waited: u64, lain: u64, all_away: bool) -> bool {
    waited >= SPARE && (all_away || lain >= LAIN)
}

/// Whether a worker is stuck that has been seen inside the same poll, which forks, for so long.
///
/// # Examples
/// ```
/// use evenkeel_policy::forking;
/// assert!(!forking::is_stuck(20_000));
/// assert!(forking::is_stuck(forking::STUCK));
/// ```
#[inline]
#[must_use]
pub fn is_stuck(lasts: u64) -> bool {
    lasts >= STUCK
}

/// Whether the relief leaves its tasks to the workers, when one has been back for so long.
///
/// # Examples
/// ```
/// use evenkeel_policy::forking;
/// assert!(!forking::hand_back(10_000));
/// assert!(forking::hand_back(forking::BACK));
/// ```
#[inline]
#[must_use]
pub fn hand_back(back: u64) -> bool {
    back >= BACK
}

/// Whether a task from outside is left to the relief: if the worker that it is meant for is `away`,
/// inside fork-join, and none sleeps who could come for it at less cost.
///
/// # Examples
/// ```
/// use evenkeel_policy::forking::relieve;
/// assert!(relieve(true, 0));
/// assert!(!relieve(true, 1));
/// assert!(!relieve(false, 0));
/// ```
#[inline]
#[must_use]
pub fn relieve(away: bool, sleeping: usize) -> bool {
    away && sleeping == 0
}

/// Whether the relief takes tasks of workers that are away: if all are away, or if it has been
/// called, and none sleeps who could come for them at less cost. One that has only looked for stuck
/// workers leaves the tasks of others alone.
///
/// # Examples
/// ```
/// use evenkeel_policy::forking::takes_over;
/// assert!(takes_over(true, false, 0));
/// assert!(takes_over(false, true, 0));
/// assert!(!takes_over(false, true, 1));
/// assert!(!takes_over(false, false, 0));
/// ```
#[inline]
#[must_use]
pub fn takes_over(all_away: bool, called: bool, sleeping: usize) -> bool {
    all_away || (called && sleeping == 0)
}

/// Whether to seize what has been asked for, after so long.
///
/// # Examples
/// ```
/// use evenkeel_policy::forking;
/// assert!(!forking::seize(1_000));
/// assert!(forking::seize(forking::ANSWER));
/// ```
#[inline]
#[must_use]
pub fn seize(waited: u64) -> bool {
    waited >= ANSWER
}

/// Whether a worker that has waited for so long, with nothing to run, sleeps.
///
/// # Examples
/// ```
/// use evenkeel_policy::forking;
/// assert!(!forking::sleep(10_000));
/// assert!(forking::sleep(forking::STAY));
/// ```
#[inline]
#[must_use]
pub fn sleep(waited: u64) -> bool {
    waited >= STAY
}

/// The next nap after one of length `slept`.
///
/// # Examples
/// ```
/// use evenkeel_policy::forking::{NAP, next_nap};
/// assert_eq!(next_nap(0), NAP.0);
/// assert_eq!(next_nap(NAP.1), NAP.1);
/// ```
#[inline]
#[must_use]
pub fn next_nap(slept: u64) -> u64 {
    slept.saturating_mul(2).clamp(NAP.0, NAP.1)
}
