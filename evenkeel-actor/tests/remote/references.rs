//! References in messages: they count on the actor's node, wherever they go, until they are
//! dropped.

use crate::ending::ends;
use crate::leases::known;
use crate::world::{Message, Sum, World, id, slow};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::node::policy::Packing;
use evenkeel_actor::remote::Node;
use evenkeel_actor::{Actor, ActorRef, Builder, Context, Handled, ReplyTo, SendError};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A message to a shop.
#[derive(Clone, Serialize, Deserialize)]
struct Several(Vec<ActorRef<Message>>);

#[derive(Serialize, Deserialize)]
enum Shop {
    /// Answers with this number of new actors of its own node, to which no reference remains there.
    Make(u64, ReplyTo<Several>),
    /// Keeps these references, and drops earlier ones.
    Keep(Several),
    /// Answers with the sum over the kept actors.
    Total(ReplyTo<u64>),
    /// Moves its references to that shop.
    HandOn(ActorRef<Shop>),
    /// Answers with its references, and keeps none.
    Take(ReplyTo<Several>),
    /// Drops an unreadable message.
    Odd(ActorRef<Odd>, Several),
}

/// A message that can be written but not read.
#[derive(Serialize)]
struct Odd(Vec<ActorRef<Message>>);

impl<'de> Deserialize<'de> for Odd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Vec::<ActorRef<Message>>::deserialize(deserializer)?;
        Err(D::Error::custom(format_args!("{} references are odd", read.len())))
    }
}

/// Receives no message.
struct TakesOdd;

impl Actor for TakesOdd {
    type Message = Odd;

    async fn handle(&mut self, _message: Odd, _context: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

#[derive(Default)]
struct Keeper(Vec<ActorRef<Message>>);

impl Actor for Keeper {
    type Message = Shop;

    async fn handle(&mut self, message: Shop, context: &mut Context<Self>) -> Handled {
        match message {
            Shop::Make(many, reply) => {
                let builder = Builder::new().system(context.actor_ref().system());
                let make = |sum| builder.clone().spawn(Sum::new(sum)).unwrap();
                reply.send(Several((0..many).map(make).collect()));
            }
            Shop::Keep(Several(kept)) => self.0 = kept,
            Shop::Total(reply) => {
                let mut total = 0;
                for kept in &self.0 {
                    total += kept.ask(Message::Get).await?;
                }
                reply.send(total);
            }
            Shop::HandOn(to) => to.send(Shop::Keep(Several(std::mem::take(&mut self.0)))).await?,
            Shop::Take(reply) => reply.send(Several(std::mem::take(&mut self.0))),
            Shop::Odd(to, Several(references)) => to.send(Odd(references)).await?,
        }
        Ok(())
    }
}

fn shops(nodes: u32, workers: usize, faults: Faults) -> World {
    let world = World::new(nodes, workers, faults);
    for (_, node) in &world.nodes {
        node.register_script("shop", |()| Keeper::default());
    }
    world
}

#[test]
fn a_hundred_thousand_references_in_messages_that_are_dropped_leave_no_actor() {
    ends(|| {
        for workers in [1, 2] {
            let world = shops(2, workers, Faults::default());
            let owner = world.nodes[1].1.clone();
            world.on(0, async move |node| {
                let shop = node.spawn_on::<Shop, _>(id(1), "shop", &()).await.unwrap();
                for _ in 0..50 {
                    let made = shop.ask(|reply| Shop::Make(1_000, reply)).await.unwrap();
                    assert_eq!(made.0.len(), 1_000);
                }
                known(&owner, 1).await;
            });
        }
    });
}

#[test]
fn an_actor_ends_when_the_third_node_that_has_it_drops_it_after_its_lender() {
    ends(|| {
        for workers in [1, 2] {
            let world = shops(3, workers, slow(7));
            let owner = world.nodes[1].1.clone();
            world.on(0, async move |node| {
                let third = node.spawn_on::<Shop, _>(id(2), "shop", &()).await.unwrap();
                let actor = node.spawn_on::<Message, _>(id(1), "sum", &7_u64).await.unwrap();
                third.send(Shop::Keep(Several(vec![actor]))).await.unwrap();
                // Earlier releases are applied before this.
                drop(node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap());
                known(&owner, 1).await;
                assert_eq!(third.ask(Shop::Total).await, Ok(7));
                third.send(Shop::Keep(Several(Vec::new()))).await.unwrap();
                known(&owner, 0).await;
            });
        }
    });
}

/// Sends an actor of a node more than its mailbox takes, but too little for senders to be held.
async fn fill(node: &Node, actor: &ActorRef<Shop>, on: &Node) {
    while on.metrics().waiting_messages == 0 {
        for _ in 0..50 {
            actor.send(Shop::Keep(Several(Vec::new()))).await.unwrap();
        }
        // By then they have arrived.
        drop(node.spawn_on::<Message, _>(on.id(), "sum", &0_u64).await.unwrap());
    }
}

/// A stopped actor, one that stays full, and one with unreadable messages.
#[test]
fn a_message_that_nothing_reads_gives_its_references_back() {
    ends(|| {
        for workers in [1, 2] {
            let world = shops(3, workers, slow(3));
            for (_, node) in &world.nodes {
                node.register_script("odd", |()| TakesOdd);
                node.register_script("still", |()| Still);
            }
            let owners = [0, 1].map(|node| world.nodes[node].1.clone());
            let reader = world.nodes[2].1.clone();
            world.on(0, async move |node| {
                let actor = async |of| {
                    let actor = node.spawn_on::<Message, _>(id(of), "sum", &1_u64);
                    Several(vec![actor.await.unwrap()])
                };
                let gone = node.spawn_on::<Shop, _>(id(2), "shop", &()).await.unwrap();
                gone.kill();
                gone.stopped().await;
                let odd = node.spawn_on::<Odd, _>(id(2), "odd", &()).await.unwrap();
                let still = node.spawn_on::<Shop, _>(id(2), "still", &()).await.unwrap();
                // Of this node, and of a third one.
                for of in [0, 1] {
                    gone.send(Shop::Keep(actor(of).await)).await.unwrap();
                    odd.send(Odd(actor(of).await.0)).await.unwrap();
                }
                while reader.metrics().undelivered < 4 {
                    evenkeel::yield_now().await;
                }
                assert_eq!(reader.metrics().unreadable, 2);
                // More than its mailbox takes: the others are parked, and not read.
                fill(&node, &still, &reader).await;
                for of in [0, 1].repeat(10) {
                    still.send(Shop::Keep(actor(of).await)).await.unwrap();
                }
                while reader.metrics().waiting_messages < 20 {
                    evenkeel::yield_now().await;
                }
                still.kill();
                for owner in &owners {
                    known(owner, 0).await;
                }
            });
        }
    });
}

/// Handles nothing, because its first message keeps it busy.
struct Still;

impl Actor for Still {
    type Message = Shop;

    async fn handle(&mut self, _message: Shop, _context: &mut Context<Self>) -> Handled {
        std::future::pending().await
    }
}

#[test]
fn an_answer_that_its_asker_does_not_wait_for_gives_its_references_back() {
    ends(|| {
        let world = shops(2, 1, slow(4));
        let owner = world.nodes[1].1.clone();
        world.on(0, async move |node| {
            let shop = node.spawn_on::<Shop, _>(id(1), "shop", &()).await.unwrap();
            for _ in 0..20 {
                let mut asked = Box::pin(shop.ask(|reply| Shop::Make(10, reply)).into_future());
                assert!(futures::poll!(asked.as_mut()).is_pending());
            }
            // All have been answered, late or between the poll and the drop.
            assert_eq!(shop.ask(Shop::Total).await, Ok(0));
            known(&owner, 1).await;
        });
    });
}

/// Its references were counted before it proved unwritable, or too long.
#[test]
fn a_message_that_is_not_sent_gives_its_references_back() {
    #[derive(Clone, Deserialize)]
    struct Unwritable(ActorRef<Message>);

    impl Serialize for Unwritable {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.serialize(serializer)?;
            Err(serde::ser::Error::custom("it stays here"))
        }
    }

    struct Takes;

    impl Actor for Takes {
        type Message = Unwritable;

        async fn handle(&mut self, _: Unwritable, _: &mut Context<Self>) -> Handled {
            Ok(())
        }
    }

    ends(|| {
        let packing = Packing { longest_message: 1_000, ..Packing::default() };
        let world = World::with(2, 1, Faults::default(), packing);
        world.nodes[1].1.register_script("takes", |()| Takes);
        world.nodes[1].1.register_script("shop", |()| Keeper::default());
        let owner = world.nodes[0].1.clone();
        world.on(0, async move |node| {
            let own = Builder::new().system(node.system()).spawn(Sum::new(1)).unwrap();
            let takes = node.spawn_on::<Unwritable, _>(id(1), "takes", &()).await.unwrap();
            let shop = node.spawn_on::<Shop, _>(id(1), "shop", &()).await.unwrap();
            assert!(takes.send(Unwritable(own.clone())).await.is_err());
            assert!(node.cast(&[takes], &Unwritable(own.clone())).await.is_err());
            let spawned = node.spawn_on::<Shop, _>(id(1), "shop", &Unwritable(own.clone())).await;
            assert!(spawned.is_err());
            let long = Several(vec![own.clone(); 1_000]);
            assert!(shop.send(Shop::Keep(long)).await.is_err());
            assert_eq!(node.metrics().known_actors, 0);
            drop(own);
            known(&owner, 0).await;
        });
    });
}

#[test]
fn a_message_with_more_references_than_a_reader_takes_is_not_sent() {
    const MOST: usize = 65_536;
    ends(|| {
        for workers in [1, 2] {
            let world = shops(2, workers, Faults::default());
            let (owner, other) = (world.nodes[0].1.clone(), world.nodes[1].1.clone());
            world.on(0, async move |node| {
                let own = Builder::new().system(node.system()).spawn(Sum::new(1)).unwrap();
                let away = node.spawn_on::<Message, _>(id(1), "sum", &1_u64).await.unwrap();
                let shop = node.spawn_on::<Shop, _>(id(1), "shop", &()).await.unwrap();
                for actor in [&own, &away] {
                    let several = |count| Several(vec![actor.clone(); count]);
                    let error = shop.send(Shop::Keep(several(MOST + 1))).await.unwrap_err();
                    assert!(matches!(error, SendError::Unwritable(_)), "{error}");
                    shop.send(Shop::Keep(several(MOST))).await.unwrap();
                    assert_eq!(shop.ask(Shop::Take).await.unwrap().0.len(), MOST);
                }
                drop((own, away, shop));
                known(&owner, 0).await;
                known(&other, 0).await;
            });
        }
    });
}

/// The message loses its only reference to an actor of a lost node during serialisation.
#[test]
fn the_last_reference_to_an_actor_of_a_lost_node_is_lent() {
    #[derive(Deserialize)]
    struct Once(#[serde(deserialize_with = "kept")] Mutex<Option<ActorRef<Message>>>);

    fn kept<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Mutex<Option<ActorRef<Message>>>, D::Error> {
        Ok(Mutex::new(Some(ActorRef::deserialize(deserializer)?)))
    }

    impl Serialize for Once {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.lock().unwrap().take().expect("it is written once").serialize(serializer)
        }
    }

    struct Takes;

    impl Actor for Takes {
        type Message = Once;

        async fn handle(&mut self, _: Once, _: &mut Context<Self>) -> Handled {
            Ok(())
        }
    }

    ends(|| {
        let world = World::new(3, 1, Faults::default());
        world.nodes[2].1.register_script("takes", |()| Takes);
        let control = world.control.clone();
        world.on(0, async move |node| {
            let takes = node.spawn_on::<Once, _>(id(2), "takes", &()).await.unwrap();
            let lost = node.spawn_on::<Message, _>(id(1), "sum", &1_u64).await.unwrap();
            let also = node.spawn_on::<Message, _>(id(1), "sum", &2_u64).await.unwrap();
            takes.send(Once(Mutex::new(Some(also)))).await.unwrap();
            control.kill(id(1));
            lost.stopped().await;
            takes.send(Once(Mutex::new(Some(lost)))).await.unwrap();
            node.spawn_on::<Once, _>(id(2), "takes", &()).await.unwrap();
        });
    });
}

#[test]
fn what_a_lost_node_was_sent_is_given_back() {
    ends(|| {
        let world = shops(3, 1, Faults::default());
        let control = world.control.clone();
        world.on(0, async move |node| {
            let lost = node.spawn_on::<Shop, _>(id(2), "shop", &()).await.unwrap();
            let own = Builder::new().system(node.system()).spawn(Sum::new(1)).unwrap();
            lost.send(Shop::Keep(Several(vec![own; 3]))).await.unwrap();
            known(&node, 1).await;
            control.kill(id(2));
            known(&node, 0).await;
        });
    });
}

/// The first node sends the reference home, to a busy actor, and drops it. It is local there.
#[test]
fn a_reference_that_waits_to_be_read_at_home_keeps_its_actor() {
    ends(|| {
        for workers in [1, 2] {
            let world = shops(2, workers, Faults::default());
            let owner = world.nodes[1].1.clone();
            let (may, total) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
            let slow = (may.clone(), total.clone());
            owner.register_script("slow", move |()| Slow(slow.0.clone(), slow.1.clone()));
            world.on(0, async move |node| {
                let slow = node.spawn_on::<Shop, _>(id(1), "slow", &()).await.unwrap();
                // Its mailbox is full, so the last message is parked.
                fill(&node, &slow, &owner).await;
                let actor = node.spawn_on::<Message, _>(id(1), "sum", &5_u64).await.unwrap();
                slow.send(Shop::Keep(Several(vec![actor]))).await.unwrap();
                // Earlier releases are read before this one, which is sent later.
                for _ in 0..3 {
                    drop(node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap());
                    while owner.metrics().known_actors > 1 {
                        evenkeel::yield_now().await;
                    }
                }
                may.store(true, Ordering::SeqCst);
                while total.load(Ordering::SeqCst) == 0 {
                    evenkeel::yield_now().await;
                }
                assert_eq!(total.load(Ordering::SeqCst), 5);
                drop(slow);
                known(&owner, 0).await;
            });
        }
    });
}

/// Begins when it may, and adds its numbers up.
struct Slow(Arc<AtomicBool>, Arc<AtomicU64>);

impl Actor for Slow {
    type Message = Shop;

    async fn handle(&mut self, message: Shop, _context: &mut Context<Self>) -> Handled {
        while !self.0.load(Ordering::SeqCst) {
            evenkeel::yield_now().await;
        }
        let Shop::Keep(Several(kept)) = message else { return Ok(()) };
        for actor in kept {
            assert_eq!(actor.remote_name(), None);
            self.1.fetch_add(actor.ask(Message::Get).await?, Ordering::SeqCst);
        }
        Ok(())
    }
}

/// Each node on the way lends it to the next, and earlier loans are dropped meanwhile.
#[test]
fn a_reference_goes_round_all_nodes_and_is_counted_everywhere() {
    ends(|| {
        for workers in [1, 2] {
            let world = shops(4, workers, slow(9));
            let owner = world.nodes[0].1.clone();
            world.on(0, async move |node| {
                let mut shops = Vec::new();
                for of in 1..4 {
                    shops.push(node.spawn_on::<Shop, _>(id(of), "shop", &()).await.unwrap());
                }
                let own = Builder::new().system(node.system()).spawn(Sum::new(3)).unwrap();
                shops[0].send(Shop::Keep(Several(vec![own]))).await.unwrap();
                for hop in 0..30 {
                    let (from, to) = (&shops[hop % 3], &shops[(hop + 1) % 3]);
                    from.send(Shop::HandOn(to.clone())).await.unwrap();
                    // It arrives only through that node.
                    while to.ask(Shop::Total).await != Ok(3) {}
                }
                let Several(home) = shops[0].ask(Shop::Take).await.unwrap();
                assert_eq!(home[0].remote_name(), None);
                assert_eq!(owner.system().metrics().alive(), 1);
                drop(home);
                known(&owner, 0).await;
            });
        }
    });
}

#[test]
fn references_in_arguments_and_in_casts_are_counted() {
    ends(|| {
        for workers in [1, 2] {
            let world = shops(5, workers, slow(11));
            let sum = Arc::<AtomicU64>::default();
            for (_, node) in &world.nodes {
                let sum = Arc::clone(&sum);
                node.register_script("keeps", |Several(kept)| Keeper(kept));
                node.register_script("receiver", move |()| Receiver(Arc::clone(&sum)));
            }
            let owners = [0, 1].map(|node| world.nodes[node].1.clone());
            world.on(0, async move |node| {
                let third = node.spawn_on::<Message, _>(id(1), "sum", &10_u64).await.unwrap();
                let own = Builder::new().system(node.system()).spawn(Sum::new(1)).unwrap();
                let several = Several(vec![own, third]);
                let mut shops = Vec::new();
                // On other nodes, one of them an actor's own, and on this one.
                for of in 0..5 {
                    let shop = node.spawn_on::<Shop, _>(id(of), "keeps", &several).await.unwrap();
                    assert_eq!(shop.ask(Shop::Total).await, Ok(11), "on node {of}");
                    shops.push(shop);
                }
                shops.remove(0);
                for shop in &shops {
                    shop.send(Shop::Keep(Several(Vec::new()))).await.unwrap();
                }
                let mut receivers = Vec::new();
                for n in 0..8 {
                    let receiver = node.spawn_on::<Casts, _>(id(n % 4 + 1), "receiver", &());
                    receivers.push(receiver.await.unwrap());
                }
                let cast = Casts(several);
                let report = node.cast(&receivers, &cast).await.unwrap();
                assert_eq!(report.handed_on, 8);
                drop((cast, shops));
                // Receivers of casts are kept until they are stopped, after all messages under way.
                while sum.load(Ordering::SeqCst) < 8 * 11 {
                    evenkeel::yield_now().await;
                }
                receivers.iter().for_each(ActorRef::stop);
                known(&owners[0], 0).await;
                while owners[1].system().metrics().alive() > 0 {
                    evenkeel::yield_now().await;
                }
            });
        }
    });
}

#[derive(Clone, Serialize, Deserialize)]
struct Casts(Several);

/// Adds up the sums of the actors that it receives.
struct Receiver(Arc<AtomicU64>);

impl Actor for Receiver {
    type Message = Casts;

    async fn handle(&mut self, cast: Casts, _context: &mut Context<Self>) -> Handled {
        for actor in &cast.0.0 {
            self.0.fetch_add(actor.ask(Message::Get).await?, Ordering::SeqCst);
        }
        Ok(())
    }
}
