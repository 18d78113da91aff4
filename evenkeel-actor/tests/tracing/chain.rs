//! Causes: from actor to actor, from node to node, by replies, timers and spawns.

use crate::log::log;
use evenkeel::time::Duration;
use evenkeel_actor::node::NodeId;
use evenkeel_actor::node::in_process::{Control, Faults, network};
use evenkeel_actor::remote::Node;
use evenkeel_actor::{Actor, ActorRef, Builder, Context, Handled, ReplyTo, System, spawn, trace};
use serde::{Deserialize, Serialize};

/// The numbers that a handler has seen: its message's, and the cause's.
type Seen = (u64, Option<u64>);

fn seen<A: Actor>(context: &Context<A>) -> Seen {
    (context.message_id().unwrap().get(), context.cause().map(std::num::NonZeroU64::get))
}

/// Two nodes in this process, each with a runtime.
struct Pair {
    _control: Control,
    nodes: Vec<(evenkeel::Runtime, Node)>,
}

impl Pair {
    fn new(workers: usize) -> Self {
        let delay = Duration::ZERO..Duration::from_micros(300);
        let (control, ends) = network(2, Faults { seed: 7, delay, ..Faults::default() });
        let start = |end| {
            let runtime = evenkeel::Builder::new().workers(workers).build().unwrap();
            let builder = Node::builder().system(System::new());
            let node = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap();
            (runtime, node)
        };
        let nodes: Vec<_> = ends.into_iter().map(start).collect();
        for (runtime, node) in &nodes {
            runtime.block_on(node.ready()).unwrap();
        }
        Self { _control: control, nodes }
    }

    fn on<R>(&self, node: usize, f: impl AsyncFnOnce(Node) -> R) -> R {
        let (runtime, node) = &self.nodes[node];
        runtime.block_on(f(node.clone()))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for (runtime, node) in &self.nodes {
            runtime.block_on(node.leave());
        }
    }
}

struct Hop;

/// Visits each actor of its route, and returns with the numbers that they have seen.
#[derive(Serialize, Deserialize)]
struct Tour {
    route: Vec<ActorRef<Tour>>,
    seen: Vec<Seen>,
    reply: ReplyTo<Vec<Seen>>,
}

impl Actor for Hop {
    type Message = Tour;

    async fn handle(&mut self, mut tour: Tour, context: &mut Context<Self>) -> Handled {
        tour.seen.push(seen(context));
        match tour.route.pop() {
            Some(next) => next.send(tour).await?,
            None => tour.reply.send(tour.seen),
        }
        Ok(())
    }
}

#[test]
fn a_message_that_goes_through_two_nodes_and_back_leaves_one_chain_in_order() {
    let log = log();
    for workers in [1, 2] {
        let pair = Pair::new(workers);
        pair.nodes[1].1.register_script("hop", |()| Hop);
        let all = pair.on(0, async |node| {
            let system = node.system();
            let [first, last] = [(); 2].map(|()| Builder::new().system(system).spawn(Hop).unwrap());
            let middle = node.spawn_on::<Tour, _>(NodeId::new(1), "hop", &()).await.unwrap();
            let mut all = Vec::new();
            for _ in 0..20 {
                let route = vec![last.clone(), middle.clone()];
                let seen = first.ask(|reply| Tour { route, seen: Vec::new(), reply });
                all.push(seen.await.unwrap());
            }
            all
        });
        let spans = log.spans("handle", "::Hop");
        for tour in all {
            let mut places = Vec::new();
            let mut before = None;
            for ((id, cause), node) in tour.iter().copied().zip([0, 1, 0]) {
                assert_eq!(cause, before);
                assert_eq!(id >> 44, node + 1, "the number says on which node it is handled");
                let is = |span: &(u64, crate::log::Fields)| span.1.number("message.id") == Some(id);
                let place = spans.iter().position(is).unwrap();
                let fields = &spans[place].1;
                assert_eq!((fields.number("cause"), fields.number("node")), (cause, Some(node)));
                assert_eq!(fields.get("priority"), "normal");
                assert!(fields.get("message.type").ends_with("::Tour"));
                places.push(place);
                before = Some(id);
            }
            assert_eq!(places.len(), 3);
            assert!(places.is_sorted(), "{places:?}");
        }
    }
}

struct Asker(ActorRef<ReplyTo<Seen>>);

struct Oracle;

impl Actor for Oracle {
    type Message = ReplyTo<Seen>;

    async fn handle(&mut self, reply: ReplyTo<Seen>, context: &mut Context<Self>) -> Handled {
        reply.send(seen(context));
        Ok(())
    }
}

impl Actor for Asker {
    type Message = ReplyTo<(Seen, Seen)>;

    async fn handle(
        &mut self,
        reply: ReplyTo<(Seen, Seen)>,
        context: &mut Context<Self>,
    ) -> Handled {
        let answer = self.0.ask(|reply| reply).await?;
        reply.send((seen(context), answer));
        Ok(())
    }
}

#[test]
fn a_reply_says_in_whose_handling_it_was_sent_here_and_from_another_node() {
    let log = log();
    let pair = Pair::new(1);
    pair.nodes[1].1.register_script("oracle", |()| Oracle);
    pair.on(0, async |node| {
        let away = node.spawn_on(NodeId::new(1), "oracle", &()).await.unwrap();
        for oracle in [spawn(Oracle), away] {
            let asker = spawn(Asker(oracle));
            let (asked, answered) = asker.ask(|reply| reply).await.unwrap();
            assert_eq!(answered.1, Some(asked.0));
            let replies = log.events("reply");
            let is =
                |event: &&(_, crate::log::Fields, _)| event.1.number("cause") == Some(answered.0);
            let (_, fields, noted) = replies.iter().find(is).unwrap();
            assert_eq!(fields.number("message.id"), Some(asked.0));
            let spans = log.spans("handle", "::Asker");
            let (span, _) =
                spans.iter().find(|span| span.1.number("message.id") == Some(asked.0)).unwrap();
            assert_eq!(noted.within, [*span], "it is told in the span of the asker");
        }
    });
}

/// Records the numbers of each message, one more than it has room for.
struct Narrow(Vec<Seen>);

#[derive(Serialize, Deserialize)]
enum ToNarrow {
    Note,
    Seen(ReplyTo<Vec<Seen>>),
}

impl Actor for Narrow {
    type Message = ToNarrow;

    async fn handle(&mut self, message: ToNarrow, context: &mut Context<Self>) -> Handled {
        match message {
            ToNarrow::Note => self.0.push(seen(context)),
            ToNarrow::Seen(reply) => reply.send(std::mem::take(&mut self.0)),
        }
        Ok(())
    }
}

/// Sends a number of notes while it handles one message.
struct Flood(ActorRef<ToNarrow>);

impl Actor for Flood {
    type Message = (u32, ReplyTo<Seen>);

    async fn handle(
        &mut self,
        (notes, reply): (u32, ReplyTo<Seen>),
        context: &mut Context<Self>,
    ) -> Handled {
        for _ in 0..notes {
            self.0.send(ToNarrow::Note).await?;
        }
        reply.send(seen(context));
        Ok(())
    }
}

#[test]
fn messages_that_wait_for_room_keep_their_cause() {
    log();
    let pair = Pair::new(2);
    let narrow = || Builder::new().capacity(1).spawn(Narrow(Vec::new())).unwrap();
    pair.on(1, async |node| assert!(node.publish("narrow", narrow())));
    pair.on(0, async |node| {
        let away = node.locate(NodeId::new(1), "narrow").await.unwrap();
        for narrow in [narrow(), away] {
            let flood = spawn(Flood(narrow.clone()));
            let (sender, _) = flood.ask(|reply| (300, reply)).await.unwrap();
            let mut notes: Vec<Seen> = Vec::new();
            while notes.len() < 300 {
                notes.extend(narrow.ask(ToNarrow::Seen).await.unwrap());
            }
            assert!(notes.iter().all(|&(_, cause)| cause == Some(sender)));
        }
    });
}

/// Delayed and periodic messages.
#[derive(Default)]
struct Clock {
    reply: Option<ReplyTo<[Seen; 3]>>,
    before: Vec<Seen>,
}

enum Time {
    Begin(ReplyTo<[Seen; 3]>),
    Later,
    Tick,
}

impl Actor for Clock {
    type Message = Time;

    async fn handle(&mut self, message: Time, context: &mut Context<Self>) -> Handled {
        let now = seen(context);
        match message {
            Time::Begin(reply) => {
                self.reply = Some(reply);
                context.send_after(Duration::from_millis(1), Time::Later);
            }
            Time::Later => drop(context.send_every_with(Duration::from_millis(1), || Time::Tick)),
            Time::Tick => {
                if let (Some(reply), [begun, later]) = (self.reply.take(), &self.before[..]) {
                    reply.send([*begun, *later, now]);
                }
            }
        }
        self.before.push(now);
        Ok(())
    }
}

#[test]
fn what_a_handler_has_sent_later_has_a_cause_and_ticks_have_none() {
    log();
    let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
    let [begun, later, tick] =
        runtime.block_on(async { spawn(Clock::default()).ask(Time::Begin).await.unwrap() });
    assert_eq!((begun.1, later.1, tick.1), (None, Some(begun.0), None));
}

/// Answers when it starts.
struct Child(Option<(ReplyTo<(Seen, Seen)>, Seen)>);

impl Actor for Child {
    type Message = ();

    async fn started(&mut self, context: &mut Context<Self>) -> Handled {
        if let Some((reply, parent)) = self.0.take() {
            reply.send((parent, seen(context)));
        }
        Ok(())
    }

    async fn handle(&mut self, (): (), _: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

/// Spawns actors and tasks.
struct Parent(ActorRef<ToNarrow>);

enum Order {
    Spawn(ReplyTo<(Seen, Seen)>),
    Tasks(ReplyTo<(Seen, Vec<Seen>)>),
}

impl Actor for Parent {
    type Message = Order;

    async fn handle(&mut self, message: Order, context: &mut Context<Self>) -> Handled {
        match message {
            Order::Spawn(reply) => drop(spawn(Child(Some((reply, seen(context)))))),
            Order::Tasks(reply) => {
                let [carries, alone] = [(); 2].map(|()| self.0.clone());
                let note = async |to: ActorRef<ToNarrow>| to.send(ToNarrow::Note).await.is_ok();
                let task = trace::carry(async move { note(carries).await });
                assert!(evenkeel::spawn(task).await.unwrap());
                assert!(evenkeel::spawn(async move { note(alone).await }).await.unwrap());
                reply.send((seen(context), self.0.ask(ToNarrow::Seen).await?));
            }
        }
        Ok(())
    }
}

#[test]
fn an_actor_starts_because_of_the_message_in_whose_handling_it_was_spawned() {
    let log = log();
    let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
    let (own, started) = runtime.block_on(async {
        let parent = spawn(Parent(spawn(Narrow(Vec::new()))));
        parent.ask(Order::Spawn).await.unwrap()
    });
    assert_eq!(started.1, Some(own.0));
    let spans = log.spans("start", "::Child");
    assert_eq!(spans.len(), 1);
    assert_eq!(spans[0].1.number("cause"), Some(own.0));
}

#[test]
fn a_task_carries_a_cause_if_it_is_told_to() {
    log();
    let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
    let (own, notes) = runtime.block_on(async {
        let parent = spawn(Parent(spawn(Narrow(Vec::new()))));
        parent.ask(Order::Tasks).await.unwrap()
    });
    let causes: Vec<_> = notes.iter().map(|note| note.1).collect();
    assert_eq!(causes, [Some(own.0), None]);
}
