//! Whether operations on a class of objects travel at all, and to how many cores: each way is
//! tried, and the best one is kept.
//!
//! No model of caches says what is better; the operations per second of the whole class do. So each
//! class has a *trial*, which is asked now and then, with the number of its operations so far, and
//! says in which mode they run:
//!
//! 1. A class begins in place. As soon as it has operations, each other [mode](Mode) is its
//!    *challenger* once.
//! 2. A challenger is *probed* first, for a window of [`PROBE`]. One that is [far
//!    behind](FAR_BEHIND) has lost.
//! 3. Otherwise both modes *alternate*, [`ALTERNATIONS`] times a [`WINDOW`] each, of which the
//!    second half counts, because the first finds the caches as the other mode has left them.
//!    Medians are compared: the challenger wins if it is better by [`MARGIN`]. Two alternations are
//!    enough where it is better in both by [`CLEAR`], or worse by the margin.
//! 4. The winner is *held*, for [`HOLD`] at first, and twice as long each time that it wins again,
//!    four times where all others were far behind, up to [`LONGEST_HOLD`]. After that each
//!    challenger is tried again.
//! 5. So it is when the rate of operations has [changed](CHANGE) in two windows of [`WATCH`] in a
//!    row, or by half as much in four.
//! 6. But nothing is tried before [as many times](PATIENCE) as the last trial has taken: however
//!    slow a class is, and however often its rate changes, at most a fifth of the time is spent on
//!    trials. Changes wait for [longer](RESTS) where the verdict has stood, not beyond its hold.
//!
//! Where cache misses are counted, operations in place that [hardly miss](HITS) are tried
//! nowhere else: another way could save nothing but misses.
//!
//! # What it costs
//! A class in which all others are far behind runs in one of them for two probes out of each hold:
//! in the long run one part in a thousand.
//!
//! # Rejected
//! Samples of single operations, by which a model said whether a trial was worth it; a measure of
//! how many objects are in use; to wait after a change until the rate is steady; to look at ever
//! fewer of the changes that come to nothing; other rules for few tasks. Each was switched off
//! alone, and then all of them together: the geometric mean of all experiments with objects stayed
//! within 5 %, and with one task per core they had been in the way (`docs/objects.md` has the
//! figures, and the single rows that lost).

use super::verdict::{Mode, Reason, Verdict};

/// A window of a hold, in which nothing is tried, in nanoseconds: the period of
/// [rebalancing](super::rebalance::PERIOD).
pub const WATCH: u64 = 500_000;

/// A window in which a challenger is probed, in nanoseconds. The last third counts: before that the
/// caches are as the other mode has left them.
pub const PROBE: u64 = 3_000_000;

/// A window of an alternation, in nanoseconds. Its second half counts.
pub const WINDOW: u64 = 4_000_000;

/// Windows of each mode.
pub const ALTERNATIONS: usize = 3;

/// How long a verdict is held at first, and at most, in nanoseconds.
pub const HOLD: u64 = 60_000_000;
/// See [`HOLD`].
pub const LONGEST_HOLD: u64 = HOLD << 6;

/// The challenger wins if it is better by this, in percent of the mode that stands. A choice: the
/// verdict need not be right where both are within a twentieth of each other.
pub const MARGIN: u64 = 4;

/// By this, in percent, a difference is clear before all alternations are over.
pub const CLEAR: u64 = 25;

/// A challenger that makes less than so many percent of the operations in its probe has lost.
pub const FAR_BEHIND: u64 = 75;

/// A rate that is so many percent of the usual, or the reverse, has changed. Less than the
/// difference between what directories of which a sixteenth is popular make on 16 cores, and what
/// all of them do (`evenkeel-bench simulate --coretime`).
pub const CHANGE: u64 = 124;

/// For so many times as long as the last trial has taken nothing is tried. With half of that what
/// oscillates makes up to a seventh less, with twice as much it makes no more
/// (`evenkeel-bench simulate --coretime`).
pub const PATIENCE: u64 = 4;

/// A challenger that made so many times less than the mode that stands when it was last tried is
/// not tried on a change, but only after a hold.
pub const HOPELESS: u64 = 4;

/// A class in place is not tried elsewhere if it has less than one miss of a first-level cache in
/// so many operations: what a line takes from another core, or from memory, is then less for each
/// of them than the shortest journey (13 ns: `evenkeel-bench run --bench travel`).
pub const HITS: u64 = 16;

/// Fewer operations in a window say nothing: workers count theirs in steps of
/// [`ONE_IN`](super::sample::ONE_IN), and this is twelve of them. A window goes on until there are
/// so many, a probe until there would be in the mode that stands, and either at most for
/// [`LONGEST_WINDOW`]. With fifty steps a sixteenth of 256 KiB in turn with all of it makes a tenth
/// less (`evenkeel-bench simulate --coretime`).
pub const FEWEST: u64 = 12 * super::sample::ONE_IN as u64;

/// A window is over after so many nanoseconds, and says nothing if it has fewer operations than
/// [`FEWEST`]: a class with less than 6,000 per second is tried nowhere else. At that rate a trial
/// takes a second.
pub const LONGEST_WINDOW: u64 = 128_000_000;

/// The usual rate follows with one part in so many of each window: not before a change in four of
/// them is seen.
const SLOW: u64 = 32;

/// Doublings of that at most, one each time that the verdict has stood: where the rate changes
/// again and again, by what else the machine does, trials that find nothing take less of the time.
/// With none what oscillates in time makes up to 6 % less (`evenkeel-bench simulate --coretime`).
/// With three a change that stays is answered too late.
pub const RESTS: u32 = 2;

/// How long a verdict is held that has stood so often in a row.
///
/// # Examples
/// ```
/// use evenkeel_policy::object::trial::{HOLD, LONGEST_HOLD, hold};
/// assert_eq!(hold(0), HOLD);
/// assert_eq!(hold(1), 2 * HOLD);
/// assert_eq!(hold(60), LONGEST_HOLD);
/// ```
#[must_use]
pub fn hold(stood: u32) -> u64 {
    (HOLD << stood.min(6)).min(LONGEST_HOLD)
}

/// The rates of the mode that stands, and of the challenger, in turn.
type Rates = [u64; 2 * ALTERNATIONS];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing is tried.
    #[default]
    Hold,
    /// Misses are counted for a window, before something is tried.
    Count {
        is_change: bool,
        operations: u64,
        misses: u64,
    },
    Probe,
    Alternate {
        round: usize,
        rates: Rates,
    },
}

/// The time in which operations are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Window {
    begin: u64,
    /// When counting began, and with what.
    counts_from: Option<(u64, u64)>,
}

impl Window {
    /// The rate in operations per second, at the end of the window, and whether it says anything:
    /// there were enough operations, or would have been at the rate that is `expected`. The first
    /// `settle` of the window are not counted.
    fn step(
        &mut self,
        now: u64,
        ops: u64,
        (length, settle): (u64, u64),
        expected: u64,
    ) -> Option<(u64, bool)> {
        let Some((from, before)) = self.counts_from else {
            if now.saturating_sub(self.begin) >= settle {
                self.counts_from = Some((now, ops));
            }
            return None;
        };
        let (time, count) = (now.saturating_sub(from).max(1), ops.saturating_sub(before));
        let expected = u128::from(expected) * u128::from(time) / 1_000_000_000;
        let is_enough = u128::from(count).max(expected) >= u128::from(FEWEST);
        let is_over = time >= length - settle && (is_enough || time >= LONGEST_WINDOW);
        let rate = u128::from(count) * 1_000_000_000 / u128::from(time);
        is_over.then(|| (u64::try_from(rate).unwrap_or(u64::MAX), is_enough))
    }
}

/// What is being tried, and since when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Occasion {
    began: u64,
    /// The mode that stood then.
    before: Mode,
    challenger: Mode,
    /// Whether that is the second challenger.
    is_second: bool,
    /// Whether all challengers so far were far behind.
    all_far_behind: bool,
    /// Whether it answers a change.
    is_change: bool,
}

/// The trial of one class of objects.
///
/// # Examples
/// ```
/// use evenkeel_policy::object::{Mode, Trial};
/// let mut trial = Trial::default();
/// let (mut ops, mut now) = (0, 0);
/// while now < 100_000_000 {
///     // Three times as fast at home.
///     ops += if trial.mode() == Mode::AtHome { 300 } else { 100 };
///     now += 100_000;
///     trial.step(now, ops, || None);
/// }
/// let why = trial.verdict().to_string();
/// assert_eq!(why, "at home: 3.00 times the operations of in place in a probe");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    verdict: Verdict,
    mode: Mode,
    phase: Phase,
    window: Window,
    /// The usual rate while the verdict is held; 0 if not known.
    usual: u64,
    occasion: Occasion,
    /// Whether [one home](Mode::AtOneHome) is tried.
    may_gather: bool,
    /// Until when nothing is tried but for a change, and until when nothing at all.
    held_until: u64,
    rests_until: u64,
    /// How much the rate has changed in the last windows: two for each by [`CHANGE`], one for each
    /// by half as much, less than nothing if it has become less.
    changed: i32,
}

impl Trial {
    /// The mode in which operations run now.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What the trials have come to.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Goes on at the time `now`, at which the class has had so many operations in all, and says in
    /// which mode they run from here. Times and counts never go back; what is called late only
    /// makes windows longer. A few comparisons, and a division at the end of a window.
    ///
    /// `misses` may know how often the caches missed so far, of this class or of all that its
    /// workers do. It is asked for before something is tried, and a [`WATCH`] later.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::object::{Mode, Trial};
    /// let mut trial = Trial::default();
    /// for n in 1..1_000 {
    ///     // A thousand operations in each step, and one miss.
    ///     assert_eq!(trial.step(n * 100_000, n * 1_000, || Some(n)), Mode::InPlace);
    /// }
    /// let why = trial.verdict().to_string();
    /// assert_eq!(why, "in place: so few cache misses that nothing is tried");
    /// ```
    pub fn step(&mut self, now: u64, ops: u64, misses: impl FnOnce() -> Option<u64>) -> Mode {
        // That a challenger makes next to nothing is to be known soon.
        let (length, expected) = match self.phase {
            Phase::Hold | Phase::Count { .. } => ((WATCH, 0), 0),
            Phase::Probe => ((PROBE, PROBE / 3 * 2), self.usual),
            Phase::Alternate { .. } => ((WINDOW, WINDOW / 2), 0),
        };
        if let Some((rate, is_enough)) = self.window.step(now, ops, length, expected) {
            match self.phase {
                Phase::Hold => {
                    let is_change = self.has_changed(rate, is_enough);
                    let is_rested = is_change && now >= self.rests_until;
                    if is_enough && (is_rested || now >= self.held_until) {
                        if is_change {
                            self.usual = rate;
                        }
                        match (self.verdict.mode == Mode::InPlace).then(misses).flatten() {
                            None => self.begin(now, is_change),
                            Some(misses) => {
                                self.phase = Phase::Count { is_change, operations: ops, misses };
                            }
                        }
                    }
                }
                Phase::Count { is_change, operations, misses: before } => {
                    // A counter that has counted nothing at all does not count.
                    let misses = misses().and_then(|misses| misses.checked_sub(before));
                    let few = |&misses: &u64| {
                        misses.saturating_mul(HITS) < ops.saturating_sub(operations)
                    };
                    match misses.filter(|&misses| misses > 0).filter(few) {
                        Some(_) => self.leave_in_place(now),
                        None => self.begin(now, is_change),
                    }
                }
                Phase::Probe => self.probed(now, rate, is_enough),
                Phase::Alternate { round, rates } => {
                    self.alternated(now, rate, is_enough, round, rates);
                }
            }
            // A window in which nothing settles begins with the count at which the last one ended.
            let settles = matches!(self.phase, Phase::Probe | Phase::Alternate { .. });
            let counts_from = (!settles).then_some((now, ops));
            self.window = Window { begin: now, counts_from };
        }
        self.mode
    }

    /// Says whether [one home](Mode::AtOneHome) is tried, which is nothing new where all objects
    /// have the same one.
    pub fn set_may_gather(&mut self, may_gather: bool) {
        self.may_gather = may_gather;
    }

    /// The end of a window of a hold: whether something has changed in so many that it is to be
    /// answered.
    fn has_changed(&mut self, rate: u64, is_enough: bool) -> bool {
        if !is_enough {
            self.changed = 0;
            return false;
        }
        if self.usual == 0 {
            self.usual = rate;
        }
        let change = change(self.usual, rate);
        if change == 0 {
            self.usual = self.usual - self.usual / SLOW + rate / SLOW;
            // One window like the usual ones takes back as much as a small change adds.
            self.changed -= self.changed.signum();
        } else {
            // A change to the other side begins anew.
            let before = if self.changed.signum() == change.signum() { self.changed } else { 0 };
            self.changed = before + change;
        }
        self.changed.abs() >= 4
    }

    /// Holds the verdict of a class in place whose operations hardly miss the caches.
    fn leave_in_place(&mut self, now: u64) {
        self.verdict.reason = Reason::FewMisses;
        self.occasion = Occasion { began: now, all_far_behind: true, ..Occasion::default() };
        self.end(now);
    }

    /// Begins an occasion: each challenger of the mode that stands is tried.
    fn begin(&mut self, now: u64, is_change: bool) {
        let (before, all_far_behind) = (self.verdict.mode, true);
        let occasion =
            Occasion { began: now, before, all_far_behind, is_change, ..Occasion::default() };
        self.occasion = occasion;
        let first = before.challenger();
        if self.may_try(first) {
            return self.challenge(first);
        }
        self.try_third(now, first);
    }

    /// Whether a mode may win.
    fn may_try(&self, challenger: Mode) -> bool {
        let (rate, standing) =
            (self.verdict.rate(challenger), self.verdict.rate(self.verdict.mode));
        let is_hopeless = self.occasion.is_change && rate > 0 && rate < standing / HOPELESS;
        !is_hopeless && (challenger != Mode::AtOneHome || self.may_gather)
    }

    /// Goes on with the mode that is neither this one nor the one that stands, or holds the
    /// verdict.
    fn try_third(&mut self, now: u64, other: Mode) {
        let third = self.verdict.mode.neither(other);
        if !self.occasion.is_second && self.may_try(third) {
            self.occasion.is_second = true;
            return self.challenge(third);
        }
        self.end(now);
    }

    fn challenge(&mut self, challenger: Mode) {
        self.occasion.challenger = challenger;
        self.mode = challenger;
        self.phase = Phase::Probe;
    }

    fn probed(&mut self, now: u64, rate: u64, is_enough: bool) {
        if !is_enough {
            return self.conclude(now, Reason::TooFew);
        }
        let bound = u128::from(self.usual) * u128::from(FAR_BEHIND);
        if u128::from(rate) * 100 < bound {
            self.measured(self.usual, rate);
            return self.conclude(now, Reason::FarAhead);
        }
        self.occasion.all_far_behind = false;
        self.mode = self.verdict.mode;
        self.phase = Phase::Alternate { round: 0, rates: [0; 2 * ALTERNATIONS] };
    }

    fn alternated(&mut self, now: u64, rate: u64, is_enough: bool, round: usize, before: Rates) {
        if !is_enough {
            self.verdict.reason = Reason::TooFew;
            return self.end(now);
        }
        let (mut rates, round) = (before, round + 1);
        rates[round - 1] = rate;
        // The standing mode has the even rounds. The other one has to win, so less is enough
        // against it.
        let beats = |better: usize, percent: u64| {
            rates[..round]
                .chunks(2)
                .all(|pair| is_more(pair[better], pair[1 - better], 100 + percent))
        };
        if round == rates.len() || (round == 4 && (beats(0, MARGIN) || beats(1, CLEAR))) {
            let standing = median(rates[..round].iter().step_by(2));
            let other = median(rates[..round].iter().skip(1).step_by(2));
            return self.judge(now, standing, other);
        }
        let is_even = round.is_multiple_of(2);
        self.mode = if is_even { self.verdict.mode } else { self.occasion.challenger };
        self.phase = Phase::Alternate { round, rates };
    }

    fn judge(&mut self, now: u64, standing: u64, other: u64) {
        self.measured(standing, other);
        if is_more(other, standing, 100 + MARGIN) {
            let before = core::mem::replace(&mut self.verdict.mode, self.occasion.challenger);
            self.occasion.challenger = before;
            self.usual = other;
            self.conclude(now, Reason::Faster);
        } else {
            self.usual = standing;
            self.conclude(now, Reason::NotSlower);
        }
    }

    /// Notes the rates of the mode that stands, and of the challenger.
    fn measured(&mut self, standing: u64, other: u64) {
        self.verdict.rates[self.verdict.mode as usize] = standing;
        self.verdict.rates[self.occasion.challenger as usize] = other;
    }

    /// Two modes are compared, of which one stands from now on: goes on with the third one, or
    /// holds the verdict.
    fn conclude(&mut self, now: u64, reason: Reason) {
        let challenger = self.occasion.challenger;
        (self.verdict.reason, self.verdict.against) = (reason, challenger);
        self.try_third(now, challenger);
    }

    /// Holds the verdict: there is nothing more to be tried.
    fn end(&mut self, now: u64) {
        let Occasion { began, before, all_far_behind, .. } = self.occasion;
        let mode = self.verdict.mode;
        let more = if all_far_behind { 2 } else { 1 };
        self.verdict.stood =
            if mode == before { self.verdict.stood.saturating_add(more) } else { 0 };
        (self.mode, self.changed) = (mode, 0);
        let rest = PATIENCE.saturating_mul(now.saturating_sub(began));
        self.rests_until = now.saturating_add(rest << self.verdict.stood.min(RESTS));
        self.held_until = now.saturating_add(rest.max(hold(self.verdict.stood)));
        self.phase = Phase::Hold;
    }
}

/// Whether `a` is more than so many percent of `b`.
fn is_more(a: u64, b: u64, percent: u64) -> bool {
    u128::from(a) * 100 > u128::from(b) * u128::from(percent)
}

/// The median; of two the greater one.
fn median<'a>(rates: impl Iterator<Item = &'a u64>) -> u64 {
    let (mut sorted, mut count) = ([u64::MAX; ALTERNATIONS], 0);
    for rate in rates {
        (sorted[count], count) = (*rate, count + 1);
    }
    sorted.sort_unstable();
    sorted[count / 2]
}

/// How much a rate has changed: by 2 if by [`CHANGE`], and by 1 if by half as much; less than
/// nothing if it has become less.
fn change(usual: u64, rate: u64) -> i32 {
    let of = |a: u64, b: u64| {
        i32::from(is_more(a, b, 50 + CHANGE / 2)) + i32::from(is_more(a, b, CHANGE))
    };
    of(rate, usual) - of(usual, rate)
}

#[cfg(test)]
#[path = "trial_tests.rs"]
mod tests;
