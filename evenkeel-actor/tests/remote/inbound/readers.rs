//! Readers of frames: they make progress with all input, and yield.

use super::{ends, with_peer};
use crate::world::{Message, Sum, World, id, runtime};
use evenkeel_actor::node::in_process::{Faults, network};
use evenkeel_actor::node::policy::Packing;
use evenkeel_actor::node::wire::{Envelope, Message as Wire};
use evenkeel_actor::node::{Slot, Transport, frame};
use evenkeel_actor::remote::{Hosting, Node};
use evenkeel_actor::{Actor, Builder, Context, Handled, System};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A reader reads for its budget of 20 microseconds, then yields; it must do so over several frames
/// as well as in one.
#[test]
fn a_reader_gives_way_between_frames() {
    ends(|| {
        let (_control, mut nodes) = network(2, Faults::default());
        let (end, other) = (nodes.remove(0), nodes.remove(0));
        let (mine, theirs) = (runtime(1), runtime(1));
        let start = |end| {
            let builder = Node::builder().system(System::new()).hosting(Hosting::Thread);
            let builder = builder.packing(Packing { frame: 1, ..Packing::default() });
            builder.start(|| Ok::<_, String>(end))
        };
        let node = mine.block_on(start(end)).unwrap();
        let other = theirs.block_on(start(other)).unwrap();
        let local = Builder::new().system(node.system());
        let local = mine.block_on(async { local.spawn(Sum::new(0)).unwrap() });
        assert!(node.publish("gone", local.clone()));
        let gone = theirs.block_on(async {
            other.ready().await.unwrap();
            other.locate::<Message>(id(0), "gone").await.unwrap()
        });
        // No sender waits for room in a mailbox.
        local.stop();
        mine.block_on(local.stopped());
        // Keeps the only worker while frames accumulate, then yields.
        let go = Arc::new(AtomicBool::new(false));
        let gone_on = Arc::clone(&go);
        let counted = node.clone();
        let holds = mine.spawn(async move {
            while !gone_on.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            let before = counted.metrics().unread_frames;
            // Until the reader has had a turn.
            while counted.metrics().unread_frames == before {
                evenkeel::yield_now().await;
            }
            (before, counted.metrics().unread_frames)
        });
        theirs.block_on(async {
            for n in 0..250 {
                while gone.try_send(Message::Add(n)).is_err() {
                    evenkeel::yield_now().await;
                }
            }
        });
        while node.metrics().unread_frames < 250 {
            std::thread::yield_now();
        }
        go.store(true, Ordering::SeqCst);
        let (before, after) = evenkeel::block_on(holds).unwrap();
        // Frames of one message: a reader checks the time only inside frames, at each 32nd message.
        assert!(after > 0, "all of {before} frames in one turn");
    });
}

/// A reader that yields resumes at its place: if it began the frame anew, the cost would grow with
/// the square of the frame's messages.
#[test]
fn a_long_frame_of_short_messages_is_read_in_time() {
    ends(|| {
        with_peer(|_, node, peer| {
            const MESSAGES: u64 = 1 << 20;
            let mut bytes = Vec::new();
            frame::begin(&mut bytes, 0);
            let to = Slot { index: 0, generation: 0 };
            for _ in 0..MESSAGES {
                let message = Wire::Tell { to, payload: &[] };
                Envelope::from(message).append(&mut bytes).unwrap();
            }
            assert!(bytes.len() < 5 << 20);
            peer.send(id(0), bytes).unwrap();
            while node.metrics().messages_in <= MESSAGES {
                std::thread::yield_now();
            }
        });
    });
}

#[derive(Serialize, Deserialize)]
enum Delicate {
    Fragile(Fragile),
    Stop,
}

/// Panics in its drop on the node that has read it.
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

/// In one process such a panic is caught where a mailbox is emptied; `workers` determines the
/// reader.
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
