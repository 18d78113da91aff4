//! Pictures that draw several rows as lines, or the homes of objects.

use super::bench::Bench;
use super::family::{CORE_NS, MOPS_BY_SIZE};
use super::homes::last_automatic;
use suite::case::{Case, Fields};
use suite::picture::{Line, Picture, Point, Shape};
use suite::quantity::Quantity;
use suite::rows::Row;
use suite::summary::Summary;
use suite::words;

/// Bytes of the unit in which sizes are drawn.
const MIB: f64 = (1 << 20) as f64;

/// The pictures of an experiment's rows.
pub(super) fn of(rows: &[Row<'_>]) -> Vec<Picture> {
    let is = |bench: Bench| rows.first().is_some_and(|row| row.case.bench == bench.name());
    let mut pictures = Vec::new();
    if is(Bench::Directory) {
        pictures = over("bytes", ("MiB of all directories", MIB), &MOPS_BY_SIZE, rows);
    } else if is(Bench::Travel) {
        pictures = over("tasks_per_core", ("tasks per core", 1.0), &CORE_NS, rows);
    }
    pictures.extend(rows.iter().filter_map(homes));
    pictures
}

/// A figure over a setting: a picture for each group of rows that differ only in it, and a line for
/// each mode.
fn over(
    setting: &str,
    (title, unit): (&'static str, f64),
    quantity: &Quantity,
    rows: &[Row<'_>],
) -> Vec<Picture> {
    let mut groups: Vec<(Case, Vec<&Row<'_>>)> = Vec::new();
    for row in rows {
        let common = without(setting, row.case);
        let is_of =
            |(of, rows): &&mut (Case, Vec<&Row<'_>>)| *of == common && rows[0].regime == row.regime;
        match groups.iter_mut().find(is_of) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((common, vec![row])),
        }
    }
    let picture = |(common, rows): (Case, Vec<&Row<'_>>)| {
        let mut lines: Vec<Line> = Vec::new();
        for row in &rows {
            for cell in row.cells.iter().filter(|cell| cell.counted > 0) {
                let value = row.summary(quantity, cell);
                let Some((at, value)) = row.case.settings.number(setting).zip(value) else {
                    continue;
                };
                let point = Point { at, value };
                match lines.iter_mut().find(|line| line.name == cell.peer.name) {
                    Some(line) => line.points.push(point),
                    None => lines.push(Line {
                        name: cell.peer.name,
                        slot: cell.peer.slot,
                        points: vec![point],
                    }),
                }
            }
        }
        let cores = rows[0].regime.map_or(String::new(), |regime| format!(", cores {regime}"));
        (!lines.is_empty()).then(|| Picture {
            caption: format!("{}{cores}", words::capital(&common.to_string())),
            says: match setting {
                "bytes" => "higher is better",
                _ => "lower is better",
            },
            figure: quantity.name,
            shape: Shape::Lines { over: title, unit, lines },
        })
    };
    groups.into_iter().filter_map(picture).collect()
}

/// A case without a setting, and without the number of objects, which follows from the setting.
fn without(setting: &str, case: &Case) -> Case {
    let kept = case.settings.iter().filter(|(name, _)| ![setting, "objects"].contains(name));
    let settings = kept.fold(Fields::new(), |settings, (name, value)| {
        settings.with(name.to_owned(), value.clone())
    });
    Case { settings, ..case.clone() }
}

/// Objects at each worker before and after the last automatic run of a row, if any object has
/// moved.
fn homes(row: &Row<'_>) -> Option<Picture> {
    let figures = &last_automatic(row)?.figures;
    let (before, after) = (figures.text("homes_before")?, figures.text("homes_after")?);
    if before == after {
        return None;
    }
    let dots = |when: &'static str, slot: usize, numbers: &str| -> Vec<(String, usize, Summary)> {
        let numbers = numbers.split(' ').filter_map(|number| number.parse().ok());
        let summaries = numbers.enumerate().filter_map(|(worker, number)| {
            let name = format!("worker {worker}, {when}");
            Some((name, slot, Summary::of(vec![number])?))
        });
        summaries.collect()
    };
    Some(Picture {
        caption: format!("Homes by worker: {}", row.name()),
        says: "one automatic run; a busy worker gives its hottest objects to an idle one",
        figure: "objects at home there",
        shape: Shape::Dots([dots("before", 0, before), dots("in the end", 1, after)].concat()),
    })
}
