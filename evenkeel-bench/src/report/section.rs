//! The part of the page about a family that runs on the suite: a table and pictures of each
//! experiment.

use std::cmp::Reverse;

use maud::{Markup, html};

use super::dots::{self, Dot, Scale};
use super::lines::{self, Line};
use super::table::mark;
use super::{drawn, page, percentiles, pictures};
use suite::case::Case;
use suite::description::Description;
use suite::disturbance;
use suite::entry::Measured;
use suite::peer::Known;
use suite::published;
use suite::quantity::{Drawn, Quantity};
use suite::regime::MEANING;
use suite::rows::{Cell, Row, rows};
use suite::summary::Summary;
use suite::table::left_out;
use suite::tally::Tally;
use suite::verdict::Verdict;
use suite::verdict::{DOUBT, Standing};
use suite::words;

/// What stands above the figures of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// In how many comparisons the subject is ahead of every peer.
    Tally,
    /// The peers that were left out, so that there is no such count.
    LeftOut,
}

/// Renders everything about a family; empty if none of it was measured.
pub(super) fn render(measured: &Measured, lead: Lead) -> anyhow::Result<Markup> {
    let of = &measured.of;
    let rows = rows(of, &measured.records, &measured.absent);
    if rows.is_empty() {
        return Ok(html! {});
    }
    let mut sections = Vec::new();
    for rows in rows.chunk_by(|a, b| a.experiment.name == b.experiment.name) {
        sections.push(experiment(of, rows)?);
    }
    Ok(html! {
        h2.pictures id=(of.name) { (of.title) }
        @match lead {
            Lead::Tally => (tally(of, &rows)),
            Lead::LeftOut => (left_out_peers(of, &rows)),
        }
        @for section in &sections { (section) }
        details {
            summary { "About these figures" }
            @for line in of.about.lines() { p { (line) } }
            p { "Runtimes: " (runtimes(&rows)) "." }
            p {
                "Medians [minimum to maximum] of the runs that count; the best that is compared is "
                strong { "bold" } ". " (DOUBT) "."
                @if let Some(left_out) = left_out(&rows) { " " (left_out) }
            }
            p { (words::capital(disturbance::MEANING)) "." }
            @if rows.iter().any(|row| row.regime.is_some()) { p { (words::capital(MEANING)) "." } }
            @for text in (of.remarks)(&rows) { (remark(&text)) }
        }
    })
}

fn tally(of: &Description, rows: &[Row<'_>]) -> Markup {
    let tally = Tally::of(rows);
    let subject = of.subject().unwrap_or_default();
    html! {
        p.lead {
            "Of " (words::count(tally.all(), "comparison")) " " (subject) " is "
            (mark(Standing::Ahead)) "ahead of every peer in " (tally.won) ", "
            (mark(Standing::Behind)) "behind one in " (tally.lost) " and neither in " (tally.even)
            "; " (tally.not_compared) " could not be made"
            @if tally.unfinished > 0 { ", and in " (tally.unfinished) " no runtime completed" }
            "."
        }
    }
}

fn left_out_peers(of: &Description, rows: &[Row<'_>]) -> Markup {
    let measured = measured(rows);
    let is_left_out = |peer: &&Known| measured.iter().all(|one| one.name != peer.name);
    let left_out: Vec<&str> = of.peers.iter().filter(is_left_out).map(|peer| peer.name).collect();
    html! {
        @if !left_out.is_empty() {
            p.lead {
                "The family has more peers, which `run` measures and of which some may be ahead: "
                (words::and(&left_out)) "."
            }
        }
    }
}

/// Renders a remark; the lines after its first are a list.
fn remark(text: &str) -> Markup {
    let (first, further) = text.split_once('\n').unwrap_or((text, ""));
    html! {
        p { (first) }
        @if !further.is_empty() { ul { @for line in further.lines() { li { (line) } } } }
    }
}

fn experiment(of: &Description, rows: &[Row<'_>]) -> anyhow::Result<Markup> {
    let experiment = rows[0].experiment;
    let mut pictures = Vec::new();
    let mut has_lines = false;
    for quantity in experiment.quantities {
        for rows in rows.chunk_by(|a, b| a.case.variant == b.case.variant) {
            let (lines, alone) = shapes(quantity, rows);
            has_lines |= !lines.is_empty();
            // Neighbours share an axis.
            let drawn: Vec<_> = lines.iter().map(|rows| (rows, lines_of(rows, quantity))).collect();
            let highest = drawn.iter().map(|(_, lines)| lines::highest(lines)).fold(0.0, f64::max);
            for (rows, lines) in drawn.iter().filter(|(_, lines)| !lines.is_empty()) {
                pictures.push(picture_of_lines(rows, lines, highest, quantity)?);
            }
            let figures = |row: &Row<'_>| -> Vec<Summary> {
                let counts = row.cells.iter().filter(|cell| cell.counted > 0);
                counts.filter_map(|cell| row.summary(quantity, cell)).collect()
            };
            let all: Vec<Summary> = alone.iter().copied().flat_map(figures).collect();
            let scale = Scale::fitting(&all);
            for row in alone.into_iter().filter(|row| !figures(row).is_empty()) {
                pictures.push(picture(row, quantity, &scale)?);
            }
        }
    }
    let curves = percentiles::of(rows)?;
    let has_curves = !curves.is_empty();
    pictures.extend(curves);
    let own = (of.pictures)(rows);
    for picture in &own {
        pictures.push(drawn::draw(picture)?);
    }
    // Rows of dots have the names beside them.
    let mut legend = drawn::legend(&own);
    if has_lines || has_curves {
        legend = measured(rows).iter().map(|peer| (peer.slot, peer.name)).collect();
    }
    Ok(html! {
        section {
            div.title {
                h3 id={ "bench-" (experiment.name) } { (words::capital(experiment.name)) }
                p { (words::capital(experiment.what)) "." }
                @if !legend.is_empty() { (page::legend(legend.into_iter())) }
            }
            div.grid { @for picture in &pictures { (picture) } }
            (table(of, rows))
        }
    })
}

/// Returns the peers that were measured, with their descriptions.
fn runtimes(rows: &[Row<'_>]) -> String {
    let say = |peer: Known| match peer.what {
        "" => peer.name.to_owned(),
        what => format!("{}: {what}", peer.name),
    };
    measured(rows).into_iter().map(say).collect::<Vec<_>>().join("; ")
}

/// Groups the rows of a quantity: first the rows that share a picture with lines, then the rows
/// with a picture each.
fn shapes<'r, 'a>(
    quantity: &Quantity,
    rows: &'r [Row<'a>],
) -> (Vec<Vec<&'r Row<'a>>>, Vec<&'r Row<'a>>) {
    let mut alike: Vec<Vec<&Row<'_>>> = Vec::new();
    let is_drawn = matches!(quantity.drawn, Drawn::Dots | Drawn::Lines);
    for row in rows.iter().filter(|_| is_drawn) {
        let is_alike = |known: &&mut Vec<&Row<'_>>| {
            quantity.drawn == Drawn::Lines && known[0].case.settings == row.case.settings
        };
        match alike.iter_mut().find(is_alike) {
            Some(known) => known.push(row),
            None => alike.push(vec![row]),
        }
    }
    alike.iter_mut().for_each(|rows| rows.sort_by_key(|row| row.case.workers));
    // A line has two ends.
    let (lines, alone): (Vec<_>, Vec<_>) = alike.into_iter().partition(|rows| rows.len() > 1);
    (lines, alone.into_iter().flatten().collect())
}

/// Returns the peers that were measured in any of these rows.
fn measured<'r, 'a: 'r>(rows: impl IntoIterator<Item = &'r Row<'a>>) -> Vec<Known> {
    let mut peers: Vec<Known> = Vec::new();
    for cell in rows.into_iter().flat_map(|row| &row.cells) {
        if !peers.iter().any(|peer| peer.name == cell.peer.name) {
            peers.push(cell.peer);
        }
    }
    peers
}

/// The approximate width in pixels for the columns of peers on a page of full width. Then the
/// widths of a column: for its figures' ranges, and per letter of an unbreakable part of its
/// heading.
const ABREAST: usize = 720;
const RANGE: usize = 95;
const LETTER: usize = 8;

/// Returns whether there are more peers than fit side by side on a page of full width.
fn are_many(names: &[&str]) -> bool {
    let longest = |name: &&str| name.split('-').map(str::len).max().unwrap_or_default();
    names.iter().map(|name| RANGE.max(LETTER * longest(name))).sum::<usize>() > ABREAST
}

/// Renders all figures: a line for each quantity of each row.
fn table(of: &Description, rows: &[Row<'_>]) -> Markup {
    let (subject, systems) = (of.subject().unwrap_or_default(), published::systems(of, rows));
    let names: Vec<&str> = measured(rows).iter().map(|peer| peer.name).collect();
    html! {
        div.wide {
            table.dense.many[are_many(&names)] {
                thead {
                    tr {
                        th scope="col" { "Case" }
                        th scope="col" { "Figure" }
                        @for name in &names { th.number scope="col" { (name) } }
                        th scope="col" { (subject) " beside its peers" }
                    }
                }
                tbody {
                    @for row in rows {
                        @let quantities: Vec<&Quantity> = row.quantities().collect();
                        @for (place, quantity) in quantities.iter().enumerate() {
                            tr {
                                @if place == 0 {
                                    th.case scope="rowgroup" rowspan=(quantities.len()) {
                                        (case(row))
                                        @for one in (of.published)(row.case) {
                                            span.range { (one.system) " " (one.figure) }
                                        }
                                    }
                                }
                                td.quantity { (quantity.name) }
                                @for name in &names {
                                    @let is_there = row.cell(name).is_some();
                                    // A narrow page has a line for each figure, with its peer.
                                    td.number.none[!is_there] data-head=(name) {
                                        (figure(row, quantity, name))
                                        @if !systems.is_empty() { (average(row, quantity, name)) }
                                    }
                                }
                                td.verdict.none[!quantity.is_compared()] data-head=(subject) {
                                    @if quantity.is_compared() { (verdict(row, quantity)) }
                                }
                            }
                        }
                    }
                }
            }
        }
        @for absent in rows.iter().flat_map(|row| &row.absent) {
            p.note { (absent) "." }
        }
    }
}

/// Renders the case of a row.
fn case(row: &Row<'_>) -> Markup {
    let settings = settings(row.case);
    html! {
        (row.case.title()) ", " (words::count(row.case.workers, "worker"))
        @if !settings.is_empty() { span.range { (settings) } }
        @if let Some(regime) = row.regime { span.range { "cores " (regime) } }
    }
}

/// Returns the settings of a case in words.
fn settings(case: &Case) -> String {
    case.told().map(|(_, setting)| setting).collect::<Vec<_>>().join(", ")
}

fn figure(row: &Row<'_>, quantity: &Quantity, name: &str) -> Markup {
    let figure = |cell: &Cell<'_>| Some((row.summary(quantity, cell)?, cell.counted));
    let Some((value, counted)) = row.cell(name).and_then(figure) else { return html! { "-" } };
    let median = words::figure(value.median);
    html! {
        @if !value.completed() {
            "did not complete"
        } @else if row.best(quantity) == Some(name) {
            strong { (median) }
        } @else {
            (median)
        }
        @if value.completed() && value.incomplete > 0 {
            span.range { "from " (words::figure(value.min)) }
            span.range { (value.incomplete) " of " (value.runs) " did not complete" }
        } @else if value.completed() && value.min != value.max {
            span.range { "[" (words::figure(value.min)) " to " (words::figure(value.max)) "]" }
        }
        @if let Some(few) = few(row, name, counted) { span.range { (few) } }
    }
}

/// Renders the average of a cell, for comparison with published figures.
fn average(row: &Row<'_>, quantity: &Quantity, name: &str) -> Markup {
    let average = row.cell(name).and_then(|cell| row.average(quantity, cell));
    html! { @if let Some(average) = average { span.range { "average " (average) } } }
}

/// Returns a remark on a cell with too few runs to be compared.
fn few(row: &Row<'_>, name: &str, counted: usize) -> Option<String> {
    match row.cell(name)? {
        cell if cell.is_enough() => None,
        _ if counted == 0 => Some("no run counts".to_owned()),
        _ => Some(words::count(counted, "run")),
    }
}

fn verdict(row: &Row<'_>, quantity: &Quantity) -> Markup {
    let verdict = Verdict::of(row, quantity);
    html! {
        (mark(verdict.standing()))
        (verdict.words(quantity.better))
        @if let Some(peer) = verdict.peer() { span.range { "beside " (peer) } }
    }
}

/// Draws one quantity of one row, a dot for each peer that has it.
fn picture(row: &Row<'_>, quantity: &Quantity, scale: &Scale) -> anyhow::Result<Markup> {
    let dots: Vec<Dot> = row
        .cells
        .iter()
        .filter(|cell| cell.counted > 0)
        .filter_map(|cell| {
            let value = row.summary(quantity, cell)?;
            let text = dots::text(&value);
            let Known { name, slot, .. } = cell.peer;
            Some(Dot { name: name.to_owned(), slot, value, text })
        })
        .collect();
    let svg = dots::draw(quantity.name, scale, &dots)?;
    let caption = words::capital(&row.name());
    Ok(pictures::figure(&caption, quantity.better.says(), &svg))
}

/// Returns one quantity of rows that differ in the number of workers, a line for each peer that has
/// it.
fn lines_of(rows: &[&Row<'_>], quantity: &Quantity) -> Vec<Line> {
    let point = |row: &Row<'_>, peer: &Known| {
        // A cell without runs that count is left out, since its figures may exceed the axes of the
        // others.
        let cell = row.cell(peer.name).filter(|cell| cell.counted > 0)?;
        let value = row.summary(quantity, cell).filter(|value| value.incomplete == 0)?;
        Some((row.case.workers, value))
    };
    let line = |peer: &Known| Line {
        slot: peer.slot,
        points: rows.iter().filter_map(|row| point(row, peer)).collect(),
    };
    let mut peers = measured(rows.iter().copied());
    // The subject's line comes last, so that it lies on top.
    peers.sort_by_key(|peer| Reverse(peer.slot));
    let mut lines: Vec<Line> = peers.iter().map(line).collect();
    lines.retain(|line| !line.points.is_empty());
    lines
}

/// Draws these lines as a picture.
fn picture_of_lines(
    rows: &[&Row<'_>],
    lines: &[Line],
    highest: f64,
    quantity: &Quantity,
) -> anyhow::Result<Markup> {
    let svg = lines::draw(&lines::WORKERS, lines, highest)?;
    let case = rows[0].case;
    let settings = settings(case);
    let settings = if settings.is_empty() { settings } else { format!(", {settings}") };
    let caption = format!("{}{settings}: {}", words::capital(&case.title()), quantity.name);
    Ok(pictures::figure(&caption, quantity.better.says(), &svg))
}
