//! Reads lines of JSON as fields, without knowing their meaning.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::{Error, Place};
use super::fields;

/// The fields that mark records of this suite, in all releases: only their fields are renamed to
/// the present names.
const OF_THE_SUITE: [&str; 3] = ["line_ns_before", "regime", "cpu_share"];

/// One record: the fields of inner objects have names such as `steals.far`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(super) place: Place,
    pub(super) fields: BTreeMap<String, Value>,
}

impl Line {
    /// Returns a field as text, if it is there and a scalar.
    pub(super) fn text(&self, field: &str) -> Option<String> {
        match self.fields.get(field) {
            Some(value) => fields::text(value),
            // The record of a run that completed need not have the field.
            None => (field == fields::DNC).then(|| false.to_string()),
        }
    }
}

/// Reads all files, in their order.
pub(super) fn read(files: &[PathBuf]) -> Result<Vec<Line>, Error> {
    let mut lines = Vec::new();
    for file in files {
        let name = name(file);
        let text = contents(file).map_err(|source| Error::Read { file: name.clone(), source })?;
        lines.extend(parse(&name, &text)?);
    }
    if lines.is_empty() {
        return Err(Error::Empty { files: files.iter().map(|file| name(file)).collect() });
    }
    Ok(lines)
}

fn name(file: &Path) -> String {
    if file.as_os_str() == "-" { "standard input".to_owned() } else { file.display().to_string() }
}

fn contents(file: &Path) -> io::Result<String> {
    if file.as_os_str() != "-" {
        return fs::read_to_string(file);
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

/// Parses the records of one file; blank lines are skipped.
pub(crate) fn parse(file: &str, text: &str) -> Result<Vec<Line>, Error> {
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = Place { file: file.to_owned(), line: index + 1 };
        let value = serde_json::from_str(line)
            .map_err(|source| Error::Json { place: place.clone(), source })?;
        let Value::Object(mut object) = value else {
            return Err(Error::NotAnObject { place });
        };
        if OF_THE_SUITE.iter().any(|field| object.contains_key(*field)) {
            suite::read::renamed(&mut object);
        }
        let mut fields = BTreeMap::new();
        flatten("", object, &mut fields);
        lines.push(Line { place, fields });
    }
    Ok(lines)
}

fn flatten(
    outer: &str,
    object: serde_json::Map<String, Value>,
    fields: &mut BTreeMap<String, Value>,
) {
    for (name, value) in object {
        let name = if outer.is_empty() { name } else { format!("{outer}.{name}") };
        match value {
            Value::Object(inner) => flatten(&name, inner, fields),
            // Absent and null are the same.
            Value::Null => {}
            value => {
                fields.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_inner_objects_have_names_too() {
        let text =
            "\n{\"bench\":\"fib\",\"steals\":{\"far\":3,\"near\":{\"l2\":4}},\"x\":null}\n\n";
        let lines = parse("runs", text).unwrap();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].place.to_string(), "runs:2");
        let names: Vec<&str> = lines[0].fields.keys().map(String::as_str).collect();
        assert_eq!(names, ["bench", "steals.far", "steals.near.l2"]);
        assert_eq!(lines[0].text("steals.far").as_deref(), Some("3"));
    }

    #[test]
    fn only_the_suite_s_own_fields_have_names_of_today() {
        let ours = r#"{"mode":"home","procs":2,"cpu_share":1.0}"#;
        let both = r#"{"runtime":"a","mode":"b","workers":1,"regime":"near"}"#;
        let foreign = r#"{"mode":"lto","procs":2}"#;
        let names = [ours, both, foreign].map(|line| {
            let line = parse("runs", line).unwrap().remove(0);
            line.fields.into_keys().collect::<Vec<_>>().join(" ")
        });
        let due = ["cpu_share runtime workers", "mode regime runtime workers", "mode procs"];
        assert_eq!(names, due);
    }

    #[test]
    fn what_is_no_record_is_named_by_file_and_line() {
        let error = parse("runs", "{}\n{\"bench\":\n").unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(error.to_string().starts_with("runs:2: not a line of JSON;"), "{error}");
        assert!(cause.starts_with("EOF"), "{cause}");
        let error = parse("runs", "{}\n\n[1]\n").unwrap_err().to_string();
        assert!(error.starts_with("runs:3: not a JSON object"), "{error}");
    }

    #[test]
    fn no_record_at_all_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = read(&[file.path().to_owned()]).unwrap_err().to_string();
        assert!(error.contains("no records in") && error.contains("--json"), "{error}");
        let error = read(&["/nowhere/at/all".into()]).unwrap_err().to_string();
        assert!(error.contains("cannot read `/nowhere/at/all`"), "{error}");
    }
}
