//! Full mailboxes: which senders wait for them, and which do not.

use super::{ends, with_peer};
use crate::world::{Message, Stuck, Sum, World, id, runtime};
use evenkeel_actor::node::altered::{Alter, Altered};
use evenkeel_actor::node::in_process::{Faults, InProcess, network};
use evenkeel_actor::node::policy::Packing;
use evenkeel_actor::node::wire::{Envelope, MembersBuf, Message as Wire};
use evenkeel_actor::node::{Slot, Transport, frame};
use evenkeel_actor::remote::{Hosting, Mismatch, Node, NodeEvent};
use evenkeel_actor::{
    Actor, ActorRef, AskError, Builder, Context, DeadLetterKind, Handled, ReplyTo, SendError,
    System,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Asks another actor for each message.
struct Asks(ActorRef<Message>);

#[derive(Serialize, Deserialize)]
enum Work {
    One,
    All(ReplyTo<()>),
}

impl Actor for Asks {
    type Message = Work;

    async fn handle(&mut self, work: Work, _context: &mut Context<Self>) -> Handled {
        match work {
            Work::One => drop(self.0.ask(Message::Get).await?),
            Work::All(reply) => reply.send(()),
        }
        Ok(())
    }
}

/// There is no cycle of full mailboxes: the asked actor has no other work. In one process this
/// ends.
#[test]
fn an_actor_with_a_full_mailbox_gets_the_answer_to_its_question() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        let (runtime, other) = &world.nodes[1];
        let asked = world.on(0, async |node| {
            let sum = Builder::new().system(node.system());
            let sum = sum.spawn(Sum::new(1)).unwrap();
            assert!(node.publish("asked", sum.clone()));
            sum
        });
        runtime.block_on(async {
            let asked = other.locate::<Message>(id(0), "asked").await.unwrap();
            let asks = Builder::new().capacity(2).system(other.system()).spawn(Asks(asked));
            assert!(other.publish("asks", asks.unwrap()));
        });
        world.on(0, async |node| {
            let asks = node.locate::<Work>(id(1), "asks").await.unwrap();
            for _ in 0..100 {
                asks.send(Work::One).await.unwrap();
            }
            asks.ask(Work::All).await.unwrap();
        });
        drop(asked);
    });
}

/// A world in which node 1 has a stuck actor with room for one message, named `stuck`.
fn stuck(nodes: u32) -> World {
    let world = World::new(nodes, 2, Faults::default());
    let (runtime, node) = &world.nodes[1];
    runtime.block_on(async {
        let stuck = Builder::new().capacity(1).system(node.system()).spawn(Stuck).unwrap();
        assert!(node.publish("stuck", stuck));
    });
    world
}

#[test]
fn an_actor_whose_mailbox_is_full_can_be_killed_from_afar() {
    ends(|| {
        let world = stuck(2);
        let other = &world.nodes[1].1;
        world.on(0, async |node| {
            let stuck = node.locate::<Message>(id(1), "stuck").await.unwrap();
            for _ in 0..5 {
                stuck.send(Message::Stop).await.unwrap();
            }
            // An actor that has ended before it is watched may be forgotten.
            let ended = stuck.stopped();
            while other.metrics().watched < 1 {
                evenkeel::yield_now().await;
            }
            stuck.kill();
            let reason = ended.await;
            assert!(reason.to_string().contains("kill"), "{reason}");
        });
    });
}

async fn flood(node: &Node) {
    let stuck = node.locate::<Message>(id(1), "stuck").await.unwrap();
    for n in 0..400 {
        stuck.send(Message::Add(n)).await.unwrap();
    }
}

fn until_waits(node: &Node, messages: usize) {
    while node.metrics().waiting_messages < messages {
        std::thread::yield_now();
    }
}

#[test]
fn one_full_mailbox_does_not_make_a_node_deaf_to_others() {
    ends(|| {
        let world = stuck(3);
        world.on(0, async |node| flood(&node).await);
        until_waits(&world.nodes[1].1, 390);
        for other in [0, 2] {
            world.on(other, async |node| {
                // Another node, another actor.
                let sum = node.spawn_on::<Message, _>(id(1), "sum", &1_u64).await.unwrap();
                assert_eq!(sum.ask(Message::Get).await, Ok(1));
            });
        }
    });
}

#[test]
fn a_node_that_is_lost_behind_a_full_mailbox_is_down_and_what_waits_of_it_is_dropped() {
    ends(|| {
        let world = stuck(2);
        let control = world.control.clone();
        let (runtime, node) = &world.nodes[1];
        let keeps = runtime.block_on(node.spawn_on::<Message, _>(id(0), "sum", &0_u64)).unwrap();
        let open = runtime.spawn(async move { keeps.ask(Message::Keep).await });
        world.on(0, async |node| flood(&node).await);
        until_waits(node, 390);
        let mut events = node.events();
        control.kill(id(0));
        assert_eq!(evenkeel::block_on(open).unwrap(), Err(AskError::NodeDown));
        runtime.block_on(async { while !events.next().await.unwrap().is_loss() {} });
        let metrics = node.metrics();
        assert_eq!((metrics.waiting_messages, metrics.unread_frames), (0, 0));
        // One is being handled, and one is in the mailbox. The porter counts its batch last.
        while node.metrics().undelivered < 398 {
            std::thread::yield_now();
        }
        assert_eq!(node.system().dead_letters_of(DeadLetterKind::Undelivered), 398);
    });
}

#[test]
fn a_stuck_actor_holds_its_senders_and_no_others() {
    ends(|| {
        let world = stuck(2);
        world.on(0, async |node| {
            let stuck = node.locate::<Message>(id(1), "stuck").await.unwrap();
            let to = stuck.clone();
            // More than is ever under way, so it has to wait.
            let sent = Arc::new(AtomicU64::new(0));
            let counted = Arc::clone(&sent);
            let over = Arc::<AtomicBool>::default();
            let ended = Arc::clone(&over);
            let flood = evenkeel::spawn(async move {
                while !ended.load(Ordering::SeqCst) {
                    to.send(Message::Add(1)).await.unwrap();
                    counted.fetch_add(1, Ordering::SeqCst);
                }
            });
            let sum = node.spawn_on::<Message, _>(id(1), "sum", &1_u64).await.unwrap();
            // Once told to hold, the sender holds for good, because nothing is taken.
            while !matches!(stuck.try_send(Message::Add(1)), Err(SendError::Full(_))) {
                assert_eq!(sum.ask(Message::Get).await, Ok(1));
            }
            sum.send(Message::Add(1)).await.unwrap();
            assert_eq!(sum.ask(Message::Get).await, Ok(2));
            // Waiting messages become dead letters, and held senders go on.
            let before = sent.load(Ordering::SeqCst);
            stuck.kill();
            stuck.stopped().await;
            while sent.load(Ordering::SeqCst) == before {
                evenkeel::yield_now().await;
            }
            over.store(true, Ordering::SeqCst);
            flood.await.unwrap();
        });
    });
}

#[derive(Serialize, Deserialize)]
enum Load {
    /// A text of some length.
    Bytes(String),
    /// Asks the other actor.
    Ask(ActorRef<Errand>),
    Done(ReplyTo<()>),
}

/// Handles nothing until it may.
struct Loaded(Arc<AtomicBool>);

impl Actor for Loaded {
    type Message = Load;

    async fn handle(&mut self, load: Load, _context: &mut Context<Self>) -> Handled {
        while !self.0.load(Ordering::SeqCst) {
            evenkeel::yield_now().await;
        }
        match load {
            Load::Bytes(_) => {}
            Load::Ask(whom) => whom.ask(Errand).await?,
            Load::Done(reply) => reply.send(()),
        }
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct Errand(ReplyTo<()>);

/// Sends a message to an actor of the asking node before it answers.
struct Runs(ActorRef<Message>);

impl Actor for Runs {
    type Message = Errand;

    async fn handle(&mut self, Errand(reply): Errand, _context: &mut Context<Self>) -> Handled {
        self.0.send(Message::Add(1)).await?;
        reply.send(());
        Ok(())
    }
}

#[test]
fn an_actor_of_a_node_where_much_waits_gets_an_answer_that_waits_for_another_actor() {
    ends(|| {
        const LOADED: usize = 20;
        let world = World::new(2, 2, Faults::default());
        let may = Arc::<AtomicBool>::default();
        let (runtime, other) = &world.nodes[1];
        runtime.block_on(async {
            for number in 0..LOADED {
                let loaded = Builder::new().capacity(1).system(other.system());
                let loaded = loaded.spawn(Loaded(Arc::clone(&may))).unwrap();
                assert!(other.publish(&format!("loaded {number}"), loaded));
            }
        });
        world.on(0, async |node| {
            let sum = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap();
            let runs = Builder::new().system(node.system()).spawn(Runs(sum.clone())).unwrap();
            let mut all = Vec::new();
            for number in 0..LOADED {
                let loaded = node.locate(id(1), &format!("loaded {number}")).await.unwrap();
                // One is being handled, one is in the mailbox, one waits.
                loaded.send(Load::Ask(runs.clone())).await.unwrap();
                loaded.send(Load::Bytes(String::new())).await.unwrap();
                loaded.send(Load::Bytes("x".repeat(1 << 20))).await.unwrap();
                all.push(loaded);
            }
            // More than sixteen megabytes.
            until_waits(other, LOADED);
            may.store(true, Ordering::SeqCst);
            for loaded in all {
                loaded.ask(Load::Done).await.unwrap();
            }
            assert_eq!(sum.ask(Message::Get).await, Ok(LOADED as u64));
        });
    });
}

/// Handles nothing until it may.
struct Waits {
    may: Arc<AtomicBool>,
    handled: Arc<AtomicU64>,
}

impl Actor for Waits {
    type Message = Message;

    async fn handle(&mut self, _message: Message, _context: &mut Context<Self>) -> Handled {
        while !self.may.load(Ordering::SeqCst) {
            evenkeel::yield_now().await;
        }
        self.handled.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn what_waits_is_handled_before_an_order_to_stop_that_came_later() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let (may, handled) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (runtime, other) = &world.nodes[1];
        runtime.block_on(async {
            let waits = Waits { may: Arc::clone(&may), handled: Arc::clone(&handled) };
            let waits = Builder::new().capacity(2).system(other.system()).spawn(waits).unwrap();
            assert!(other.publish("waits", waits));
        });
        world.on(0, async |node| {
            let waits = node.locate::<Message>(id(1), "waits").await.unwrap();
            for n in 0..50 {
                waits.send(Message::Add(n)).await.unwrap();
            }
            waits.stop();
            // An answer to a later message shows that the order has arrived.
            until_waits(other, 40);
            let sum = node.spawn_on::<Message, _>(id(1), "sum", &1_u64).await.unwrap();
            sum.ask(Message::Get).await.unwrap();
            may.store(true, Ordering::SeqCst);
            waits.stopped().await;
        });
        assert_eq!(handled.load(Ordering::SeqCst), 50);
    });
}

#[test]
fn what_waits_is_handled_though_its_node_leaves() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let (may, handled) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (runtime, other) = &world.nodes[1];
        let waits = runtime.block_on(async {
            let waits = Waits { may: Arc::clone(&may), handled: Arc::clone(&handled) };
            let waits = Builder::new().capacity(2).system(other.system()).spawn(waits).unwrap();
            assert!(other.publish("waits", waits.clone()));
            waits
        });
        world.on(0, async |node| {
            let waits = node.locate::<Message>(id(1), "waits").await.unwrap();
            for n in 0..50 {
                waits.send(Message::Add(n)).await.unwrap();
            }
        });
        // One is being handled, two are in the mailbox.
        until_waits(other, 47);
        runtime.block_on(other.leave());
        may.store(true, Ordering::SeqCst);
        while handled.load(Ordering::SeqCst) < 50 {
            std::thread::yield_now();
        }
        drop(waits);
    });
}

/// Has the first node send 50 messages to an actor of the second one, and leave. All but three wait
/// there for room. Returns what lets the actor go on, and how many messages it has handled.
fn park_and_leave(world: &World) -> (Arc<AtomicBool>, Arc<AtomicU64>) {
    let (may, handled) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
    let (runtime, other) = &world.nodes[1];
    runtime.block_on(async {
        let waits = Waits { may: Arc::clone(&may), handled: Arc::clone(&handled) };
        let waits = Builder::new().capacity(2).system(other.system()).spawn(waits).unwrap();
        assert!(other.publish("waits", waits));
    });
    let mut events = other.events();
    world.on(0, async |node| {
        let waits = node.locate::<Message>(id(1), "waits").await.unwrap();
        for n in 0..50 {
            waits.send(Message::Add(n)).await.unwrap();
        }
        node.leave().await;
    });
    runtime.block_on(async { while !events.next().await.unwrap().is_loss() {} });
    assert_eq!(other.metrics().waiting_messages, 47);
    (may, handled)
}

#[test]
fn what_waits_of_a_node_that_has_left_is_handled_however_late() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let (may, handled) = park_and_leave(&world);
        let other = &world.nodes[1].1;
        may.store(true, Ordering::SeqCst);
        while handled.load(Ordering::SeqCst) < 50 {
            std::thread::yield_now();
        }
        assert_eq!(other.system().dead_letters(), 0);
    });
}

#[test]
fn what_waits_of_a_node_that_has_left_is_dead_letters_once_the_runtime_ends() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        _ = park_and_leave(&world);
        let other = &world.nodes[1].1;
        let (system, node) = (other.system(), other.clone());
        // The runtime drops the porter.
        drop(world);
        assert_eq!(node.metrics().waiting_messages, 0);
        assert_eq!(system.dead_letters(), 49, "all but the one that is being handled");
    });
}

/// Always reports that it sends, so the host polls it whatever waits to be read.
struct Sends(bool);

impl Alter<InProcess> for Sends {
    fn is_sending(&self, inner: &InProcess) -> bool {
        self.0 || inner.is_sending()
    }

    fn leave(&mut self, inner: &mut InProcess) {
        self.0 = false;
        inner.leave();
    }
}

#[test]
fn frames_that_pile_up_while_the_transport_sends_hold_their_senders() {
    ends(|| {
        let (_control, mut ends) = network(2, Faults::default());
        let (other, end) = (ends.pop().unwrap(), ends.pop().unwrap());
        let (mine, theirs) = (runtime(1), runtime(1));
        let packing = Packing { frame: 1, ..Packing::default() };
        let builder = || {
            let builder = Node::builder().system(System::new()).hosting(Hosting::Thread);
            builder.packing(packing)
        };
        let end = Altered { inner: end, by: Sends(true) };
        let node = mine.block_on(builder().start(|| Ok::<_, String>(end))).unwrap();
        let other = theirs.block_on(builder().start(|| Ok::<_, String>(other))).unwrap();
        node.register_script("sum", Sum::new);
        theirs.block_on(other.ready()).unwrap();
        let sum = theirs.block_on(other.spawn_on::<Message, _>(id(0), "sum", &0_u64)).unwrap();
        // Keeps the only worker, so that nothing is read.
        let (go, went) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let (gone, begun) = (Arc::clone(&go), Arc::clone(&went));
        let holds = mine.spawn(async move {
            begun.store(true, Ordering::SeqCst);
            while !gone.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        });
        while !went.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        let mut sent = 0_u64;
        theirs.block_on(async {
            while sum.try_send(Message::Add(1)).is_ok() {
                sent += 1;
                evenkeel::yield_now().await;
            }
        });
        go.store(true, Ordering::SeqCst);
        evenkeel::block_on(holds).unwrap();
        theirs.block_on(async {
            sum.send(Message::Add(1)).await.unwrap();
            assert_eq!(sum.ask(Message::Get).await, Ok(sent + 1));
        });
        theirs.block_on(other.leave());
        mine.block_on(node.leave());
    });
}

#[test]
fn a_peer_that_lets_go_of_what_it_did_not_hold_or_casts_out_of_order_is_refused() {
    let slot = Slot { index: 7, generation: 0 };
    let members = |nodes: &[u32]| {
        let mut members = MembersBuf::new();
        nodes.iter().for_each(|&node| members.push(id(node), &[slot]));
        members
    };
    let lists = [members(&[]), members(&[1, 0]), members(&[0, 0]), members(&[0, 1, 1])];
    let mut many = MembersBuf::new();
    many.push(id(0), &[slot; 2_000]);
    let casts = lists.iter().chain([&many]).map(|members| {
        let message = Wire::Cast { members: members.as_members(), payload: &[] };
        vec![message]
    });
    let hold = Wire::Hold { to: Some(slot) };
    let others = [
        vec![Wire::Resume { to: None }],
        vec![Wire::Resume { to: Some(slot) }],
        vec![hold.clone(), hold],
    ];
    for messages in casts.chain(others) {
        with_peer(|runtime, node, peer| {
            let mut events = node.events();
            let mut bytes = Vec::new();
            frame::begin(&mut bytes, 0);
            for message in &messages {
                let envelope = Envelope::from(message.clone());
                envelope.append(&mut bytes).unwrap();
            }
            peer.send(id(0), bytes).unwrap();
            runtime.block_on(async {
                loop {
                    match events.next().await.unwrap() {
                        NodeEvent::Refused { why, .. } => {
                            break assert_eq!(why, Mismatch::OutOfTurn);
                        }
                        event => assert!(!event.is_loss(), "{event:?}"),
                    }
                }
            });
        });
    }
}
