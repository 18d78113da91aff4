//! Stashed messages: their order, their bound, and accounts that wait for each other.

use crate::common::workers::on_workers;
use evenkeel_actor::{
    Actor, ActorRef, AskError, Builder, Context, Handled, ReplyTo, Stash, StashFull, System, spawn,
};
use std::sync::{Arc, Mutex};

/// Records numbers while it is open.
struct Door {
    open: bool,
    aside: Stash<Message>,
    notes: Arc<Mutex<Vec<u32>>>,
}

enum Message {
    Note(u32),
    Open,
    /// Lets this many in.
    Let(usize),
    Notes(ReplyTo<Vec<u32>>),
    Forget(#[allow(dead_code)] ReplyTo<()>),
}

impl Actor for Door {
    type Message = Message;

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        match message {
            Message::Note(n) if self.open => self.notes.lock().unwrap().push(n),
            Message::Open => {
                self.open = true;
                self.aside.unstash_all(context);
            }
            Message::Let(number) => {
                for _ in 0..number {
                    if let Some(Message::Note(n)) = self.aside.pop() {
                        self.notes.lock().unwrap().push(n);
                    }
                }
            }
            Message::Notes(reply) => reply.send(self.notes.lock().unwrap().clone()),
            message => self.aside.put(message)?,
        }
        Ok(())
    }
}

fn door(capacity: usize) -> Door {
    Door { open: false, aside: Stash::new(capacity), notes: Arc::default() }
}

#[test]
fn what_was_put_aside_is_handled_first_and_in_order() {
    for workers in [1, 2, 4] {
        on_workers(workers, async {
            for number in [0, 1, 3, 100] {
                let door = spawn(door(100));
                for n in 0..number {
                    door.send(Message::Note(n)).await.unwrap();
                }
                door.send(Message::Open).await.unwrap();
                for n in number..2 * number {
                    door.send(Message::Note(n)).await.unwrap();
                }
                let notes = door.ask(Message::Notes).await.unwrap();
                assert!(notes.iter().copied().eq(0..2 * number), "{notes:?}");
            }
        });
    }
}

#[test]
fn the_oldest_can_be_taken_out_alone() {
    on_workers(1, async {
        let door = spawn(door(10));
        for n in 0..5 {
            door.send(Message::Note(n)).await.unwrap();
        }
        door.send(Message::Let(2)).await.unwrap();
        assert_eq!(door.ask(Message::Notes).await.unwrap(), [0, 1]);
        door.send(Message::Open).await.unwrap();
        assert_eq!(door.ask(Message::Notes).await.unwrap(), [0, 1, 2, 3, 4]);
    });
}

#[test]
fn a_full_stash_gives_the_message_back_and_by_the_question_mark_the_actor_fails() {
    let mut stash = Stash::new(1);
    stash.put(1).unwrap();
    let error = stash.put(2).unwrap_err();
    assert_eq!(error, StashFull(2));
    assert!(error.to_string().starts_with("the actor's stash is full: "), "{error}");
    assert_eq!((error.into_message(), stash.len(), stash.capacity()), (2, 1, 1));
    assert_eq!((stash.pop(), stash.pop(), stash.is_empty()), (Some(1), None, true));
    assert!(Stash::<u8>::new(0).is_full());

    on_workers(1, async {
        let system = System::new();
        let door = Builder::new().system(system).spawn(door(2)).unwrap();
        for n in 0..3 {
            door.send(Message::Note(n)).await.unwrap();
        }
        while !door.is_stopped() {
            evenkeel::yield_now().await;
        }
        assert_eq!(door.ask(Message::Notes).await, Err(AskError::Stopped));
    });
}

#[test]
fn an_asker_hears_when_the_stash_is_dropped_with_its_actor() {
    on_workers(2, async {
        let door = spawn(door(2));
        let (asked, ()) = futures::join!(door.ask(Message::Forget), async {
            door.stop();
        });
        assert_eq!(asked, Err(AskError::NoReply));
    });
}

/// A paying account waits for the payee's answer, and stashes other messages meanwhile.
struct Account {
    cents: i64,
    /// Answered when the payment is over.
    paying: Option<ReplyTo<()>>,
    aside: Stash<Order>,
}

enum Order {
    Pay(ActorRef<Order>, i64, ReplyTo<()>),
    Take(ActorRef<Order>, i64),
    Taken,
    Balance(ReplyTo<i64>),
}

impl Actor for Account {
    type Message = Order;

    async fn handle(&mut self, order: Order, context: &mut Context<Self>) -> Handled {
        match order {
            Order::Taken => {
                if let Some(payer) = self.paying.take() {
                    payer.send(());
                }
                self.aside.unstash(1, context);
                return Ok(());
            }
            order if self.paying.is_some() => return Ok(self.aside.put(order)?),
            Order::Pay(payee, cents, done) => {
                self.cents -= cents;
                self.paying = Some(done);
                payee.send(Order::Take(context.actor_ref(), cents)).await?;
                return Ok(());
            }
            Order::Take(payer, cents) => {
                self.cents += cents;
                payer.send(Order::Taken).await?;
            }
            Order::Balance(reply) => reply.send(self.cents),
        }
        // An order that began no payment admits the next one.
        self.aside.unstash(1, context);
        Ok(())
    }
}

#[test]
fn accounts_that_wait_for_each_other_keep_all_money() {
    const ACCOUNTS: usize = 20;
    const TRANSFERS: usize = 2_000;
    for workers in [1, 2, 4] {
        on_workers(workers, async {
            let account =
                || Account { cents: 1_000, paying: None, aside: Stash::new(2 * TRANSFERS) };
            let room = Builder::new().capacity(2 * TRANSFERS);
            let accounts: Vec<_> =
                (0..ACCOUNTS).map(|_| room.clone().spawn(account()).unwrap()).collect();
            let payments = (0..TRANSFERS).map(|n| {
                // The payee's place is above the payer's, so accounts never wait in a circle.
                let payer = n * 7 % (ACCOUNTS - 1);
                let payee = accounts[payer + 1 + n % (ACCOUNTS - 1 - payer)].clone();
                let payer = accounts[payer].clone();
                evenkeel::spawn(async move {
                    payer.ask(|done| Order::Pay(payee, 1 + n as i64 % 5, done)).await.unwrap();
                })
            });
            for payment in payments.collect::<Vec<_>>() {
                payment.await.unwrap();
            }
            let mut sum = 0;
            for account in &accounts {
                sum += account.ask(Order::Balance).await.unwrap();
            }
            assert_eq!(sum, 1_000 * ACCOUNTS as i64);
        });
    }
}
