//! Watches, links, children, and exit reasons.

use crate::common::workers::on_workers;
use evenkeel_actor::{
    Actor, ActorRef, AnyActor, Context, Event, ExitReason, Handled, ReplyTo, System, spawn,
};
use std::sync::{Arc, Mutex};

/// Acts on others as it is told, and records the notices that it receives.
#[derive(Default)]
struct Node {
    heard: Vec<String>,
    children: Vec<ActorRef<Message>>,
    notes: Option<Arc<Mutex<Vec<String>>>>,
    name: &'static str,
}

impl Node {
    fn noting(notes: &Arc<Mutex<Vec<String>>>, name: &'static str) -> Self {
        let mut node = Self::default();
        (node.notes, node.name) = (Some(notes.clone()), name);
        node
    }
}

enum Message {
    Watch(AnyActor),
    Unwatch(AnyActor),
    Link(AnyActor),
    Unlink(AnyActor),
    Trap,
    Spawn(Box<Node>, ReplyTo<ActorRef<Message>>),
    Heard(ReplyTo<Vec<String>>),
    Wait,
    Fail,
    Panic,
    Stop,
}

impl Actor for Node {
    type Message = Message;

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        match message {
            Message::Watch(actor) => context.watch(&actor),
            Message::Unwatch(actor) => context.unwatch(&actor),
            Message::Link(actor) => context.link(&actor),
            Message::Unlink(actor) => context.unlink(&actor),
            Message::Trap => context.trap_exits(true),
            Message::Spawn(node, reply) => {
                let child = context.spawn(*node);
                self.children.push(child.clone());
                reply.send(child);
            }
            Message::Heard(reply) => reply.send(self.heard.clone()),
            Message::Wait => std::future::pending().await,
            Message::Fail => Err(std::io::Error::other("out of paper"))?,
            Message::Panic => panic!("on purpose"),
            Message::Stop => context.stop(),
        }
        Ok(())
    }

    async fn event(&mut self, event: Event, _context: &mut Context<Self>) -> Handled {
        self.heard.push(match event {
            Event::Down { actor, reason } => format!("down {actor} {reason}"),
            Event::Exit { actor, reason } => format!("exit {actor} {reason}"),
            Event::ChildEnded { child, reason } => format!("child {child} {reason}"),
            other => panic!("{other:?}"),
        });
        Ok(())
    }

    async fn stopped(&mut self, _reason: &ExitReason, _context: &mut Context<Self>) {
        if let Some(notes) = &self.notes {
            notes.lock().unwrap().push(format!("{} stopped", self.name));
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(notes) = &self.notes {
            notes.lock().unwrap().push(format!("{} dropped", self.name));
        }
    }
}

/// Suppresses reports: failures are intended here.
fn quiet() {
    System::current().on_failure(|_| ());
}

fn node() -> ActorRef<Message> {
    quiet();
    spawn(Node::default())
}

async fn heard(actor: &ActorRef<Message>) -> Vec<String> {
    actor.ask(Message::Heard).await.unwrap()
}

async fn heard_of(actor: &ActorRef<Message>, count: usize) -> Vec<String> {
    loop {
        let heard = heard(actor).await;
        if heard.len() >= count {
            return heard;
        }
        evenkeel::yield_now().await;
    }
}

#[test]
fn a_waiter_for_an_end_gets_the_reason_before_and_after() {
    for workers in [1, 2] {
        on_workers(workers, async {
            for end in [Message::Fail, Message::Panic, Message::Stop, Message::Wait] {
                let killed = matches!(end, Message::Wait);
                let actor = node();
                let early = actor.stopped();
                actor.send(end).await.unwrap();
                if killed {
                    evenkeel::yield_now().await;
                    actor.kill();
                }
                let reason = early.await.to_string();
                assert!(
                    ["failed: out of paper", "panicked: on purpose", "stopped", "was killed"]
                        .contains(&reason.as_str()),
                    "{reason}"
                );
                assert_eq!(actor.stopped().await.to_string(), reason);
                assert_eq!(actor.any().stopped().await.to_string(), reason);
            }
            let actor = node();
            let unreferenced = actor.stopped();
            drop(actor);
            assert!(matches!(unreferenced.await, ExitReason::Unreferenced));
        });
    }
}

#[test]
fn the_value_and_the_messages_are_gone_when_the_end_is_told() {
    on_workers(2, async {
        quiet();
        for kill in [true, false] {
            let notes = Arc::new(Mutex::new(Vec::new()));
            let actor = spawn(Node::noting(&notes, "it"));
            let left = Arc::new(());
            actor.send(Message::Wait).await.unwrap();
            while actor.depth() > 0 {
                evenkeel::yield_now().await;
            }
            let child = Node::noting(&notes, "left");
            // An unhandled message contains a value of its own.
            let reply = evenkeel::spawn({
                let (actor, left) = (actor.clone(), left.clone());
                async move {
                    let asked =
                        actor.ask(|reply| Message::Spawn(Box::new(child), reply)).await.is_err();
                    drop(left);
                    asked
                }
            });
            while actor.depth() == 0 {
                evenkeel::yield_now().await;
            }
            if kill {
                actor.kill()
            } else {
                actor.any().kill()
            }
            actor.stopped().await;
            assert_eq!(*notes.lock().unwrap(), ["it dropped", "left dropped"]);
            assert!(reply.await.unwrap());
        }
    });
}

#[test]
fn a_watcher_is_told_once_however_often_it_watches() {
    for workers in [1, 2] {
        on_workers(workers, async {
            let (watcher, other) = (node(), node());
            for _ in 0..3 {
                watcher.send(Message::Watch(other.any())).await.unwrap();
            }
            heard(&watcher).await;
            other.send(Message::Fail).await.unwrap();
            other.stopped().await;
            let told = format!("down {} failed: out of paper", other.id());
            assert_eq!(heard_of(&watcher, 1).await.concat(), told);
            // An actor that has already ended.
            watcher.send(Message::Watch(other.any())).await.unwrap();
            assert_eq!(heard_of(&watcher, 2).await, [told.clone(), told]);
            // The watcher itself.
            watcher.send(Message::Watch(watcher.any())).await.unwrap();
            watcher.send(Message::Link(watcher.any())).await.unwrap();
            assert_eq!(heard(&watcher).await.len(), 2);
            watcher.stop();
            assert!(watcher.stopped().await.is_normal());
        });
    }
}

#[test]
fn nothing_comes_of_a_watch_that_was_given_up() {
    for workers in [1, 2] {
        on_workers(workers, async {
            for _ in 0..100 {
                let (watcher, other) = (node(), node());
                watcher.send(Message::Watch(other.any())).await.unwrap();
                heard(&watcher).await;
                // The notice is under way, or received and not yet handled.
                other.kill();
                watcher.send(Message::Unwatch(other.any())).await.unwrap();
                heard(&watcher).await;
                let before = heard(&watcher).await.len();
                other.stopped().await;
                assert_eq!(heard(&watcher).await.len(), before);
            }
        });
    }
}

#[test]
fn events_come_before_messages() {
    on_workers(1, async {
        let (watcher, other) = (node(), node());
        watcher.send(Message::Watch(other.any())).await.unwrap();
        heard(&watcher).await;
        other.kill();
        other.stopped().await;
        // The watcher has not run since.
        let mut first = Box::pin(watcher.ask(Message::Heard));
        assert!(futures::poll!(&mut first).is_pending());
        assert_eq!(first.await.unwrap().len(), 1);
    });
}

#[test]
fn a_watch_keeps_no_actor() {
    on_workers(2, async {
        let (watcher, other) = (node(), node());
        watcher.send(Message::Watch(other.any())).await.unwrap();
        watcher.send(Message::Link(other.any())).await.unwrap();
        heard(&watcher).await;
        let (one, two) = (watcher.stopped(), other.stopped());
        drop(other);
        assert!(two.await.is_normal());
        assert_eq!(heard_of(&watcher, 1).await.len(), 1);
        drop(watcher);
        assert!(one.await.is_normal());
    });
}

#[test]
fn a_link_ends_the_other_unless_the_end_is_in_order_or_trapped() {
    for workers in [1, 2] {
        on_workers(workers, async {
            let (a, b) = (node(), node());
            a.send(Message::Link(b.any())).await.unwrap();
            heard(&a).await;
            // During a message.
            b.send(Message::Wait).await.unwrap();
            a.send(Message::Fail).await.unwrap();
            let reason = b.stopped().await;
            let ExitReason::Linked { actor, reason } = reason else { panic!("{reason}") };
            assert_eq!(actor, a.id());
            assert_eq!(reason.to_string(), "failed: out of paper");

            let (a, b) = (node(), node());
            a.send(Message::Link(b.any())).await.unwrap();
            heard(&a).await;
            a.stop();
            a.stopped().await;
            assert_eq!(heard(&b).await, [""; 0]);

            let (a, b) = (node(), node());
            b.send(Message::Trap).await.unwrap();
            heard(&b).await;
            a.send(Message::Link(b.any())).await.unwrap();
            heard(&a).await;
            a.kill();
            assert_eq!(heard_of(&b, 1).await, [format!("exit {} was killed", a.id())]);

            let (a, b) = (node(), node());
            a.send(Message::Link(b.any())).await.unwrap();
            a.send(Message::Unlink(b.any())).await.unwrap();
            heard(&a).await;
            b.kill();
            b.stopped().await;
            assert_eq!(heard(&a).await, [""; 0]);
        });
    }
}

#[test]
fn a_link_to_one_that_has_failed_ends_the_linker() {
    on_workers(2, async {
        let (a, b) = (node(), node());
        b.send(Message::Fail).await.unwrap();
        b.stopped().await;
        a.send(Message::Link(b.any())).await.unwrap();
        assert!(matches!(a.stopped().await, ExitReason::Linked { .. }));
        let c = node();
        c.send(Message::Trap).await.unwrap();
        c.send(Message::Link(b.any())).await.unwrap();
        assert_eq!(heard_of(&c, 1).await.len(), 1);
        // A normal end affects no linked actor.
        let d = node();
        d.stop();
        d.stopped().await;
        let e = node();
        e.send(Message::Link(d.any())).await.unwrap();
        assert_eq!(heard(&e).await, [""; 0]);
    });
}

#[test]
fn a_ring_of_links_ends_as_one() {
    for workers in [1, 2, 4] {
        on_workers(workers, async {
            let ring: Vec<_> = (0..20).map(|_| node()).collect();
            for n in 0..20 {
                ring[n].send(Message::Link(ring[(n + 1) % 20].any())).await.unwrap();
                heard(&ring[n]).await;
            }
            // Two at once.
            ring[3].kill();
            let _ = ring[11].send(Message::Panic).await;
            for actor in &ring {
                assert!(!actor.stopped().await.is_normal());
            }
        });
    }
}

async fn family(notes: &Arc<Mutex<Vec<String>>>) -> (ActorRef<Message>, Vec<ActorRef<Message>>) {
    quiet();
    let new = |name| Box::new(Node::noting(notes, name));
    let parent = spawn(*new("parent"));
    let mut children = Vec::new();
    for name in ["first", "second"] {
        let child = new(name);
        children.push(parent.ask(|reply| Message::Spawn(child, reply)).await.unwrap());
    }
    let child = new("grandchild");
    children.push(children[1].ask(|reply| Message::Spawn(child, reply)).await.unwrap());
    (parent, children)
}

#[test]
fn a_parent_that_stops_stops_its_children_before() {
    for workers in [1, 2] {
        on_workers(workers, async move {
            for unreferenced in [false, true] {
                let notes = Arc::new(Mutex::new(Vec::new()));
                let (parent, children) = family(&notes).await;
                let stopped = parent.stopped();
                if unreferenced {
                    drop(parent);
                } else {
                    parent.stop();
                }
                assert!(stopped.await.is_normal());
                for child in &children {
                    assert!(child.is_stopped());
                    assert!(child.stopped().await.is_normal());
                }
                let notes = notes.lock().unwrap();
                let at = |note: &str| notes.iter().position(|n| n == note).unwrap();
                assert!(at("grandchild dropped") < at("second stopped"));
                assert!(at("first dropped") < at("parent stopped"));
                assert!(at("second dropped") < at("parent stopped"));
                assert_eq!(notes.len(), 8);
            }
        });
    }
}

#[test]
fn a_parent_that_fails_or_is_killed_takes_its_children_with_it() {
    for workers in [1, 2] {
        on_workers(workers, async move {
            for kill in [false, true] {
                let notes = Arc::new(Mutex::new(Vec::new()));
                let (parent, children) = family(&notes).await;
                children[0].send(Message::Wait).await.unwrap();
                heard(&children[1]).await;
                if kill {
                    parent.kill();
                } else {
                    parent.send(Message::Panic).await.unwrap();
                }
                assert!(!parent.stopped().await.is_normal());
                for child in &children {
                    assert!(matches!(child.stopped().await, ExitReason::Killed));
                }
                assert_eq!(notes.lock().unwrap().len(), 4);
            }
        });
    }
}

#[test]
fn a_parent_is_told_of_each_child() {
    on_workers(2, async {
        quiet();
        let parent = node();
        let mut told = Vec::new();
        for end in [Message::Fail, Message::Stop] {
            let child = parent.ask(|reply| Message::Spawn(Box::default(), reply)).await.unwrap();
            child.send(end).await.unwrap();
            let reason = child.stopped().await;
            told.push(format!("child {} {reason}", child.id()));
            assert_eq!(heard_of(&parent, told.len()).await, told);
        }
    });
}

#[test]
fn a_child_that_does_not_stop_in_time_is_killed() {
    let runtime =
        evenkeel::Builder::new().workers(1).reliefs(0).start_paused(true).build().unwrap();
    runtime.block_on(async {
        let parent = node();
        let child = parent.ask(|reply| Message::Spawn(Box::default(), reply)).await.unwrap();
        child.send(Message::Wait).await.unwrap();
        while child.depth() > 0 {
            evenkeel::yield_now().await;
        }
        let begin = evenkeel::time::Instant::now();
        parent.stop();
        assert!(parent.stopped().await.is_normal());
        assert_eq!(begin.elapsed(), std::time::Duration::from_secs(5));
        assert!(matches!(child.stopped().await, ExitReason::Killed));
    });
}

#[test]
fn many_short_waits_do_no_harm() {
    on_workers(1, async {
        let actor = node();
        for _ in 0..10_000 {
            drop(actor.stopped());
        }
        let last = actor.stopped();
        actor.kill();
        assert!(matches!(last.await, ExitReason::Killed));
    });
}
