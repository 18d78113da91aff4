//! When a sleeping processor is worth waking.

/// A task that has waited this long for its own processor gets another one, if one sleeps: about
/// the cost of waking that. An estimate, which no benchmark sets; at least
/// [`super::stealing::OLD_HEAD`], so that a worker woken for a lone task may steal it.
pub const WAITED: u64 = 20_000;

/// The same for tasks that [sockets wake](super::Look::serves_quickly). Each look at the sockets
/// makes some tasks ready, which are polled for some microseconds each: few of them are left when a
/// sleeper has come, and those that a thief has taken come back with the next note of their socket.
///
/// As long as a processor that does not look at its sockets [waits for
/// others](super::readiness::OVERDUE). `evenkeel-bench run --bench echo,http` with 100 connections
/// and two workers, each with half of the sockets, beside a client of two threads on the same two
/// cores: with 200 µs for sleepers and 10 µs for thieves that are awake, 41 of 100 polls are of
/// tasks that have changed workers, with this 25, with 1, 2 and 4 ms 9, 3 and 1; and the server
/// makes 3 % fewer echoes with this than with 1 ms and as many pages, and 3 or 4 % fewer than with
/// 4 ms. At 30,000 pages a second, 99 of 100 take at most 0.5 ms with the first pair, 1.0 with
/// this, 1.2 with 1 ms, and 1.7 on Tokio.
pub const SERVED: u64 = super::readiness::OVERDUE;

/// The same as long as no thread but the workers [wants their cores](super::Look::contended). A
/// sleeper is a core that does nothing then, and the socket of a task that it takes
/// [follows](super::readiness::drawn) to it. With [`SERVED`] such a server has one core to itself,
/// and does not come to the other.
///
/// Set by a server and its clients as tasks of one runtime with two workers, which no experiment of
/// the suite has: with 16, 32 and 64 connections that echo 64 bytes, an echo takes 7.4, 7.5 and 7.2
/// µs with this, 8.8, 9.7 and 8.4 with [`SERVED`], and 6.2, 6.2 and 7.8 on Tokio's runtime (medians
/// of ten rounds in turns). With 8 connections it takes as long with both: a third of this would
/// help there, at a third more processor time.
pub const SERVED_ALONE: u64 = 50_000;

/// Returns which of the two counts for tasks that sockets wake at a processor.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, waking::{SERVED, SERVED_ALONE, served}};
/// let alone = Look { serves: true, ..Look::default() };
/// assert_eq!(served(&alone), SERVED_ALONE);
/// assert_eq!(served(&Look { contended: true, ..alone }), SERVED);
/// ```
#[inline]
#[must_use]
pub fn served(other: &super::Look) -> u64 {
    if other.contended { SERVED } else { SERVED_ALONE }
}

/// Polls of tasks that sockets wake are short if they take less than this: tasks with longer ones
/// are like any others. An estimate: some ten times what the move of such a task costs, with a
/// wake-up; an answer of an echo server takes 5 to 10 µs, a page 10 to 20. No benchmark sets it.
pub const REQUEST: u64 = 50_000;

/// How long a task that is [not worth the move](super::Look::is_worth_moving) waits before another
/// processor is woken for it, in place of [`WAITED`]: one is woken only for a task that a thief may
/// steal.
pub const SMALL_WAITED: u64 = super::stealing::OLD_SMALL_HEAD;

/// Returns whether the tasks at a processor are worth a second one: at least two, each [worth the
/// move](super::Look::is_worth_moving). A lone task is left to the processor that has pushed it, so
/// that two tasks which take turns are not torn apart.
///
/// If [sockets wake them](super::Look::serves_quickly), the last one would also have to wait for as
/// long as [`served`] says. In return a task behind an unexpected long poll there waits for the
/// lookout. Where there are no sockets it does not: a wake-up beside polls of 100 ms that come
/// every now and then would wait for 2 ms in place of 1 (`evenkeel-bench run --bench latency`, 99.9
/// of 100).
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, waking::{SERVED, is_worth_waking}};
/// let two = Look { ready: 2, mean_work: 10_000, mean_poll: 5_000, ..Look::default() };
/// assert!(is_worth_waking(&two));
/// assert!(!is_worth_waking(&Look { ready: 1, ..two }), "a ping of a ping-pong");
/// assert!(!is_worth_waking(&Look { mean_work: 30, ready: 1_000, ..two }), "empty tasks");
/// let requests = Look { serves: true, contended: true, ..two };
/// assert!(!is_worth_waking(&Look { ready: 99, ..requests }));
/// assert!(is_worth_waking(&Look { ready: 100, ..requests }));
/// assert!(is_worth_waking(&Look { ready: 10, contended: false, ..requests }));
/// assert!(is_worth_waking(&Look { mean_poll: 50_000, ..requests }), "long ones");
/// ```
#[inline]
#[must_use]
pub fn is_worth_waking(own: &super::Look) -> bool {
    own.is_worth_moving() && after_search(own)
}

/// Decides whether a searcher that has found tasks wakes the next sleeper for the others of them.
/// They have been worth a move before.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, waking::after_search};
/// let two = Look { ready: 2, mean_poll: 5_000, ..Look::default() };
/// assert!(after_search(&two));
/// assert!(!after_search(&Look { serves: true, ..two }));
/// ```
#[inline]
#[must_use]
pub fn after_search(own: &super::Look) -> bool {
    own.ready >= 2 && (!own.serves_quickly() || own.backlog() >= served(own))
}

/// Decides, after a push, whether to wake a sleeper. If a processor searches, it will find the
/// task.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, waking::after_push};
/// let two = Look { ready: 2, mean_work: 10_000, ..Look::default() };
/// assert!(after_push(&two, 3, 0));
/// assert!(!after_push(&two, 3, 1), "a searcher is on the way");
/// assert!(!after_push(&two, 0, 0));
/// ```
#[inline]
#[must_use]
pub fn after_push(own: &super::Look, sleeping: usize, searching: usize) -> bool {
    sleeping > 0 && searching == 0 && is_worth_waking(own)
}

/// Decides the same after a push from elsewhere into the inbox of `other`, which does not sleep,
/// and whose batch `lasts` for this long. Behind a poll that is longer than a batch should be, even
/// a lone task is worth a wake-up, which takes no longer than [`WAITED`]. `evenkeel-bench run
/// --bench latency --variant block-one` shows it.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, waking::{SERVED, WAITED, after_send}};
/// let lone = Look { ready: 1, mean_work: 10_000, ..Look::default() };
/// assert!(!after_send(&lone, 4_000, 1, 0), "the owner comes to it soon");
/// assert!(after_send(&lone, WAITED, 1, 0));
/// assert!(!after_send(&lone, WAITED, 1, 1), "a searcher is on the way");
/// assert!(after_send(&Look { ready: 2, ..lone }, 0, 1, 0));
/// let serves = Look { serves: true, contended: true, ..lone };
/// assert!(!after_send(&serves, WAITED, 1, 0));
/// assert!(after_send(&serves, SERVED, 1, 0));
/// ```
#[inline]
#[must_use]
pub fn after_send(other: &super::Look, lasts: u64, sleeping: usize, searching: usize) -> bool {
    let waited = if other.serves_quickly() { served(other) } else { WAITED };
    sleeping > 0 && searching == 0 && (lasts >= waited || is_worth_waking(other))
}

/// Decides the same at the end of a batch, when the age of the head is known, from the processor's
/// look at itself: a lone or a small task that has waited is worth a wake-up too.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, waking::after_batch};
/// let lone = Look { ready: 1, mean_work: 10_000, ..Look::default() };
/// assert!(!after_batch(&lone, 1, 0));
/// assert!(after_batch(&Look { head_age: 50_000, ..lone }, 1, 0));
/// assert!(after_batch(&Look { ready: 2, ..lone }, 1, 0));
/// ```
#[inline]
#[must_use]
pub fn after_batch(own: &super::Look, sleeping: usize, searching: usize) -> bool {
    sleeping > 0 && searching == 0 && before_sleep(own)
}

/// Decides, at the last look before a sleep, whether the tasks at another processor are worth
/// staying awake for. The counterpart of [`after_push`] and [`after_batch`]: a push that wakes a
/// sleeper is also one that keeps a worker awake.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, waking::before_sleep};
/// let lone = Look { ready: 1, mean_work: 10_000, ..Look::default() };
/// assert!(!before_sleep(&lone));
/// assert!(before_sleep(&Look { ready: 2, ..lone }));
/// assert!(before_sleep(&Look { inbox: true, ..lone }));
/// assert!(before_sleep(&Look { head_age: 50_000, ..lone }));
/// ```
#[inline]
#[must_use]
pub fn before_sleep(other: &super::Look) -> bool {
    let waited = match (other.serves_quickly(), other.is_worth_moving()) {
        (true, _) => served(other),
        (false, true) => WAITED,
        (false, false) => SMALL_WAITED,
    };
    other.inbox || is_worth_waking(other) || (other.ready > 0 && other.head_age >= waited)
}

/// Returns whether a task has waited for so long that a processor without work takes it before it
/// looks for fork-join jobs.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, waking::{WAITED, has_waited}};
/// assert!(!has_waited(&Look { ready: 1, ..Look::default() }));
/// assert!(has_waited(&Look { ready: 1, head_age: WAITED, ..Look::default() }));
/// ```
#[inline]
#[must_use]
pub fn has_waited(other: &super::Look) -> bool {
    other.has_work() && other.head_age >= WAITED
}

/// Decides, when the watch looks up, whether to search: for tasks that are worth staying awake for,
/// and now and then for those that are not worth it on average.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, waking::after_watch};
/// let small = Look { ready: 2, mean_work: 30, ..Look::default() };
/// assert!(after_watch(&small));
/// assert!(!after_watch(&Look { ready: 1, ..small }));
/// assert!(!after_watch(&Look { together: true, ..small }));
/// assert!(!after_watch(&Look { serves: true, ..small }));
/// ```
#[inline]
#[must_use]
pub fn after_watch(other: &super::Look) -> bool {
    // Of those that are not worth it on average, tasks that sockets wake stay where they are.
    let small = other.ready >= 2 && !other.together && !other.serves_quickly();
    other.visitors > 0 || small || before_sleep(other)
}

/// The shortest sleep of the watch, the one sleeper that looks up now and then while others work.
/// An estimate: some forty times what a sleep and a wake-up cost, so that looking up takes a few
/// percent of a core that has nothing else to do; no benchmark sets it.
pub const WATCH: u64 = 1_000_000;

/// The longest sleep of the watch, which finds a task behind an endless poll within this. A choice:
/// eight times the shortest, and so an eighth of its cost. `cargo test -p evenkeel-sim --test
/// promise` asserts the bound that follows from it, which loads exceed with twice as much.
pub const LONGEST_WATCH: u64 = 8_000_000;

/// Returns the length of the watch's next sleep after one of length `slept` in which it found
/// nothing to do.
///
/// # Examples
/// ```
/// use evenkeel_policy::waking::{LONGEST_WATCH, WATCH, next_watch};
/// assert_eq!(next_watch(0), WATCH);
/// assert_eq!(next_watch(WATCH), 2 * WATCH);
/// assert_eq!(next_watch(LONGEST_WATCH), LONGEST_WATCH);
/// ```
#[inline]
#[must_use]
pub fn next_watch(slept: u64) -> u64 {
    slept.saturating_mul(2).clamp(WATCH, LONGEST_WATCH)
}
