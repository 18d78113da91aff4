//! Finds what the families of the registry say of their records: the settings of an experiment, the
//! figures that it is about, and its peers.
//!
//! So a new experiment needs no line here. For experiments that no family has, such as those of
//! other programs, [`fields`](super::fields) and [`response`](super::response) go by the fields of
//! all families.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::input::Line;
use crate::families::FAMILIES;
use suite::description::{Description, Experiment};
use suite::peer::Known;
use suite::quantity::Quantity;

/// All families, in the order of the registry.
static DESCRIBED: LazyLock<Vec<Description>> =
    LazyLock::new(|| FAMILIES.iter().map(|entry| (entry.describe)()).collect());

/// The settings of all experiments, those of the first family first.
static SETTINGS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut names: Vec<&str> = Vec::new();
    for name in experiments().flat_map(|experiment| experiment.settings) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names
});

fn experiments() -> impl Iterator<Item = &'static Experiment> {
    DESCRIBED.iter().flat_map(|family| &family.experiments)
}

/// Returns the experiment of this name, if a family has it.
pub(super) fn experiment(bench: &str) -> Option<&'static Experiment> {
    DESCRIBED.iter().find_map(|family| family.experiment(bench))
}

/// Returns the experiment of a record, if a family has it.
pub(super) fn of(line: &Line) -> Option<&'static Experiment> {
    line.text("bench").and_then(|bench| experiment(&bench))
}

/// Returns the quantity of the record's experiment that is read from this figure.
pub(super) fn quantity(line: &Line, figure: &str) -> Option<&'static Quantity> {
    of(line)?.quantity_of(figure)
}

/// Returns the place of a setting among those of all families.
pub(super) fn place(setting: &str) -> Option<usize> {
    SETTINGS.iter().position(|known| *known == setting)
}

/// Returns whether a field is a figure of some experiment and a setting of none.
pub(super) fn is_figure(field: &str) -> bool {
    place(field).is_none() && experiments().any(|one| one.quantity_of(field).is_some())
}

/// Returns the figures by which experiments are compared, those of the first family first.
pub(super) fn compared() -> impl Iterator<Item = &'static str> {
    experiments().flat_map(Experiment::compared)
}

/// Returns the subjects of the families, the first family's first.
pub(super) fn subjects() -> impl Iterator<Item = &'static str> {
    DESCRIBED.iter().filter_map(Description::subject)
}

/// Returns the peers of the family to which all of these records belong; `None` if they belong to
/// several.
pub(super) fn peers(lines: &[Line]) -> Option<&'static [Known]> {
    let benches: BTreeSet<Option<String>> = lines.iter().map(|line| line.text("bench")).collect();
    let has = |family: &Description| {
        let is_known = |bench: &Option<String>| {
            bench.as_deref().is_some_and(|bench| family.experiment(bench).is_some())
        };
        benches.iter().all(is_known)
    };
    DESCRIBED.iter().find(|family| has(family)).map(|family| family.peers.as_slice())
}

/// Returns the place of a runtime among the peers of all families, those of the first family first.
pub(super) fn place_of_peer(runtime: &str) -> Option<usize> {
    let peers = DESCRIBED.iter().flat_map(|family| &family.peers);
    peers.into_iter().position(|peer| peer.name == runtime)
}
