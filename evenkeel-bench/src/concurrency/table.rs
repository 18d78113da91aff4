//! The printed tables: one for each experiment, a line for each variant and number of monitors.

use super::figures::{Line, Quantity, columns, lines};
use super::peer::Peer;
use super::published::{self, System};
use super::record::Record;
use crate::regime;
use crate::table::align;
use crate::verdict::{DOUBT, Standing};
use crate::words::{self, FEWER};

/// Lays out the records.
pub(crate) fn render(records: &[Record]) -> String {
    let lines = lines(records);
    let mut text = String::new();
    let mut published = false;
    for group in lines.chunk_by(|a, b| a.bench == b.bench) {
        let peers = columns(group);
        let systems = systems(group);
        published |= !systems.is_empty();
        let mut rows = vec![heading(&peers, &systems)];
        rows.extend(group.iter().map(|line| row(line, &peers, &systems)));
        text.push_str(&align(&rows));
        text.push('\n');
    }
    text.push_str(&format!(
        "ns of a round, for contended as it says: median [min-max]; `call` guards nothing and is not compared; {DOUBT}; {FEWER}\n",
    ));
    text.push_str(&regime::meaning(lines.iter().map(|line| line.regime.as_deref())));
    if published {
        text.push_str(published::SOURCE);
        text.push('\n');
    }
    text
}

/// The published columns of some lines.
pub(crate) fn systems(lines: &[Line]) -> Vec<System> {
    let has = |system: &System| lines.iter().any(|line| of_system(line, *system).is_some());
    System::ALL.into_iter().filter(has).collect()
}

/// The published figure of a line, as it was published.
pub(crate) fn of_system(line: &Line, system: System) -> Option<String> {
    let Line { bench, variant, monitors, .. } = *line;
    published::figure(bench, variant, monitors, system).map(|figure| figure.to_string())
}

/// The name of a line, such as `schedint waiter, 2 monitors`.
pub(crate) fn title(line: &Line) -> String {
    let mut title = line.bench.to_string();
    if line.variant.name() != "-" {
        title.push_str(&format!(" {}", line.variant));
    }
    match line.monitors {
        0 => {}
        1 if line.quantity != Quantity::Time => {}
        1 => title.push_str(", 1 monitor"),
        number => title.push_str(&format!(", {number} monitors")),
    }
    if line.quantity != Quantity::Time {
        title.push_str(&format!(": {}", line.quantity.unit()));
    }
    title
}

fn heading(peers: &[Peer], systems: &[System]) -> Vec<String> {
    let mut texts = ["experiment", "procs", "tasks", "cores"].map(str::to_owned).to_vec();
    texts.extend(peers.iter().map(Peer::to_string));
    texts.extend(["evenkeel is", "best"].map(str::to_owned));
    texts.extend(systems.iter().map(|system| system.name().to_owned()));
    texts
}

fn row(line: &Line, peers: &[Peer], systems: &[System]) -> Vec<String> {
    let mut texts = vec![title(line), line.procs.to_string(), line.tasks.to_string()];
    texts.push(line.regime.clone().unwrap_or_else(|| "-".to_owned()));
    let most = line.cells.iter().map(|(_, summary)| summary.runs).max().unwrap_or(0);
    let show = |summary| words::spread_of(summary, most);
    texts.extend(peers.iter().map(|&peer| line.cell(peer).map_or("-".to_owned(), show)));
    let verdict = line.verdict();
    texts.push(match (line.cell(Peer::Evenkeel), verdict.standing) {
        (None, _) => "-".to_owned(),
        // A loss is to be as plain as a win.
        (_, Standing::Behind) => verdict.words.to_uppercase(),
        _ => verdict.words,
    });
    texts.push(line.best().map_or("-".to_owned(), |peer| peer.to_string()));
    let published = systems.iter().map(|&system| of_system(line, system));
    texts.extend(published.map(|figure| figure.unwrap_or_else(|| "-".to_owned())));
    texts
}
