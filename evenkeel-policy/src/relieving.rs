//! Which workers are stuck inside a poll, and how often the lookout looks at them.

/// How long a worker is inside one poll before it counts as stuck, if the poll does not fork.
/// Longer than all but few polls, and short beside a time slice of the operating system. An
/// estimate; no benchmark sets it.
pub const STUCK: u64 = 1_000_000;

/// The same for a poll that forks: it occupies other workers too. No longer than the lookout's
/// first nap between two looks. An estimate; no benchmark sets it.
pub const STUCK_IN_FORKS: u64 = super::forking::NAP.0;

/// The longest nap of the lookout between two looks, while tasks are polled. A choice: with two of
/// them before a relief comes, it keeps tasks waiting for some 8 ms at most, and 250 looks per
/// second cost some thousandths of a core, and a tenth of a thousandth for each worker.
pub const LONGEST_NAP: u64 = 4_000_000;

/// A nap that lasts longer than it should by this much says that the process was stopped, or had no
/// core: polls that seem long since then may not be. And for how much longer than inside a poll a
/// worker is between two polls before it counts as stuck: there it searches, as a rule, or waits
/// for a core. An estimate: five ticks of a system's scheduler; no benchmark sets it.
pub const LATE: u64 = 20_000_000;

/// How long the lookout expects another stuck worker once it has found one: polls that block or
/// compute for long come in groups. A choice: a stall for each hundred rounds pays for them.
pub const ALERT: u64 = 100 * STUCK;

/// How long errands lie, of which no spare takes any, before the lookout looks which errands are
/// asleep: they may wait for one that lies there. Calls that wait for each other are rare. An
/// estimate; no benchmark sets it.
pub const ERRANDS_LIE: u64 = 10 * STUCK;

/// How much a worker has to compute inside a poll, while the lookout looks, to count as stuck: one
/// that waits for a core computes nothing. An estimate; no benchmark sets it.
pub const COMPUTES: u64 = STUCK / 4;

// A thread that computes has computed this much at the second look.
const _: () = assert!(COMPUTES <= STUCK);

/// How long the timers of workers may be overdue before the lookout, which rests, looks whether the
/// workers are stuck. A choice: most workers have fired them by then.
pub const GRACE: u64 = LONGEST_NAP;

/// What the lookout sees of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// For how long the worker has been inside the same poll at least.
    pub lasts: u64,
    /// Whether that poll forks.
    pub forks: bool,
    /// The state of its thread, if the system tells it.
    pub thread: Option<Thread>,
}

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thread {
    /// It runs or waits for a core, and has computed for this long since the lookout first saw it
    /// inside the poll.
    Ready(u64),
    /// It waits inside a system call.
    Asleep,
    /// A signal or a debugger has stopped it.
    Stopped,
}

/// Returns whether a worker has been inside one poll for so long that the state of its thread
/// decides whether it is stuck.
///
/// # Examples
/// ```
/// use evenkeel_policy::relieving::{STUCK, STUCK_IN_FORKS, Sight, lasts};
/// let short = Sight { lasts: STUCK_IN_FORKS, ..Sight::default() };
/// assert!(!lasts(short));
/// assert!(lasts(Sight { forks: true, ..short }));
/// assert!(lasts(Sight { lasts: STUCK, ..short }));
/// ```
#[inline]
#[must_use]
pub fn lasts(sight: Sight) -> bool {
    sight.lasts >= if sight.forks { STUCK_IN_FORKS } else { STUCK }
}

/// Returns whether a worker is stuck.
///
/// # Examples
/// ```
/// use evenkeel_policy::relieving::{COMPUTES, STUCK, Sight, Thread, is_stuck};
/// let long = Sight { lasts: STUCK, ..Sight::default() };
/// assert!(is_stuck(long), "nothing is known of its thread");
/// assert!(is_stuck(Sight { thread: Some(Thread::Asleep), ..long }));
/// assert!(is_stuck(Sight { thread: Some(Thread::Ready(COMPUTES)), ..long }));
/// assert!(!is_stuck(Sight { thread: Some(Thread::Ready(0)), ..long }), "it waits for a core");
/// assert!(!is_stuck(Sight { thread: Some(Thread::Stopped), ..long }));
/// assert!(!is_stuck(Sight { lasts: STUCK / 2, thread: Some(Thread::Asleep), ..long }));
/// ```
#[inline]
#[must_use]
pub fn is_stuck(sight: Sight) -> bool {
    let is_inside = match sight.thread {
        // The threads that take part of the poll say that it is a long one.
        _ if sight.forks => true,
        None | Some(Thread::Asleep) => true,
        Some(Thread::Ready(computed)) => computed >= COMPUTES,
        Some(Thread::Stopped) => false,
    };
    lasts(sight) && is_inside
}

/// Returns whether a worker is suspect that has taken `departures` tasks in a nap of length
/// `slept`: whether its polls are so long that it may be inside one that does not end.
///
/// # Examples
/// ```
/// use evenkeel_policy::relieving::{STUCK, is_suspect};
/// assert!(is_suspect(1, 4 * STUCK));
/// assert!(!is_suspect(100, 4 * STUCK));
/// assert!(!is_suspect(3, STUCK));
/// ```
#[inline]
#[must_use]
pub fn is_suspect(departures: u64, slept: u64) -> bool {
    departures.saturating_mul(STUCK / 2) < slept
}

/// What a look has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// No worker polls, or all of them poll short polls.
    Nothing,
    /// A worker may be stuck.
    Suspect,
    /// A worker is inside a poll that forks.
    Fork,
}

/// Returns the lookout's next nap, after one of length `slept`.
///
/// # Examples
/// ```
/// use evenkeel_policy::forking::NAP;
/// use evenkeel_policy::relieving::{Found, LONGEST_NAP, STUCK, next_nap};
/// assert_eq!(next_nap(Found::Fork, 0), NAP.0);
/// assert_eq!(next_nap(Found::Fork, LONGEST_NAP), NAP.1);
/// assert_eq!(next_nap(Found::Suspect, LONGEST_NAP), STUCK);
/// assert_eq!(next_nap(Found::Nothing, STUCK), 2 * STUCK);
/// assert_eq!(next_nap(Found::Nothing, LONGEST_NAP), LONGEST_NAP);
/// ```
#[inline]
#[must_use]
pub fn next_nap(found: Found, slept: u64) -> u64 {
    match found {
        Found::Nothing => slept.saturating_mul(2).clamp(STUCK, LONGEST_NAP),
        Found::Suspect => STUCK,
        Found::Fork => super::forking::next_nap(slept),
    }
}
