//! Questions to actors of other nodes, and their outcomes.

use crate::world::{Message, Stuck, Sum, World, id, slow};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::remote::Limits;
use evenkeel_actor::{
    Actor, ActorRef, AskError, Builder, Context, Fail, Handled, ReplyTo, SendError,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[test]
fn a_question_that_is_dropped_or_left_behind_has_no_reply() {
    for workers in [1, 2] {
        let world = World::new(2, workers, slow(3));
        world.on(0, async |node| {
            let sum = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap();
            assert_eq!(sum.ask(Message::Forget).await, Err(AskError::NoReply));
            // It keeps the place for the answer until it ends.
            let (kept, ()) = futures::join!(sum.ask(Message::Keep), async {
                evenkeel::yield_now().await;
                sum.send(Message::Stop).await.unwrap();
            });
            assert_eq!(kept, Err(AskError::NoReply));
            while sum.ask(Message::Get).await != Err(AskError::Stopped) {}
            assert_eq!(node.metrics().open_calls, 0);
        });
    }
}

#[test]
fn an_answer_to_an_asker_that_has_given_up_is_a_dead_letter() {
    let world = World::new(2, 1, Faults::default());
    world.on(0, async |node| {
        let sum = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap();
        let kept = sum.ask(Message::Keep).timeout(Duration::from_millis(1)).await;
        assert_eq!(kept, Err(AskError::Elapsed));
        // The answer certainly comes after the asker has given up.
        sum.send(Message::Release).await.unwrap();
        assert_eq!(sum.ask(Message::Get).await, Ok(0));
        assert_eq!(node.metrics().late_answers, 1);
        assert_eq!(node.system().dead_letters(), 1);
    });
}

#[test]
fn a_full_mailbox_holds_up_its_senders_and_loses_nothing() {
    for workers in [1, 2] {
        let world = World::new(2, workers, Faults::default());
        // An actor with room for two messages; its reference is requested through another.
        let (runtime, other) = &world.nodes[1];
        let small = runtime.block_on(async {
            Builder::new().capacity(2).system(other.system()).spawn(Sum::default()).unwrap()
        });
        assert!(other.publish("small", small));
        world.on(0, async |node| {
            let small = node.locate::<Message>(id(1), "small").await.unwrap();
            for n in 0..20_000 {
                small.send(Message::Add(n)).await.unwrap();
            }
            assert_eq!(small.ask(Message::Get).await, Ok(199_990_000));
        });
    }
}

/// Makes an actor with room for one message, which fails if there are more.
struct Maker;

#[derive(Serialize, Deserialize)]
struct Make(ReplyTo<ActorRef<Message, Fail>>);

impl Actor for Maker {
    type Message = Make;

    async fn handle(&mut self, Make(reply): Make, context: &mut Context<Self>) -> Handled {
        let builder = Builder::new().capacity(1).overflow::<Fail>().system(context.system());
        reply.send(builder.spawn(Stuck)?);
        Ok(())
    }
}

#[test]
fn a_full_mailbox_that_fails_is_told_to_askers() {
    for workers in [1, 2] {
        let world = World::new(2, workers, Faults::default());
        world.nodes[1].1.register_script("maker", |()| Maker);
        world.on(0, async |node| {
            let maker = node.spawn_on::<Make, _>(id(1), "maker", &()).await.unwrap();
            let stuck = maker.ask(Make).await.unwrap();
            // One is handled for ever, one is in the mailbox, and the third finds no room.
            let asked = futures::future::select_all((0..3).map(|_| stuck.ask(Message::Get)));
            assert_eq!(asked.await.0, Err(AskError::Full));
            stuck.kill();
        });
    }
}

/// Panics during deserialisation.
#[derive(Debug, Serialize)]
struct Trap;

impl<'de> Deserialize<'de> for Trap {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("a trap");
    }
}

#[derive(Serialize, Deserialize)]
enum Baited {
    Trap(Trap),
    Count(ReplyTo<Trap>),
    Fine(ReplyTo<u64>),
}

struct Bait;

impl Actor for Bait {
    type Message = Baited;

    async fn handle(&mut self, message: Baited, _context: &mut Context<Self>) -> Handled {
        match message {
            Baited::Trap(Trap) => {}
            Baited::Count(reply) => reply.send(Trap),
            Baited::Fine(reply) => reply.send(1),
        }
        Ok(())
    }
}

#[test]
fn a_value_that_panics_as_it_is_read_does_not_end_the_node() {
    for workers in [1, 2] {
        let world = World::new(2, workers, Faults::default());
        world.nodes[1].1.register_script("bait", |()| Bait);
        world.on(0, async |node| {
            let bait = node.spawn_on::<Baited, _>(id(1), "bait", &()).await.unwrap();
            bait.send(Baited::Trap(Trap)).await.unwrap();
            assert_eq!(bait.ask(Baited::Fine).await, Ok(1));
            // An answer with a panicking deserialisation is unreadable too.
            assert_eq!(bait.ask(Baited::Count).await.unwrap_err(), AskError::Unreadable);
            assert_eq!(bait.ask(Baited::Fine).await, Ok(1));
            assert_eq!(node.metrics().unreadable, 1);
        });
        assert_eq!(world.nodes[1].1.metrics().unreadable, 1);
    }
}

/// Cannot be written.
#[derive(Deserialize)]
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("on purpose"))
    }
}

struct Ignores;

impl Actor for Ignores {
    type Message = Unwritable;

    async fn handle(&mut self, _message: Unwritable, _context: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
enum Asked {
    /// Waits for a question that can be its answer.
    Question(ReplyTo<ReplyTo<u64>>, ActorRef<Unwritable>),
    /// Answers with whether the other question waits.
    Waits(ReplyTo<bool>),
    /// A question that becomes the answer to the other one.
    Answer(ReplyTo<u64>),
}

/// Answers a question with another one, which its node may not ask, and then sends a value that
/// cannot be written.
#[derive(Default)]
struct Returns(Option<(ReplyTo<ReplyTo<u64>>, ActorRef<Unwritable>)>);

impl Actor for Returns {
    type Message = Asked;

    async fn handle(&mut self, message: Asked, context: &mut Context<Self>) -> Handled {
        match message {
            Asked::Question(reply, to) => self.0 = Some((reply, to)),
            Asked::Waits(reply) => reply.send(self.0.is_some()),
            Asked::Answer(answer) => {
                let (reply, to) = self.0.take().unwrap();
                reply.send(answer);
                let error = to.try_send(Unwritable).unwrap_err();
                assert!(matches!(error, SendError::Unwritable(_)), "{error}");
                context.stop();
            }
        }
        Ok(())
    }
}

#[test]
fn an_answer_that_asks_one_question_too_many_has_no_say_in_later_errors() {
    let world = World::built(2, 1, Faults::default(), |node, builder| {
        let calls = if node == 1 { 0 } else { Limits::default().calls };
        builder.limits(Limits { calls, ..Limits::default() })
    });
    let (runtime, other) = &world.nodes[1];
    let returns = runtime.block_on(async {
        Builder::new().system(other.system()).spawn(Returns::default()).unwrap()
    });
    assert!(other.publish("returns", returns.clone()));
    let (asker, node) = &world.nodes[0];
    let node = node.clone();
    let asked = asker.spawn(async move {
        let ignores = Builder::new().system(node.system()).spawn(Ignores).unwrap();
        let returns = node.locate::<Asked>(id(1), "returns").await.unwrap();
        returns.ask(|reply| Asked::Question(reply, ignores)).await.map(drop)
    });
    let end = runtime.block_on(async {
        while returns.ask(Asked::Waits).await != Ok(true) {}
        assert_eq!(returns.ask(Asked::Answer).await, Err(AskError::NoReply));
        returns.stopped().await
    });
    assert!(end.is_normal(), "{end}");
    assert_eq!(asker.block_on(asked).unwrap(), Err(AskError::Unreadable));
}
