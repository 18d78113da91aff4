//! The family of experiments on actors.

use std::sync::{Arc, OnceLock};

use anyhow::Context;

use super::bench::Bench;
use super::counters;
use super::foreign::{self, Built};
use super::peer::Peer;
use super::run::{self, Ready};
use super::spec::{Outcome, Sizes, Spec};
use suite::affinity::processor_counts;
use suite::asked::Asked;
use suite::case::{Case, Fields};
use suite::description::{Alias, Experiment};
use suite::effort::Effort;
use suite::family::{self, Family, Found, Has, Ran};
use suite::named::NAMELESS;
use suite::output::note;
use suite::quantity::{Better, Drawn, Quantity};
use suite::rows::Row;
use suite::words;

/// The family, with its programs in other languages.
#[derive(Default)]
pub(crate) struct Actors(OnceLock<Vec<Arc<Built>>>);

const MESSAGE: Quantity = Quantity::shown("ns per message", "ns_per_message")
    .compared(Better::Less("faster", "slower"))
    .drawn(Drawn::Dots);

const LIFE: Quantity = Quantity { name: "ns per actor", ..MESSAGE };

const MESSAGES: [Quantity; 1] = [MESSAGE];

const LIVES: [Quantity; 1] = [LIFE];

/// Rows compare the rare round trips, and show the others.
const TRIPS: [Quantity; 4] = [
    MESSAGE,
    Quantity::share("round trip p50, µs", "trip_us_p50", 0.5),
    Quantity::share("round trip p99, µs", "trip_us_p99", 0.99)
        .compared(Better::Less("shorter", "longer")),
    Quantity::share("round trip p99.9, µs", "trip_us_p999", 0.999),
];

const BYTES: [Quantity; 3] = [
    Quantity::shown("bytes per actor", "bytes_per_actor")
        .compared(Better::Less("smaller", "larger"))
        .drawn(Drawn::Dots),
    Quantity::shown("bytes of its heap", "heap_bytes_per_actor"),
    Quantity::shown("actors", "actors"),
];

/// The fewest round trips of which 1 in 1,000 is a figure.
const ENOUGH: u64 = 1_000;

impl Family for Actors {
    const NAME: &'static str = "actors";
    const TITLE: &'static str = "Actors";
    const ABOUT: &'static str = "\
        In wall-clock time, for any number of workers. Messages include replies, and every run has \
        checked its own counts. latency_probe is Thorium's: a hundred actors for each worker, each \
        with one ping in flight to a random actor. Its round trips come from a run of their own, \
        in which one ping of 64 is timed. In pingpong a thousand pings of each pair are in flight. \
        In fanin mailboxes apply back-pressure, or senders wait for credit where mailboxes are \
        unbounded. In actor_spawn, alive has all actors before the first message, waves a thousand \
        at a time. In actor_memory idle actors have never received a message, and used ones have \
        handled one. The memory includes the reference to each actor, and heavy systems have fewer \
        actors. The programs of Savina follow the rules published by Imam and Sarkar (AGERE 2014), \
        and each checks its own result: counts, balances, items, meals. Their time is that of a \
        whole iteration, from the first spawn to the end of the last actor, divided by the number \
        of messages that the rules prescribe. Their peers are actix and channels of Tokio alone. \
        In savina_count the producer waits as in fanin, where the rules let a million messages \
        wait. Refused requests of philosophers do not count, and nearly all of the time of \
        bndbuffer is in making and consuming items. A quick session omits the systems of other \
        languages.";

    type Peer = Peer;
    type Options = Sizes;
    type Spec = Spec;
    type Ready = Ready;

    fn new() -> Self {
        Self::default()
    }

    fn experiments() -> Vec<Experiment> {
        let experiment = |bench: Bench| {
            let names = bench.variants().iter().map(|variant| variant.name());
            Experiment {
                name: bench.name(),
                what: bench.describe(),
                variants: names.filter(|name| *name != NAMELESS).collect(),
                settings: settings(bench),
                options: options(bench),
                quantities: quantities(bench),
                depends_on_distance: bench != Bench::Memory,
            }
        };
        Bench::ALL.map(experiment).to_vec()
    }

    fn aliases() -> Vec<Alias> {
        let programs = Bench::ALL.into_iter().filter(|bench| bench.program().is_some());
        vec![Alias {
            name: "savina",
            what: "the last eight, which are programs of the Savina suite",
            of: programs.map(Bench::name).collect(),
        }]
    }

    fn asked(asked: &Asked, sizes: &Sizes) -> anyhow::Result<Vec<Spec>> {
        let mut specs = Vec::new();
        for bench in asked.benches::<Bench>()? {
            for variant in asked.variants(bench.variants()) {
                let spec = |&workers: &usize| Spec::new(bench, variant, workers, sizes);
                specs.extend(asked.workers.iter().map(spec));
            }
        }
        Ok(specs)
    }

    /// All experiments, in the order of the tables. Memory does not depend on the workers.
    fn plan(effort: Effort, cores: usize) -> Vec<Spec> {
        let mut specs = Vec::new();
        for bench in Bench::ALL {
            for &variant in bench.variants() {
                let all = processor_counts(cores).into_iter();
                for workers in all.filter(|&workers| bench != Bench::Memory || workers == 1) {
                    let spec = Spec::new(bench, variant, workers, &sizes(effort, bench, workers));
                    // Building and warming the programs up takes longer than a quick session.
                    specs.push(Spec { everywhere: effort != Effort::Quick, ..spec });
                }
            }
        }
        specs
    }

    fn found(&self) -> anyhow::Result<Found<Peer>> {
        self.found_of(&Peer::ALL)
    }

    fn found_of(&self, peers: &[Peer]) -> anyhow::Result<Found<Peer>> {
        let names: Vec<_> = peers.iter().filter_map(|peer| peer.foreign()).collect();
        let mut looked = foreign::look(&names)?.into_iter();
        let look = |peer: Peer| peer.foreign().and_then(|_| looked.next()).unwrap_or(Ok(None));
        Ok(Found::by(peers, look))
    }

    fn has(peer: Peer, spec: &Spec) -> Has {
        let is_asked = spec.everywhere || peer.foreign().is_none();
        Has::when(is_asked && peer.has(spec.bench))
    }

    fn build(&self, peers: &[Peer]) -> anyhow::Result<()> {
        let names: Vec<_> = peers.iter().filter_map(|peer| peer.foreign()).collect();
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(|name| name.name()).collect();
            note!("building the peers on {}", words::and(&names));
        }
        let built = Built::all(&names)?;
        // The suite builds only once.
        _ = self.0.set(built.into_iter().map(Arc::new).collect());
        Ok(())
    }

    /// Makes a system ready. In this process that includes a warm-up run, if there is anything to
    /// warm up.
    fn ready(&self, spec: &Spec, peer: Peer) -> anyhow::Result<Ready> {
        let spec = spec.of(peer, spec.seed);
        let Some(name) = peer.foreign() else {
            if spec.bench != Bench::Memory {
                run::here(peer, &spec.warm_up(), false)?;
            }
            return Ok(Ready::Here);
        };
        let program = self.0.get().into_iter().flatten().find(|program| program.name() == name);
        let program = program.context("it is not built")?;
        Ok(match spec.bench {
            Bench::Memory => Ready::Afresh(program.clone()),
            _ => Ready::Serving(program.start(spec.workers)?),
        })
    }

    fn once(&self, spec: &Spec, peer: Peer, ready: &mut Ready, seed: u64) -> anyhow::Result<Ran> {
        let spec = spec.of(peer, seed);
        let Outcome { seconds, trips, bytes_per_actor, heap_bytes_per_actor } =
            run::once(peer, ready, &spec)?;
        let figures = Fields::new().with("seconds", seconds);
        if spec.bench == Bench::Memory {
            // The figure is per actor, so systems with different numbers of actors compare.
            let figures = figures
                .with("actors", spec.actors() as f64)
                .with("messages", spec.messages() as f64)
                .with_some("bytes_per_actor", bytes_per_actor)
                .with_some("heap_bytes_per_actor", heap_bytes_per_actor);
            return Ok(Ran::Done(figures));
        }
        let is_enough = trips.as_ref().is_some_and(|trips| trips.count() >= ENOUGH);
        let trips = trips.map(|trips| trips.quantiles());
        let figures = figures
            .with("ns_per_message", seconds * 1e9 / spec.messages() as f64)
            .with_some("trip_us_p50", trips.map(|trips| trips.p50))
            .with_some("trip_us_p99", trips.map(|trips| trips.p99))
            .with_some("trip_us_p999", trips.filter(|_| is_enough).map(|trips| trips.p999))
            .with_some("trip_us_max", trips.map(|trips| trips.max));
        Ok(Ran::Done(figures))
    }

    fn child(ready: &Ready) -> Option<u32> {
        match ready {
            Ready::Serving(program) => Some(program.id()),
            Ready::Here | Ready::Afresh(_) => None,
        }
    }

    fn appendix(rows: &[Row<'_>]) -> String {
        counters::render(rows)
    }
}

impl family::Spec for Spec {
    fn case(&self) -> Case {
        let case = Case::new(self.bench.name(), self.variant.name(), self.workers);
        if self.bench == Bench::Memory {
            return case;
        }
        let case = case.with("actors", self.actors()).with("messages", self.messages());
        if self.bench == Bench::Pingpong { case.with("in_flight", self.in_flight) } else { case }
    }
}

fn settings(bench: Bench) -> &'static [&'static str] {
    match bench {
        Bench::Memory => &[],
        Bench::Pingpong => &["actors", "messages", "in_flight"],
        _ => &["actors", "messages"],
    }
}

/// The options of an experiment.
fn options(bench: Bench) -> &'static [&'static str] {
    match bench {
        Bench::LatencyProbe => &["procs", "actors_per_worker", "pings"],
        Bench::Pingpong => &["procs", "pings", "pairs", "in_flight"],
        Bench::Fanin => &["procs", "producers", "messages"],
        Bench::Spawn | Bench::Memory => &["procs", "actors"],
        _ => &["procs", "rounds"],
    }
}

fn quantities(bench: Bench) -> &'static [Quantity] {
    match bench {
        Bench::LatencyProbe => &TRIPS,
        Bench::Spawn | Bench::Fjcreate => &LIVES,
        Bench::Memory => &BYTES,
        _ => &MESSAGES,
    }
}

/// The sizes of a session's experiments: there are many, each of some hundredths of a second.
fn sizes(effort: Effort, bench: Bench, workers: usize) -> Sizes {
    let (pings, messages, actors) = match effort {
        Effort::Quick => (100, 20_000, 2_000),
        Effort::Usual => (2_000, 200_000, 20_000),
        Effort::Full => (40_000, 2_000_000, 200_000),
    };
    let rounds = bench.program().map(|program| match effort {
        Effort::Quick => (program.brief() / 10).max(1),
        Effort::Usual => program.brief(),
        Effort::Full => program.rounds(),
    });
    Sizes {
        // A pair sends as many messages as the hundred actors of a worker of latency_probe.
        pings: Some(if bench == Bench::Pingpong { pings * 100 } else { pings }),
        messages: Some(messages / (8 * workers as u32)),
        actors: Some(actors),
        rounds,
        ..Sizes::default()
    }
}
