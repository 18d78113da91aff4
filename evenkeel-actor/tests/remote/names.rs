//! References that return home, and names of actors.

use crate::ending::ends;
use crate::world::{Message, Sum, World, id};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::remote::RemoteError;
use evenkeel_actor::{
    Actor, ActorRef, AskError, Builder, Context, ExitReason, Handled, RegisterError, ReplyTo,
    SendError,
};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Hold {
    This(ActorRef<Message>),
    /// Sends to it.
    Poke(ReplyTo<()>),
    Give(ReplyTo<ActorRef<Message>>),
}

#[derive(Default)]
struct Holds(Option<ActorRef<Message>>);

impl Actor for Holds {
    type Message = Hold;

    async fn handle(&mut self, message: Hold, _context: &mut Context<Self>) -> Handled {
        match message {
            Hold::This(actor) => self.0 = Some(actor),
            Hold::Poke(reply) => {
                if let Some(actor) = &self.0 {
                    actor.send(Message::Add(1)).await?;
                }
                reply.send(());
            }
            Hold::Give(reply) => reply.send(self.0.take().unwrap()),
        }
        Ok(())
    }
}

/// A returned reference to a stopped actor would otherwise report that this node is down.
#[test]
fn a_reference_to_a_stopped_actor_that_comes_home_is_one_to_a_stopped_actor() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        world.nodes[1].1.register_script("holds", |()| Holds::default());
        world.on(0, async |node| {
            let holds = node.spawn_on::<Hold, _>(id(1), "holds", &()).await.unwrap();
            let own = Builder::new().system(node.system()).spawn(Sum::default()).unwrap();
            holds.send(Hold::This(own.clone())).await.unwrap();
            holds.ask(Hold::Poke).await.unwrap();
            own.send(Message::Stop).await.unwrap();
            own.stopped().await;
            // A message finds it stopped, so its slot is released.
            holds.ask(Hold::Poke).await.unwrap();
            let home = holds.ask(Hold::Give).await.unwrap();
            let error = home.send(Message::Add(1)).await.unwrap_err();
            assert!(matches!(error, SendError::Stopped(_)), "{error}");
            assert!(!matches!(home.stopped().await, ExitReason::NodeDown(_)));
            assert_eq!(home.ask(Message::Get).await, Err(AskError::Stopped));
        });
    });
}

#[test]
fn a_name_that_no_message_can_carry_is_not_taken() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        let other = world.nodes[1].1.clone();
        let [longest, too_long] = [255, 256].map(|length| "n".repeat(length));
        let actor = world.nodes[1]
            .0
            .block_on(async { Builder::new().system(other.system()).spawn(Sum::new(7)).unwrap() });
        assert!(other.publish(&longest, actor.clone()) && !other.publish(&too_long, actor));
        assert!(other.register_script(&longest, Sum::new));
        assert!(!other.register_script(&too_long, Sum::new));
        world.on(0, async move |node| {
            let found = node.locate::<Message>(id(1), &longest).await.unwrap();
            assert_eq!(found.ask(Message::Get).await, Ok(7));
            node.spawn_on::<Message, _>(id(1), &longest, &1_u64).await.unwrap();
            let located = node.locate::<Message>(id(1), &too_long).await;
            assert!(matches!(located, Err(RemoteError::Unwritable { .. })));
        });
    });
}

#[test]
fn the_name_of_an_actor_that_has_stopped_can_be_published_again() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        world.on(0, async |node| {
            let spawn = || Builder::new().system(node.system()).spawn(Sum::default()).unwrap();
            let first = spawn();
            assert!(node.publish("sum", first.clone()));
            first.stop();
            first.stopped().await;
            let second = spawn();
            assert!(node.publish("sum", second.clone()));
            assert!(!node.publish("sum", spawn()));
            assert_eq!(node.locate::<Message>(id(0), "sum").await.unwrap().id(), second.id());
            assert!(node.unpublish("sum"));
            assert!(!node.unpublish("sum"));
            let gone = node.locate::<Message>(id(0), "sum").await;
            assert!(matches!(gone, Err(RemoteError::NoSuchName { .. })), "{gone:?}");
        });
    });
}

/// An actor's slot belongs to its own node; here the number might be any actor's.
#[test]
fn an_actor_of_another_node_is_published_by_that_one() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        let (runtime, node) = &world.nodes[1];
        runtime.block_on(async {
            let there = Builder::new().system(node.system()).spawn(Sum::default()).unwrap();
            assert!(node.publish("there", there));
        });
        world.on(0, async |node| {
            let here = Builder::new().system(node.system()).spawn(Sum::default()).unwrap();
            assert!(node.publish("here", here));
            let there = node.locate::<Message>(id(1), "there").await.unwrap();
            assert!(!node.publish("there", there.clone()));
            let gone = node.locate::<Message>(id(0), "there").await;
            assert!(matches!(gone, Err(RemoteError::NoSuchName { .. })), "{gone:?}");
        });
    });
}

#[derive(Serialize, Deserialize)]
struct Generic<T>(T);

struct Takes;

type Four<T> = Generic<Generic<Generic<Generic<T>>>>;
type Deep = Four<Four<Four<u64>>>;
type Other = Four<Four<Four<u32>>>;

impl Actor for Takes {
    type Message = Deep;

    async fn handle(&mut self, _message: Deep, _context: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

#[test]
fn an_actor_whose_messages_have_a_long_type_is_found() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        let (runtime, node) = &world.nodes[1];
        runtime.block_on(async {
            let takes = Builder::new().system(node.system()).spawn(Takes).unwrap();
            assert!(node.publish("takes", takes));
        });
        world.on(0, async |node| {
            let found: Result<ActorRef<Deep>, RemoteError> = node.locate(id(1), "takes").await;
            assert_eq!(found.err(), None);
            // Another type with a long name, which begins with that one's name.
            let found: Result<ActorRef<Other>, RemoteError> = node.locate(id(1), "takes").await;
            assert!(matches!(found, Err(RemoteError::OtherMessages { .. })));
        });
    });
}

#[test]
fn an_actor_that_cannot_be_published_is_refused_with_the_reason() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        world.on(0, async |node| {
            let own = Builder::new().system(node.system()).spawn(Sum::default()).unwrap();
            let far = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap();
            let other_node = RegisterError::OtherNode { id: far.id() };
            assert_eq!(node.try_publish("far", &far), Err(other_node));
            own.stop();
            own.stopped().await;
            let stopped = RegisterError::Stopped { id: own.id() };
            assert_eq!(node.try_publish("own", &own), Err(stopped));
            assert!(!node.publish("own", own));
        });
    });
}
