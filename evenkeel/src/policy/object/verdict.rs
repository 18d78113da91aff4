//! What the trials of a class have come to, and why.

use std::fmt;

use super::Decision;

/// Where the operations of a class run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// On the core of whoever comes, under a lock.
    #[default]
    InPlace,
    /// At the home of the object, for those that have one.
    AtHome,
}

impl Mode {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::InPlace => Self::AtHome,
            Self::AtHome => Self::InPlace,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InPlace => "in place",
            Self::AtHome => "at home",
        })
    }
}

/// Why a verdict is what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Nothing has been tried yet.
    #[default]
    Untried,
    /// It has won a trial against the mode that stood.
    Faster,
    /// It stood, and the other was not better by the margin.
    NotSlower,
    /// It stood, and a probe of the other was far behind.
    FarAhead,
    /// There were too few operations to tell.
    TooFew,
    /// No object of the class is worth a home.
    NotWorth(Decision),
}

/// Which mode, why, and what was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The mode that stands.
    pub mode: Mode,
    /// Why.
    pub reason: Reason,
    /// Operations per second in place, when it was last measured; 0 if never.
    pub in_place: u64,
    /// The same at home.
    pub at_home: u64,
    /// How often in a row it has stood.
    pub stood: u32,
}

impl Verdict {
    /// What was measured in a mode.
    pub(super) fn rate(&mut self, mode: Mode) -> &mut u64 {
        match mode {
            Mode::InPlace => &mut self.in_place,
            Mode::AtHome => &mut self.at_home,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mode, reason, mut in_place, mut at_home, .. } = *self;
        write!(f, "{mode}: ")?;
        if mode == Mode::AtHome {
            (in_place, at_home) = (at_home, in_place);
        }
        let ratio = in_place as f64 / at_home.max(1) as f64;
        let other = mode.other();
        match reason {
            Reason::Untried => f.write_str("nothing has been tried yet"),
            Reason::Faster => write!(f, "{ratio:.2} times the operations of {other}"),
            Reason::NotSlower => {
                write!(f, "{ratio:.2} times the operations of {other}, so it stays")
            }
            Reason::FarAhead => write!(f, "{ratio:.2} times the operations of {other} in a probe"),
            Reason::TooFew => f.write_str("too few operations to tell"),
            Reason::NotWorth(decision) => write!(f, "no object is worth a home ({decision})"),
        }
    }
}
