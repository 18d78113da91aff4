//! Records from files, also from those that earlier releases have written.
//!
//! [`analyse`](crate::analysis) does not read this way: it takes fields that nothing here knows.

use anyhow::{Context, bail};
use serde_json::{Map, Value};

use super::case::{Case, Fields, Name};
use super::record::{Quiet, Record};
use crate::named::NAMELESS;

/// Names of the envelope that some families wrote otherwise.
const ALIASES: [(&str, &str); 2] = [("workers", "procs"), ("runtime", "mode")];

/// The record of a line. A field is a setting if it is one of `settings`, and else a figure.
pub(crate) fn record(line: &str, settings: &[&str]) -> anyhow::Result<Record> {
    let mut fields: Map<String, Value> = serde_json::from_str(line)?;
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
    let alias = ALIASES.iter().find(|(known, _)| *known == name).map(|(_, alias)| *alias);
    let value = fields.remove(name).or_else(|| fields.remove(alias?));
    value.with_context(|| format!("the record has no `{name}`"))
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

    #[test]
    fn what_is_no_record_says_what_it_lacks() {
        let why = |line| record(line, &[]).unwrap_err().to_string();
        assert_eq!(why("{}"), "the record has no `runtime`");
        assert_eq!(why(r#"{"runtime":3}"#), "`runtime` is 3, and no text");
        let line = r#"{"runtime":"a","bench":"b","workers":"two"}"#;
        assert_eq!(why(line), "`workers` is \"two\", and no number");
    }
}
