//! What a restart keeps of an actor, and what it ends: names, groups, timers, counts.

use crate::common::until::until;
use evenkeel::time::{Duration, sleep};
use evenkeel_actor::{
    Actor, ActorRef, AnyActor, Builder, Child, Context, DeadLetter, DeadLetterKind, Event, Failure,
    Group, Handled, LookUpError, ReplyTo, Supervisor, SupervisorRef, System, TimerId,
};
use std::sync::{Arc, mpsc};

const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone)]
enum Message {
    Nothing,
    Get(Arc<Asked>),
    /// Sets timers with messages that hold this value.
    Timers(Arc<()>),
    Tick(#[allow(dead_code, reason = "it is held")] Arc<()>),
    Watch(AnyActor),
    Fail,
    Panic,
}

struct Asked(std::sync::Mutex<Option<ReplyTo<u32>>>);

/// Counts ticks and events.
#[derive(Default)]
struct Member(u32);

impl Actor for Member {
    type Message = Message;

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        match message {
            Message::Nothing => {}
            Message::Get(asked) => {
                let reply = asked.0.lock().unwrap().take();
                reply.into_iter().for_each(|reply| reply.send(self.0));
            }
            Message::Timers(held) => {
                context.send_every(SECOND, Message::Tick(held.clone()));
                context.send_after(SECOND * 3, Message::Tick(held));
                context.set_receive_timeout(SECOND / 2, || Message::Fail);
                context.clear_receive_timeout();
            }
            Message::Tick(_) => self.0 += 1,
            Message::Watch(actor) => context.watch(&actor),
            Message::Fail => return Err(Failure::message("out of paper")),
            Message::Panic => panic!("on purpose"),
        }
        Ok(())
    }

    async fn event(&mut self, _event: Event, _context: &mut Context<Self>) -> Handled {
        self.0 += 1;
        Ok(())
    }
}

fn run<F: Future<Output = ()> + Send + 'static>(workers: &[usize], test: impl Fn(System) -> F) {
    for &workers in workers {
        let runtime = evenkeel::Builder::new().workers(workers).start_paused(true).build().unwrap();
        let system = System::new();
        system.on_failure(|_| ());
        let test = test(system);
        runtime.block_on(async { evenkeel::spawn(test).await.unwrap() });
    }
}

fn tree(system: System, backoff: Duration) -> (SupervisorRef, ActorRef<Message>) {
    let mut tree = Supervisor::one_for_one().system(system).intensity(1_000, SECOND);
    let member = tree.child(Child::new("member", Member::default).backoff(backoff, backoff));
    (tree.spawn(), member)
}

async fn get(actor: &ActorRef<Message>) -> u32 {
    let message = |reply| Message::Get(Arc::new(Asked(Some(reply).into())));
    actor.ask(message).await.unwrap()
}

#[test]
fn names_and_groups_outlive_restarts_and_are_free_when_the_end_is_told() {
    run(&[1, 2], |system| async move {
        for round in 0..10 {
            let (tree, member) = tree(system, Duration::ZERO);
            let group: Group<Message> = system.group("all").unwrap();
            system.register("member", &member).unwrap();
            assert!(group.join(&member).unwrap());
            for message in [Message::Fail, Message::Panic, Message::Fail] {
                let before = member.metrics().restarts;
                member.send(message).await.unwrap();
                until(|| member.metrics().restarts > before).await;
                let found: ActorRef<Message> = system.look_up("member").unwrap();
                assert_eq!(found, member);
                assert_eq!((get(&found).await, group.len()), (0, 1));
            }
            member.kill();
            assert_eq!(get(&member).await, 0);
            assert_eq!(system.names().len(), 1);
            if round % 2 == 0 {
                tree.stop();
            } else {
                tree.kill();
            }
            member.stopped().await;
            let found = system.look_up::<Message>("member");
            assert!(matches!(found, Err(LookUpError::Unknown { .. })), "{found:?}");
            assert!(group.is_empty());
            tree.stopped().await;
        }
    });
}

#[test]
fn timers_end_with_the_incarnation_that_has_set_them() {
    run(&[1], |system| async move {
        let (tree, member) = tree(system, SECOND * 20);
        for message in [Message::Fail, Message::Panic] {
            let held = Arc::new(());
            member.send(Message::Timers(held.clone())).await.unwrap();
            assert_eq!(get(&member).await, 0);
            sleep(SECOND + SECOND / 2).await;
            assert_eq!(get(&member).await, 1);
            member.send(message).await.unwrap();
            // While it waits for its next start, none of them is left.
            sleep(SECOND / 10).await;
            assert_eq!(Arc::strong_count(&held), 1);
            sleep(SECOND * 60).await;
            assert_eq!(get(&member).await, 0);
        }
        // The timers of the last incarnation tick, until its end is announced.
        let held = Arc::new(());
        member.send(Message::Timers(held.clone())).await.unwrap();
        sleep(SECOND * 4 + SECOND / 2).await;
        assert_eq!(get(&member).await, 5);
        let stopped = member.stopped();
        tree.stop();
        stopped.await;
        assert_eq!(Arc::strong_count(&held), 1);
        tree.stopped().await;
    });
}

/// Sets a timer at each start, and sends its name away.
struct Setter(mpsc::Sender<TimerId>);

impl Actor for Setter {
    type Message = ();

    async fn started(&mut self, context: &mut Context<Self>) -> Handled {
        self.0.send(context.send_after(SECOND, ()))?;
        Ok(())
    }

    async fn handle(&mut self, (): (), _context: &mut Context<Self>) -> Handled {
        Err(Failure::message("out of paper"))
    }
}

#[test]
fn the_names_of_timers_do_not_come_again_after_a_restart() {
    run(&[1], |system| async move {
        let (names, sets) = mpsc::channel();
        let mut tree = Supervisor::one_for_one().system(system);
        let _setter = tree.child(Child::new("setter", move || Setter(names.clone())));
        let _tree = tree.spawn();
        sleep(SECOND + SECOND / 2).await;
        assert_ne!(sets.try_recv().unwrap(), sets.try_recv().unwrap());
    });
}

/// Counts dead letters, and sends each count away.
struct Clerk(u64, mpsc::Sender<u64>);

enum Word {
    Letter(DeadLetter),
    Pause(Duration),
}

impl From<DeadLetter> for Word {
    fn from(letter: DeadLetter) -> Self {
        Self::Letter(letter)
    }
}

impl Actor for Clerk {
    type Message = Word;

    async fn handle(&mut self, word: Word, _context: &mut Context<Self>) -> Handled {
        match word {
            Word::Letter(letter) => {
                self.0 += letter.count;
                self.1.send(self.0)?;
            }
            Word::Pause(time) => sleep(time).await,
        }
        Ok(())
    }
}

#[test]
fn a_subscriber_that_drains_and_is_restarted_stays_one() {
    run(&[1], |system| async move {
        let (counts, counted) = mpsc::channel();
        let mut tree = Supervisor::one_for_one().system(system);
        let clerk = tree.child(Child::new("clerk", move || Clerk(0, counts.clone())));
        let _tree = tree.spawn();
        system.send_dead_letters_to(&clerk).keep();
        let leave_behind = async || {
            let actor = Builder::new().system(system).spawn(Member::default()).unwrap();
            actor.try_send(Message::Nothing).unwrap();
            actor.kill();
            actor.stopped().await;
        };
        for _ in 0..2 {
            clerk.send(Word::Pause(SECOND * 2)).await.unwrap();
        }
        sleep(SECOND).await;
        clerk.stop();
        sleep(SECOND * 2).await;
        // It drains: the second pause was in its mailbox.
        assert!(clerk.try_send(Word::Pause(SECOND)).is_err() && !clerk.is_stopped());
        leave_behind().await;
        sleep(SECOND * 2).await;
        leave_behind().await;
        sleep(SECOND).await;
        assert_eq!(counted.try_iter().collect::<Vec<_>>(), [1]);
    });
}

#[test]
fn counts_go_on_through_restarts() {
    run(&[1, 2], |system| async move {
        system.measure_busy_time(true);
        let (tree, member) = tree(system, Duration::ZERO);
        for round in 0..5 {
            for _ in 0..10 {
                member.send(Message::Nothing).await.unwrap();
            }
            member.send(if round % 2 == 0 { Message::Fail } else { Message::Panic }).await.unwrap();
        }
        assert_eq!(get(&member).await, 0);
        until(|| member.metrics().handled == 56).await;
        let metrics = member.metrics();
        assert_eq!((metrics.received, metrics.restarts, metrics.depth), (56, 5, 0));
        assert!(metrics.busy.is_some());
        let metrics = system.metrics();
        assert_eq!((metrics.spawned, metrics.ended, metrics.restarts), (2, 0, 5));
        // Restarts are no ends, so no actor has failed for good.
        assert_eq!((metrics.failed, metrics.dead_letters), (0, 0));
        tree.stop();
        tree.stopped().await;
        let metrics = system.metrics();
        assert_eq!((metrics.spawned, metrics.ended, metrics.alive()), (2, 2, 0));
        assert_eq!(member.metrics().restarts, 5);
        assert!(member.metrics().busy.is_some(), "it outlives the actor");
    });
}

#[test]
fn what_a_supervised_actor_leaves_at_its_end_is_left_behind_and_a_restart_leaves_nothing() {
    run(&[1], |system| async move {
        let (tree, member) = tree(system, SECOND * 20);
        member.send(Message::Fail).await.unwrap();
        for _ in 0..7 {
            member.send(Message::Nothing).await.unwrap();
        }
        sleep(SECOND).await;
        assert_eq!(system.dead_letters(), 0);
        tree.kill();
        member.stopped().await;
        assert_eq!(system.dead_letters_of(DeadLetterKind::LeftBehind), 7);
        assert_eq!(system.dead_letters(), 7);
        assert_eq!((member.metrics().received, member.metrics().handled), (8, 1));
        tree.stopped().await;
    });
}

#[test]
fn events_are_no_messages() {
    run(&[1, 2], |system| async move {
        let spawn = || Builder::new().system(system).spawn(Member::default()).unwrap();
        let watcher = spawn();
        for _ in 0..300 {
            let watched = spawn();
            watcher.send(Message::Watch(watched.any())).await.unwrap();
            watched.stop();
        }
        while get(&watcher).await < 300 {
            evenkeel::yield_now().await;
        }
        watcher.stop();
        watcher.stopped().await;
        let metrics = watcher.metrics();
        assert_eq!(metrics.received, metrics.handled);
        assert_eq!(system.metrics().messages, metrics.handled);
    });
}

#[test]
fn messages_wait_while_an_actor_that_was_stopped_is_down_before_its_restart() {
    run(&[1, 2], |system| async move {
        let (tree, member) = tree(system, SECOND);
        assert_eq!(get(&member).await, 0);
        member.stop();
        while tree.children().await.unwrap()[0].is_up {
            evenkeel::yield_now().await;
        }
        assert_eq!(get(&member).await, 0);
        assert_eq!(member.metrics().restarts, 1);
    });
}
