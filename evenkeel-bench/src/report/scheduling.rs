//! The page of simulated schedulers' experiments: every picture says that its figures are
//! simulated.

use std::path::{Path, PathBuf};

use maud::{Markup, html};

use super::lines::{self, Line, WORKERS};
use super::{page, pictures};
use crate::simulated::scheduling::record::{self, Beside, Record};
use crate::simulated::scheduling::{ASSUMPTIONS, EXPERIMENTS, MACHINES, is_transfer, table, tasks};
use suite::summary::Summary;

const TITLE: &str = "Simulated: the experiments of C∀'s scheduler at 1 to 256 processors";

/// The lines of each picture.
const LINES: [&str; 2] = ["many tasks", "few tasks"];

/// Writes `scheduling.html` into `dir`, beside its other files, and returns its path.
pub(crate) fn write(dir: &Path, beside: &[Beside], records: &[Record]) -> anyhow::Result<PathBuf> {
    super::write(dir, "scheduling", || render(beside, records))
}

fn render(beside: &[Beside], records: &[Record]) -> anyhow::Result<String> {
    Ok(page::titled(TITLE, &body(beside, records)?))
}

/// Renders all but the title.
pub(super) fn body(beside: &[Beside], records: &[Record]) -> anyhow::Result<Markup> {
    let mut sections = Vec::new();
    for (on, _) in MACHINES {
        let on = record::machine(on);
        let mut figures = Vec::new();
        for experiment in EXPERIMENTS {
            let bench = record::name(experiment);
            let of = |&tasks: &usize| {
                let own = move |record: &&Record| {
                    (record.machine, record.bench, record.tasks_per_proc) == (on, bench, tasks)
                };
                records.iter().filter(own).collect::<Vec<_>>()
            };
            let sets: Vec<Vec<&Record>> = tasks(experiment).iter().map(of).collect();
            if is_transfer(experiment) {
                let caption = format!("Simulated {bench} on {on}: time of a transfer");
                let sense = "simulated ns; lower is better";
                figures.push(figure(&caption, sense, &sets, Record::nanos)?);
                continue;
            }
            let caption = format!("Simulated {bench} on {on}: throughput");
            let sense = "simulated Mop/s; higher is better";
            figures.push(figure(&caption, sense, &sets, Record::mops)?);
            let caption = format!("Simulated {bench} on {on}: workers over throughput");
            let sense = "simulated ns/op per worker; lower is better";
            figures.push(figure(&caption, sense, &sets, Record::nanos)?);
        }
        sections.push(html! {
            section {
                div.title {
                    h2 { (on) " (simulated)" }
                    (page::legend(LINES.into_iter().enumerate()))
                }
                div.grid { @for figure in &figures { (figure) } }
            }
        });
    }
    Ok(html! {
        p.lead {
            "No core has run this. The workers of a simulated machine decide by the runtime's own policy; what their tasks' steps cost is "
            "timed on the machine that runs the suite. Medians of the seeds, with maximum and minimum."
        }
        ul { @for assumption in ASSUMPTIONS { li { (assumption) } } }
        @for section in &sections { (section) }
        section { pre { (table::render(beside, records, None)) } }
    })
}

fn figure(
    caption: &str,
    sense: &str,
    sets: &[Vec<&Record>],
    of: fn(&Record) -> Option<Summary>,
) -> anyhow::Result<Markup> {
    let line = |(slot, records): (usize, &Vec<&Record>)| {
        let points = records.iter().filter_map(|record| Some((record.workers, of(record)?)));
        Line { slot, points: points.collect() }
    };
    let lines: Vec<Line> = sets.iter().enumerate().map(line).rev().collect();
    let svg = lines::draw(&WORKERS, &lines, lines::highest(&lines))?;
    Ok(pictures::figure(caption, sense, &svg))
}
