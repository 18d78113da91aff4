//! When a processor without work takes work from another, and how much changes hands.

use super::Look;
use super::waking::served;

/// The cost of running a task on another processor than the one that spawned it: its cache lines
/// move over, and its memory goes back. Tasks with less work than this are left to their owner,
/// unless they have waited for long. `evenkeel-bench run --bench spawn --procs 2` set it: 50 ns per
/// task that stays, 190 for one that moves; this is some three and a half times the difference.
pub const MIGRATION: u64 = 500;

/// A queue is worth a steal at once if its owner needs this long for it. A hand-over costs both
/// sides some 300 ns when the cores are near and 1 µs when they are far. An estimate: twice the
/// dearer; no benchmark sets it.
pub const LONG_BACKLOG: u64 = 2_000;

/// A task that has waited this long is worth a steal at once, however long the owner's polls last.
/// More than two batches, within which ages are not known; beyond that an estimate, which no
/// benchmark sets.
pub const OLD_HEAD: u64 = 10_000;

/// The same for tasks that are not worth the move: twice the time of a poll that spawns a thousand
/// such tasks, at the 50 ns of `evenkeel-bench run --bench spawn`. It is part of the bound that
/// `cargo test --test promise` asserts.
pub const OLD_SMALL_HEAD: u64 = 100_000;

/// How long a thief waits before it takes from a short and young queue. If the polls are short, the
/// owner has polled such tasks by then. A move would cost more than it gains, and would tear apart
/// tasks that wake each other. A lone young task is taken only from behind a [long
/// poll](is_in_long_poll): otherwise its owner would be without work instead. `evenkeel-bench run
/// --bench churn --tasks-per-proc 2` set it.
pub const PATIENCE: u64 = 20_000;

/// Decides whether a thief that has been without work for `waited` asks the processor `other`.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, stealing::steal};
/// let short =
///     Look { ready: 2, mean_poll: 30, mean_work: 10_000, switched: true, ..Look::default() };
/// assert!(!steal(&short, 0));
/// assert!(steal(&short, 50_000));
/// assert!(steal(&Look { ready: 200, ..short }, 0));
/// assert!(steal(&Look { head_age: 20_000, ..short }, 0));
/// let small = Look { ready: 1_000, mean_work: 30, ..short };
/// assert!(!steal(&small, 0));
/// assert!(steal(&small, 50_000));
/// assert!(steal(&Look { head_age: 200_000, ..small }, 0));
/// let together = Look { together: true, ..short };
/// assert!(!steal(&together, 50_000));
/// assert!(steal(&Look { head_age: 200_000, ..together }, 0));
/// assert!(steal(&Look { stalled: 1_500, ..short }, 0));
/// let requests = Look { ready: 20, mean_poll: 10_000, serves: true, contended: true, ..short };
/// assert!(!steal(&requests, 50_000));
/// assert!(steal(&Look { head_age: 500_000, ..requests }, 0));
/// assert!(steal(&Look { ready: 50, ..requests }, 0));
/// assert!(!steal(&Look { ready: 50, together: true, ..requests }, 50_000));
/// assert!(steal(&Look { mean_poll: 100_000, ..requests }, 0), "long ones");
/// ```
#[inline]
#[must_use]
pub fn steal(other: &Look, waited: u64) -> bool {
    if other.inbox && !other.switched && (!other.together || other.stalled >= answer_within(other))
    {
        return true;
    }
    if is_stranded(other) {
        return true;
    }
    if other.ready == 0 {
        return false;
    }
    if other.serves_quickly() {
        let served = served(other);
        return other.head_age >= served || (other.is_worth_moving() && other.backlog() >= served);
    }
    if waited >= PATIENCE && other.ready >= 2 && !other.together {
        return true;
    }
    if is_in_long_poll(other) {
        return true;
    }
    if !other.is_worth_moving() {
        return other.head_age >= OLD_SMALL_HEAD;
    }
    other.backlog() >= LONG_BACKLOG || other.head_age >= OLD_HEAD
}

/// Returns whether a processor with quick polls has not polled for several times as long as one
/// takes: its tasks wait for a poll of another kind. `evenkeel-bench run --bench transfer` shows
/// it.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, stealing::is_in_long_poll};
/// let quick = Look { ready: 1, mean_poll: 50, ..Look::default() };
/// assert!(!is_in_long_poll(&Look { stalled: 500, ..quick }));
/// assert!(is_in_long_poll(&Look { stalled: 1_500, ..quick }));
/// assert!(!is_in_long_poll(&Look { stalled: 1_500, mean_poll: 5_000, ..quick }));
/// ```
#[inline]
#[must_use]
pub fn is_in_long_poll(other: &Look) -> bool {
    other.mean_poll < super::together::QUICK && other.stalled >= answer_within(other)
}

/// How long a processor stands still before its visitors, tasks that have travelled to its objects,
/// are taken away. Several times as long as the system now and then gives its core to another
/// thread: after so short a pause the visitors would only travel there again. An estimate; no
/// benchmark sets it.
pub const STRANDED: u64 = 4_000_000;

/// Returns whether tasks that have travelled to an [object](crate::object) of the processor wait
/// for a worker that stands still.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, stealing::{STRANDED, is_stranded}};
/// let home = Look { visitors: 3, stalled: STRANDED, ..Look::default() };
/// assert!(is_stranded(&home));
/// assert!(!is_stranded(&Look { stalled: 5_000, ..home }));
/// assert!(!is_stranded(&Look { visitors: 0, ..home }));
/// ```
#[inline]
#[must_use]
pub fn is_stranded(other: &Look) -> bool {
    other.visitors > 0 && !other.switched && other.stalled >= STRANDED
}

/// Returns how many of the `ready` tasks of a processor a thief with `own` tasks takes without
/// asking: as many as the owner would [give](give()), or, if the owner is inside a poll that lasts
/// longer than an answer may, as many as the thief would [take](take()) by force.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, stealing::seize};
/// let busy = Look { mean_poll: 50, mean_work: 10_000, switched: true, ..Look::default() };
/// assert_eq!(seize(&busy, 100, 0), 50);
/// assert_eq!(seize(&Look { switched: false, stalled: 300, ..busy }, 100, 0), 50);
/// assert_eq!(seize(&Look { switched: false, stalled: 1_500, ..busy }, 100, 0), 100);
/// ```
#[inline]
#[must_use]
pub fn seize(other: &Look, ready: usize, own: usize) -> usize {
    if other.stalled >= answer_within(other) {
        take(ready, false)
    } else {
        give(ready, own, false, is_worth_half(other))
    }
}

/// Returns whether a processor stands still with old work. A thief then takes its queue by force
/// even if another thief has a request there: the other may stand still too, and then never
/// withdraws its request.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, stealing::is_stuck};
/// let stuck = Look { ready: 1, head_age: 200_000, ..Look::default() };
/// assert!(is_stuck(&stuck));
/// assert!(!is_stuck(&Look { switched: true, ..stuck }));
/// assert!(!is_stuck(&Look { head_age: 20_000, ..stuck }));
/// ```
#[inline]
#[must_use]
pub fn is_stuck(other: &Look) -> bool {
    !other.switched && other.ready > 0 && other.head_age >= OLD_SMALL_HEAD
}

/// The longest time that a thief waits for the answer to its request before it uses the heavy
/// fence, which takes 2 to 10 µs in a virtual machine and interrupts the owner. As long as a poll
/// that receives and answers a request, so that such an owner mostly answers first. With twice this
/// time, each thief of a chain of wake-ups waits for so long that a backlog lies beside a sleeper
/// for longer than `cargo test -p evenkeel-sim --test promise` allows.
pub const LONGEST_ANSWER: u64 = 5_000;

/// The shortest such time: an owner answers at its next push or pop, within 300 ns when the cores
/// are near and 1 µs when they are far. `evenkeel-bench run --bench transfer` set it.
pub const SHORTEST_ANSWER: u64 = 1_000;

/// Returns how long a thief waits for the answer of `other` before it uses the heavy fence: four of
/// its average polls, within bounds. An owner with quick polls that has not answered by then is
/// inside a long one.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, stealing::answer_within};
/// assert_eq!(answer_within(&Look { mean_poll: 30, ..Look::default() }), 1_000);
/// assert_eq!(answer_within(&Look { mean_poll: 500, ..Look::default() }), 2_000);
/// assert_eq!(answer_within(&Look { mean_poll: 50_000, ..Look::default() }), 5_000);
/// ```
#[inline]
#[must_use]
pub fn answer_within(other: &Look) -> u64 {
    other.mean_poll.saturating_mul(4).clamp(SHORTEST_ANSWER, LONGEST_ANSWER)
}

/// How long an owner goes on fencing its own operations after a thief has asked it for work or a
/// searcher was about. As long as a [search](super::searching::SEARCH), so that a thief that still
/// searches finds the fences in use. The price is 2 to 5 ns for each push and pop. Without them,
/// the thief of an owner inside a long poll pays 10 µs for the heavy fence, which interrupts every
/// core. `evenkeel-bench run --bench transfer` set it.
pub const FENCED: u64 = super::searching::SEARCH;

/// Returns how long a thief leaves a processor alone after `failures` vain attempts in a row to
/// take its work. The operating system has preempted the owner inside an operation, and no thief
/// can take the queue until the owner goes on. A heavy fence every few microseconds would only slow
/// the other threads down.
///
/// # Examples
/// ```
/// use evenkeel_policy::stealing::leave_alone;
/// assert_eq!(leave_alone(0), 0);
/// assert_eq!(leave_alone(1), 20_000);
/// assert_eq!(leave_alone(2), 40_000);
/// assert_eq!(leave_alone(60), 1_280_000);
/// ```
#[inline]
#[must_use]
pub fn leave_alone(failures: u32) -> u64 {
    match failures {
        0 => 0,
        // Up to about a time slice of the operating system.
        _ => 10_000 << failures.min(7),
    }
}

/// The most tasks that change hands between two queues at a time. Their owner waits while another
/// processor takes them, and the taker polls nothing meanwhile: moving half of a million tasks
/// takes milliseconds, after which both sides look as if they stood still. Moving this many takes
/// some 20 µs. What else a thief takes by force, such as an inbox, it takes whole. An estimate; no
/// benchmark sets it.
pub const MOST: usize = 2_048;

/// Returns how many of its `ready` tasks an owner gives to a thief that has `asker` tasks: half of
/// the difference, the older half. An owner that is `polling` a task gives even its only ready
/// task. Of tasks that are not `worth` the move it gives one: among many that end at once, a few
/// may go on, and those are worth finding. It gives at most [`MOST`].
///
/// # Examples
/// ```
/// use evenkeel_policy::stealing::{MOST, give};
/// assert_eq!(give(100, 0, false, true), 50);
/// assert_eq!(give(100, 60, false, true), 20);
/// assert_eq!(give(1, 0, false, true), 0);
/// assert_eq!(give(1, 0, true, true), 1);
/// assert_eq!(give(10, 20, true, true), 0);
/// assert_eq!(give(100, 0, false, false), 1);
/// assert_eq!(give(1_000_000, 0, false, true), MOST);
/// ```
#[inline]
#[must_use]
pub fn give(ready: usize, asker: usize, polling: bool, worth: bool) -> usize {
    let half = (ready + usize::from(polling)).saturating_sub(asker) / 2;
    half.min(if worth { MOST } else { 1 })
}

/// Returns whether half of a processor's tasks are worth the move: for their work, or for their
/// age.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, stealing::is_worth_half};
/// let small = Look { ready: 1_000, mean_work: 30, ..Look::default() };
/// assert!(!is_worth_half(&small));
/// assert!(is_worth_half(&Look { head_age: 200_000, ..small }));
/// ```
#[inline]
#[must_use]
pub fn is_worth_half(own: &Look) -> bool {
    own.is_worth_moving() || own.head_age >= OLD_SMALL_HEAD
}

/// Returns how many of `ready` tasks a thief takes by force from a processor that did not answer. A
/// processor that has not switched is inside a long poll, for which all its tasks wait: the thief
/// takes all, but at most [`MOST`] at a time.
///
/// # Examples
/// ```
/// use evenkeel_policy::stealing::{MOST, take};
/// assert_eq!(take(100, false), 100);
/// assert_eq!(take(100, true), 50);
/// assert_eq!(take(1_000_000, false), MOST);
/// ```
#[inline]
#[must_use]
pub fn take(ready: usize, switched: bool) -> usize {
    let amount = if switched { ready.div_ceil(2) } else { ready };
    amount.min(MOST)
}
