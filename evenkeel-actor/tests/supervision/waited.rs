//! When a task has waited for the end of a supervisor, no actor below the supervisor is left.

use evenkeel::Runtime;
use evenkeel_actor::{
    Actor, ActorRef, AnyActor, Child, Context, Handled, ReplyTo, Supervisor, SupervisorBuilder,
    SupervisorRef, System,
};
use std::time::Duration;

enum Message {
    Ready(ReplyTo<()>),
    Panic,
}

struct Worker;

impl Actor for Worker {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::Ready(reply) => reply.send(()),
            Message::Panic => panic!("on purpose"),
        }
        Ok(())
    }
}

/// The way in which a supervisor ends.
#[derive(Clone, Copy, Debug)]
enum How {
    Stop,
    Kill,
    Drop,
    Escalate,
}

/// Supervisors in supervisors, and all actors below the first.
struct Family {
    tree: SupervisorRef,
    below: Vec<AnyActor>,
    workers: Vec<ActorRef<Message>>,
}

/// A supervisor that gives up at the first failure, with some workers and, below it, `depth` levels
/// of such supervisors.
fn supervisor(depth: u32, family: &mut Family, system: System) -> SupervisorBuilder {
    let never = Supervisor::one_for_one().intensity(0, Duration::from_secs(60));
    let mut tree = never.system(system);
    for name in ["a", "b"] {
        let worker = tree.child(Child::new(name, || Worker));
        family.below.push(worker.any());
        family.workers.push(worker);
    }
    if depth > 0 {
        let inner = supervisor(depth - 1, family, system);
        family.below.push(tree.supervisor("inner", inner).any());
    }
    tree
}

async fn family(depth: u32) -> Family {
    let system = System::new();
    system.on_failure(|_| ());
    let placeholder = Supervisor::one_for_one().system(system).spawn();
    let mut family = Family { tree: placeholder, below: Vec::new(), workers: Vec::new() };
    let tree = supervisor(depth, &mut family, system);
    family.tree = tree.spawn();
    for worker in &family.workers {
        worker.ask(Message::Ready).await.unwrap();
    }
    family
}

/// The caller is outside the runtime, so it runs at once when the end is announced.
fn ends(runtime: &Runtime, depth: u32, how: How) {
    let Family { tree, below, workers } = runtime.block_on(family(depth));
    let stopped = tree.stopped();
    match how {
        How::Stop => tree.stop(),
        How::Kill => tree.kill(),
        How::Drop => drop(tree),
        How::Escalate => {
            // The last worker is below all supervisors.
            let last = workers.last().unwrap();
            runtime.block_on(last.send(Message::Panic)).unwrap();
        }
    }
    runtime.block_on(stopped);
    let alive = below.iter().filter(|actor| !actor.is_stopped()).count();
    assert_eq!(alive, 0, "of {} below, {how:?}", below.len());
}

fn end_in_each_way(how: How) {
    for workers in [1, 2, 4] {
        let runtime = evenkeel::Builder::new().workers(workers).build().unwrap();
        for round in 0..200 {
            ends(&runtime, round % 3, how);
        }
    }
}

#[test]
fn no_actor_is_left_below_a_supervisor_that_has_stopped() {
    end_in_each_way(How::Stop);
}

#[test]
fn no_actor_is_left_below_a_supervisor_that_was_killed() {
    end_in_each_way(How::Kill);
}

#[test]
fn no_actor_is_left_below_a_supervisor_that_was_dropped() {
    end_in_each_way(How::Drop);
}

#[test]
fn no_actor_is_left_below_a_supervisor_that_has_given_up() {
    end_in_each_way(How::Escalate);
}

/// Each announces its end when the one below has ended, and the last ends first.
#[test]
fn a_chain_of_100_000_supervisors_ends_with_the_stack_of_one() {
    let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
    let (tree, below) = runtime.block_on(async {
        let system = System::new();
        let mut tree = Supervisor::one_for_one().system(system);
        let mut below = Vec::new();
        for _ in 0..100_000 {
            let mut outer = Supervisor::one_for_one().system(system);
            below.push(outer.supervisor("inner", tree).any());
            tree = outer;
        }
        (tree.spawn(), below)
    });
    let stopped = tree.stopped();
    tree.kill();
    runtime.block_on(stopped);
    assert_eq!(below.iter().filter(|actor| !actor.is_stopped()).count(), 0);
}

/// The first child starts, and the second one waits for it, when the supervisor is told to stop.
#[test]
fn a_supervisor_that_stops_before_all_children_have_started_ends() {
    for workers in [1, 2] {
        let runtime = evenkeel::Builder::new().workers(workers).build().unwrap();
        runtime.block_on(async {
            for supervisor in
                [Supervisor::one_for_one(), Supervisor::one_for_all(), Supervisor::rest_for_one()]
            {
                let mut tree = supervisor.system(System::new());
                let below = ["a", "b", "c"].map(|name| tree.child(Child::new(name, || Worker)));
                let tree = tree.spawn();
                tree.stop();
                tree.stopped().await;
                assert!(below.iter().all(ActorRef::is_stopped));
            }
        });
    }
}
