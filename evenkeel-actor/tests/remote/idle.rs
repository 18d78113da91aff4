//! Idle nodes: an arrival itself wakes the host.

use crate::world::{Message, World, id};
use evenkeel::time::sleep;
use evenkeel_actor::node::in_process::Faults;
use std::time::Duration;

/// Longer than a host keeps looking before it sleeps.
const IDLE: Duration = Duration::from_millis(30);

#[test]
fn a_question_to_an_idle_node_with_one_worker_is_answered_before_its_host_looks_again() {
    let world = World::new(2, 1, Faults::default());
    let timers = {
        let handle = world.nodes[1].0.handle();
        move || handle.metrics().processors[0].timers_fired
    };
    let unhurried = world.on(0, async move |node| {
        let sum = node.spawn_on::<Message, _>(id(1), "sum", &7_u64).await.unwrap();
        let mut unhurried = 0;
        for _ in 0..20 {
            sleep(IDLE).await;
            let before = timers();
            assert_eq!(sum.ask(Message::Get).await, Ok(7));
            // No sleep of the other host has ended meanwhile.
            unhurried += u32::from(timers() == before);
        }
        unhurried
    });
    assert!(unhurried > 0, "each question has waited for the end of a sleep");
}
