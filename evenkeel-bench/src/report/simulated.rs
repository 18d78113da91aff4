//! The page of a simulation: every picture says that no core has run it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use maud::{Markup, html};

use super::dots::{self, Dot, Scale};
use super::{page, pictures};
use crate::figures::Summary;
use crate::simulated::record::Record;
use crate::simulated::{ASSUMPTIONS, LOCALITIES, table};
use crate::words;

/// A quantity: what it is called, and its values in seconds, one for each seed.
type Quantity = (&'static str, fn(&Record) -> &Vec<f64>);

const QUANTITIES: [Quantity; 3] = [
    ("work inflation of all workers", |record| &record.inflation),
    ("idle time of all workers", |record| &record.idle),
    ("time of the whole run", |record| &record.seconds),
];

/// Writes `simulated.html` into `dir`, beside what else is there, and returns its path.
pub(crate) fn write(dir: &Path, records: &[Record]) -> anyhow::Result<PathBuf> {
    super::prepare(dir)?;
    let page = dir.join("simulated.html");
    fs::write(&page, render(records)?).with_context(|| super::refusal(dir))?;
    Ok(page)
}

fn render(records: &[Record]) -> anyhow::Result<String> {
    let mut sections = Vec::new();
    for program in records.chunks(LOCALITIES.len()) {
        sections.push(section(program)?);
    }
    let body = html! {
        h1 { "Simulated: locality on 4 packages of 8 cores" }
        p.lead {
            "No core has run this. The workers of a simulated machine decide by the runtime's own policy; the caches and their "
            "costs are assumed. Medians of the seeds, with a bar from minimum to maximum."
        }
        ul { @for assumption in ASSUMPTIONS { li { (assumption) } } }
        pre { (table::render(records)) }
        @for section in &sections { (section) }
    };
    Ok(page::document("Simulated: locality on 4 packages of 8 cores", &body))
}

fn section(records: &[Record]) -> anyhow::Result<Markup> {
    let program = records.first().map_or("", |record| record.bench.as_str());
    let mut figures = Vec::new();
    for (quantity, values) in QUANTITIES {
        let summary = |record: &Record| {
            Summary::of(values(record).iter().map(|seconds| seconds * 1e3).collect())
        };
        let dots: Vec<Dot> = records
            .iter()
            .enumerate()
            .map(|(slot, record)| {
                let value = summary(record);
                let text = value.map_or(String::new(), |value| words::figure(value.median));
                Dot { name: record.runtime.clone(), slot, value, text }
            })
            .collect();
        let summaries: Vec<Summary> = dots.iter().filter_map(|dot| dot.value).collect();
        let svg = dots::draw("simulated ms", &Scale::around_zero(&summaries), &dots)?;
        figures.push(pictures::figure(&format!("Simulated {quantity}"), "lower is better", &svg));
    }
    Ok(html! {
        section {
            div.title { h3 { (program) " (simulated)" } }
            div.grid { @for figure in &figures { (figure) } }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forking::program::Program;
    use crate::simulated;

    #[test]
    fn every_picture_says_that_it_is_simulated() {
        let mut records = Vec::new();
        simulated::run(&[Program::Transpose], 2, |record| records.push(record));
        let page = render(&records).unwrap();
        assert_eq!(page.matches("<svg").count(), QUANTITIES.len());
        assert_eq!(page.matches("simulated ms").count(), QUANTITIES.len());
        assert!(page.contains("No core has run this"));
    }
}
