//! The kinds of fields in a record: settings, which tell runs apart, and results.
//!
//! A family names the settings of its experiments and the figures that they are about. Any other
//! field is a setting if it is text, a whole number, or true or false, and in no inner object. A
//! result of that kind that is not listed here splits the rows until a cell lacks replications, and
//! that error names it. A setting taken for a result would be pooled in silence.

use serde_json::Value;

use super::known;
use suite::named::NAMELESS;

/// The runtime that is a yardstick rather than a peer: it has no number of workers to compare.
/// Other languages have serial runtimes of their own.
pub(super) const SERIAL: &str = "serial";

/// Returns whether a runtime of this name makes plain calls, in any language.
pub(super) fn is_serial(runtime: &str) -> bool {
    runtime == SERIAL || runtime.strip_prefix(SERIAL).is_some_and(|rest| rest.starts_with('-'))
}

/// The distance of the cores. Runs with different values are never compared.
pub(super) const REGIME: &str = "regime";

/// Whether a run did not complete. If it is absent, the run completed.
pub(super) const DNC: &str = "dnc";

/// The fields that come first in the name of a row. The settings of experiments follow, in the
/// order of the families, and then other settings by name.
const FIRST: [&str; 4] = ["bench", "variant", "workers", "size"];

/// Counts of operations during a measurement.
pub(super) const COUNTS: [&str; 7] =
    ["ops", "operations", "hops", "misses", "computations", "polls", "wakes"];

/// Other results that are whole numbers, text, or true or false, and that no table shows. Results
/// of new experiments are floats, and need no line here.
const RESULTS: [&str; 6] =
    ["checksum", "homes_before", "homes_after", "given_away", "hop_ns", "verdict"];

/// Fields that every record has beside its settings and its figures, and fields that a line of all
/// repeats gives for all of them together.
const OF_THE_RUN: [&str; 7] =
    ["repeat", DNC, "line_ns_before", "line_ns_after", "cpu_share", "reps", "speedup"];

/// Returns whether a figure is a time in seconds.
pub(super) fn is_in_seconds(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|last| last.split('_').any(|word| word == "seconds"))
}

/// Returns whether a field with this value tells runs of an experiment apart.
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

/// Returns a setting as text; `None` if it is no scalar. Some releases write 500 as 500.0.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) if number.is_f64() => number.as_f64().map(|v| v.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Sorts settings into the order in which they name a row.
pub(super) fn sort(names: &mut [String]) {
    let first = |name: &String| FIRST.iter().position(|first| first == name);
    let place = |name: &String| match (first(name), known::place(name)) {
        (Some(place), _) => (0, place),
        (None, Some(place)) => (1, place),
        (None, None) => (2, 0),
    };
    names.sort_by_key(|name| (place(name), name.clone()));
}

/// Returns a setting as it tells runs apart: a setting that the experiment lacks is absent, in any
/// form.
pub(super) fn told(name: &str, value: String) -> Option<String> {
    label(name, &value).map(|_| value)
}

/// Returns a setting within the name of a row: `fib`, `workers 2`. Returns `None` for a setting
/// that the experiment lacks, which its records mark by `-` or 0.
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
            // A setting of one experiment is a count of another.
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
