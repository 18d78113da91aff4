//! Questions that are handed on from node to node, and questions without a waiting asker.

use crate::ending::ends;
use crate::world::{Message, Stuck, World, id};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::remote::{Node, RemoteError};
use evenkeel_actor::{Actor, ActorRef, AskError, Builder, Context, Handled, ReplyTo};
use serde::{Deserialize, Serialize};
use std::pin::pin;
use std::time::Duration;

/// Hands questions on to others, which keep them.
struct Broker(Node);

#[derive(Serialize, Deserialize)]
enum Deal {
    /// Has that actor keep the question.
    Keep(ActorRef<Message>, ReplyTo<u64>),
    /// Has that actor answer it.
    Get(ActorRef<Message>, ReplyTo<u64>),
    /// Hands it on in a message that panics during serialisation.
    Bomb(ActorRef<Bombs>, ReplyTo<u64>),
    /// Hands it on as the argument of a nonexistent script.
    Spawn(u32, ReplyTo<u64>),
    /// Hands it on as the argument of a script that answers it.
    Begin(u32, ReplyTo<u64>),
    /// Sends that actor more than its mailbox takes.
    Fill(ActorRef<Message>, ReplyTo<()>),
    /// Does nothing.
    Ping(ReplyTo<()>),
}

#[derive(Deserialize)]
struct Bomb;

impl Serialize for Bomb {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("a bomb");
    }
}

#[derive(Serialize, Deserialize)]
struct Bombs(ReplyTo<u64>, Bomb);

struct TakesBombs;

impl Actor for TakesBombs {
    type Message = Bombs;

    async fn handle(&mut self, _message: Bombs, _context: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

impl Actor for Broker {
    type Message = Deal;

    async fn handle(&mut self, deal: Deal, _context: &mut Context<Self>) -> Handled {
        match deal {
            Deal::Keep(whom, reply) => whom.send(Message::Keep(reply)).await?,
            Deal::Get(whom, reply) => whom.send(Message::Get(reply)).await?,
            Deal::Bomb(whom, reply) => whom.send(Bombs(reply, Bomb)).await?,
            Deal::Spawn(on, reply) => {
                let spawned = self.0.spawn_on::<Message, _>(id(on), "nothing", &reply).await;
                assert!(matches!(spawned, Err(RemoteError::NoSuchScript { .. })), "{spawned:?}");
            }
            Deal::Begin(on, reply) => {
                self.0.spawn_on::<Bombs, _>(id(on), "answer", &reply).await.unwrap();
            }
            Deal::Fill(whom, reply) => {
                for _ in 0..1_000 {
                    whom.send(Message::Add(1)).await?;
                }
                reply.send(());
            }
            Deal::Ping(reply) => reply.send(()),
        }
        Ok(())
    }
}

fn brokers(nodes: u32) -> World {
    let world = World::new(nodes, 1, Faults::default());
    for (_, node) in &world.nodes {
        let own = node.clone();
        node.register_script("broker", move |()| Broker(own.clone()));
        node.register_script("bombs", |()| TakesBombs);
        node.register_script("answer", |reply: ReplyTo<u64>| {
            reply.send(7);
            TakesBombs
        });
    }
    world
}

#[test]
fn a_question_that_was_handed_on_to_a_node_that_is_lost_fails() {
    ends(|| {
        let world = brokers(3);
        let control = world.control.clone();
        world.on(0, async move |node| {
            let broker = node.spawn_on::<Deal, _>(id(1), "broker", &()).await.unwrap();
            let keeps = node.spawn_on::<Message, _>(id(2), "sum", &0_u64).await.unwrap();
            let whom = keeps.clone();
            let mut open = pin!(broker.ask(|reply| Deal::Keep(whom, reply)));
            assert!(futures::poll!(open.as_mut()).is_pending());
            // It is kept once the third node has answered a later question that came by the same
            // way.
            assert_eq!(broker.ask(|reply| Deal::Get(keeps, reply)).await, Ok(0));
            control.kill(id(2));
            assert!(open.await.is_err());
            assert_eq!(node.metrics().open_calls, 0);
        });
    });
}

/// The question is handed to an actor on a third node, on the asker's own, or on that of the actor
/// that hands it on.
#[test]
fn a_question_that_was_handed_on_to_an_actor_that_has_stopped_fails_at_once() {
    ends(|| {
        for of in [2, 0, 1] {
            let world = brokers(3);
            world.on(0, async move |node| {
                let broker = node.spawn_on::<Deal, _>(id(1), "broker", &()).await.unwrap();
                let other = node.spawn_on::<Message, _>(id(of), "sum", &0_u64).await.unwrap();
                other.send(Message::Stop).await.unwrap();
                other.stopped().await;
                // By now its node has forgotten it.
                assert_eq!(other.ask(Message::Get).await, Err(AskError::Stopped));
                let asked = broker.ask(|reply| Deal::Get(other, reply)).no_timeout().await;
                assert_eq!(asked, Err(AskError::NoReply), "on node {of}");
                assert_eq!(node.metrics().open_calls, 0);
            });
        }
    });
}

/// A parked message is not read before its actor takes it.
#[test]
fn a_question_that_was_handed_on_and_waits_for_room_fails_when_its_actor_stops() {
    ends(|| {
        let world = brokers(3);
        world.nodes[2].1.register_script("still", |()| Stuck);
        world.on(0, async move |node| {
            let broker = node.spawn_on::<Deal, _>(id(1), "broker", &()).await.unwrap();
            let still = node.spawn_on::<Message, _>(id(2), "still", &()).await.unwrap();
            let other = node.spawn_on::<Message, _>(id(2), "sum", &0_u64).await.unwrap();
            let full = still.clone();
            broker.ask(|reply| Deal::Fill(full, reply)).await.unwrap();
            let whom = still.clone();
            let mut open = pin!(broker.ask(|reply| Deal::Get(whom, reply)).no_timeout());
            assert!(futures::poll!(open.as_mut()).is_pending());
            // The third node has parked it once it answers a later question that came by the same
            // way.
            assert_eq!(broker.ask(|reply| Deal::Get(other, reply)).await, Ok(0));
            still.kill();
            assert_eq!(open.await, Err(AskError::NoReply));
            assert_eq!(node.metrics().open_calls, 0);
        });
    });
}

/// The third node has parked the question's message when it loses the node that sent it.
#[test]
fn a_question_that_waits_for_room_fails_when_the_node_that_has_handed_it_on_is_lost() {
    ends(|| {
        let world = brokers(3);
        let control = world.control.clone();
        world.nodes[2].1.register_script("still", |()| Stuck);
        world.on(0, async move |node| {
            let broker = node.spawn_on::<Deal, _>(id(1), "broker", &()).await.unwrap();
            let still = node.spawn_on::<Message, _>(id(2), "still", &()).await.unwrap();
            let other = node.spawn_on::<Message, _>(id(2), "sum", &0_u64).await.unwrap();
            let full = still.clone();
            broker.ask(|reply| Deal::Fill(full, reply)).await.unwrap();
            let mut open = pin!(broker.ask(|reply| Deal::Get(still, reply)).no_timeout());
            assert!(futures::poll!(open.as_mut()).is_pending());
            // The third node has parked it once it answers a later question that came by the same
            // way. The asker's node knows where it is once the broker has answered.
            assert_eq!(broker.ask(|reply| Deal::Get(other, reply)).await, Ok(0));
            broker.ask(Deal::Ping).await.unwrap();
            control.kill(id(1));
            assert_eq!(open.await, Err(AskError::NoReply));
            assert_eq!(node.metrics().open_calls, 0);
        });
    });
}

#[test]
fn a_question_that_is_handed_on_in_a_message_that_panics_fails() {
    ends(|| {
        let world = brokers(3);
        world.on(0, async |node| {
            let broker = node.spawn_on::<Deal, _>(id(1), "broker", &()).await.unwrap();
            let bombs = node.spawn_on::<Bombs, _>(id(2), "bombs", &()).await.unwrap();
            let asked = broker.ask(|reply| Deal::Bomb(bombs, reply)).await;
            assert_eq!(asked, Err(AskError::NoReply));
        });
    });
}

#[test]
fn a_question_that_is_the_argument_of_a_script_that_fails_has_no_reply() {
    ends(|| {
        let world = brokers(2);
        let (runtime, node) = &world.nodes[1];
        // The asker is local to the broker: its place for the answer goes to another node, or to
        // its own, which forgets it.
        for on in [0, 1] {
            let asked = runtime.block_on(async {
                let local = Builder::new().system(node.system());
                let broker = local.spawn(Broker(node.clone())).unwrap();
                let answered = broker.ask(|reply| Deal::Begin(on, reply)).await;
                assert_eq!(answered, Ok(7), "by a script that does not fail");
                broker.ask(|reply| Deal::Spawn(on, reply)).await
            });
            assert_eq!(asked, Err(AskError::NoReply));
            assert_eq!(node.metrics().open_calls, 0);
        }
    });
}

#[test]
fn a_question_of_a_third_node_that_is_the_argument_of_a_script_that_fails_has_no_reply() {
    ends(|| {
        let world = brokers(3);
        world.on(0, async |node| {
            let broker = node.spawn_on::<Deal, _>(id(1), "broker", &()).await.unwrap();
            let asked = broker.ask(|reply| Deal::Spawn(2, reply)).no_timeout().await;
            assert_eq!(asked, Err(AskError::NoReply));
            assert_eq!(node.metrics().open_calls, 0);
        });
    });
}

/// The first node asked is lost, and the answer still comes.
#[test]
fn a_question_that_was_handed_on_survives_the_actor_that_handed_it_on() {
    ends(|| {
        for workers in [1, 2] {
            let world = World::new(3, workers, Faults::default());
            for (_, node) in &world.nodes {
                let own = node.clone();
                node.register_script("broker", move |()| Broker(own.clone()));
                node.register_script("answers", |()| Answers(None));
            }
            let control = world.control.clone();
            world.on(0, async move |node| {
                let broker = node.spawn_on::<Deal, _>(id(1), "broker", &()).await.unwrap();
                let answers = node.spawn_on::<Message, _>(id(2), "answers", &()).await.unwrap();
                let (whom, first) = (answers.clone(), broker.clone());
                let open =
                    evenkeel::spawn(
                        async move { first.ask(|reply| Deal::Keep(whom, reply)).await },
                    );
                while answers.ask(Message::Get).await != Ok(1) {}
                // The first node's news of it precedes its answer to this.
                broker.ask(Deal::Ping).await.unwrap();
                let mut events = node.events();
                control.kill(id(1));
                while !events.next().await.unwrap().is_loss() {}
                answers.send(Message::Add(7)).await.unwrap();
                assert_eq!(open.await.unwrap(), Ok(7));
                assert_eq!(node.metrics().open_calls, 0);
            });
        }
    });
}

/// Keeps a question, and answers it with the next number added.
struct Answers(Option<ReplyTo<u64>>);

impl Actor for Answers {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::Keep(reply) => self.0 = Some(reply),
            Message::Get(reply) => reply.send(self.0.is_some().into()),
            Message::Add(n) => self.0.take().unwrap().send(n),
            _ => {}
        }
        Ok(())
    }
}

/// A question that has returned to the asker's node survives the loss of the node that was asked.
#[test]
fn a_question_that_has_come_home_survives_the_actor_that_was_asked() {
    ends(|| {
        let world = brokers(2);
        let control = world.control.clone();
        world.on(0, async move |node| {
            let broker = node.spawn_on::<Deal, _>(id(1), "broker", &()).await.unwrap();
            let answers = Builder::new().system(node.system()).spawn(Answers(None)).unwrap();
            let (whom, first) = (answers.clone(), broker.clone());
            let open =
                evenkeel::spawn(async move { first.ask(|reply| Deal::Keep(whom, reply)).await });
            while answers.ask(Message::Get).await != Ok(1) {
                evenkeel::yield_now().await;
            }
            broker.ask(Deal::Ping).await.unwrap();
            let mut events = node.events();
            control.kill(id(1));
            while !events.next().await.unwrap().is_loss() {}
            answers.send(Message::Add(7)).await.unwrap();
            assert_eq!(open.await.unwrap(), Ok(7));
        });
    });
}

#[test]
fn questions_whose_askers_have_given_up_are_forgotten() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        world.on(0, async |node| {
            let keeps = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap();
            for _ in 0..100 {
                let asked =
                    (0..100).map(|_| keeps.ask(Message::Keep).timeout(Duration::from_millis(2)));
                for asked in futures::future::join_all(asked).await {
                    assert_eq!(asked, Err(AskError::Elapsed));
                }
            }
            let open = node.metrics().open_calls;
            assert!(open <= 256, "{open} calls without a waiting asker");
        });
    });
}
