//! Whether operations on a class of objects travel, and to how many cores: a trial tries each way
//! and keeps the best.
//!
//! No model of caches decides; the operations per second of the whole class do. So each class has a
//! *trial*. From time to time the runtime calls it with the number of operations so far, and the
//! trial says in which mode they run:
//!
//! 1. A class begins in place. As soon as it has operations, each other [mode](Mode) is its
//!    *challenger* once.
//! 2. A challenger is *probed* first, for a window of [`PROBE`]. One that is [far
//!    behind](FAR_BEHIND) has lost.
//! 3. Otherwise both modes *alternate*, [`ALTERNATIONS`] times a [`WINDOW`] each. The second half
//!    of a window counts; the first finds the caches as the other mode has left them. The trial
//!    compares medians: the challenger wins if it is better by [`MARGIN`]. Two alternations are
//!    enough if it is better in both by [`CLEAR`], or worse by the margin.
//! 4. The winner is *held*, for [`HOLD`] at first. Each time that it wins again the hold is twice
//!    as long, or four times if all others were far behind, up to [`LONGEST_HOLD`]. After a hold
//!    each challenger is tried again.
//! 5. Challengers are also tried again when the rate of operations has [changed](CHANGE) in two
//!    windows of [`WATCH`] in a row, or by half as much in four.
//! 6. But first the class rests for [some times](PATIENCE) as long as the last trial took. However
//!    slow a class is, and however often its rate changes, trials take at most a fifth of the time.
//!    If the verdict has stood, a change waits for [longer](RESTS), but not beyond the hold.
//!
//! Where cache misses are counted, a class in place that [hardly misses](HITS) is not tried
//! elsewhere: another mode could save nothing but misses.
//!
//! # What it costs
//! A class in which both other modes are far behind runs in them for two probes out of each hold:
//! in the long run one part in a thousand.
//!
//! # Rejected
//! A model that decides from samples of single operations whether a trial is worth it; a measure of
//! how many objects are in use; waiting after a change until the rate is steady; answering ever
//! fewer of the changes that leave the verdict; other rules for few tasks. Each was switched off
//! alone, and then all of them together: the geometric mean of all experiments with objects stayed
//! within 5 %, and with one task per core they had been in the way (`docs/objects.md` has the
//! figures, and the single rows that lost).

use super::verdict::{Mode, Reason, Verdict};

/// A window of a hold, in which nothing is tried, in nanoseconds: the period of
/// [rebalancing](super::rebalance::PERIOD).
pub const WATCH: u64 = 500_000;

/// A window in which a challenger is probed, in nanoseconds. The last third counts: before that the
/// caches are as the other mode has left them. An estimate; no benchmark sets it.
pub const PROBE: u64 = 3_000_000;

/// A window of an alternation, in nanoseconds. Its second half counts. An estimate; no benchmark
/// sets it.
pub const WINDOW: u64 = 4_000_000;

/// Windows of each mode in an alternation. An estimate; no benchmark sets it.
pub const ALTERNATIONS: usize = 3;

/// How long a verdict is held at first, and at most, in nanoseconds. Estimates; no benchmark sets
/// them.
pub const HOLD: u64 = 60_000_000;
/// See [`HOLD`].
pub const LONGEST_HOLD: u64 = HOLD << 6;

/// The challenger wins if it is better by this, in percent of the mode that stands. A choice: the
/// verdict need not be right where both are within a twentieth of each other.
pub const MARGIN: u64 = 4;

/// A difference of this, in percent, is clear before all alternations are over. An estimate; no
/// benchmark sets it.
pub const CLEAR: u64 = 25;

/// A challenger has lost if its probe makes less than this percentage of the usual operations. An
/// estimate; no benchmark sets it.
pub const FAR_BEHIND: u64 = 75;

/// A rate has changed if one of it and the usual rate is more than this percentage of the other.
/// Less than the difference on 16 cores between directories of which a sixteenth is popular and
/// directories of which all are (`evenkeel-bench simulate --coretime`).
pub const CHANGE: u64 = 124;

/// After a trial the class rests for `PATIENCE` times as long as the trial took. With half of that
/// an oscillating class makes up to a seventh less; with twice as much it makes no more
/// (`evenkeel-bench simulate --coretime`).
pub const PATIENCE: u64 = 4;

/// A challenger that made less than one part in `HOPELESS` of the standing mode's rate when last
/// tried is not tried on a change, but only after a hold. An occasion that leaves a mode out does
/// not make the hold longer. An estimate; no benchmark sets it.
pub const HOPELESS: u64 = 4;

/// A class in place is not tried elsewhere if it has less than one miss of a first-level cache in
/// `HITS` operations. The fetch of a line from another core, or from memory, then costs less per
/// operation than the shortest journey (13 ns: `evenkeel-bench run --bench travel`).
pub const HITS: u64 = 16;

/// Fewer operations in a window say nothing: workers count in steps of
/// [`ONE_IN`](super::sample::ONE_IN), and this is twelve steps. A window goes on until it has this
/// number, and a probe until the standing mode would have it, but neither for longer than
/// [`LONGEST_WINDOW`]. With fifty steps, a sixteenth of 256 KiB by turns with all of it makes a
/// tenth less (`evenkeel-bench simulate --coretime`).
pub const FEWEST: u64 = 12 * super::sample::ONE_IN as u64;

/// A window ends after this number of nanoseconds at the latest, and says nothing if it has fewer
/// operations than [`FEWEST`]: a class with less than 6,000 per second is not tried elsewhere. At
/// that rate a trial takes a second. An estimate; no benchmark sets it.
pub const LONGEST_WINDOW: u64 = 128_000_000;

/// The usual rate follows each window by one part in `SLOW`: too slowly to hide a change before
/// four windows have shown it. An estimate; no benchmark sets it.
const SLOW: u64 = 32;

/// The most doublings of the rest, one each time that the verdict has stood. Where the rate changes
/// again and again, because of other load on the machine, fruitless trials take less of the time.
/// With none, a class that oscillates in time makes up to 6 % less (`evenkeel-bench simulate
/// --coretime`). With three, a lasting change is answered too late.
pub const RESTS: u32 = 2;

/// Returns how long a verdict is held that has stood `stood` times in a row.
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

/// The rates of the standing mode and of the challenger, alternating.
type Rates = [u64; 2 * ALTERNATIONS];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing is tried.
    #[default]
    Hold,
    /// Misses are counted for a window before a challenger is tried.
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
    /// The time and the number of operations at which counting began.
    counts_from: Option<(u64, u64)>,
}

impl Window {
    /// At the end of the window, returns the rate in operations per second, and whether it counts:
    /// whether there were enough operations, or would have been at the `expected` rate. The first
    /// `settle` nanoseconds of the window do not count.
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

/// A run of trials: the challengers, and when it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Occasion {
    began: u64,
    /// The mode that stood when it began.
    before: Mode,
    challenger: Mode,
    /// Whether the challenger is the second one.
    is_second: bool,
    /// Whether all challengers so far were far behind.
    all_far_behind: bool,
    /// Whether the occasion answers a change.
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
///     // At home, three times as fast.
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
    /// Until `held_until` only a change starts a trial, and until `rests_until` nothing does.
    held_until: u64,
    rests_until: u64,
    /// How much the rate has changed in the last windows: 2 for each change by [`CHANGE`], 1 for
    /// each by half as much; negative if the rate has fallen.
    changed: i32,
}

impl Trial {
    /// Returns the mode in which operations run.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the verdict of the trials.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Advances to the time `now`, at which the class has had `ops` operations in all, and returns
    /// the mode in which they run from here. Times and counts must not go back; a late call only
    /// makes a window longer. Costs a few comparisons, and a division at the end of a window.
    ///
    /// `misses` may return how often the caches have missed so far, in this class or in all work of
    /// its workers. It is called before a challenger is tried, and a [`WATCH`] later.
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
        // By the usual rate, a probe soon shows a challenger that makes next to nothing.
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
                    // A counter that has not moved is no evidence.
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
            // A window that needs no settling begins with the count at which the last one ended.
            let settles = matches!(self.phase, Phase::Probe | Phase::Alternate { .. });
            let counts_from = (!settles).then_some((now, ops));
            self.window = Window { begin: now, counts_from };
        }
        self.mode
    }

    /// Sets whether [one home](Mode::AtOneHome) is tried. It is no other mode if all objects have
    /// the same home.
    pub fn set_may_gather(&mut self, may_gather: bool) {
        self.may_gather = may_gather;
    }

    /// Takes the rate of a window of a hold, and returns whether enough windows have changed for a
    /// trial.
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
            // One usual window takes back as much as a small change adds.
            self.changed -= self.changed.signum();
        } else {
            // A change in the other direction begins anew.
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
        // After a hold each is tried, whether the rate has changed or not.
        let is_change = is_change && now < self.held_until;
        let occasion =
            Occasion { began: now, before, all_far_behind, is_change, ..Occasion::default() };
        self.occasion = occasion;
        let first = before.challenger();
        if self.may_try(first) {
            return self.challenge(first);
        }
        self.try_third(now, first);
    }

    /// Returns whether a mode is worth a trial.
    fn may_try(&self, challenger: Mode) -> bool {
        self.is_possible(challenger) && !self.is_hopeless(challenger)
    }

    fn is_possible(&self, challenger: Mode) -> bool {
        challenger != Mode::AtOneHome || self.may_gather
    }

    /// Returns whether a mode was [hopeless](HOPELESS) when last tried, and the occasion answers a
    /// change.
    fn is_hopeless(&self, challenger: Mode) -> bool {
        let (rate, standing) =
            (self.verdict.rate(challenger), self.verdict.rate(self.verdict.mode));
        self.occasion.is_change && rate > 0 && rate < standing / HOPELESS
    }

    /// Tries the mode that is neither `other` nor the standing one, or holds the verdict.
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
        // The standing mode has the even rounds. The challenger has to win, so a smaller difference
        // is enough against it.
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

    /// Records the rates of the standing mode and of the challenger.
    fn measured(&mut self, standing: u64, other: u64) {
        self.verdict.rates[self.verdict.mode as usize] = standing;
        self.verdict.rates[self.occasion.challenger as usize] = other;
    }

    /// Records that one of two compared modes stands from here, and goes on with the third mode, or
    /// holds the verdict.
    fn conclude(&mut self, now: u64, reason: Reason) {
        let challenger = self.occasion.challenger;
        (self.verdict.reason, self.verdict.against) = (reason, challenger);
        self.try_third(now, challenger);
    }

    /// Holds the verdict: no challenger is left.
    fn end(&mut self, now: u64) {
        let Occasion { began, before, all_far_behind, .. } = self.occasion;
        let mode = self.verdict.mode;
        let is_left_out = |&other: &Mode| self.is_possible(other) && self.is_hopeless(other);
        let are_all_tried = mode != before || !Mode::ALL.iter().any(is_left_out);
        if are_all_tried {
            let more = if all_far_behind { 2 } else { 1 };
            self.verdict.stood =
                if mode == before { self.verdict.stood.saturating_add(more) } else { 0 };
        }
        (self.mode, self.changed) = (mode, 0);
        let rest = PATIENCE.saturating_mul(now.saturating_sub(began));
        self.rests_until = now.saturating_add(rest << self.verdict.stood.min(RESTS));
        // If a mode was left out, its turn still comes when the present hold ends.
        let holds_until = match are_all_tried {
            true => now.saturating_add(hold(self.verdict.stood)),
            false => self.held_until,
        };
        self.held_until = holds_until.max(now.saturating_add(rest));
        self.phase = Phase::Hold;
    }
}

/// Returns whether `a` is more than `percent` percent of `b`.
fn is_more(a: u64, b: u64, percent: u64) -> bool {
    u128::from(a) * 100 > u128::from(b) * u128::from(percent)
}

/// Returns the median; the greater one of two.
fn median<'a>(rates: impl Iterator<Item = &'a u64>) -> u64 {
    let (mut sorted, mut count) = ([u64::MAX; ALTERNATIONS], 0);
    for rate in rates {
        (sorted[count], count) = (*rate, count + 1);
    }
    sorted.sort_unstable();
    sorted[count / 2]
}

/// Returns how much a rate has changed: 2 for a change by [`CHANGE`], 1 for half as much; negative
/// if the rate has fallen.
fn change(usual: u64, rate: u64) -> i32 {
    let of = |a: u64, b: u64| {
        i32::from(is_more(a, b, 50 + CHANGE / 2)) + i32::from(is_more(a, b, CHANGE))
    };
    of(rate, usual) - of(usual, rate)
}

#[cfg(test)]
#[path = "trial_tests.rs"]
mod tests;
