//! The family of the thesis's tables.

use std::time::Duration;

use super::bench::{Bench, Variant};
use super::cells;
use super::peer::Peer;
use super::program::Language;
use super::published::{self, System};
use super::spec::{Measured, Programs, Spec, specs};
use suite::asked::{Asked, Usage};
use suite::case::{Case, Fields};
use suite::description::Experiment;
use suite::effort::Effort;
use suite::family::{Family, Found, Has, Ran};
use suite::named::NAMELESS;
use suite::output::note;
use suite::published::Published;
use suite::quantity::{Better, Quantity};
use suite::rows::Row;

/// The family, with its programs in other languages.
pub(crate) struct Concurrency(pub(super) Programs);

/// The options that only these experiments have.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Mutex, schedint, schedext: monitors that a party enters together, separated by commas
    /// [default: 1,2,4]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    monitors: Vec<usize>,
}

const ROUNDS: [Quantity; 1] =
    [Quantity::shown("ns", "ns_per_op_per_proc").compared(Better::Less("faster", "slower"))];

/// A monitor that lets callers barge in has more entries, and longer waits.
pub(super) const CONTENDED: [Quantity; 2] = [
    Quantity::derived("entries, million/s", |record, _| {
        Some(record.figures.number("ops")? / record.figures.number("seconds")? / 1e6)
    })
    .compared(Better::More("better", "worse")),
    Quantity::shown("longest wait, µs", "longest_wait_us")
        .compared(Better::Less("shorter", "longer")),
];

impl Family for Concurrency {
    const NAME: &'static str = "concurrency";
    const TITLE: &'static str = "Concurrency in C∀";
    const ABOUT: &'static str = "\
        The experiments of the thesis: an operation repeated on one worker, in wall-clock ns. In \
        ctxswitch, coroutine is beside its loop, where the compiler removes it; coroutine-kept \
        is in memory, behind a call, as if a function had returned it. task is a single task, \
        and two-tasks are two in turns. In schedint and schedext the variant names the timed \
        party. In creation a lazy coroutine never runs, and an eager one runs once; boxed: with \
        its type erased. In contended, tight parties enter again at once, and yielding ones \
        yield before. Its longest wait is that of any party until it is inside. call, a plain \
        call, guards nothing and is not compared. tokio-notify is two Notify in turns, without a \
        monitor. async-lock and flume are measured in evenkeel's tasks; those of Tokio yield by \
        hand.";

    type Peer = Peer;
    type Options = Options;
    type Spec = Spec;
    /// The number of rounds.
    type Ready = u64;

    fn new() -> Self {
        Concurrency(Programs::default())
    }

    fn experiments() -> Vec<Experiment> {
        let experiment = |bench: Bench| Experiment {
            name: bench.name(),
            what: bench.describe(),
            variants: names(bench),
            settings: &["monitors", "tasks"],
            options: options(bench),
            quantities: if bench == Bench::Contended { &CONTENDED } else { &ROUNDS },
            depends_on_distance: true,
        };
        Bench::ALL.map(experiment).to_vec()
    }

    fn asked(asked: &Asked, options: &Options) -> anyhow::Result<Vec<Spec>> {
        let monitors = &options.monitors;
        let n = rounds(asked)?;
        // Peers that are missing here have been refused before.
        let peers = Asked::peers(asked.named_peers()?, &Found::all())?;
        let mut all = Vec::new();
        for bench in asked.benches::<Bench>()? {
            known(bench, monitors)?;
            let variants = asked.variants(bench.variants());
            let is_asked = |spec: &Spec| {
                let entered = monitors.is_empty() || monitors.contains(&spec.monitors);
                entered && variants.contains(&spec.variant)
            };
            let runs = |peer, spec: &Spec| Concurrency::has(peer, spec) == Has::Yes;
            let mut specs: Vec<Spec> = specs(bench, asked.time).filter(is_asked).collect();
            let is_idle = |peer: &&Peer| !specs.iter().any(|spec| runs(**peer, spec));
            if let (Some(idle), false) = (peers.iter().find(is_idle), asked.runtimes.is_empty()) {
                let why = format!("{idle} has no experiment `{bench}`, or not in this variant");
                return Err(Usage(why).into());
            }
            specs.retain(|spec| peers.iter().any(|&peer| runs(peer, spec)));
            for spec in &mut specs {
                spec.n = n;
                spec.tasks = asked.tasks.map_or(spec.tasks, |tasks| tasks as usize);
            }
            if !asked.is_given("procs") {
                all.extend(specs);
                continue;
            }
            for &workers in &asked.workers {
                all.extend(specs.iter().map(|spec| Spec { workers, ..spec.clone() }));
            }
        }
        Ok(all)
    }

    /// All rows that `cores` cores allow: there are many, each on its own.
    fn plan(effort: Effort, cores: usize) -> Vec<Spec> {
        let millis = match effort {
            Effort::Quick => 5,
            Effort::Usual => 40,
            Effort::Full => 200,
        };
        // Pauses of the machine cause the longest of some thousands of waits: only a longer time
        // shows the monitor's own.
        let time = |bench| match (bench, effort) {
            (Bench::Contended, Effort::Usual | Effort::Full) => Duration::from_millis(300),
            _ => Duration::from_millis(millis),
        };
        let all = Bench::ALL.into_iter().flat_map(|bench| specs(bench, time(bench)));
        all.filter(|spec| spec.workers <= cores).collect()
    }

    fn found(&self) -> anyhow::Result<Found<Peer>> {
        let look = |peer: Peer| peer.language().map(Language::look).transpose();
        Ok(Found::by(&Peer::ALL, look))
    }

    fn has(peer: Peer, spec: &Spec) -> Has {
        Has::when(cells::find(peer, spec.bench, spec.variant, spec.monitors).is_some())
    }

    fn build(&self, peers: &[Peer]) -> anyhow::Result<()> {
        for language in peers.iter().filter_map(|peer| peer.language()) {
            note!("building the peer in {language:?}");
            self.0.get(language)?;
        }
        Ok(())
    }

    fn ready(&self, spec: &Spec, peer: Peer) -> anyhow::Result<u64> {
        self.0.rounds(spec, peer)
    }

    fn once(&self, spec: &Spec, peer: Peer, n: &mut u64, _: u64) -> anyhow::Result<Ran> {
        let Measured { ops, seconds, longest } = self.0.measure(spec, peer, *n, spec.time)?;
        let figures = Fields::new()
            .with("ops", ops)
            .with("seconds", seconds)
            .with("ns_per_op_per_proc", seconds * 1e9 * spec.workers as f64 / ops as f64)
            .with_some("longest_wait_us", longest.map(|longest| longest.as_secs_f64() * 1e6));
        Ok(Ran::Done(figures))
    }

    fn remarks(rows: &[Row<'_>]) -> Vec<String> {
        let is_published = rows.iter().any(|row| !Self::published(row.case).is_empty());
        is_published.then(|| published::SOURCE.to_owned()).into_iter().collect()
    }

    fn published(case: &Case) -> Vec<Published> {
        let (Ok(bench), Ok(variant)) = (case.bench.parse(), case.variant.parse()) else {
            return Vec::new();
        };
        let monitors = case.settings.number("monitors").unwrap_or_default() as usize;
        let published = |system: System| {
            let figure = published::figure(bench, variant, monitors, system)?;
            let (system, median) = (system.name(), figure.median);
            Some(Published { system, median, figure: figure.to_string() })
        };
        System::ALL.into_iter().filter_map(published).collect()
    }

    fn removed(case: &Case) -> Option<&'static str> {
        let variant = case.variant.parse::<Variant>();
        variant.is_ok_and(Variant::is_removed).then_some("the compiler removes it")
    }
}

/// The names of an experiment's variants, if any.
fn names(bench: Bench) -> Vec<&'static str> {
    let names = bench.variants().iter().map(|variant| variant.name());
    names.filter(|name| *name != NAMELESS).collect()
}

/// The options of an experiment.
fn options(bench: Bench) -> &'static [&'static str] {
    match bench {
        Bench::Contended => &["procs", "tasks", "seconds"],
        Bench::Ctxswitch | Bench::Creation => &["n", "seconds"],
        Bench::Mutex | Bench::Schedint | Bench::Schedext => &["n", "seconds", "monitors"],
    }
}

/// The requested number of rounds, if any.
fn rounds(asked: &Asked) -> Result<Option<u64>, Usage> {
    match asked.n[..] {
        [] => Ok(None),
        [0] => Err(Usage("0 rounds have no time".to_owned())),
        [n] => Ok(Some(n as u64)),
        _ => Err(Usage("these experiments take one number of rounds".to_owned())),
    }
}

/// Returns an error if the experiment has no case with one of these numbers of monitors.
fn known(bench: Bench, monitors: &[usize]) -> Result<(), Usage> {
    let Some(odd) = monitors.iter().find(|number| !bench.monitors().contains(number)) else {
        return Ok(());
    };
    let known: Vec<String> = bench.monitors().iter().map(usize::to_string).collect();
    let known = known.join(", ");
    Err(Usage(format!("{bench} does not enter {odd} monitors: known are {known}")))
}
