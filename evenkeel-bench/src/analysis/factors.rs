//! Finds rows and columns: the fields that tell runs apart.
//!
//! A setting becomes part of the rows if two runs agree in the column and in all settings chosen so
//! far, and differ in it. This leaves out settings that follow from others (the number of tasks
//! from processors and tasks per processor), and settings that belong to a column (the workers of a
//! serial runtime); a remark reports the latter. The regime of the cores must follow from the row
//! alone: else a near runtime would be compared with a far one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::design::{Design, Factor, Observation};
use super::error::Error;
use super::fields::{self, REGIME};
use super::input::Line;
use super::known;
use super::options::Options;
use super::response;
use super::selection::{self, Selection, is_doubtful};

/// The value of one field in each of the lines; absence is a value too.
type Key = Vec<Option<String>>;

/// Finds rows, columns and responses, the defaults unless the options name others, and makes a
/// design of them.
pub(super) fn design(
    selection: Selection,
    options: &Options,
    asked: Option<&str>,
) -> Result<Design, Error> {
    let Selection { lines, mut remarks, without_serial, left_out } = selection;
    let columns = options.columns.as_str();
    if lines.is_empty() {
        let (field, level) = (columns.to_owned(), fields::SERIAL.to_owned());
        return Err(Error::OneColumn { field, level, serial: true });
    }
    for field in options.rows.iter().chain(&options.pool).chain([&options.columns]) {
        selection::known(&lines, field)?;
    }
    for field in options.rows.iter().chain([&options.columns]) {
        if let Some(line) = lines.iter().find(|line| line.text(field).is_none()) {
            let (field, place) = (field.clone(), line.place.clone());
            return Err(Error::MissingField { field, place });
        }
    }
    let settings = settings(&lines, options);
    let rows = match &options.rows[..] {
        [] => automatic(&lines, &settings, columns),
        rows => {
            for field in settings.iter().filter(|field| !rows.contains(field)) {
                separate(&lines, rows, columns, field)?;
            }
            rows.to_vec()
        }
    };
    remarks.extend(settings.iter().filter_map(|field| belonging(&lines, &rows, columns, field)));
    remarks.extend(options.pool.iter().filter_map(|field| pooled(&lines, field)));

    let everywhere = everywhere(&lines, &settings);
    let (response, values) = response::read(&lines, asked)?;
    let (names, slots) = levels_of_columns(&lines, columns);
    let mut labels: Vec<String> = Vec::new();
    let mut keys: Vec<Key> = Vec::new();
    let (mut observations, mut doubtful) = (Vec::new(), Vec::new());
    for (line, values) in lines.iter().zip(values) {
        let key = key(line, &rows);
        let row = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            labels.push(if rows.is_empty() { everywhere.join(", ") } else { label(&rows, &key) });
            keys.push(key);
            keys.len() - 1
        });
        let name = line.text(columns).unwrap_or_default();
        let column = names.iter().position(|known| *known == name).unwrap_or(0);
        let of = if is_doubtful(line) { &mut doubtful } else { &mut observations };
        of.push(Observation { row, column, values });
    }
    // If other cells have fewer observations, the last ones of a cell are left out: so the ones
    // kept on request go first.
    observations.append(&mut doubtful);
    let rows = Factor { fields: rows, levels: labels };
    let columns = Factor { fields: vec![columns.to_owned()], levels: names };
    let design = Design::of(rows, columns, response, &observations, without_serial);
    let mut design = design.map_err(|why| match left_out {
        Some(left_out) => Error::AfterLeavingOut { why: Box::new(why), left_out },
        None => why,
    })?;
    remarks.append(&mut design.remarks);
    (design.slots, design.everywhere, design.remarks) = (slots, everywhere, remarks);
    Ok(design)
}

/// Returns all settings that may tell rows apart, in the order in which row names list them.
fn settings<'a>(lines: &'a [Line], options: &Options) -> Vec<String> {
    let of = |line: &'a Line| {
        let bench = line.text("bench");
        let is_setting = move |(name, value): &(&String, &Value)| {
            fields::is_setting(bench.as_deref(), name, value)
        };
        line.fields.iter().filter(is_setting).map(|(name, _)| name)
    };
    let found: BTreeSet<&String> = lines.iter().flat_map(of).collect();
    let other = |name: &&String| {
        **name != options.columns
            && !options.pool.contains(name)
            && !options.response.contains(*name)
    };
    let mut names: Vec<String> = found.into_iter().filter(other).cloned().collect();
    fields::sort(&mut names);
    names
}

/// Returns the value of a field of a line, as far as it tells the line from others.
fn told(line: &Line, field: &str) -> Option<String> {
    line.text(field).and_then(|value| fields::told(field, value))
}

fn key<T: AsRef<str>>(line: &Line, fields: &[T]) -> Key {
    fields.iter().map(|field| told(line, field.as_ref())).collect()
}

/// Returns two lines that agree in `fields` and differ in `field`. Absence is a value, except for
/// the regime.
fn split<'a>(lines: &'a [Line], fields: &[&str], field: &str) -> Option<(&'a Line, &'a Line)> {
    let mut first: BTreeMap<Key, &Line> = BTreeMap::new();
    for line in lines.iter().filter(|line| field != REGIME || line.text(REGIME).is_some()) {
        let before = *first.entry(key(line, fields)).or_insert(line);
        if told(before, field) != told(line, field) {
            return Some((before, line));
        }
    }
    None
}

/// Returns the fields for equal values of which `field` must not differ.
fn within<'a>(rows: &'a [String], columns: &'a str, field: &str) -> Vec<&'a str> {
    let rows = rows.iter().map(String::as_str);
    if field == REGIME { rows.collect() } else { rows.chain([columns]).collect() }
}

fn automatic(lines: &[Line], settings: &[String], columns: &str) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for field in settings {
        if split(lines, &within(&rows, columns, field), field).is_some() {
            rows.push(field.clone());
        }
    }
    rows
}

/// Returns an error if runs of one cell differ in a field that is no part of the rows.
fn separate(lines: &[Line], rows: &[String], columns: &str, field: &str) -> Result<(), Error> {
    let Some((line, _)) = split(lines, &within(rows, columns, field), field) else {
        return Ok(());
    };
    let mut cell = label(rows, &key(line, rows));
    if field != REGIME {
        cell = format!("{cell} on {}", line.text(columns).unwrap_or_default());
    }
    Err(Error::Pooled { field: field.to_owned(), values: values(lines, field), cell })
}

/// Returns a remark on a setting that differs between the columns of a row.
fn belonging(lines: &[Line], rows: &[String], columns: &str, field: &str) -> Option<String> {
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    split(lines, &rows, field)?;
    let mut of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in lines {
        let value = line.text(field).unwrap_or_else(|| "absent".to_owned());
        of.entry(value).or_default().extend(line.text(columns));
    }
    /// The most values that are listed; more are only counted.
    const LISTED: usize = 4;
    let words = match of.len() {
        ..=LISTED => {
            let each = of.into_iter().map(|(value, names)| {
                format!("{value} of {}", names.into_iter().collect::<Vec<_>>().join(", "))
            });
            each.collect::<Vec<_>>().join("; ")
        }
        number => format!("{number} values"),
    };
    Some(format!(
        "{field} differs with {columns} within a row ({words}); what it changes counts as \
         the {columns}'s."
    ))
}

fn pooled(lines: &[Line], field: &str) -> Option<String> {
    let values = values(lines, field);
    (values.len() > 1).then(|| {
        format!("Pooled on request: runs with {field} {} count as replications.", values.join(", "))
    })
}

fn values(lines: &[Line], field: &str) -> Vec<String> {
    // With one worker there is no regime.
    let absent = (field != REGIME).then(|| "absent".to_owned());
    let text = |line: &Line| line.text(field).or_else(|| absent.clone());
    let values: BTreeSet<String> = lines.iter().filter_map(text).collect();
    values.into_iter().collect()
}

/// Returns the columns in order, each with its colour and marker. If all columns are peers of one
/// family, they have the order and the colours of its page. If not, each has the colour of its
/// place.
fn levels_of_columns(lines: &[Line], columns: &str) -> (Vec<String>, Vec<usize>) {
    let mut names: Vec<String> = Vec::new();
    for name in lines.iter().filter_map(|line| line.text(columns)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if columns == "runtime" {
        let of = known::peers(lines).unwrap_or_default();
        let slot = |name: &String| of.iter().find(|peer| peer.name == name).map(|peer| peer.slot);
        if let Some(slots) = names.iter().map(slot).collect::<Option<Vec<usize>>>() {
            let mut both: Vec<(usize, String)> = slots.into_iter().zip(names).collect();
            both.sort();
            return both.into_iter().map(|(slot, name)| (name, slot)).unzip();
        }
        names.sort_by_key(|name| known::place_of_peer(name).unwrap_or(usize::MAX));
    }
    let slots = (0..names.len()).collect();
    (names, slots)
}

fn label(rows: &[String], key: &Key) -> String {
    let part = |(field, value): (&String, &Option<String>)| {
        value.as_ref().and_then(|value| fields::label(field, value))
    };
    let parts: Vec<String> = rows.iter().zip(key).filter_map(part).collect();
    if parts.is_empty() { "all runs".to_owned() } else { parts.join(", ") }
}

/// Returns the settings with the same value in all lines, in the form in which they name a row.
fn everywhere(lines: &[Line], settings: &[String]) -> Vec<String> {
    let same = |field: &&String| split(lines, &[], field).is_none();
    let text = |field: &String| {
        let value = lines.iter().find_map(|line| line.text(field))?;
        fields::label(field, &value)
    };
    settings.iter().filter(same).filter_map(text).collect()
}

#[cfg(test)]
#[path = "factors_tests.rs"]
mod tests;
