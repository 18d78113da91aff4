//! Whether operations on a class of objects travel at all, and to how many cores: each way is tried, and the best one is kept.
//!
//! What samples propose rests on a model of caches; the operations per second of the whole class do not. So each class has a *trial*, which
//! is asked now and then, with the number of its operations so far, and says in which mode they run:
//!
//! 1. A class begins in place. As soon as it has operations it is *tried*: [`ALTERNATIONS`] times a [`WINDOW`] in place and one at home, of which the second half
//!    counts, because the first finds the caches as the other mode has left them. Medians are compared, or, of a mode that has made more and more, what it has made last. The other mode wins if it is better by [`MARGIN`]; two alternations
//!    are enough where the other is better in both by [`CLEAR`], or worse by the margin. Where one alternation says that one mode is clearly better, and another one that the other is at all, what is in use has changed meanwhile, and it goes on for once with two more.
//! 2. The winner is *held*, for [`HOLD`] at first and twice as long each time that it wins again, up to [`LONGEST_HOLD`].
//! 3. After that the other mode is *probed*, for a window of [`SHORT`] in place or of [`SHORT_AT_HOME`]. If it is [far behind](FAR_BEHIND), the verdict stands; otherwise
//!    the class is tried again.
//! 4. When the rate of operations has [changed](CHANGE) in two windows of [`WATCH`] in a row, or by half as much in four, or [other objects](super::breadth) are in use, it is waited until the rate is [steady](STEADY) again: what is used anew comes into the caches first, in whichever mode, and
//!    the mode that is tried later would seem the better one. Then a probe and, if that is not far behind, a trial with windows as short follow; the rate before the probe and that of the probe are its first pair, because after each change of mode the
//!    objects come home anew. After changes that have left the verdict as it
//!    was, others are not looked at [for a while](super::deafness::deaf),
//!    and for [longer](super::deafness::DULL) only [great ones](super::deafness::GREAT) if probes of the other modes have made less than half.
//!
//! A third mode, [one home](super::gather) for all objects, is tried only where it may be the best, and after the other two: on each occasion the first challenger of the mode that stands is tried as above, and then, against whichever stands now, the one that is left, beginning with a probe.
//!
//! **What it costs.** The mode that loses runs for a probe out of each hold, and for three windows out of a trial: in the long run one part in several thousand
//! if the other is far behind, and otherwise 15 ms of a quarter slower operation in [`LONGEST_HOLD`]. **How soon it reacts.** Three to five windows of [`WATCH`] to see a change, one of which it began in, one to see that it is over, and short windows until there are two of each mode
//! are 6.5 to 10 ms where both pairs are clear, and 10.5 to 14 where it takes a third; [as long again](UNSTEADY) at most where the rate goes on to change, or is of so few operations that it is never the same. A third mode takes a probe more, and what it takes to try that, and comes as much later where it is the best. Both hold if [`Trial::step`] is called several times per [`WATCH`]; windows last until the next call.
//!
//! Measured with one alternation and no margin: 0.87 to 0.99 of the better mode in eight of nine cases, and a wrong verdict in the ninth. Hence three,
//! and the margin.

use super::Decision;
use super::deafness::{Deafness, GREAT};
use super::gather::OVERSTATED;
use super::occasion::Occasion;
pub use super::occasion::{HOLD, LONGEST_HOLD, hold};
use super::verdict::{Mode, Reason, Verdict};
pub use super::window::{ALTERNATIONS, CHANGE, FEWEST, SHORT, SHORT_AT_HOME, WINDOW};
use super::window::{Window, Windows, change, contradict, level};

/// A window of a hold, in which nothing is tried: the period of [rebalancing](super::rebalance::PERIOD).
pub const WATCH: u64 = 500_000;

/// The other mode wins if it is better by this, in percent of the one that stands. A choice: the verdict need not be right where both are
/// within a twentieth of each other.
pub const MARGIN: u64 = 4;

/// By this, in percent, a difference is clear before all alternations are over.
pub const CLEAR: u64 = 25;

/// A probe that makes less than so many percent of the operations says that the verdict stands.
pub const FAR_BEHIND: u64 = 75;

/// A rate is steady again if it is not more than so many percent above or below that of the window before. An estimate; no benchmark sets it.
pub const STEADY: u64 = 8;

/// How long that is waited for at most, in nanoseconds: about as long as 32 MiB take to come into a last-level cache again that other machines use too (`evenkeel-bench run --bench directory --popularity oscillating`).
pub const UNSTEADY: u64 = 6_000_000;

/// The usual rate follows with one part in so many of each window: not before a change in four of them is seen.
const SLOW: u64 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Hold {
        until: u64,
    },
    /// For a trial of such windows.
    Probe {
        windows: Windows,
    },
    Try {
        windows: Windows,
        round: usize,
        rates: [u64; 2 * ALTERNATIONS],
    },
}

/// The trial of one class of objects.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::{Mode, Trial};
/// let mut trial = Trial::default();
/// let (mut ops, mut now) = (0, 0);
/// while now < 100_000_000 {
///     // Three times as fast at home.
///     ops += if trial.mode() == Mode::InPlace { 100 } else { 300 };
///     now += 100_000;
///     trial.step(now, ops);
/// }
/// assert_eq!(trial.verdict().to_string(), "at home: 3.00 times the operations of in place in a probe");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    verdict: Verdict,
    mode: Mode,
    phase: Phase,
    window: Window,
    /// The usual rate while the verdict is held; 0 if not known.
    usual: u64,
    /// What is being tried, while something is.
    occasion: Occasion,
    /// What all operations at one home come to at most, about, in operations per second; 0 where that is no choice.
    ceiling: u64,
    deafness: Deafness,
    /// Whether other objects are in use than when that was last found out.
    has_other_objects: bool,
    /// Until when the rate may go on to change; 0 if it has not changed. And what it was in the last window.
    unsteady_until: u64,
    last: u64,
    /// How much it has changed in the last windows: two for each by [`CHANGE`], one for each by half as much, less than nothing if it has become less.
    changed: i32,
}

impl Default for Trial {
    fn default() -> Self {
        Self {
            verdict: Verdict::default(),
            mode: Mode::InPlace,
            phase: Phase::Hold { until: 0 },
            window: Window::default(),
            usual: 0,
            occasion: Occasion::default(),
            ceiling: 0,
            deafness: Deafness::default(),
            has_other_objects: false,
            unsteady_until: 0,
            last: 0,
            changed: 0,
        }
    }
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

    /// Whether the verdict is held, and nothing is being tried.
    #[must_use]
    pub fn is_held(&self) -> bool {
        matches!(self.phase, Phase::Hold { .. })
    }

    /// Whether the verdict is what a trial has come to.
    #[must_use]
    pub fn has_concluded(&self) -> bool {
        !matches!(self.verdict.reason, Reason::Untried | Reason::NotWorth(_))
    }

    /// Goes on at the time `now`, at which the class has had so many operations in all, and says in which mode they run from here. Times and counts
    /// never go back; what is called late only makes windows longer. A few comparisons, and a division at the end of a window.
    pub fn step(&mut self, now: u64, ops: u64) -> Mode {
        let (length, settle) = match self.phase {
            Phase::Hold { .. } => (WATCH, 0),
            Phase::Probe { .. } => Windows::Short.of(self.mode),
            Phase::Try { windows, .. } => windows.of(self.mode),
        };
        if let Some((rate, is_enough)) = self.window.step(now, ops, length, settle) {
            match self.phase {
                Phase::Hold { until } => self.held(now, rate, is_enough, until),
                Phase::Probe { windows } => self.probed(now, rate, windows),
                Phase::Try { windows, round, rates } => {
                    self.tried(now, rate, is_enough, (windows, round, rates));
                }
            }
            // A window in which nothing settles begins with the count at which the last one ended.
            let counts_from = self.is_held().then_some((now, ops));
            self.window = Window { begin: now, counts_from };
        }
        self.mode
    }

    /// The same for a class for which homes are [proposed](super::assign()) or not: one that stands in place is left there as long as they are not. What is being tried is
    /// ended first, and a class at home stays there until a trial says otherwise, because samples in place come from nowhere else.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::policy::object::{Mode, Trial};
    /// let mut trial = Trial::default();
    /// for now in 1..100 {
    ///     trial.verify(false, now * 1_000_000, now * 10_000);
    /// }
    /// assert!(trial.is_held() && trial.verdict().stood == 0, "nothing was tried");
    /// ```
    pub fn verify(&mut self, is_proposed: bool, now: u64, ops: u64) -> Mode {
        let stands_in_place = self.is_held() && self.mode == Mode::InPlace;
        if is_proposed || !stands_in_place {
            return self.step(now, ops);
        }
        self.pause(now, ops);
        self.mode
    }

    /// Says what all operations at [one home](super::gather) come to at most, about, in operations per second. As long as that is less than homes at all cores make, or 0, it is not tried.
    pub fn set_ceiling(&mut self, ceiling: u64) {
        self.ceiling = ceiling;
    }

    /// Has a class for which one home stands, and which does not fit there any more, entered at homes everywhere, and what is better found out anew. Nothing changes while something is tried, or another mode stands.
    pub fn leave_one_home(&mut self) {
        if self.is_held() && self.verdict.mode == Mode::AtOneHome {
            (self.verdict.mode, self.verdict.against) = (Mode::AtHome, Mode::AtOneHome);
            (self.verdict.reason, self.verdict.stood) = (Reason::TooLarge, 0);
            (self.mode, self.usual, self.has_other_objects) = (Mode::AtHome, 0, true);
            self.deafness = Deafness::default();
        }
    }

    /// Ends all trials, in place, because no object of the class is worth a home. The next [step](Trial::step) begins anew.
    pub fn rest(&mut self, why: Decision) {
        *self = Self::default();
        self.verdict.reason = Reason::NotWorth(why);
    }

    /// Notes that [other objects](super::breadth) are in use than before: an occasion like a change of the rate, which is kept until changes are looked at again.
    pub fn note_change(&mut self) {
        // Who has tried nothing yet will do so anyhow.
        self.has_other_objects = self.has_concluded();
    }

    /// Says that there was no [step](Self::step) at this time, at which the class has had so many operations in all, because it stands in place and nothing is to be tried: what it has made meanwhile says nothing of what it makes when it
    /// is asked again.
    pub fn pause(&mut self, now: u64, ops: u64) {
        if self.is_held() {
            self.window = Window { begin: now, counts_from: Some((now, ops)) };
            // The rate is looked at anew.
            self.has_other_objects |= self.unsteady_until > 0;
            (self.unsteady_until, self.changed) = (0, 0);
        }
    }

    fn held(&mut self, now: u64, rate: u64, is_enough: bool, until: u64) {
        if !is_enough {
            self.changed = 0;
            return;
        }
        if !self.has_concluded() {
            self.occasion = Occasion::new(self.verdict.mode, false);
            return self.begin();
        }
        if self.usual == 0 {
            self.usual = rate;
        }
        if self.unsteady_until > 0 {
            let is_above = |a, b| is_more(a, b, 100 + STEADY);
            let is_steady = !is_above(rate, self.last) && !is_above(self.last, rate);
            self.last = rate;
            if is_steady || now >= self.unsteady_until {
                (self.usual, self.changed, self.unsteady_until) = (rate, 0, 0);
                self.has_other_objects = false;
                self.occasion = Occasion::new(self.verdict.mode, true);
                self.probe(Windows::Short);
            }
            return;
        }
        let change = change(self.usual, rate);
        let is_great = is_more(rate, self.usual, GREAT) || is_more(self.usual, rate, GREAT);
        let is_dull = self.deafness.is_dull(now);
        if self.deafness.is_deaf(now) || (is_dull && change != 0 && !is_great) {
            // What has changed meanwhile is found out when it is over.
        } else if self.has_other_objects && !is_dull {
            self.unsteady_until = now.saturating_add(UNSTEADY);
            self.last = rate;
            return;
        } else if change != 0 {
            // A change to the other side begins anew.
            let before = if self.changed.signum() == change.signum() { self.changed } else { 0 };
            self.changed = before + change;
            if self.changed.abs() >= 4 {
                self.unsteady_until = now.saturating_add(UNSTEADY);
                self.last = rate;
            }
            return;
        } else {
            self.usual = self.usual - self.usual / SLOW + rate / SLOW;
        }
        // One window like the usual ones takes back as much as a small change adds.
        self.changed -= self.changed.signum();
        if now >= until {
            self.deafness.forgive();
            self.occasion = Occasion::new(self.verdict.mode, false);
            self.probe(Windows::Long);
        }
    }

    fn probed(&mut self, now: u64, rate: u64, windows: Windows) {
        let bound = u128::from(self.usual) * u128::from(FAR_BEHIND);
        if u128::from(rate) * 100 < bound {
            self.measured(self.usual, rate);
            self.occasion.note_probe(self.usual, rate);
            return self.conclude(now, Reason::FarAhead);
        }
        match windows {
            Windows::Long => self.begin(),
            // What has just been seen of both modes is the first pair.
            Windows::Short => {
                let mut rates = [0; 2 * ALTERNATIONS];
                (rates[0], rates[1]) = (self.usual, rate);
                self.mode = self.verdict.mode;
                self.phase = Phase::Try { windows, round: 2, rates };
            }
        }
    }

    fn tried(
        &mut self,
        now: u64,
        rate: u64,
        is_enough: bool,
        (windows, round, mut rates): (Windows, usize, [u64; 2 * ALTERNATIONS]),
    ) {
        if !is_enough {
            self.verdict.reason = Reason::TooFew;
            self.occasion.note_trial();
            return self.end(now);
        }
        rates[round] = rate;
        let round = round + 1;
        // The standing mode has the even rounds. The other one has to win, so less is enough against it.
        let beats = |standing: usize, percent: u64| {
            rates[..round]
                .chunks(2)
                .all(|pair| is_more(pair[standing], pair[1 - standing], 100 + percent))
        };
        if round == rates.len() && contradict(&rates) && !self.occasion.is_repeated {
            // The last pair is the first one of what is in use now.
            self.occasion.is_repeated = true;
            let mut latest = [0; 2 * ALTERNATIONS];
            latest[..2].copy_from_slice(&rates[rates.len() - 2..]);
            self.mode = self.verdict.mode;
            self.phase = Phase::Try { windows, round: 2, rates: latest };
            return;
        }
        if round == rates.len() || (round == 4 && (beats(0, MARGIN) || beats(1, CLEAR))) {
            let standing = level(rates[..round].iter().step_by(2));
            let other = level(rates[..round].iter().skip(1).step_by(2));
            return self.judge(now, standing, other);
        }
        let is_even = round % 2 == 0;
        self.mode = if is_even { self.verdict.mode } else { self.occasion.challenger };
        self.phase = Phase::Try { windows, round, rates };
    }

    fn judge(&mut self, now: u64, standing: u64, other: u64) {
        self.measured(standing, other);
        self.occasion.note_trial();
        if is_more(other, standing, 100 + MARGIN) {
            let before = std::mem::replace(&mut self.verdict.mode, self.occasion.challenger);
            self.occasion.challenger = before;
            self.usual = other;
            self.conclude(now, Reason::Faster);
        } else {
            self.usual = standing;
            self.conclude(now, Reason::NotSlower);
        }
    }

    /// Notes the rates of the mode that stands, and of the one that is tried.
    fn measured(&mut self, standing: u64, other: u64) {
        self.verdict.rates[self.verdict.mode as usize] = standing;
        self.verdict.rates[self.occasion.challenger as usize] = other;
    }

    /// Two modes are compared, of which one stands from now on: goes on with the third one, or holds the verdict.
    fn conclude(&mut self, now: u64, reason: Reason) {
        let Occasion { answers, challenger, is_second, .. } = self.occasion;
        (self.verdict.reason, self.verdict.against) = (reason, challenger);
        let third = self.verdict.mode.neither(challenger);
        if !is_second && (third != Mode::AtOneHome || self.may_gather()) {
            let windows = if answers { Windows::Short } else { Windows::Long };
            self.occasion = self.occasion.third(third);
            return self.probe(windows);
        }
        self.end(now);
    }

    /// Whether one home may be better than homes at all cores, whose rate has just been measured.
    fn may_gather(&self) -> bool {
        self.ceiling > 0 && is_more(self.ceiling, self.verdict.rate(Mode::AtHome), OVERSTATED)
    }

    /// Holds the verdict: there is nothing more to be tried.
    fn end(&mut self, now: u64) {
        let Occasion { answers, before, challenger, ahead, .. } = self.occasion;
        let mode = self.verdict.mode;
        if mode != before {
            self.deafness = Deafness::default();
        } else if answers {
            self.deafness.note_fruitless(now, ahead);
        } else {
            self.deafness.sharpen();
        }
        if mode == Mode::AtOneHome || challenger == Mode::AtOneHome {
            // Objects are on their way there, or back.
            self.deafness.settle(now.saturating_add(SHORT_AT_HOME));
        }
        self.verdict.stood = if mode == before { self.verdict.stood.saturating_add(1) } else { 0 };
        (self.mode, self.changed) = (mode, 0);
        self.phase = Phase::Hold { until: now.saturating_add(hold(self.verdict.stood)) };
    }

    fn begin(&mut self) {
        self.mode = self.verdict.mode;
        let (windows, rates) = (Windows::Long, [0; 2 * ALTERNATIONS]);
        self.phase = Phase::Try { windows, round: 0, rates };
    }

    fn probe(&mut self, windows: Windows) {
        self.mode = self.occasion.challenger;
        self.phase = Phase::Probe { windows };
    }
}

/// Whether `a` is more than so many percent of `b`.
pub(super) fn is_more(a: u64, b: u64, percent: u64) -> bool {
    u128::from(a) * 100 > u128::from(b) * u128::from(percent)
}

#[cfg(test)]
#[path = "trial_tests.rs"]
mod tests;
