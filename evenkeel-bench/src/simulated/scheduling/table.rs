//! The printed tables of simulated experiments of schedulers.

use super::claims::claims;
use super::record::{self, Beside, Record};
use super::{BESIDE_SIBLING, EXPERIMENTS, Experiment, MACHINES, Prices, is_transfer, tasks};
use crate::simulated::claim;
use suite::power;
use suite::summary::Summary;
use suite::table::{Plain, unbroken, wrapped};
use suite::words;

const SIMULATED: &str = "SIMULATED: experiments of schedulers on the machines of C∀'s thesis, 4 x 24 cores (intel) and 2 x 64 cores (amd) with two threads each; \
    no core has run this";

const NOTE: &str = "million operations per simulated second and nanoseconds per operation and worker, of Transfer per transfer, medians of the seeds [minimum-maximum]; waited: the longest wait of a task \
    beyond its share of the work ahead, and what the promise allows; moves: how often a worker gets tasks of another, for each thousand polls";

const BESIDE: &str = "Simulated and measured on this machine, nanoseconds per operation and worker, of Transfer per transfer, medians of rounds in turns [minimum-maximum]; the simulation knows the steps' \
    costs alone. The prices of a yield and of an abort are timed by nearly the same steps as Yield and End, so the ratios of these two say little of how far the simulation is to be believed";

/// Lays out all tables in `width` columns.
pub(crate) fn render(beside: &[Beside], records: &[Record], width: Option<u16>) -> String {
    wrapped(SIMULATED, width)
        + &unbroken(&points(records), width)
        + &wrapped(NOTE, width)
        + &wrapped(&promise(records), width)
        + &wrapped(&growth(records), width)
        + "\n"
        + &wrapped(BESIDE, width)
        + &unbroken(&both(beside), width)
        + &claim::text(&claims(records))
            .lines()
            .map(|line| wrapped(line, width))
            .collect::<String>()
}

/// Says whether the runtime's promise is kept in all of this. An end has no waits.
fn promise(records: &[Record]) -> String {
    let end = record::name(Experiment::End);
    let records: Vec<_> = records.iter().filter(|record| record.bench != end).collect();
    if records.is_empty() {
        return String::new();
    }
    let late = records.iter().filter(|record| record.waited_us > record.allowed_us).count();
    let kept = if late == 0 { "kept" } else { "NOT KEPT" };
    format!(
        "The bound on waiting is {kept}: a ready task waits for longer than the promise allows in {late} of {} rows.\n",
        records.len()
    )
}

/// The number of workers at which an operation is compared with that of one.
const MANY: usize = 64;

/// Says by which power of the number of workers the time of an operation grows, where there are
/// many tasks, and by how much at [`MANY`].
fn growth(records: &[Record]) -> String {
    let (mut all, mut at_many) = (Vec::new(), Vec::new());
    for (on, _) in MACHINES {
        for experiment in EXPERIMENTS.into_iter().filter(|&one| !is_transfer(one)) {
            let (machine, bench) = (record::machine(on), record::name(experiment));
            let own = |record: &&Record| {
                (record.machine, record.bench, record.tasks_per_proc)
                    == (machine, bench, tasks(experiment)[0])
            };
            let point = |record: &Record| Some((record.workers as f64, record.nanos()?.median));
            let points: Vec<_> = records.iter().filter(own).filter_map(point).collect();
            if let Some(power) = power::fitted(&points) {
                all.push(format!("{machine} {bench} {power:.2}"));
            }
            let at = |workers: usize| {
                points.iter().find(|point| point.0 == workers as f64).map(|point| point.1)
            };
            if let (Some(one), Some(many)) = (at(1), at(MANY)) {
                at_many.push(format!("{machine} {bench} {:.2}", many / one));
            }
        }
    }
    let mut text = String::new();
    if !all.is_empty() {
        text.push_str(&format!(
            "The powers of the number of workers by which the work of as many operations for each grows, many tasks: {}. A power of 1 is work that scales.\n",
            all.join(", ")
        ));
    }
    if !at_many.is_empty() {
        text.push_str(&format!(
            "An operation of {MANY} workers beside that of one, times: {}. {}. Steps beside others have the prices that were timed beside a second worker, so what that \
             costs on this machine is in all of these.\n",
            at_many.join(", "),
            shared()
        ));
    }
    text
}

/// Says by how much shared cores alone make an operation of [`MANY`] workers longer.
fn shared() -> String {
    let told = MACHINES.map(|(on, _)| {
        let sharing = on.sharing(MANY);
        let longer = BESIDE_SIBLING as f64 / 100.0;
        // Workers' rates add.
        let alone = (MANY - sharing) as f64 + sharing as f64 / longer;
        format!(
            "on {} {sharing} of the {MANY} share a core with another, and take {longer} times as long each by assumption, which alone is {:.2}",
            record::machine(on),
            MANY as f64 / alone
        )
    });
    words::capital(&told.join("; "))
}

fn spread(of: Option<Summary>) -> String {
    of.map_or(String::new(), words::spread)
}

/// The table of all simulated points.
pub(crate) fn points(records: &[Record]) -> Plain {
    let heading = [
        "machine",
        "experiment",
        "tasks",
        "workers",
        "Mop/s",
        "ns/op",
        "waited, µs",
        "allowed, µs",
        "moves",
    ];
    let line = |record: &Record| {
        vec![
            record.machine.to_owned(),
            record.bench.to_owned(),
            record.tasks_per_proc.to_string(),
            record.workers.to_string(),
            spread(record.mops()),
            spread(record.nanos()),
            words::figure(record.waited_us),
            words::figure(record.allowed_us),
            words::figure(record.moves_per_1000_polls),
        ]
    };
    Plain {
        heading: heading.map(str::to_owned).to_vec(),
        lines: records.iter().map(line).collect(),
        figures: 2..heading.len(),
    }
}

/// The table of what is simulated beside what is measured.
pub(crate) fn both(beside: &[Beside]) -> Plain {
    let mut heading = ["experiment", "workers", "simulated", "measured", "ratio"].to_vec();
    heading.extend(Prices::TIMED.map(|(name, _)| name));
    let line = |one: &Beside| {
        let mut line = vec![
            record::name(one.experiment).to_owned(),
            one.workers.to_string(),
            spread(one.simulated()),
            spread(one.measured()),
            spread(one.ratio()),
        ];
        line.extend(Prices::TIMED.map(|(_, price)| words::figure(one.price(price))));
        line
    };
    Plain {
        figures: 1..heading.len(),
        heading: heading.into_iter().map(str::to_owned).collect(),
        lines: beside.iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_beyond_what_is_allowed_breaks_the_promise() {
        let record = |bench, waited_us, allowed_us| Record {
            simulated: true,
            machine: "intel",
            bench,
            tasks_per_proc: 100,
            workers: 2,
            seeds: 1,
            mops: vec![1.0],
            ns_per_op_per_proc: vec![1.0],
            waited_us,
            allowed_us,
            moves_per_1000_polls: 0.0,
        };
        let (kept, late, end) =
            (record("cycle", 1.0, 1.0), record("cycle", 2.0, 1.0), record("end", 0.0, 0.0));
        assert!(promise(std::slice::from_ref(&kept)).starts_with("The bound on waiting is kept:"));
        let told = promise(&[kept, late, end]);
        assert!(told.contains("NOT KEPT") && told.contains("in 1 of 2 rows"), "{told}");
    }

    #[test]
    fn what_is_not_simulated_has_no_sentence() {
        assert_eq!(promise(&[]) + &growth(&[]), "");
        assert!(!render(&[], &[], None).contains(": ."));
    }
}
