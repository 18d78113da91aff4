//! Reads records from files, including files of earlier releases.
//!
//! `analyse` reads differently: it takes fields that are unknown here. It shares the renaming of
//! fields.

use anyhow::{Context, bail};
use serde_json::{Map, Value};

use super::case::{Case, Fields, Name};
use super::record::{Quiet, Record};
use super::summary::Summary;
use crate::named::NAMELESS;

/// Names of the envelope, each with another name that some families used.
const ALIASES: [(&str, &str); 2] = [("workers", "procs"), ("runtime", "mode")];

/// Renames the fields of the envelope to their present names.
pub fn renamed(fields: &mut Map<String, Value>) {
    for (name, alias) in ALIASES {
        if !fields.contains_key(name) {
            fields.remove(alias).map(|value| fields.insert(name.to_owned(), value));
        }
    }
}

/// The field with the seconds of a run, or of all repeats of a case.
const SECONDS: &str = "seconds";

/// Fields that a line of all repeats gives for all of them together. They are computed from the
/// records where they are shown.
const TOGETHER: [&str; 5] = ["reps", "seconds_median", "seconds_min", "seconds_max", "speedup"];

/// Fields that such a line gives for the repeat with the median time, or the one nearest to it.
const OF_MEDIAN: [&str; 7] = [
    "execution_seconds",
    "inflation_seconds",
    "scheduling_seconds",
    "idle_seconds",
    "steals",
    "levels",
    "per_worker",
];

/// Parses a line as a record. A field is a setting if its name is in `settings`, and else a figure.
pub fn record(line: &str, settings: &[&str]) -> anyhow::Result<Record> {
    of(serde_json::from_str(line)?, settings)
}

/// Parses a line as one record, or as one record per repeat if its seconds are a list.
pub fn records(line: &str, settings: &[&str]) -> anyhow::Result<Vec<Record>> {
    let mut fields: Map<String, Value> = serde_json::from_str(line)?;
    let Some(Value::Array(seconds)) = fields.remove(SECONDS) else {
        return Ok(vec![record(line, settings)?]);
    };
    let seconds: Option<Vec<f64>> = seconds.iter().map(Value::as_f64).collect();
    let seconds = seconds.context("not all of `seconds` are numbers")?;
    let median = Summary::of(seconds.clone()).context("`seconds` is an empty list")?.median;
    let distance = |repeat: &usize| (seconds[*repeat] - median).abs();
    let nearest = (0..seconds.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let repeat = |(repeat, &seconds): (usize, &f64)| {
        let mut own = fields.clone();
        own.retain(|name, _| {
            let is_of_another = OF_MEDIAN.contains(&name.as_str()) && Some(repeat) != nearest;
            !TOGETHER.contains(&name.as_str()) && !is_of_another
        });
        own.insert("repeat".to_owned(), repeat.into());
        own.insert(SECONDS.to_owned(), seconds.into());
        of(own, settings)
    };
    seconds.iter().enumerate().map(repeat).collect()
}

fn of(mut fields: Map<String, Value>, settings: &[&str]) -> anyhow::Result<Record> {
    renamed(&mut fields);
    let runtime = text(&mut fields, "runtime")?;
    let bench = text(&mut fields, "bench")?;
    let variant = text(&mut fields, "variant").unwrap_or(NAMELESS.into());
    let workers = number(&mut fields, "workers")? as usize;
    let repeat = number(&mut fields, "repeat").unwrap_or_default() as usize;
    let dnc = fields.remove("dnc") == Some(Value::Bool(true));
    let quiet = Quiet {
        line_ns_before: number(&mut fields, "line_ns_before")?,
        line_ns_after: number(&mut fields, "line_ns_after")?,
        regime: text(&mut fields, "regime")?,
        cpu_share: number(&mut fields, "cpu_share")?,
    };
    let mut case = Case { bench, variant, workers, settings: Fields::new() };
    for name in settings {
        if let Some(value) = fields.remove(*name) {
            case.settings = case.settings.with((*name).to_owned(), value);
        }
    }
    let figures = fields.into_iter().fold(Fields::new(), |all, (name, value)| match value {
        Value::Null => all,
        value => all.with(name, value),
    });
    Ok(Record { runtime, case, repeat, figures, dnc, quiet })
}

fn take(fields: &mut Map<String, Value>, name: &str) -> anyhow::Result<Value> {
    fields.remove(name).with_context(|| format!("the record has no `{name}`"))
}

fn text(fields: &mut Map<String, Value>, name: &str) -> anyhow::Result<Name> {
    match take(fields, name)? {
        Value::String(text) => Ok(text.into()),
        other => bail!("`{name}` is {other}, and no text"),
    }
}

fn number(fields: &mut Map<String, Value>, name: &str) -> anyhow::Result<f64> {
    let value = take(fields, name)?;
    value.as_f64().with_context(|| format!("`{name}` is {value}, and no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_earlier_releases_are_understood() {
        let line = r#"{"mode":"home","bench":"scan","procs":2,"bytes":64,"operations":5,"hops":null,
            "line_ns_before":0.0,"line_ns_after":0.0,"regime":"one core","cpu_share":1.0}"#;
        let Record { runtime, case, figures, .. } = record(line, &["bytes"]).unwrap();
        assert_eq!(runtime, "home");
        assert_eq!(case, Case::new("scan", NAMELESS, 2).with("bytes", 64));
        assert_eq!(figures, Fields::new().with("operations", 5));
    }

    /// Lines of an earlier release.
    #[test]
    fn a_line_of_all_repeats_is_a_record_for_each() {
        let old = include_str!("../../tests/data/old/fork-join.jsonl");
        let of = |line: &str| records(line, &["n"]).unwrap();
        let all: Vec<Record> = old.lines().flat_map(of).collect();
        assert_eq!(all.len(), 2 * 2 * 3 * 3);
        let [a, b, c] = &all[3..6] else { panic!("the second line is evenkeel's") };
        assert_eq!((a.runtime.as_ref(), &a.case), ("evenkeel", &c.case));
        assert_eq!(a.case, Case::new("fib", NAMELESS, 1).with("n", 8));
        assert_eq!((a.repeat, b.repeat, c.repeat), (0, 1, 2));
        let of = |name| [a, b, c].map(|record| record.figures.number(name));
        assert_eq!(of("seconds"), [0.000064416, 0.000076874, 0.00008779].map(Some));
        // The fields of the median repeat are only in its record.
        assert_eq!(of("execution_seconds"), [None, Some(0.000038467), None]);
        assert_eq!((of("speedup"), of("reps")), ([None; 3], [None; 3]));
        assert_eq!(c.figures.text("checksum"), Some("0x0000000000000015"));
        // A line in the present form is one record.
        let line = serde_json::to_string(b).unwrap();
        assert_eq!(records(&line, &["n"]).unwrap().as_slice(), std::slice::from_ref(b));
    }

    #[test]
    fn what_is_no_record_says_what_it_lacks() {
        let why = |line| record(line, &[]).unwrap_err().to_string();
        assert_eq!(why("{}"), "the record has no `runtime`");
        assert_eq!(why(r#"{"runtime":3}"#), "`runtime` is 3, and no text");
        let line = r#"{"runtime":"a","bench":"b","workers":"two"}"#;
        assert_eq!(why(line), "`workers` is \"two\", and no number");
        let why = |line| records(line, &[]).unwrap_err().to_string();
        assert_eq!(why(r#"{"seconds":[]}"#), "`seconds` is an empty list");
        assert_eq!(why(r#"{"seconds":[1,"two"]}"#), "not all of `seconds` are numbers");
    }
}
