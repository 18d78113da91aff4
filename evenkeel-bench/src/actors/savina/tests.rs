//! Every program on every system, and checks that can fail.
//!
//! The programs are tests of this project's actors as well: each run checks what its rules say must come out.

use std::future::Future;

use super::*;
use crate::actors::peer::Peer;
use crate::actors::peer::tokio::Tokio;
use crate::actors::record::Record;
use crate::actors::runner::{Cell, Runner};
use crate::actors::spec::{Sizes, Spec};
use crate::actors::system::{Actor, Flow};
use crate::actors::{Bench, Variant, workload};

/// Rounds that take milliseconds where nothing is optimised.
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

fn records(program: Program, workers: usize, peers: &[Peer]) -> Vec<Record> {
    let sizes = Sizes { rounds: Some(few(program)), ..Sizes::default() };
    let cell = Cell::new(Bench::Savina(program), Variant::Only, workers, sizes, peers);
    let mut records = Vec::new();
    let keep = |record, _| {
        records.push(record);
        Ok(())
    };
    Runner::new(0).run(&cell, 1, keep).unwrap();
    records
}

#[test]
fn every_program_comes_out_right_on_every_system_with_one_two_and_four_workers() {
    for program in Program::ALL {
        for workers in [1, 2, 4] {
            let records = records(program, workers, &Peer::ALL);
            // Those in other languages do not have them.
            let here = Peer::ALL.into_iter().filter(|peer| peer.has(Bench::Savina(program)));
            assert!(records.iter().map(|record| record.runtime.as_str()).eq(here.map(Peer::name)));
            for record in records {
                assert_eq!((record.bench.as_str(), record.workers), (program.name(), workers));
                assert_eq!(record.actors, program.actors(few(program)), "{record:?}");
                assert_eq!(record.messages, program.messages(few(program)), "{record:?}");
                assert!(record.seconds > 0.0 && record.trip_us_p50.is_none(), "{record:?}");
            }
        }
    }
}

/// The same again and again on this project's actors: what depends on the order of things shows sometimes.
#[test]
fn every_program_comes_out_right_again_and_again() {
    for program in Program::ALL {
        for round in 0..8 {
            records(program, [1, 2, 4][round % 3], &[Peer::Evenkeel]);
        }
    }
}

#[test]
fn the_usual_sizes_are_the_published_ones() {
    let of = |program| {
        let bench = Bench::Savina(program);
        let spec = Spec::new(bench, Variant::Only, 2, Sizes::default());
        (spec.actors(), spec.messages())
    };
    assert_eq!(of(Program::Big), (121, 120 * 40_003));
    assert_eq!(of(Program::Threadring), (100, 100_101));
    assert_eq!(of(Program::Count), (2, 1_000_003));
    assert_eq!(of(Program::Fjcreate), (40_000, 40_000));
    assert_eq!(of(Program::Chameneos), (101, 800_400));
    assert_eq!(of(Program::Banking), (1_001, 201_001));
    assert_eq!(of(Program::Bndbuffer), (81, 160_120));
    assert_eq!(of(Program::Philosopher), (21, 800_020));
}

/// Tokio, but what is sent first to a mailbox that is to hold senders back is lost.
struct Lossy(Tokio<false>);

/// An actor that does not hear the first message.
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

    async fn spawn_bounded<A: Actor>(spawner: &(), place: usize, actor: A) -> Self::Bounded<A> {
        Tokio::<false>::spawn_bounded(spawner, place, Deaf(actor, true)).await
    }

    fn post<A: Actor>(to: &Self::Ref<A>, message: A::Message) {
        Tokio::<false>::post::<A>(to, message);
    }

    async fn send<A: Actor>(to: &Self::Bounded<A>, message: A::Message) {
        Tokio::<false>::send::<A>(to, message).await;
    }
}

#[test]
fn an_increment_that_is_lost_is_a_fault() {
    let sizes = Sizes { rounds: Some(10), ..Sizes::default() };
    let spec = Spec::new(Bench::Savina(Program::Count), Variant::Only, 1, sizes);
    let fault = workload::run_savina::<Lossy>(&spec, Program::Count).unwrap_err().to_string();
    assert_eq!(fault, "increments that were counted: 9, where 10 are right");
}
