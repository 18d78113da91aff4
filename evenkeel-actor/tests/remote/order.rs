//! What one sender sends to one actor arrives in the order in which it was sent, wherever the
//! sender runs.

use crate::world::{World, id, slow};
use evenkeel_actor::node::policy::Packing;
use evenkeel_actor::{Actor, ActorRef, Context, Handled, ReplyTo};
use serde::{Deserialize, Serialize};
use std::time::Duration;

const SENDERS: u32 = 20;
const EACH: u32 = 2_000;

#[derive(Serialize, Deserialize)]
enum Message {
    Number {
        sender: u32,
        number: u32,
    },
    /// Answers once all numbers have come.
    All(ReplyTo<()>),
}

struct Checks {
    next: Vec<u32>,
    reply: Option<ReplyTo<()>>,
}

impl Actor for Checks {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::Number { sender, number } => {
                assert_eq!(number, self.next[sender as usize], "of sender {sender}");
                self.next[sender as usize] += 1;
            }
            Message::All(reply) => self.reply = Some(reply),
        }
        if self.next.iter().all(|&next| next == EACH)
            && let Some(reply) = self.reply.take()
        {
            reply.send(());
        }
        Ok(())
    }
}

#[test]
fn order_is_kept_while_senders_change_workers() {
    // Small frames, so that many are on their way at once.
    let packing = Packing { frame: 64, cap: Duration::from_micros(5), ..Packing::default() };
    for workers in [1, 3] {
        let world = World::with(2, workers, slow(5), packing);
        world.nodes[1].1.register_script("checks", |()| Checks {
            next: vec![0; SENDERS as usize],
            reply: None,
        });
        world.on(0, async |node| {
            let to: ActorRef<Message> = node.spawn_on(id(1), "checks", &()).await.unwrap();
            let senders: Vec<_> = (0..SENDERS)
                .map(|sender| {
                    let to = to.clone();
                    evenkeel::spawn(async move {
                        for number in 0..EACH {
                            to.send(Message::Number { sender, number }).await.unwrap();
                            if number % 7 == sender % 7 {
                                evenkeel::yield_now().await;
                            }
                        }
                    })
                })
                .collect();
            for sender in senders {
                sender.await.unwrap();
            }
            to.ask(Message::All).await.unwrap();
            assert_eq!(node.metrics().messages_lost, 0);
        });
    }
}
