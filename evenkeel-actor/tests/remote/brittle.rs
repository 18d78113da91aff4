//! Values with a panicking `Serialize`, `Deserialize` or destructor: askers that wait for a message
//! with one receive an error, others are served, and the node goes on.

use crate::world::{Message, World, id};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::remote::RemoteError;
use evenkeel_actor::{
    Actor, ActorRef, AskError, Builder, Context, DropNewest, DropOldest, ExitReason, Handled,
    Overflow, ReplyTo, System,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::mem::forget;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Deserialisation fails if it is true.
#[derive(Clone, Serialize)]
struct Brittle(bool);

impl<'de> Deserialize<'de> for Brittle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let breaks = bool::deserialize(deserializer)?;
        assert!(!breaks, "it breaks");
        Ok(Self(breaks))
    }
}

/// Questions to a [`Shelf`].
#[derive(Serialize, Deserialize)]
enum Ask {
    Put(Brittle),
    /// Answers with the number of values.
    Count(Brittle, ReplyTo<u64>),
    /// The same, with the place for the answer before the unreadable value.
    CountFirst(ReplyTo<u64>, Brittle),
    /// Answers with an unreadable value, if the flag is true.
    Get(bool, ReplyTo<Brittle>),
}

#[derive(Default)]
struct Shelf(u64);

impl Actor for Shelf {
    type Message = Ask;

    async fn handle(&mut self, ask: Ask, _context: &mut Context<Self>) -> Handled {
        match ask {
            Ask::Put(_) => self.0 += 1,
            Ask::Count(_, reply) | Ask::CountFirst(reply, _) => reply.send(self.0),
            Ask::Get(breaks, reply) => reply.send(Brittle(breaks)),
        }
        Ok(())
    }
}

/// Far longer than an answer takes, so that a hang is reported as such.
async fn answered<T>(what: &str, call: impl Future<Output = T>) -> T {
    let answer = evenkeel::time::timeout(Duration::from_secs(20), call).await;
    answer.unwrap_or_else(|_| panic!("{what} is not answered"))
}

/// Two nodes, and a shelf on the second, with a name.
fn world(workers: usize) -> World {
    let world = World::new(2, workers, Faults::default());
    for (_, node) in &world.nodes {
        node.register_script("shelf", |_: Brittle| Shelf::default());
    }
    let (runtime, other) = &world.nodes[1];
    let shelf = runtime
        .block_on(async { Builder::new().system(other.system()).spawn(Shelf::default()).unwrap() });
    assert!(other.publish("shelf", shelf));
    world
}

async fn count(shelf: &ActorRef<Ask>) -> Result<u64, AskError> {
    answered("a question", shelf.ask(|reply| Ask::Count(Brittle(false), reply))).await
}

#[test]
fn a_spawn_whose_arguments_panic_as_they_are_read_fails_and_says_so() {
    for workers in [1, 2] {
        let world = world(workers);
        world.on(0, async |node| {
            // On another node, and on this one.
            for on in [1, 0] {
                let spawn = node.spawn_on::<Ask, _>(id(on), "shelf", &Brittle(true));
                let error = answered("a spawn", spawn).await.unwrap_err();
                let RemoteError::Arguments { why } = &error else { panic!("{error}") };
                assert!(why.contains("Brittle") && why.contains("has panicked"), "{why}");
                assert!(why.ends_with("it breaks"), "{why}");
                let spawn = node.spawn_on::<Ask, _>(id(on), "shelf", &Brittle(false));
                let shelf = answered("a spawn", spawn).await.unwrap();
                assert_eq!(count(&shelf).await, Ok(0));
            }
            assert_eq!(node.metrics().open_calls, 0);
        });
    }
}

#[test]
fn a_question_that_panics_as_it_is_read_fails_and_the_next_is_answered() {
    for workers in [1, 2] {
        let world = world(workers);
        world.on(0, async |node| {
            let shelf = node.locate::<Ask>(id(1), "shelf").await.unwrap();
            let asked = shelf.ask(|reply| Ask::Count(Brittle(true), reply));
            assert_eq!(answered("a question", asked).await, Err(AskError::Unreadable));
            // The place is dropped when the value after it fails.
            let asked = shelf.ask(|reply| Ask::CountFirst(reply, Brittle(true)));
            assert_eq!(answered("a question", asked).await, Err(AskError::Unreadable));
            assert_eq!(count(&shelf).await, Ok(0));
            assert_eq!(node.metrics().open_calls, 0);
        });
        assert_eq!(world.nodes[1].1.metrics().unreadable, 2);
    }
}

#[test]
fn an_answer_that_panics_as_it_is_read_fails_its_question() {
    for workers in [1, 2] {
        let world = world(workers);
        world.on(0, async |node| {
            let shelf = node.locate::<Ask>(id(1), "shelf").await.unwrap();
            let asked = shelf.ask(|reply| Ask::Get(true, reply));
            let answer = answered("a question", asked).await.map(|_| ());
            assert_eq!(answer, Err(AskError::Unreadable));
            let asked = shelf.ask(|reply| Ask::Get(false, reply));
            assert!(answered("a question", asked).await.is_ok());
            assert_eq!(node.metrics().open_calls, 0);
        });
    }
}

/// Cannot be written: its `Serialize` panics.
#[derive(Debug)]
struct Unspeakable;

impl Serialize for Unspeakable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("no words");
    }
}

impl<'de> Deserialize<'de> for Unspeakable {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Ok(Self)
    }
}

/// Answers with what cannot be written.
struct Speechless;

impl Actor for Speechless {
    type Message = ReplyTo<Unspeakable>;

    async fn handle(&mut self, reply: Self::Message, _context: &mut Context<Self>) -> Handled {
        reply.send(Unspeakable);
        Ok(())
    }
}

#[test]
fn an_asker_is_told_if_its_answer_panics_as_it_is_written() {
    for workers in [1, 2] {
        let world = World::new(2, workers, Faults::default());
        world.nodes[1].1.register_script("speechless", |()| Speechless);
        world.on(0, async |node| {
            let actor =
                node.spawn_on::<ReplyTo<Unspeakable>, _>(id(1), "speechless", &()).await.unwrap();
            let stopped = actor.stopped();
            let asked = actor.ask(|reply| reply).no_timeout();
            let answer = answered("a question", asked).await.map(|_| ());
            assert_eq!(answer, Err(AskError::NoReply));
            let end = answered("the end of an actor", stopped).await;
            assert!(matches!(end, ExitReason::Panicked(_)), "{end}");
            assert_eq!(node.metrics().open_calls, 0);
        });
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct Load(Brittle);

/// Adds 1 to a sum for each message, cast or parked.
struct Loaded(ActorRef<Message>);

impl Actor for Loaded {
    type Message = Load;

    async fn handle(&mut self, _load: Load, _context: &mut Context<Self>) -> Handled {
        self.0.send(Message::Add(1)).await?;
        Ok(())
    }
}

#[test]
fn casts_and_parked_messages_that_panic_as_they_are_read_are_dead_letters_and_the_next_arrive() {
    for workers in [1, 2] {
        let world = world(workers);
        let (runtime, other) = &world.nodes[1];
        let sum = runtime.block_on(other.spawn_on::<Message, _>(id(1), "sum", &0_u64)).unwrap();
        let loaded = runtime.block_on(async {
            let loaded = Loaded(sum.clone());
            Builder::new().capacity(1).system(other.system()).spawn(loaded).unwrap()
        });
        assert!(other.publish("loaded", loaded));
        let dead = world.on(0, async |node| {
            let loaded = node.locate::<Load>(id(1), "loaded").await.unwrap();
            for breaks in [true, false].repeat(100) {
                let report =
                    node.cast(std::slice::from_ref(&loaded), &Load(Brittle(breaks))).await.unwrap();
                assert_eq!(report.handed_on, 1);
                loaded.send(Load(Brittle(breaks))).await.unwrap();
            }
            200
        });
        let metrics = || other.metrics();
        while metrics().unreadable < dead || metrics().waiting_messages > 0 {
            std::thread::yield_now();
        }
        runtime.block_on(async {
            while answered("the sum", sum.ask(Message::Get)).await.unwrap() < 200 {
                evenkeel::yield_now().await;
            }
        });
        assert_eq!((metrics().unreadable, other.system().dead_letters()), (dead, dead));
    }
}

/// Its destructor panics on the node that has read it.
#[derive(Serialize)]
struct Heavy(bool);

impl<'de> Deserialize<'de> for Heavy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bool::deserialize(deserializer).map(|_| Self(true))
    }
}

impl Drop for Heavy {
    fn drop(&mut self) {
        assert!(!self.0, "it falls");
    }
}

#[derive(Serialize, Deserialize)]
enum Drops {
    Put(Heavy),
    /// Answers with the number of values put.
    Count(ReplyTo<u32>),
}

/// Counts the values put, and the messages that have begun. Handles none until one has become a
/// dead letter.
struct Pile {
    system: System,
    put: u32,
    begun: Arc<AtomicU32>,
}

impl Actor for Pile {
    type Message = Drops;

    async fn handle(&mut self, message: Drops, _context: &mut Context<Self>) -> Handled {
        self.begun.fetch_add(1, Ordering::SeqCst);
        while self.system.dead_letters() == 0 {
            evenkeel::yield_now().await;
        }
        match message {
            Drops::Put(heavy) => {
                self.put += 1;
                forget(heavy);
            }
            Drops::Count(reply) => reply.send(self.put),
        }
        Ok(())
    }
}

/// Returns its pile: a reference with another policy than to wait travels only in messages.
struct Clerk<P: Overflow>(ActorRef<Drops, P>);

impl<P: Overflow> Actor for Clerk<P> {
    type Message = ReplyTo<ActorRef<Drops, P>>;

    async fn handle(&mut self, reply: Self::Message, _context: &mut Context<Self>) -> Handled {
        reply.send(self.0.clone());
        Ok(())
    }
}

/// Gives a test a pile with room for one message beside the one that it is given here, and the
/// number of messages that have begun.
fn pile<P: Overflow>(test: impl AsyncFn(ActorRef<Drops, P>, &AtomicU32)) {
    for workers in [1, 2] {
        let world = World::new(2, workers, Faults::default());
        let (runtime, other) = &world.nodes[1];
        let begun = Arc::<AtomicU32>::default();
        let pile = Pile { system: other.system(), put: 0, begun: begun.clone() };
        let builder = Builder::new().system(other.system());
        let clerk = runtime.block_on(async {
            let pile = builder.clone().capacity(1).overflow::<P>().spawn(pile).unwrap();
            builder.spawn(Clerk(pile)).unwrap()
        });
        assert!(other.publish("clerk", clerk));
        world.on(0, async |node| {
            let clerk = node.locate::<ReplyTo<ActorRef<Drops, P>>>(id(1), "clerk").await.unwrap();
            let pile = answered("the clerk", clerk.ask(|reply| reply)).await.unwrap();
            pile.send(Drops::Put(Heavy(false))).await.unwrap();
            while begun.load(Ordering::SeqCst) == 0 {
                evenkeel::yield_now().await;
            }
            test(pile, &begun).await;
        });
        assert_eq!((other.metrics().unreadable, other.system().dead_letters()), (0, 1));
    }
}

async fn put<P: Overflow>(pile: &ActorRef<Drops, P>) -> Result<u32, AskError> {
    answered("a question", pile.ask(Drops::Count)).await
}

#[test]
fn a_question_that_takes_the_place_of_a_message_whose_destructor_panics_is_answered() {
    pile::<DropOldest>(async |pile, _| {
        pile.send(Drops::Put(Heavy(false))).await.unwrap();
        assert_eq!(put(&pile).await, Ok(1));
    });
}

#[test]
fn a_message_whose_destructor_panics_as_it_finds_no_room_is_a_dead_letter_and_no_unreadable_one() {
    pile::<DropNewest>(async |pile, begun| {
        for _ in 0..2 {
            pile.send(Drops::Put(Heavy(false))).await.unwrap();
        }
        while begun.load(Ordering::SeqCst) < 2 {
            evenkeel::yield_now().await;
        }
        assert_eq!(put(&pile).await, Ok(2));
    });
}
