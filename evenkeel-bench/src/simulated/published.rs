//! The claims of the evaluation of the Cilk Locality runtime, compared with the simulation.
//!
//! The paper's figures are pictures without values, so this module compares claims, not numbers: on
//! the restricted scheduler beside random victims. Each claim that the usual runs do not confirm
//! has a reason; a test fails where one is missing. For other runs the reasons are not known to
//! hold.

use std::fmt;

use super::PROGRAMS;
use super::Scheduler::{self, CilkRandom, CilkRestricted};
use super::program::Size;
use super::rows::{CONFIDENCE, Metric, Row, ratio, rows};
use super::table::bounds;
use crate::analysis::{Cells, Estimate, Fit, compare};
use crate::publications::statement::{all, are_above, are_at_most, are_between};
use suite::record::Record;

/// The paper's claim about a metric of the restricted scheduler, relative to the other scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    ClearlyLess,
    SlightlyLess,
    Alike,
    Less,
    More,
    /// It is less in all programs, and more so in these than in any other.
    LessMostIn(&'static [&'static str]),
    /// It is more in all programs, and more so in these than in any other.
    MoreMostIn(&'static [&'static str]),
    /// Programs explain nearly all of the variation, and all effects are more than chance; so is
    /// the contrast of the two schedulers, which is the effect of the design's only other factor.
    Variation,
    /// Fewer steals succeed, in all programs.
    FewerSteals,
    /// The interval of the difference is larger in this program than in any other.
    WidestIn(&'static str),
    /// The metric rises by most of what inflation and scheduling fall by, but not by all of it.
    EatsMostOfTheGain,
}

impl fmt::Display for Says {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Says::ClearlyLess => f.write_str("clearly less"),
            Says::SlightlyLess => f.write_str("slightly less"),
            Says::Alike => f.write_str("alike"),
            Says::Less => f.write_str("less"),
            Says::More => f.write_str("more"),
            Says::LessMostIn(programs) => write!(f, "falls most in {}", programs.join(", ")),
            Says::MoreMostIn(programs) => write!(f, "rises most in {}", programs.join(", ")),
            Says::Variation => f.write_str(
                "programs explain nearly all; all effects, and so the contrast of the two, significant",
            ),
            Says::FewerSteals => f.write_str("fewer successful steals"),
            Says::WidestIn(program) => write!(f, "the interval is largest in {program}"),
            Says::EatsMostOfTheGain => f.write_str("eats most of the gain"),
        }
    }
}

/// All programs together.
const ALL: &str = "all";

/// One claim.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub(crate) metric: Metric,
    pub(crate) program: &'static str,
    pub(crate) says: Says,
}

const fn claim(metric: Metric, program: &'static str, says: Says) -> Claim {
    Claim { metric, program, says }
}

/// The claims of the paper.
pub(crate) const CLAIMS: [Claim; 22] = [
    claim(Metric::Time, "matmul", Says::Alike),
    claim(Metric::Time, "transpose", Says::ClearlyLess),
    claim(Metric::Time, "heat", Says::SlightlyLess),
    claim(Metric::Time, "cilksort", Says::Alike),
    claim(Metric::Time, ALL, Says::Variation),
    claim(Metric::Inflation, "matmul", Says::Less),
    claim(Metric::Inflation, "transpose", Says::Less),
    claim(Metric::Inflation, "heat", Says::Less),
    claim(Metric::Inflation, "cilksort", Says::Less),
    claim(Metric::Inflation, ALL, Says::LessMostIn(&["cilksort", "heat"])),
    claim(Metric::Scheduling, "matmul", Says::Less),
    claim(Metric::Scheduling, "transpose", Says::Less),
    claim(Metric::Scheduling, "heat", Says::Less),
    claim(Metric::Scheduling, "cilksort", Says::Less),
    claim(Metric::Scheduling, ALL, Says::FewerSteals),
    claim(Metric::Scheduling, ALL, Says::WidestIn("heat")),
    claim(Metric::Idle, "matmul", Says::More),
    claim(Metric::Idle, "transpose", Says::More),
    claim(Metric::Idle, "heat", Says::More),
    claim(Metric::Idle, "cilksort", Says::More),
    claim(Metric::Idle, ALL, Says::MoreMostIn(&["cilksort"])),
    claim(Metric::Idle, ALL, Says::EatsMostOfTheGain),
];

/// The difference of times, relative to each other, up to which they are alike.
const ALIKE: f64 = 0.05;
/// The difference above which a time is clearly less.
const CLEAR: f64 = 0.1;
/// The part of the variation from which on programs explain nearly all of it.
const NEARLY_ALL: f64 = 0.9;

/// The meaning of the words here: the paper does not define them.
pub(crate) const WORDS: &str = "by 90 % intervals; alike: within 5 %; slightly less: by at most 10 %; clearly less: by more; less and more: the difference is wholly below or above zero; falls or rises most: in all programs, and in those named by more than in any other, by intervals \
     that leave each other out; fewer steals: in all programs, by intervals; most of the gain: more than half of what inflation and scheduling fall by, and less than all, over all programs";

/// The simulation's result for a claim in one size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// The figure.
    pub(crate) ours: String,
    /// `None` if it may be chance.
    pub(crate) agrees: Option<bool>,
}

/// Judges a claim by the rows of one size; returns `None` if they do not suffice. A claim about all
/// programs needs the rows of all.
pub(crate) fn judge(claim: &Claim, rows: &[&Row<'_>]) -> Option<Found> {
    if claim.program == ALL && !has_all(rows) {
        return None;
    }
    let surely = |(ours, agrees)| (ours, Some(agrees));
    let (ours, agrees) = match claim.says {
        Says::Variation => surely(variation(rows)?),
        Says::FewerSteals => steals(rows)?,
        Says::WidestIn(program) => surely(widest(claim.metric, rows, program)?),
        Says::EatsMostOfTheGain => gain(rows)?,
        Says::LessMostIn(programs) => most(claim.metric, rows, programs, -1.0)?,
        Says::MoreMostIn(programs) => most(claim.metric, rows, programs, 1.0)?,
        says => {
            let row = rows.iter().find(|row| row.program == claim.program)?;
            match claim.metric {
                Metric::Time => time(says, &ratio(&[row], (CilkRestricted, CilkRandom))?),
                metric => {
                    let found = row.difference((CilkRestricted, CilkRandom), metric)?;
                    sign(says, &found, row.alone())
                }
            }
        }
    };
    Some(Found { ours, agrees })
}

/// Returns whether the rows are those of all programs.
fn has_all(rows: &[&Row<'_>]) -> bool {
    let has = |program: &str| rows.iter().any(|row| row.program == program);
    PROGRAMS.iter().all(|program| has(program.name()))
}

/// Returns for each claim whether it agrees in each size that was simulated.
pub(crate) fn verdicts(records: &[Record]) -> impl Iterator<Item = Vec<Option<bool>>> {
    let rows = rows(records);
    CLAIMS.iter().map(move |claim| {
        let verdict = |size: Size| {
            let of: Vec<&Row<'_>> = rows.iter().filter(|row| row.size == size.name()).collect();
            judge(claim, &of).map(|found| found.agrees)
        };
        Size::ALL.into_iter().filter_map(verdict).collect()
    })
}

/// Compares a ratio of times with a claim.
fn time(says: Says, found: &Estimate) -> (String, Option<bool>) {
    let agrees = match says {
        Says::ClearlyLess => are_at_most(1.0 - CLEAR, range(found)),
        Says::SlightlyLess => are_between([1.0 - CLEAR, 1.0], range(found)),
        _ => are_between([1.0 - ALIKE, 1.0 + ALIKE], range(found)),
    };
    (bounds(found), agrees)
}

/// Compares a difference with a claim.
fn sign(says: Says, found: &Estimate, alone: f64) -> (String, Option<bool>) {
    let found_so = if says == Says::More { range(found) } else { below(found) };
    (of_alone(found, alone), are_above(0.0, found_so))
}

/// The bounds of what a figure is below zero by.
fn below(found: &Estimate) -> [f64; 2] {
    [-found.high, -found.low]
}

/// The bounds of an interval.
fn range(of: &Estimate) -> [f64; 2] {
    [of.low, of.high]
}

/// Formats a difference in per cent of the execution time of one worker alone.
pub(super) fn of_alone(found: &Estimate, alone: f64) -> String {
    let [value, low, high] = [found.value, found.low, found.high].map(|v| v / alone * 100.0);
    format!("{value:+.2} % [{low:+.2}, {high:+.2}]")
}

/// Finds the programs in which a metric changes most, in the direction of `sign`, relative to the
/// execution time of one worker alone.
fn most(
    metric: Metric,
    rows: &[&Row<'_>],
    said: &[&str],
    sign: f64,
) -> Option<(String, Option<bool>)> {
    /// A program, and by how much the metric changes: the mean, and its interval.
    struct Change<'a>(&'a str, f64, [f64; 2]);
    let mut changes: Vec<Change<'_>> = Vec::new();
    for row in rows {
        let found = row.difference((CilkRestricted, CilkRandom), metric)?;
        let [value, low, high] =
            [found.value, found.low, found.high].map(|one| sign * one / row.alone());
        changes.push(Change(row.program, value, [low.min(high), low.max(high)]));
    }
    changes.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (named, others): (Vec<_>, Vec<_>) =
        changes.iter().partition(|change| said.contains(&change.0));
    let least = |place| named.iter().map(|one| one.2[place]).fold(f64::INFINITY, f64::min);
    let greatest = |place| others.iter().map(|one| one.2[place]).fold(f64::NEG_INFINITY, f64::max);
    // The lead of the least of those named before the greatest of the others.
    let lead = [least(0) - greatest(1), least(1) - greatest(0)];
    let in_all = all(changes.iter().map(|change| are_above(0.0, change.2)));
    let names: Vec<&str> = changes.iter().take(said.len()).map(|change| change.0).collect();
    let mut found = names.join(", ");
    if in_all == Some(false) {
        found.push_str(", not in all");
    }
    Some((found, all([in_all, are_above(0.0, lead)])))
}

/// The paper's runtimes, which are the columns of its design.
pub(crate) const COLUMNS: [Scheduler; 2] = [CilkRandom, CilkRestricted];

/// Returns the times by program and [runtime](COLUMNS).
fn cells(rows: &[&Row<'_>]) -> Cells {
    let cell =
        |row: &&Row<'_>| COLUMNS.map(|scheduler| row.values(scheduler, Metric::Time)).to_vec();
    rows.iter().map(cell).collect()
}

/// Fits the paper's model to the times of one size; `None` if a program or a schedule is missing.
pub(crate) fn fit(rows: &[&Row<'_>]) -> Option<Fit> {
    has_all(rows).then(|| compare::fit(cells(rows))).flatten()
}

/// Analyses the variance of the times, with programs as rows.
fn variation(rows: &[&Row<'_>]) -> Option<(String, bool)> {
    let found = compare::variance(cells(rows), CONFIDENCE)?;
    let share = found.rows.component.share;
    let tests = [&found.rows, &found.columns, &found.interactions];
    let chance = tests.iter().filter(|test| !test.is_significant()).count();
    let words = match chance {
        0 => "all significant".to_owned(),
        some => format!("{some} of 3 not significant"),
    };
    let ours = format!("{:.1} %, {words}", share * 100.0);
    Some((ours, share >= NEARLY_ALL && chance == 0))
}

/// Compares the numbers of steals.
fn steals(rows: &[&Row<'_>]) -> Option<(String, Option<bool>)> {
    let (mut told, mut fewer) = (Vec::new(), Vec::new());
    for row in rows {
        let [one, other] = [CilkRestricted, CilkRandom].map(|scheduler| row.steals(scheduler));
        let found = compare::difference(&one, &other, CONFIDENCE)?;
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
        told.push(format!("{} {:.2}", row.program, mean(&one) / mean(&other)));
        fewer.push(are_above(0.0, below(&found)));
    }
    Some((format!("{} times as many", told.join(", ")), all(fewer)))
}

/// Finds the program in which the interval of a metric's difference is largest, relative to the
/// execution time of one worker alone.
fn widest(metric: Metric, rows: &[&Row<'_>], said: &str) -> Option<(String, bool)> {
    let mut widths = Vec::new();
    for row in rows {
        let found = row.difference((CilkRestricted, CilkRandom), metric)?;
        widths.push((row.program, (found.high - found.value) / row.alone() * 100.0));
    }
    let (program, width) = widths.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some((format!("{program}, ±{width:.3} %"), program == said))
}

/// Compares by how much idle time rises with by how much inflation and scheduling fall, as the mean
/// over all programs, relative to the execution time of one worker alone.
fn gain(rows: &[&Row<'_>]) -> Option<(String, Option<bool>)> {
    let weight = 1.0 / rows.len() as f64;
    // What is left of idle time without some of the gain.
    let beyond = |share: f64| {
        let part = |row: &&Row<'_>, scheduler, sign: f64| {
            let [inflation, scheduling, idle] =
                [Metric::Inflation, Metric::Scheduling, Metric::Idle]
                    .map(|metric| row.values(scheduler, metric));
            let gain = inflation.iter().zip(scheduling).map(|(one, other)| one + other);
            let all = idle.iter().zip(gain).map(|(idle, gain)| (idle + share * gain) / row.alone());
            (sign * weight, all.collect())
        };
        let both = |row| [part(row, CilkRestricted, 1.0), part(row, CilkRandom, -1.0)];
        let parts: Vec<(f64, Vec<f64>)> = rows.iter().flat_map(both).collect();
        compare::contrast(&parts, CONFIDENCE)
    };
    let [idle, half, whole] = [beyond(0.0)?, beyond(0.5)?, beyond(1.0)?];
    let gain = idle.value - whole.value;
    let ours = if gain > 0.0 {
        format!("{:.2} times the gain", idle.value / gain)
    } else {
        "there is no gain".to_owned()
    };
    Some((ours, all([are_above(0.0, range(&half)), are_at_most(0.0, range(&whole))])))
}

/// The number of schedules of each program in each size with which the reasons were found: the
/// default of `simulate`.
const SEEDS: usize = 8;

/// Returns whether the reasons apply to these rows: all programs in all sizes, with the usual
/// number of schedules.
pub(crate) fn are_usual(rows: &[Row<'_>]) -> bool {
    let runs = |row: &Row<'_>, scheduler| row.values(scheduler, Metric::Time).len();
    let has = |program: &str, size: &str| {
        let is_usual = |row: &Row<'_>| {
            (row.program, row.size) == (program, size)
                && [CilkRandom, CilkRestricted].iter().all(|one| runs(row, *one) == SEEDS)
        };
        rows.iter().any(is_usual)
    };
    let in_all_sizes = |program: &str| Size::ALL.iter().all(|size| has(program, size.name()));
    PROGRAMS.iter().all(|program| in_all_sizes(program.name()))
}

/// Reasons, by metric, programs and sizes.
type Reason = (Metric, &'static [&'static str], &'static [&'static str], &'static str);

const REASONS: [Reason; 9] = [
    (
        Metric::Time,
        &["matmul", "transpose", "heat", "cilksort"],
        &["small"],
        "All data fit into the last-level cache of one package, so every job is anchored there: the rule keeps 24 of the 32 workers \
         without work.",
    ),
    (
        Metric::Time,
        &["transpose", "heat", "cilksort"],
        &["medium"],
        "Each half of the data fits into one package's cache, so two packages work and two do not. The sizes of the paper are not known: \
         its result needs many subtrees that fill a cache.",
    ),
    (
        Metric::Time,
        &["matmul"],
        &["large"],
        "Some nine jobs of each run are too large for a cache, so that other packages may take them: too few to keep all four at work until \
         the end.",
    ),
    (
        Metric::Time,
        &["transpose", "heat"],
        &["large"],
        "No cache keeps the data until they are used again, under any schedule: random victims inflate the work by 1 % at most, and that is \
         all that can be gained. The simulated bandwidth has no bound, and memory is dealt out evenly to the packages.",
    ),
    (
        Metric::Time,
        &[ALL],
        &["small"],
        "With three packages idle the runtime decides as much as the program.",
    ),
    (
        Metric::Inflation,
        &["transpose"],
        &["large"],
        "Every block is used once in a run, and gone before the next: no order of the work inflates it.",
    ),
    (
        Metric::Inflation,
        &[ALL],
        &["small", "medium", "large"],
        "The order is that of the sizes chosen here: inflation is relative to the work, of which transpose has the least for each byte; \
         large heat has nothing in a cache to keep.",
    ),
    (
        Metric::Scheduling,
        &[ALL],
        &["large"],
        "Steals from other packages fall to 3 % and less, but those within a package are three to six times as many: in heat and in matmul, more \
         than random victims make in all.",
    ),
    (
        Metric::Idle,
        &["transpose", ALL],
        &["small", "medium", "large"],
        "Idle time follows from how many packages have a subtree of their own, in all programs alike; large transpose has enough of them \
         for all, in half of the schedules.",
    ),
];

/// Why the intervals of the scheduling overhead are not those of the paper.
const VICTIMS: &str = "What varies here is the choice of victims alone, which matters most where there is least work beside the steals: in transpose.";

/// Why idle time rises by more than what inflation and scheduling fall by.
const IDLE: &str = "Idle time is what is left of the time of all workers here, so it rises by all of that and more wherever the restricted runtime takes longer: for the reasons of its times.";

/// Returns why a claim is not confirmed in one size, if the rows [are the usual ones](are_usual).
pub(crate) fn reason(claim: &Claim, size: &str) -> Option<&'static str> {
    match claim.says {
        Says::WidestIn(_) => return Some(VICTIMS),
        Says::EatsMostOfTheGain => return Some(IDLE),
        _ => {}
    }
    let is_of = |reason: &&Reason| {
        reason.0 == claim.metric && reason.1.contains(&claim.program) && reason.2.contains(&size)
    };
    REASONS.iter().find(is_of).map(|reason| reason.3)
}

/// The output of `simulate --seeds 8 --json` for the paper's schedulers.
#[cfg(test)]
pub(crate) fn stored() -> Vec<Record> {
    let text = include_str!("../../tests/data/simulated.jsonl");
    let record = |line| suite::read::record(line, &["size", "bytes", "simulated"]).unwrap();
    text.lines().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{Size, of};
    use forking::program::Program;

    /// Returns the findings of all claims in all sizes.
    fn judged(records: &[Record]) -> Vec<(&'static Claim, Size, Found)> {
        let rows = rows(records);
        let mut all = Vec::new();
        for claim in &CLAIMS {
            for size in Size::ALL {
                let of: Vec<&Row<'_>> = rows.iter().filter(|row| row.size == size.name()).collect();
                all.push((claim, size, judge(claim, &of).unwrap()));
            }
        }
        all
    }

    #[test]
    fn every_claim_that_is_not_found_has_its_reason() {
        let records = stored();
        assert!(are_usual(&rows(&records)));
        let mut differing = judged(&records);
        differing.retain(|(.., found)| found.agrees == Some(false));
        let reasons: Vec<_> =
            differing.iter().map(|(claim, size, _)| reason(claim, size.name())).collect();
        for ((claim, size, found), reason) in differing.iter().zip(&reasons) {
            assert!(reason.is_some(), "{claim:?}, {size}: {} has no reason", found.ours);
        }
        for (.., why) in REASONS {
            assert!(reasons.contains(&Some(why)), "nothing differs for this reason: {why}");
        }
    }

    #[test]
    fn what_is_said_of_all_programs_is_judged_by_all_of_them() {
        let records = stored();
        let rows = rows(&records);
        let small = rows.iter().filter(|row| row.size == "small");
        let three: Vec<&Row<'_>> = small.filter(|row| row.program != "matmul").collect();
        for claim in &CLAIMS {
            let is_judged = judge(claim, &three).is_some();
            assert_eq!(is_judged, !["matmul", ALL].contains(&claim.program), "{claim:?}");
        }
    }

    #[test]
    fn reasons_are_of_all_programs_and_sizes_with_the_usual_schedules() {
        let usual = stored();
        let without = |is_left_out: fn(&Record) -> bool| -> Vec<Record> {
            usual.iter().filter(|record| !is_left_out(record)).cloned().collect()
        };
        let is_large = |record: &Record| record.case.settings.text("size") == Some("large");
        for (what, some) in [
            ("a program", without(|record| record.case.bench == "heat")),
            ("a size", without(is_large)),
            ("a schedule", without(|record| record.repeat == 7)),
        ] {
            assert!(!are_usual(&rows(&some)), "without {what}");
        }
    }

    #[test]
    fn what_is_stored_is_what_is_simulated() {
        let stored = include_str!("../../tests/data/simulated.jsonl");
        let schedulers = [CilkRandom, CilkRestricted];
        for program in [Program::Transpose, Program::Heat] {
            for found in of(program, Size::Small, &schedulers, 2) {
                let line = serde_json::to_string(&found).unwrap();
                let is_there = stored.lines().any(|known| known == line);
                assert!(is_there, "tests/data/simulated.jsonl is of an earlier simulation: {line}");
            }
        }
    }

    #[test]
    fn scheduling_is_less_everywhere_and_inflation_and_idle_nearly_so() {
        let judged = judged(&stored());
        let agree = |metric: Metric| {
            let of = judged.iter().filter(|(claim, ..)| claim.metric == metric);
            of.filter(|(.., found)| found.agrees == Some(true)).count()
        };
        // Steals are fewer in all programs of two sizes.
        assert_eq!(agree(Metric::Scheduling), 4 * Size::ALL.len() + 2);
        assert_eq!((agree(Metric::Inflation), agree(Metric::Idle)), (10, 11));
    }

    #[test]
    fn times_are_alike_by_their_whole_interval() {
        let of = |low, high| {
            let value = f64::midpoint(low, high);
            time(Says::Alike, &Estimate { value, low, high }).1
        };
        assert_eq!(of(0.96, 1.04), Some(true));
        assert_eq!(of(0.96, 1.06), None);
        assert_eq!(of(1.06, 1.08), Some(false));
        assert_eq!(of(0.9, 1.1), None);
    }

    #[test]
    fn steals_intervals_and_the_gain_are_judged_by_the_records() {
        let judged = judged(&stored());
        let of = |says: Says| {
            let own = judged.iter().filter(move |(claim, ..)| claim.says == says);
            own.map(|(.., found)| (found.ours.as_str(), found.agrees)).collect::<Vec<_>>()
        };
        let large = "matmul 1.06, transpose 0.69, heat 1.42, cilksort 0.80 times as many";
        let steals = of(Says::FewerSteals);
        assert_eq!(steals[2], (large, Some(false)));
        assert_eq!([steals[0].1, steals[1].1], [Some(true); 2]);
        let differ = |ours: [&'static str; 3]| ours.map(|ours| (ours, Some(false)));
        let widths = ["transpose, ±0.521 %", "transpose, ±0.045 %", "transpose, ±0.016 %"];
        assert_eq!(of(Says::WidestIn("heat")), differ(widths));
        let eaten = ["4.53 times the gain", "8.37 times the gain", "3.53 times the gain"];
        assert_eq!(of(Says::EatsMostOfTheGain), differ(eaten));
    }
}
