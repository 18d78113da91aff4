//! How many processors look for work at once, and for how long.
//!
//! The bound is that of Go and Tokio: at most half of the awake processors search. A searcher that
//! finds work wakes the next one, so the number of awake processors follows the load without a
//! crowd at every queue. Two may always search: on a machine of two, the second would else fall
//! asleep at once between two short parallel loops, and each loop would wait for it to wake.

/// How long a processor searches before it sleeps: twice the time of a sleep and a wake-up through
/// the kernel, the bound on the cost of a vain search (ski rental). Longer than
/// [`super::stealing::PATIENCE`], so that such a search never ends beside a waiting task. An
/// estimate from the cost of a sleep and a wake-up, some 25 µs; no benchmark sets it.
pub const SEARCH: u64 = 50_000;

/// How long a processor searches if tasks have travelled to it since its last search: more are on
/// their way. If it slept, the first seven would wake it; meanwhile the sender would run out of
/// work and sleep too. Set by 64 counters at home at two workers, 64 tasks for each
/// (`evenkeel-bench run --bench counters --objects 64 --tasks-per-core 64 --runtime home`): with
/// [`SEARCH`] alone both slept by turns, for 42 % of the time.
pub const SEARCH_VISITED: u64 = 4 * SEARCH;

/// How long such a processor waits for tasks to arrive before it searches: as long as a journey
/// there and back between far cores. Set by tasks that travel to and fro, 16 and 64 at a time
/// (`evenkeel-bench run --bench travel --tasks-per-core 16,64`): a journey took 15 and 25 % longer
/// without.
pub const AWAIT: u64 = 2_000;

/// A lull this long is one in which a search is in vain: the processor would have gone to sleep,
/// and have slept for as long again.
pub const LONG_LULL: u64 = 2 * SEARCH;

/// The lulls of a processor: each is from when it runs out of work until it has some again, however
/// often it is woken for work that is gone by then. If six of the last eight were
/// [long](LONG_LULL), it makes a single round of a search before it sleeps: what comes finds it
/// asleep in any case. So it does if it is woken in a long lull. But where it has been woken three
/// times in a row, each time soon after the one before, it searches: what came next may come again,
/// and finds it awake. The row ends with a long lull in which no thread has woken it.
///
/// Set by tasks that only sleep (`evenkeel-bench run --bench timers --variant idle`): if each
/// search before a sleep is a long one, a timer takes 7.9 µs of processor time on one worker and
/// 11 to 13 on two, with this 2.6 and 5.4. On two workers a fifth of the lulls are short, because
/// each has ticks and wakes the other for its tasks. So six of eight, and not two of two.
///
/// # Examples
/// ```
/// use evenkeel_policy::searching::{LONG_LULL, Lulls};
/// let mut lulls = Lulls::default();
/// for start in (0..6).map(|lull| lull * 2 * LONG_LULL) {
///     lulls.begin(start);
///     assert!(!lulls.are_long(start), "fewer than six");
///     assert!(lulls.are_long(start + LONG_LULL), "this one is");
///     lulls.end(start + LONG_LULL);
/// }
/// let start = 12 * LONG_LULL;
/// lulls.begin(start);
/// assert!(lulls.are_long(start));
/// let mut late = lulls;
/// for wake_up in 1..=3 {
///     assert!(late.are_long(start), "not yet two in a row");
///     late.interrupt(start + wake_up * LONG_LULL / 2);
/// }
/// assert!(!late.are_long(start + 2 * LONG_LULL));
/// // The row ends with a wake-up that comes later, or with a long lull without any.
/// let mut later = late;
/// later.interrupt(start + 9 * LONG_LULL);
/// assert!(later.are_long(start + 9 * LONG_LULL));
/// for start in [20 * LONG_LULL, 30 * LONG_LULL] {
///     late.end(start - 1);
///     late.begin(start);
/// }
/// assert!(late.are_long(30 * LONG_LULL));
/// // Three short ones end it, and one that has no end is short.
/// for start in start + 1..start + 4 {
///     assert!(lulls.are_long(start));
///     lulls.begin(start);
/// }
/// assert!(!lulls.are_long(start + 4));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lulls {
    /// When the last one has begun, and when the last that is over has ended.
    since: u64,
    until: u64,
    /// A bit for each of the last eight before it: whether it was long.
    before: u8,
    /// When another thread last woke the processor, and how many times in a row that was soon after
    /// the time before.
    woken: u64,
    soon: u8,
}

impl Lulls {
    /// Notes that the processor has run out of work. If that has had no end since the last time, it
    /// was nothing.
    #[inline]
    pub fn begin(&mut self, now: u64) {
        let is_long = self.until.saturating_sub(self.since) >= LONG_LULL;
        self.before = self.before << 1 | u8::from(is_long);
        if is_long && self.woken <= self.since {
            self.soon = 0;
        }
        self.since = now;
    }

    /// Notes that it has work again, as far as it knows: if there was none, a later end counts.
    #[inline]
    pub fn end(&mut self, now: u64) {
        self.until = now;
    }

    /// Notes that another thread has woken it.
    #[inline]
    pub fn interrupt(&mut self, now: u64) {
        let is_soon = now.saturating_sub(self.woken) < LONG_LULL;
        self.soon = if is_soon { self.soon.saturating_add(1) } else { 0 };
        self.woken = now;
    }

    /// Returns whether most lulls are long, or the present one is by now.
    #[inline]
    #[must_use]
    pub fn are_long(&self, now: u64) -> bool {
        let are_long = self.before.count_ones() >= 6 || now.saturating_sub(self.since) >= LONG_LULL;
        are_long && self.soon < 2
    }
}

/// Returns how long a processor searches. One that `sleeps_at_once` makes a single round: its
/// [lulls are long](Lulls::are_long), or it has sockets, which wake it where it sleeps, and a
/// search would look past them.
///
/// # Examples
/// ```
/// use evenkeel_policy::searching::{SEARCH, search_for};
/// assert_eq!(search_for(false, false), SEARCH);
/// assert!(search_for(true, false) > SEARCH);
/// assert_eq!(search_for(false, true), 0);
/// ```
#[inline]
#[must_use]
pub fn search_for(visited: bool, sleeps_at_once: bool) -> u64 {
    match (visited, sleeps_at_once) {
        (true, _) => SEARCH_VISITED,
        (false, true) => 0,
        (false, false) => SEARCH,
    }
}

/// Returns for how long a searcher has been without work when it looks for [tasks to
/// steal](super::stealing::steal): it searches with this `patience`, has `searched` for so long,
/// and has been awake without work for `idle`. A search of a single round takes no time. If it
/// counted as none, the processor would never take from a [short queue](super::stealing::PATIENCE)
/// for which it [stays awake](super::waking::before_sleep): it would search and cancel its sleep by
/// turns.
///
/// # Examples
/// ```
/// use evenkeel_policy::searching::{SEARCH, waited};
/// assert_eq!(waited(SEARCH, 3_000, 20_000), 3_000);
/// assert_eq!(waited(0, 0, 20_000), 20_000);
/// ```
#[inline]
#[must_use]
pub fn waited(patience: u64, searched: u64, idle: u64) -> u64 {
    if patience > 0 { searched } else { idle }
}

/// How long a processor that searches keeps its core to itself. Set by the comparison of
/// `evenkeel-rayon` on two cores: a broadcast from a thread beside two workers takes 4.8 µs with
/// this, 8.7 with 5,000, and a short loop from there (`chunks`) 30 and 34 µs.
pub const SPIN: u64 = 1_000;

/// Returns whether a processor that has searched for `waited` offers its core to other threads
/// between two looks.
///
/// # Examples
/// ```
/// use evenkeel_policy::searching::{SPIN, yields};
/// assert!(!yields(SPIN - 1));
/// assert!(yields(SPIN));
/// ```
#[inline]
#[must_use]
pub fn yields(waited: u64) -> bool {
    waited >= SPIN
}

/// What an outside thread sees of a runtime while it waits for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Busy {
    /// Workers that are awake.
    pub awake: usize,
    /// Workers that sleep.
    pub sleeping: usize,
    /// Whether the workers have other work than that for which the thread waits: ready tasks, or
    /// work for other threads.
    pub with_others: bool,
}

/// Returns whether such a thread stays awake while it waits, on a machine with this number of
/// `cores`. It stays awake for as long as a processor [searches](SEARCH) and yields its core all
/// the time, so no thread has to wake it.
///
/// It does not if workers go on with other work, because it would hardly get its core back. Nor if
/// a woken sleeper might find no free core: the operating system leaves that thread behind a worker
/// for milliseconds, although a core is free soon after (`par_sort` of strings in the comparison of
/// `evenkeel-rayon`).
///
/// # Examples
/// ```
/// use evenkeel_policy::searching::{Busy, may_wait_awake};
/// let both_awake = Busy { awake: 2, ..Busy::default() };
/// assert!(may_wait_awake(both_awake, 2), "no sleeper is left to be woken");
/// assert!(!may_wait_awake(Busy { with_others: true, ..both_awake }, 2));
/// let one_asleep = Busy { awake: 1, sleeping: 1, ..Busy::default() };
/// assert!(!may_wait_awake(one_asleep, 2));
/// assert!(may_wait_awake(one_asleep, 3));
/// assert!(may_wait_awake(Busy { sleeping: 2, ..Busy::default() }, 2), "the first to be woken has a core");
/// ```
#[inline]
#[must_use]
pub fn may_wait_awake(busy: Busy, cores: usize) -> bool {
    !busy.with_others && (busy.sleeping == 0 || busy.awake + 2 <= cores)
}

/// A thread that yields its core and gets it back this late should have slept, and been woken at
/// once: another thread computes there, and the operating system does not interrupt it. Some ten
/// times a sleep and a wake-up; an estimate, no benchmark sets it.
pub const LOST_CORE: u64 = 200_000;

/// Returns whether a thread has [lost its core](LOST_CORE) by a yield that lasted from `before` to
/// `after`.
///
/// # Examples
/// ```
/// use evenkeel_policy::searching::{LOST_CORE, has_lost_core};
/// assert!(!has_lost_core(5, 4 + LOST_CORE));
/// assert!(has_lost_core(5, 5 + LOST_CORE));
/// ```
#[inline]
#[must_use]
pub fn has_lost_core(before: u64, after: u64) -> bool {
    after.saturating_sub(before) >= LOST_CORE
}

/// Returns whether a worker that has [lost its core](LOST_CORE) rests. While more workers of the
/// process are `awake` than it may use `cores`, another of them has had the core. Such a worker
/// yields it in turn, where a stranger would not; and if both rest, cores are idle beside work.
///
/// # Examples
/// ```
/// use evenkeel_policy::searching::rests;
/// assert!(rests(2, 2));
/// assert!(!rests(3, 2));
/// ```
#[inline]
#[must_use]
pub fn rests(awake: usize, cores: usize) -> bool {
    awake <= cores
}

/// The shortest and the longest rest after a thread has [lost its core](LOST_CORE). During a rest,
/// searching workers, or the threads of a process that wait for workers, sleep instead of yielding
/// their core. The loss costs some milliseconds, at most a twenty-fifth of the shortest rest.
/// Estimates; no benchmark sets them.
pub const RESTS: (u64, u64) = (100_000_000, 1_600_000_000);

/// For how long the workers' cores count as [contended](super::Look::contended) after a worker has
/// lost its own to a thread that is no worker: as long as the longest rest. `evenkeel-bench run
/// --bench echo --procs 2` with 100 connections, whose client is on the same cores, makes 3 % fewer
/// echoes where each rest ends it.
pub const CONTENDED: u64 = RESTS.1;

/// The last rest of a worker, or of the threads of a process that wait for workers. By default
/// there was none. See [`RESTS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// When it is over.
    pub until: u64,
    /// How long it lasts; zero if the next one is to be the shortest.
    pub length: u64,
}

impl Rest {
    /// Returns whether it is over at the time `now`.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::searching::Rest;
    /// let rest = Rest { until: 500, length: 100 };
    /// assert!(!rest.is_over(499));
    /// assert!(rest.is_over(500));
    /// ```
    #[inline]
    #[must_use]
    pub fn is_over(self, now: u64) -> bool {
        now >= self.until
    }

    /// Returns the next rest, which begins at the time `now`: twice as long, up to the longest.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::searching::{RESTS, Rest};
    /// let first = Rest::default().next(7);
    /// assert_eq!(first, Rest { until: 7 + RESTS.0, length: RESTS.0 });
    /// assert_eq!(first.next(0).length, 2 * RESTS.0);
    /// let longest = (0..9).fold(first, |rest, _| rest.next(0));
    /// assert_eq!(longest.length, RESTS.1);
    /// ```
    #[inline]
    #[must_use]
    pub fn next(self, now: u64) -> Self {
        let length = self.length.saturating_mul(2).clamp(RESTS.0, RESTS.1);
        Self { until: now.saturating_add(length), length }
    }

    /// Returns the same rest, or none if at the time `now` it has been over for as long as the
    /// longest one lasts.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::searching::{RESTS, Rest};
    /// let rest = Rest::default().next(0);
    /// assert_eq!(rest.unless_old(RESTS.0 + RESTS.1 - 1), rest);
    /// assert_eq!(rest.unless_old(RESTS.0 + RESTS.1), Rest::default());
    /// ```
    #[inline]
    #[must_use]
    pub fn unless_old(self, now: u64) -> Self {
        if now.saturating_sub(self.until) < RESTS.1 { self } else { Self::default() }
    }
}

/// Returns whether one more processor may search.
///
/// # Examples
/// ```
/// use evenkeel_policy::searching::may_search;
/// assert!(may_search(0, 1));
/// assert!(may_search(0, 2));
/// assert!(may_search(1, 2));
/// assert!(!may_search(2, 4));
/// assert!(may_search(1, 4));
/// ```
#[inline]
#[must_use]
pub fn may_search(searching: usize, awake: usize) -> bool {
    searching == 0 || searching < awake.min(2) || 2 * (searching + 1) <= awake
}
