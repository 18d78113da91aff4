//! Supervisors: which actors are restarted, when supervisors give up, and what survives.

use evenkeel::time::{Duration, Instant, sleep};
use evenkeel_actor::{
    Actor, ActorFailure, ActorRef, Child, ChildInfo, Context, Escalated, ExitReason, Handled,
    ReplyTo, Restart, Strategy, Supervisor, SupervisorBuilder, SupervisorRef, System,
};
use std::sync::{Arc, Mutex};

/// The events, in order.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, words: impl Into<String>) {
        self.0.lock().unwrap().push(words.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

struct Worker {
    name: &'static str,
    diary: Diary,
    sum: u32,
}

enum Message {
    Add(u32),
    Sum(ReplyTo<u32>),
    Fail,
    Panic,
    Stop,
    Wait,
}

impl Actor for Worker {
    type Message = Message;

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        match message {
            Message::Add(n) => self.sum += n,
            Message::Sum(reply) => reply.send(self.sum),
            Message::Fail => Err(std::io::Error::other("out of paper"))?,
            Message::Panic => panic!("on purpose"),
            Message::Stop => context.stop(),
            Message::Wait => std::future::pending().await,
        }
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.diary.note(format!("-{}", self.name));
    }
}

fn worker(diary: &Diary, name: &'static str) -> Child<impl FnMut() -> Worker + Send + 'static> {
    let diary = diary.clone();
    Child::new(name, move || {
        diary.note(format!("+{name}"));
        Worker { name, diary: diary.clone(), sum: 0 }
    })
}

/// On a paused clock, which would move if all tasks waited for a time limit; here none may.
fn on_workers(workers: usize, test: impl Future<Output = ()> + Send + 'static) {
    let runtime = evenkeel::Builder::new().workers(workers).start_paused(true).build().unwrap();
    runtime.block_on(async {
        let begin = Instant::now();
        evenkeel::spawn(test).await.unwrap();
        assert_eq!(begin.elapsed(), Duration::ZERO);
    });
}

/// On a clock that stands still while any task runs.
fn on_paused(test: impl Future<Output = ()> + Send + 'static) {
    let runtime =
        evenkeel::Builder::new().workers(1).reliefs(0).start_paused(true).build().unwrap();
    runtime.block_on(async { evenkeel::spawn(test).await.unwrap() });
}

/// A system that records its failures.
fn noting(failures: &Arc<Mutex<Vec<ActorFailure>>>) -> System {
    let (system, failures) = (System::new(), failures.clone());
    system.on_failure(move |failure| failures.lock().unwrap().push(failure.clone()));
    system
}

fn quiet(builder: SupervisorBuilder) -> SupervisorBuilder {
    builder.system(noting(&Arc::default()))
}

async fn sum(actor: &ActorRef<Message>) -> u32 {
    actor.ask(Message::Sum).await.unwrap()
}

async fn restarted(tree: &SupervisorRef, name: &str, times: u64) {
    while !tree
        .children()
        .await
        .unwrap()
        .iter()
        .any(|child| &*child.name == name && child.restarts == times && child.is_up)
    {
        evenkeel::yield_now().await;
    }
}

#[test]
fn a_restart_keeps_references_and_mailbox_and_loses_the_message_that_failed() {
    for workers in [1, 2, 4] {
        on_workers(workers, async {
            let failures = Arc::new(Mutex::new(Vec::new()));
            let diary = Diary::default();
            let mut tree = Supervisor::one_for_one()
                .intensity(100, Duration::from_secs(5))
                .system(noting(&failures));
            let a = tree.child(worker(&diary, "a"));
            // Before there is an actor to handle it.
            a.send(Message::Add(1)).await.unwrap();
            let tree = tree.spawn();
            assert_eq!(sum(&a).await, 1);
            for fail in [Message::Fail, Message::Panic] {
                a.send(fail).await.unwrap();
                for n in 0..10 {
                    a.send(Message::Add(n)).await.unwrap();
                }
                // It begins anew, with the first of these.
                assert_eq!(sum(&a).await, 45);
            }
            assert_eq!(tree.children().await.unwrap()[0].restarts, 2);
            let failures = failures.lock().unwrap();
            let words: Vec<_> = failures.iter().map(|failure| failure.reason.to_string()).collect();
            assert_eq!(words, ["failed: out of paper", "panicked: on purpose"]);
            assert!(failures.iter().all(|failure| failure.supervised));
            let actor = &failures[0].actor;
            assert_eq!((actor.name.as_deref(), actor.id), (Some("a"), a.id()));
            assert!(actor.type_name.ends_with("Worker"), "{}", actor.type_name);
            assert_eq!(actor.spawn_site.file(), file!());
        });
    }
}

#[test]
fn each_strategy_restarts_the_children_that_it_says_in_order() {
    let strategies: [(Strategy, &[&str]); 3] = [
        (Strategy::OneForOne, &["-b", "+b"]),
        (Strategy::OneForAll, &["-b", "-c", "-a", "+a", "+b", "+c"]),
        (Strategy::RestForOne, &["-b", "-c", "+b", "+c"]),
    ];
    for workers in [1, 2, 4] {
        for (strategy, expected) in strategies {
            on_workers(workers, async move {
                let diary = Diary::default();
                let mut tree = quiet(Supervisor::with_strategy(strategy));
                let children = ["a", "b", "c"].map(|name| tree.child(worker(&diary, name)));
                let tree = tree.spawn();
                restarted(&tree, "c", 0).await;
                assert_eq!(diary.take(), ["+a", "+b", "+c"]);
                children[1].send(Message::Panic).await.unwrap();
                restarted(&tree, "b", 1).await;
                restarted(&tree, "c", u64::from(strategy != Strategy::OneForOne)).await;
                assert_eq!(diary.take(), expected);
                tree.stop();
                assert!(tree.stopped().await.is_normal());
                assert_eq!(diary.take(), ["-c", "-b", "-a"]);
                for child in children {
                    assert!(child.stopped().await.is_normal());
                }
            });
        }
    }
}

#[test]
fn each_kind_is_restarted_after_the_ends_that_it_says() {
    for workers in [1, 2] {
        on_workers(workers, async {
            for kind in [Restart::Permanent, Restart::Transient, Restart::Temporary] {
                for end in ["fail", "kill", "stop itself", "stop"] {
                    let diary = Diary::default();
                    let mut tree = quiet(Supervisor::one_for_one());
                    let a = tree.child(worker(&diary, "a").restart(kind));
                    let tree = tree.spawn();
                    assert_eq!(sum(&a).await, 0);
                    match end {
                        "fail" => a.send(Message::Fail).await.unwrap(),
                        "kill" => {
                            a.send(Message::Wait).await.unwrap();
                            a.kill();
                        }
                        "stop itself" => a.send(Message::Stop).await.unwrap(),
                        _ => a.stop(),
                    }
                    let normal = end.starts_with("stop");
                    let again = match kind {
                        Restart::Permanent => true,
                        Restart::Transient => !normal,
                        Restart::Temporary => false,
                    };
                    if again {
                        restarted(&tree, "a", 1).await;
                        a.send(Message::Add(7)).await.unwrap();
                        // A killed actor may still have had its message to handle.
                        if end != "kill" {
                            assert_eq!(sum(&a).await, 7);
                        }
                    } else {
                        assert_eq!(a.stopped().await.is_normal(), normal, "{kind:?} {end}");
                        while !tree.children().await.unwrap().is_empty() {
                            evenkeel::yield_now().await;
                        }
                    }
                    tree.kill();
                    tree.stopped().await;
                    a.stopped().await;
                    let diary = diary.take();
                    assert_eq!(diary.len(), if again { 4 } else { 2 }, "{kind:?} {end} {diary:?}");
                }
            }
        });
    }
}

#[test]
fn a_storm_of_restarts_ends_in_an_escalation() {
    for workers in [1, 2] {
        on_workers(workers, async {
            let diary = Diary::default();
            let mut tree = quiet(Supervisor::one_for_one().intensity(3, Duration::from_secs(60)));
            let a = tree.child(worker(&diary, "a"));
            let b = tree.child(worker(&diary, "b"));
            let tree = tree.spawn();
            for _ in 0..10 {
                let _ = b.send(Message::Panic).await;
            }
            let reason = tree.stopped().await;
            let ExitReason::Failed(failure) = &reason else { panic!("{reason}") };
            let escalated = failure.error().downcast_ref::<Escalated>().unwrap();
            assert_eq!((&*escalated.child, escalated.restarts), ("b", 3));
            assert_eq!(escalated.reason.to_string(), "panicked: on purpose");
            assert!(
                reason.to_string().contains("\"b\" panicked: on purpose, after 3 restarts"),
                "{reason}"
            );
            a.stopped().await;
            b.stopped().await;
            let expected = ["+a", "+b", "-b", "+b", "-b", "+b", "-b", "+b", "-b", "-a"];
            assert_eq!(diary.take(), expected);
        });
    }
}

#[test]
fn one_that_cannot_start_does_not_spin() {
    struct Never(Diary);
    impl Actor for Never {
        type Message = ();
        async fn started(&mut self, _context: &mut Context<Self>) -> Handled {
            self.0.note("try");
            Err(std::io::Error::other("no such port"))?
        }
        async fn handle(&mut self, _message: (), _context: &mut Context<Self>) -> Handled {
            unreachable!("it has not started")
        }
    }
    on_workers(2, async {
        let diary = Diary::default();
        let mut tree = quiet(Supervisor::one_for_one().intensity(4, Duration::from_secs(60)));
        let noted = diary.clone();
        let never = tree.child(Child::new("never", move || Never(noted.clone())));
        // An actor with a panicking factory is not started either.
        let tree = tree.spawn();
        assert!(!tree.stopped().await.is_normal());
        assert!(never.stopped().await.is_failure());
        assert_eq!(diary.take().len(), 5);

        let mut tree = quiet(Supervisor::one_for_one().intensity(4, Duration::from_secs(60)));
        let noted = diary.clone();
        let never = tree.child(Child::new("never", move || -> Never {
            noted.note("made");
            panic!("no parts")
        }));
        let tree = tree.spawn();
        assert!(!tree.stopped().await.is_normal());
        assert_eq!(never.stopped().await.to_string(), "panicked: no parts");
        assert_eq!(diary.take().len(), 5);
    });
}

#[test]
fn restarts_that_are_far_apart_go_on_for_ever() {
    on_paused(async {
        let diary = Diary::default();
        let mut tree = quiet(Supervisor::one_for_one().intensity(1, Duration::from_secs(5)));
        let a = tree.child(worker(&diary, "a"));
        let tree = tree.spawn();
        for round in 1..=20 {
            a.send(Message::Panic).await.unwrap();
            restarted(&tree, "a", round).await;
            sleep(Duration::from_secs(6)).await;
        }
        a.send(Message::Panic).await.unwrap();
        a.send(Message::Panic).await.unwrap();
        assert!(!tree.stopped().await.is_normal());
    });
}

#[test]
fn a_back_off_waits_longer_each_time() {
    on_paused(async {
        let diary = Diary::default();
        let mut tree = quiet(Supervisor::one_for_one().intensity(10, Duration::from_secs(60)));
        let second = Duration::from_secs(1);
        let a = tree.child(worker(&diary, "a").backoff(second, second * 3));
        let _tree = tree.spawn();
        let begin = Instant::now();
        for (fails, after) in [(1, 1), (2, 3), (3, 6), (4, 9)] {
            a.send(Message::Panic).await.unwrap();
            // Messages wait for it meanwhile.
            assert_eq!(sum(&a).await, 0);
            assert_eq!(begin.elapsed(), second * after, "{fails}");
        }
        sleep(second * 3).await;
        let begin = Instant::now();
        a.send(Message::Panic).await.unwrap();
        assert_eq!(sum(&a).await, 0);
        assert_eq!(begin.elapsed(), second);
    });
}

#[test]
fn one_that_is_down_can_be_stopped_or_removed() {
    on_paused(async {
        for remove in [false, true] {
            let diary = Diary::default();
            let mut tree = quiet(Supervisor::one_for_one());
            let hour = Duration::from_secs(3_600);
            let child = worker(&diary, "a").backoff(hour, hour).restart(Restart::Transient);
            let a = tree.child(child);
            let tree = tree.spawn();
            let begin = Instant::now();
            a.send(Message::Panic).await.unwrap();
            sleep(Duration::from_secs(1)).await;
            assert_eq!(diary.take(), ["+a", "-a"]);
            if remove {
                assert_eq!(tree.remove(a.id()).await, Ok(true));
                assert!(a.stopped().await.is_failure());
                assert_eq!(tree.remove(a.id()).await, Ok(false));
            } else {
                a.stop();
                assert!(a.stopped().await.is_normal());
            }
            assert_eq!(begin.elapsed(), Duration::from_secs(1));
            assert_eq!(tree.children().await.unwrap(), []);
        }
    });
}

/// The order to stop comes before the failure, before its supervisor hears of that, before the next
/// start, or after it.
#[test]
fn one_that_is_told_to_stop_about_when_it_fails_ends_for_good() {
    for restart in [Restart::Transient, Restart::Temporary] {
        for turns in 0..12 {
            on_paused(async move {
                let mut tree = quiet(Supervisor::one_for_one());
                let a = tree.child(worker(&Diary::default(), "a").restart(restart));
                let tree = tree.spawn();
                sum(&a).await;
                a.send(Message::Panic).await.unwrap();
                for _ in 0..turns {
                    evenkeel::yield_now().await;
                }
                a.stop();
                let ended = evenkeel::time::timeout(Duration::from_secs(60), a.stopped());
                assert!(ended.await.is_ok(), "it is up after {turns} turns");
                assert_eq!(tree.children().await.unwrap(), []);
            });
        }
    }
}

#[test]
fn one_that_is_killed_before_its_first_start_is_not_made_for_that() {
    for restart in [Restart::Temporary, Restart::Transient, Restart::Permanent] {
        on_paused(async move {
            let diary = Diary::default();
            let mut tree = quiet(Supervisor::one_for_one());
            let a = tree.child(worker(&diary, "a").restart(restart));
            // The life looks before there is a supervisor.
            sleep(Duration::from_secs(1)).await;
            a.kill();
            sleep(Duration::from_secs(1)).await;
            let tree = tree.spawn();
            let is_due = restart != Restart::Temporary;
            if is_due {
                restarted(&tree, "a", 1).await;
            } else {
                assert!(matches!(a.stopped().await, ExitReason::Killed));
            }
            assert_eq!(diary.take(), ["+a"; 1][..usize::from(is_due)]);
        });
    }
}

/// The child's supervisor is down, and waits for its own to stop a sibling.
#[test]
fn one_that_is_told_to_stop_while_its_supervisor_is_down_ends_for_good() {
    for is_up in [false, true] {
        on_paused(async move {
            let diary = Diary::default();
            let mut tree = quiet(Supervisor::one_for_all());
            let mut inner = quiet(Supervisor::one_for_one());
            let a = inner.child(worker(&diary, "a").restart(Restart::Transient));
            let b = inner.child(worker(&diary, "b"));
            let inner = tree.supervisor("inner", inner);
            let slow = tree.child(worker(&diary, "slow").shutdown(Duration::from_secs(3)));
            let tree = tree.spawn();
            sum(&slow).await;
            slow.send(Message::Wait).await.unwrap();
            sleep(Duration::from_secs(1)).await;
            if is_up {
                a.send(Message::Wait).await.unwrap();
                a.stop();
            }
            inner.kill();
            sleep(Duration::from_secs(1)).await;
            if !is_up {
                a.stop();
            }
            let ended = evenkeel::time::timeout(Duration::from_secs(60), a.stopped());
            assert!(ended.await.is_ok_and(|reason| reason.is_normal()));
            sleep(Duration::from_secs(10)).await;
            restarted(&tree, "inner", 1).await;
            sum(&b).await;
            let children = inner.children().await.unwrap();
            assert_eq!(children.iter().map(ChildInfo::id).collect::<Vec<_>>(), [b.id()]);
        });
    }
}

/// Its supervisor has ordered it to stop for a sibling, and would start it again.
#[test]
fn one_that_is_told_to_stop_while_it_stops_for_a_sibling_ends_for_good() {
    for is_first in [false, true] {
        on_paused(async move {
            let mut tree = quiet(Supervisor::one_for_all());
            let a = tree.child(worker(&Diary::default(), "a"));
            let b = worker(&Diary::default(), "b").restart(Restart::Transient);
            let b = tree.child(b.shutdown(Duration::from_secs(3)));
            let tree = tree.spawn();
            sum(&b).await;
            b.send(Message::Wait).await.unwrap();
            sleep(Duration::from_secs(1)).await;
            if is_first {
                b.stop();
            }
            a.send(Message::Panic).await.unwrap();
            sleep(Duration::from_secs(1)).await;
            if !is_first {
                b.stop();
            }
            let ended = evenkeel::time::timeout(Duration::from_secs(60), b.stopped());
            assert!(ended.await.is_ok());
            restarted(&tree, "a", 1).await;
            assert_eq!(tree.children().await.unwrap().len(), 1);
        });
    }
}

/// Has a child of its own that does not stop by itself.
struct Parent;

impl Actor for Parent {
    type Message = Message;

    async fn started(&mut self, context: &mut Context<Self>) -> Handled {
        let slow = context.spawn(Worker { name: "slow", diary: Diary::default(), sum: 0 });
        Ok(slow.send(Message::Wait).await?)
    }

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        if let Message::Sum(reply) = message {
            reply.send(0);
        }
        Ok(())
    }
}

/// It waits for its own child to stop meanwhile.
#[test]
fn one_that_is_told_to_stop_while_it_waits_for_its_children_ends_for_good() {
    for stop in [ActorRef::stop, ActorRef::stop_now] {
        for is_first in [false, true] {
            on_paused(async move {
                let mut tree = quiet(Supervisor::one_for_all());
                let a = tree.child(worker(&Diary::default(), "a"));
                let b = Child::new("b", || Parent).restart(Restart::Transient);
                let b = tree.child(b.shutdown(Duration::from_secs(60)));
                let tree = tree.spawn();
                sum(&b).await;
                if is_first {
                    stop(&b);
                    sleep(Duration::from_secs(1)).await;
                }
                a.send(Message::Panic).await.unwrap();
                sleep(Duration::from_secs(1)).await;
                if !is_first {
                    stop(&b);
                }
                let ended = evenkeel::time::timeout(Duration::from_secs(60), b.stopped());
                assert!(ended.await.is_ok_and(|reason| reason.is_normal()));
                restarted(&tree, "a", 1).await;
                assert_eq!(tree.children().await.unwrap().len(), 1);
            });
        }
    }
}

/// The child does not reach its end before its supervisor is killed, and started again.
#[test]
fn one_that_was_removed_does_not_come_back_with_its_supervisor() {
    on_workers(2, async {
        let diary = Diary::default();
        let mut tree = quiet(Supervisor::one_for_one());
        let mut inner = quiet(Supervisor::one_for_one());
        let a = inner.child(worker(&diary, "a").shutdown(Duration::MAX));
        let b = inner.child(worker(&diary, "b"));
        let inner = tree.supervisor("inner", inner);
        let tree = tree.spawn();
        sum(&b).await;
        a.send(Message::Wait).await.unwrap();
        assert_eq!(inner.remove(a.id()).await, Ok(true));
        assert!(!a.is_stopped());
        inner.kill();
        a.stopped().await;
        restarted(&tree, "inner", 1).await;
        let children = inner.children().await.unwrap();
        assert_eq!(children.iter().map(ChildInfo::id).collect::<Vec<_>>(), [b.id()]);
        tree.stop();
        tree.stopped().await;
        check(&diary.take(), &["a", "b"]);
    });
}

#[test]
fn one_that_does_not_stop_in_time_is_killed() {
    on_paused(async {
        let diary = Diary::default();
        let mut tree = quiet(Supervisor::one_for_all());
        let limit = Duration::from_secs(2);
        let stuck = ["a", "b"].map(|name| tree.child(worker(&diary, name).shutdown(limit)));
        let c = tree.child(worker(&diary, "c"));
        let tree = tree.spawn();
        for stuck in &stuck {
            sum(stuck).await;
            stuck.send(Message::Wait).await.unwrap();
        }
        sleep(Duration::from_secs(1)).await;
        let begin = Instant::now();
        c.send(Message::Panic).await.unwrap();
        assert_eq!(sum(&c).await, 0);
        assert_eq!(begin.elapsed(), limit * 2);
        stuck[0].send(Message::Wait).await.unwrap();
        sleep(Duration::from_secs(1)).await;
        let begin = Instant::now();
        tree.stop();
        assert!(tree.stopped().await.is_normal());
        assert_eq!(begin.elapsed(), limit);
        assert!(matches!(stuck[0].stopped().await, ExitReason::Killed));
        assert!(stuck[1].stopped().await.is_normal());
    });
}

#[test]
fn children_that_fail_at_once_are_one_restart() {
    for workers in [1, 2, 4] {
        on_workers(workers, async {
            for _ in 0..30 {
                let diary = Diary::default();
                let mut tree =
                    quiet(Supervisor::one_for_all().intensity(9, Duration::from_secs(60)));
                let all = ["a", "b", "c", "d"].map(|name| tree.child(worker(&diary, name)));
                let tree = tree.spawn();
                restarted(&tree, "d", 0).await;
                for child in &all {
                    child.try_send(Message::Panic).unwrap();
                }
                for child in &all {
                    child.send(Message::Add(1)).await.unwrap();
                }
                for child in &all {
                    // An actor that was stopped before its failure fails again.
                    assert!(sum(child).await <= 1);
                }
                let restarts = tree.children().await.unwrap()[0].restarts;
                assert!((1..=4).contains(&restarts), "{restarts}");
                tree.stop();
                assert!(tree.stopped().await.is_normal());
                check(&diary.take(), &["a", "b", "c", "d"]);
            }
        });
    }
}

/// Checks that no name is started twice without an end in between, and that each start has its end.
fn check(diary: &[String], names: &[&str]) {
    for name in names {
        let mut up = false;
        for note in diary.iter().filter(|note| note[1..] == **name) {
            assert_ne!(up, note.starts_with('+'), "{name}: {diary:?}");
            up = !up;
        }
        assert!(!up, "{name}: {diary:?}");
    }
}

fn nested(diary: &Diary, inner: SupervisorBuilder) -> (SupervisorBuilder, [ActorRef<Message>; 2]) {
    let mut inner = quiet(inner);
    let children = ["x", "y"].map(|name| inner.child(worker(diary, name)));
    (inner, children)
}

#[test]
fn a_supervisor_that_gives_up_is_restarted_with_its_children_in_place() {
    for workers in [1, 2, 4] {
        on_workers(workers, async {
            let diary = Diary::default();
            let mut tree = quiet(Supervisor::one_for_one());
            let once = Supervisor::one_for_one().intensity(0, Duration::from_secs(60));
            let (inner, [x, y]) = nested(&diary, once);
            let inner = tree.supervisor("inner", inner);
            let z = tree.child(worker(&diary, "z"));
            let tree = tree.spawn();
            assert_eq!(sum(&z).await, 0);
            // It started after all of the inner ones.
            assert_eq!(diary.take(), ["+x", "+y", "+z"]);
            x.send(Message::Panic).await.unwrap();
            x.send(Message::Add(3)).await.unwrap();
            assert_eq!(sum(&x).await, 3);
            assert_eq!(sum(&y).await, 0);
            assert_eq!(diary.take(), ["-x", "-y", "+x", "+y"]);
            assert!(!inner.is_stopped());
            assert_eq!(inner.children().await.unwrap().len(), 2);
            tree.stop();
            tree.stopped().await;
            assert!(inner.stopped().await.is_normal());
            assert!(x.stopped().await.is_normal());
            assert_eq!(diary.take(), ["-z", "-y", "-x"]);
        });
    }
}

#[test]
fn a_supervisor_that_dies_in_the_middle_of_a_restart_leaves_nothing_half_done() {
    for workers in [1, 2, 4] {
        on_workers(workers, async {
            for round in 0..100 {
                let diary = Diary::default();
                let mut tree =
                    quiet(Supervisor::one_for_one().intensity(1_000, Duration::from_secs(60)));
                let (inner, [x, y]) = nested(&diary, Supervisor::one_for_all());
                let inner = tree.supervisor("inner", inner);
                let tree = tree.spawn();
                sum(&y).await;
                x.send(Message::Panic).await.unwrap();
                for _ in 0..round % 7 {
                    evenkeel::yield_now().await;
                }
                inner.kill();
                x.send(Message::Add(3)).await.unwrap();
                y.send(Message::Add(4)).await.unwrap();
                // Numbers sent to an actor that was then killed are lost, but the actor exists.
                assert!(sum(&x).await <= 3 && sum(&y).await <= 4);
                if round % 2 == 0 {
                    tree.stop()
                } else {
                    tree.kill()
                }
                tree.stopped().await;
                inner.stopped().await;
                x.stopped().await;
                y.stopped().await;
                check(&diary.take(), &["x", "y"]);
            }
        });
    }
}

#[test]
fn a_runtime_that_ends_in_the_middle_of_a_restart_leaves_nothing() {
    for round in 0..50 {
        let diary = Diary::default();
        let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
        let noted = diary.clone();
        let kept = runtime.block_on(async move {
            evenkeel::spawn(async move {
                let mut tree = quiet(Supervisor::one_for_one());
                let (inner, children) = nested(&noted, Supervisor::one_for_all());
                let inner = tree.supervisor("inner", inner);
                let tree = tree.spawn();
                sum(&children[1]).await;
                for child in &children {
                    child.send(Message::Panic).await.unwrap();
                }
                for _ in 0..round % 9 {
                    evenkeel::yield_now().await;
                }
                (tree, inner, children)
            })
            .await
            .unwrap()
        });
        drop(runtime);
        assert!(kept.0.is_stopped() && kept.1.is_stopped());
        assert!(kept.2.iter().all(ActorRef::is_stopped));
        check(&diary.take(), &["x", "y"]);
    }
}

#[test]
fn a_builder_or_a_supervisor_that_is_dropped_takes_its_children_with_it() {
    on_workers(2, async {
        let diary = Diary::default();
        let mut tree = Supervisor::one_for_one();
        let a = tree.child(worker(&diary, "a"));
        a.send(Message::Add(1)).await.unwrap();
        drop(tree);
        assert!(matches!(a.stopped().await, ExitReason::Killed));
        assert_eq!(diary.take(), [""; 0]);

        let mut tree = Supervisor::one_for_one();
        let a = tree.child(worker(&diary, "a"));
        let tree = tree.spawn();
        sum(&a).await;
        drop(tree);
        assert!(a.stopped().await.is_normal());
        assert_eq!(diary.take(), ["+a", "-a"]);
    });
}

#[test]
fn children_can_be_added_and_removed() {
    for workers in [1, 2] {
        on_workers(workers, async {
            let diary = Diary::default();
            let tree = quiet(Supervisor::one_for_one()).spawn();
            let a = tree.add(worker(&diary, "a")).await.unwrap();
            a.send(Message::Panic).await.unwrap();
            assert_eq!(sum(&a).await, 0);
            assert_eq!(tree.children().await.unwrap().len(), 1);
            assert_eq!(tree.remove(a.id()).await, Ok(true));
            assert!(a.stopped().await.is_normal());
            let b = tree.add(worker(&diary, "b")).await.unwrap();
            sum(&b).await;
            tree.stop();
            tree.stopped().await;
            assert!(b.is_stopped());
            assert_eq!(diary.take(), ["+a", "-a", "+a", "-a", "+b", "-b"]);
            assert!(tree.add(worker(&diary, "c")).await.is_err());
        });
    }
}

#[test]
fn senders_that_wait_for_room_live_through_restarts() {
    for workers in [1, 2, 4] {
        on_workers(workers, async {
            let diary = Diary::default();
            let mut tree = quiet(Supervisor::one_for_one().intensity(10_000, Duration::ZERO));
            let mailbox = evenkeel_actor::Builder::new().capacity(2);
            let a = tree.child(worker(&diary, "a").mailbox(&mailbox).unwrap());
            let tree = tree.spawn();
            let senders: Vec<_> = (0..8)
                .map(|sender| {
                    let a = a.clone();
                    evenkeel::spawn(async move {
                        for n in 0..200 {
                            let message = if (n + sender) % 20 == 0 {
                                Message::Fail
                            } else {
                                Message::Add(1)
                            };
                            a.send(message).await.unwrap();
                        }
                    })
                })
                .collect();
            for sender in senders {
                sender.await.unwrap();
            }
            sum(&a).await;
            assert_eq!(tree.children().await.unwrap()[0].restarts, 80);
        });
    }
}

#[test]
fn one_that_is_drained_and_restarted_takes_messages_again() {
    for workers in [1, 2, 4] {
        on_workers(workers, async {
            let diary = Diary::default();
            let mut tree = quiet(Supervisor::one_for_one().intensity(10_000, Duration::ZERO));
            let mailbox = evenkeel_actor::Builder::new().capacity(2);
            let a = tree.child(worker(&diary, "a").mailbox(&mailbox).unwrap());
            let _tree = tree.spawn();
            let senders: Vec<_> = (0..4)
                .map(|_| {
                    let a = a.clone();
                    evenkeel::spawn(async move {
                        let mut refused = 0;
                        for _ in 0..500 {
                            refused += u32::from(a.send(Message::Add(1)).await.is_err());
                        }
                        refused
                    })
                })
                .collect();
            for _ in 0..50 {
                a.stop();
                evenkeel::yield_now().await;
            }
            for sender in senders {
                sender.await.unwrap();
            }
            while a.ask(Message::Sum).await.is_err() {
                evenkeel::yield_now().await;
            }
        });
    }
}

/// Does nothing.
struct Idle;

impl Actor for Idle {
    type Message = ();

    async fn handle(&mut self, _message: (), _context: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

/// A search through all children at each start, end and removal would take minutes.
#[test]
fn a_supervisor_may_have_tens_of_thousands_of_children() {
    const MANY: usize = 30_000;
    let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
    runtime.block_on(async {
        let tree = Supervisor::one_for_one().system(System::new()).spawn();
        let mut children = Vec::new();
        for _ in 0..MANY {
            children.push(tree.add(Child::new("idle", || Idle)).await.unwrap());
        }
        assert_eq!(tree.children().await.unwrap().len(), MANY);
        for child in &children {
            assert_eq!(tree.remove(child.id()).await, Ok(true));
        }
        for child in &children {
            assert!(child.stopped().await.is_normal());
        }
        assert_eq!(tree.children().await.unwrap().len(), 0);
    });
}
