//! Chooses the figure of a record to analyse, and the unit in which it is shown.
//!
//! For an experiment of a family, it is the figure by which the family compares it. For another
//! experiment it is the first figure by which any family compares, or else the record's seconds. A
//! count beside the seconds rules them out: then they are only the duration of the measurement.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::error::Error;
use super::fields::{COUNTS, DNC, is_in_seconds};
use super::input::Line;
use super::known;
use super::selection;
use suite::quantity::Better;

/// The analysed figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    /// The name of the field.
    pub(crate) field: String,
    /// The unit in which it is shown; empty if unknown.
    pub(crate) unit: String,
    /// Which of two figures is better, if the families say it.
    pub(crate) better: Option<Better>,
}

impl Response {
    /// Returns the unit in brackets, after a space; empty if there is none.
    pub(crate) fn bracketed(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" ({})", self.unit) }
    }
}

/// The field with the seconds of a run, or a list with an item per replication.
const SECONDS: &str = "seconds";

/// Reads the response of each line: one value, or a replication per item of a list.
pub(super) fn read(
    lines: &[Line],
    asked: Option<&str>,
) -> Result<(Response, Vec<Vec<f64>>), Error> {
    if let Some(field) = asked {
        selection::known(lines, field)?;
    }
    let incomplete: Vec<String> =
        lines.iter().filter(|line| is_incomplete(line)).map(name).collect();
    if !incomplete.is_empty() {
        return Err(Error::Incomplete { runs: incomplete });
    }
    let mut found: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    let mut values = Vec::with_capacity(lines.len());
    for line in lines {
        let field = match asked {
            Some(field) => field,
            None => usual(line).ok_or_else(|| no_response(line))?,
        };
        found.entry(field).or_default().push(line);
        values.push(numbers(line, field)?);
    }
    if found.len() > 1 {
        return Err(Error::MixedResponses { ways: ways(&found) });
    }
    let field = found.into_keys().next().unwrap_or_default();
    let (unit, size) = unit(field, lines, &values);
    for value in values.iter_mut().flatten() {
        *value /= size;
    }
    Ok((Response { field: field.to_owned(), unit, better: better(field, lines) }, values))
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

/// Returns the figure that a record is about.
pub(crate) fn usual(line: &Line) -> Option<&'static str> {
    match known::of(line) {
        Some(experiment) => experiment.analysed(|field| line.fields.contains_key(field)),
        None => of_unknown(line),
    }
}

/// Returns the figure of a record of an experiment that no family has.
fn of_unknown(line: &Line) -> Option<&'static str> {
    let holds = |field: &str| line.fields.get(field);
    if holds(SECONDS).is_some_and(Value::is_array) {
        return Some(SECONDS);
    }
    let positive = |field: &&str| holds(field).and_then(Value::as_f64).is_some_and(|v| v > 0.0);
    let is_measured_for = COUNTS.iter().any(|count| holds(count).is_some());
    let seconds = || (holds(SECONDS).is_some() && !is_measured_for).then_some(SECONDS);
    known::compared().find(positive).or_else(seconds)
}

/// Returns how to choose each of several figures: by a condition that only its records meet.
fn ways(found: &BTreeMap<&str, Vec<&Line>>) -> Vec<String> {
    let way = |(field, lines): (&&str, &Vec<&Line>)| {
        let others = || found.iter().filter(|(other, _)| *other != field).flat_map(|(_, of)| of);
        let condition = ["bench", "variant"].into_iter().find_map(|setting| {
            let text = |line: &&Line| line.text(setting);
            let own: Option<BTreeSet<String>> = lines.iter().map(text).collect();
            let rest: Option<BTreeSet<String>> = others().map(text).collect();
            let (own, rest) = (own?, rest?);
            let list = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(",");
            match () {
                () if !own.is_disjoint(&rest) => None,
                () if own.len() > rest.len() => {
                    Some(format!("--where '{setting}!={}'", list(rest)))
                }
                () => Some(format!("--where {setting}={}", list(own))),
            }
        });
        match condition {
            Some(condition) => format!("{field} by {condition}"),
            None => format!("{field} by leaving other records out"),
        }
    };
    found.iter().map(way).collect()
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

/// Returns which of two figures is better, if all experiments that show it agree.
fn better(field: &str, lines: &[Line]) -> Option<Better> {
    let says = |line: &Line| known::quantity(line, field).map(|quantity| quantity.better);
    let mut all = lines.iter().map(says);
    let first = all.next()??;
    let is_same = |other: Option<Better>| other.is_some_and(|one| one.says() == first.says());
    (first != Better::Neither && all.all(is_same)).then_some(first)
}

/// Returns the unit that keeps the figures short, and its size in the field's own unit.
fn unit(field: &str, lines: &[Line], values: &[Vec<f64>]) -> (String, f64) {
    if is_in_seconds(field) {
        let all = values.iter().flatten().map(|value| value.abs()).filter(|value| *value > 0.0);
        let (sum, number) = all.fold((0.0, 0), |(sum, number), v| (sum + v.log10(), number + 1));
        let typical = 10f64.powf(sum / f64::from(number.max(1)));
        let (unit, size) = match typical {
            t if t >= 1.0 => ("s", 1.0),
            t if t >= 1e-3 => ("ms", 1e-3),
            t if t >= 1e-6 => ("µs", 1e-6),
            _ => ("ns", 1e-9),
        };
        return (unit.to_owned(), size);
    }
    let of = |line| known::quantity(line, field).map(|quantity| told(quantity.name));
    let told: BTreeSet<Option<&str>> = lines.iter().map(of).collect();
    let unit = match told.into_iter().collect::<Vec<_>>()[..] {
        [Some(unit)] => unit.to_owned(),
        _ => named(field),
    };
    (unit, 1.0)
}

/// Returns the unit in the name of a quantity, such as `late p99.9, µs` or `million ops/s`.
fn told(quantity: &str) -> &str {
    quantity.rsplit(", ").next().unwrap_or(quantity)
}

/// Returns the unit in the name of a field.
fn named(field: &str) -> String {
    let last = field.rsplit('.').next().unwrap_or(field);
    let has = |unit: &str| last.split('_').any(|word| word == unit);
    match last {
        _ if has("per") => last.replace('_', " "),
        _ if has("us") => "µs".to_owned(),
        _ if has("ns") => "ns".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::input;

    /// Returns the figure of a record with these fields.
    fn of(fields: &str) -> Option<&'static str> {
        usual(&input::parse("runs", &format!("{{{fields}}}")).unwrap()[0])
    }

    #[test]
    fn a_family_says_what_its_records_are_about() {
        let mixed = r#""bench":"mixed","seconds":0.2,"computations":230,"polls":8"#;
        let rates = format!(r#"{mixed},"polls_per_second":8.0,"computations_per_second":1149.3"#);
        assert_eq!(of(&rates), Some("computations_per_second"));
        assert_eq!(of(mixed), None, "seconds are how long it was measured");
        let travel = r#""bench":"travel","operations":7,"seconds":0.05,"mops":2.4,"core_ns":843.3"#;
        assert_eq!(of(travel), Some("core_ns"));
        let directory = r#""bench":"directory","operations":7,"seconds":0.05,"mops":2.4"#;
        assert_eq!(of(directory), Some("mops"));
        assert_eq!(
            of(r#""bench":"timers","ops":7,"seconds":0.2,"ns_per_timer":34.0"#),
            Some("ns_per_timer")
        );
        assert_eq!(of(r#""bench":"fib","seconds":0.002"#), Some("seconds"));
        assert_eq!(of(r#""bench":"fib","seconds":[0.002,0.003]"#), Some("seconds"));
    }

    #[test]
    fn what_no_family_has_is_about_a_figure_that_some_family_compares_or_its_seconds() {
        assert_eq!(
            of(r#""bench":"a","ops":7,"ns_per_op_per_proc":20.0"#),
            Some("ns_per_op_per_proc")
        );
        assert_eq!(
            of(r#""bench":"a","transfer_us":3.0,"ns_per_op_per_proc":0.0"#),
            Some("transfer_us")
        );
        assert_eq!(of(r#""bench":"a","seconds":[0.1]"#), Some("seconds"));
        assert_eq!(of(r#""bench":"a","seconds":0.1"#), Some("seconds"));
        assert_eq!(of(r#""bench":"a","seconds":0.1,"computations":3"#), None);
        assert_eq!(of(r#""bench":"a","seconds":0.1,"operations":3"#), None);
    }

    #[test]
    fn a_unit_is_in_the_name_of_the_quantity_or_of_the_field() {
        let texts = ["late p99.9, µs", "million ops/s"].map(told);
        assert_eq!(texts, ["µs", "million ops/s"]);
        let names = ["ns_per_message", "late_us_p999", "line_ns", "steals.far", "mops"].map(named);
        assert_eq!(names, ["ns per message", "µs", "ns", "", ""]);
    }
}
