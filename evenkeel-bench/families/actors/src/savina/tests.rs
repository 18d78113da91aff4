//! Every program on every system, and checks that can fail.
//!
//! The programs also test this project's actors: each run checks the result that its rules
//! prescribe.

use std::future::Future;

use super::*;
use crate::bench::{Bench, Variant};
use crate::peer::Peer;
use crate::peer::tokio::Tokio;
use crate::spec::{Sizes, Spec};
use crate::system::{Actor, Flow};
use crate::tests::run;
use crate::workload;

/// Rounds that take milliseconds without optimisation.
fn few(program: Program) -> u32 {
    match program {
        Program::Big => 40,
        Program::Threadring => 1_234,
        Program::Count => 3_000,
        Program::Fjcreate => 500,
        Program::Chameneos => 1_500,
        Program::Banking => 3_000,
        Program::Bndbuffer => 3,
        Program::Philosopher => 40,
    }
}

/// All programs.
fn programs() -> impl Iterator<Item = (Bench, Program)> {
    Bench::ALL.into_iter().filter_map(|bench| Some((bench, bench.program()?)))
}

fn spec((bench, program): (Bench, Program), workers: usize) -> Spec {
    let sizes = Sizes { rounds: Some(few(program)), ..Sizes::default() };
    Spec::new(bench, Variant::Only, workers, &sizes)
}

#[test]
fn every_program_comes_out_right_on_every_system_with_one_two_and_four_workers() {
    for (bench, program) in programs() {
        for workers in [1, 2, 4] {
            let spec = spec((bench, program), workers);
            assert_eq!(spec.actors(), program.actors(few(program)), "{bench}");
            assert_eq!(spec.messages(), program.messages(few(program)), "{bench}");
            // Systems in other languages do not have them.
            let here: Vec<Peer> = Peer::ALL.into_iter().filter(|peer| peer.has(bench)).collect();
            assert!(here.len() >= 3 && here.iter().all(|peer| peer.foreign().is_none()));
            for peer in here {
                let figures = run(&spec, peer);
                assert!(figures.number("ns_per_message").is_some_and(|ns| ns > 0.0), "{figures:?}");
                assert_eq!(figures.number("trip_us_p50"), None, "{figures:?}");
            }
        }
    }
}

/// The same repeatedly on this project's actors: a result that depends on the schedule shows
/// sometimes.
#[test]
fn every_program_comes_out_right_again_and_again() {
    for program in programs() {
        for round in 0..8 {
            run(&spec(program, [1, 2, 4][round % 3]), Peer::Evenkeel);
        }
    }
}

#[test]
fn the_usual_sizes_are_the_published_ones() {
    let of = |bench| {
        let spec = Spec::new(bench, Variant::Only, 2, &Sizes::default());
        (spec.actors(), spec.messages())
    };
    assert_eq!(of(Bench::Big), (121, 120 * 40_003));
    assert_eq!(of(Bench::Threadring), (100, 100_101));
    assert_eq!(of(Bench::Count), (2, 1_000_003));
    assert_eq!(of(Bench::Fjcreate), (40_000, 40_000));
    assert_eq!(of(Bench::Chameneos), (101, 800_400));
    assert_eq!(of(Bench::Banking), (1_001, 201_001));
    assert_eq!(of(Bench::Bndbuffer), (81, 160_120));
    assert_eq!(of(Bench::Philosopher), (21, 800_020));
}

/// Tokio, but it loses the first message to a mailbox with back-pressure.
struct Lossy(Tokio<false>);

/// An actor that ignores its first message.
struct Deaf<A>(A, bool);

impl<A: Actor> Actor for Deaf<A> {
    type Message = A::Message;

    async fn handle(&mut self, message: A::Message) -> Flow {
        match std::mem::replace(&mut self.1, false) {
            true => Flow::Go,
            false => self.0.handle(message).await,
        }
    }
}

impl System for Lossy {
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

    async fn spawn_bounded<A: Actor>(spawner: &(), place: usize, actor: A) -> Self::Ref<A> {
        Tokio::<false>::spawn_bounded(spawner, place, Deaf(actor, true)).await
    }

    fn post<A: Actor>(to: &Self::Ref<A>, message: A::Message) {
        Tokio::<false>::post::<A>(to, message);
    }
}

#[test]
fn an_increment_that_is_lost_is_a_fault() {
    let sizes = Sizes { rounds: Some(10), ..Sizes::default() };
    let spec = Spec::new(Bench::Count, Variant::Only, 1, &sizes);
    let fault = workload::run_savina::<Lossy>(&spec, Program::Count).unwrap_err().to_string();
    assert_eq!(fault, "increments that were counted: 9 instead of 10");
}
