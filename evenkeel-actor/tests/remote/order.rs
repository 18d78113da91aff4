//! Messages from one sender to one actor arrive in the order of sending, wherever the sender runs.

use crate::ending::ends;
use crate::world::{World, id, slow};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::node::policy::Packing;
use evenkeel_actor::{Actor, ActorRef, Builder, Context, Handled, ReplyTo};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SENDERS: u32 = 20;
const EACH: u32 = 2_000;

#[derive(Serialize, Deserialize)]
enum Message {
    Number {
        sender: u32,
        number: u32,
    },
    /// Answers once all numbers have arrived.
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
    // Small frames, so that many are under way at once.
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

/// Records its numbers, once it may.
struct Noting {
    may_go_on: Arc<AtomicBool>,
    noted: Arc<Mutex<Vec<u64>>>,
}

impl Actor for Noting {
    type Message = u64;

    async fn handle(&mut self, number: u64, _context: &mut Context<Self>) -> Handled {
        while !self.may_go_on.load(Ordering::SeqCst) {
            evenkeel::yield_now().await;
        }
        self.noted.lock().unwrap().push(number);
        Ok(())
    }
}

/// The first reference is released while its messages wait for room, and the actor lives on by its
/// name.
#[test]
fn what_is_sent_by_a_second_reference_does_not_overtake_what_waits_from_the_first() {
    ends(|| {
        let world = World::new(2, 2, Faults::default());
        let may_go_on = Arc::new(AtomicBool::new(false));
        let noted = Arc::new(Mutex::new(Vec::new()));
        let noting = Noting { may_go_on: Arc::clone(&may_go_on), noted: Arc::clone(&noted) };
        let (runtime, other) = &world.nodes[1];
        let noting = runtime.block_on(async {
            Builder::new().capacity(1).system(other.system()).spawn(noting).unwrap()
        });
        assert!(other.publish("noting", noting));
        let other = other.clone();
        world.on(0, async move |node| {
            let first = node.locate::<u64>(id(1), "noting").await.unwrap();
            for number in 0..20 {
                first.send(number).await.unwrap();
            }
            drop(first);
            while other.metrics().waiting_messages < 10 {
                evenkeel::yield_now().await;
            }
            // The release follows after a millisecond.
            evenkeel::time::sleep(Duration::from_millis(50)).await;
            let second = node.locate::<u64>(id(1), "noting").await.unwrap();
            for number in 20..25 {
                second.send(number).await.unwrap();
            }
            while other.metrics().waiting_messages < 15 {
                evenkeel::yield_now().await;
            }
            may_go_on.store(true, Ordering::SeqCst);
            while noted.lock().unwrap().len() < 25 {
                evenkeel::yield_now().await;
            }
            assert!(noted.lock().unwrap().iter().copied().eq(0..25), "{:?}", noted.lock().unwrap());
        });
    });
}
