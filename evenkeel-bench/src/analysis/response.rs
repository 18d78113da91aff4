//! Which figure of a record is analysed, and in which unit it is shown.

use std::collections::BTreeSet;

use serde_json::Value;

use super::error::Error;
use super::fields::DNC;
use super::input::Line;
use super::selection::known;

/// The figure that is analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    /// The field's name.
    pub(crate) field: String,
    /// The unit in which it is shown; empty if it is not known.
    pub(crate) unit: String,
}

impl Response {
    /// The unit in brackets, after a space; nothing if there is none.
    pub(crate) fn bracketed(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" ({})", self.unit) }
    }
}

/// The figures that the suite's records are about, the first that a record has.
const KNOWN: [&str; 3] = ["transfer_us", "bytes_per_task", "ns_per_op_per_proc"];

/// Seconds of the recursion of a fork-join program: a list, with an item per replication.
const SECONDS: &str = "seconds";

/// Reads the response of each line: one value, or a replication per item of a list.
pub(super) fn read(
    lines: &[Line],
    asked: Option<&str>,
) -> Result<(Response, Vec<Vec<f64>>), Error> {
    if let Some(field) = asked {
        known(lines, field)?;
    }
    let incomplete: Vec<String> =
        lines.iter().filter(|line| is_incomplete(line)).map(name).collect();
    if !incomplete.is_empty() {
        return Err(Error::Incomplete { runs: incomplete });
    }
    let mut found = BTreeSet::new();
    let mut values = Vec::with_capacity(lines.len());
    for line in lines {
        let field = match asked {
            Some(field) => field,
            None => usual(line).ok_or_else(|| no_response(line))?,
        };
        found.insert(field);
        values.push(numbers(line, field)?);
    }
    if found.len() > 1 {
        let found = found.into_iter().map(str::to_owned).collect();
        return Err(Error::MixedResponses { found });
    }
    let field = found.into_iter().next().unwrap_or_default();
    let (unit, size) = unit(field, &values);
    for value in values.iter_mut().flatten() {
        *value /= size;
    }
    Ok((Response { field: field.to_owned(), unit: unit.to_owned() }, values))
}

fn is_incomplete(line: &Line) -> bool {
    line.fields.get(DNC) == Some(&Value::Bool(true))
}

fn name(line: &Line) -> String {
    let text = |field| line.text(field);
    let parts = [text("bench"), text("variant").filter(|variant| variant != "-")];
    let what: Vec<String> = parts.into_iter().flatten().collect();
    format!("{} on {} ({})", what.join(" "), text("runtime").unwrap_or_default(), line.place)
}

/// The figure that a record is about. Seconds of a run that has a number of operations are only how
/// long it was measured.
fn usual(line: &Line) -> Option<&'static str> {
    let holds = |field: &str| line.fields.get(field);
    if holds(SECONDS).is_some_and(Value::is_array) {
        return Some(SECONDS);
    }
    let positive = |field: &&str| holds(field).and_then(Value::as_f64).is_some_and(|v| v > 0.0);
    let of_its_own = KNOWN.into_iter().find(positive);
    of_its_own.or_else(|| {
        (holds(SECONDS).is_some()
            && !["ops", "operations"].into_iter().any(|name| holds(name).is_some()))
        .then_some(SECONDS)
    })
}

fn no_response(line: &Line) -> Error {
    let numeric = |value: &Value| value.is_number() || value.is_array();
    let numbers = line.fields.iter().filter(|(_, value)| numeric(value));
    Error::NoResponse {
        place: line.place.clone(),
        numbers: numbers.map(|(name, _)| name.clone()).collect(),
    }
}

fn numbers(line: &Line, field: &str) -> Result<Vec<f64>, Error> {
    let place = || line.place.clone();
    let Some(value) = line.fields.get(field) else {
        return Err(Error::MissingField { field: field.to_owned(), place: place() });
    };
    let number = |value: &Value| {
        value.as_f64().filter(|number| number.is_finite()).ok_or_else(|| Error::NotANumber {
            field: field.to_owned(),
            found: value.to_string(),
            place: place(),
        })
    };
    match value {
        Value::Array(items) => items.iter().map(number).collect(),
        value => Ok(vec![number(value)?]),
    }
}

/// The unit that keeps the figures short, and its size in the field's own unit.
fn unit(field: &str, values: &[Vec<f64>]) -> (&'static str, f64) {
    let last = field.rsplit('.').next().unwrap_or(field);
    if last.split('_').any(|word| word == SECONDS) {
        let all = values.iter().flatten().map(|value| value.abs()).filter(|value| *value > 0.0);
        let (sum, number) = all.fold((0.0, 0), |(sum, number), v| (sum + v.log10(), number + 1));
        let typical = 10f64.powf(sum / f64::from(number.max(1)));
        return match typical {
            t if t >= 1.0 => ("s", 1.0),
            t if t >= 1e-3 => ("ms", 1e-3),
            t if t >= 1e-6 => ("µs", 1e-6),
            _ => ("ns", 1e-9),
        };
    }
    match last {
        "transfer_us" => ("µs per transfer", 1.0),
        "bytes_per_task" => ("bytes per task", 1.0),
        "ns_per_op_per_proc" => ("ns per operation per processor", 1.0),
        _ if last.ends_with("_us") => ("µs", 1.0),
        _ if last.ends_with("_ns") => ("ns", 1.0),
        _ => ("", 1.0),
    }
}
