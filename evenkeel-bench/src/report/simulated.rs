//! The page of a simulation: every picture says that its figures are simulated.

use std::path::{Path, PathBuf};

use maud::{Markup, html};

use super::dots::{self, Dot, Scale};
use super::{analysis, page, pictures};
use crate::analysis::Model;
use crate::simulated::rows::{Metric, Row, rows};
use crate::simulated::{ASSUMPTIONS, Scheduler, Size, published, table};
use suite::record::Record;
use suite::summary::Summary;
use suite::words;

const TITLE: &str = "Simulated: Cilk Locality on 4 packages of 8 cores";

/// Writes `simulated.html` into `dir`, beside its other files, and returns its path.
pub(crate) fn write(dir: &Path, records: &[Record]) -> anyhow::Result<PathBuf> {
    super::write(dir, "simulated", || render(records))
}

fn render(records: &[Record]) -> anyhow::Result<String> {
    Ok(page::titled(TITLE, &body(records)?))
}

/// Renders all but the title.
pub(super) fn body(records: &[Record]) -> anyhow::Result<Markup> {
    let rows = rows(records);
    let mut sections = Vec::new();
    for program in rows.chunk_by(|a, b| a.program == b.program) {
        sections.push(section(program)?);
    }
    Ok(html! {
        p.lead {
            "No core has run this. The workers of a simulated machine decide by the rules of the paper, or by the runtime's own policy; \
             the caches and their costs are assumed. Medians of the seeds, with a bar from minimum to maximum."
        }
        ul { @for assumption in ASSUMPTIONS { li { (assumption) } } }
        h2 { "The schedulers compared" }
        ul { @for scheduler in Scheduler::ALL { li { b { (scheduler) } ": " (scheduler.describe()) } } }
        ul { @for size in Size::ALL { li { b { (size) } ": " (size.describe()) } } }
        // The claims come first.
        @for table in table::tables(records).iter().rev() { (analysis::table(table)) }
        (residuals(&rows)?)
        @for section in &sections { (section) }
    })
}

/// Draws the residuals of the times on the paper's runtimes, in each size that has all programs:
/// the paper judges its model by such pictures.
fn residuals(rows: &[Row<'_>]) -> anyhow::Result<Markup> {
    let mut figures = Vec::new();
    for size in Size::ALL {
        let of: Vec<&Row<'_>> = rows.iter().filter(|row| row.size == size.name()).collect();
        let Some(fit) = published::fit(&of) else { continue };
        figures.push((size, analysis::residuals(&fit, Model::Additive, "simulated s", &[0, 1])?));
    }
    let columns = published::COLUMNS.into_iter().map(Scheduler::name).enumerate();
    Ok(html! {
        @if !figures.is_empty() {
            section {
                div.title {
                    h2 { "Residuals of the times (simulated)" }
                    (page::legend(columns))
                }
                @for (size, figures) in &figures {
                    h3.part { (size) }
                    div.grid { @for figure in figures { (figure) } }
                }
            }
        }
    })
}

/// Renders one program: a picture of each metric in each size.
fn section(rows: &[Row<'_>]) -> anyhow::Result<Markup> {
    let program = rows.first().map_or("", |row| row.program);
    let mut parts = Vec::new();
    for row in rows {
        let mut figures = Vec::new();
        for metric in Metric::ALL {
            let caption = format!("Simulated {metric}: {}", metric.describe());
            figures.push(pictures::figure(&caption, "lower is better", &picture(row, metric)?));
        }
        parts.push(html! {
            h3.part { (program) ", " (row.size) ", " (row.bytes >> 20) " MiB" }
            div.grid { @for figure in &figures { (figure) } }
        });
    }
    Ok(html! {
        section {
            div.title { h2 { (program) " (simulated)" } }
            @for part in &parts { (part) }
        }
    })
}

fn picture(row: &Row<'_>, metric: Metric) -> anyhow::Result<String> {
    let dot = |(slot, scheduler): (usize, Scheduler)| {
        let ms = row.values(scheduler, metric).iter().map(|seconds| seconds * 1e3).collect();
        let value = Summary::of(ms)?;
        let text = words::figure(value.median);
        Some(Dot { name: scheduler.to_string(), slot, value, text })
    };
    let dots: Vec<Dot> = Scheduler::ALL.into_iter().enumerate().filter_map(dot).collect();
    let summaries: Vec<Summary> = dots.iter().map(|dot| dot.value).collect();
    dots::draw("simulated ms", &Scale::around_zero(&summaries), &dots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{self, Size};
    use forking::program::Program;

    #[test]
    fn every_picture_says_that_it_is_simulated() {
        let mut records = Vec::new();
        let sizes = [Size::Small, Size::Medium];
        simulated::run(&[Program::Transpose], &sizes, 2, |record| records.push(record));
        let page = render(&records).unwrap();
        let pictures = sizes.len() * Metric::ALL.len();
        assert_eq!(page.matches("<svg").count(), pictures);
        assert_eq!(page.matches("simulated ms").count(), pictures);
        assert!(page.contains("No core has run this") && page.contains("Claims of the paper"));
    }

    #[test]
    fn the_residuals_of_each_size_that_has_all_programs_are_drawn() {
        let mut records = published::stored();
        let count = |records: &[Record]| {
            let page = render(records).unwrap();
            ["prediction, simulated s", "residual, simulated s"]
                .map(|axis| page.matches(axis).count())
        };
        // The second is an axis of both pictures.
        assert_eq!(count(&records), [3, 6]);
        let is_small_heat = |record: &Record| {
            record.case.bench == "heat" && record.case.settings.text("size") == Some("small")
        };
        records.retain(|record| !is_small_heat(record));
        assert_eq!(count(&records), [2, 4]);
    }
}
