//! What the fields of a record are: settings, which tell runs apart, or results.
//!
//! The settings of an experiment, and the figures that it is about, are those that its family
//! names. Any other field is a setting if it is text, a whole number, or true or false, and in no
//! inner object. A result of that kind which is not listed here splits the rows until a cell lacks
//! replications, which is an error that names it; a setting taken for a result would be pooled in
//! silence.

use serde_json::Value;

use super::known;
use suite::named::NAMELESS;

/// The runtime that is a yardstick rather than a peer: it has no workers to compare at. Other
/// languages have one of their own.
pub(super) const SERIAL: &str = "serial";

/// Whether a runtime of this name makes plain calls, in whatever language.
pub(super) fn is_serial(runtime: &str) -> bool {
    runtime == SERIAL || runtime.strip_prefix(SERIAL).is_some_and(|rest| rest.starts_with('-'))
}

/// Nearness of the cores, between whose values nothing is compared.
pub(super) const REGIME: &str = "regime";

/// Whether a run did not complete. Where it is absent, it did.
pub(super) const DNC: &str = "dnc";

/// What names a row first. The settings of experiments follow, as the families have them, and then
/// others by name.
const FIRST: [&str; 4] = ["bench", "variant", "workers", "size"];

/// Counts of what was done while it was measured.
pub(super) const COUNTS: [&str; 7] =
    ["ops", "operations", "hops", "misses", "computations", "polls", "wakes"];

/// Other results that are whole numbers, text, or true or false, and that no table shows. Those of
/// new experiments are floats, and have no line here.
const RESULTS: [&str; 6] =
    ["checksum", "homes_before", "homes_after", "given_away", "hop_ns", "verdict"];

/// What all records say of a run beside its settings and its figures, and what lines of all repeats
/// say of them together.
const OF_THE_RUN: [&str; 7] =
    ["repeat", DNC, "line_ns_before", "line_ns_after", "cpu_share", "reps", "speedup"];

/// Whether a figure is a time in seconds.
pub(super) fn is_in_seconds(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|last| last.split('_').any(|word| word == "seconds"))
}

/// Whether a field with this value tells runs of an experiment apart.
pub(crate) fn is_setting(bench: Option<&str>, name: &str, value: &Value) -> bool {
    let is_fraction = match value {
        Value::Number(number) => number.is_f64(),
        Value::String(_) | Value::Bool(_) => false,
        Value::Null | Value::Array(_) | Value::Object(_) => return false,
    };
    let experiment = bench.and_then(known::experiment);
    match experiment {
        Some(of) if of.settings.contains(&name) => true,
        Some(of) if of.quantity_of(name).is_some() => false,
        _ => {
            let results = COUNTS.iter().chain(&RESULTS).chain(&OF_THE_RUN);
            let mut results = results.copied();
            !is_fraction
                && !name.contains('.')
                && !is_in_seconds(name)
                && !known::is_figure(name)
                && !results.any(|result| result == name)
        }
    }
}

/// A setting as text; `None` for what is no scalar. Some releases have written 500 as 500.0.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) if number.is_f64() => number.as_f64().map(|v| v.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Sorts settings as they name a row.
pub(super) fn sort(names: &mut [String]) {
    let first = |name: &String| FIRST.iter().position(|first| first == name);
    let place = |name: &String| match (first(name), known::place(name)) {
        (Some(place), _) => (0, place),
        (None, Some(place)) => (1, place),
        (None, None) => (2, 0),
    };
    names.sort_by_key(|name| (place(name), name.clone()));
}

/// A setting as it tells runs apart: what an experiment does not have is absent, however it is put.
pub(super) fn told(name: &str, value: String) -> Option<String> {
    label(name, &value).map(|_| value)
}

/// A setting within the name of a row: `fib`, `workers 2`; nothing for what an experiment does not
/// have, which its records say by `-` or 0.
pub(super) fn label(name: &str, value: &str) -> Option<String> {
    match name {
        "variant" if value == NAMELESS => None,
        _ if known::place(name).is_some() && [NAMELESS, "0"].contains(&value) => None,
        "bench" | "variant" => Some(value.to_owned()),
        REGIME => Some(format!("cores {value}")),
        _ => Some(format!("{} {value}", name.replace('_', " "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_calls_have_several_names() {
        for (name, serial) in [("serial", true), ("serial-cpp", true), ("serialist", false)] {
            assert_eq!(is_serial(name), serial, "{name}");
        }
    }

    #[test]
    fn settings_are_what_no_measurement_makes() {
        for (bench, name, value, setting) in [
            (Some("fib"), "n", "10", true),
            (Some("fib"), "locality", "\"biased\"", true),
            (Some("fib"), "wait", "false", true),
            (Some("fib"), "idle", "0.5", false),
            (Some("fib"), "steals.far", "5", false),
            (Some("fib"), "steals", "5", false),
            (Some("fib"), "seconds", "1", false),
            (Some("fib"), "seconds", "[1.0]", false),
            (Some("cycle"), "ops", "10", false),
            (Some("cycle"), "transfer_us", "null", false),
            (Some("mixed"), "computation_us_p99", "20", false),
            // What one experiment is told, another one counts.
            (Some("pingpong"), "actors", "2", true),
            (Some("pingpong"), "actors", "2.0", true),
            (Some("actor_memory"), "actors", "2", false),
            (Some("unheard of"), "actors", "2", true),
            (Some("unheard of"), "mops", "2", false),
            (None, "idle_seconds", "2", false),
            (None, "dose", "2", true),
        ] {
            let value = serde_json::from_str(value).unwrap();
            assert_eq!(is_setting(bench, name, &value), setting, "{bench:?}, {name}");
        }
    }

    #[test]
    fn rows_are_named_by_what_was_run_first() {
        let names = ["locality", "n", "workers", "tasks_per_proc", "size", "bench", "bytes"];
        let mut names = names.map(str::to_owned);
        sort(&mut names);
        let due = ["bench", "workers", "size", "tasks_per_proc", "n", "bytes", "locality"];
        assert_eq!(names, due);
        assert_eq!(label("tasks_per_proc", "100").as_deref(), Some("tasks per proc 100"));
        assert_eq!(
            (label("variant", "-"), label("keys", "0"), label("access", "-")),
            (None, None, None)
        );
        assert_eq!(label("k", "0").as_deref(), Some("k 0"));
    }
}
