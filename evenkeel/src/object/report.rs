//! Reports of the classes of a runtime.

use super::Placement;
use super::class::{Class, Route};
use super::classes as registry;
use super::ledger::Ledgers;
use crate::policy::object::{Verdict, per_mille};
use crate::primitives::misses::Misses;
use crate::processor::shared::Shared;
use std::fmt;

/// A snapshot of one class of objects. [`Report`] has an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClassReport {
    /// Its name.
    pub name: Box<str>,
    /// Its placement.
    pub placement: Placement,
    /// Whether its objects are entered at their homes, or at one worker, at the moment.
    pub at_home: bool,
    /// The result of the trials of an automatic class.
    pub verdict: Verdict,
    /// About how many operations there have been.
    pub operations: u64,
    /// How many objects have their home at each worker.
    pub homes: Vec<usize>,
}

impl ClassReport {
    fn of(class: &Class) -> Self {
        Self {
            name: class.name().into(),
            placement: class.placement(),
            at_home: class.route() != Route::InPlace,
            verdict: class.steering.verdict(),
            operations: class.steering.shares.operations(),
            homes: class.homes(),
        }
    }
}

impl fmt::Display for ClassReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, placement, operations, homes, .. } = self;
        write!(f, "class {name:?}, about {operations} operations, homes by worker {homes:?}; ")?;
        match placement {
            Placement::Automatic => write!(f, "{}", self.verdict),
            Placement::InPlace => f.write_str("in place: told to be"),
            Placement::Home => f.write_str("at home: told to be"),
        }
    }
}

/// One worker's part in the objects in use. [`Report`] has an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkerReport {
    /// The worker's number.
    pub worker: usize,
    /// Its part of the time that operations at their homes have taken lately, in per mille.
    pub share: u32,
    /// The parts of its hottest objects in that, in per mille of all workers' time, the hottest
    /// first. Objects with homes that the caller has chosen are left out. The figures come from
    /// samples.
    pub hottest: Vec<u32>,
    /// Tasks that have travelled from it.
    pub hops: u64,
    /// Objects that it has given to other workers, because it had more to do than they. Objects of
    /// a class that is entered at one worker keep their homes.
    pub given_away: u64,
}

/// The number of hottest objects that a report lists.
const HOTTEST: usize = 32;

/// Where the objects of a runtime are, and how they are used.
///
/// # Examples
/// ```
/// use evenkeel::object::{self, ClassReport, Object, Placement, Report, WorkerReport};
///
/// let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
/// runtime.block_on(async {
///     let tables: Vec<_> =
///         (0..4).map(|n| Object::new(n).placed("tables", Placement::Home)).collect();
///     for table in &tables {
///         table.with(|n| *n += 1).await.unwrap();
///     }
///     let Report { classes, workers, .. } = object::report();
///     let is_tables = |class: &&ClassReport| &*class.name == "tables";
///     let class = classes.iter().find(is_tables).unwrap();
///     assert!(class.at_home && class.homes == [2, 2]);
///     // `block_on` is no task: it enters each object where it is.
///     assert!(workers.iter().all(|WorkerReport { hops, .. }| *hops == 0));
/// });
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The classes, by name.
    pub classes: Vec<ClassReport>,
    /// The workers; none outside of any runtime.
    pub workers: Vec<WorkerReport>,
    /// Why cache misses are no evidence here. None where they are counted: together with the
    /// operations per second they say what need not be tried. A class's verdict says what decided
    /// on it.
    pub why_no_misses: Option<Box<str>>,
}

/// Returns a report on the objects of the runtime that the caller belongs to: their classes with
/// the verdicts, and their homes with the heat.
///
/// # Cost
/// It locks each worker's ledger for a few microseconds; meant for people.
///
/// # Examples
/// ```
/// use evenkeel::object::{self, Object, Placement};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let object = Object::new(0).placed("counters", Placement::Home);
///     object.with(|count| *count += 1).await.unwrap();
///     let report = object::report();
///     assert_eq!(&*report.classes[0].name, "counters");
///     println!("{report}");
/// });
/// ```
#[must_use]
pub fn report() -> Report {
    let of = |ledgers: &Ledgers, shared: &Shared| {
        let foreign = Some("the runtime's threads are not its own");
        let why = shared.misses.get().map_or(foreign, Misses::absence);
        (workers(ledgers, shared), why.map(Box::from))
    };
    let outside = || (Vec::new(), Some("the caller is in no runtime".into()));
    let (workers, why_no_misses) = registry::ledgers_here(of).unwrap_or_else(outside);
    let classes = registry::all_here().iter().map(|class| ClassReport::of(class)).collect();
    Report { classes, workers, why_no_misses }
}

fn workers(ledgers: &Ledgers, shared: &Shared) -> Vec<WorkerReport> {
    let known = ledgers.each(|giving| {
        let mut times: Vec<u64> = giving.heat().objects().map(|(_, nanos)| nanos).collect();
        times.sort_unstable_by(|one, other| other.cmp(one));
        times.truncate(HOTTEST);
        (giving.heat().total(), times, giving.moves())
    });
    let total = known.iter().map(|(heat, ..)| heat).sum();
    let of = |(worker, (heat, times, given_away)): (usize, (u64, Vec<u64>, u64))| WorkerReport {
        worker,
        share: per_mille(heat, total),
        hottest: times.iter().map(|&nanos| per_mille(nanos, total)).collect(),
        hops: shared.processors[worker].counters.hops.get(),
        given_away,
    };
    known.into_iter().enumerate().map(of).collect()
}

impl fmt::Display for WorkerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { worker, share, hottest, hops, given_away } = self;
        let bar = "#".repeat((*share as usize).div_ceil(50));
        write!(f, "worker {worker}: {:>5.1} % of the heat {bar:<20} ", f64::from(*share) / 10.0)?;
        write!(f, "{hops} journeys from here")?;
        write!(f, ", {given_away} objects given away, hottest (%)")?;
        hottest.iter().take(8).try_for_each(|part| write!(f, " {:.1}", f64::from(*part) / 10.0))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.classes.iter().try_for_each(|class| writeln!(f, "{class}"))?;
        self.workers.iter().try_for_each(|worker| writeln!(f, "{worker}"))?;
        match &self.why_no_misses {
            None => f.write_str("evidence: operations per second, and cache misses\n"),
            Some(why) => writeln!(f, "evidence: operations per second alone; {why}"),
        }
    }
}
