//! The thesis's statements about its own runtime, compared with the simulation. Those that compare
//! runtimes are not among them: the others are not simulated.

use super::record::Record;
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

    fn at(&self, workers: usize) -> f64 {
        let record = self.0.iter().find(|record| record.workers == workers);
        record.and_then(|record| record.mops()).map_or(f64::NAN, |mops| mops.median)
    }

    /// Returns by how much it grows for each worker between two numbers of them, in terms of its
    /// growth from one worker to `first`.
    fn growth(&self, from: usize, to: usize, first: usize) -> f64 {
        let slope = |from, to| (self.at(to) - self.at(from)) / (to - from) as f64;
        slope(from, to) / slope(1, first)
    }
}

/// Why statements about hyperthreads are not judged.
const ASSUMED: &str = "what a second thread of a core adds is assumed, a quarter: work that scales shows that much and nothing else";

/// Why few tasks do not differ from many.
const FEW: &str = "a worker whose only task waits finds it ready before it comes to sleep: tokens stay at their worker, and the simulation has no price for a queue that is empty now and then";

/// Why transfers differ.
const TRANSFER: &str = "thieves take the tasks behind a leader within some microseconds here, many at a time; C∀'s help each take one task that has waited";

/// Why Churn goes on to scale.
const CHURN: &str = "semaphores on one line are used one after the other at the price of the line alone, and the links between packages have no bound: no queue at either";

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
        let found = nanos.median / 1e3;
        let is_equal = |&(.., us): &Time| (0.1..10.0).contains(&(found / us));
        Some(Claim {
            stated,
            found: format!("{} µs", words::figure(found)),
            agrees: Some(published.iter().all(is_equal)),
            why: TRANSFER,
        })
    })
}

/// Returns all claims; none if the simulated numbers of workers are not the usual ones.
pub(crate) fn claims(records: &[Record]) -> Vec<Claim> {
    let curve = |machine, bench, tasks| Curve::of(records, machine, bench, tasks);
    let intel = curve("intel", "cycle", 100);
    let few = curve("intel", "cycle", 1);
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
    let yield_ratio = yields.at(192) / intel.at(192);
    let few_ratio = few.at(192) / intel.at(192);
    let (grows, falls, goes_on) =
        (churn.at(48) / churn.at(24), churn.at(72) / churn.at(48), churn.at(192) / churn.at(72));
    let highest = churn.0.iter().map(|record| churn.at(record.workers)).fold(0.0, f64::max);
    let few_churns = few_churn.at(192) / churn.at(192);
    let mut claims = vec![
        Claim {
            stated: "Cycle on Intel is flatter from 25 to 48 and from 72 to 96 processors, on hyperthreads.",
            found: format!(
                "it grows {:.2} and {:.2} times as fast there as up to 24",
                flat[0], flat[1]
            ),
            agrees: None,
            why: ASSUMED,
        },
        Claim {
            stated: "Cycle on Intel reaches 400 Mop/s.",
            found: format!("{least:.0} Mop/s on 192"),
            agrees: None,
            why: PRICES,
        },
        Claim {
            stated: "Cycle on Intel is clearly worse with few tasks.",
            found: format!("{few_ratio:.2} times as many operations on 192"),
            agrees: None,
            why: FEW,
        },
        Claim {
            stated: "Cycle on AMD has about twice Intel's throughput.",
            found: format!("{:.2} times, on 256 and 192", most / least),
            agrees: None,
            why: "both machines have the same prices here; what is left is the number of processors",
        },
        Claim {
            stated: "Cycle on AMD has plateaus at 64, 128 and 192 processors.",
            found: format!(
                "from each to the next it grows {:.2}, {:.2} and {:.2} times as fast as up to 64",
                plateaus[0], plateaus[1], plateaus[2]
            ),
            agrees: None,
            why: ASSUMED,
        },
        Claim {
            stated: "Yield is as Cycle, slightly better.",
            found: format!("{yield_ratio:.2} times as many operations on 192 of Intel"),
            agrees: None,
            why: "it is the price of a yield beside those of a wake and a poll, which are timed",
        },
        Claim {
            stated: "Churn on Intel scales to 48 processors.",
            found: format!("{grows:.2} times as many operations on 48 as on 24"),
            agrees: None,
            why: ASSUMED,
        },
        Claim {
            stated: "Churn on Intel drops from 48 processors to 72.",
            found: format!("{falls:.2} times as many operations on 72 as on 48"),
            agrees: Some(falls < 1.0),
            why: CHURN,
        },
        Claim {
            stated: "Churn on Intel is flat from 72 processors to 192, or grows slowly.",
            found: format!("{goes_on:.2} times as many operations on 192 as on 72"),
            // 2.67 times as many processors.
            agrees: Some((0.8..1.8).contains(&goes_on)),
            why: CHURN,
        },
        Claim {
            stated: "Churn on Intel does not reach 40 Mop/s.",
            found: format!("{highest:.0} Mop/s at most"),
            agrees: None,
            why: PRICES,
        },
        Claim {
            stated: "Churn on Intel is the same with few tasks.",
            found: format!("{few_churns:.2} times as many operations on 192"),
            agrees: Some((0.8..1.25).contains(&few_churns)),
            why: "with few tasks workers run out of them and sleep; what a sleep costs is that of a virtual machine here",
        },
    ];
    claims.extend(transfers(records));
    claims
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::claim;
    use crate::simulated::scheduling::MACHINES;

    /// Records with these million operations per second.
    fn records(mops: impl Fn(&str, &str, usize, usize) -> f64) -> Vec<Record> {
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
                        seeds: 1,
                        mops: vec![mops(machine, bench, tasks_per_proc, workers)],
                        ns_per_op_per_proc: Vec::new(),
                        waited_us: 0.0,
                        allowed_us: 0.0,
                        moves_per_1000_polls: 0.0,
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
        let found = records(|machine, bench, tasks, workers| match (machine, bench) {
            (_, "churn") if workers <= 48 => workers as f64 / 2.0,
            (_, "churn") => 20.0,
            ("amd", _) => 6.25 * power(64, workers),
            (_, "cycle") => 4.0 * power(24, workers) * if tasks < 100 { 0.7 } else { 1.0 },
            _ => 4.4 * power(24, workers),
        });
        let claims = claims(&found);
        assert_eq!(claims.len(), 11);
        for claim in &claims {
            assert_ne!(claim.agrees, Some(false), "{} {}", claim.stated, claim.found);
        }
        assert_eq!(claims.iter().filter(|claim| claim.agrees.is_none()).count(), 8);
        assert!(claims.iter().all(|claim| !claim.why.is_empty()), "each may differ");
    }

    #[test]
    fn what_scales_without_end_differs_and_says_why() {
        let claims = claims(&records(|_, _, _, workers| 10.0 * workers as f64));
        let agree: Vec<bool> = claims.iter().filter_map(|claim| claim.agrees).collect();
        assert_eq!(agree, [false, false, true]);
        assert!(claim::text(&claims).contains("differs: Churn on Intel drops from 48 processors"));
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
    fn a_transfer_that_some_schedule_lacks_is_not_judged() {
        for record in [transfer(&[], 2), transfer(&[20_000.0], 2)] {
            let found: Vec<_> = transfers(&[record]).map(|claim| claim.agrees).collect();
            assert_eq!(found, [None]);
        }
    }

    #[test]
    fn a_few_numbers_of_workers_say_nothing() {
        let few = |is_there: fn(&Record) -> bool| -> Vec<Record> {
            records(|_, _, _, _| 1.0).into_iter().filter(is_there).collect()
        };
        assert!(claims(&few(|record| record.workers < 100)).is_empty());
        // What grows between two numbers of workers needs both, and the growth from one to cores.
        assert!(claims(&few(|record| record.workers > 1)).is_empty());
        assert!(
            claims(&few(|record| record.machine == "intel" || record.workers != 64)).is_empty()
        );
    }
}
