//! A statement of a publication, beside what a simulation finds.

use crate::publications::statement::CHANCE;
use suite::enough::RUNS;

/// A statement of a publication, the result of the simulation, and whether the two agree.
pub(crate) struct Claim {
    pub(crate) stated: &'static str,
    pub(crate) found: String,
    /// `None` where it may be chance, or cannot be told, or where what the simulation assumes
    /// decides the result: that is no agreement.
    pub(crate) agrees: Option<bool>,
    /// The reason, if they do not agree.
    pub(crate) why: &'static str,
}

impl Claim {
    /// Returns a claim that rests on an assumption: that it holds is no agreement. `why` is why it
    /// may not hold.
    pub(crate) fn assumed(
        stated: &'static str,
        found: String,
        holds: Option<bool>,
        why: &'static str,
    ) -> Self {
        let why = match holds {
            Some(true) => "what is assumed decides it",
            Some(false) => why,
            None => CHANCE,
        };
        Self { stated, found, agrees: holds.filter(|holds| !holds), why }
    }

    /// Returns what this many schedules say of it: fewer than the suite's [`RUNS`] judge nothing.
    pub(crate) fn by(self, schedules: usize) -> Self {
        match self.agrees {
            Some(_) if schedules < RUNS => {
                Self { agrees: None, why: "fewer than three schedules were simulated", ..self }
            }
            _ => self,
        }
    }
}

/// Renders claims as lines of text.
pub(crate) fn text(claims: &[Claim]) -> String {
    let line = |claim: &Claim| {
        let agrees = match claim.agrees {
            Some(true) => "agrees",
            Some(false) => "differs",
            None => "not judged",
        };
        let has_reason = claim.agrees != Some(true) && !claim.why.is_empty();
        let why = if has_reason { format!(" Because {}.", claim.why) } else { String::new() };
        format!("{agrees}: {} Simulated: {}.{why}\n", claim.stated, claim.found)
    };
    claims.iter().map(line).collect()
}
