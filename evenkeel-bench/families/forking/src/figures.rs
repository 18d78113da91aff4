//! The figures of a program's runs for tables and pictures, and doubts about them.
//!
//! Runtimes are compared by their speed-up over plain calls in the same language, because compilers
//! differ by more in the leaves than runtimes do around them. The plain calls are those of the same
//! row, which had the same machine: between rows its cores and their speed change.

use super::forker::Name;
use super::program::Program;
use suite::case::Case;
use suite::enough::is_disturbed;
use suite::peer::Role;
use suite::quantity::{Better, Drawn, Quantity};
use suite::record::Record;
use suite::rows::{Cell, Row};
use suite::summary::Summary;
use suite::verdict::{Standing, Verdict};
use suite::words;

const TIME: Quantity = Quantity::derived("ms", |record, _| in_ms(record, "seconds"));

const SPEED_UP: Quantity = Quantity::derived("speed-up", speed_up)
    .compared(Better::More("better", "worse"))
    .drawn(Drawn::Dots);

/// The time, its ratio to that of plain calls, and what the workers spent it on.
pub(super) const QUANTITIES: [Quantity; 8] = [
    TIME,
    SPEED_UP,
    Quantity::derived("ns/fork", ns_per_fork).drawn(Drawn::Dots),
    Quantity::derived("execution, ms", |record, _| in_ms(record, "execution_seconds")),
    Quantity::derived("inflation, ms", |record, _| in_ms(record, "inflation_seconds")),
    Quantity::derived("scheduling, ms", |record, _| in_ms(record, "scheduling_seconds")),
    Quantity::derived("idle, ms", |record, _| in_ms(record, "idle_seconds")),
    Quantity::shown("steals", "steals"),
];

fn in_ms(record: &Record, field: &str) -> Option<f64> {
    Some(record.figures.number(field)? * 1e3)
}

/// The speed-up of a run with forks over plain calls; `None` without plain calls.
fn speed_up(record: &Record, all: &[Record]) -> Option<f64> {
    Some(serial_seconds(record, all)? / record.figures.number("seconds")?)
}

/// Nanoseconds that a fork costs on one worker beyond plain calls; `None` unless forks are most of
/// the work.
fn ns_per_fork(record: &Record, all: &[Record]) -> Option<f64> {
    let program: Program = record.case.bench.parse().ok()?;
    let n = record.case.settings.number("n")?;
    let forks = program.forks(n as usize).filter(|&forks| forks > 0 && record.case.workers == 1)?;
    let seconds = record.figures.number("seconds")? - serial_seconds(record, all)?;
    Some(seconds * 1e9 / forks as f64)
}

/// The median of the plain calls in the language of a run with forks: of those in its row, or of
/// those with other numbers of workers if its row has none.
fn serial_seconds(record: &Record, all: &[Record]) -> Option<f64> {
    let name: Name = record.runtime.parse().ok().filter(|name: &Name| !name.is_serial())?;
    let serial = name.baseline().name();
    let is_serial =
        |other: &&Record| other.runtime == serial && is_same_work(&record.case, &other.case);
    let mut serial: Vec<&Record> = all.iter().filter(is_serial).collect();
    let is_own = |other: &&Record| other.case.workers == record.case.workers;
    if serial.iter().any(is_own) {
        serial.retain(is_own);
    }
    let median = |among: &dyn Fn(&Record) -> bool| {
        let among = serial.iter().filter(|record| among(record));
        Summary::of(among.filter_map(|record| record.figures.number("seconds")).collect())
    };
    let quiet = median(&|record| !is_disturbed(record));
    quiet.or_else(|| median(&|_| true)).map(|seconds| seconds.median)
}

/// Whether two cases differ only in their workers.
fn is_same_work(a: &Case, b: &Case) -> bool {
    a.bench == b.bench && a.settings == b.settings
}

/// The factor beyond which speed-ups above the number of workers, and differing times of plain
/// calls, are worth a remark: two per cent are noise (an estimate; no benchmark sets it).
const BEYOND: f64 = 1.02;

/// The doubts about the speed-ups of these rows, a sentence each.
pub(super) fn doubts(rows: &[Row<'_>]) -> Vec<String> {
    let mut doubts: Vec<String> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        for cell in row.cells.iter().filter(|cell| cell.peer.role == Role::Floor) {
            let earlier = rows[..at].iter().filter(|other| is_same_work(other.case, row.case));
            doubts.extend(earlier.filter_map(|other| unsteady(row, other, cell)));
        }
        doubts.extend(beyond(row));
        doubts.extend(across(row));
    }
    doubts.extend(unrelated(rows));
    doubts
}

/// Reports plain calls that took different times in two rows.
fn unsteady(row: &Row<'_>, other: &Row<'_>, cell: &Cell<'_>) -> Option<String> {
    let name = cell.peer.name;
    let before = other.cell(name).filter(|before| before.is_enough() && cell.is_enough())?;
    let (now, then) = (row.summary(&TIME, cell)?, other.summary(&TIME, before)?);
    let factor = (now.median / then.median).max(then.median / now.median);
    (factor > BEYOND && !then.overlaps(&now)).then(|| {
        format!(
            "{name} took {} ms of {} and {} of {}: the machine was not the same in both rows.",
            words::spread(then),
            other.case,
            words::spread(now),
            row.case,
        )
    })
}

/// Reports speed-ups above the number of workers, in runs that count.
fn beyond(row: &Row<'_>) -> Option<String> {
    let most = row.case.workers as f64 * BEYOND;
    let speed_up = |cell: &Cell<'_>| Some((cell.peer.name, row.summary(&SPEED_UP, cell)?.median));
    let counted = row.cells.iter().filter(|cell| cell.counted > 0);
    let above = counted.filter_map(speed_up).filter(|(_, speed_up)| *speed_up > most);
    let above: Vec<String> =
        above.map(|(name, speed_up)| format!("{name} {}", words::figure(speed_up))).collect();
    (!above.is_empty()).then(|| {
        format!(
            "Speed-ups above the number of workers, {}: {}. Plain calls were slow there, or the \
             compiler made less of them than of the parallel program.",
            row.case,
            above.join(", "),
        )
    })
}

/// Reports a win or a loss across languages by less than plain calls varied. The verdict takes the
/// medians of plain calls as known: beside a peer in the same language their error cancels out.
fn across(row: &Row<'_>) -> Option<String> {
    let verdict = Verdict::of(row, &SPEED_UP);
    let Verdict::Compared { standing: Standing::Ahead | Standing::Behind, factor, peer, .. } =
        verdict
    else {
        return None;
    };
    let subject = row.cells.iter().find(|cell| cell.peer.role == Role::Subject)?.peer.name;
    let plain = |name: &str| {
        let name = name.parse::<Name>().ok()?.baseline().name();
        Some((name, row.summary(&TIME, row.cell(name)?)?))
    };
    let (own, other) = (plain(subject)?, plain(peer)?);
    let varied = [own, other].map(|(_, time)| time.max / time.min);
    (own.0 != other.0 && factor < varied[0].max(varied[1])).then(|| {
        let [own, other] =
            [own, other].map(|(name, time)| format!("{name} took {} ms", words::spread(time)));
        format!(
            "Speed-ups of {}: {subject} is {} than {peer}, by less than plain calls varied: {own}, \
             {other}.",
            row.case,
            verdict.words(SPEED_UP.better),
        )
    })
}

/// Reports runtimes without a speed-up, because plain calls in their language were not measured.
fn unrelated(rows: &[Row<'_>]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        let forks = row.cells.iter().filter(|cell| cell.peer.role != Role::Floor);
        for cell in forks.filter(|cell| row.summary(&SPEED_UP, cell).is_none()) {
            if !names.contains(&cell.peer.name) {
                names.push(cell.peer.name);
            }
        }
    }
    (!names.is_empty()).then(|| {
        format!(
            "No speed-up of {}: plain calls in the same language, serial or serial-cpp, were not \
             measured beside it.",
            words::and(&names),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::example;
    use suite::case::Fields;
    use suite::entry::Measured;
    use suite::rows::rows;

    const NS_PER_FORK: Quantity = QUANTITIES[2];

    /// The figure of a peer in a row, in thousandths.
    fn figure(measured: &Measured, row: usize, quantity: &Quantity, name: Name) -> Option<f64> {
        let rows = rows(&measured.of, &measured.records, &[]);
        let cell = rows[row].cell(name.name())?;
        rows[row].summary(quantity, cell).map(|summary| (summary.median * 1e3).round())
    }

    fn doubts(measured: &Measured) -> Vec<String> {
        super::doubts(&rows(&measured.of, &measured.records, &[]))
    }

    #[test]
    fn plain_calls_and_the_own_other_form_are_no_peers() {
        let medians = [1.0, 4.0, 2.0, 9.0, 5.0, 8.0, 0.5, 50.0, 0.0];
        let measured = example(&[(Program::Fib, 30, 2, medians)]);
        let rows = rows(&measured.of, &measured.records, &measured.absent);
        assert_eq!(rows[0].best(&SPEED_UP), Some("evenkeel"));
        let verdict = Verdict::of(&rows[0], &SPEED_UP);
        assert_eq!((verdict.standing(), verdict.peer()), (Standing::Ahead, Some("chili")));
        assert_eq!(verdict.words(SPEED_UP.better), "1.25 x better");
    }

    #[test]
    fn plain_calls_are_those_of_the_row() {
        let medians = |serial| [serial, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let row = |n, workers, serial| (Program::Matmul, n, workers, medians(serial));
        let measured = example(&[row(512, 1, 20.0), row(512, 2, 40.0), row(1024, 2, 15.0)]);
        for (at, due) in [(0, 2_000.0), (1, 4_000.0), (2, 1_500.0)] {
            assert_eq!(figure(&measured, at, &SPEED_UP, Name::Evenkeel), Some(due));
        }
        let doubts_of_all = doubts(&measured);
        assert_eq!(doubts_of_all.len(), 3, "{doubts_of_all:?}");
        let due = "Speed-ups above the number of workers, matmul, 1 worker, n 512: evenkeel 2.00.";
        assert!(doubts_of_all[0].starts_with(due), "{doubts_of_all:?}");
        let due = "serial took 20.0 [19.6-21.0] ms of matmul, 1 worker, n 512 and \
             40.0 [39.2-42.0] of matmul, 2 workers, n 512: ";
        assert!(doubts_of_all[1].starts_with(due), "{doubts_of_all:?}");
        assert_eq!(doubts(&example(&[row(512, 2, 20.0)])), Vec::<String>::new());
    }

    #[test]
    fn plain_calls_of_other_rows_stand_in_where_a_row_has_none() {
        let row = |workers, serial| {
            (Program::Matmul, 512, workers, [serial, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        };
        let measured = example(&[row(1, 20.0), row(2, 0.0)]);
        assert_eq!(figure(&measured, 1, &SPEED_UP, Name::Evenkeel), Some(2_000.0));
    }

    #[test]
    fn a_disturbed_run_of_plain_calls_is_no_yardstick() {
        let medians = [20.0, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let mut measured = example(&[(Program::Matmul, 512, 2, medians)]);
        // The run of 21 ms.
        measured.records[2].quiet.cpu_share = 0.5;
        assert_eq!(figure(&measured, 0, &SPEED_UP, Name::Evenkeel), Some(1_980.0));
    }

    #[test]
    fn speed_ups_and_costs_are_over_the_serial_one_of_the_language() {
        let medians = [10.0, 40.0, 20.0, 90.0, 50.0, 80.0, 5.0, 500.0, 0.0];
        let measured = example(&[
            (Program::Skynet, 6, 1, medians),
            (Program::Matmul, 64, 1, medians),
            (Program::Skynet, 7, 2, medians),
        ]);
        let of = |row, quantity, name| figure(&measured, row, quantity, name);
        // The rows stand in the order of the programs.
        let [matmul, on_one, on_two] = [0, 1, 2];
        assert_eq!(of(on_one, &SPEED_UP, Name::Rayon), Some(111.0));
        assert_eq!(of(on_one, &SPEED_UP, Name::Onetbb), Some(10.0));
        assert_eq!(of(on_one, &SPEED_UP, Name::Openmp), None);
        assert_eq!(of(on_one, &SPEED_UP, Name::Serial), None);
        assert_eq!(of(on_one, &NS_PER_FORK, Name::Evenkeel), Some(30_000.0));
        assert_eq!(of(matmul, &NS_PER_FORK, Name::Evenkeel), None);
        assert_eq!(of(on_two, &NS_PER_FORK, Name::Evenkeel), None);
    }

    #[test]
    fn a_verdict_across_languages_is_doubted_where_plain_calls_varied_more() {
        let doubts = |[rayon, openmp]: [f64; 2]| {
            let medians = [20.0, 10.5, 0.0, rayon, 0.0, 0.0, 20.0, 0.0, openmp];
            let mut measured = example(&[(Program::Matmul, 512, 2, medians)]);
            let is_slow = |run: &&mut Record| run.runtime == "serial-cpp" && run.repeat == 2;
            let slow = measured.records.iter_mut().find(is_slow).unwrap();
            slow.figures = Fields::new().with("seconds", 0.024);
            doubts(&measured)
        };
        let due = "Speed-ups of matmul, 2 workers, n 512: evenkeel is 1.10 x better than openmp, by \
             less than plain calls varied: serial took 20.0 [19.6-21.0] ms, serial-cpp took \
             20.0 [19.6-24.0] ms.";
        assert_eq!(doubts([0.0, 11.5]), [due]);
        assert_eq!(doubts([11.5, 0.0]), Vec::<String>::new());
        assert_eq!(doubts([0.0, 20.0]), Vec::<String>::new());
    }

    #[test]
    fn what_has_no_yardstick_is_said() {
        let medians = [0.0, 10.0, 0.0, 20.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let measured = example(&[(Program::Matmul, 512, 2, medians)]);
        let doubts = doubts(&measured);
        assert_eq!(doubts.len(), 1, "{doubts:?}");
        assert!(doubts[0].starts_with("No speed-up of evenkeel and rayon:"), "{doubts:?}");
    }
}
