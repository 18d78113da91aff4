//! Sending, asking, and the identity of references.

use crate::world::{Message, Sum, World, id, slow};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::remote::RemoteError;
use evenkeel_actor::{Actor, ActorRef, AskError, Builder, Context, Failure, Handled, spawn};
use std::sync::{Arc, Mutex};

async fn get(actor: &ActorRef<Message>) -> u64 {
    actor.ask(Message::Get).await.unwrap()
}

#[test]
fn an_actor_of_another_node_is_told_and_asked() {
    for workers in [1, 2] {
        let world = World::new(3, workers, slow(1));
        let sums = world.on(0, async |node| {
            let mut sums = Vec::new();
            for on in 0..3 {
                let sum = node.spawn_on::<Message, _>(id(on), "sum", &5_u64).await.unwrap();
                assert_eq!(sum.remote_name().map(|name| name.node), (on > 0).then(|| id(on)));
                for n in 0..1_000 {
                    sum.send(Message::Add(n)).await.unwrap();
                }
                sums.push(get(&sum).await);
            }
            sums
        });
        assert_eq!(sums, [499_505; 3]);
    }
}

#[test]
fn a_reference_goes_through_a_third_node_and_comes_home() {
    let world = World::new(3, 1, slow(2));
    world.on(0, async |node| {
        let own = Builder::new().system(node.system()).spawn(Sum::default()).unwrap();
        let first = node.spawn_on::<Message, _>(id(1), "sum", &1_u64).await.unwrap();
        let second = node.spawn_on::<Message, _>(id(2), "sum", &2_u64).await.unwrap();
        // The second has the first send to this node's own actor, of which the second has never
        // heard.
        first.send(Message::Pass(own.clone(), 7)).await.unwrap();
        let name = first.ask(Message::Me).await.unwrap();
        assert_eq!(name, first);
        while get(&own).await != 7 {
            evenkeel::yield_now().await;
        }
        // The place for the answer goes from here to the second, and on to the first, which
        // answers.
        assert_eq!(second.ask(|reply| Message::Ask(first.clone(), reply)).await, Ok(1));
        assert_eq!(second.ask(|reply| Message::Ask(own.clone(), reply)).await, Ok(7));
        // It is local again when it is home.
        own.send(Message::Pass(own.clone(), 1)).await.unwrap();
        assert_eq!(node.metrics().open_calls, 0);
        // Others know one actor of this node at most, and none once they have given back what they
        // had, which may have been by now.
        assert!(node.metrics().known_actors <= 1);
        while node.metrics().known_actors > 0 {
            evenkeel::yield_now().await;
        }
        while get(&own).await != 8 {
            evenkeel::yield_now().await;
        }
    });
}

#[test]
fn requests_for_actors_that_cannot_be_are_typed_errors() {
    let world = World::new(2, 1, Faults::default());
    world.on(0, async |node| {
        for on in [0, 1] {
            let on = id(on);
            let error = node.spawn_on::<Message, _>(on, "product", &5_u64).await.unwrap_err();
            assert_eq!(error, RemoteError::NoSuchScript { node: on, name: "product".into() });
            assert!(error.to_string().starts_with(&format!("node {on} has no script \"product\"")));
            let error = node.spawn_on::<Message, _>(on, "sum", "a text").await.unwrap_err();
            assert!(matches!(error, RemoteError::Arguments { .. }), "{error}");
            let error = node.spawn_on::<u64, _>(on, "sum", &5_u64).await.unwrap_err();
            assert!(matches!(error, RemoteError::OtherMessages { .. }), "{error}");
            let error = node.locate::<Message>(on, "nobody").await.unwrap_err();
            assert_eq!(error, RemoteError::NoSuchName { node: on, name: "nobody".into() });
        }
        let error = node.spawn_on::<Message, _>(id(2), "sum", &5_u64).await.unwrap_err();
        assert_eq!(error, RemoteError::NoSuchNode { node: id(2) });
        let long = "s".repeat(300);
        let error = node.spawn_on::<Message, _>(id(1), &long, &5_u64).await.unwrap_err();
        assert!(matches!(error, RemoteError::Unwritable { .. }), "{error}");
    });
    let taken = world.on(1, async |node| node.register_script("sum", Sum::new));
    assert!(!taken, "there is a script of that name");
}

/// The place of the report is the script's registration: a place in the library would not help to
/// find the script.
#[test]
fn a_scripts_actor_that_fails_is_told_of_with_the_place_of_the_registration() {
    struct Fails;
    impl Actor for Fails {
        type Message = Message;

        async fn handle(&mut self, _message: Message, _context: &mut Context<Self>) -> Handled {
            Err(Failure::message("on purpose"))
        }
    }
    let line = line!() + 1;
    let world = World::built(1, 1, Faults::default(), |_, node| node.script("early", |()| Fails));
    world.on(0, async |node| {
        let later = line!() + 1;
        assert!(node.register_script("late", |()| Fails));
        let told = Arc::new(Mutex::new(Vec::new()));
        let tell = told.clone();
        node.system()
            .on_failure(move |failure| tell.lock().unwrap().push(failure.actor.spawn_site));
        for script in ["early", "late"] {
            let fails = node.spawn_on::<Message, _>(id(0), script, &()).await.unwrap();
            fails.send(Message::Stop).await.unwrap();
            fails.stopped().await;
        }
        let places: Vec<_> =
            told.lock().unwrap().iter().map(|site| (site.file(), site.line())).collect();
        assert_eq!(places, [(file!(), line), (file!(), later)]);
    });
}

#[test]
fn published_actors_are_found() {
    let world = World::new(2, 2, Faults::default());
    let (runtime, other) = &world.nodes[1];
    runtime.block_on(async {
        let sum = spawn(Sum::new(3));
        assert!(other.publish("sum", sum.clone()));
        assert!(!other.publish("sum", sum));
    });
    world.on(0, async |node| {
        let sum = node.locate::<Message>(id(1), "sum").await.unwrap();
        assert_eq!(get(&sum).await, 3);
        let error = node.locate::<u64>(id(1), "sum").await.unwrap_err();
        assert!(matches!(error, RemoteError::OtherMessages { .. }), "{error}");
    });
}

#[test]
fn stopped_actors_are_dead_letters_and_their_slots_are_given_again() {
    let world = World::new(2, 1, Faults::default());
    world.on(0, async |node| {
        let sum = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap();
        sum.stop();
        while sum.ask(Message::Get).await != Err(AskError::Stopped) {}
        let killed = node.spawn_on::<Message, _>(id(1), "sum", &0_u64).await.unwrap();
        killed.kill();
        while killed.ask(Message::Get).await != Err(AskError::Stopped) {}
        let next = node.spawn_on::<Message, _>(id(1), "sum", &4_u64).await.unwrap();
        let (name, before) = (next.remote_name().unwrap(), killed.remote_name().unwrap());
        assert_eq!(name.slot.index, before.slot.index);
        assert_ne!(name.slot.generation, before.slot.generation);
        assert_eq!(get(&next).await, 4);
        // The old name is not the new actor's.
        assert_eq!(killed.ask(Message::Get).await, Err(AskError::Stopped));
    });
    assert!(world.nodes[1].1.metrics().undelivered > 0);
    assert!(world.nodes[1].1.system().dead_letters() > 0);
}

#[test]
fn a_reference_is_written_in_messages_to_nodes_alone() {
    let runtime = crate::world::runtime(1);
    let actor = runtime.block_on(async { spawn(Sum::default()) });
    assert!(evenkeel_actor::node::payload::put(&actor, &mut Vec::new()).is_err());
    assert!(evenkeel_actor::node::payload::get::<ActorRef<Message>>(&[0, 0, 0]).is_err());
}

#[test]
fn a_reference_takes_two_words() {
    assert_eq!(size_of::<ActorRef<Message>>(), 16);
    assert_eq!(size_of::<Option<ActorRef<Message>>>(), 16);
    assert_eq!(size_of::<evenkeel_actor::ReplyTo<u64>>(), 16);
}
