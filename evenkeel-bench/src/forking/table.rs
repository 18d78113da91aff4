//! The printed tables of fork-join programs.

use super::figures::{doubts, milliseconds, speedup};
use super::forker::Name;
use super::record::Record;
use super::runner::Measured;
use crate::regime;
use crate::table::align;
use crate::verdict::{DOUBT, Standing};
use crate::words::figure;

/// One line for each runtime: all that there is to know of it.
pub(crate) fn in_lines(all: &[Measured]) -> String {
    let heading = ["program", "n", "runtime", "workers", "ms", "speed-up", "cores", "checksum"];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for measured in all {
        for record in &measured.records {
            lines.push(vec![
                record.bench.clone(),
                record.n.to_string(),
                record.runtime.clone(),
                record.workers.to_string(),
                format!(
                    "{:.2} [{:.2}-{:.2}]",
                    record.seconds_median * 1e3,
                    record.seconds_min * 1e3,
                    record.seconds_max * 1e3
                ),
                record.speedup.map_or("-".to_owned(), figure),
                record.regime.clone(),
                record.checksum.clone(),
            ]);
        }
        for not_run in &measured.not_run {
            let mut line = vec![not_run.bench.clone(), not_run.n.to_string()];
            line.extend([not_run.runtime.clone(), not_run.workers.to_string()]);
            line.push("not run".to_owned());
            lines.push(line);
        }
    }
    let mut text = align(&lines);
    text.push_str(
        "ms of the recursion: median [min-max]; speed-up: over the serial one of the same language, its runs in all rows of the size taken together\n",
    );
    let records = all.iter().flat_map(|measured| &measured.records);
    text.push_str(&regime::meaning(records.map(|record| Some(record.regime.as_str()))));
    text.push_str(&remarks(all));
    text.push_str(&metrics(all));
    text
}

/// What the workers spent their time on: a line for each runtime that tells, empty if none does.
fn metrics(all: &[Measured]) -> String {
    let heading = [
        "program",
        "n",
        "runtime",
        "workers",
        "execution",
        "inflation",
        "scheduling",
        "idle",
        "steals",
    ];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for record in all.iter().flat_map(|measured| &measured.records) {
        let Some(metrics) = &record.metrics else { continue };
        let ms = |seconds: f64| format!("{:.2}", seconds * 1e3);
        lines.push(vec![
            record.bench.clone(),
            record.n.to_string(),
            record.runtime.clone(),
            record.workers.to_string(),
            ms(metrics.execution_seconds),
            ms(metrics.inflation_seconds),
            ms(metrics.scheduling_seconds),
            ms(metrics.idle_seconds),
            metrics.steals.to_string(),
        ]);
    }
    if lines.len() == 1 {
        return String::new();
    }
    let mut text = format!("\n{}", align(&lines));
    text.push_str("ms of all workers together, in the repeat that took the median time; inflation: execution beyond that of one worker\n");
    text
}

/// One line for each cell, a column for each runtime.
pub(crate) fn in_columns(all: &[Measured]) -> String {
    let names = names(all);
    let mut heading = ["program", "n", "workers", "cores"].map(str::to_owned).to_vec();
    heading.extend(names.iter().map(Name::to_string));
    heading.extend(["evenkeel's join is", "best peer", "best of all"].map(str::to_owned));
    let mut lines = vec![heading];
    for measured in all {
        let cell = &measured.cell;
        let mut line = vec![cell.program.to_string(), cell.n.to_string(), cell.workers.to_string()];
        line.push(measured.regime().unwrap_or("-").to_owned());
        line.extend(names.iter().map(|&name| show(measured, name)));
        let verdict = measured.verdict();
        line.push(match verdict.standing {
            // A loss is to be as plain as a win.
            Standing::Behind => verdict.words.to_uppercase(),
            Standing::Ahead | Standing::Even => verdict.words,
        });
        line.push(verdict.peer.unwrap_or_else(|| "-".to_owned()));
        line.push(measured.best().map_or("nobody".to_owned(), |name| name.to_string()));
        lines.push(line);
    }
    let mut text = align(&lines);
    text.push_str(&format!(
        "ms of the recursion: median [min-max], and the speed-up over the serial one of the same language, its runs in all \
         rows of the size taken together; last: the speed-up of evenkeel's plain join beside that of the best peer, \
         and the best of all, evenkeel-worker included; {DOUBT}\n",
    ));
    text.push_str(&regime::meaning(all.iter().map(Measured::regime)));
    text.push_str(&remarks(all));
    text
}

/// The runtimes of any cell, in the order of the tables.
pub(crate) fn names(all: &[Measured]) -> Vec<Name> {
    let measured = |name: &Name| all.iter().any(|one| one.cell.runtimes.contains(name));
    Name::ALL.into_iter().filter(measured).collect()
}

fn show(measured: &Measured, name: Name) -> String {
    let of = |record: &Record| {
        let ms = milliseconds(record)?;
        let mut text = figure(ms.median);
        if ms.runs > 1 {
            text.push_str(&format!(" [{}-{}]", figure(ms.min), figure(ms.max)));
        }
        if let Some(speedup) = speedup(measured, name).filter(|_| !name.is_serial()) {
            text.push_str(&format!(" {}x", figure(speedup.median)));
        }
        Some(text)
    };
    let text = measured.record(name).and_then(of);
    text.unwrap_or_else(|| {
        if measured.cell.runtimes.contains(&name) { "not run" } else { "-" }.to_owned()
    })
}

/// What is doubtful and what was not run, a line for each.
fn remarks(all: &[Measured]) -> String {
    let doubts = doubts(all).into_iter().map(|doubt| format!("note: {doubt}\n"));
    let not_run = all.iter().flat_map(|measured| &measured.not_run);
    doubts.chain(not_run.map(|not_run| format!("not run: {not_run}\n"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forking::figures::tests::example;
    use crate::forking::program::Program;

    #[test]
    fn a_cell_is_a_line_with_its_loss_and_what_was_not_run() {
        let medians = [1.0, 40.0, 39.0, 80.0, 20.0, 60.0, 0.5, 50.0, 0.0];
        let text = in_columns(&[example(Program::Fib, 35, 2, medians)]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("best of all") && lines[0].contains("openmp"), "{text}");
        assert!(
            lines[1].contains("40.0 [39.2-42.0] 0.025x") && lines[1].contains("not run"),
            "{text}"
        );
        assert!(lines[1].ends_with("2.0 X WORSE      chili        chili"), "{text}");
        let words = "not run: fib of size 35 on openmp with 2 workers: it would take too long";
        assert_eq!(lines.last(), Some(&words));
    }

    #[test]
    fn a_runtime_is_a_line_with_its_checksum() {
        let medians = [1.0, 40.0, 0.0, 80.0, 20.0, 60.0, 0.5, 50.0, 0.0];
        let text = in_lines(&[example(Program::Fib, 35, 2, medians)]);
        let rayon = text.lines().find(|line| line.contains("rayon")).unwrap();
        assert!(rayon.contains("80.00 [78.40-84.00]") && rayon.contains("0.013"), "{text}");
        assert_eq!(text.matches("not run: fib").count(), 2);
    }
}
