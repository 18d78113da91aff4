//! Recipients of actors on other nodes.

use crate::ending::ends;
use crate::world::{World, id};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::{Actor, ActorRef, Context, Handled, Recipient, SendError};
use serde::{Deserialize, Serialize, Serializer};

/// Cannot be written if it is true.
#[derive(Deserialize)]
struct Secret(bool);

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 {
            return Err(serde::ser::Error::custom("a secret"));
        }
        self.0.serialize(serializer)
    }
}

#[derive(Serialize, Deserialize)]
enum Message {
    Secret(Secret),
    Text(String),
}

struct Sink;

impl Actor for Sink {
    type Message = Message;

    async fn handle(&mut self, _message: Message, _context: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

#[test]
fn a_recipient_says_why_a_message_is_not_sent() {
    ends(|| {
        for workers in [1, 2] {
            let world = World::new(2, workers, Faults::default());
            world.nodes[1].1.register_script("sink", |()| Sink);
            world.on(0, async |node| {
                let sink: ActorRef<Message> = node.spawn_on(id(1), "sink", &()).await.unwrap();
                let to: Recipient<Message> = sink.recipient();
                let both = async |message: fn() -> Message, error: SendError<()>| {
                    let own = sink.try_send(message()).map_err(|error| error.is_full());
                    assert_eq!(own, Err(false));
                    assert_eq!(to.try_send(message()), Err(error));
                    assert_eq!(to.send(message()).await, Err(error));
                };
                assert_eq!(to.try_send(Message::Secret(Secret(false))), Ok(()));
                both(|| Message::Secret(Secret(true)), SendError::Unwritable(())).await;
                both(|| Message::Text("a".repeat(17 << 20)), SendError::Unwritable(())).await;
                world.control.kill(id(1));
                while !sink.is_stopped() {
                    evenkeel::yield_now().await;
                }
                both(|| Message::Text(String::new()), SendError::NodeDown(())).await;
            });
        }
    });
}
