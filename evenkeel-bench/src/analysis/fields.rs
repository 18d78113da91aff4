//! What the fields of a record are: settings, which tell runs apart, or results.
//!
//! A field that nobody has heard of is a setting if it is text, a whole number, or true or false,
//! and in no inner object. A result of that kind which is not listed here splits the rows until a
//! cell lacks replications, which is an error that names it; a setting taken for a result would be
//! pooled in silence.

use serde_json::Value;

/// The runtime that is a yardstick rather than a peer: it has no workers to compare at. Other
/// languages have one of their own.
pub(super) const SERIAL: &str = "serial";

/// Whether a runtime of this name makes plain calls, in whatever language.
pub(super) fn is_serial(runtime: &str) -> bool {
    runtime == SERIAL || runtime.strip_prefix(SERIAL).is_some_and(|rest| rest.starts_with('-'))
}

/// Nearness of the cores, between whose values nothing is compared.
pub(super) const REGIME: &str = "regime";

/// Experiments in which nothing travels between cores, however many there are.
const REGARDLESS: [&str; 2] = ["memory", "actor_memory"];

/// Whether the distance of the cores matters to an experiment that has several workers.
pub(crate) fn depends_on_distance(bench: &str) -> bool {
    !REGARDLESS.contains(&bench)
}

/// Whether a run did not complete. Where it is absent, it did.
pub(super) const DNC: &str = "dnc";

/// Settings in the order in which they name a row; others follow by name.
const ORDER: [&str; 21] = [
    "bench",
    "variant",
    "n",
    "size",
    "monitors",
    "workers",
    "tasks_per_proc",
    "tasks",
    "actors",
    "messages",
    "in_flight",
    "words",
    "touch",
    "tasks_per_core",
    "objects",
    "bytes",
    "keys",
    "access",
    "popularity",
    "period_ms",
    "simulated",
];

/// Results, and numbers of repeats, that are whole numbers, text, or true or false.
const RESULTS: [&str; 17] = [
    "homes_before",
    "homes_after",
    "given_away",
    "hop_ns",
    "verdict",
    "ops",
    "operations",
    "hops",
    "misses",
    "repeat",
    "reps",
    "checksum",
    DNC,
    "computations",
    "polls",
    "wakes",
    "steals",
];

/// Results that could be written as whole numbers by other hands than the suite's.
const FIGURES: [&str; 25] = [
    "seconds",
    "execution_seconds",
    "inflation_seconds",
    "scheduling_seconds",
    "idle_seconds",
    "seconds_median",
    "seconds_min",
    "seconds_max",
    "speedup",
    "ns_per_op_per_proc",
    "transfer_us",
    "bytes_per_task",
    "ns_per_message",
    "bytes_per_actor",
    "heap_bytes_per_actor",
    "longest_wait_us",
    "mops",
    "core_ns",
    "mops_many",
    "mops_few",
    "mops_many_settled",
    "mops_few_settled",
    "line_ns_before",
    "line_ns_after",
    "cpu_share",
];

/// Whether a field with this value tells runs apart.
pub(crate) fn is_setting(name: &str, value: &Value) -> bool {
    let scalar = match value {
        Value::Number(number) => !number.is_f64(),
        Value::String(_) | Value::Bool(_) => true,
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    };
    scalar && !name.contains('.') && !RESULTS.contains(&name) && !FIGURES.contains(&name)
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
    let place = |name: &String| ORDER.iter().position(|known| known == name);
    names.sort_by_key(|name| (place(name).unwrap_or(ORDER.len()), name.clone()));
}

/// A setting as it tells runs apart: what an experiment does not have is absent, however it is put.
pub(super) fn told(name: &str, value: String) -> Option<String> {
    label(name, &value).map(|_| value)
}

/// A setting within the name of a row: `fib`, `workers 2`; nothing for what an experiment does not
/// have.
pub(super) fn label(name: &str, value: &str) -> Option<String> {
    match name {
        "variant" | "access" if value == "-" => None,
        // No arrays, monitors, keys or changes.
        "words" | "touch" | "monitors" | "keys" | "period_ms" if value == "0" => None,
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
        for (name, value, setting) in [
            ("n", "10", true),
            ("locality", "\"biased\"", true),
            ("wait", "false", true),
            ("idle", "0.5", false),
            ("steals.far", "5", false),
            ("ops", "10", false),
            ("seconds", "1", false),
            ("seconds", "[1.0]", false),
            ("transfer_us", "null", false),
        ] {
            assert_eq!(is_setting(name, &serde_json::from_str(value).unwrap()), setting, "{name}");
        }
    }

    #[test]
    fn rows_are_named_by_what_was_run_first() {
        let mut names = ["workers", "locality", "bench", "n"].map(str::to_owned);
        sort(&mut names);
        assert_eq!(names, ["bench", "n", "workers", "locality"]);
        assert_eq!(label("tasks_per_proc", "100").as_deref(), Some("tasks per proc 100"));
        assert_eq!(label("variant", "-"), None);
    }
}
