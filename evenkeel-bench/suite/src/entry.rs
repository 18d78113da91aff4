//! A family behind function pointers, so that a registry can hold all of them.

use clap::{Args, Command, FromArgMatches};

use super::asked::{Asked, Usage};
use super::case::Case;
use super::description::Description;
use super::enough::Bound;
use super::family::{Family, Found, Has, Ran, Spec, describe};
use super::peer::{Known, Peer, Role};
use super::record::Record;
use super::rows::Absent;
use super::runner::{self, Peers, Run, watched};
use crate::affinity;
use crate::disturbance::Past;
use crate::effort::Effort;
use crate::named::{Named, named_twice};
use crate::regime;
use crate::words;

/// One line of the registry.
pub struct Entry {
    /// The description of the family, which needs no measurement.
    pub describe: fn() -> Description,
    /// Adds its options to those of `run`.
    pub options: fn(Command) -> Command,
    /// Prepares what `run` asks for.
    pub asked: fn(&Asked) -> anyhow::Result<Box<dyn Part>>,
    /// Prepares what the main job measures on this number of cores.
    pub plan: fn(Effort, usize) -> anyhow::Result<Box<dyn Part>>,
    /// Returns the number of rounds in which the main job measures it; 0 if it does not.
    pub rounds: fn(Effort) -> usize,
    /// Finds the peers that are installed, and those that are missing.
    pub found: fn() -> anyhow::Result<Listed>,
}

/// The peers of a family by name: those found with their versions, the others with what installs
/// them.
pub struct Listed {
    /// The peers found.
    pub there: Vec<(Known, Option<String>)>,
    /// The peers not found.
    pub missing: Vec<(Known, String)>,
}

impl Entry {
    /// Creates the entry of a family.
    pub const fn of<F: Family>() -> Self {
        Self {
            describe: describe::<F>,
            options: <F::Options as Args>::augment_args,
            asked: asked::<F>,
            plan: plan::<F>,
            rounds: F::rounds,
            found: found::<F>,
        }
    }
}

/// An event of a measurement, in this order for each row.
pub enum Event {
    /// A row begins.
    Begins(Case),
    /// A run has ended.
    Ran(Box<Record>),
    /// A peer has no run of the row, or no further one.
    Absent(Absent),
}

/// A family with the rows it will measure.
pub trait Part: Send {
    /// Returns the cases it will measure, in order.
    fn cases(&self) -> Vec<Case>;

    /// Returns the peers that were not found, and what installs them.
    fn missing(&self) -> Vec<(&'static str, String)>;

    /// Builds what the peers need.
    fn build(&mut self) -> anyhow::Result<()>;

    /// Measures all rows. Calls `each` with each event as it happens.
    fn measure(
        &mut self,
        bound: &mut Bound,
        each: &mut dyn FnMut(Event) -> anyhow::Result<()>,
    ) -> anyhow::Result<()>;
}

/// The only implementation of `Part`.
struct Whole<F: Family> {
    family: F,
    specs: Vec<F::Spec>,
    peers: Vec<F::Peer>,
    missing: Vec<(&'static str, String)>,
    seed: u64,
    of: Description,
}

impl<F: Family> Whole<F> {
    fn new(family: F, found: Found<F::Peer>, specs: Vec<F::Spec>) -> Self {
        let peers = found.there.into_iter().map(|(peer, _)| peer).collect();
        let missing = found.missing.into_iter().map(|(peer, why)| (peer.name(), why)).collect();
        Self { family, specs, peers, missing, seed: 1, of: describe::<F>() }
    }
}

fn plan<F: Family>(effort: Effort, cores: usize) -> anyhow::Result<Box<dyn Part>> {
    let family = F::new();
    let found = family.found()?;
    Ok(Box::new(Whole::new(family, found, F::plan(effort, cores))))
}

fn asked<F: Family>(asked: &Asked) -> anyhow::Result<Box<dyn Part>> {
    asked.check(&describe::<F>())?;
    let options = <F::Options as FromArgMatches>::from_arg_matches(&asked.line)?;
    let family = F::new();
    let mut named: Vec<F::Peer> = asked.named_peers()?;
    if !named.is_empty() {
        let besides = F::besides(&options);
        named
            .extend(besides.into_iter().filter(|peer| !asked.runtimes.contains(&peer.to_string())));
    }
    let specs = F::asked(asked, &options)?;
    // Values written differently, such as 1 and 01, may ask for the same case.
    let cases: Vec<Case> = specs.iter().map(F::Spec::case).collect();
    if let Some(twice) = named_twice(&cases) {
        let why = format!("{twice} is asked for twice: leave out one of the values that mean it");
        return Err(Usage(why).into());
    }
    // The peers are looked for last: it takes longest.
    let found = if named.is_empty() { family.found() } else { family.found_of(&named) }?;
    let peers = Asked::peers(named, &found)?;
    let runs = |spec: &F::Spec| peers.iter().any(|&peer| F::has(peer, spec) != Has::No);
    if let Some(spec) = specs.iter().find(|spec| !runs(spec)) {
        let names: Vec<&str> = peers.iter().map(|peer| peer.name()).collect();
        let none = format!("{} cannot run {}", words::and(&names), spec.case());
        return Err(Usage(none).into());
    }
    Ok(Box::new(Whole { peers, seed: asked.seed, ..Whole::new(family, found, specs) }))
}

fn found<F: Family>() -> anyhow::Result<Listed> {
    let all = Known::all::<F::Peer>();
    let known = |peer: F::Peer| all.iter().copied().find(|known| known.name == peer.name());
    let Found { there, missing } = F::new().found()?;
    let there = there.into_iter().filter_map(|(peer, version)| Some((known(peer)?, version)));
    let missing = missing.into_iter().filter_map(|(peer, why)| Some((known(peer)?, why)));
    Ok(Listed { there: there.collect(), missing: missing.collect() })
}

impl<F: Family> Part for Whole<F> {
    fn cases(&self) -> Vec<Case> {
        self.specs.iter().map(F::Spec::case).collect()
    }

    fn missing(&self) -> Vec<(&'static str, String)> {
        self.missing.clone()
    }

    fn build(&mut self) -> anyhow::Result<()> {
        let runs = |peer: &F::Peer| self.specs.iter().any(|spec| F::has(*peer, spec) == Has::Yes);
        let peers: Vec<F::Peer> = self.peers.iter().copied().filter(runs).collect();
        self.family.build(&peers)
    }

    fn measure(
        &mut self,
        bound: &mut Bound,
        each: &mut dyn FnMut(Event) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.specs.iter().try_for_each(|spec| self.row(spec, bound, each))
    }
}

impl<F: Family> Whole<F> {
    fn row(
        &self,
        spec: &F::Spec,
        bound: &mut Bound,
        each: &mut dyn FnMut(Event) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let case = spec.case();
        each(Event::Begins(case.clone()))?;
        let absent = |peer: F::Peer, why, runs| {
            Event::Absent(Absent { case: case.clone(), runtime: peer.name(), why, runs })
        };
        let mut peers = Vec::new();
        for &peer in &self.peers {
            match F::has(peer, spec) {
                Has::Yes => peers.push(peer),
                Has::No => {}
                Has::Refused(why) => each(absent(peer, why, 0))?,
            }
        }
        let failed = |peer: F::Peer, seed| format!("{peer} failed {case}, seed {seed}");
        let ready = affinity::confined(case.workers, || {
            let ready = |&peer: &F::Peer| {
                self.family.ready(spec, peer).map_err(|why| why.context(failed(peer, self.seed)))
            };
            peers.iter().map(ready).collect::<anyhow::Result<Vec<F::Ready>>>()
        });
        let mut ready = ready?;
        let is_bound = self.of.experiment(&case.bench).is_some_and(|of| of.is_bound(&case));
        let read = (!is_bound).then(regime::bounce);
        let mut past = Past::default();
        let mut once = |place: usize, round: usize| {
            let (peer, seed) = (peers[place], self.seed + round as u64);
            let ready = &mut ready[place];
            let (ran, quiet) = watched(case.workers, read, F::child(ready), &mut past, || {
                self.family.once(spec, peer, ready, seed)
            });
            let (figures, dnc) = match ran.map_err(|why| why.context(failed(peer, seed)))? {
                Ran::Done(figures) => (figures, false),
                Ran::Unfinished(figures) => (figures, true),
                Ran::GaveUp(why) => return Ok(Run::GaveUp(why)),
            };
            let (runtime, case) = (peer.name().into(), case.clone());
            let record = Record { runtime, case, repeat: round, figures, dnc, quiet };
            Ok(Run::Kept(Box::new(record)))
        };
        let mut kept = vec![0; peers.len()];
        let mut give = |place: usize, run| match run {
            Run::Kept(record) => {
                kept[place] += 1;
                each(Event::Ran(record))
            }
            Run::GaveUp(why) => each(absent(peers[place], why, kept[place])),
        };
        let names: Vec<&'static str> = peers.iter().map(|peer| peer.name()).collect();
        let is_subject = |peer: &&F::Peer| peer.role() == Role::Subject;
        let subject = peers.iter().find(is_subject).map(|peer| peer.name());
        let of = Peers { names: &names, subject, is_bound };
        runner::row(&of, bound, &mut once, &mut give)
    }
}

/// The measurements of a family.
pub struct Measured {
    /// The family.
    pub of: Description,
    /// All its runs, in order.
    pub records: Vec<Record>,
    /// The peers without a run, or without further ones, and why.
    pub absent: Vec<Absent>,
}

impl Measured {
    /// Creates an empty measurement.
    pub fn nothing(entry: &Entry) -> Self {
        Self { of: (entry.describe)(), records: Vec::new(), absent: Vec::new() }
    }
}

#[cfg(test)]
mod tests;
