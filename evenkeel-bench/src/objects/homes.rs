//! Where the objects of a run were, and what their class has come to.

use std::collections::BTreeMap;

use evenkeel::object::{self, Object};

use super::bench::Mode;
use super::figures::{Line, lines};
use super::record::Record;
use super::table::{heading, title};
use crate::words::{count, figure};

/// What a run on objects leaves beside its figures.
#[derive(Clone, Debug, Default)]
pub(crate) struct Homes {
    /// Objects at each worker before anything was done, and when all was over.
    pub(crate) before: Vec<usize>,
    pub(crate) after: Vec<usize>,
    /// What the class of an automatic run has come to, and why.
    pub(crate) verdict: Option<String>,
    /// Objects that busy workers have given to others.
    pub(crate) given_away: u64,
    /// Nanoseconds of a journey, as the workers have measured it themselves.
    pub(crate) hop_ns: Option<u64>,
}

impl Homes {
    /// Notes where the objects are before the run.
    pub(super) fn before<T>(objects: &[Object<T>], workers: usize) -> Self {
        Self { before: by_worker(objects, workers), ..Self::default() }
    }

    /// Notes what there is to be said after it. The caller belongs to the runtime of the objects.
    pub(super) fn after<T>(mut self, objects: &[Object<T>], mode: Mode, class: &str) -> Self {
        let report = object::report();
        self.after = by_worker(objects, report.workers.len());
        self.given_away = report.workers.iter().map(|worker| worker.given_away).sum();
        let costs: Vec<u64> = report.workers.iter().filter_map(|worker| worker.hop_cost).collect();
        self.hop_ns = (!costs.is_empty()).then(|| costs.iter().sum::<u64>() / costs.len() as u64);
        let own = report.classes.iter().find(|own| &*own.name == class);
        self.verdict = own.filter(|_| mode == Mode::Automatic).map(|own| own.verdict.to_string());
        self
    }

    /// As records have it: numbers of objects, by worker.
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

/// What the last automatic run of each line has come to, a line of text for each; empty if there was none.
pub(crate) fn verdicts(records: &[Record]) -> Vec<String> {
    let automatic = |line: &Line| line.mode == Mode::Automatic && line.is_compared();
    let mut last: BTreeMap<String, String> = BTreeMap::new();
    let mut order = Vec::new();
    for line in lines(records).iter().filter(|line| automatic(line)) {
        let Some(record) = records.iter().rev().find(|record| line.has(record)) else { continue };
        let Some(verdict) = &record.verdict else { continue };
        let tasks = line.tasks_per_core.map(|tasks| format!(", {} per core", count(tasks, "task")));
        let name =
            format!("{}{}, {}", title(&line.place), tasks.unwrap_or_default(), heading(line));
        let mut text = format!("{name}: {verdict}; {} M journeys/s", figure(millions(record)));
        if let Some(nanos) = record.hop_ns {
            text.push_str(&format!(" for {nanos} ns each"));
        }
        if let (Some(before), Some(after)) = (&record.homes_before, &record.homes_after) {
            text.push_str(&format!("; homes by worker {before}, in the end {after}"));
        }
        if let Some(given) = record.given_away.filter(|&given| given > 0) {
            text.push_str(&format!(", {} given away", count(given as usize, "object")));
        }
        order.push(name.clone());
        last.insert(name, text);
    }
    order.iter().filter_map(|name| last.remove(name)).collect()
}

fn millions(record: &Record) -> f64 {
    record.hops as f64 / record.seconds / 1e6
}
