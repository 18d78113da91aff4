//! The printed tables of simulations.

use super::published::{CLAIMS, Found, WORDS, are_usual, judge, reason};
use super::rows::{CONFIDENCE, Metric, Row, ratio, rows};
use super::{Scheduler, cure};
use crate::analysis::tables::{Reasons, Table};
use crate::analysis::{Estimate, compare, numbers, text};
use evenkeel_sim::forking::{PUBLISH, RECLAIM, SEIZE};
use suite::record::Record;
use suite::table::wrapped;
use suite::words;

/// The pairs that are compared: the paper's schedulers with each other, the runtime's rules with
/// none, and its way to wait with that of Cilk.
pub(super) const PAIRS: [(Scheduler, Scheduler); 6] = [
    (Scheduler::CilkRestricted, Scheduler::CilkRandom),
    (Scheduler::CilkBiased, Scheduler::CilkRandom),
    (Scheduler::Random, Scheduler::Off),
    (Scheduler::Biased, Scheduler::Off),
    (Scheduler::Strict, Scheduler::Off),
    (Scheduler::Off, Scheduler::CilkRandom),
];

/// The mark of a ratio that could be 1.
const MAYBE: &str = "~";

/// The text above all tables.
const SIMULATED: &str = "SIMULATED: 4 packages of 8 cores, the paper's schedulers and the runtime's policy on assumed caches; no core has run this";

/// Lays out the tables of the records in `width` columns.
pub(crate) fn render(records: &[Record], width: Option<u16>) -> String {
    let tables = tables(records).into_iter().map(|table| text::table(table, width));
    wrapped(SIMULATED, width) + &tables.collect::<String>()
}

/// Makes all tables: the four metrics of each program, size and scheduler, ratios of times, what
/// the runtime's own rules cure, and claims of the paper.
pub(crate) fn tables(records: &[Record]) -> Vec<Table> {
    let rows = rows(records);
    let mut all = vec![metrics(&rows), ratios(&rows)];
    all.extend(cure::tables(&rows));
    all.extend(claims(&rows));
    all
}

/// Compares the paper's claims with the simulation, with the known reasons for each difference.
fn claims(rows: &[Row<'_>]) -> Option<Table> {
    let sizes = sizes(rows);
    let mut heading = ["metric", "program", "the paper"].map(str::to_owned).to_vec();
    heading.extend(sizes.iter().map(|size| (*size).to_owned()));
    let mut lines = Vec::new();
    let are_usual = are_usual(rows);
    let mut reasons = Reasons::default();
    let mut differs = false;
    for claim in &CLAIMS {
        let mut verdict = |size: &&str| match judge(claim, &of_size(rows, size)) {
            None => "-".to_owned(),
            Some(Found { ours, agrees: Some(true) }) => format!("{ours} agrees"),
            Some(Found { ours, agrees: None }) => format!("{ours} may be chance"),
            Some(Found { ours, .. }) if !are_usual => {
                differs = true;
                format!("{ours} DIFFERS")
            }
            Some(Found { ours, .. }) => {
                let mark = reasons.mark(reason(claim, size).unwrap_or(UNKNOWN));
                format!("{ours} DIFFERS {mark}")
            }
        };
        let verdicts: Vec<String> = sizes.iter().map(&mut verdict).collect();
        if verdicts.iter().all(|verdict| verdict == "-") {
            continue;
        }
        let mut line = vec![claim.metric.to_string(), claim.program.to_owned()];
        line.push(claim.says.to_string());
        line.extend(verdicts);
        lines.push(line);
    }
    let mut note = format!(
        "the paper's claim about cilk-restricted relative to cilk-random, and the ratio of their times here, or the difference in % \
         of the execution time of one worker alone; {WORDS}"
    );
    note.push_str(&reasons.note());
    if differs {
        note.push_str(ELSEWHERE);
    }
    let title = "Claims of the paper, and what is found".to_owned();
    (!lines.is_empty()).then_some(Table { title, heading, lines, note })
}

/// The text in place of an unknown reason.
const UNKNOWN: &str = "the reason is not known";

/// The text in place of reasons, for other runs than the usual ones.
const ELSEWHERE: &str = "\nWhy a claim differs is written down for the default runs of `simulate`: all programs in all sizes.";

/// Returns all sizes of some rows, in their order.
fn sizes<'a>(rows: &[Row<'a>]) -> Vec<&'a str> {
    let mut sizes: Vec<&str> = Vec::new();
    for row in rows {
        if !sizes.contains(&row.size) {
            sizes.push(row.size);
        }
    }
    sizes
}

/// Returns the rows of one size.
fn of_size<'a, 'b>(rows: &'b [Row<'a>], size: &str) -> Vec<&'b Row<'a>> {
    rows.iter().filter(|row| row.size == size).collect()
}

/// Makes a table with a line for each scheduler of each row.
fn metrics(rows: &[Row<'_>]) -> Table {
    let heading = [
        "program",
        "size",
        "MiB",
        "scheduler",
        "ms",
        "speed-up",
        "inflation",
        "scheduling",
        "idle",
        "near steals",
        "far steals",
    ];
    let mut lines = Vec::new();
    for row in rows {
        for scheduler in Scheduler::ALL.into_iter().filter(|scheduler| row.has(*scheduler)) {
            let whole = |field| format!("{:.0}", row.mean(scheduler, field));
            let metric = |metric| ms(&row.values(scheduler, metric));
            lines.push(vec![
                row.program.to_owned(),
                row.size.to_owned(),
                (row.bytes >> 20).to_string(),
                scheduler.to_string(),
                metric(Metric::Time),
                format!("{:.2}", row.mean(scheduler, "speedup")),
                metric(Metric::Inflation),
                metric(Metric::Scheduling),
                metric(Metric::Idle),
                whole("steals_near"),
                whole("steals_far"),
            ]);
        }
    }
    let note = "ms of one run, and of all workers together (inflation over one worker, scheduling, idle): means of the seeds, with 90 % \
        confidence; inflation below 0: the caches of all cores together hold what one worker's do not; near and far steals: jobs \
        taken within the package and from another";
    Table {
        title: "The four metrics".to_owned(),
        heading: heading.map(str::to_owned).to_vec(),
        lines,
        note: note.to_owned(),
    }
}

/// Formats the mean of some seconds in ms, and half of its interval.
fn ms(seconds: &[f64]) -> String {
    let values: Vec<f64> = seconds.iter().map(|seconds| seconds * 1e3).collect();
    match compare::mean(&values, CONFIDENCE) {
        Some(mean) => {
            let half = mean.high - mean.value;
            format!("{} ±{}", numbers::within(mean.value, half), numbers::within(half, half))
        }
        None => values.first().map_or("-".to_owned(), |value| numbers::figure(*value)),
    }
}

/// Makes a table with a line for each row, and one for all rows of a size where there are several.
fn ratios(rows: &[Row<'_>]) -> Table {
    let mut heading = ["program", "size"].map(str::to_owned).to_vec();
    heading.extend(PAIRS.iter().map(|(one, other)| format!("{one} / {other}")));
    let mut lines = Vec::new();
    let mut line = |program: &str, size: &str, rows: &[&Row<'_>]| {
        let mut line = vec![program.to_owned(), size.to_owned()];
        line.extend(PAIRS.iter().map(|pair| interval(ratio(rows, *pair))));
        lines.push(line);
    };
    rows.iter().for_each(|row| line(row.program, row.size, &[row]));
    for size in sizes(rows) {
        let of = of_size(rows, size);
        if of.len() > 1 {
            line("all", size, &of);
        }
    }
    let mut note = "How many times as long the first runs as the second, with 90 % confidence intervals; ~ the interval includes 1; all: \
        the geometric mean"
        .to_owned();
    note.extend(beside_cilk(rows).map(|sentence| format!("\n{sentence}")));
    Table { title: "Times beside each other".to_owned(), heading, lines, note }
}

/// Returns a sentence that compares the runtime's own schedulers with that of Cilk Plus, with the
/// assumptions behind the result; `None` where a ratio has no interval.
fn beside_cilk(rows: &[Row<'_>]) -> Option<String> {
    let sizes = sizes(rows);
    let ratio =
        |scheduler, size: &&str| ratio(&of_size(rows, size), (scheduler, Scheduler::CilkRandom));
    let mut figures = Vec::new();
    for size in &sizes {
        let found = ratio(Scheduler::Off, size)?;
        let unit = if figures.is_empty() { " times as long as cilk-random" } else { "" };
        let chance = if is_one(&found) { " (which may be chance)" } else { "" };
        figures.push(format!("{:.2}{unit} on {size} data{chance}", found.value));
    }
    let figures = words::and(&figures.iter().map(String::as_str).collect::<Vec<_>>());
    let own: Vec<Scheduler> =
        Scheduler::ALL.into_iter().filter(|scheduler| !scheduler.is_cilk()).collect();
    let loses = |scheduler: &&Scheduler| {
        let is_longer = |size| ratio(**scheduler, size).is_some_and(|found| found.low > 1.0);
        sizes.iter().all(is_longer)
    };
    let losing: Vec<&str> = own.iter().filter(loses).map(|scheduler| scheduler.name()).collect();
    let verdict = match losing.len() {
        0 => "None of the runtime's own schedulers loses".to_owned(),
        all if all == own.len() => "All of the runtime's own schedulers lose".to_owned(),
        _ => format!("Some of the runtime's own schedulers ({}) lose", losing.join(", ")),
    };
    let each = if sizes.len() > 1 { " in each size" } else { "" };
    Some(format!(
        "{verdict} to Cilk Plus's{each}: off runs {figures}, which rests on what is assumed of the two: jobs of Cilk are public at no cost, \
         and the worker that comes last to a join goes on there, while ours pay {PUBLISH} ns to publish jobs, {RECLAIM} ns to take a public \
         one back and {} µs to seize some, and wait for a stolen half with nothing to run but what descends from it.",
        SEIZE / 1_000
    ))
}

/// Returns whether a ratio could be 1.
fn is_one(ratio: &Estimate) -> bool {
    ratio.low <= 1.0 && ratio.high >= 1.0
}

/// Formats a ratio with its interval.
pub(super) fn interval(ratio: Option<Estimate>) -> String {
    let Some(ratio) = ratio else { return "-".to_owned() };
    let mark = if is_one(&ratio) { MAYBE } else { " " };
    format!("{} {mark}", bounds(&ratio))
}

/// Formats a ratio with the bounds of its interval.
pub(super) fn bounds(Estimate { value, low, high }: &Estimate) -> String {
    format!("{value:.3} [{low:.3}, {high:.3}]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{self, Size};
    use forking::program::Program;

    #[test]
    fn every_scheduler_has_a_line_and_every_pair_an_interval() {
        let mut records = Vec::new();
        simulated::run(&[Program::Transpose], &[Size::Small], 2, |record| records.push(record));
        let text = render(&records, None);
        let lines = text.lines().filter(|line| line.starts_with("transpose  small"));
        assert_eq!(lines.count(), Scheduler::ALL.len() + 1, "{text}");
        assert!(text.contains("±") && text.contains("biased / off"), "{text}");
        assert!(!text.contains("NaN") && !text.contains("inf]"), "{text}");
        // One seed has no interval, and no verdict on Cilk Plus is printed.
        let text = render(&records[..1], None);
        assert!(!text.contains("±") && !text.contains("Cilk Plus's"), "{text}");
    }

    /// Two schedules of transpose on all schedulers, with the names of these two exchanged.
    fn exchanged(one: Scheduler, other: Scheduler) -> Vec<Record> {
        let mut records = simulated::of(Program::Transpose, Size::Small, &Scheduler::ALL, 2);
        for record in &mut records {
            let name = match record.runtime.as_ref() {
                name if name == one.name() => other.name().into(),
                name if name == other.name() => one.name().into(),
                _ => continue,
            };
            record.runtime = name;
        }
        records
    }

    #[test]
    fn it_is_said_how_the_runtime_s_own_schedulers_do_beside_cilk_plus() {
        use Scheduler::{CilkRandom, Off, Strict};
        let records = simulated::of(Program::Transpose, Size::Small, &Scheduler::ALL, 2);
        let rows = rows(&records);
        let found = ratio(&[&rows[0]], (Off, CilkRandom)).unwrap();
        let text = render(&records, None);
        let said = format!(
            "All of the runtime's own schedulers lose to Cilk Plus's: off runs {:.2} times as long \
             as cilk-random on small data, which rests on",
            found.value
        );
        assert!(found.low > 1.0 && text.contains(&said), "{text}");
        // The sentence depends on the runs.
        let text = render(&exchanged(Off, CilkRandom), None);
        assert!(text.contains("Some of the runtime's own schedulers (strict) lose"), "{text}");
        let text = render(&exchanged(Strict, CilkRandom), None);
        assert!(text.contains("None of the runtime's own schedulers loses"), "{text}");
        assert!(text.contains("off runs 0."), "{text}");
    }

    #[test]
    fn some_programs_do_not_tell_of_all_and_have_no_reasons() {
        let mut records = Vec::new();
        let programs = [Program::Matmul, Program::Transpose];
        simulated::run(&programs, &[Size::Small], 5, |record| records.push(record));
        let text = render(&records, None);
        let claims = text.split_once("Claims of the paper").unwrap().1;
        assert!(claims.contains("DIFFERS") && !claims.contains("DIFFERS ("), "{claims}");
        assert!(claims.contains("Why a claim differs is written down for"), "{claims}");
        assert!(!text.contains("small heat"), "{text}");
        let notes = ["\n(1)", "cilksort", "large", "programs explain"];
        let foreign = notes.into_iter().find(|note| claims.contains(note));
        assert_eq!(foreign, None, "{claims}");
    }
}
