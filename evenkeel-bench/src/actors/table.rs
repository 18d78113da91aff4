//! The printed tables: one for each experiment, a line for each variant, number of workers and quantity.

use super::figures::{Line, columns, lines};
use super::peer::Peer;
use super::record::Record;
use crate::regime;
use crate::table::align;
use crate::verdict::{DOUBT, Standing};
use crate::words::{self, FEWER};

/// Lays out the records.
pub(crate) fn render(records: &[Record]) -> String {
    let lines = lines(records);
    let mut text = String::new();
    for group in lines.chunk_by(|a, b| a.bench == b.bench) {
        let peers = columns(group);
        let mut rows = vec![heading(&peers)];
        rows.extend(group.iter().map(|line| row(line, &peers)));
        text.push_str(&align(&rows));
        text.push('\n');
    }
    text.push_str(&format!(
        "median [min-max], by the clock on the wall whatever the number of workers; messages are counted with replies; {DOUBT}; {FEWER}\n",
    ));
    text.push_str(&regime::meaning(lines.iter().map(|line| line.regime.as_deref())));
    text
}

/// The name of a line, such as `latency_probe: ns per message`.
pub(crate) fn title(line: &Line) -> String {
    let variant = match line.variant.name() {
        "-" => String::new(),
        name => format!(" {name}"),
    };
    format!("{}{variant}: {}", line.bench, line.quantity.unit())
}

fn heading(peers: &[Peer]) -> Vec<String> {
    let mut texts = ["experiment", "workers", "actors", "cores"].map(str::to_owned).to_vec();
    texts.extend(peers.iter().map(Peer::to_string));
    texts.extend(["evenkeel is", "best"].map(str::to_owned));
    texts
}

fn row(line: &Line, peers: &[Peer]) -> Vec<String> {
    let mut texts = vec![title(line), line.workers.to_string()];
    texts.push(words::thousands(line.actors as i64));
    texts.push(line.regime.clone().unwrap_or_else(|| "-".to_owned()));
    let most = line.cells.iter().map(|(_, summary)| summary.runs).max().unwrap_or(0);
    let show = |summary| words::spread_of(summary, most);
    texts.extend(peers.iter().map(|&peer| line.cell(peer).map_or("-".to_owned(), show)));
    let verdict = line.verdict();
    texts.push(match (line.subject(), verdict.standing) {
        (None, _) => "-".to_owned(),
        // A loss is to be as plain as a win.
        (_, Standing::Behind) => verdict.words.to_uppercase(),
        _ => verdict.words,
    });
    texts.push(line.best().map_or("-".to_owned(), |peer| peer.to_string()));
    texts
}
