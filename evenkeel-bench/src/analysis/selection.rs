//! Selects records, and makes remarks about the selection.

use std::collections::BTreeSet;

use serde_json::Value;

use super::error::Error;
use super::fields::{DNC, REGIME, SERIAL, is_serial};
use super::input::Line;
use super::known;
use super::options::{Condition, Doubt, METRICS, Options};
use suite::case::{Case, Fields};
use suite::enough::{self, Counts};
use suite::named::NAMELESS;
use suite::record::{Quiet, Record};
use suite::words::count;

/// The chosen records.
pub(super) struct Selection {
    pub(super) lines: Vec<Line>,
    pub(super) remarks: Vec<String>,
    /// Whether serial runs were left out.
    pub(super) without_serial: bool,
    /// A sentence about the runs that were left out because they do not count.
    pub(super) left_out: Option<String>,
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
    let is_any = !lines.is_empty();
    let left_out = without_doubtful(&mut lines, &options.keep);
    if let Some(left_out) = left_out.as_ref().filter(|_| is_any && lines.is_empty()) {
        return Err(Error::NoneCounts { left_out: left_out.clone() });
    }
    remarks.extend(left_out.clone());
    remarks.extend(kept(&lines));
    remarks.extend(repeated(&lines));
    Ok(Selection { lines, remarks, without_serial: serial > 0, left_out })
}

/// Returns an error unless some record has the field.
pub(super) fn known(lines: &[Line], field: &str) -> Result<(), Error> {
    if field == DNC || lines.iter().any(|line| line.fields.contains_key(field)) {
        return Ok(());
    }
    let known: BTreeSet<&String> = lines.iter().flat_map(|line| line.fields.keys()).collect();
    let known = known.into_iter().cloned().collect();
    Err(Error::UnknownField { field: field.to_owned(), known })
}

/// Returns whether no cache line travels between cores, so that the regime does not matter: with
/// one worker, and in experiments on memory.
fn is_alone(line: &Line) -> bool {
    line.text("workers").as_deref() == Some("1")
        || known::of(line).is_some_and(|experiment| !experiment.depends_on_distance)
}

/// Returns whether a record meets a condition. A record without a regime fits any regime.
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

impl Doubt {
    /// Returns whether this is the reason why the suite would not count a run.
    fn is_of(self, line: &Line) -> bool {
        let share = line.fields.get("cpu_share").and_then(Value::as_f64).unwrap_or(QUIET);
        match self {
            Self::Disturbed => counts(line, share, None) == Counts::Disturbed,
            Self::Mixed => counts(line, QUIET, line.text(REGIME)) == Counts::Mixed,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Disturbed => "made while others took time of their cores",
            Self::Mixed => "made while the distance of the cores changed",
        }
    }
}

/// The assumed share of the cores' time of a run without this field.
const QUIET: f64 = 1.0;

/// Applies the suite's rule to a run with this share of its cores' time, in a row of its own
/// regime.
fn counts(line: &Line, cpu_share: f64, regime: Option<String>) -> Counts {
    let own = regime.clone().unwrap_or_default().into();
    let quiet = Quiet { line_ns_before: 0.0, line_ns_after: 0.0, regime: own, cpu_share };
    let record = Record {
        runtime: NAMELESS.into(),
        case: Case::new(NAMELESS, NAMELESS, 1),
        repeat: 0,
        figures: Fields::new(),
        dnc: line.fields.get(DNC) == Some(&Value::Bool(true)),
        quiet,
    };
    enough::counts(&record, regime.as_deref())
}

/// Returns whether the suite would not count a run.
pub(super) fn is_doubtful(line: &Line) -> bool {
    Doubt::ALL.into_iter().any(|doubt| doubt.is_of(line))
}

/// Leaves out the runs that the suite would not count, except those in `keep`, and returns a
/// sentence about them.
fn without_doubtful(lines: &mut Vec<Line>, keep: &[Doubt]) -> Option<String> {
    let (mut said, mut names) = (Vec::new(), Vec::new());
    for doubt in Doubt::ALL.into_iter().filter(|doubt| !keep.contains(doubt)) {
        let before = lines.len();
        lines.retain(|line| !doubt.is_of(line));
        let number = before - lines.len();
        if number > 0 {
            said.push(format!("{} {}", count(number, "record"), doubt.words()));
            names.push(doubt.to_string());
        }
    }
    let names = names.join(",");
    (!said.is_empty()).then(|| format!("Left out: {}; --keep {names} takes them.", said.join("; ")))
}

/// Returns remarks on the kept runs that the suite would not count.
fn kept(lines: &[Line]) -> impl Iterator<Item = String> {
    Doubt::ALL.into_iter().filter_map(|doubt| {
        let number = lines.iter().filter(|line| doubt.is_of(line)).count();
        (number > 0).then(|| {
            let (number, all) = (suite::words::thousands(number as i64), lines.len());
            let of_all = count(all, "record");
            format!("Kept on request: {number} of {of_all}, {}.", doubt.words())
        })
    })
}
