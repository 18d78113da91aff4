//! Whether a rule cures what the paper ends with: idle time that eats the gain of locality.
//!
//! The rule is judged twice: alone, in the paper's runtime, and in the runtime's own, whose joins
//! and deques cost other times. The bar is that of three comparisons: time and inflation beside
//! random victims of the same runtime, idle time beside restricted ones. A rule that cures all
//! would be no worse than both of the paper's runtimes in all three metrics: in no row would one of
//! the six comparisons show it to be worse.

use super::Scheduler::{self, Biased, CilkBiased, CilkRandom, CilkRestricted, Off, Random, Strict};
use super::published::{are_usual, of_alone};
use super::rows::{CONFIDENCE, Metric, Row, ratio};
use super::table::bounds;
use crate::analysis::Estimate;
use crate::analysis::tables::Table;
use suite::words;

/// The rules that are judged, and the random victims of the same runtime.
const RULES: [(Scheduler, Scheduler); 5] = [
    (CilkRestricted, CilkRandom),
    (CilkBiased, CilkRandom),
    (Off, Random),
    (Biased, Random),
    (Strict, Random),
];

/// Why not every rule is better in every row of [the usual runs](are_usual), by what was seen in
/// simulations with other costs.
const WHY: &str = "cilk-biased is the rule of biased in the paper's runtime. Its idle time in large transpose is not shown to be below that of \
    cilk-restricted, under which half of the schedules idle as little there, most others some four times as much, and one forty times. \
    In evenkeel's own runtime idle time is longer under every rule: a worker that waits for a stolen half runs what descends from it and \
    nothing else, so that no job runs under locks of another; Cilk's worker leaves the join to the one that comes last, which needs stacks \
    that change their threads. Letting a waiter steal any job is no cure: large matmul then takes a fifth longer and idles 14 times as \
    much, under joins that wait for what lies above them.";

/// The six comparisons: each metric, beside each of the paper's runtimes.
const COMPARISONS: [(Metric, Scheduler); 6] = [
    (Metric::Time, CilkRandom),
    (Metric::Time, CilkRestricted),
    (Metric::Inflation, CilkRandom),
    (Metric::Inflation, CilkRestricted),
    (Metric::Idle, CilkRandom),
    (Metric::Idle, CilkRestricted),
];

/// Why cilk-biased is not as good as both of the paper's runtimes in all of [the usual
/// runs](are_usual).
const ACCOUNT: &str = "Why cilk-biased is not as good as both: thieves with random victims idle little because each takes any job at once, wherever its data are; a thief that leaves \
    a job to workers nearer to its data for a while idles meanwhile. Restricted thieves inflate little because none takes a job away from the cache that holds its data; a \
    rule that lets others take it in the end pays for bringing the data, and wins the time in which they would be idle.";

/// Returns all tables about the rules.
pub(super) fn tables(rows: &[Row<'_>]) -> Vec<Table> {
    let compared: Vec<Compared<'_>> = ruled()
        .flat_map(|rule| rows.iter().filter_map(move |row| Compared::of(row, rule)))
        .collect();
    let why = if are_usual(rows) { format!("\n{ACCOUNT}") } else { String::new() };
    let both = (!compared.is_empty()).then(|| [beside_both(&compared, &why), by_row(&compared)]);
    bar(rows).into_iter().chain(both.into_iter().flatten()).collect()
}

/// Returns the rules that are none of the paper's own.
fn ruled() -> impl Iterator<Item = Scheduler> {
    RULES.into_iter().map(|(rule, _)| rule).filter(|rule| *rule != CilkRestricted)
}

/// Returns for each rule in how many rows, by their 90 % intervals, its time is not shown to be
/// above that of random victims, its inflation is below, and its idle time below that of restricted
/// ones. `None` if there is no row with an interval for all of that.
fn bar(rows: &[Row<'_>]) -> Option<Table> {
    let line = |(rule, random): (Scheduler, Scheduler)| {
        let cells: Vec<Cell> =
            rows.iter().filter_map(|row| Cell::of(row, (rule, random))).collect();
        let of = |is: fn(&Cell) -> bool| {
            format!("{} of {}", cells.iter().filter(|cell| is(cell)).count(), cells.len())
        };
        // A rule does not idle less than itself.
        let beside_restricted = |is: fn(&Cell) -> bool| {
            if rule == CilkRestricted { "-".to_owned() } else { of(is) }
        };
        (!cells.is_empty()).then(|| {
            vec![
                rule.to_string(),
                random.to_string(),
                of(Cell::is_as_fast),
                of(Cell::inflates_less),
                beside_restricted(Cell::is_less_idle),
                beside_restricted(Cell::is_cured),
                of(|cell| cell.time_to_cilk.low <= 1.0),
            ]
        })
    };
    let lines: Vec<_> = RULES.into_iter().filter_map(line).collect();
    let why = if are_usual(rows) { format!("\n{WHY}") } else { String::new() };
    let heading = [
        "rule",
        "beside",
        "time not shown to be above",
        "inflation below",
        "idle below cilk-restricted",
        "all three",
        "time not shown to be above cilk-random",
    ];
    (!lines.is_empty()).then(|| Table {
        title: "What the paper leaves open: less inflation without more idle time".to_owned(),
        heading: heading.map(str::to_owned).to_vec(),
        lines,
        note: format!(
            "In how many of the programs and sizes, by {:.0} % intervals of the seeds{why}",
            100.0 * CONFIDENCE
        ),
    })
}

/// One row, for one rule.
struct Cell {
    /// The ratio of its time to that of random victims, and to that of Cilk's.
    time: Estimate,
    time_to_cilk: Estimate,
    /// Differences in seconds.
    inflation: Estimate,
    idle_to_restricted: Estimate,
}

impl Cell {
    fn of(row: &Row<'_>, (rule, random): (Scheduler, Scheduler)) -> Option<Self> {
        Some(Self {
            time: ratio(&[row], (rule, random))?,
            time_to_cilk: ratio(&[row], (rule, CilkRandom))?,
            inflation: row.difference((rule, random), Metric::Inflation)?,
            idle_to_restricted: row.difference((rule, CilkRestricted), Metric::Idle)?,
        })
    }

    fn is_as_fast(&self) -> bool {
        self.time.low <= 1.0
    }

    fn inflates_less(&self) -> bool {
        self.inflation.high < 0.0
    }

    fn is_less_idle(&self) -> bool {
        self.idle_to_restricted.high < 0.0
    }

    fn is_cured(&self) -> bool {
        self.is_as_fast() && self.inflates_less() && self.is_less_idle()
    }
}

/// What an interval says of a rule beside one of the paper's runtimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    Better,
    Worse,
    NotToldApart,
}

impl Beside {
    /// Judges the interval of a figure that is `same` where the two are as good.
    fn of(found: &Estimate, same: f64) -> Self {
        match found {
            Estimate { high, .. } if *high <= same => Self::Better,
            Estimate { low, .. } if *low > same => Self::Worse,
            _ => Self::NotToldApart,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NotToldApart => "not told apart",
        }
    }
}

/// One row, for one rule: all [`COMPARISONS`].
struct Compared<'a> {
    rule: Scheduler,
    row: &'a Row<'a>,
    /// Ratios of times, and differences in seconds.
    found: [Estimate; COMPARISONS.len()],
}

impl<'a> Compared<'a> {
    fn of(row: &'a Row<'a>, rule: Scheduler) -> Option<Self> {
        let mut all = Vec::new();
        for (metric, other) in COMPARISONS {
            all.push(match metric {
                Metric::Time => ratio(&[row], (rule, other))?,
                _ => row.difference((rule, other), metric)?,
            });
        }
        Some(Self { rule, row, found: all.try_into().ok()? })
    }

    fn says(&self) -> [Beside; COMPARISONS.len()] {
        std::array::from_fn(|place| {
            let same = if COMPARISONS[place].0 == Metric::Time { 1.0 } else { 0.0 };
            Beside::of(&self.found[place], same)
        })
    }

    fn is_better(&self) -> bool {
        self.says().iter().all(|says| *says == Beside::Better)
    }

    fn is_ever_worse(&self) -> bool {
        self.says().contains(&Beside::Worse)
    }

    fn is_worse(&self, metric: Metric, other: Scheduler) -> bool {
        let place = COMPARISONS.iter().position(|one| *one == (metric, other));
        place.is_some_and(|place| self.says()[place] == Beside::Worse)
    }

    /// Formats all estimates, each with what it says.
    fn cells(&self) -> impl Iterator<Item = String> {
        let alone = self.row.alone();
        let cell = move |((metric, _), found): ((Metric, _), Estimate)| match metric {
            Metric::Time => bounds(&found),
            _ => of_alone(&found, alone),
        };
        let cells = COMPARISONS.into_iter().zip(self.found).map(cell);
        cells.zip(self.says()).map(|(cell, says)| format!("{cell} {}", says.name()))
    }
}

/// Names the comparisons, as headings after those of the lines.
fn heading(lines: &[&str]) -> Vec<String> {
    let one = |(metric, other): (Metric, Scheduler)| {
        let sign = if metric == Metric::Time { "/" } else { "-" };
        format!("{metric} {sign} {other}")
    };
    lines.iter().map(|line| (*line).to_owned()).chain(COMPARISONS.map(one)).collect()
}

/// Counts for each rule what its comparisons with both runtimes say, and accounts for those in
/// which it is worse; `why` is told after that.
fn beside_both(compared: &[Compared<'_>], why: &str) -> Table {
    let line = |all: &[Compared<'_>]| {
        let count = |place: usize, says| all.iter().filter(|one| one.says()[place] == says).count();
        let cell = |place| {
            [Beside::Better, Beside::Worse, Beside::NotToldApart]
                .map(|says| count(place, says).to_string())
                .join(" / ")
        };
        let mut line = vec![all[0].rule.to_string()];
        line.extend((0..COMPARISONS.len()).map(cell));
        line.push(format!("{} of {}", all.iter().filter(|one| one.is_better()).count(), all.len()));
        line
    };
    let of_rules: Vec<_> = compared.chunk_by(|one, next| one.rule == next.rule).collect();
    let mut heading = heading(&["rule"]);
    heading.push("better in all six".to_owned());
    let is_cure = |all: &&&[Compared<'_>]| !all.iter().any(Compared::is_ever_worse);
    let cures: Vec<&str> = of_rules.iter().filter(is_cure).map(|all| all[0].rule.name()).collect();
    let verdict = match &cures[..] {
        [] => "Each rule is worse than one of them somewhere".to_owned(),
        some => format!("Worse than none of them anywhere: {}", words::and(some)),
    };
    let worse: Vec<String> = of_rules.iter().map(|all| account(all)).collect();
    Table {
        title: "Beside both of the paper's runtimes: time, inflation and idle time".to_owned(),
        heading,
        lines: of_rules.iter().map(|all| line(all)).collect(),
        note: format!(
            "In how many of the programs and sizes a rule is better / worse / not told apart: its {:.0} % interval is wholly at or below \
             that of equal ones, wholly above, or neither. {verdict}. {}.{why}",
            100.0 * CONFIDENCE,
            words::capital(&worse.join("; "))
        ),
    }
}

/// Says in how many rows a rule idles more than random victims, by what factor, and inflates more
/// than restricted ones.
fn account(all: &[Compared<'_>]) -> String {
    let rule = all[0].rule;
    let idles = all.iter().filter(|one| one.is_worse(Metric::Idle, CilkRandom));
    let idle = |one: &Compared<'_>, of| one.row.mean(of, Metric::Idle.field());
    let factors: Vec<f64> = idles.map(|one| idle(one, rule) / idle(one, CilkRandom)).collect();
    let by = match (
        factors.iter().copied().reduce(f64::min),
        factors.iter().copied().reduce(f64::max),
    ) {
        (Some(least), Some(most)) if factors.len() > 1 => {
            format!(", {} to {} times as long", words::figure(least), words::figure(most))
        }
        (Some(only), _) => format!(", {} times as long", words::figure(only)),
        _ => String::new(),
    };
    let inflates = all.iter().filter(|one| one.is_worse(Metric::Inflation, CilkRestricted)).count();
    format!(
        "{rule} idles longer than {CilkRandom} in {} of {} rows{by}, and inflates more than {CilkRestricted} in {inflates}",
        factors.len(),
        all.len()
    )
}

/// Shows all estimates.
fn by_row(compared: &[Compared<'_>]) -> Table {
    let line = |one: &Compared<'_>| {
        let names = [one.rule.to_string(), one.row.program.to_owned(), one.row.size.to_owned()];
        names.into_iter().chain(one.cells()).collect()
    };
    Table {
        title: "Beside both of the paper's runtimes, row by row".to_owned(),
        heading: heading(&["rule", "program", "size"]),
        lines: compared.iter().map(line).collect(),
        note: format!(
            "Ratios of times, and differences in % of the execution time of one worker alone, with {:.0} % confidence intervals",
            100.0 * CONFIDENCE
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::published::stored;
    use crate::simulated::rows::rows;
    use suite::record::Record;

    /// The stored runs, with those of one of the paper's runtimes as those of a rule too.
    fn as_rule(paper: Scheduler, rule: Scheduler) -> Vec<Record> {
        let mut records = stored();
        let of = records.iter().filter(|record| record.runtime == paper.name());
        let named = |record: &Record| Record { runtime: rule.name().into(), ..record.clone() };
        let of: Vec<Record> = of.map(named).collect();
        records.extend(of);
        records
    }

    #[test]
    fn an_interval_at_or_below_is_better_and_one_around_is_not_told_apart() {
        let of = |low, high| Beside::of(&Estimate { value: 1.0, low, high }, 1.0);
        assert_eq!(of(0.9, 1.0), Beside::Better);
        assert_eq!(of(0.9, 1.1), Beside::NotToldApart);
        assert_eq!(of(1.01, 1.1), Beside::Worse);
    }

    #[test]
    fn a_rule_is_compared_with_both_runtimes_in_all_three_metrics() {
        let records = as_rule(CilkRestricted, CilkBiased);
        let rows = rows(&records);
        let tables = tables(&rows);
        let [_, both, by_row] = &tables[..] else { panic!("{} tables", tables.len()) };
        // Restricted victims idle longer than random ones nearly everywhere, and are not told apart
        // from themselves.
        assert_eq!(both.lines[0][5], "0 / 11 / 1");
        for place in [2, 4, 6] {
            assert_eq!(both.lines[0][place], "0 / 0 / 12");
        }
        assert_eq!(both.lines[0][7], "0 of 12");
        let told = "Cilk-biased idles longer than cilk-random in 11 of 12 rows, 2.10 to 378 times as long, \
                    and inflates more than cilk-restricted in 0.";
        assert!(both.note.contains(told), "{}", both.note);
        assert!(
            both.note.contains("Each rule is worse than one of them somewhere"),
            "{}",
            both.note
        );
        assert_eq!(by_row.lines.len(), 12);
        assert!(by_row.lines.iter().all(|line| line.len() == by_row.heading.len()));
        assert!(by_row.lines[0][3].ends_with("worse"), "{:?}", by_row.lines[0]);
    }
}
