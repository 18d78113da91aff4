//! What a message's `Serialize` does with nodes and actors, while it is written under a lock.

use crate::ending::ends;
use crate::world::{World, id};
use evenkeel::budget::unconstrained;
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::remote::{Node, RemoteError};
use evenkeel_actor::{Actor, ActorRef, Context, ExitReason, Handled, ReplyTo};
use futures::FutureExt as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Calls a function as it is written.
struct Acts(Box<dyn Fn() + Send + Sync>);

impl Serialize for Acts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0)();
        ().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Acts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer).map(|()| Self(Box::new(|| ())))
    }
}

#[derive(Serialize, Deserialize)]
enum Message {
    Add,
    Act(Acts),
    Get(ReplyTo<u64>),
}

/// Counts messages.
struct Counter(Arc<AtomicU64>);

impl Actor for Counter {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::Add | Message::Act(_) => _ = self.0.fetch_add(1, Ordering::SeqCst),
            Message::Get(reply) => reply.send(self.0.load(Ordering::SeqCst)),
        }
        Ok(())
    }
}

/// Two nodes with the script of a counter.
fn world(workers: usize) -> (World, Arc<AtomicU64>) {
    let (world, counted) = (World::new(2, workers, Faults::default()), Arc::default());
    let count = Arc::clone(&counted);
    world.nodes[1].1.register_script("counter", move |()| Counter(Arc::clone(&count)));
    (world, counted)
}

async fn counter(node: &Node) -> ActorRef<Message> {
    node.spawn_on(id(1), "counter", &()).await.unwrap()
}

/// Sends a message that makes a value as it is written, and returns the value.
async fn made<T: Send + 'static>(
    to: &ActorRef<Message>,
    make: impl Fn() -> T + Send + Sync + 'static,
) -> T {
    let made = Arc::new(Mutex::new(None));
    let place = Arc::clone(&made);
    let act = Acts(Box::new(move || *place.lock().unwrap() = Some(make())));
    to.send(Message::Act(act)).await.unwrap();
    made.lock().unwrap().take().unwrap()
}

type Waits<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Polls a future once.
fn polled<T>(mut future: Waits<T>) -> (Waits<T>, bool) {
    let is_ready = future.as_mut().now_or_never().is_some();
    (future, is_ready)
}

#[test]
fn a_watch_that_is_opened_while_a_message_is_written_tells_the_end() {
    ends(|| {
        for workers in [1, 2] {
            let (world, _) = world(workers);
            world.on(0, async |node| {
                let (counter, watched) = (counter(&node).await, counter(&node).await);
                let of = watched.clone();
                let stopped = made(&counter, move || of.stopped()).await;
                watched.stop();
                assert!(stopped.await.is_normal());
                assert_eq!(counter.ask(Message::Get).await, Ok(1));
            });
        }
    });
}

#[test]
fn a_watch_of_a_lost_node_that_is_opened_while_a_message_is_written_is_told() {
    ends(|| {
        let world = World::new(3, 2, Faults::default());
        for (_, node) in &world.nodes[1..] {
            node.register_script("counter", |()| Counter(Arc::default()));
        }
        world.on(0, async |node| {
            let lost = node.spawn_on::<Message, _>(id(2), "counter", &()).await.unwrap();
            let counter = counter(&node).await;
            world.control.kill(id(2));
            while !lost.is_stopped() {
                evenkeel::yield_now().await;
            }
            let stopped = made(&counter, move || lost.stopped()).await;
            assert!(matches!(stopped.await, ExitReason::NodeDown(node) if node == id(2)));
        });
    });
}

#[test]
fn a_request_while_a_message_is_written_is_refused() {
    ends(|| {
        for workers in [1, 2] {
            let (world, _) = world(workers);
            world.on(0, async |node| {
                let counter = counter(&node).await;
                let by = node.clone();
                // A yield because the slice is over would be no refusal.
                let find =
                    move || unconstrained(by.locate::<Message>(id(1), "counter")).now_or_never();
                let found = made(&counter, find).await;
                assert!(matches!(found, Some(Err(RemoteError::Unwritable { .. }))), "{found:?}");
                let by = node.clone();
                let spawn = move || {
                    unconstrained(by.spawn_on::<Message, _>(id(1), "counter", &())).now_or_never()
                };
                let spawned = made(&counter, spawn).await;
                assert!(
                    matches!(spawned, Some(Err(RemoteError::Unwritable { .. }))),
                    "{spawned:?}"
                );
                assert_eq!(counter.ask(Message::Get).await, Ok(2));
                assert_eq!(node.metrics().open_calls, 0);
            });
        }
    });
}

#[test]
fn a_barrier_that_is_polled_while_a_message_is_written_is_entered_afterwards() {
    ends(|| {
        for workers in [1, 2] {
            let (world, _) = world(workers);
            std::thread::scope(|scope| {
                let (runtime, other) = &world.nodes[1];
                scope.spawn(|| assert_eq!(runtime.block_on(other.barrier()), Ok(())));
                world.on(0, async |node| {
                    let counter = counter(&node).await;
                    let by = node.clone();
                    let poll = move || {
                        let by = by.clone();
                        polled(Box::pin(async move { by.barrier().await }))
                    };
                    let (barrier, is_ready) = made(&counter, poll).await;
                    assert!(!is_ready);
                    assert_eq!(barrier.await, Ok(()));
                });
            });
        }
    });
}

#[test]
fn waits_for_the_end_that_are_polled_while_a_message_is_written_do_nothing_meanwhile() {
    ends(|| {
        for workers in [1, 2] {
            let (world, _) = world(workers);
            world.on(0, async |node| {
                let counter = counter(&node).await;
                let by = node.clone();
                let finish = move || {
                    let by = by.clone();
                    polled(Box::pin(async move { by.finish().await })).1
                };
                assert!(!made(&counter, finish).await);
                let by = node.clone();
                let leave = move || {
                    let by = by.clone();
                    polled(Box::pin(async move { by.leave().await })).1
                };
                assert!(!made(&counter, leave).await);
                assert_eq!(counter.ask(Message::Get).await, Ok(2));
            });
        }
    });
}

#[test]
fn a_stop_while_a_message_is_written_comes_after_what_its_task_has_sent() {
    ends(|| {
        for workers in [1, 2] {
            let (world, counted) = world(workers);
            let (runtime, node) = &world.nodes[0];
            for _ in 0..200 {
                counted.store(0, Ordering::SeqCst);
                let node = node.clone();
                let sends = runtime.spawn(async move {
                    let counter = counter(&node).await;
                    let stopped = counter.stopped();
                    for _ in 0..200 {
                        counter.send(Message::Add).await.unwrap();
                    }
                    let to = counter.clone();
                    made(&counter, move || to.stop()).await;
                    stopped.await
                });
                let end = evenkeel::block_on(sends).unwrap();
                assert!(end.is_normal(), "{end}");
                assert_eq!(counted.load(Ordering::SeqCst), 201);
            }
        }
    });
}
