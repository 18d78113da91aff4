//! Every experiment on every system as it is run, checks that can fail, and a made-up session.

use super::bench::{Bench, Variant};
use super::family::Actors;
use super::peer::Peer;
use super::spec::{Sizes, Spec};
use super::system::{Actor, System};
use super::*;
use crate::peer::tokio::Tokio;
use suite::case::{Case, Fields};
use suite::effort::Effort;
use suite::entry::Measured;
use suite::family::{Family, Has, Ran, Spec as _};
use suite::kit::fake::quiet;
use suite::record::Record;

const SMALL: Sizes = Sizes {
    actors_per_worker: Some(7),
    pings: Some(130),
    pairs: Some(3),
    in_flight: Some(10),
    producers: Some(3),
    messages: Some(700),
    actors: Some(1_100),
    rounds: None,
};

/// The figures of a run, after the one that warms up.
pub(super) fn run(spec: &Spec, peer: Peer) -> Fields {
    let family = Actors::new();
    let ran = family.ready(spec, peer).and_then(|mut ready| family.once(spec, peer, &mut ready, 1));
    match ran.unwrap_or_else(|why| panic!("{peer} failed {}: {why:#}", spec.case())) {
        Ran::Done(figures) => figures,
        other => panic!("{other:?}"),
    }
}

/// Each run checks itself; this checks its record.
#[test]
fn every_experiment_runs_on_every_system_with_one_and_two_workers() {
    for bench in [Bench::LatencyProbe, Bench::Pingpong, Bench::Fanin, Bench::Spawn] {
        for &variant in bench.variants() {
            for workers in [1, 2] {
                let spec = Spec::new(bench, variant, workers, &SMALL);
                let due = match bench {
                    Bench::LatencyProbe => (7 * workers, 2 * 7 * workers as u64 * 130),
                    Bench::Pingpong => (6, 2 * 3 * 130),
                    Bench::Fanin => (4, 3 * 700),
                    _ => (1_100, 1_100),
                };
                assert_eq!((spec.actors(), spec.messages()), due, "{spec:?}");
                for peer in Peer::ALL.into_iter().filter(|peer| peer.foreign().is_none()) {
                    let figures = run(&spec, peer);
                    let figure = |name: &str| figures.number(name);
                    let ns = figure("seconds").unwrap() * 1e9 / due.1 as f64;
                    assert!(ns > 0.0 && figure("ns_per_message") == Some(ns), "{figures:?}");
                    let is_probe = bench == Bench::LatencyProbe;
                    assert_eq!(figure("trip_us_p50").is_some(), is_probe, "{figures:?}");
                    assert!(figure("trip_us_p50") <= figure("trip_us_max"), "{figures:?}");
                }
            }
        }
    }
}

#[test]
fn actors_are_measured_at_one_and_all_cores_on_every_system() {
    let specs = Actors::plan(Effort::Usual, 4);
    let is_there = |bench, workers| {
        specs.iter().filter(|spec| (spec.bench, spec.workers) == (bench, workers)).count()
    };
    for bench in Bench::ALL {
        assert_eq!(is_there(bench, 1), bench.variants().len(), "{bench}");
        assert_eq!(is_there(bench, 4) > 0, bench != Bench::Memory, "{bench}");
    }
    let full = Actors::plan(Effort::Full, 1);
    assert_eq!(full[0].pings, 40_000, "the published number");
}

#[test]
fn a_quick_session_leaves_out_the_systems_of_other_languages() {
    let takes = |effort| Actors::has(Peer::Erlang, &Actors::plan(effort, 1)[0]);
    assert_eq!((takes(Effort::Quick), takes(Effort::Usual)), (Has::No, Has::Yes));
}

/// Tokio, but on a mailbox with back-pressure each message is overtaken by the next.
struct Swapped(Tokio<false>);

impl System for Swapped {
    const CREDIT: Option<u32> = None;

    type Spawner = ();
    type Ref<A: Actor> = <Tokio<false> as System>::Ref<A>;

    fn start(workers: usize) -> anyhow::Result<Self> {
        Tokio::start(workers).map(Self)
    }

    fn run<T, F>(&self, work: impl FnOnce(()) -> F) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        self.0.run(work)
    }

    async fn spawn<A: Actor>(spawner: &(), place: usize, actor: A) -> Self::Ref<A> {
        Tokio::<false>::spawn(spawner, place, actor).await
    }

    async fn spawn_bounded<A: Actor>(_: &(), _: usize, mut actor: A) -> Self::Ref<A> {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        drop(tokio::spawn(async move {
            while let Some(first) = receiver.recv().await {
                if let Some(second) = receiver.recv().await {
                    actor.handle(second).await;
                }
                actor.handle(first).await;
            }
        }));
        sender
    }

    fn post<A: Actor>(to: &Self::Ref<A>, message: A::Message) {
        Tokio::<false>::post::<A>(to, message);
    }
}

#[test]
fn messages_that_overtake_each_other_are_a_fault() {
    let sizes = Sizes { producers: Some(2), messages: Some(50), ..SMALL };
    let spec = Spec::new(Bench::Fanin, Variant::Only, 1, &sizes);
    let fault = workload::run::<Swapped>(&spec, false).unwrap_err().to_string();
    assert_eq!(fault, "message 1 of producer 0 came for 0");
}

#[test]
fn heavy_systems_have_fewer_idle_actors_unless_it_is_said() {
    let of = |spec: &Spec, peer| {
        let spec = spec.of(peer, 1);
        (spec.actors(), spec.messages())
    };
    let idle = Spec::new(Bench::Memory, Variant::Idle, 1, &Sizes::default());
    assert_eq!(of(&idle, Peer::Tokio), (1_000_000, 0));
    assert_eq!(of(&idle, Peer::Ractor), (200_000, 0));
    let used = Spec::new(Bench::Memory, Variant::Used, 1, &SMALL);
    assert_eq!(of(&used, Peer::Ractor), (1_100, 1_100));
    // So their number does not distinguish rows.
    assert_eq!(idle.case().settings, Fields::new());
}

#[test]
fn the_usual_sizes_are_the_published_ones() {
    let of = |bench| Spec::new(bench, Variant::Only, 2, &Sizes::default());
    let probe = of(Bench::LatencyProbe);
    assert_eq!((probe.actors(), probe.messages()), (200, 2 * 200 * 40_000));
    let pairs = of(Bench::Pingpong);
    assert_eq!((pairs.actors(), pairs.in_flight), (4, 1_000));
    assert_eq!(of(Bench::Fanin).actors(), 17);
    assert_eq!(probe.warm_up().pings, 4_000);
    let tiny = Sizes { pings: Some(1), ..Sizes::default() };
    assert_eq!(Spec::new(Bench::Pingpong, Variant::Only, 1, &tiny).warm_up().pings, 1);
}

/// A made-up session.
pub(crate) fn example() -> Measured {
    type Row = (&'static str, &'static str, usize, u32, &'static str, &'static str, f64);
    const ROWS: [Row; 12] = [
        ("latency_probe", "-", 1, 100, "near", "actix", 91.0),
        ("latency_probe", "-", 1, 100, "near", "tokio", 73.0),
        ("pingpong", "-", 2, 4, "near", "actix", 37.5),
        ("pingpong", "-", 2, 4, "far", "tokio", 63.8),
        ("fanin", "-", 1, 9, "near", "ractor", 134.0),
        ("actor_spawn", "alive", 1, 200_000, "near", "tokio", 444.0),
        ("actor_spawn", "waves", 1, 200_000, "near", "tokio", 336.0),
        ("savina_fjcreate", "-", 1, 40_000, "near", "tokio", 350.0),
        ("savina_fjcreate", "-", 1, 40_000, "near", "actix", 171.0),
        ("actor_memory", "idle", 1, 1_000_000, "near", "actix", 903.0),
        ("actor_memory", "idle", 1, 200_000, "near", "ractor", 7_500.0),
        ("actor_memory", "idle", 1, 200_000, "near", "pekko", 3_827.0),
    ];
    const MESSAGES: u64 = 8_000_000;
    let mut records = Vec::new();
    for (bench, variant, workers, actors, regime, runtime, figure) in ROWS {
        for (repeat, by) in [1.0, 0.98, 1.05].into_iter().enumerate() {
            let figures = Fields::new().with("seconds", figure * by * MESSAGES as f64 / 1e9);
            let mut case = Case::new(bench, variant, workers);
            if bench != "actor_memory" {
                case = case.with("actors", actors).with("messages", MESSAGES);
            }
            let figures = match bench {
                "actor_memory" => figures
                    .with("actors", f64::from(actors))
                    .with("bytes_per_actor", figure)
                    .with_some("heap_bytes_per_actor", (runtime == "pekko").then_some(812.0)),
                "latency_probe" => figures
                    .with("ns_per_message", figure * by)
                    .with("trip_us_p50", figure / 10.0)
                    // The slower one has the shorter tail.
                    .with("trip_us_p99", figure / if runtime == "actix" { 5.0 } else { 2.5 })
                    .with("trip_us_p999", figure / 2.0)
                    .with("trip_us_max", figure * 0.9),
                _ => figures.with("ns_per_message", figure * by),
            };
            if bench == "pingpong" {
                case = case.with("in_flight", 1_000);
            }
            let quiet = quiet(regime);
            let runtime = runtime.into();
            records.push(Record { runtime, case, repeat, figures, dnc: false, quiet });
        }
    }
    let entry = &crate::ENTRY;
    Measured { records, ..Measured::nothing(entry) }
}
