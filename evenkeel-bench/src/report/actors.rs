//! The part of the page about actors: a table and pictures of each experiment.

use maud::{Markup, PreEscaped, html};

use super::dots::{self, Dot, Scale};
use super::table::{mark, standing};
use crate::actors::Bench;
use crate::actors::figures::{Line, columns, lines, slot};
use crate::actors::peer::Peer;
use crate::actors::record::Record;
use crate::disturbance;
use crate::figures::Summary;
use crate::verdict::{DOUBT, Standing};
use crate::words::{self, count};

/// Everything about actors; nothing if none of it was measured.
pub(super) fn render(records: &[Record]) -> anyhow::Result<Markup> {
    let lines = lines(records);
    if lines.is_empty() {
        return Ok(html! {});
    }
    let (mut sections, mut programs) = (Vec::new(), Vec::new());
    for group in lines.chunk_by(|a, b| a.bench == b.bench) {
        match group[0].bench {
            Bench::Savina(_) => programs.push(section(group)?),
            _ => sections.push(section(group)?),
        }
    }
    Ok(html! {
        h2.pictures { "Actors" }
        (lead(&lines, records))
        @for section in &sections { (section) }
        @if !programs.is_empty() { (savina()) }
        @for program in &programs { (program) }
    })
}

fn savina() -> Markup {
    html! {
        h2.pictures { "Actors: programs of the Savina suite" }
        p {
            "From the rules published by Imam and Sarkar (AGERE 2014), each checked by its own result: counts, balances, items, meals. The time is "
            "that of a whole iteration, from the first spawn to the end of the last actor, by the number of messages that the rules prescribe; "
            "requests in vain of philosophers are not counted, and nearly all of the time of bndbuffer is in making and consuming items."
        }
    }
}

fn lead(lines: &[Line], records: &[Record]) -> Markup {
    let compared = || lines.iter().filter(|line| line.verdict().peer.is_some());
    let number = |standing| compared().filter(|line| line.verdict().standing == standing).count();
    html! {
        p {
            "Median [minimum to maximum] of the repeats, by the clock on the wall whatever the number of workers; messages are counted with "
            "their replies, and every run has checked its own counts. Smaller is better throughout, and the best is " strong { "bold" } ". "
            (DOUBT) "."
            @if compared().next().is_some() {
                " evenkeel is " (mark(Standing::Ahead)) "ahead of every peer in " (number(Standing::Ahead)) ", "
                (mark(Standing::Behind)) "behind in " (number(Standing::Behind)) " and " (mark(Standing::Even))
                "neither in " (number(Standing::Even)) " of the " (count(compared().count(), "row")) " that compare it with a peer: of those that differ in the "
                "distance of the cores one does, and none in which it changed or one of the two has a single run."
            }
        }
        p {
            "latency_probe is Thorium's: a hundred actors for each worker, each with one ping in flight to a random one of all; its round trips are "
            "those of a run of its own, in which one ping of 64 is timed. In pingpong a thousand pings of each pair are under way. In fanin "
            "mailboxes hold senders back, or senders wait for leave where mailboxes have no bound. In actor_spawn, alive has all actors before the "
            "first message, waves a thousand at a time. In actor_memory idle actors were never sent a message, used ones have handled one; the "
            "reference that is kept of each is part of it, and heavy systems have fewer actors."
        }
        @if let Some(disturbed) = disturbance::count(records.iter().map(|record| record.cpu_share)) {
            p { (disturbed) }
        }
    }
}

fn section(lines: &[Line]) -> anyhow::Result<Markup> {
    let bench: Bench = lines[0].bench;
    let peers = columns(lines);
    let mut pictures = Vec::new();
    for line in lines.iter().filter(|line| line.quantity.is_first()) {
        pictures.push(picture(line, lines)?);
    }
    Ok(html! {
        section {
            div.title { h3 { (bench.name()) } p { (words::capital(bench.describe())) "." } }
            div.wide {
                table.dense {
                    thead {
                        tr {
                            th scope="col" { "Figure" }
                            th.number scope="col" { "Workers, actors" }
                            @for peer in &peers { th.number scope="col" { (peer) } }
                            th scope="col" { "evenkeel beside the best peer" }
                        }
                    }
                    tbody { @for line in lines { (row(line, &peers)) } }
                }
            }
            div.grid { @for picture in &pictures { (picture) } }
        }
    })
}

fn row(line: &Line, peers: &[Peer]) -> Markup {
    let best = line.best();
    html! {
        tr {
            td { (figure_name(line)) }
            td.number {
                (line.workers) ", " (words::thousands(line.actors as i64))
                @if let Some(regime) = &line.regime { span.range { (regime) } }
            }
            @for &peer in peers { td.number { (figure(line, peer, best == Some(peer))) } }
            td.verdict { @if line.subject().is_some() { (standing(&line.verdict())) } }
        }
    }
}

fn figure_name(line: &Line) -> String {
    match line.variant.name() {
        "-" => line.quantity.unit().to_owned(),
        name => format!("{name}: {}", line.quantity.unit()),
    }
}

fn figure(line: &Line, peer: Peer, best: bool) -> Markup {
    let Some(value) = line.cell(peer) else {
        return html! { span.range { "-" } };
    };
    let median = words::figure(value.median);
    html! {
        @if best { strong { (median) } } @else { (median) }
        @if value.runs > 1 {
            span.range { "[" (words::figure(value.min)) " to " (words::figure(value.max)) "]" }
        } @else {
            span.range { "1 run" }
        }
    }
}

/// One picture: the systems of a line, one below the other, and those that its experiment has in other regimes.
fn picture(line: &Line, lines: &[Line]) -> anyhow::Result<Markup> {
    let alike = |other: &Line| {
        let of = |line: &Line| (line.variant, line.workers, line.actors, line.quantity);
        of(other) == of(line)
    };
    let beside: Vec<Line> = lines.iter().filter(|other| alike(other)).cloned().collect();
    let dot = |peer: Peer| {
        let value = line.cell(peer);
        let text = match value {
            Some(_) => dots::text(value.as_ref(), None),
            None => dots::ELSEWHERE.to_owned(),
        };
        Dot { name: peer.to_string(), slot: slot(peer), value, text }
    };
    let dots: Vec<Dot> = columns(&beside).into_iter().map(dot).collect();
    let values: Vec<Summary> = dots.iter().filter_map(|dot| dot.value).collect();
    let svg = dots::draw(line.quantity.unit(), &Scale::fitting(&values), &dots)?;
    let variant = match line.variant.name() {
        "-" => String::new(),
        name => format!(", {name}"),
    };
    let mut caption = format!("{}{variant}, {}", line.bench, count(line.workers, "worker"));
    if let Some(regime) = &line.regime {
        caption.push_str(&format!(", cores {regime}"));
    }
    Ok(html! {
        figure {
            figcaption { (caption) span.unit { "lower is better" } }
            div.chart role="img" aria-label=(caption) { (PreEscaped(svg)) }
        }
    })
}
