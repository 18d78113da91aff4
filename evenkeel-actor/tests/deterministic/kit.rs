//! The test kit: reports of probes, races that are found and reproduced, and the behaviour of
//! actors as a function of the seed.

use evenkeel::detect::What;
use evenkeel::deterministic::{Cause, Options};
use evenkeel::time::{Duration, Instant, sleep};
use evenkeel_actor::kit::{self, Kit, Probe, Unexpected};
use evenkeel_actor::{
    Actor, ActorRef, AnyActor, AskError, Builder, Context, Event, Handled, ReplyTo, System, spawn,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// A number that messages read and write.
struct Account(u64);

#[derive(Debug)]
enum Message {
    Get(ReplyTo<u64>),
    Set(u64),
    /// Reads and writes in one message.
    Add(u64),
}

impl Actor for Account {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::Get(reply) => reply.send(self.0),
            Message::Set(balance) => self.0 = balance,
            Message::Add(amount) => self.0 += amount,
        }
        Ok(())
    }
}

/// A client that is itself an actor, and deposits when told.
struct Client {
    account: ActorRef<Message>,
    at_once: bool,
}

impl Actor for Client {
    type Message = ReplyTo<()>;

    async fn handle(&mut self, done: ReplyTo<()>, _context: &mut Context<Self>) -> Handled {
        if self.at_once {
            self.account.send(Message::Add(1)).await?;
        } else {
            let balance = self.account.ask(Message::Get).await?;
            self.account.send(Message::Set(balance + 1)).await?;
        }
        done.send(());
        Ok(())
    }
}

/// Two actors deposit at the same time.
async fn deposits(at_once: bool) {
    let account = spawn(Account(0));
    let clients = [(); 2].map(|()| spawn(Client { account: account.clone(), at_once }));
    let (one, other) = futures::join!(clients[0].ask(|done| done), clients[1].ask(|done| done));
    assert_eq!((one, other), (Ok(()), Ok(())));
    assert_eq!(account.ask(Message::Get).await, Ok(2), "a deposit is lost");
}

#[test]
fn a_lost_update_is_found_within_fifty_seeds_and_comes_again_with_its_seed() {
    let found = kit::find(0..50, |_| deposits(false)).unwrap_err();
    assert!(found.to_string().contains("a deposit is lost"), "{found}");
    for _ in 0..20 {
        let again = kit::find(found.seed..found.seed + 1, |_| deposits(false)).unwrap_err();
        assert_eq!((again.fingerprint, &again.trace), (found.fingerprint, &found.trace));
    }
    // Some orders are correct, so the seeds do differ.
    assert!((0..50).any(|seed| kit::find(seed..seed + 1, |_| deposits(false)).is_ok()));
    kit::explore(0..500, |_| deposits(true));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Relayed,
    Straight,
}

/// Passes its messages on.
struct Relay(ActorRef<Way>);

impl Actor for Relay {
    type Message = Way;

    async fn handle(&mut self, way: Way, _context: &mut Context<Self>) -> Handled {
        self.0.send(way).await?;
        Ok(())
    }
}

/// Sends the same to two actors: directly to one, and through a relay to the other.
struct Teller {
    relay: ActorRef<Way>,
    target: ActorRef<Way>,
}

impl Actor for Teller {
    type Message = ();

    async fn handle(&mut self, (): (), _context: &mut Context<Self>) -> Handled {
        self.relay.send(Way::Relayed).await?;
        self.target.send(Way::Straight).await?;
        Ok(())
    }
}

/// Messages keep their order only between one sender and one receiver. By two ways either may come
/// first, even the longer one that was sent first.
#[test]
fn messages_on_two_ways_come_in_either_order() {
    let first = |seed| {
        kit::run(seed, |kit| async move {
            let mut target = kit.probe();
            let relay = spawn(Relay(target.actor()));
            spawn(Teller { relay, target: target.actor() }).send(()).await.unwrap();
            let first = target.receive().await.unwrap();
            target.receive().await.unwrap();
            target.expect_none(Duration::from_secs(9)).await.unwrap();
            first
        })
    };
    let firsts: BTreeSet<_> = (0..100).map(first).collect();
    assert_eq!(firsts.len(), 2);
}

/// Records each step, with the time.
struct Noisy {
    name: usize,
    notes: Arc<Mutex<Vec<String>>>,
    start: Instant,
}

impl Noisy {
    fn note(&self, what: &str) {
        let note = format!("{} {what} at {:?}", self.name, self.start.elapsed());
        self.notes.lock().unwrap().push(note);
    }
}

enum Do {
    Sleep(u64),
    Ask(ActorRef<Do>),
    Answer(ReplyTo<usize>),
    Spawn,
}

impl Actor for Noisy {
    type Message = Do;

    async fn handle(&mut self, message: Do, _context: &mut Context<Self>) -> Handled {
        match message {
            Do::Sleep(micros) => {
                sleep(Duration::from_micros(micros)).await;
                self.note("has slept");
            }
            Do::Ask(other) => {
                let answer = other.ask(Do::Answer).timeout(Duration::from_micros(30)).await;
                self.note(&format!("is told {answer:?}"));
            }
            Do::Answer(reply) => {
                self.note("answers");
                reply.send(self.name);
            }
            Do::Spawn => {
                let (name, notes) = (self.name + 10, self.notes.clone());
                let child = spawn(Noisy { name, notes, start: self.start });
                child.send(Do::Sleep(5)).await?;
                self.note("has spawned");
            }
        }
        Ok(())
    }

    async fn started(&mut self, _context: &mut Context<Self>) -> Handled {
        self.note("starts");
        Ok(())
    }
}

impl Drop for Noisy {
    fn drop(&mut self) {
        self.note("is dropped");
    }
}

/// Actors with timers, asks, spawns and drops.
async fn noisy(kit: Kit) -> Vec<String> {
    let notes = Arc::new(Mutex::new(Vec::new()));
    let start = Instant::now();
    let actors: Vec<_> =
        (0..5).map(|name| spawn(Noisy { name, notes: notes.clone(), start })).collect();
    for round in 0..8 {
        for (index, actor) in actors.iter().enumerate() {
            let message = match (index + round) % 4 {
                0 => Do::Sleep(10 + kit.random(20)),
                1 => Do::Ask(actors[(index + 1) % actors.len()].clone()),
                2 => Do::Spawn,
                _ => Do::Sleep(1),
            };
            actor.send(message).await.unwrap();
        }
    }
    let ends: Vec<_> = actors.iter().map(ActorRef::any).collect();
    actors[0].kill();
    actors[1].stop();
    drop(actors);
    for end in &ends[..2] {
        kit.stopped(end).await.unwrap();
    }
    kit.settle().await;
    let notes = notes.lock().unwrap();
    notes.clone()
}

#[test]
fn actors_do_the_same_a_hundred_times_with_a_seed_and_something_else_with_others() {
    let first = kit::run(5, noisy);
    assert!(first.len() > 40, "{first:?}");
    for _ in 0..100 {
        assert_eq!(kit::run(5, noisy), first);
    }
    let others: BTreeSet<_> = (0..50).map(|seed| kit::run(seed, noisy)).collect();
    assert_eq!(others.len(), 50);
    kit::verify(5, noisy).unwrap();
}

/// Records the sender of each message.
struct Sink(Arc<Mutex<Vec<(usize, usize)>>>);

impl Actor for Sink {
    type Message = (usize, usize);

    async fn handle(&mut self, message: (usize, usize), _context: &mut Context<Self>) -> Handled {
        self.0.lock().unwrap().push(message);
        Ok(())
    }
}

#[test]
fn the_order_of_each_sender_is_kept_with_every_seed_and_senders_mix() {
    let mut orders = BTreeSet::new();
    for seed in 0..500 {
        let came = kit::run(seed, |kit| async move {
            let came = Arc::new(Mutex::new(Vec::new()));
            let capacity = 1 + seed as usize % 5;
            let sink = Builder::new().capacity(capacity).spawn(Sink(came.clone())).unwrap();
            let senders: Vec<_> = (0..3)
                .map(|sender| {
                    let sink = sink.clone();
                    evenkeel::spawn(async move {
                        for n in 0..6 {
                            sink.send((sender, n)).await.unwrap();
                        }
                    })
                })
                .collect();
            for sender in senders {
                sender.await.unwrap();
            }
            let end = sink.any();
            sink.stop();
            kit.stopped(&end).await.unwrap();
            let came = came.lock().unwrap();
            came.clone()
        });
        let mut next = BTreeMap::new();
        for &(sender, n) in &came {
            let expected = next.entry(sender).or_insert(0);
            assert_eq!(n, *expected, "{came:?}");
            *expected += 1;
        }
        assert_eq!(came.len(), 18);
        orders.insert(came);
    }
    assert!(orders.len() > 400, "{}", orders.len());
}

#[test]
fn an_actor_with_many_messages_lets_others_come_between_them() {
    let seen = |seed| {
        kit::run(seed, |_| async {
            let notes = Arc::new(Mutex::new(Vec::new()));
            let sink = spawn(Sink(notes.clone()));
            for n in 0..10 {
                sink.try_send((0, n)).unwrap();
            }
            evenkeel::yield_now().await;
            let notes = notes.lock().unwrap();
            notes.len()
        })
    };
    let seen: BTreeSet<_> = (0..200).map(seen).collect();
    assert!(seen.len() > 4, "between any two messages: {seen:?}");
}

#[test]
fn actors_that_ask_each_other_are_told_of() {
    /// Asks the other actor to ask back.
    struct Polite(Option<ActorRef<Ask>>);
    enum Ask {
        Meet(ActorRef<Ask>),
        Please(ReplyTo<()>),
    }
    impl Actor for Polite {
        type Message = Ask;

        async fn handle(&mut self, message: Ask, _context: &mut Context<Self>) -> Handled {
            match message {
                Ask::Meet(other) => self.0 = Some(other),
                Ask::Please(reply) => {
                    if let Some(other) = &self.0 {
                        other.ask(Ask::Please).await?;
                    }
                    reply.send(());
                }
            }
            Ok(())
        }
    }
    let failure = kit::find(0..1, |_| async {
        let (one, other) = (spawn(Polite(None)), spawn(Polite(None)));
        one.send(Ask::Meet(other.clone())).await.unwrap();
        other.send(Ask::Meet(one.clone())).await.unwrap();
        one.ask(Ask::Please).await.unwrap();
    });
    let failure = failure.unwrap_err();
    match &failure.cause {
        Cause::Deadlock(deadlock) => {
            let waits: Vec<_> = deadlock.links.iter().flat_map(|link| &link.waits).collect();
            assert_eq!(waits.len(), 2, "{failure}");
            assert!(waits.iter().all(|wait| matches!(wait.what, What::Reply)), "{failure}");
        }
        // Without deadlock detection.
        Cause::Stalled { waiting } if !cfg!(debug_assertions) => {
            assert_eq!(waiting.len(), 2);
            assert!(waiting.iter().all(|task| task.spawn_site.file() == file!()), "{failure}");
        }
        _ => panic!("{failure}"),
    }
}

#[test]
fn asks_wait_by_the_clock_of_the_run() {
    kit::explore(0..50, |kit| async move {
        let mut slow = kit.probe::<ReplyTo<u32>>();
        let actor = slow.actor();
        let start = Instant::now();
        let asked = actor.ask(|reply| reply).timeout(Duration::from_secs(60)).await;
        assert_eq!((asked, start.elapsed()), (Err(AskError::Elapsed), Duration::from_secs(60)));
        let late = slow.reply("a request", Ok, 1).await;
        assert!(matches!(late, Err(Unexpected::GivenUp { .. })), "{late:?}");
    });
}

#[test]
fn a_run_has_a_system_of_its_own() {
    let before = System::current().dead_letters();
    kit::explore(0..20, |kit| async move {
        assert_eq!(System::current(), kit.system());
        let account = spawn(Account(0));
        for _ in 0..3 {
            account.try_send(Message::Set(1)).unwrap();
        }
        account.kill();
        kit.stopped(&account.any()).await.unwrap();
        assert_eq!(kit.dead_letters(), 3);
    });
    assert_eq!(System::current().dead_letters(), before);
}

#[test]
fn a_probe_says_what_it_expected_what_came_and_what_else_is_there() {
    kit::explore(0..50, |kit| async move {
        let mut probe = kit.probe();
        let start = Instant::now();
        let nothing = probe.expect(1).await.unwrap_err();
        assert_eq!(start.elapsed(), kit::PATIENCE);
        assert_eq!(
            nothing.to_string(),
            "expected 1, and it has not come within 3s; what has come instead: nothing"
        );
        for n in [2, 3, 4, 5, 6] {
            probe.actor().send(n).await.unwrap();
        }
        kit.settle().await;
        assert_eq!(probe.len(), 5);
        assert_eq!(
            format!("{:?}", probe.expect(1).await.unwrap_err()),
            "expected 1, and got 2; behind it in the inbox: 3, 4, 5, 6"
        );
        assert_eq!(probe.expect_that("an odd one", |n| n % 2 == 1).await, Ok(3));
        let even = probe.take("an odd one", |n| if n % 2 == 1 { Ok(n) } else { Err(n) }).await;
        assert_eq!(
            even.unwrap_err().to_string(),
            "expected an odd one, and got 4; behind it in the inbox: 5, 6"
        );
        assert_eq!(
            probe.expect_none(Duration::ZERO).await.unwrap_err().to_string(),
            "expected no message, and got 5 after 0ns; behind it in the inbox: 6"
        );
        assert_eq!(probe.drain(), [6]);
        assert!(probe.is_empty());
        probe.expect_none(Duration::from_secs(100)).await.unwrap();
    });
}

#[test]
fn fishing_takes_the_first_that_fits_within_the_time_of_all() {
    kit::explore(0..50, |kit| async move {
        let mut probe = kit.probe();
        let actor = probe.actor();
        drop(evenkeel::spawn(async move {
            for n in 0..10 {
                sleep(Duration::from_secs(1)).await;
                actor.send(n).await.unwrap();
            }
        }));
        let start = Instant::now();
        probe.set_patience(Duration::from_millis(4_500));
        assert_eq!(probe.fish("two", |&n| n == 2).await, Ok(2));
        assert_eq!(start.elapsed(), Duration::from_secs(3));
        let none = probe.fish_within(Duration::from_millis(2_500), "nine", |&n| n == 9).await;
        assert_eq!(
            none.unwrap_err().to_string(),
            "expected nine, and it has not come within 2.5s; what has come instead: 3, 4"
        );
        assert_eq!(probe.receive_within(Duration::from_secs(1)).await, Ok(5));
        let early = probe.expect_within(Duration::from_millis(1), 6).await;
        assert!(matches!(early, Err(Unexpected::Nothing { .. })));
    });
}

#[test]
fn a_probe_is_an_actor_in_any_runtime() {
    let runtime = evenkeel::Builder::new().workers(2).start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut probe = Probe::new();
        let actor = probe.actor();
        evenkeel::spawn(async move { actor.send(7).await.unwrap() }).await.unwrap();
        probe.expect(7).await.unwrap();
        probe.expect_none(Duration::from_secs(3_600)).await.unwrap();
    });
}

#[test]
fn a_kit_outside_of_a_run_is_refused() {
    let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
    let asked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        runtime.block_on(kit::with(|_| async {}));
    }));
    let words = asked.unwrap_err();
    let words = words.downcast_ref::<&str>().unwrap();
    assert!(words.contains("kit::run"), "{words}");
    Options::new(1).run(kit::with(|_| async {})).unwrap();
}

/// Tells a log when the actor that it is linked to ends.
struct Linked {
    number: usize,
    to: AnyActor,
    log: Arc<Mutex<Vec<usize>>>,
}

impl Actor for Linked {
    type Message = ReplyTo<()>;

    async fn started(&mut self, context: &mut Context<Self>) -> Handled {
        context.trap_exits(true);
        context.link(&self.to);
        Ok(())
    }

    async fn handle(&mut self, linked: ReplyTo<()>, _context: &mut Context<Self>) -> Handled {
        linked.send(());
        Ok(())
    }

    async fn event(&mut self, event: Event, _context: &mut Context<Self>) -> Handled {
        if matches!(event, Event::Exit { .. }) {
            self.log.lock().unwrap().push(self.number);
        }
        Ok(())
    }
}

#[test]
fn a_seed_says_in_which_order_linked_actors_learn_of_an_end() {
    const LINKED: usize = 12;
    let order = |seed| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let own = log.clone();
        kit::run(seed, |_| async move {
            let client = spawn(Client { account: spawn(Account(0)), at_once: true });
            let linked = (0..LINKED)
                .map(|number| spawn(Linked { number, to: client.any(), log: own.clone() }));
            let linked: Vec<_> = linked.collect();
            for actor in &linked {
                actor.ask(|linked| linked).await.unwrap();
            }
            client.kill();
            sleep(Duration::from_secs(1)).await;
        });
        let order = log.lock().unwrap().clone();
        assert_eq!(order.len(), LINKED);
        order
    };
    assert_eq!(order(7), order(7));
}
