//! Where the objects of a run had their homes, and the verdicts on their classes.

use evenkeel::object::{self, Object};

use super::bench::Mode;
use suite::record::Record;
use suite::rows::Row;
use suite::words::{count, figure};

/// What a run on objects reports beside its figures.
#[derive(Clone, Debug, Default)]
pub(super) struct Homes {
    /// Objects at each worker before the run, and after it.
    pub(super) before: Vec<usize>,
    pub(super) after: Vec<usize>,
    /// The verdicts on the classes of an automatic run, with their reasons.
    pub(super) verdict: Option<String>,
    /// Objects that busy workers gave to other workers.
    pub(super) given_away: u64,
}

impl Homes {
    /// Records where the objects are before the run.
    pub(super) fn before<T>(objects: &[Object<T>], workers: usize) -> Self {
        Self { before: by_worker(objects, workers), ..Self::default() }
    }

    /// Adds the state after the run. The caller belongs to the objects' runtime.
    pub(super) fn after<T>(
        mut self,
        objects: &[Object<T>],
        mode: Mode,
        classes: &[&'static str],
    ) -> Self {
        let report = object::report();
        self.after = by_worker(objects, report.workers.len());
        self.given_away = report.workers.iter().map(|worker| worker.given_away).sum();
        let verdict = |class: &&'static str| {
            let own = report.classes.iter().find(|own| &*own.name == *class)?;
            Some(match classes.len() {
                1 => own.verdict.to_string(),
                _ => format!("{class} {}", own.verdict),
            })
        };
        let verdicts: Vec<String> = classes.iter().filter_map(verdict).collect();
        let has_any = mode == Mode::Automatic && !verdicts.is_empty();
        self.verdict = has_any.then(|| verdicts.join(", "));
        self
    }

    /// The text of a record: numbers of objects, by worker.
    pub(super) fn text(numbers: &[usize]) -> Option<String> {
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        (!numbers.is_empty()).then(|| numbers.join(" "))
    }
}

fn by_worker<T>(objects: &[Object<T>], workers: usize) -> Vec<usize> {
    let mut homes = vec![0; workers];
    objects.iter().filter_map(Object::home).for_each(|home| homes[home] += 1);
    homes
}

/// The verdict of the last automatic run of each row, as one block of text; empty if no row has
/// one.
pub(super) fn verdicts(rows: &[Row<'_>]) -> Vec<String> {
    let verdicts: Vec<String> = rows.iter().filter_map(verdict).collect();
    if verdicts.is_empty() {
        return Vec::new();
    }
    let heading = "Automatic classes, when the last run of each row was over:";
    vec![format!("{heading}\n  {}", verdicts.join("\n  "))]
}

fn verdict(row: &Row<'_>) -> Option<String> {
    let figures = &last_automatic(row)?.figures;
    let verdict = figures.text("verdict")?;
    let millions = figures.number("hops")? / figures.number("seconds")? / 1e6;
    let name = row.name();
    let mut text = format!("{name}: {verdict}; {} M journeys/s", figure(millions));
    if let (Some(before), Some(after)) = (figures.text("homes_before"), figures.text("homes_after"))
    {
        text.push_str(&format!("; homes by worker {before}, in the end {after}"));
    }
    if let Some(given) = figures.number("given_away").filter(|&given| given > 0.0) {
        text.push_str(&format!(", {} given away", count(given as usize, "object")));
    }
    Some(text)
}

/// The last automatic run that counts.
pub(super) fn last_automatic<'a>(row: &Row<'a>) -> Option<&'a Record> {
    let cell = row.cell(Mode::Automatic.name()).filter(|cell| cell.counted > 0)?;
    cell.runs.last().copied()
}
