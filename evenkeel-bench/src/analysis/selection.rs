//! Which records take part, and what a reader must know about them.

use std::collections::BTreeSet;

use super::error::Error;
use super::fields::{DNC, REGIME, SERIAL, is_serial};
use super::input::Line;
use super::options::{Condition, METRICS, Options};
use suite::disturbance::ENOUGH;
use suite::words::count;

/// The chosen records.
pub(super) struct Selection {
    pub(super) lines: Vec<Line>,
    pub(super) remarks: Vec<String>,
    /// Whether serial runs were there and are not among the lines.
    pub(super) without_serial: bool,
}

/// Takes the records that meet all conditions.
pub(super) fn select(mut lines: Vec<Line>, options: &Options) -> Result<Selection, Error> {
    for Condition { field, values, .. } in &options.conditions {
        known(&lines, field)?;
        let found: BTreeSet<String> = lines.iter().filter_map(|line| line.text(field)).collect();
        if let Some(value) = values.iter().find(|value| !found.contains(*value)) {
            let (field, value) = (field.clone(), value.clone());
            return Err(Error::UnknownValue { field, value, known: found.into_iter().collect() });
        }
    }
    for line in lines.iter_mut().filter(|line| is_alone(line)) {
        line.fields.remove(REGIME);
    }
    lines.retain(|line| options.conditions.iter().all(|condition| meets(line, condition)));

    let mut remarks = Vec::new();
    if options.metrics {
        for field in METRICS {
            known(&lines, field)?;
        }
        let before = lines.len();
        lines.retain(|line| METRICS.iter().all(|field| line.fields.contains_key(*field)));
        let without = before - lines.len();
        if without > 0 {
            remarks
                .push(format!("{} without the four metrics left out.", count(without, "record")));
        }
    }
    let named = options
        .conditions
        .iter()
        .any(|condition| condition.field == "runtime" && !condition.without);
    let before = lines.len();
    if options.columns == "runtime" && !named {
        lines.retain(|line| !line.text("runtime").is_some_and(|runtime| is_serial(&runtime)));
    }
    let serial = before - lines.len();
    if serial > 0 {
        remarks.push(format!(
            "{} of plain calls left out, which are the same beside any number of workers: to compare with them, \
             measure one number of workers and name the runtimes by --where runtime={SERIAL},...",
            count(serial, "record"),
        ));
    }
    if lines.is_empty() && serial == 0 {
        return Err(Error::NothingSelected);
    }
    remarks.extend(repeated(&lines));
    remarks.extend(disturbed(&lines));
    Ok(Selection { lines, remarks, without_serial: serial > 0 })
}

/// An error unless some record has the field.
pub(super) fn known(lines: &[Line], field: &str) -> Result<(), Error> {
    if field == DNC || lines.iter().any(|line| line.fields.contains_key(field)) {
        return Ok(());
    }
    let known: BTreeSet<&String> = lines.iter().flat_map(|line| line.fields.keys()).collect();
    let known = known.into_iter().cloned().collect();
    Err(Error::UnknownField { field: field.to_owned(), known })
}

/// Whether no line travels between cores: with one worker the regime does not matter, nor does it to memory.
fn is_alone(line: &Line) -> bool {
    let is = |field: &str, value: &str| line.text(field).as_deref() == Some(value);
    is("procs", "1") || is("workers", "1") || is("bench", "memory")
}

/// A record without a regime is as good in any.
fn meets(line: &Line, Condition { field, values, without }: &Condition) -> bool {
    match line.text(field) {
        Some(value) => values.contains(&value) != *without,
        None => *without || field == REGIME,
    }
}

fn repeated(lines: &[Line]) -> Option<String> {
    let mut seen = BTreeSet::new();
    let again = lines.iter().filter(|line| !seen.insert(format!("{:?}", line.fields))).count();
    (again > 0).then(|| {
        format!(
            "{} equal an earlier one in every field: if a file was given twice, its runs count \
             twice.",
            count(again, "record"),
        )
    })
}

/// Whether others took time of the run's cores.
pub(super) fn is_disturbed(line: &Line) -> bool {
    let share = line.fields.get("cpu_share").and_then(serde_json::Value::as_f64);
    share.is_some_and(|share| share < ENOUGH)
}

fn disturbed(lines: &[Line]) -> Option<String> {
    let number = lines.iter().filter(|line| is_disturbed(line)).count();
    (number > 0).then(|| {
        format!(
            "{number} of {} disturbed: less than {:.0} % of the processors' time was left to the \
             suite. They count like all others.",
            count(lines.len(), "record"),
            ENOUGH * 100.0,
        )
    })
}
