//! What the commands print: records as lines or as a table, experiments and runtimes as lists.

use std::fmt::Display;

use serde::Serialize;

use super::args::RunArgs;
use crate::suite::output::{note, print, say};

/// The records of a command, each printed as it comes if lines are asked for, and all as a table if not.
pub(super) struct Printed<R> {
    json: bool,
    records: Vec<R>,
}

impl<R: Serialize> Printed<R> {
    pub(super) fn new(args: &RunArgs) -> Printed<R> {
        Printed { json: args.json, records: Vec::new() }
    }

    /// Takes a record, and says what is to be remarked of it.
    pub(super) fn add(&mut self, record: R, remark: Option<String>) -> anyhow::Result<()> {
        if let Some(remark) = remark {
            note!("note: {remark}");
        }
        if self.json {
            say!("{}", serde_json::to_string(&record)?);
        }
        self.records.push(record);
        Ok(())
    }

    /// Prints the table, of what was measured before a failure as well.
    pub(super) fn end(
        self,
        failure: anyhow::Result<()>,
        table: impl FnOnce(&[R]) -> String,
    ) -> anyhow::Result<()> {
        if !self.json && !self.records.is_empty() {
            print(&table(&self.records));
        }
        failure.map_err(|error| unfinished(error, self.records.len()))
    }
}

/// Says on standard error what is measured next: one cell may take a minute, and the table comes last.
pub(super) fn next(cell: impl Display) {
    note!("{cell}");
}

/// The error of a command that has given some figures before.
pub(super) fn unfinished(error: anyhow::Error, measured: usize) -> anyhow::Error {
    match measured {
        0 => error,
        _ => error.context("not all was measured; the figures are of what was"),
    }
}

/// Prints an experiment with its variants, if it has any, in brackets.
pub(super) fn experiment(name: &str, variants: &[&str], what: &str) {
    let title = match variants {
        [] => name.to_owned(),
        variants => format!("{name} ({})", variants.join(", ")),
    };
    say!("  {title:<26} {what}");
}

/// A runtime of a list: its name, what it is, and its version if it has one that matters.
pub(super) type Found = (String, &'static str, Option<String>);

/// A runtime that is not there: its name, what it is, and why.
pub(super) type Missing = (String, &'static str, String);

/// Prints the runtimes of some experiments, those found and those missing.
pub(super) fn runtimes(
    title: impl Display,
    found: impl IntoIterator<Item = Found>,
    missing: impl IntoIterator<Item = Missing>,
) {
    say!("{title} found:");
    for (name, what, version) in found {
        let version = version.map(|version| format!(" ({version})")).unwrap_or_default();
        say!("  {name:<26} {what}{version}");
    }
    for (place, (name, what, why)) in missing.into_iter().enumerate() {
        if place == 0 {
            say!("{title} missing:");
        }
        say!("  {name:<26} {what}: {why}");
    }
}
