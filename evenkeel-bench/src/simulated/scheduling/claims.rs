//! The thesis's statements about its own runtime, compared with the simulation. Other runtimes are
//! not simulated: of statements about several the part about this one is here.

use super::record::Record;
use crate::publications::statement::{ALIKE, CHANCE, EQUAL, all, are_at_most, are_between, ratios};
use crate::simulated::claim::Claim;
use suite::words;

/// Throughput in million operations per second, by the number of workers.
struct Curve<'a>(Vec<&'a Record>);

impl<'a> Curve<'a> {
    fn of(records: &'a [Record], machine: &str, bench: &str, tasks: usize) -> Self {
        let own = |record: &&Record| {
            (record.machine, record.bench, record.tasks_per_proc) == (machine, bench, tasks)
        };
        Self(records.iter().filter(own).collect())
    }

    fn record(&self, workers: usize) -> Option<&'a Record> {
        self.0.iter().copied().find(|record| record.workers == workers)
    }

    fn at(&self, workers: usize) -> f64 {
        let mops = self.record(workers).and_then(Record::mops);
        mops.map_or(f64::NAN, |mops| mops.median)
    }

    /// Returns how many times as high it is with some workers as another one is with others;
    /// `None` if a point is missing.
    fn beside(&self, workers: usize, other: &Self, others: usize) -> Option<Times> {
        let (one, other) = (self.record(workers)?.mops()?, other.record(others)?.mops()?);
        Some(Times { median: one.median / other.median, range: ratios(&one, &other) })
    }

    /// Returns by how much it grows for each worker between two numbers of them, in terms of its
    /// growth from one worker to `first`.
    fn growth(&self, from: usize, to: usize, first: usize) -> f64 {
        let slope = |from, to| (self.at(to) - self.at(from)) / (to - from) as f64;
        slope(from, to) / slope(1, first)
    }
}

/// The ratio of two throughputs.
struct Times {
    median: f64,
    /// The least and the greatest ratio of one schedule to another.
    range: [f64; 2],
}

/// Returns a claim that schedules judge; it may be chance.
fn judged(stated: &'static str, found: String, agrees: Option<bool>, why: &'static str) -> Claim {
    Claim { stated, found, agrees, why: if agrees.is_none() { CHANCE } else { why } }
}

/// Why statements about hyperthreads are not judged.
const ASSUMED: &str = "what a second thread of a core adds is assumed, a quarter: work that scales shows that much and nothing else";

/// Why few tasks do not differ from many.
const FEW: &str = "a worker whose only task waits finds it ready before it comes to sleep: tokens stay at their worker, and the simulation has no price for a queue that is empty now and then";

/// Why transfers differ.
const TRANSFER: &str = "thieves take the tasks behind a leader within some microseconds here, many at a time; C∀'s help each take one task that has waited";

/// What decides what becomes of Churn beyond a package.
const CHURN: &str = "semaphores on one line are used one after the other at the price of the line alone, and the links between packages have no bound, so that there is no queue at either: that is assumed";

/// Times as many operations on 192 processors as on 72 that are flat, or grow slowly: by less than
/// half of what the processors do.
const FLAT: [f64; 2] = [0.8, 1.8];

/// Why helping does not cascade.
const CASCADE: &str =
    "tokens stay at their worker while it has work, so there is little to help with";

/// Why it is not known whether helping cascades.
const MOVES: &str = "moves are counted, and not which of them follows from another";

/// Fewer moves for each thousand polls are no cascade: help seldom begets help.
const FEW_MOVES: f64 = 10.0;

/// Why numbers of operations are not judged.
const PRICES: &str = "the steps have the prices of this machine, and the thesis's had others";

/// A machine, a number of workers, and the microseconds of a transfer there.
type Time = (&'static str, usize, f64);

/// What a transfer takes C∀, in microseconds: the variant; the machines, with the number of workers
/// and the time there.
const TRANSFERS: [(&str, &[Time], &str); 6] = [
    (
        "transfer park",
        // The simulated machines are the same with two workers.
        &[("intel", 2, 106.0), ("amd", 2, 174.0)],
        "Transfer, park, on 2: 106 µs of Intel, 174 µs of AMD.",
    ),
    ("transfer park", &[("intel", 192, 19_900.0)], "Transfer, park, on 192 of Intel: 19.9 ms."),
    ("transfer park", &[("amd", 256, 28_400.0)], "Transfer, park, on 256 of AMD: 28.4 ms."),
    (
        "transfer yield",
        &[("intel", 2, 68.4), ("amd", 2, 78.8)],
        "Transfer, yield, on 2: 68.4 µs of Intel, 78.8 µs of AMD.",
    ),
    ("transfer yield", &[("intel", 192, 1_200.0)], "Transfer, yield, on 192 of Intel: 1.2 ms."),
    ("transfer yield", &[("amd", 256, 1_210.0)], "Transfer, yield, on 256 of AMD: 1.21 ms."),
];

/// Returns what is found of the times of transfers. The thesis counts what is within a factor of
/// ten as equal.
fn transfers(records: &[Record]) -> impl Iterator<Item = Claim> {
    TRANSFERS.into_iter().filter_map(|(bench, published, stated)| {
        let (machine, workers, _) = published[0];
        let curve = Curve::of(records, machine, bench, 100);
        let record = curve.0.into_iter().find(|record| record.workers == workers)?;
        let Some(nanos) = record.nanos().filter(|nanos| nanos.runs == record.seeds) else {
            return Some(Claim {
                stated,
                found: "not all schedules have a transfer in the time that is simulated".into(),
                agrees: None,
                why: "that time is too short",
            });
        };
        let is_equal = |&(.., us): &Time| {
            let range = [nanos.min, nanos.max].map(|nanos| nanos / 1e3 / us);
            are_between([1.0 / EQUAL, EQUAL], range)
        };
        let found = format!("{} µs", words::figure(nanos.median / 1e3));
        Some(judged(stated, found, all(published.iter().map(is_equal)), TRANSFER))
    })
}

/// Returns all claims that have their points; none if the simulated numbers of workers are not the
/// usual ones.
pub(crate) fn claims(records: &[Record]) -> Vec<Claim> {
    let curve = |machine, bench, tasks| Curve::of(records, machine, bench, tasks);
    let intel = curve("intel", "cycle", 100);
    let few = curve("intel", "cycle", 1);
    let few_amd = curve("amd", "cycle", 1);
    let amd = curve("amd", "cycle", 100);
    let yields = curve("intel", "yield", 100);
    let churn = curve("intel", "churn", 100);
    let few_churn = curve("intel", "churn", 2);
    let is_known = |curve: &Curve<'_>, counts: &[usize]| {
        counts.iter().all(|&workers| !curve.at(workers).is_nan())
    };
    if !is_known(&intel, &[1, 24, 48, 72, 96, 192]) || !is_known(&amd, &[1, 64, 128, 192, 256]) {
        return Vec::new();
    }
    let flat = [intel.growth(24, 48, 24), intel.growth(72, 96, 24)];
    let plateaus = [(64, 128), (128, 192), (192, 256)].map(|(from, to)| amd.growth(from, to, 64));
    let (least, most) = (intel.at(192), amd.at(256));
    let highest = churn.0.iter().filter_map(|record| record.mops()).map(|mops| mops.median);
    let cascades = few_amd.record(256).map(|record| record.moves_per_1000_polls);
    let claims = [
        Some(Claim {
            stated: "Cycle on Intel is flatter from 25 to 48 and from 72 to 96 processors, on hyperthreads.",
            found: format!(
                "it grows {:.2} and {:.2} times as fast there as up to 24",
                flat[0], flat[1]
            ),
            agrees: None,
            why: ASSUMED,
        }),
        Some(Claim {
            stated: "Cycle on Intel, many tasks: all but libfibre reach 400 Mop/s.",
            found: format!("{least:.0} Mop/s on 192"),
            agrees: None,
            why: PRICES,
        }),
        few.beside(192, &intel, 192).map(|times| {
            judged(
                "Cycle on Intel is clearly worse with few tasks.",
                format!("{:.2} times as many operations on 192", times.median),
                are_at_most(1.0 / ALIKE, times.range),
                FEW,
            )
        }),
        Some(Claim {
            stated: "Cycle on AMD has about twice Intel's throughput.",
            found: format!("{:.2} times, on 256 and 192", most / least),
            agrees: None,
            why: "both machines have the same prices here; what is left is the number of processors",
        }),
        Some(Claim {
            stated: "Cycle on AMD has plateaus at 64, 128 and 192 processors.",
            found: format!(
                "from each to the next it grows {:.2}, {:.2} and {:.2} times as fast as up to 64",
                plateaus[0], plateaus[1], plateaus[2]
            ),
            agrees: None,
            why: ASSUMED,
        }),
        cascades.map(|moves| Claim {
            stated: "Cycle on AMD, few tasks: at high counts helping comes in cascades.",
            found: format!("{} moves for each thousand polls on 256", words::figure(moves)),
            agrees: (moves < FEW_MOVES).then_some(false),
            why: if moves < FEW_MOVES { CASCADE } else { MOVES },
        }),
        yields.beside(192, &intel, 192).map(|times| Claim {
            stated: "Yield is as Cycle, slightly better.",
            found: format!("{:.2} times as many operations on 192 of Intel", times.median),
            agrees: None,
            why: "it is the price of a yield beside those of a wake and a poll, which are timed",
        }),
        churn.beside(48, &churn, 24).map(|times| Claim {
            stated: "Churn on Intel scales to 48 processors.",
            found: format!("{:.2} times as many operations on 48 as on 24", times.median),
            agrees: None,
            why: ASSUMED,
        }),
        churn.beside(72, &churn, 48).map(|times| {
            Claim::assumed(
                "Churn on Intel drops from 48 processors to 72.",
                format!("{:.2} times as many operations on 72 as on 48", times.median),
                are_at_most(1.0, times.range),
                CHURN,
            )
        }),
        churn.beside(192, &churn, 72).map(|times| {
            Claim::assumed(
                "Churn on Intel is flat from 72 processors to 192, or grows slowly.",
                format!("{:.2} times as many operations on 192 as on 72", times.median),
                are_between(FLAT, times.range),
                CHURN,
            )
        }),
        highest.reduce(f64::max).map(|highest| Claim {
            stated: "Churn on Intel does not reach 40 Mop/s.",
            found: format!("{highest:.0} Mop/s at most"),
            agrees: None,
            why: PRICES,
        }),
        few_churn.beside(192, &churn, 192).map(|times| {
            judged(
                "Churn on Intel is the same with few tasks.",
                format!("{:.2} times as many operations on 192", times.median),
                are_between([1.0 / ALIKE, ALIKE], times.range),
                "with few tasks workers run out of them and sleep; what a sleep costs is that of a virtual machine here",
            )
        }),
    ];
    let schedules = records.iter().map(|record| record.seeds).min().unwrap_or_default();
    let claims = claims.into_iter().flatten().chain(transfers(records));
    claims.map(|claim| claim.by(schedules)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::claim;
    use crate::simulated::scheduling::MACHINES;

    /// Records with these million operations per second, and as many moves for each thousand polls.
    fn records(moves: f64, mops: impl Fn(&str, &str, usize, usize) -> f64) -> Vec<Record> {
        let mut all = Vec::new();
        for ((_, counts), machine) in MACHINES.into_iter().zip(["intel", "amd"]) {
            for (bench, few) in [("cycle", 1), ("yield", 1), ("churn", 2)] {
                for tasks_per_proc in [100, few] {
                    all.extend(counts.iter().map(|&workers| Record {
                        simulated: true,
                        machine,
                        bench,
                        tasks_per_proc,
                        workers,
                        seeds: 3,
                        mops: vec![mops(machine, bench, tasks_per_proc, workers); 3],
                        ns_per_op_per_proc: Vec::new(),
                        waited_us: 0.0,
                        allowed_us: 0.0,
                        moves_per_1000_polls: moves,
                    }));
                }
            }
        }
        all
    }

    /// Returns the number of cores under some workers, a hyperthread counting for a quarter.
    fn power(cores: usize, workers: usize) -> f64 {
        let (whole, rest) = (workers / (2 * cores), workers % (2 * cores));
        let full = whole as f64 * cores as f64 * 1.25;
        full + rest.min(cores) as f64 + rest.saturating_sub(cores) as f64 / 4.0
    }

    #[test]
    fn machines_as_the_thesis_has_them_agree_with_all_that_it_says() {
        let found = records(90.0, |machine, bench, tasks, workers| match (machine, bench) {
            (_, "churn") if workers <= 48 => workers as f64 / 2.0,
            (_, "churn") => 20.0,
            ("amd", _) => 6.25 * power(64, workers),
            (_, "cycle") => 4.0 * power(24, workers) * if tasks < 100 { 0.7 } else { 1.0 },
            _ => 4.4 * power(24, workers),
        });
        let claims = claims(&found);
        assert_eq!(claims.len(), 12);
        for claim in &claims {
            assert_ne!(claim.agrees, Some(false), "{} {}", claim.stated, claim.found);
        }
        assert_eq!(claims.iter().filter(|claim| claim.agrees.is_none()).count(), 10);
        assert!(claims.iter().all(|claim| !claim.why.is_empty()), "each may differ");
    }

    #[test]
    fn what_scales_without_end_differs_and_says_why() {
        let claims = claims(&records(0.1, |_, _, _, workers| 10.0 * workers as f64));
        let agree: Vec<bool> = claims.iter().filter_map(|claim| claim.agrees).collect();
        assert_eq!(agree, [false, false, false, false, true]);
        let text = claim::text(&claims);
        assert!(text.contains("differs: Cycle on Intel is clearly worse with few tasks"), "{text}");
        assert!(
            text.contains("differs: Cycle on AMD, few tasks: at high counts helping"),
            "{text}"
        );
        let assumed = "differs: Churn on Intel drops from 48 processors to 72. Simulated: 1.50 times \
                       as many operations on 72 as on 48. Because semaphores on one line";
        assert!(text.contains(assumed), "{text}");
    }

    #[test]
    fn schedules_that_overlap_say_nothing() {
        let mut records = records(0.1, |_, _, tasks, workers| {
            workers as f64 * if tasks < 100 { 0.7 } else { 1.0 }
        });
        let few = |claims: Vec<Claim>| {
            let is =
                |claim: &Claim| claim.stated == "Cycle on Intel is clearly worse with few tasks.";
            let claim = claims.into_iter().find(is).unwrap();
            (claim.agrees, claim.why)
        };
        assert_eq!(few(claims(&records)), (Some(true), FEW));
        let is = |record: &&mut Record| {
            (record.machine, record.bench, record.tasks_per_proc, record.workers)
                == ("intel", "cycle", 1, 192)
        };
        // The median is what it was.
        let one = records.iter_mut().find(is).unwrap();
        one.mops = vec![0.5 * one.mops[0], one.mops[0], 1.5 * one.mops[0]];
        assert_eq!(few(claims(&records)), (None, CHANCE));
    }

    #[test]
    fn two_schedules_judge_nothing() {
        let mut records = records(0.1, |_, _, _, workers| 10.0 * workers as f64);
        let judged = |records: &[Record]| claims(records).iter().any(|one| one.agrees.is_some());
        assert!(judged(&records));
        records.iter_mut().for_each(|record| record.seeds = 2);
        assert!(!judged(&records));
    }

    #[test]
    fn a_claim_without_its_points_is_left_out() {
        let mut records = records(0.1, |_, _, _, workers| 10.0 * workers as f64);
        records.retain(|record| record.bench == "cycle" && record.tasks_per_proc == 100);
        let claims = claims(&records);
        assert_eq!(claims.len(), 4);
        assert!(!claim::text(&claims).contains("NaN"));
    }

    /// A record of a transfer with two workers of Intel.
    fn transfer(nanos: &[f64], seeds: usize) -> Record {
        Record {
            simulated: true,
            machine: "intel",
            bench: "transfer park",
            tasks_per_proc: 100,
            workers: 2,
            seeds,
            mops: nanos.iter().map(|nanos| 1e3 / nanos).collect(),
            ns_per_op_per_proc: nanos.to_vec(),
            waited_us: 0.0,
            allowed_us: 0.0,
            moves_per_1000_polls: 0.0,
        }
    }

    #[test]
    fn a_transfer_within_a_factor_of_ten_of_both_machines_is_equal() {
        for (nanos, agrees) in
            [(20_000.0, true), (900_000.0, true), (1_100_000.0, false), (12_000.0, false)]
        {
            let record = [transfer(&[nanos], 1)];
            let found: Vec<_> = transfers(&record).map(|claim| claim.agrees).collect();
            assert_eq!(found, [Some(agrees)], "{nanos}");
        }
    }

    #[test]
    fn schedules_of_a_transfer_on_both_sides_of_a_factor_of_ten_are_not_judged() {
        let record = [transfer(&[20_000.0, 900_000.0, 1_100_000.0], 3)];
        let found: Vec<_> = transfers(&record).map(|claim| (claim.agrees, claim.why)).collect();
        assert_eq!(found, [(None, CHANCE)]);
    }

    #[test]
    fn a_transfer_that_some_schedule_lacks_is_not_judged() {
        for record in [transfer(&[], 2), transfer(&[20_000.0], 2)] {
            let found: Vec<_> = transfers(&[record]).map(|claim| claim.agrees).collect();
            assert_eq!(found, [None]);
        }
    }

    #[test]
    fn a_few_numbers_of_workers_say_nothing() {
        let few = |is_there: fn(&Record) -> bool| -> Vec<Record> {
            records(0.0, |_, _, _, _| 1.0).into_iter().filter(is_there).collect()
        };
        assert!(claims(&few(|record| record.workers < 100)).is_empty());
        // What grows between two numbers of workers needs both, and the growth from one to cores.
        assert!(claims(&few(|record| record.workers > 1)).is_empty());
        assert!(
            claims(&few(|record| record.machine == "intel" || record.workers != 64)).is_empty()
        );
    }
}
