//! Errors in the runs, or in the request to analyse them.

use std::fmt;
use std::io;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    /// The number of the line, from 1.
    pub(crate) line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Why there is no analysis. Each message says what was found and what to do; the cause of the
/// first two is their source.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot read `{file}`")]
    Read { file: String, source: io::Error },
    #[error("{place}: not a line of JSON; each line is one record as `run --json` prints it")]
    Json { place: Place, source: serde_json::Error },
    #[error("{place}: not a JSON object; each line is one record as `run --json` prints it")]
    NotAnObject { place: Place },
    #[error("no records in {}: measure with `run ... --json > FILE`", .files.join(", "))]
    Empty { files: Vec<String> },
    #[error("no record has a field `{field}`: fields are {}", .known.join(", "))]
    UnknownField { field: String, known: Vec<String> },
    #[error("no record has `{field}` = `{value}`: there are {}", .known.join(", "))]
    UnknownValue { field: String, value: String, known: Vec<String> },
    #[error("no record meets all conditions: leave one of --where out")]
    NothingSelected,
    #[error("no record that meets all conditions counts. {left_out}")]
    NoneCounts { left_out: String },
    #[error("{why}. {left_out}")]
    AfterLeavingOut { why: Box<Self>, left_out: String },
    #[error(
        "{place}: the field `{field}` is missing; leave such records out, such as by --where bench!=..."
    )]
    MissingField { field: String, place: Place },
    #[error("{place}: `{field}` is {found}, and a response is a number or a list of numbers")]
    NotANumber { field: String, found: String, place: Place },
    #[error(
        "{place}: no known response; name the figure to analyse with --response FIELD: numbers are {}",
        .numbers.join(", ")
    )]
    NoResponse { place: Place, numbers: Vec<String> },
    #[error(
        "the records are about different figures; analyse them one by one: {}; or name one with --response FIELD",
        .ways.join("; ")
    )]
    MixedResponses { ways: Vec<String> },
    #[error(
        "{} did not complete, which leaves no figure: {}; leave the experiment or the runtime out by \
         --where bench!=... or --where runtime!=...",
        suite::words::count(.runs.len(), "run"),
        listed(.runs)
    )]
    Incomplete { runs: Vec<String> },
    #[error(
        "`{field}` differs ({}) between runs of {cell}: add it to --rows, choose one value by \
         --where {field}=..., or let it count as chance by --pool {field}",
        .values.join(", ")
    )]
    Pooled { field: String, values: Vec<String>, cell: String },
    #[error(
        "only one row (`{level}`): the design compares at least two; measure another benchmark, size or \
         number of workers, or name fields that differ with --rows"
    )]
    OneRow { level: String },
    #[error(
        "only one {field} (`{level}`): the design compares at least two{}",
        if *.serial { "; serial runs are left out unless --where runtime=serial,... names them" } else { "" }
    )]
    OneColumn { field: String, level: String, serial: bool },
    #[error(
        "one replication only: without repeats an interaction cannot be told from an error; measure with \
         --reps 5 or more{hint}"
    )]
    OneReplication { hint: String },
    #[error(
        "the design is not balanced: each cell needs two replications, and half as many as any other; \
         one has {most}, and {}; measure them, or leave their row or column out, such as by {way}{hint}",
        listed(.cells)
    )]
    Unbalanced { most: usize, cells: Vec<String>, way: String, hint: String },
    #[error(
        "all replications of each cell are equal, so there is no error to compare the effects with and F is \
         undefined: is the response a setting, or a clock too coarse?"
    )]
    ZeroVariance,
    #[error(
        "{cell} has the response {value}, which has no logarithm: use --model additive, or leave it out, \
         such as by --where bench!=..."
    )]
    NoLogarithm { cell: String, value: f64 },
    #[error("the responses are too large for their squares to be added: choose another --response")]
    TooLarge,
    #[error(
        "the responses differ by too little for the squares of their differences to be added: use --model multiplicative, \
         or choose another --response or a smaller unit of it"
    )]
    TooSmall,
    #[error("`{name}` is named twice by {option}")]
    NamedTwice { name: String, option: &'static str },
    #[error("no {field} `{name}` to compare: there are {}", .known.join(", "))]
    UnknownContrast { field: String, name: String, known: Vec<String> },
}

impl Error {
    /// Returns whether the fault is in the command line rather than in the records.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            Self::UnknownField { .. }
            | Self::UnknownValue { .. }
            | Self::UnknownContrast { .. }
            | Self::NamedTwice { .. } => true,
            Self::AfterLeavingOut { why, .. } => why.is_usage(),
            _ => false,
        }
    }
}

/// Lists the first few items, and the number of the others: an error must fit on a screen.
fn listed(items: &[String]) -> String {
    const NAMED: usize = 8;
    let mut text = items.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    if items.len() > NAMED {
        text.push_str(&format!("; and {} more", items.len() - NAMED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_end_in_a_count() {
        let items: Vec<String> = (0..10).map(|item| item.to_string()).collect();
        assert!(listed(&items).ends_with("6; 7; and 2 more"));
        assert_eq!(listed(&items[..2]), "0; 1");
    }
}
