//! Cycles of asks and of full mailboxes are reported, and waits that only look like cycles are not.

#![cfg(debug_assertions)]

use evenkeel::detect::{Deadlock, What};
use evenkeel::sync::Semaphore;
use evenkeel::sync::monitor::Monitor;
use evenkeel_actor::{
    Actor, ActorRef, AskError, Builder, Child, Context, Handled, ReplyTo, Supervisor,
    SupervisorRef, System,
};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

enum Message {
    /// Asks the next actor for its number, and answers with the sum.
    Sum(Vec<ActorRef<Message>>, ReplyTo<u32>),
    /// The same, with a limit.
    Limited(Vec<ActorRef<Message>>, ReplyTo<u32>),
    /// Asks a second actor, which lets a third one or a task reply when there is a permit, and asks
    /// this actor meanwhile.
    Begin(ActorRef<Message>, Option<ActorRef<Message>>, Arc<Semaphore>, ReplyTo<u32>),
    PassOn(ActorRef<Message>, Option<ActorRef<Message>>, Arc<Semaphore>, ReplyTo<u32>),
    /// Answers when there is a permit.
    Later(Arc<Semaphore>, ReplyTo<u32>),
    /// Sends the next actor this number of messages, which ask for none.
    Flood(ActorRef<Message>, u32),
    Hold(Arc<Semaphore>),
    /// Enters this one of the monitors, and then the other, which has been entered meanwhile.
    Enter(Arc<[Monitor<()>; 2]>, usize),
    /// At the first permit, asks the next actor for its number, and keeps the ask. Has a child that
    /// ends at the second one.
    Keep(ActorRef<Message>, [Arc<Semaphore>; 2], ReplyTo<u32>),
    Fail,
}

type KeptAsk = Pin<Box<dyn Future<Output = Result<u32, AskError>> + Send>>;

#[derive(Default)]
struct Member {
    kept: Option<KeptAsk>,
}

async fn ask(chain: &[ActorRef<Message>]) -> u32 {
    let Some((next, rest)) = chain.split_first() else { return 1 };
    next.ask(|reply| Message::Sum(rest.to_vec(), reply)).await.unwrap_or(0) + 1
}

impl Actor for Member {
    type Message = Message;

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        match message {
            Message::Sum(chain, reply) => reply.send(ask(&chain).await),
            Message::Limited(chain, reply) => {
                let ask = chain[0].ask(|reply| Message::Sum(chain[1..].to_vec(), reply));
                reply.send(ask.timeout(Duration::from_millis(20)).await.unwrap_or(100));
            }
            Message::Begin(to, third, gate, reply) => {
                let me = context.actor_ref();
                let ask = to.ask(|reply| Message::PassOn(me, third, gate, reply));
                reply.send(ask.await.unwrap_or(0));
            }
            Message::PassOn(back, third, gate, reply) => {
                match third {
                    Some(third) => third.send(Message::Later(gate, reply)).await?,
                    None => drop(evenkeel::spawn(async move {
                        gate.take().await;
                        reply.send(7);
                    })),
                }
                ask(&[back]).await;
            }
            Message::Later(gate, reply) => {
                gate.take().await;
                reply.send(7);
            }
            Message::Flood(to, amount) => {
                for _ in 0..amount {
                    to.send(Message::Flood(to.clone(), 0)).await?;
                }
            }
            Message::Hold(gate) => gate.take().await,
            Message::Enter(monitors, first) => {
                let _first = monitors[first].enter().await;
                while monitors[1 - first].try_enter().is_some() {
                    evenkeel::yield_now().await;
                }
                drop(monitors[1 - first].enter().await);
            }
            Message::Keep(to, [first, second], reply) => {
                reply.send(0);
                first.take().await;
                let ask = async move { to.ask(|reply| Message::Sum(Vec::new(), reply)).await };
                let ask = self.kept.insert(Box::pin(ask));
                poll_fn(|task| Poll::Ready(ask.as_mut().poll(task).is_ready())).await;
                context.spawn(Self::default()).send(Message::Hold(second)).await?;
            }
            Message::Fail => panic!("on purpose"),
        }
        Ok(())
    }
}

/// The reported deadlocks, in their order.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Deadlock>>>);

impl Told {
    fn next(&self) -> Option<Deadlock> {
        self.0.lock().unwrap().pop()
    }
}

/// Runs a test, with the reported deadlocks.
fn run<F: Future<Output = ()> + Send + 'static>(
    workers: usize,
    test: impl FnOnce(System, Told) -> F,
) {
    let told = Told::default();
    let hook = told.clone();
    let runtime = evenkeel::Builder::new()
        .workers(workers)
        .on_deadlock(move |deadlock| hook.0.lock().unwrap().push(deadlock.clone()))
        .build()
        .unwrap();
    let test = test(System::new(), told);
    runtime.block_on(async { evenkeel::spawn(test).await.unwrap() });
}

fn member(system: System, name: &str, capacity: usize) -> ActorRef<Message> {
    let actor = Builder::new().system(system).capacity(capacity).spawn(Member::default()).unwrap();
    system.register(name, &actor).unwrap();
    actor
}

/// Children of a supervisor, which starts a child anew 50 ms after its end.
fn family<const N: usize>(
    system: System,
    names: [&'static str; N],
) -> (SupervisorRef, [ActorRef<Message>; N]) {
    system.on_failure(|_| ());
    let mut tree = Supervisor::one_for_one().system(system);
    let pause = Duration::from_millis(50);
    let children = names.map(|name| {
        let child = Child::new(name, Member::default).backoff(pause, pause);
        tree.child(child.mailbox(&Builder::new().capacity(4)).unwrap())
    });
    (tree.spawn(), children)
}

async fn told(receiver: &Told) -> Deadlock {
    loop {
        match receiver.next() {
            Some(deadlock) => return deadlock,
            None => evenkeel::time::sleep(Duration::from_millis(1)).await,
        }
    }
}

/// Has three actors ask each other in a circle, which a kill ends, and checks the report.
async fn ask_in_a_circle(members: &[ActorRef<Message>; 3], receiver: &Told) {
    let [broker, bank, shop] = members;
    let chain = vec![bank.clone(), shop.clone(), broker.clone()];
    let asker = {
        let broker = broker.clone();
        evenkeel::spawn(async move { broker.ask(|reply| Message::Sum(chain, reply)).await })
    };
    let deadlock = told(receiver).await;
    let mut names: Vec<_> =
        deadlock.links.iter().map(|link| link.waiter.name().unwrap_or("?")).collect();
    names.sort_unstable();
    assert_eq!(names, ["bank", "broker", "shop"], "{deadlock}");
    assert!(deadlock.links.iter().all(|link| link.waits[0].what == What::Reply));
    assert!(deadlock.to_string().contains("for the reply of task"), "{deadlock}");
    bank.kill();
    assert!(asker.await.unwrap().is_ok());
    assert!(receiver.next().is_none());
}

#[test]
fn a_cycle_of_asks_is_reported_with_the_names_of_the_actors() {
    for workers in [1, 2] {
        run(workers, |system, receiver| async move {
            let members = ["broker", "bank", "shop"].map(|name| member(system, name, 4));
            ask_in_a_circle(&members, &receiver).await;
        });
    }
}

#[test]
fn children_of_a_supervisor_that_ask_each_other_in_a_circle_are_reported_at_each_life() {
    for workers in [1, 2] {
        run(workers, |system, receiver| async move {
            let (_tree, members) = family(system, ["broker", "bank", "shop"]);
            for _ in 0..3 {
                ask_in_a_circle(&members, &receiver).await;
            }
        });
    }
}

#[test]
fn children_of_a_supervisor_that_enter_monitors_crosswise_are_reported() {
    run(2, |system, receiver| async move {
        let (_tree, members) = family(system, ["left", "right"]);
        let monitors = Arc::new([(), ()].map(Monitor::new));
        for (first, member) in members.iter().enumerate() {
            member.send(Message::Enter(monitors.clone(), first)).await.unwrap();
        }
        let deadlock = told(&receiver).await;
        assert_eq!(deadlock.links.len(), 2, "{deadlock}");
        let is_monitor = |what: &What| matches!(what, What::Monitor { .. });
        assert!(deadlock.links.iter().all(|link| is_monitor(&link.waits[0].what)), "{deadlock}");
        members[0].kill();
        assert_eq!(members[1].ask(|reply| Message::Sum(Vec::new(), reply)).await, Ok(1));
        assert!(receiver.next().is_none());
    });
}

#[test]
fn one_that_asks_itself_is_reported() {
    run(1, |system, receiver| async move {
        let narcissus = member(system, "narcissus", 4);
        let chain = vec![narcissus.clone()];
        let asker = {
            let narcissus = narcissus.clone();
            evenkeel::spawn(async move { narcissus.ask(|reply| Message::Sum(chain, reply)).await })
        };
        let deadlock = told(&receiver).await;
        assert_eq!(deadlock.links.len(), 1, "{deadlock}");
        assert_eq!(deadlock.links[0].waiter.name(), Some("narcissus"));
        narcissus.kill();
        assert!(asker.await.unwrap().is_err());
    });
}

#[test]
fn senders_that_wait_for_room_in_each_others_full_mailboxes_are_reported() {
    run(2, |system, receiver| async move {
        let (left, right) = (member(system, "left", 1), member(system, "right", 1));
        let gate = Arc::new(Semaphore::new(0));
        for (actor, other) in [(&left, &right), (&right, &left)] {
            actor.send(Message::Hold(gate.clone())).await.unwrap();
            while actor.depth() > 0 {
                evenkeel::yield_now().await;
            }
            actor.send(Message::Flood(other.clone(), 1_000)).await.unwrap();
        }
        gate.add_permits(1);
        gate.add_permits(1);
        let deadlock = self::told(&receiver).await;
        assert_eq!(deadlock.links.len(), 2, "{deadlock}");
        assert!(deadlock.links.iter().all(|link| link.waits[0].what == What::Room));
        assert!(deadlock.to_string().contains("for room in the mailbox of task"), "{deadlock}");
        left.kill();
        right.kill();
    });
}

#[test]
fn an_ask_and_a_full_mailbox_make_a_cycle_too() {
    run(1, |system, receiver| async move {
        let (asks, floods) = (member(system, "asks", 1), member(system, "floods", 1));
        let gate = Arc::new(Semaphore::new(0));
        floods.send(Message::Hold(gate.clone())).await.unwrap();
        while floods.depth() > 0 {
            evenkeel::yield_now().await;
        }
        floods.send(Message::Flood(asks.clone(), 1_000)).await.unwrap();
        let chain = vec![floods.clone()];
        let asker = {
            let asks = asks.clone();
            evenkeel::spawn(async move { asks.ask(|reply| Message::Sum(chain, reply)).await })
        };
        for _ in 0..10 {
            evenkeel::yield_now().await;
        }
        gate.add_permits(1);
        let deadlock = told(&receiver).await;
        assert_eq!(deadlock.links.len(), 2, "{deadlock}");
        floods.kill();
        assert!(asker.await.unwrap().is_ok());
    });
}

#[test]
fn a_reply_that_another_one_can_give_is_no_deadlock() {
    for (workers, is_family) in [(1, false), (2, false), (1, true), (2, true)] {
        run(workers, move |system, receiver| async move {
            let names = ["first", "second", "third"];
            let (_tree, [first, second, third]) = if is_family {
                let (tree, members) = family(system, names);
                (Some(tree), members)
            } else {
                (None, names.map(|name| member(system, name, 4)))
            };
            // The first asks the second, which lets a third, or a task, reply, and asks the first
            // meanwhile. That looks like a cycle of two.
            for third in [Some(third), None] {
                let gate = Arc::new(Semaphore::new(0));
                let asker = evenkeel::spawn({
                    let (first, second, gate) = (first.clone(), second.clone(), gate.clone());
                    async move { first.ask(|reply| Message::Begin(second, third, gate, reply)).await }
                });
                evenkeel::time::sleep(Duration::from_millis(20)).await;
                assert!(receiver.next().is_none());
                gate.add_permits(1);
                assert_eq!(asker.await.unwrap(), Ok(7));
            }
            assert!(receiver.next().is_none());
        });
    }
}

/// Has the left one ask the right one, which asks the left one, until the left one's limit.
async fn ask_with_a_limit(left: &ActorRef<Message>, right: &ActorRef<Message>, receiver: &Told) {
    let chain = vec![right.clone(), left.clone()];
    let sum = left.ask(|reply| Message::Limited(chain, reply)).await;
    assert_eq!(sum, Ok(100));
    // The right one receives its answer when the left one is free again.
    assert_eq!(right.ask(|reply| Message::Sum(Vec::new(), reply)).await, Ok(1));
    assert!(receiver.next().is_none());
}

#[test]
fn an_ask_with_a_limit_is_no_deadlock() {
    run(2, |system, receiver| async move {
        let (left, right) = (member(system, "left", 4), member(system, "right", 4));
        ask_with_a_limit(&left, &right, &receiver).await;
    });
}

#[test]
fn an_ask_with_a_limit_is_no_deadlock_at_any_life_of_a_child() {
    run(2, |system, receiver| async move {
        let (_tree, [left, right]) = family(system, ["left", "right"]);
        for _ in 0..3 {
            ask_with_a_limit(&left, &right, &receiver).await;
            left.send(Message::Fail).await.unwrap();
            // The right one waits for an actor that is down and will be started anew.
            let chain = vec![left.clone()];
            assert_eq!(right.ask(|reply| Message::Sum(chain, reply)).await, Ok(2));
            assert!(receiver.next().is_none());
        }
    });
}

#[test]
fn an_actor_that_waits_for_its_children_is_not_stuck_by_an_ask_that_it_has_kept() {
    run(1, |system, receiver| async move {
        let (_tree, [parent]) = family(system, ["parent"]);
        let other = member(system, "other", 4);
        for _ in 0..2 {
            let [first, second] = [0, 0].map(|permits| Arc::new(Semaphore::new(permits)));
            let keep = |reply| Message::Keep(other.clone(), [first.clone(), second.clone()], reply);
            assert_eq!(parent.ask(keep).await, Ok(0));
            other.send(Message::Flood(parent.clone(), 1_000)).await.unwrap();
            while parent.depth() < 4 {
                evenkeel::yield_now().await;
            }
            // The other one waits for room, and the parent comes to wait for its child.
            parent.any().stop_now();
            first.add_permits(1);
            for _ in 0..10 {
                evenkeel::yield_now().await;
            }
            assert_eq!(parent.depth(), 4);
            assert!(receiver.next().is_none());
            second.add_permits(1);
            assert_eq!(other.ask(|reply| Message::Sum(Vec::new(), reply)).await, Ok(1));
        }
        assert!(receiver.next().is_none());
    });
}
