//! A statement of a publication, beside what a simulation finds.

/// A statement of a publication, the result of the simulation, and whether they agree.
pub(crate) struct Claim {
    pub(crate) stated: &'static str,
    pub(crate) found: String,
    pub(crate) agrees: bool,
    /// The reason, if they differ.
    pub(crate) why: &'static str,
}

/// Renders claims as lines of text.
pub(crate) fn text(claims: &[Claim]) -> String {
    let line = |claim: &Claim| {
        let agrees = if claim.agrees { "agrees" } else { "differs" };
        let why = if claim.agrees || claim.why.is_empty() {
            String::new()
        } else {
            format!(" Because {}", claim.why)
        };
        format!("{agrees}: {} Simulated: {}.{why}\n", claim.stated, claim.found)
    };
    claims.iter().map(line).collect()
}
