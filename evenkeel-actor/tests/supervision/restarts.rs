//! The effect of a restart on links, watches and children; and supervisors below other actors.

use crate::common::workers::on_workers;
use evenkeel::time::Duration;
use evenkeel_actor::{
    Actor, ActorRef, AnyActor, Child, Context, Event, ExitReason, Handled, ReplyTo, Supervisor,
    SupervisorRef, System, spawn,
};

#[derive(Default)]
struct Member {
    heard: Vec<String>,
    spawns: bool,
}

enum Message {
    Watch(AnyActor),
    Link(AnyActor),
    Trap,
    Panic,
    /// Answers with the notices received. `Child` answers with the child of a member that has one.
    Heard(ReplyTo<Vec<String>>),
    Child(ReplyTo<ActorRef<Message>>),
    Supervise(ReplyTo<(SupervisorRef, ActorRef<Message>)>),
}

impl Actor for Member {
    type Message = Message;

    async fn started(&mut self, context: &mut Context<Self>) -> Handled {
        if self.spawns {
            context.spawn(Self::default());
        }
        Ok(())
    }

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        match message {
            Message::Watch(actor) => context.watch(&actor),
            Message::Link(actor) => context.link(&actor),
            Message::Trap => context.trap_exits(true),
            Message::Panic => panic!("on purpose"),
            Message::Heard(reply) => reply.send(self.heard.clone()),
            Message::Child(reply) => reply.send(context.spawn(Self::default())),
            Message::Supervise(reply) => {
                let mut tree = Supervisor::one_for_one();
                let child = tree.child(Child::new("inner", Self::default));
                reply.send((context.spawn_supervisor(tree), child));
            }
        }
        Ok(())
    }

    async fn event(&mut self, event: Event, _context: &mut Context<Self>) -> Handled {
        self.heard.push(match event {
            Event::Down { reason, .. } => format!("down {reason}"),
            Event::Exit { reason, .. } => format!("exit {reason}"),
            Event::ChildEnded { reason, .. } => format!("child {reason}"),
            other => panic!("{other:?}"),
        });
        Ok(())
    }
}

fn tree(spawns: bool) -> (SupervisorRef, ActorRef<Message>) {
    System::current().on_failure(|_| ());
    let mut tree = Supervisor::one_for_one().intensity(100, Duration::from_secs(60));
    let member = tree.child(Child::new("member", move || Member { heard: Vec::new(), spawns }));
    (tree.spawn(), member)
}

async fn heard(actor: &ActorRef<Message>) -> Vec<String> {
    actor.ask(Message::Heard).await.unwrap()
}

async fn restarted(tree: &SupervisorRef, times: u64) {
    while !tree.children().await.unwrap().iter().any(|child| child.restarts == times && child.is_up)
    {
        evenkeel::yield_now().await;
    }
}

#[test]
fn a_restart_is_no_end_for_those_that_watch_and_link() {
    for workers in [1, 2] {
        on_workers(workers, async {
            let (tree, member) = tree(false);
            let friend = spawn(Member::default());
            friend.send(Message::Watch(member.any())).await.unwrap();
            friend.send(Message::Link(member.any())).await.unwrap();
            assert!(heard(&friend).await.is_empty());
            member.send(Message::Panic).await.unwrap();
            restarted(&tree, 1).await;
            assert!(heard(&friend).await.is_empty());
            friend.send(Message::Trap).await.unwrap();
            heard(&friend).await;
            tree.stop();
            member.stopped().await;
            while heard(&friend).await.len() < 2 {
                evenkeel::yield_now().await;
            }
            assert_eq!(heard(&friend).await, ["exit stopped", "down stopped"]);
        });
    }
}

#[test]
fn a_link_that_ends_a_supervised_actor_has_it_restarted() {
    for workers in [1, 2] {
        on_workers(workers, async {
            let (tree, member) = tree(false);
            for round in 1..=20 {
                let friend = spawn(Member::default());
                member.send(Message::Link(friend.any())).await.unwrap();
                heard(&member).await;
                friend.kill();
                restarted(&tree, round).await;
                assert!(heard(&member).await.is_empty());
            }
        });
    }
}

#[test]
fn a_restart_forgets_watches_and_traps() {
    for workers in [1, 2] {
        on_workers(workers, async {
            let (tree, member) = tree(false);
            let (watched, linked) = (spawn(Member::default()), spawn(Member::default()));
            member.send(Message::Trap).await.unwrap();
            member.send(Message::Watch(watched.any())).await.unwrap();
            member.send(Message::Link(linked.any())).await.unwrap();
            member.send(Message::Panic).await.unwrap();
            restarted(&tree, 1).await;
            watched.kill();
            watched.stopped().await;
            assert!(heard(&member).await.is_empty());
            // The link exists, and is not trapped.
            linked.kill();
            restarted(&tree, 2).await;
            assert!(heard(&member).await.is_empty());
        });
    }
}

#[test]
fn children_of_an_incarnation_end_with_it_and_the_next_is_not_told() {
    for workers in [1, 2, 4] {
        on_workers(workers, async {
            let (tree, member) = tree(true);
            for round in 1..=20 {
                let child = member.ask(Message::Child).await.unwrap();
                if round % 2 == 0 {
                    member.send(Message::Panic).await.unwrap();
                } else {
                    member.kill();
                }
                assert!(matches!(child.stopped().await, ExitReason::Killed));
                restarted(&tree, round).await;
                assert!(heard(&member).await.is_empty());
            }
        });
    }
}

#[test]
fn a_supervisor_may_be_the_child_of_any_actor() {
    for workers in [1, 2] {
        on_workers(workers, async {
            System::current().on_failure(|_| ());
            for kill in [false, true] {
                let parent = spawn(Member::default());
                let (tree, child) = parent.ask(Message::Supervise).await.unwrap();
                child.send(Message::Panic).await.unwrap();
                assert!(heard(&child).await.is_empty());
                if kill {
                    parent.kill()
                } else {
                    parent.stop()
                }
                assert_eq!(parent.stopped().await.is_normal(), !kill);
                tree.stopped().await;
                assert_eq!(child.stopped().await.is_normal(), !kill);
            }
            // A supervisor that gives up is an event for its parent.
            let parent = spawn(Member::default());
            let (tree, child) = parent.ask(Message::Supervise).await.unwrap();
            for _ in 0..4 {
                child.send(Message::Panic).await.unwrap();
            }
            assert!(tree.stopped().await.is_failure());
            while heard(&parent).await.is_empty() {
                evenkeel::yield_now().await;
            }
            assert!(heard(&parent).await[0].contains("\"inner\" panicked"));
        });
    }
}
