//! When a processor that has work takes older work from another.
//!
//! The rule is that of the C∀ runtime (Delisle, "The C∀ scheduler", PhD thesis, 2022). It compares
//! ages, smoothed by a moving average, and leaves a margin, so that equal processors do not trade
//! tasks.

use super::Look;
use super::together::QUICK;
use core::ops::Range;

/// The work of a processor that switches must be this many times as old as the helper's own. The
/// least whole number that leaves equals alone; the bound that `cargo test --test promise` asserts
/// has it as the factor of a task's fair share.
pub const MARGIN: u64 = 2;

/// The other's work must be at least this much older than the helper's own. Twice a batch: ages are
/// known to within a batch, and younger work is about to be polled. It follows from the batch; no
/// benchmark sets it on its own.
pub const LEAST_AGE: u64 = 2 * super::batch::BATCH;

/// Returns by how many nanoseconds the work of `other` must be older: more if [sockets wake its
/// tasks](super::Look::serves_quickly). They become ready together, at each look at the sockets, so
/// of two processors with as much to do each has the older tasks by turns.
fn least_age(other: &Look) -> u64 {
    if other.serves_quickly() { super::waking::served(other) } else { LEAST_AGE }
}

/// A helper takes the work of a processor that stands still by force if it is this much older than
/// twice its own. Two processors with polls about as long as a batch each seem to stand still. If a
/// helper compared ages without this margin, they would take each other's queues by turns. The
/// simulated machines of `cargo test --test promise` set it: 39 heavy fences with it, 16,296
/// without.
pub const STUCK_AGE: u64 = 8 * LEAST_AGE;

/// A [calm](Looks) processor goes round the others in this time at the soonest, so that one does
/// not read the lines of a few others after each batch: every look takes a line from its owner, and
/// the owner takes it back at its next poll. It is far below the bound on waiting, and with more
/// processors than batches in it there is a look after each batch. With a look after each, two
/// workers of `evenkeel-bench run --bench yield,cycle --procs 2` take 13 and 16 % longer. Two
/// workers of `--bench echo` take 6 % less processor time for an answer with four batches than with
/// a look after each. Sixteen are an estimate: 2 % less than four, in the mean of servers that
/// differed by more from run to run.
pub const ROUND: u64 = 16 * super::batch::BATCH;

/// The looks in a row without a find that make an eager processor calm: about as long as a
/// [round](ROUND). A transfer of `evenkeel-bench run --bench transfer --procs 2` has work to help
/// with every 40 µs, and takes a third longer if the processors are calm meanwhile.
const EAGER: u32 = 16;

/// A processor's looks at others, between batches.
///
/// A processor with [`QUICK`] polls is *eager* after a look that finds work to help with, or one
/// that has work and stands still: more of the kind is to come. It then looks after each batch.
/// After `EAGER` looks that find neither it is *calm*, and so is one with longer polls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// When the last one was.
    last: u64,
    count: usize,
    /// Those in a row that have found nothing.
    vain: u32,
}

impl Looks {
    /// Returns whether a processor beside this number of `others`, with polls of `mean_poll`, looks
    /// at the next one. One that is alone counts as one beside another: there may be reliefs.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::helping::{Looks, ROUND};
    /// use evenkeel_policy::together::QUICK;
    /// let mut looks = Looks::default();
    /// assert!(!looks.are_due(ROUND - 1, 1, QUICK));
    /// assert!(looks.are_due(ROUND, 1, QUICK) && looks.are_due(ROUND, 0, QUICK));
    /// assert!(looks.are_due(ROUND / 4, 4, QUICK));
    /// assert!(looks.are_due(0, 1, QUICK - 1), "at first a processor is eager");
    /// for number in 1..=16 {
    ///     assert_eq!(looks.begin(0), number);
    ///     looks.end(false);
    /// }
    /// assert!(!looks.are_due(ROUND - 1, 1, QUICK - 1) && looks.are_due(ROUND, 1, QUICK - 1));
    /// looks.begin(ROUND);
    /// looks.end(true);
    /// assert!(looks.are_due(ROUND, 1, QUICK - 1));
    /// ```
    #[inline]
    #[must_use]
    pub fn are_due(&self, now: u64, others: usize, mean_poll: u64) -> bool {
        let since = now.saturating_sub(self.last);
        (mean_poll < QUICK && self.vain < EAGER)
            || since.saturating_mul(others.max(1) as u64) >= ROUND
    }

    /// Begins a look, and returns its number.
    #[inline]
    pub fn begin(&mut self, now: u64) -> usize {
        self.last = now;
        self.count = self.count.wrapping_add(1);
        self.count
    }

    /// Ends a look, by whether it has [found](is_find) anything.
    #[inline]
    pub fn end(&mut self, found: bool) {
        self.vain = if found { 0 } else { self.vain.saturating_add(1) };
    }
}

/// Returns the number of the round if a processor's look with the number `looks` is at a relief. A
/// round is a look at each of the `others`, which are workers, and one at a
/// [relief](reliefs_of_round). For a relief all workers are others: while it has tasks of its own,
/// a look is all that takes it to theirs.
///
/// # Examples
/// ```
/// use evenkeel_policy::helping::round_of_relief;
/// let rounds = [1, 2, 3, 4, 5, 6].map(|looks| round_of_relief(looks, 2));
/// assert_eq!(rounds, [None, None, Some(1), None, None, Some(2)]);
/// ```
#[inline]
#[must_use]
pub fn round_of_relief(looks: usize, others: usize) -> Option<usize> {
    let round = others + 1;
    looks.is_multiple_of(round).then_some(looks / round)
}

/// The most reliefs that a processor passes over at a look, because they have no work. A round that
/// is for one of these costs as many looks at lines that their owners do not write. An estimate: 64
/// reliefs, as many as a runtime makes by default, are passed in two rounds. No benchmark sets it.
pub const PASSED: usize = 32;

/// Returns the reliefs, of `count`, among which a processor picks one with work in this round, and
/// the number of the pick. A relief without work is passed over: most of those that have ever been
/// needed are at rest, and tasks at a stuck one would wait for looks at all of them.
///
/// # Examples
/// ```
/// use evenkeel_policy::helping::{PASSED, reliefs_of_round};
/// assert_eq!(reliefs_of_round(7, 3), (0..3, 7));
/// let rounds = [4, 5, 6].map(|round| reliefs_of_round(round, PASSED + 1));
/// assert_eq!(rounds, [(0..PASSED, 2), (PASSED..PASSED + 1, 2), (0..PASSED, 3)]);
/// assert_eq!(reliefs_of_round(7, 0), (0..0, 7));
/// ```
#[inline]
#[must_use]
pub fn reliefs_of_round(round: usize, count: usize) -> (Range<usize>, usize) {
    let windows = count.div_ceil(PASSED).max(1);
    let first = round % windows * PASSED;
    (first..count.min(first + PASSED), round / windows)
}

/// What a helper does about another processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Help {
    /// Nothing.
    No,
    /// Ask it for part of its queue; it will answer at its next push or pop.
    Ask,
    /// Take its queue: it is inside a long poll and will not answer.
    Take,
}

/// Decides whether the processor with the view `own` helps the processor `other`.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, helping::{Help, help}};
/// let busy = Look { ready: 100, head_age: 5_000, mean_wait: 5_000, switched: true, ..Look::default() };
/// let behind = Look { head_age: 500_000, mean_wait: 300_000, ..busy };
/// assert_eq!(help(&busy, &busy), Help::No);
/// assert_eq!(help(&busy, &behind), Help::Ask);
/// assert_eq!(help(&busy, &Look { switched: false, ..behind }), Help::Take);
/// let serves = Look { mean_poll: 10_000, serves: true, contended: true, ..busy };
/// assert_eq!(help(&serves, &Look { head_age: 400_000, ..serves }), Help::No);
/// assert_eq!(help(&serves, &Look { head_age: 900_000, ..serves }), Help::Ask);
/// ```
#[inline]
#[must_use]
pub fn help(own: &Look, other: &Look) -> Help {
    if !other.has_work() {
        return Help::No;
    }
    let own = smoothed_age(own);
    let least = least_age(other);
    if !other.switched {
        // The average of a processor that stands still is stale: only the age of its head counts.
        let age = other.head_age;
        return if (other.ready == 0 && other.inbox)
            || super::stealing::is_stranded(other)
            || age > own.saturating_mul(MARGIN).saturating_add(STUCK_AGE.max(least))
        {
            Help::Take
        } else if other.ready > 0 && age > own.saturating_add(least) {
            Help::Ask
        } else {
            Help::No
        };
    }
    let threshold = own.saturating_mul(MARGIN).saturating_add(least);
    if other.ready > 0 && smoothed_age(other) > threshold { Help::Ask } else { Help::No }
}

/// Returns whether a look at the processor `other`, after which the decision was `help`, has found
/// work to help with, or a processor that has work and stands still.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, helping::{Help, is_find}};
/// let busy = Look { ready: 1, switched: true, ..Look::default() };
/// assert!(!is_find(Help::No, &busy) && is_find(Help::Ask, &busy));
/// assert!(is_find(Help::No, &Look { switched: false, ..busy }));
/// assert!(!is_find(Help::No, &Look::default()), "it has no work");
/// ```
#[inline]
#[must_use]
pub fn is_find(help: Help, other: &Look) -> bool {
    help != Help::No || (other.has_work() && !other.switched)
}

/// Returns three parts of the head's age and one part of the average wait: the weights of C∀.
fn smoothed_age(look: &Look) -> u64 {
    super::smooth(look.head_age, look.mean_wait)
}
