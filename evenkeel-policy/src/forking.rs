//! How long workers wait in fork-join: a thief for an answer to its request, an owner for a stolen
//! job.

/// How long a thief waits for an answer to its request before it seizes the jobs. An owner that
/// forks answers at its next fork; an owner inside a long leaf does not answer. A third of the cost
/// of the heavy fence that a seizure needs. An estimate; no benchmark sets it.
pub const ANSWER: u64 = 3_000;

/// How long a worker that waits for a stolen job stays on its core: twice the time of a sleep and a
/// wake-up, as in [`super::searching::SEARCH`].
pub const STAY: u64 = super::searching::SEARCH;

/// The shortest and the longest nap of a worker that waits for a stolen job. Between naps it looks
/// for something to run. The lookout naps as long while workers are inside forks. Estimates: some
/// ten and a hundred times the cost of a sleep; no benchmark sets them.
pub const NAP: (u64, u64) = (100_000, 1_000_000);

/// How long a worker must have been back from fork-join before the relief leaves the tasks to it:
/// as long as a search, so that the relief does not count on a worker that leaves again at once. An
/// estimate; no benchmark sets it.
pub const BACK: u64 = super::searching::SEARCH;

/// How long a worker waits with nothing to run before a spare runs errands in its place: as long as
/// a sleep and a wake-up. Short waits beside many calls then do not wake a thread each. An
/// estimate; no benchmark sets it.
pub const SPARE: u64 = super::searching::SEARCH / 2;

/// How long errands lie beside a waiting worker before a spare runs them, if another worker may
/// still take them. Longer than all but few polls, and no longer than a search. An estimate; no
/// benchmark sets it.
pub const LAIN: u64 = super::searching::SEARCH;

/// Returns whether a worker that has waited for `waited` has a spare run the errands that have lain
/// for `lain`. If all workers are away, none takes the errands soon.
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

/// Returns whether the relief leaves its tasks to the workers when one has been back for `back`.
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

/// Returns whether a task from outside is left to the relief: its worker is `away`, inside
/// fork-join or stuck, and no worker sleeps that could take the task at less cost.
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

/// Returns whether the relief takes tasks of workers that are away: if all are away, or if it has
/// been called and no worker sleeps that could take them at less cost. A relief that is awake for
/// another reason leaves the tasks of others alone.
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

/// Returns whether a thief seizes the jobs after it has waited for an answer for `waited`.
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

/// Returns whether a worker sleeps after it has waited for `waited` with nothing to run.
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

/// Returns the length of the nap after one of length `slept`.
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
