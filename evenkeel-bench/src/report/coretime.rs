//! The page of Figure 4: every picture says that its figures are simulated.

use std::path::{Path, PathBuf};

use maud::{Markup, html};

use super::lines::{self, Abscissa, Line};
use super::{page, pictures};
use crate::simulated::coretime::record::Record;
use crate::simulated::coretime::{ASSUMPTIONS, table};

const TITLE: &str = "Simulated: Figure 4 of CoreTime on 4 chips of 4 cores";

/// The cases of the figure: their names in the records, and their captions.
const CASES: [(&str, &str); 7] = [
    ("uniform", "Simulated, 4a: all directories alike"),
    (
        "oscillating",
        "Simulated, 4b: all directories and a sixteenth of them in turns, for as many resolutions",
    ),
    (
        "oscillating in time",
        "Simulated, 4b: all directories and a sixteenth of them in turns, for as long",
    ),
    ("uniform, from caches", "Simulated, 4a, if lines may come from any cache that has them"),
    ("oscillating, from caches", "Simulated, 4b, if lines may come from any cache that has them"),
    ("uniform, one line ahead", "Simulated, 4a, if nothing is prefetched"),
    ("oscillating, one line ahead", "Simulated, 4b, if nothing is prefetched"),
];

/// The lines of each picture, by their names in the records.
const LINES: [(&str, &str); 2] =
    [("objects", "objects with homes"), ("threads", "threads with spin locks")];

/// Sizes at multiples of this, in KiB, get a label.
const LABELLED: usize = 4 << 10;

/// Writes `coretime.html` into `dir`, beside its other files, and returns its path.
pub(crate) fn write(dir: &Path, records: &[Record]) -> anyhow::Result<PathBuf> {
    super::write(dir, "coretime", || render(records))
}

fn render(records: &[Record]) -> anyhow::Result<String> {
    Ok(page::titled(TITLE, &body(records)?))
}

/// Renders all but the title.
pub(super) fn body(records: &[Record]) -> anyhow::Result<Markup> {
    let mut figures = Vec::new();
    for (variant, caption) in CASES {
        figures.push(figure(records, variant, caption)?);
    }
    Ok(html! {
        p.lead {
            "No core has run this. Tasks on a simulated machine resolve file names in directories; which of these have a home, and where, "
            "is decided by the runtime's own policy. The caches and their costs are those of the paper, as far as it states them, and assumed beyond."
        }
        ul { @for assumption in ASSUMPTIONS { li { (assumption) } } }
        section {
            div.title {
                h3 { "Resolutions (simulated)" }
                (page::legend(LINES.iter().enumerate().map(|(slot, (_, name))| (slot, *name))))
            }
            div.grid { @for figure in &figures { (figure) } }
        }
        section { pre { (table::render(records, None)) } }
    })
}

fn figure(records: &[Record], variant: &str, caption: &str) -> anyhow::Result<Markup> {
    let line = |(slot, (runtime, _)): (usize, &(&str, &str))| {
        let own = records.iter().filter(|record| {
            (record.runtime.as_str(), record.variant.as_str()) == (runtime, variant)
        });
        let point = |record: &Record| Some((record.kib as usize, record.summary()?));
        let mut points: Vec<_> = own.filter_map(point).collect();
        points.sort_by_key(|(kib, _)| *kib);
        Line { slot, points }
    };
    let lines: Vec<Line> = LINES.iter().enumerate().map(line).rev().collect();
    let megabytes = Abscissa {
        title: "MiB of all directories",
        ticks: labelled,
        label: &|kib| format!("{}", kib / 1_024.0),
    };
    let svg = lines::draw(&megabytes, &lines, lines::highest(&lines))?;
    Ok(pictures::figure(caption, "simulated thousand/s; higher is better", &svg))
}

/// Returns the sizes with a label: only round ones, if there are any.
fn labelled(sizes: &[usize]) -> Vec<usize> {
    let round: Vec<usize> =
        sizes.iter().copied().filter(|size| size.is_multiple_of(LABELLED)).collect();
    if round.is_empty() { sizes.to_vec() } else { round }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::coretime;

    #[test]
    fn every_picture_says_that_it_is_simulated_and_has_both_lines() {
        let records = coretime::run(&[256], 1);
        let page = render(&records).unwrap();
        // The legend has one for each line.
        assert_eq!(page.matches("<svg").count(), CASES.len() + LINES.len());
        assert_eq!(page.matches("simulated thousand/s").count(), CASES.len());
        assert!(page.contains("No core has run this"));
        for assumption in ASSUMPTIONS {
            assert!(page.contains(assumption), "{assumption}");
        }
    }

    #[test]
    fn round_sizes_have_labels() {
        assert_eq!(labelled(&[256, 4_096, 6_144, 8_192]), [4_096, 8_192]);
        assert_eq!(labelled(&[256, 512]), [256, 512]);
    }
}
