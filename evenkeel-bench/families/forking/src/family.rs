//! The family of fork-join programs.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use evenkeel::metrics::Times;

use super::caches;
use super::cpp::{self, Built};
use super::figures::{QUANTITIES, doubts};
#[cfg(feature = "forte")]
use super::forker::Forte;
use super::forker::{ByArgument, Chili, Evenkeel, Forker, Name, Rayon, Serial, placed};
use super::found;
use super::metrics::with_metrics;
use super::program::{Program, Run};
use suite::affinity::{self, processor_counts};
use suite::asked::{Asked, Usage};
use suite::case::{Case, Fields};
use suite::description::Experiment;
use suite::effort::Effort;
use suite::family::{self, Family, Found, Has, Ran};
use suite::kit::fault::Fault;
use suite::kit::patience::{PATIENCE, patiently};
use suite::named::{NAMELESS, named_twice};
use suite::output::note;
use suite::rows::Row;
use suite::summary::Summary;

/// The family of the programs.
#[derive(Default)]
pub(crate) struct Forking {
    built: OnceLock<Vec<Built>>,
    /// The checksums of programs, by plain calls.
    right: Mutex<Vec<(Program, usize, u64)>>,
    /// The execution seconds of programs on one worker alone.
    alone: Mutex<Vec<(Name, Program, usize, f64)>>,
}

/// A program of one size.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(super) program: Program,
    pub(super) n: usize,
    pub(super) workers: usize,
    /// The longest time of one run in a process of its own.
    pub(super) patience: Duration,
    /// Runtimes that are measured only on request.
    pub(super) besides: Vec<Name>,
}

/// A runtime that has run the program once, to warm up.
pub(crate) struct Ready {
    /// Its program, if it does not run in this process.
    served: Option<cpp::Peer>,
    /// The checksum that every run must have.
    pub(super) right: u64,
    /// Execution seconds on one worker alone; `None` if the runtime does not report them, or if the
    /// row has only one worker.
    alone: Option<f64>,
    /// Whether a run has taken too long.
    is_slow: bool,
}

/// The options of the programs.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Fork-join programs: each program's own size of this name, or sizes that fill the last-level
    /// caches
    #[arg(long, conflicts_with = "n")]
    size: Option<Size>,
    /// Fork-join programs: also evenkeel with these localities, separated by commas, or with all of
    /// them; workers are not pinned
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(localities()))]
    locality: Vec<String>,
}

/// All localities at once.
const ALL: &str = "all";

/// The values of `--locality`: the names of the runtimes for a locality, without their common
/// prefix.
fn localities() -> Vec<&'static str> {
    let placed = Name::ALL.into_iter().filter(|name| name.locality().is_some());
    placed.map(locality).chain([ALL]).collect()
}

fn locality(name: Name) -> &'static str {
    name.name().trim_start_matches("evenkeel-")
}

/// The three sizes of each program, one of them or all, or sizes that fill the machine's caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Size {
    Small,
    Usual,
    Large,
    All,
    /// Half of one last-level cache, half of all, and four times all
    Caches,
}

impl Size {
    fn of(self, program: Program) -> Result<Vec<usize>, Usage> {
        let [small, usual, large] = program.sizes();
        Ok(match self {
            Size::Small => vec![small],
            Size::Usual => vec![usual],
            Size::Large => vec![large],
            Size::All => vec![small, usual, large],
            Size::Caches => {
                let why = |why| Usage(format!("--size caches: {why}; choose another size or --n"));
                caches::sizes(program).map_err(why)?
            }
        })
    }
}

/// The most rounds of a session: its largest sizes take seconds.
const MOST_ROUNDS: usize = 5;

impl Family for Forking {
    const NAME: &'static str = "fork-join";
    const TITLE: &'static str = "Fork-join";
    const ABOUT: &'static str = "\
        Milliseconds of the recursion, after one run to warm up, and the speed-up over plain calls \
        in the same language, those of the same row if it has any. Runtimes are compared by the \
        speed-up, because compilers differ in the leaves, and in plain calls, by more than \
        runtimes do around them. Both languages are compiled for all processors of this kind, Rust \
        unless RUSTFLAGS says more, and use instructions for SHA-1 where there are any. A \
        fork's nanoseconds are those on one worker beyond plain calls. Execution, inflation, \
        scheduling and idle time are sums over all workers, where a runtime reports them. \
        Inflation is execution beyond that of one worker. A result that differs from that of \
        plain calls is an error.";

    type Peer = Name;
    type Options = Options;
    type Spec = Spec;
    type Ready = Ready;

    fn new() -> Self {
        Self::default()
    }

    fn experiments() -> Vec<Experiment> {
        let experiment = |program: Program| Experiment {
            name: program.name(),
            what: program.describe(),
            variants: Vec::new(),
            settings: &["n"],
            options: &["procs", "n", "size", "locality"],
            quantities: &QUANTITIES,
            depends_on_distance: true,
        };
        Program::ALL.map(experiment).to_vec()
    }

    fn asked(asked: &Asked, options: &Options) -> anyhow::Result<Vec<Spec>> {
        let programs: Vec<Program> = asked.benches()?;
        let size = options.size.unwrap_or(Size::Usual);
        let sizes =
            |program| if asked.n.is_empty() { size.of(program) } else { Ok(asked.n.clone()) };
        for &program in &programs {
            if let Some(n) = sizes(program)?.iter().find(|n| !(1..=program.most()).contains(*n)) {
                let usual = program.sizes().map(|size| size.to_string()).join(", ");
                let most = program.most();
                let why = format!("{program} of size {n}: sizes are 1 to {most}, usually {usual}");
                bail!(Usage(why));
            }
        }
        if let Some(twice) = named_twice(&options.locality) {
            bail!(Usage(format!("`{twice}` is named twice by --locality")));
        }
        let mut besides = Self::besides(options);
        besides.extend(asked.named_peers::<Name>()?);
        let specs = specs(&programs, sizes, &asked.workers, PATIENCE)?;
        Ok(specs.into_iter().map(|spec| Spec { besides: besides.clone(), ..spec }).collect())
    }

    fn plan(effort: Effort, cores: usize) -> Vec<Spec> {
        let sizes = |program: Program| match effort {
            Effort::Quick => Size::Small.of(program),
            Effort::Usual => Ok(vec![program.brief()]),
            Effort::Full => Size::All.of(program),
        };
        let patience = Duration::from_secs(match effort {
            Effort::Quick => 2,
            Effort::Usual => 5,
            Effort::Full => 120,
        });
        specs(&Program::ALL, sizes, &processor_counts(cores), patience)
            .expect("each program has these sizes")
    }

    fn rounds(effort: Effort) -> usize {
        effort.repeats().min(MOST_ROUNDS)
    }

    fn found(&self) -> anyhow::Result<Found<Name>> {
        found::of(&Name::ALL)
    }

    fn found_of(&self, names: &[Name]) -> anyhow::Result<Found<Name>> {
        found::of(names)
    }

    fn besides(options: &Options) -> Vec<Name> {
        let is_asked = |name: &Name| {
            let mut asked = options.locality.iter();
            name.locality().is_some() && asked.any(|one| one == ALL || one == locality(*name))
        };
        Name::ALL.into_iter().filter(is_asked).collect()
    }

    fn has(peer: Name, spec: &Spec) -> Has {
        if peer.locality().is_some() && !spec.besides.contains(&peer) {
            return Has::No;
        }
        let Spec { program, n, workers, .. } = *spec;
        peer.refusal(program, n, workers).map_or(Has::Yes, Has::Refused)
    }

    fn build(&self, peers: &[Name]) -> anyhow::Result<()> {
        let cpp: Vec<Name> = peers.iter().copied().filter(|name| name.is_cpp()).collect();
        if !cpp.is_empty() {
            note!("building the C++ peers");
        }
        // The suite builds only once.
        _ = self.built.set(Built::all(&cpp)?);
        Ok(())
    }

    fn ready(&self, spec: &Spec, peer: Name) -> anyhow::Result<Ready> {
        let Spec { program, n, workers, .. } = *spec;
        let mut built = self.built.get().into_iter().flatten();
        let built = built.find(|built| built.name() == peer);
        let served = built.map(|built| built.start(program, n, workers)).transpose()?;
        let right = self.right(program, n)?;
        let mut ready = Ready { served, right, alone: None, is_slow: false };
        let run = turn(spec, peer, &mut ready)?;
        if run.is_some_and(|run| run.times.len() > 1) {
            ready.alone = Some(self.alone(spec, peer)?);
        }
        Ok(ready)
    }

    fn once(&self, spec: &Spec, peer: Name, ready: &mut Ready, _: u64) -> anyhow::Result<Ran> {
        let Some(Run { seconds, checksum, times }) = turn(spec, peer, ready)? else {
            let patience = spec.patience.as_secs_f64();
            return Ok(Ran::GaveUp(format!("a run took longer than {patience} s")));
        };
        let figures = Fields::new().with("seconds", seconds);
        let figures = figures.with("checksum", format!("{checksum:#018x}"));
        let alone = match times[..] {
            [] => return Ok(Ran::Done(figures)),
            [one] => Some(self.remember(spec, peer, &one)),
            _ => ready.alone,
        };
        let alone = alone.context("it was not measured on one worker")?;
        Ok(Ran::Done(with_metrics(figures, &times, alone)))
    }

    fn child(ready: &Ready) -> Option<u32> {
        ready.served.as_ref().map(cpp::Peer::id)
    }

    fn listed(bench: &str) -> Option<String> {
        let program: Program = bench.parse().ok()?;
        let sizes = program.sizes().map(|n| n.to_string()).join(", ");
        Some(format!("n is {sizes} (small, usual, large)"))
    }

    fn remarks(rows: &[Row<'_>]) -> Vec<String> {
        doubts(rows)
    }
}

impl family::Spec for Spec {
    fn case(&self) -> Case {
        Case::new(self.program.name(), NAMELESS, self.workers).with("n", self.n)
    }
}

/// Each program in its sizes, each size with all numbers of workers.
fn specs(
    programs: &[Program],
    sizes: impl Fn(Program) -> Result<Vec<usize>, Usage>,
    workers: &[usize],
    patience: Duration,
) -> Result<Vec<Spec>, Usage> {
    let mut specs = Vec::new();
    for &program in programs {
        for n in sizes(program)? {
            let spec = |&workers| Spec { program, n, workers, patience, besides: Vec::new() };
            specs.extend(workers.iter().map(spec));
        }
    }
    Ok(specs)
}

impl Forking {
    /// The checksum of a program.
    fn right(&self, program: Program, n: usize) -> anyhow::Result<u64> {
        let mut known = self.right.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., right)) = known.iter().find(|one| (one.0, one.1) == (program, n)) {
            return Ok(*right);
        }
        let right = program.run(n, &Serial).checksum;
        known.push((program, n, right));
        Ok(right)
    }

    /// Returns the execution seconds on one worker alone: the median of such runs, or else the
    /// result of a run for this purpose.
    fn alone(&self, spec: &Spec, peer: Name) -> anyhow::Result<f64> {
        let work = (peer, spec.program, spec.n);
        let known = {
            let all = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
            all.iter().filter(|one| (one.0, one.1, one.2) == work).map(|one| one.3).collect()
        };
        if let Some(known) = Summary::of(known) {
            return Ok(known.median);
        }
        let spec = Spec { workers: 1, ..spec.clone() };
        let run = affinity::confined(1, || here(peer, &spec))?;
        Ok(self.remember(&spec, peer, &run.times.into_iter().sum()))
    }

    fn remember(&self, spec: &Spec, peer: Name, times: &Times) -> f64 {
        let seconds = times.execution.total().as_secs_f64();
        let mut all = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((peer, spec.program, spec.n, seconds));
        seconds
    }
}

/// Runs once. Returns `None` if this run or an earlier one has taken too long.
fn turn(spec: &Spec, peer: Name, ready: &mut Ready) -> anyhow::Result<Option<Run>> {
    let run = match &mut ready.served {
        _ if ready.is_slow => None,
        None => Some(here(peer, spec)?),
        Some(served) => served.once(spec.patience)?.map(|(seconds, checksum)| Run {
            seconds,
            checksum,
            times: Vec::new(),
        }),
    };
    ready.is_slow = run.is_none();
    let (right, result) = (ready.right, run.as_ref().map(|run| run.checksum));
    if let Some(wrong) = result.filter(|&result| result != right) {
        bail!("a wrong result: checksum {wrong:#x} instead of {right:#x}");
    }
    Ok(run)
}

/// Runs the program once in this process. The time excludes the start and the end of the runtime.
fn here(name: Name, spec: &Spec) -> anyhow::Result<Run> {
    let spec = spec.clone();
    patiently(PATIENCE, move || run(name, &spec).map_err(Fault::Other))
}

fn run(name: Name, spec: &Spec) -> anyhow::Result<Run> {
    if let Some(locality) = name.locality() {
        return Ok(on(placed(spec.workers, locality)?, spec));
    }
    match name {
        Name::Serial => start::<Serial>(spec),
        Name::Evenkeel => start::<Evenkeel>(spec),
        Name::EvenkeelWorker => start::<ByArgument>(spec),
        Name::Rayon => start::<Rayon>(spec),
        Name::Chili => start::<Chili>(spec),
        #[cfg(feature = "forte")]
        Name::Forte => start::<Forte>(spec),
        #[cfg(not(feature = "forte"))]
        Name::Forte => bail!("forte is not part of this binary"),
        _ => bail!("its program is not built"),
    }
}

/// How long new threads have to begin and to find no work: the threads of peers with programs of
/// their own have done so, too.
const SETTLE: Duration = Duration::from_millis(2);

fn start<F: Forker>(spec: &Spec) -> anyhow::Result<Run> {
    Ok(on(F::start(spec.workers).context("it did not start")?, spec))
}

fn on<F: Forker>(forker: F, spec: &Spec) -> Run {
    thread::sleep(SETTLE);
    spec.program.run(spec.n, &forker)
}
