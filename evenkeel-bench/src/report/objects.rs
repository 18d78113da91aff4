//! The part of the page about objects with homes: a picture of each experiment in each regime of the cores, and all figures as a table.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use maud::{Markup, html};

use super::dots::{self, Dot, Scale};
use super::lines::{self, Abscissa};
use super::{page, pictures};
use crate::disturbance;
use crate::figures::Summary;
use crate::objects::figures::{self, Line, Place};
use crate::objects::record::Record;
use crate::objects::table::{self, heading, title};
use crate::objects::{Access, Bench, Mode, Popularity};
use crate::regime::MEANING;
use crate::words::{self, count};

/// The unit of throughput.
const MOPS: &str = "million operations/s, all workers";

/// A doubling on a logarithmic axis, whose places are whole numbers.
const DOUBLING: f64 = 1_000.0;

/// KiB of all directories.
const SIZES: Abscissa<'static> = Abscissa {
    title: "MiB of all directories",
    ticks: super::ticks::processors,
    label: &|kib| words::figure(kib / 1_024.0),
};

/// Tasks for each core, by their logarithms.
const TASKS: Abscissa<'static> = Abscissa {
    title: "tasks per core (logarithmic axis)",
    ticks: <[usize]>::to_vec,
    label: &|place| format!("{:.0}", (place / DOUBLING).exp2()),
};

/// A page of its own: writes `objects.html` into `dir`, beside what else is there, and returns its path.
pub(crate) fn write(dir: &Path, records: &[Record]) -> anyhow::Result<PathBuf> {
    const TITLE: &str = "evenkeel: objects with homes beside locks";
    super::prepare(dir)?;
    let page = dir.join("objects.html");
    let body = html! {
        h1 { (TITLE) }
        (render(records)?)
        p.note { (words::capital(MEANING)) "." }
    };
    fs::write(&page, page::document(TITLE, &body)).with_context(|| super::refusal(dir))?;
    Ok(page)
}

/// Everything about objects; nothing if none was measured.
pub(super) fn render(records: &[Record]) -> anyhow::Result<Markup> {
    let all = figures::lines(records);
    if all.is_empty() {
        return Ok(html! {});
    }
    let mut sections = Vec::new();
    for bench in Bench::ALL {
        // What was measured while the cores moved is in the table alone.
        let lines: Vec<&Line> =
            all.iter().filter(|line| line.place.bench == bench && line.is_compared()).collect();
        if !lines.is_empty() {
            sections.push(section(bench, &lines)?);
        }
    }
    Ok(html! {
        h2.pictures { "Objects" }
        p {
            "Operations on shared data: by a pinned thread per core and a lock per object (threads+spin, mutex, parking_lot; atomic without one), and by tasks of evenkeel on as "
            "many pinned workers: in-place enters an object where the task is, home at the worker that is its home, automatic whichever way its class has found to be better. "
            "Each run checks that no operation was lost. Medians, least and most of the runs, which take turns; no picture and no ratio is of two regimes of the cores."
        }
        @if let Some(disturbed) = disturbance::count(records.iter().map(|record| record.cpu_share)) {
            p { (disturbed) }
        }
        @for section in &sections { (section) }
        (homes(records)?)
        section { div.wide { pre { (table::render(records)) } } }
    })
}

/// Objects at each worker before and after the last automatic run of each line in which any has moved; nothing if none has.
fn homes(records: &[Record]) -> anyhow::Result<Markup> {
    let mut pictures = Vec::new();
    let automatic = |line: &&Line| line.mode == Mode::Automatic && line.is_compared();
    for line in figures::lines(records).iter().filter(automatic) {
        let Some(record) = records.iter().rev().find(|record| line.has(record)) else { continue };
        let (Some(before), Some(after)) = (&record.homes_before, &record.homes_after) else {
            continue;
        };
        if before == after {
            continue;
        }
        let dots: Vec<Dot> = [("before", before), ("in the end", after)]
            .into_iter()
            .flat_map(|(when, numbers)| {
                numbers.split(' ').enumerate().map(move |(worker, number)| {
                    let value = Summary::of(number.parse().into_iter().collect());
                    Dot {
                        name: format!("worker {worker}, {when}"),
                        slot: usize::from(when != "before"),
                        text: dots::text(value.as_ref(), None),
                        value,
                    }
                })
            })
            .collect();
        let all: Vec<Summary> = dots.iter().filter_map(|dot| dot.value).collect();
        let svg = dots::draw("objects at home there", &Scale::from_zero(&all), &dots)?;
        let caption = format!("{}, {}", words::capital(&title(&line.place)), heading(line));
        pictures.push(pictures::figure(&caption, "one automatic run: objects by worker", &svg));
    }
    if pictures.is_empty() {
        return Ok(html! {});
    }
    Ok(html! {
        section {
            div.title {
                h3 { "Objects by worker" }
                p { "Where the objects of automatic runs were at home before the run and when it was over: a worker that is busy while another is not gives it its hottest objects." }
            }
            div.grid { @for picture in &pictures { (picture) } }
        }
    })
}

fn section(bench: Bench, lines: &[&Line]) -> anyhow::Result<Markup> {
    let mut pictures = Vec::new();
    match bench {
        Bench::Directory => {
            for group in lines.chunk_by(|a, b| series(a) == series(b)) {
                pictures.extend(directory(group)?);
            }
        }
        Bench::Travel => {
            for group in lines.chunk_by(|a, b| (&a.regime, a.place) == (&b.regime, b.place)) {
                pictures.extend(travel(group)?);
            }
        }
        Bench::Counters | Bench::Map | Bench::Heap | Bench::Scan => {
            for group in lines.chunk_by(|a, b| (&a.regime, a.place) == (&b.regime, b.place)) {
                pictures.push(by_mode(group)?);
            }
        }
    }
    let modes = bench.modes().iter().map(|&mode| (mode as usize, mode.name()));
    Ok(html! {
        section {
            div.title {
                h3 { (words::capital(bench.name())) }
                p { (words::capital(bench.describe())) "." }
                @if bench == Bench::Directory { (page::legend(modes)) }
            }
            div.grid { @for picture in &pictures { (picture) } }
        }
    })
}

/// What the points of a line over the size have in common.
fn series(line: &Line) -> (Option<&str>, Access, Popularity, u64, usize) {
    let Place { access, popularity, period_ms, workers, .. } = line.place;
    (line.regime.as_deref(), access, popularity, period_ms, workers)
}

/// The throughput over the size, a picture for each number of tasks. Threads have none, and are in all of them.
fn directory(lines: &[&Line]) -> anyhow::Result<Vec<Markup>> {
    let mut tasks: Vec<usize> = lines.iter().filter_map(|line| line.tasks_per_core).collect();
    tasks.sort_unstable();
    tasks.dedup();
    let mut numbers: Vec<Option<usize>> = tasks.into_iter().map(Some).collect();
    if numbers.is_empty() {
        numbers.push(None);
    }
    let mut pictures = Vec::new();
    for tasks in numbers {
        let of_mode = |mode: Mode| {
            let own = lines.iter().filter(|line| line.mode == mode);
            let own = own.filter(|line| line.tasks_per_core.is_none_or(|own| Some(own) == tasks));
            let mut points: Vec<(usize, Summary)> =
                own.map(|line| (line.place.bytes >> 10, line.mops)).collect();
            points.sort_by_key(|(kib, _)| *kib);
            lines::Line { slot: mode as usize, points }
        };
        let drawn: Vec<lines::Line> =
            Mode::ALL.into_iter().map(of_mode).filter(|line| !line.points.is_empty()).collect();
        let svg = lines::draw(&SIZES, MOPS, &drawn)?;
        let Place { access, popularity, .. } = lines[0].place;
        let number = tasks.map(|tasks| format!(", {} per core", count(tasks, "task")));
        let caption = format!(
            "Directory, {access}, {popularity}{}, {}",
            number.unwrap_or_default(),
            heading(lines[0])
        );
        pictures.push(pictures::figure(&caption, "higher is better", &svg));
    }
    Ok(pictures)
}

/// The cost of a journey there and back over the number of tasks; nothing if no run had enough journeys.
fn travel(lines: &[&Line]) -> anyhow::Result<Option<Markup>> {
    let point = |line: &&Line| {
        let place = (line.tasks_per_core? as f64).log2() * DOUBLING;
        Some((place.round() as usize, line.core_ns?))
    };
    let points: Vec<(usize, Summary)> = lines.iter().filter_map(point).collect();
    if points.is_empty() {
        return Ok(None);
    }
    let line = lines::Line { slot: Mode::Home as usize, points };
    let svg = lines::draw(&TASKS, "core-ns there and back", &[line])?;
    let workers = count(lines[0].place.workers, "worker");
    let caption = format!("Travel, {workers}, {}", heading(lines[0]));
    Ok(Some(pictures::figure(&caption, "lower is better", &svg)))
}

/// A row for each mode and number of tasks.
fn by_mode(lines: &[&Line]) -> anyhow::Result<Markup> {
    let dot = |line: &&Line| Dot {
        name: match line.tasks_per_core {
            Some(tasks) => format!("{}, {tasks}", line.mode),
            None => line.mode.to_string(),
        },
        slot: line.mode as usize,
        value: Some(line.mops),
        text: dots::text(Some(&line.mops), None),
    };
    let dots: Vec<Dot> = lines.iter().map(dot).collect();
    let all: Vec<Summary> = lines.iter().map(|line| line.mops).collect();
    let svg = dots::draw(MOPS, &Scale::from_zero(&all), &dots)?;
    let caption = format!("{}, {}", words::capital(&title(&lines[0].place)), heading(lines[0]));
    Ok(pictures::figure(&caption, "by mode and tasks per core; higher is better", &svg))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::tests::example;

    fn captions(page: &str) -> Vec<&str> {
        let parts = page.split("<figcaption>").skip(1);
        parts.filter_map(|part| part.split("<span").next()).collect()
    }

    #[test]
    fn each_picture_is_of_one_regime_and_says_which() {
        let page = render(&example()).unwrap().into_string();
        let right = [
            "Directory, read, uniform, 16 tasks per core, cores near",
            "Directory, read, oscillating, 16 tasks per core, cores near",
            "Directory, read, uniform, 16 tasks per core, cores far",
            "Counters, 64 objects, cores near",
            // Objects by worker.
            "Directory read, 64 objects, 1.95 MiB, cores near",
            "Directory read, 1,024 objects, 31.2 MiB, cores near",
            "Travel, 2 workers, cores near",
        ];
        let mut seen = captions(&page);
        seen.sort_unstable();
        let mut right = right.to_vec();
        right.sort_unstable();
        assert_eq!(seen, right);
        // In the table only.
        assert_eq!(page.matches("cores mixed").count(), 1);
    }

    #[test]
    fn tasks_lie_at_their_logarithms() {
        assert_eq!((TASKS.label)(4.0 * DOUBLING), "16");
        assert_eq!((TASKS.label)(0.0), "1");
        assert_eq!((SIZES.label)(256.0), "0.25");
    }

    #[test]
    fn nothing_measured_is_nothing_shown() {
        assert_eq!(render(&[]).unwrap().into_string(), "");
    }
}
