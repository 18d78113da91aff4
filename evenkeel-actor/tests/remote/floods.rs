//! Whatever a peer sends, or leaves unanswered, a node keeps no more than its limits.

use crate::bad_peers::{NODE, PEER, Pair};
use crate::ending::ends;
use crate::links::{Order, Tied};
use crate::world::{Message, Stuck, Sum, World, id};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::node::wire::{End, EndBy, EndKind, MembersBuf, Message as Wire};
use evenkeel_actor::node::{NodeId, Slot};
use evenkeel_actor::remote::{Limits, Mismatch, NodeEvent, RemoteError};
use evenkeel_actor::{
    Actor, ActorRef, AskError, Builder, Context, Event, ExitReason, Handled, ReplyTo, SendError,
};
use futures::channel::oneshot;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const TIES: usize = 100;

fn limits() -> Limits {
    Limits { ties: TIES, ..Limits::default() }
}

#[test]
fn a_pair_that_a_peer_links_many_times_is_linked_until_the_last_of_them_is_closed() {
    for workers in [1, 2] {
        let (mut pair, to) = Pair::with_actor(workers, limits());
        let from = Slot { index: 7, generation: 0 };
        let links = (0..TIES as u64).map(|tie| Wire::Link { tie, from, to });
        pair.send(&links.collect::<Vec<_>>());
        let close = |tie| Wire::Untie { tie, opener: true };
        let last = 40;
        let others = (0..TIES as u64).rev().filter(|&tie| tie != last);
        pair.send(&others.map(close).collect::<Vec<_>>());
        // The answer to this shows that all earlier messages have been read.
        pair.spawn();
        assert_eq!(pair.node.metrics().links, 1);
        pair.send(&[close(last)]);
        pair.spawn();
        assert_eq!(pair.node.metrics().links, 0);
    }
}

#[test]
fn a_peer_that_watches_and_links_more_than_it_was_told_is_shut_out() {
    for (workers, links) in [(1, false), (2, false), (1, true), (2, true)] {
        let (mut pair, to) = Pair::with_actor(workers, limits());
        let open = |tie: u64| {
            let from = Slot { index: tie as u32, generation: 0 };
            if links { Wire::Link { tie, from, to } } else { Wire::Monitor { tie, to } }
        };
        let kept = |pair: &Pair| pair.node.metrics().watched + pair.node.metrics().links;
        let all: Vec<_> = (0..TIES as u64).map(open).collect();
        pair.send(&all);
        while kept(&pair) < TIES {
            std::thread::yield_now();
        }
        // What is given back can be taken again, repeatedly.
        for round in 1..20 {
            let first = (round - 1) * TIES as u64;
            let back = (first..first + TIES as u64).map(|tie| Wire::Untie { tie, opener: true });
            let again = (first + TIES as u64..first + 2 * TIES as u64).map(open);
            pair.send(&back.chain(again).collect::<Vec<_>>());
        }
        // The answer to this shows that all earlier messages have been read.
        let slot = pair.spawn();
        assert_ne!(slot, to);
        assert_eq!(kept(&pair), TIES);
        pair.send(&[open(1 << 40)]);
        let why = Mismatch::TooManyTies { most: TIES };
        assert!(why.to_string().contains("100"), "{why}");
        assert_eq!(pair.event(), NodeEvent::Refused { node: PEER, why });
        assert_eq!(kept(&pair), 0);
    }
}

#[test]
fn a_peer_that_uses_a_number_twice_is_shut_out() {
    for workers in [1, 2] {
        let (mut pair, to) = Pair::with_actor(workers, limits());
        pair.send(&[Wire::Monitor { tie: 7, to }, Wire::Link { tie: 7, from: to, to }]);
        assert_eq!(pair.event(), NodeEvent::Refused { node: PEER, why: Mismatch::OutOfTurn });
    }
}

/// Traps exits, and takes note of none before it may.
struct Hub {
    may: Arc<AtomicBool>,
    told: Arc<AtomicUsize>,
}

impl Actor for Hub {
    type Message = Message;

    async fn started(&mut self, context: &mut Context<Self>) -> Handled {
        context.trap_exits(true);
        Ok(())
    }

    async fn handle(&mut self, _message: Message, _context: &mut Context<Self>) -> Handled {
        Ok(())
    }

    async fn event(&mut self, _event: Event, _context: &mut Context<Self>) -> Handled {
        while !self.may.load(Ordering::SeqCst) {
            evenkeel::yield_now().await;
        }
        self.told.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn ends_that_a_busy_actor_has_not_heard_of_count_as_ties() {
    ends(|| {
        for workers in [1, 2] {
            let mut pair = Pair::greeted(workers, limits());
            let (may, told) = (Arc::new(AtomicBool::new(false)), Arc::default());
            let hub = Hub { may: Arc::clone(&may), told: Arc::clone(&told) };
            let hub = pair
                .runtime
                .block_on(async { Builder::new().system(pair.node.system()).spawn(hub).unwrap() });
            assert!(pair.node.publish("hub", hub));
            let name = std::any::type_name::<Message>();
            pair.send(&[Wire::Locate { call: 6, name: "hub", messages: name }]);
            let to = pair.receive(|message| match message {
                Wire::Located { call: 6, at } => Some(*at),
                _ => None,
            });
            let from = Slot { index: 7, generation: 0 };
            let end = End { by: EndBy::Itself, kind: EndKind::Panicked, node: PEER, detail: "x" };
            let link = |tie| Wire::Link { tie, from, to };
            let is_over = |tie| [link(tie), Wire::Exit { tie, opener: true, end }];
            for tie in 0..TIES as u64 {
                pair.send(&is_over(tie));
            }
            // The peer cannot know that the actor is behind: it is told, and is not shut out.
            let [next, after] = [0, 1].map(|more| TIES as u64 + more);
            pair.send(&is_over(next));
            let arguments = [name.as_bytes(), &[0, 9]].concat();
            let spawn = Wire::Spawn { call: 5, script: "sum", parent: None, arguments: &arguments };
            pair.send(&[spawn]);
            let answer = pair.receive(|message| match message {
                Wire::Exit { tie, opener: false, end } => Some(Some((*tie, end.kind, end.node))),
                Wire::Located { call: 5, .. } => Some(None),
                _ => None,
            });
            assert_eq!(answer, Some((next, EndKind::TooManyTies, NODE)));
            assert_eq!(told.load(Ordering::SeqCst), 0);
            may.store(true, Ordering::SeqCst);
            while told.load(Ordering::SeqCst) < TIES {
                std::thread::yield_now();
            }
            // The last may have been told, and its end may still count.
            for tie in after.. {
                pair.send(&[link(tie)]);
                pair.spawn();
                if pair.node.metrics().links == 1 {
                    break;
                }
            }
            assert_eq!(told.load(Ordering::SeqCst), TIES);
        }
    });
}

#[test]
fn ends_of_ties_that_are_not_there_mean_nothing_and_nothing_is_kept_of_them() {
    for workers in [1, 2] {
        let (mut pair, to) = Pair::with_actor(workers, limits());
        let node = NodeId::new(0);
        let end = End { by: EndBy::Itself, kind: EndKind::Killed, node, detail: "" };
        for round in 0..50_u64 {
            let ties = (round * 100..round * 100 + 100).flat_map(|tie| {
                [true, false].into_iter().flat_map(move |opener| {
                    [Wire::Untie { tie, opener }, Wire::Exit { tie, opener, end }]
                })
            });
            pair.send(&ties.collect::<Vec<_>>());
        }
        // To nonexistent actors.
        let nobody = Slot { index: 77, generation: 3 };
        for tie in 0..5_000 {
            pair.send(&[Wire::Monitor { tie, to: nobody }]);
            let exit = pair.receive(|message| match message {
                Wire::Exit { tie, opener: false, end } => Some((*tie, end.kind)),
                _ => None,
            });
            assert_eq!(exit, (tie, EndKind::NoSuchActor));
        }
        assert_ne!(pair.spawn(), to);
        let metrics = pair.node.metrics();
        assert_eq!((metrics.links, metrics.watched, metrics.open_watches), (0, 0, 0));
    }
}

#[test]
fn an_actor_that_watches_or_links_more_than_another_node_takes_is_told() {
    for workers in [1, 2] {
        let world = World::built(2, workers, Faults::default(), |node, builder| {
            let ties = if node == 1 { TIES } else { 10_000 };
            builder.limits(Limits { ties, ..Limits::default() })
        });
        world.nodes[1].1.register_script("tied", Tied::new);
        world.on(0, async |node| {
            let there = node.spawn_on::<Order, _>(id(1), "tied", &true).await.unwrap();
            let watches: Vec<_> = (1..TIES).map(|_| there.stopped()).collect();
            let spawn = || Builder::new().system(node.system()).spawn(Tied::new(false)).unwrap();
            let last = spawn();
            last.send(Order::Link(there.clone())).await.unwrap();
            assert_eq!(last.ask(Order::Exits).await, Ok(vec![]));
            let reason = there.stopped().await;
            assert!(matches!(reason, ExitReason::TooManyTies(node) if node == id(1)), "{reason}");
            assert!(reason.to_string().contains("raise the limit"), "{reason}");
            let refused = spawn();
            refused.send(Order::Link(there.clone())).await.unwrap();
            let reason = refused.stopped().await;
            let ExitReason::Linked { actor, reason } = reason else { panic!("{reason}") };
            assert_eq!(actor, there.id());
            assert!(matches!(*reason, ExitReason::TooManyTies(_)), "{reason}");
            // Waiters that give up make room, and no node was shut out.
            drop(watches);
            let mut attempts = 0;
            let waits = loop {
                let stopped = there.stopped();
                match futures::poll!(Box::pin(stopped)) {
                    std::task::Poll::Ready(ExitReason::TooManyTies(_)) => attempts += 1,
                    std::task::Poll::Ready(reason) => panic!("{reason}"),
                    std::task::Poll::Pending => break there.stopped(),
                }
                assert!(attempts < TIES, "nothing was swept");
            };
            there.stop();
            assert!(waits.await.is_normal());
        });
    }
}

#[test]
fn questions_that_are_never_answered_are_bounded() {
    const CALLS: usize = 50;
    for workers in [1, 2] {
        let limits = Limits { calls: CALLS, ..Limits::default() };
        let world =
            World::built(2, workers, Faults::default(), |_, builder| builder.limits(limits));
        world.on(0, async move |node| {
            let sum = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap();
            let mut asked: Vec<_> = (0..CALLS).map(|_| Box::pin(sum.ask(Message::Keep))).collect();
            for ask in &mut asked {
                assert!(futures::poll!(ask).is_pending());
            }
            assert_eq!(node.metrics().open_calls, CALLS);
            assert_eq!(sum.ask(Message::Get).await, Err(AskError::TooManyCalls));
            let error = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap_err();
            assert_eq!(error, RemoteError::TooManyCalls { node: id(1) });
            // Messages without a question go on, and one with a question is returned.
            sum.send(Message::Add(1)).await.unwrap();
            let passer = Builder::new().system(node.system()).spawn(Passer).unwrap();
            let (tell, told) = oneshot::channel();
            let answer = passer.ask(|reply| Pass(reply, sum.clone(), tell)).await;
            assert_eq!(answer, Err(AskError::NoReply));
            assert_eq!(told.await.unwrap(), "TooManyCalls(..)");
            assert_eq!(node.metrics().open_calls, CALLS);
            // Askers that give up make room.
            asked.truncate(CALLS / 2);
            let mut refused = 0;
            while sum.ask(Message::Get).await == Err(AskError::TooManyCalls) {
                refused += 1;
                assert!(refused < CALLS);
            }
            assert_eq!(node.metrics().open_calls, CALLS / 2);
            sum.kill();
            for ask in asked {
                assert_eq!(ask.await, Err(AskError::NoReply));
            }
            assert_eq!(node.metrics().open_calls, 0);
        });
    }
}

/// Hands a question on to an actor of another node, and reports the error.
struct Passer;

struct Pass(ReplyTo<u64>, ActorRef<Message>, oneshot::Sender<String>);

impl Actor for Passer {
    type Message = Pass;

    async fn handle(&mut self, pass: Pass, _context: &mut Context<Self>) -> Handled {
        let Pass(reply, to, tell) = pass;
        let error: SendError<Message> = to.try_send(Message::Get(reply)).unwrap_err();
        tell.send(format!("{error:?}")).expect("it waits");
        Ok(())
    }
}

#[test]
fn a_node_that_has_as_many_actors_started_as_it_may_takes_no_room_from_others() {
    ends(|| {
        const ACTORS: usize = 8;
        let limits = Limits { actors: ACTORS, ..Limits::default() };
        let world = World::built(3, 1, Faults::default(), |_, builder| builder.limits(limits));
        let start = async |node: evenkeel_actor::remote::Node| {
            let mut actors = Vec::new();
            loop {
                match node.spawn_on::<Message, _>(id(2), "sum", &0_u64).await {
                    Ok(actor) => actors.push(actor),
                    Err(error) => break (actors, error),
                }
            }
        };
        for from in [0, 1] {
            world.on(from, async move |node| {
                let (actors, error) = start(node).await;
                assert_eq!(
                    (actors.len(), error),
                    (ACTORS, RemoteError::TooManyActors { node: id(2) })
                );
                // They exist until the other node has been refused, too.
                std::mem::forget(actors);
            });
        }
    });
}

#[test]
fn scripts_start_no_more_actors_for_others_than_may_be_known() {
    const ACTORS: usize = 20;
    for workers in [1, 2] {
        let limits = Limits { actors: ACTORS, ..Limits::default() };
        let world =
            World::built(2, workers, Faults::default(), |_, builder| builder.limits(limits));
        world.on(0, async |node| {
            let spawn = async || node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await;
            let mut actors = Vec::new();
            for _ in 0..ACTORS {
                actors.push(spawn().await.unwrap());
            }
            let error = spawn().await.unwrap_err();
            assert_eq!(error, RemoteError::TooManyActors { node: id(1) });
            assert!(error.to_string().contains("raise its limit"), "{error}");
            let last = actors.pop().unwrap();
            last.stop_now();
            last.stopped().await;
            let mut refused = 0;
            while let Err(error) = spawn().await {
                assert_eq!(error, RemoteError::TooManyActors { node: id(1) });
                refused += 1;
                assert!(refused < ACTORS);
            }
        });
    }
}

#[test]
fn collective_sends_to_a_full_mailbox_are_dead_letters_beyond_a_bound() {
    const WAITING: usize = 10;
    const SENT: usize = 1_000;
    for workers in [1, 2] {
        let limits = Limits { waiting_casts: WAITING, ..Limits::default() };
        let (mut pair, _) = Pair::with_actor(workers, limits);
        let stuck = pair.runtime.block_on(async {
            Builder::new().capacity(2).system(pair.node.system()).spawn(Stuck).unwrap()
        });
        assert!(pair.node.publish("stuck", stuck.clone()));
        let messages = std::any::type_name::<Message>();
        pair.send(&[Wire::Locate { call: 6, name: "stuck", messages }]);
        let to = pair.receive(|message| match message {
            Wire::Located { call: 6, at } => Some(*at),
            _ => None,
        });
        let mut members = MembersBuf::new();
        members.push(NODE, &[to]);
        // Adds one.
        let cast = Wire::Cast { members: members.as_members(), payload: &[0, 1] };
        pair.send(&vec![cast; SENT]);
        // One is handled, two are in the mailbox, and `WAITING` wait.
        let dead = (SENT - 3 - WAITING) as u64;
        while pair.node.metrics().undelivered < dead {
            std::thread::yield_now();
        }
        assert_ne!(pair.spawn(), to);
        assert_eq!(pair.node.metrics().undelivered, dead);
        assert_eq!(pair.node.system().dead_letters(), dead);
        stuck.kill();
        while pair.node.metrics().undelivered < dead + WAITING as u64 {
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_peer_of_which_more_waits_for_a_full_mailbox_than_may_is_shut_out() {
    const PARKED: usize = 9 << 20;
    let limits = Limits { parked: PARKED, ..Limits::default() };
    let (mut pair, _) = Pair::with_actor(1, limits);
    let stuck = pair.runtime.block_on(async {
        Builder::new().capacity(2).system(pair.node.system()).spawn(Stuck).unwrap()
    });
    assert!(pair.node.publish("stuck", stuck.clone()));
    let messages = std::any::type_name::<Message>();
    pair.send(&[Wire::Locate { call: 6, name: "stuck", messages }]);
    let to = pair.receive(|message| match message {
        Wire::Located { call: 6, at } => Some(*at),
        _ => None,
    });
    // One is handled, two are in the mailbox, one waits; messages behind it stay unread.
    pair.send(&vec![Wire::Tell { to, payload: &[0, 1] }; 4]);
    let payload = vec![0; 1 << 19];
    let tell = Wire::Tell { to, payload: &payload };
    for _ in 0..PARKED / 2 / payload.len() + 1 {
        pair.send(std::slice::from_ref(&tell));
    }
    // The peer is told to hold values for the actor, and then all values.
    let told = RefCell::new(Vec::new());
    pair.receive(|message| match message {
        Wire::Hold { to } => {
            told.borrow_mut().push(*to);
            to.is_none().then_some(())
        }
        _ => None,
    });
    assert_eq!(*told.borrow(), [Some(to), None]);
    for _ in 0..PARKED / 2 / payload.len() + 1 {
        pair.send(std::slice::from_ref(&tell));
    }
    match pair.event() {
        NodeEvent::Refused { why: Mismatch::Parked { bytes }, .. } => assert!(bytes > PARKED),
        event => panic!("{event:?}"),
    }
}

/// The numbers of other nodes' actors are made from their names.
#[test]
fn names_that_a_peer_makes_up_are_told_apart_and_cost_nothing() {
    let (mut pair, at) = Pair::with_actor(1, limits());
    let asker = pair
        .runtime
        .block_on(async { Builder::new().system(pair.node.system()).spawn(Sum::new(0)).unwrap() });
    drop(asker);
    // `Pass` to nonexistent actors of the peer, with as many names: the peer must deal with
    // messages sent to them.
    for index in 0..10_000_u32 {
        let mut payload = vec![2, 1];
        let mut number = index;
        while number >= 0x80 {
            payload.push(number as u8 | 0x80);
            number >>= 7;
        }
        payload.extend([number as u8, 0, 5]);
        pair.send(&[Wire::Tell { to: at, payload: &payload }]);
        if index % 100 == 99 {
            let told = pair.receive(|message| match message {
                Wire::Tell { to, payload } if to.index == index => Some(payload.to_vec()),
                _ => None,
            });
            assert_eq!(told, [0, 5]);
        }
    }
    assert_eq!(pair.node.metrics().known_actors, 1);
}
