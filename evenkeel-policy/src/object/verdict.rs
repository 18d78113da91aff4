//! The verdict of the trials of a class, and its reason.

use core::fmt;

/// Where the operations of a class run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// On the core of the caller, under a lock.
    #[default]
    InPlace,
    /// At the home of the object, if it has one.
    AtHome,
    /// At one core for all objects, whatever their homes are, unless the caller has chosen the
    /// homes. For operations shorter than a journey, which one core alone runs faster.
    AtOneHome,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::InPlace, Self::AtHome, Self::AtOneHome];

    /// Returns the mode that is tried first against this one.
    #[must_use]
    pub fn challenger(self) -> Self {
        match self {
            Self::InPlace | Self::AtOneHome => Self::AtHome,
            Self::AtHome => Self::InPlace,
        }
    }

    /// Returns the mode that is neither of two; if the two are the same, its
    /// [challenger](Self::challenger).
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::object::Mode;
    /// assert_eq!(Mode::AtHome.neither(Mode::InPlace), Mode::AtOneHome);
    /// ```
    #[must_use]
    pub fn neither(self, other: Self) -> Self {
        let of = Self::ALL.into_iter().find(|&mode| mode != self && mode != other);
        of.filter(|_| self != other).unwrap_or_else(|| self.challenger())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InPlace => "in place",
            Self::AtHome => "at home",
            Self::AtOneHome => "at one home",
        })
    }
}

/// The reason for a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Nothing has been tried yet.
    #[default]
    Untried,
    /// The mode has won a trial against the one that stood.
    Faster,
    /// The mode stood, and the challenger was not better by the margin.
    NotSlower,
    /// The mode stood, and the challenger was far behind in its probe.
    FarAhead,
    /// In place there were so few cache misses that no other mode could pay.
    FewMisses,
    /// There were too few operations to tell.
    TooFew,
}

/// A mode, the reason for it, and what was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The mode that stands.
    pub mode: Mode,
    /// The reason for it.
    pub reason: Reason,
    /// The mode that was tried against it last.
    pub against: Mode,
    /// Operations per second in each mode, by its number, when they were last measured; 0 if never.
    pub rates: [u64; 3],
    /// How many trials in a row the mode has stood.
    pub stood: u32,
}

impl Verdict {
    /// Returns the rate that was measured in a mode.
    #[must_use]
    pub fn rate(&self, mode: Mode) -> u64 {
        self.rates[mode as usize]
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mode, reason, against: other, .. } = *self;
        write!(f, "{mode}: ")?;
        let ratio = |of| self.rate(mode) as f64 / self.rate(of).max(1) as f64;
        let how = match reason {
            Reason::Untried => return f.write_str("nothing has been tried yet"),
            Reason::FewMisses => return f.write_str("so few cache misses that nothing is tried"),
            Reason::TooFew => return f.write_str("too few operations to tell"),
            Reason::Faster => "",
            Reason::NotSlower => ", so it stays",
            Reason::FarAhead => " in a probe",
        };
        write!(f, "{:.2} times the operations of {other}{how}", ratio(other))?;
        let third = mode.neither(other);
        if self.rate(third) == 0 {
            return Ok(());
        }
        write!(f, ", and {:.2} times those of {third} when that was tried", ratio(third))
    }
}
