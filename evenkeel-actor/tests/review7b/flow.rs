//! Full mailboxes, fairness, order.

use crate::ends;
use crate::world::{Message, World, id, runtime};
use evenkeel_actor::node::in_process::{Faults, network};
use evenkeel_actor::node::policy::Packing;
use evenkeel_actor::remote::{Hosting, Node};
use evenkeel_actor::{Actor, ActorRef, AskError, Builder, Context, Handled, ReplyTo, System};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// For each message asks another actor.
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

/// No cycle of full mailboxes: the actor that is asked has nothing else to do. In one process this ends.
#[test]
fn an_actor_with_a_full_mailbox_gets_the_answer_to_its_question() {
    ends(|| {
        let world = World::new(2, 1, Faults::default());
        let (runtime, other) = &world.nodes[1];
        let asked = world.on(0, async |node| {
            let sum = Builder::new().system(node.system());
            let sum = sum.spawn(crate::world::Sum::new(1)).unwrap();
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

struct Stuck;

impl Actor for Stuck {
    type Message = Message;

    async fn handle(&mut self, _message: Message, _context: &mut Context<Self>) -> Handled {
        std::future::pending().await
    }
}

/// A world in which node 1 has an actor that is stuck, with room for one message, under the name `stuck`.
fn stuck(nodes: u32, packing: Packing) -> World {
    let world = World::with(nodes, 2, Faults::default(), packing);
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
        let world = stuck(2, Packing::default());
        world.on(0, async |node| {
            let stuck = node.locate::<Message>(id(1), "stuck").await.unwrap();
            for _ in 0..5 {
                stuck.send(Message::Stop).await.unwrap();
            }
            stuck.kill();
            let reason = stuck.stopped().await;
            assert!(reason.to_string().contains("kill"), "{reason}");
        });
    });
}

/// Frames of one message.
fn small() -> Packing {
    Packing { frame: 1, ..Packing::default() }
}

async fn flood(node: &Node) {
    let stuck = node.locate::<Message>(id(1), "stuck").await.unwrap();
    for n in 0..400 {
        stuck.send(Message::Add(n)).await.unwrap();
    }
}

#[test]
fn one_full_mailbox_does_not_make_a_node_deaf_to_others() {
    ends(|| {
        let world = stuck(3, small());
        world.on(0, async |node| flood(&node).await);
        while world.nodes[1].1.metrics().unread_frames < 256 {
            std::thread::yield_now();
        }
        world.on(2, async |node| {
            // Another node, another actor.
            let sum = node.spawn_on::<Message, _>(id(1), "sum", &1_u64).await.unwrap();
            assert_eq!(sum.ask(Message::Get).await, Ok(1));
        });
    });
}

#[test]
fn a_node_that_is_lost_behind_a_full_mailbox_is_down() {
    ends(|| {
        let world = stuck(2, small());
        let control = world.control.clone();
        let (runtime, node) = &world.nodes[1];
        let keeps = runtime.block_on(node.spawn_on::<Message, _>(id(0), "sum", &0_u64)).unwrap();
        let open = runtime.spawn(async move { keeps.ask(Message::Keep).await });
        world.on(0, async |node| flood(&node).await);
        while node.metrics().unread_frames < 256 {
            std::thread::yield_now();
        }
        control.kill(id(0));
        assert_eq!(evenkeel::block_on(open).unwrap(), Err(AskError::NodeDown));
    });
}

/// "What is unread then is dropped", says the module of what comes.
#[test]
fn what_is_unread_of_a_node_that_is_down_is_dropped() {
    ends(|| {
        let world = stuck(2, small());
        let (runtime, node) = &world.nodes[1];
        let mut events = node.events();
        world.on(0, async |node| {
            let stuck = node.locate::<Message>(id(1), "stuck").await.unwrap();
            for n in 0..50 {
                stuck.send(Message::Add(n)).await.unwrap();
            }
        });
        while node.metrics().unread_frames < 40 {
            std::thread::yield_now();
        }
        world.control.kill(id(0));
        runtime.block_on(async { while !events.next().await.unwrap().is_loss() {} });
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(node.metrics().unread_frames, 0);
    });
}

/// A reader reads for its budget of 20 microseconds, then gives way; it has to over several frames as well as in one.
#[test]
fn a_reader_gives_way_between_frames() {
    ends(|| {
        let (_control, mut nodes) = network(2, Faults::default());
        let (end, other) = (nodes.remove(0), nodes.remove(0));
        let (mine, theirs) = (runtime(1), runtime(1));
        let start = |end| {
            let builder = Node::builder().system(System::new()).hosting(Hosting::Thread);
            let builder = builder.packing(small());
            builder.start(|| Ok::<_, String>(end))
        };
        let node = mine.block_on(start(end)).unwrap();
        let other = theirs.block_on(start(other)).unwrap();
        let local = Builder::new().system(node.system());
        let local = mine.block_on(async { local.spawn(crate::world::Sum::new(0)).unwrap() });
        assert!(node.publish("gone", local.clone()));
        let gone = theirs.block_on(async {
            other.ready().await.unwrap();
            other.locate::<Message>(id(0), "gone").await.unwrap()
        });
        // Nobody waits for room in a mailbox.
        local.stop();
        mine.block_on(local.stopped());
        // Keeps the only worker while frames pile up, then gives way.
        let go = Arc::new(AtomicBool::new(false));
        let gone_on = Arc::clone(&go);
        let counted = node.clone();
        let holds = mine.spawn(async move {
            while !gone_on.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            let before = counted.metrics().unread_frames;
            // Until the reader has had a turn.
            while counted.metrics().unread_frames == before {
                evenkeel::yield_now().await;
            }
            (before, counted.metrics().unread_frames)
        });
        theirs.block_on(async {
            for n in 0..250 {
                while gone.try_send(Message::Add(n)).is_err() {
                    evenkeel::yield_now().await;
                }
            }
        });
        while node.metrics().unread_frames < 250 {
            std::thread::yield_now();
        }
        go.store(true, Ordering::SeqCst);
        let (before, after) = evenkeel::block_on(holds).unwrap();
        // Frames of one message: whether the time is over is looked at inside of frames alone, at each 32nd message.
        assert!(after > 0, "all of {before} frames in one turn");
    });
}

#[derive(Clone, Serialize, Deserialize)]
struct Number(u64);

struct Ordered {
    next: u64,
    over: Arc<AtomicBool>,
}

impl Actor for Ordered {
    type Message = Number;

    async fn handle(&mut self, number: Number, _context: &mut Context<Self>) -> Handled {
        assert_eq!(number.0, self.next);
        self.next += 1;
        self.over.store(self.next == CASTS, Ordering::SeqCst);
        Ok(())
    }
}

const CASTS: u64 = 20_000;

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
            // One call, one frame: a list that names one actor often. What the frame holds once is read as often.
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

/// What one task sends from a runtime with several workers by a node that was started on another, with one.
#[test]
fn order_is_kept_for_senders_of_another_runtime() {
    ends(|| {
        let packing = Packing { frame: 64, cap: Duration::from_micros(5), ..Packing::default() };
        let world = World::with(2, 1, Faults::default(), packing);
        let over = Arc::new(AtomicBool::new(false));
        let (theirs, other) = &world.nodes[1];
        theirs.block_on(async {
            let actor = Ordered { next: 0, over: Arc::clone(&over) };
            let ordered = Builder::new().system(other.system()).spawn(actor).unwrap();
            assert!(other.publish("ordered", ordered));
        });
        let ordered = world.on(0, async |node| node.locate(id(1), "ordered").await.unwrap());
        let end = world.nodes[0].0.block_on(async { ordered.stopped() });
        let senders = runtime(3);
        let noise: Vec<_> = (0..6)
            .map(|_| {
                let over = Arc::clone(&over);
                senders.spawn(async move {
                    while !over.load(Ordering::SeqCst) {
                        evenkeel::yield_now().await;
                    }
                })
            })
            .collect();
        let sends: ActorRef<Number> = ordered.clone();
        let sent = senders.spawn(async move {
            for number in 0..CASTS {
                sends.send(Number(number)).await.unwrap();
                evenkeel::yield_now().await;
            }
        });
        let mut end = end;
        world.nodes[0].0.block_on(async {
            while !over.load(Ordering::SeqCst) {
                if let Some(reason) = futures::future::poll_immediate(&mut end).await {
                    over.store(true, Ordering::SeqCst);
                    panic!("{reason}");
                }
                evenkeel::yield_now().await;
            }
        });
        drop((noise, sent));
    });
}
