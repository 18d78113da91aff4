//! Collective sends with little room.

use super::{CASTS, Number, Ordered, ends};
use crate::leases::known;
use crate::world::{Message, World, id};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::node::policy::Packing;
use evenkeel_actor::{Actor, Builder, Context, Handled};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[test]
fn casts_and_sends_of_one_sender_to_one_actor_keep_their_order() {
    ends(|| {
        let world = World::new(2, 3, Faults::default());
        let over = Arc::new(AtomicBool::new(false));
        let (runtime, other) = &world.nodes[1];
        runtime.block_on(async {
            let actor = Ordered { next: 0, over: Arc::clone(&over) };
            let ordered = Builder::new().capacity(4).system(other.system()).spawn(actor).unwrap();
            assert!(other.publish("ordered", ordered));
        });
        world.on(0, async |node| {
            let ordered = node.locate::<Number>(id(1), "ordered").await.unwrap();
            let (to, end) = ([ordered.clone()], ordered.stopped());
            for number in (0..CASTS).step_by(2) {
                node.cast(&to, &Number(number)).await.unwrap();
                ordered.send(Number(number + 1)).await.unwrap();
            }
            let mut end = end;
            loop {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                let ended = futures::future::poll_immediate(&mut end).await;
                assert!(ended.is_none(), "{}", ended.unwrap());
                evenkeel::yield_now().await;
            }
        });
    });
}

static ALIVE: AtomicUsize = AtomicUsize::new(0);

#[derive(Serialize)]
struct Counted(u8);

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ALIVE.fetch_add(1, Ordering::SeqCst);
        u8::deserialize(deserializer).map(Self)
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        ALIVE.fetch_add(1, Ordering::SeqCst);
        Self(self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

struct StuckToo;

impl Actor for StuckToo {
    type Message = Counted;

    async fn handle(&mut self, _message: Counted, _context: &mut Context<Self>) -> Handled {
        std::future::pending().await
    }
}

#[test]
fn casts_to_a_full_mailbox_do_not_pile_up_without_a_bound() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        let (runtime, other) = &world.nodes[1];
        runtime.block_on(async {
            let stuck = Builder::new().capacity(1).system(other.system()).spawn(StuckToo).unwrap();
            assert!(other.publish("stuck", stuck));
        });
        world.on(0, async |node| {
            let stuck = node.locate::<Counted>(id(1), "stuck").await.unwrap();
            let message = std::mem::ManuallyDrop::new(Counted(0));
            // One call, one frame: a list that names one actor repeatedly. The frame holds the
            // value once, and the node reads it as often.
            let all = vec![stuck; 5_000];
            for _ in 0..10 {
                node.cast(&all, &message).await.unwrap();
            }
            let sum = node.spawn_on::<Message, _>(id(1), "sum", &1_u64).await.unwrap();
            sum.ask(Message::Get).await.unwrap();
        });
        let alive = ALIVE.load(Ordering::SeqCst);
        assert!(alive < 1_000, "{alive} messages wait for room for one");
    });
}

#[derive(Clone, Serialize, Deserialize)]
struct Text(String);

/// Counts what it reads.
#[derive(Default)]
struct Reads(Arc<AtomicUsize>);

impl Actor for Reads {
    type Message = Text;

    async fn handle(&mut self, _message: Text, _context: &mut Context<Self>) -> Handled {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn a_cast_that_is_too_long_is_an_error_and_not_handed_on() {
    ends(|| {
        let packing = Packing { frame: 256, longest_message: 1_000, ..Packing::default() };
        let world = World::with(2, 1, Faults::default(), packing);
        world.nodes[1].1.register_script("reads", |()| Reads::default());
        world.on(0, async |node| {
            let reads = [node.spawn_on::<Text, _>(id(1), "reads", &()).await.unwrap()];
            // By itself, and only with the name of the actor: 998 bytes and their length fit.
            for length in [5_000, 998] {
                let cast = node.cast(&reads, &Text("x".repeat(length))).await;
                assert!(cast.is_err(), "{length}: {cast:?}");
            }
        });
    });
}

#[test]
fn a_cast_that_is_too_long_keeps_no_receiver() {
    ends(|| {
        let packing = Packing { frame: 256, longest_message: 1_000, ..Packing::default() };
        let world = World::with(3, 1, Faults::default(), packing);
        let others = [1, 2].map(|number| world.nodes[number].1.clone());
        world.on(0, async move |node| {
            let mut reads = Vec::new();
            for other in &others {
                other.register_script("reads", |()| Reads::default());
                reads.push(node.spawn_on::<Text, _>(other.id(), "reads", &()).await.unwrap());
            }
            // By itself, and only with the name of an actor: 998 bytes and their length fit.
            for length in [5_000, 998] {
                node.cast(&reads, &Text("x".repeat(length))).await.unwrap_err();
            }
            drop(reads);
            for other in &others {
                known(other, 0).await;
            }
        });
    });
}

#[test]
fn a_cast_that_is_too_long_beside_one_of_its_actors_is_handed_on_to_none() {
    ends(|| {
        let packing = Packing { frame: 256, longest_message: 1_000, ..Packing::default() };
        let world = World::with(3, 1, Faults::default(), packing);
        let others = [1, 2].map(|number| world.nodes[number].1.clone());
        let read = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&read);
        world.on(0, async move |node| {
            let mut reads = Vec::new();
            // The last name is longer than the first: the number of its place takes two bytes.
            for (other, actors) in others.iter().zip([1, 130]) {
                let read = Arc::clone(&count);
                other.register_script("reads", move |()| Reads(Arc::clone(&read)));
                for _ in 0..actors {
                    reads.push(node.spawn_on::<Text, _>(other.id(), "reads", &()).await.unwrap());
                }
            }
            let (first, last) = (&reads[..1], &reads[130..]);
            let mut length = 950;
            while node.cast(last, &Text("x".repeat(length))).await.is_ok() {
                length += 1;
            }
            let text = Text("x".repeat(length));
            node.cast(first, &text).await.unwrap();
            node.cast(&[&first[0], &last[0]].map(Clone::clone), &text).await.unwrap_err();
            drop(reads);
            for other in &others {
                known(other, 0).await;
            }
            assert_eq!(count.load(Ordering::SeqCst), length - 950 + 1);
        });
    });
}

/// The references belong to another node of this process: to one of another job, which has an actor
/// of that name too, and to another node of the same job.
#[test]
fn a_cast_goes_by_the_nodes_of_its_references() {
    ends(|| {
        for workers in [1, 2] {
            let jobs = [(); 2].map(|()| World::new(2, workers, Faults::default()));
            let read = [(); 2].map(|()| Arc::<AtomicUsize>::default());
            let [meant, other] = [0, 1].map(|job| {
                let read = Arc::clone(&read[job]);
                jobs[job].nodes[1].1.register_script("reads", move |()| Reads(Arc::clone(&read)));
                jobs[job].on(0, async |node| {
                    node.spawn_on::<Text, _>(id(1), "reads", &()).await.unwrap()
                })
            });
            assert_eq!(meant.remote_name(), other.remote_name());
            let reads = || [0, 1].map(|job| read[job].load(Ordering::SeqCst));
            for (times, (job, by)) in (1..).zip([(1, 0), (0, 1)]) {
                let to = [meant.clone()];
                let report = jobs[job]
                    .on(by, async move |node| node.cast(&to, &Text("x".to_owned())).await.unwrap());
                assert_eq!((report.delivered, report.handed_on, report.refused), (0, 1, 0));
                while reads() == [times - 1, 0] {
                    std::thread::yield_now();
                }
                assert_eq!(reads(), [times, 0]);
            }
        }
    });
}

#[test]
fn a_cast_whose_list_of_actors_makes_it_too_long_goes_in_several_messages() {
    ends(|| {
        for workers in [1, 2] {
            let packing = Packing { frame: 256, longest_message: 1_000, ..Packing::default() };
            let (world, read) =
                (World::with(4, workers, Faults::default(), packing), Arc::default());
            for (_, node) in &world.nodes {
                let read = Arc::clone(&read);
                node.register_script("reads", move |()| Reads(Arc::clone(&read)));
            }
            world.on(0, async |node| {
                let mut reads = Vec::new();
                for number in 0..300 {
                    let on = id(1 + number % 3);
                    reads.push(node.spawn_on::<Text, _>(on, "reads", &()).await.unwrap());
                }
                let report = node.cast(&reads, &Text("x".repeat(900))).await.unwrap();
                assert_eq!((report.handed_on, report.refused), (300, 0));
                while read.load(Ordering::SeqCst) < 300 {
                    evenkeel::yield_now().await;
                }
            });
        }
    });
}
