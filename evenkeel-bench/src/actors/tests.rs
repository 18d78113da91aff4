//! Every experiment on every system as it is run, checks that can fail, and a made-up session for the tables.

use super::figures::{Quantity, lines};
use super::peer::Peer;
use super::record::Record;
use super::runner::{Cell, Runner};
use super::spec::{Sizes, Spec};
use super::system::{Actor, System};
use super::*;
use crate::actors::peer::tokio::Tokio;

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

fn run(runner: &Runner, cell: &Cell, repeats: usize) -> Vec<Record> {
    let mut records = Vec::new();
    let keep = |record, _| {
        records.push(record);
        Ok(())
    };
    runner.run(cell, repeats, keep).unwrap();
    records
}

/// Each run checks itself; here it is checked what it says.
#[test]
fn every_experiment_runs_on_every_system_with_one_and_two_workers() {
    let runner = Runner::new(0);
    let here: [Peer; 6] = Peer::ALL[..6].try_into().unwrap();
    assert!(here.iter().all(|peer| peer.foreign().is_none()));
    for bench in [Bench::LatencyProbe, Bench::Pingpong, Bench::Fanin, Bench::Spawn] {
        for &variant in bench.variants() {
            for workers in [1, 2] {
                let cell = Cell::new(bench, variant, workers, SMALL, &here);
                let records = run(&runner, &cell, 1);
                let names: Vec<&str> = records.iter().map(|r| r.runtime.as_str()).collect();
                assert_eq!(names, here.map(Peer::name), "{bench} {variant}");
                for record in records {
                    let (actors, messages) = match bench {
                        Bench::LatencyProbe => (7 * workers, 2 * 7 * workers as u64 * 130),
                        Bench::Pingpong => (6, 2 * 3 * 130),
                        Bench::Fanin => (4, 3 * 700),
                        Bench::Spawn | Bench::Memory => (1_100, 1_100),
                        Bench::Savina(program) => {
                            unreachable!("{program:?} is tested beside its rules")
                        }
                    };
                    assert_eq!((record.actors, record.messages), (actors, messages), "{record:?}");
                    let ns = record.seconds * 1e9 / messages as f64;
                    assert!(ns > 0.0 && record.ns_per_message == Some(ns), "{record:?}");
                    let is_probe = bench == Bench::LatencyProbe;
                    assert_eq!(record.trip_us_p50.is_some(), is_probe, "{record:?}");
                    assert!(record.trip_us_p50 <= record.trip_us_max, "{record:?}");
                    assert_eq!(record.in_flight.is_some(), bench == Bench::Pingpong);
                }
            }
        }
    }
}

#[test]
fn systems_alternate_within_each_repeat() {
    let peers = [Peer::Tokio, Peer::Actix];
    let cell = Cell::new(Bench::Fanin, Variant::Only, 1, SMALL, &peers);
    let records = run(&Runner::new(0), &cell, 2);
    let seen: Vec<_> = records.iter().map(|r| (r.runtime.as_str(), r.repeat)).collect();
    assert_eq!(seen, [("tokio", 0), ("actix", 0), ("tokio", 1), ("actix", 1)]);
}

/// Tokio, but where senders are to be held back each message is overtaken by the next.
struct Swapped(Tokio<false>);

impl System for Swapped {
    const CREDIT: Option<u32> = None;

    type Spawner = ();
    type Ref<A: Actor> = <Tokio<false> as System>::Ref<A>;
    type Bounded<A: Actor> = <Tokio<false> as System>::Bounded<A>;

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

    async fn spawn_bounded<A: Actor>(_: &(), _: usize, mut actor: A) -> Self::Bounded<A> {
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

    async fn send<A: Actor>(to: &Self::Bounded<A>, message: A::Message) {
        Tokio::<false>::send::<A>(to, message).await;
    }
}

#[test]
fn messages_that_overtake_each_other_are_a_fault() {
    let sizes = Sizes { producers: Some(2), messages: Some(50), ..SMALL };
    let spec = Spec::new(Bench::Fanin, Variant::Only, 1, sizes);
    let fault = workload::run::<Swapped>(&spec, false).unwrap_err().to_string();
    assert_eq!(fault, "message 1 of producer 0 came for 0");
}

#[test]
fn heavy_systems_have_fewer_idle_actors_unless_it_is_said() {
    let spec = Spec::new(Bench::Memory, Variant::Idle, 1, Sizes::default());
    assert_eq!((spec.actors(), spec.messages()), (1_000_000, 0));
    assert!(Peer::Ractor.idle_actors() < Peer::Tokio.idle_actors());
    let used = Spec::new(Bench::Memory, Variant::Used, 1, SMALL);
    assert_eq!((used.actors(), used.messages()), (1_100, 1_100));
}

#[test]
fn the_usual_sizes_are_the_published_ones() {
    let of = |bench| Spec::new(bench, Variant::Only, 2, Sizes::default());
    let probe = of(Bench::LatencyProbe);
    assert_eq!((probe.actors(), probe.messages()), (200, 2 * 200 * 40_000));
    let pairs = of(Bench::Pingpong);
    assert_eq!((pairs.actors(), pairs.in_flight), (4, 1_000));
    assert_eq!(of(Bench::Fanin).actors(), 17);
    assert_eq!(probe.warm_up().pings, 4_000);
    let tiny = Sizes { pings: Some(1), ..Sizes::default() };
    assert_eq!(Spec::new(Bench::Pingpong, Variant::Only, 1, tiny).warm_up().pings, 1);
}

#[test]
fn names_are_read_back() {
    for peer in Peer::ALL {
        assert_eq!(peer.name().parse::<Peer>().unwrap(), peer);
    }
    for bench in Bench::ALL {
        assert_eq!(bench.name().parse::<Bench>().unwrap(), bench);
        for &variant in bench.variants() {
            assert_eq!(variant.name().parse::<Variant>().unwrap(), variant);
        }
    }
    let error = "all".parse::<Variant>().unwrap_err().to_string();
    assert_eq!(error, "unknown variant `all`: known are alive, waves, idle, used");
}

#[test]
fn lines_have_one_quantity_each_and_the_smallest_is_best() {
    let lines = lines(&example());
    let of = |quantity| lines.iter().find(|line| line.quantity == quantity).unwrap();
    assert_eq!(of(Quantity::Message).best(), Some(Peer::Tokio));
    assert_eq!(of(Quantity::Tail).best(), Some(Peer::Actix));
    let bytes = of(Quantity::Bytes);
    assert_eq!((bytes.best(), bytes.actors), (Some(Peer::Actix), 1_000_000));
    assert_eq!(bytes.cells.len(), 3, "fewer actors are no line of their own");
    let cores: Vec<_> = lines.iter().filter(|line| line.bench == Bench::Pingpong).collect();
    assert_eq!(cores.len(), 2, "near and far are not compared");
    assert_eq!(cores[0].regime.as_deref(), Some("far"));
}

#[test]
fn the_table_names_units_and_extremes() {
    let text = table::render(&example());
    for words in [
        "latency_probe: ns per message",
        "91.0 [89.2-95.5]",
        "latency_probe: round trip p99, µs",
        "actor_spawn waves: ns per actor",
        "actor_memory idle: bytes per actor",
        "1,000,000",
        "7,500",
        "actor_memory idle: bytes of its heap",
        "812",
    ] {
        assert!(text.contains(words), "{words} is missing in {text}");
    }
}

#[test]
fn one_run_and_cores_that_moved_make_no_verdict_and_nobody_alone_is_best() {
    let run = |runtime: &str, regime: &str, ns: f64| Record {
        runtime: runtime.to_owned(),
        regime: regime.to_owned(),
        workers: 2,
        ns_per_message: Some(ns),
        ..example().remove(0)
    };
    let verdict = |records: &[Record]| {
        let line = lines(records).into_iter().find(|line| line.quantity == Quantity::Message);
        let line = line.unwrap();
        (line.verdict().words, line.verdict().peer, line.best())
    };
    let (own, peer) = (|| run("evenkeel", "near", 50.0), || run("actix", "near", 100.0));
    let (won, best) = (Some("actix".to_owned()), Some(Peer::Evenkeel));
    let twice = [own(), own(), peer(), peer()];
    assert_eq!(verdict(&twice), ("2.0 x faster".to_owned(), won, best));
    assert_eq!(verdict(&twice[1..]), ("not compared: one run".to_owned(), None, best));
    assert!(table::render(&twice[1..]).contains("50.0 n=1"));
    assert_eq!(verdict(&twice[2..]).2, None);
    let far =
        [run("evenkeel", "far", 40.0), run("evenkeel", "far", 41.0), run("kameo", "far", 90.0)];
    let of_both: Vec<Record> = twice.iter().chain(&far).chain(&far[2..]).cloned().collect();
    assert_eq!(verdict(&of_both), ("not compared: cores far".to_owned(), None, best));
    let near = |line: &figures::Line| line.regime.as_deref() == Some("near");
    let near = lines(&of_both).into_iter().find(near).unwrap();
    assert_eq!(near.verdict().words, "2.0 x faster");
    let moved = twice.map(|record| Record { regime: "mixed".to_owned(), ..record });
    assert_eq!(verdict(&moved), ("not compared: cores mixed".to_owned(), None, None));
    assert!(table::render(&moved).contains("cores: siblings are two threads of one core"));
}

/// A made-up session.
pub(crate) fn example() -> Vec<Record> {
    type Row = (&'static str, &'static str, usize, usize, &'static str, &'static str, f64);
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
    let mut records = Vec::new();
    for (bench, variant, workers, actors, regime, runtime, figure) in ROWS {
        for (repeat, by) in [1.0, 0.98, 1.05].into_iter().enumerate() {
            let messages = 8_000_000_u64;
            let is = |name: &str| bench == name;
            let trip = |us: f64| is("latency_probe").then_some(us * figure / 10.0);
            records.push(Record {
                runtime: runtime.to_owned(),
                bench: bench.to_owned(),
                variant: variant.to_owned(),
                workers,
                actors,
                in_flight: is("pingpong").then_some(1_000),
                repeat,
                messages,
                seconds: figure * by * messages as f64 / 1e9,
                ns_per_message: (!is("actor_memory")).then_some(figure * by),
                bytes_per_actor: is("actor_memory").then_some(figure),
                heap_bytes_per_actor: (runtime == "pekko").then_some(812.0),
                trip_us_p50: trip(1.0),
                // The slower one has the shorter tail.
                trip_us_p99: trip(2.0).map(|us| us * if runtime == "actix" { 1.0 } else { 2.0 }),
                trip_us_p999: trip(5.0),
                trip_us_max: trip(9.0),
                line_ns_before: 40.0,
                line_ns_after: 40.0,
                regime: regime.to_owned(),
                cpu_share: 1.0,
            });
        }
    }
    records
}
