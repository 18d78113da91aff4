//! The end of work, of nodes, and of messages.

use crate::ends;
use crate::world::{Message, World, id};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::{Actor, Builder, Context, Handled};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Delicate {
    Fragile(Fragile),
    Stop,
}

/// Panics as it is dropped where it was read.
struct Fragile(bool);

impl Serialize for Fragile {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Fragile {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer).map(|()| Self(true))
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        assert!(!self.0, "dropped");
    }
}

struct Keeper;

impl Actor for Keeper {
    type Message = Delicate;

    async fn handle(&mut self, message: Delicate, context: &mut Context<Self>) -> Handled {
        match message {
            Delicate::Fragile(fragile) => std::mem::forget(fragile),
            Delicate::Stop => context.stop(),
        }
        Ok(())
    }
}

/// In one process such a panic is contained where a mailbox is emptied; `workers` says who reads.
fn a_message_panics_as_it_is_dropped(workers: usize) {
    ends(move || {
        let world = World::new(2, workers, Faults::default());
        let (runtime, other) = &world.nodes[1];
        let keeper = runtime.block_on(async {
            let keeper = Builder::new().system(other.system()).spawn(Keeper).unwrap();
            assert!(other.publish("keeper", keeper.clone()));
            keeper
        });
        world.on(0, async |node| {
            let sum = node.spawn_on::<Message, _>(id(1), "sum", &1_u64).await.unwrap();
            let away = node.locate::<Delicate>(id(1), "keeper").await.unwrap();
            away.send(Delicate::Stop).await.unwrap();
            while !keeper.is_stopped() {
                evenkeel::yield_now().await;
            }
            away.send(Delicate::Fragile(Fragile(false))).await.unwrap();
            assert_eq!(sum.ask(Message::Get).await, Ok(1), "the node goes on");
            assert_eq!(node.metrics().open_calls, 0);
        });
        assert_eq!(other.metrics().unread_frames, 0);
    });
}

#[test]
fn a_message_that_panics_as_it_is_dropped_does_not_end_a_node_with_one_worker() {
    a_message_panics_as_it_is_dropped(1);
}

#[test]
fn a_message_that_panics_as_it_is_dropped_does_not_stop_its_reader() {
    a_message_panics_as_it_is_dropped(2);
}
