//! Timers of actors, on a paused clock.

use evenkeel::time::{Duration, Instant, sleep};
use evenkeel_actor::{
    Actor, ActorRef, Builder, Context, ExitReason, Handled, ReplyTo, TimerId, spawn,
};
use std::sync::{Arc, Mutex};

const SECOND: Duration = Duration::from_secs(1);

type Log = Arc<Mutex<Vec<(u64, &'static str)>>>;

#[derive(Clone)]
enum Message {
    After(u64, &'static str),
    Every(u64, &'static str),
    Cancel(usize, Arc<Mutex<Vec<bool>>>),
    Quiet(u64),
    NotQuiet,
    Note(&'static str),
    Work(u64),
    Fail,
}

struct Diary {
    start: Instant,
    log: Log,
    timers: Vec<TimerId>,
}

impl Actor for Diary {
    type Message = Message;

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        match message {
            Message::After(seconds, word) => {
                let timer = context.send_after(SECOND * seconds as u32, Message::Note(word));
                self.timers.push(timer);
            }
            Message::Every(seconds, word) => {
                let timer = context.send_every(SECOND * seconds as u32, Message::Note(word));
                self.timers.push(timer);
            }
            Message::Cancel(index, done) => {
                done.lock().unwrap().push(context.cancel(self.timers[index]));
            }
            Message::Quiet(seconds) => {
                context.set_receive_timeout(SECOND * seconds as u32, || Message::Note("quiet"));
            }
            Message::NotQuiet => context.clear_receive_timeout(),
            Message::Note(word) => {
                self.log.lock().unwrap().push((self.start.elapsed().as_secs(), word));
            }
            Message::Work(seconds) => sleep(SECOND * seconds as u32).await,
            Message::Fail => panic!("on purpose"),
        }
        Ok(())
    }
}

fn run(test: impl Future<Output = ()> + Send + 'static) {
    let runtime =
        evenkeel::Builder::new().workers(1).reliefs(0).start_paused(true).build().unwrap();
    runtime.block_on(async { evenkeel::spawn(test).await.unwrap() });
}

fn diary(builder: Builder) -> (ActorRef<Message>, Log) {
    let log = Log::default();
    let diary = Diary { start: Instant::now(), log: log.clone(), timers: Vec::new() };
    (builder.spawn(diary).unwrap(), log)
}

async fn send_all(to: &ActorRef<Message>, messages: impl IntoIterator<Item = Message>) {
    for message in messages {
        to.send(message).await.unwrap();
    }
}

fn taken(log: &Log) -> Vec<(u64, &'static str)> {
    std::mem::take(&mut *log.lock().unwrap())
}

#[test]
fn messages_come_when_they_are_due_in_the_order_of_their_deadlines() {
    run(async {
        let (actor, log) = diary(Builder::new());
        let messages = [
            Message::After(3, "third"),
            Message::After(1, "first"),
            Message::After(2, "second"),
            Message::After(2, "second too"),
            Message::Every(2, "tick"),
        ];
        send_all(&actor, messages).await;
        sleep(SECOND * 5).await;
        assert_eq!(
            taken(&log),
            [
                (1, "first"),
                (2, "second"),
                (2, "second too"),
                (2, "tick"),
                (3, "third"),
                (4, "tick")
            ]
        );
    });
}

#[test]
fn what_is_cancelled_does_not_come_and_a_clock_does_not_wait_for_it() {
    run(async {
        let (actor, log) = diary(Builder::new());
        let done = Arc::default();
        let messages = [
            Message::After(1_000_000, "never"),
            Message::Every(1, "tick"),
            Message::After(10, "ten"),
            Message::Cancel(0, Arc::clone(&done)),
            Message::Cancel(0, Arc::clone(&done)),
        ];
        send_all(&actor, messages).await;
        sleep(SECOND * 2 + SECOND / 2).await;
        // It is due while the actor is busy, and is cancelled before its message.
        send_all(&actor, [Message::Work(1), Message::Cancel(1, Arc::clone(&done))]).await;
        sleep(SECOND * 100).await;
        let log = taken(&log);
        assert_eq!(log.iter().filter(|(_, word)| *word == "tick").count(), 3);
        assert_eq!(log.last(), Some(&(10, "ten")));
        assert_eq!(*done.lock().unwrap(), [true, false, true]);
        let foreign = spawn(Foreign);
        assert_eq!(foreign.ask(|reply| reply).await, Ok(false));
    });
}

/// Tries to cancel another actor's timer.
struct Foreign;

impl Actor for Foreign {
    type Message = ReplyTo<bool>;

    async fn handle(&mut self, reply: ReplyTo<bool>, context: &mut Context<Self>) -> Handled {
        struct Other;
        impl Actor for Other {
            type Message = ReplyTo<TimerId>;

            async fn handle(
                &mut self,
                reply: ReplyTo<TimerId>,
                context: &mut Context<Self>,
            ) -> Handled {
                let never = context.actor_ref();
                reply.send(context.send_every_with(SECOND, move || {
                    let _ = &never;
                    unreachable!("the test is over before")
                }));
                Ok(())
            }
        }
        let timer = spawn(Other).ask(|reply| reply).await?;
        reply.send(context.cancel(timer));
        Ok(())
    }
}

#[test]
fn a_full_mailbox_delays_no_timer_and_timers_leave_the_mailbox_its_half() {
    run(async {
        let (actor, log) = diary(Builder::new().capacity(2));
        send_all(&actor, [Message::Every(1, "tick"), Message::After(2, "once")]).await;
        // Busy until the timers are due several times over, with a full mailbox behind.
        send_all(&actor, [Message::Work(5)]).await;
        while actor.depth() > 0 {
            evenkeel::yield_now().await;
        }
        send_all(&actor, [Message::Note("one"), Message::Note("two")]).await;
        assert!(actor.try_send(Message::Note("no room")).is_err());
        sleep(SECOND * 6 + SECOND / 2).await;
        // The ticks of seconds 2 to 5 were missed: one tick stands for them.
        assert_eq!(taken(&log), [(5, "tick"), (5, "one"), (5, "once"), (5, "two"), (6, "tick")]);
    });
}

#[test]
fn ticks_that_are_always_due_starve_no_message() {
    run(async {
        let (actor, log) = diary(Builder::new());
        struct Slow;
        impl Actor for Slow {
            type Message = Option<ActorRef<Message>>;

            async fn started(&mut self, context: &mut Context<Self>) -> Handled {
                context.send_every(SECOND, None);
                Ok(())
            }

            async fn handle(&mut self, to: Self::Message, _context: &mut Context<Self>) -> Handled {
                match to {
                    None => sleep(SECOND * 2).await,
                    Some(to) => to.send(Message::Note("mine")).await?,
                }
                Ok(())
            }
        }
        let slow = spawn(Slow);
        // During its first tick.
        sleep(SECOND + SECOND / 2).await;
        for _ in 0..3 {
            slow.send(Some(actor.clone())).await.unwrap();
        }
        sleep(SECOND * 9).await;
        assert_eq!(taken(&log), [(3, "mine"), (5, "mine"), (7, "mine")]);
        // Nor do they keep the actor.
        let stopped = slow.stopped();
        drop(slow);
        assert!(matches!(stopped.await, ExitReason::Unreferenced));
    });
}

#[test]
fn a_receive_timeout_counts_from_the_last_message() {
    run(async {
        let (actor, log) = diary(Builder::new());
        send_all(&actor, [Message::Quiet(10)]).await;
        sleep(SECOND * 8).await;
        send_all(&actor, [Message::Work(4)]).await;
        sleep(SECOND * 25).await;
        // It was idle from 12 on, and again from 22 on; the time is 33.
        assert_eq!(taken(&log), [(22, "quiet"), (32, "quiet")]);
        send_all(&actor, [Message::After(5, "timer")]).await;
        sleep(SECOND * 14).await;
        assert_eq!(taken(&log), [(38, "timer")]);
        send_all(&actor, [Message::NotQuiet]).await;
        sleep(SECOND * 100).await;
        assert_eq!(taken(&log), []);
    });
}

#[test]
fn a_promise_keeps_the_actor_and_a_period_does_not() {
    run(async {
        let (actor, log) = diary(Builder::new());
        send_all(&actor, [Message::After(3, "promised"), Message::Every(2, "tick")]).await;
        drop(actor);
        sleep(SECOND * 20).await;
        assert_eq!(taken(&log), [(2, "tick"), (3, "promised")]);
        assert_eq!(Arc::strong_count(&log), 1);

        let (actor, log) = diary(Builder::new());
        let done = Arc::default();
        let messages = [Message::After(3, "promised"), Message::Cancel(0, Arc::clone(&done))];
        send_all(&actor, messages).await;
        drop(actor);
        while Arc::strong_count(&log) > 1 {
            evenkeel::yield_now().await;
        }
        assert_eq!(*done.lock().unwrap(), [true]);
    });
}

#[test]
fn timers_end_with_their_actor() {
    run(async {
        for end in 0..4 {
            let (actor, log) = diary(Builder::new());
            send_all(&actor, [Message::After(3, "late"), Message::Every(2, "tick")]).await;
            send_all(&actor, [Message::Quiet(1)]).await;
            while actor.depth() > 0 {
                evenkeel::yield_now().await;
            }
            match end {
                0 => actor.kill(),
                1 => actor.stop(),
                2 => actor.any().stop_now(),
                _ => actor.send(Message::Fail).await.unwrap(),
            }
            while Arc::strong_count(&log) > 1 {
                evenkeel::yield_now().await;
            }
            assert!(actor.is_stopped());
            sleep(SECOND * 10).await;
            assert_eq!(taken(&log), []);
        }
    });
}

#[test]
fn a_timer_beyond_what_the_clock_holds_never_fires() {
    struct Never(bool);
    impl Actor for Never {
        type Message = Option<ReplyTo<()>>;

        async fn started(&mut self, context: &mut Context<Self>) -> Handled {
            if self.0 {
                context.send_every_with(Duration::MAX, || None);
            } else {
                context.send_after(Duration::MAX, None);
            }
            Ok(())
        }

        async fn handle(
            &mut self,
            message: Self::Message,
            _context: &mut Context<Self>,
        ) -> Handled {
            message.expect("only the test sends").send(());
            Ok(())
        }
    }
    run(async {
        let actors = [false, true].map(|repeats| spawn(Never(repeats)));
        for actor in &actors {
            assert_eq!(actor.ask(Some).await, Ok(()));
        }
        sleep(Duration::from_secs(250 * 365 * 86_400)).await;
        for actor in &actors {
            assert_eq!(actor.ask(Some).await, Ok(()));
        }
    });
}

#[test]
fn a_period_of_zero_is_refused() {
    struct Zero;
    impl Actor for Zero {
        type Message = ();

        async fn handle(&mut self, _message: (), context: &mut Context<Self>) -> Handled {
            context.send_every(Duration::ZERO, ());
            Ok(())
        }
    }
    run(async {
        let zero = spawn(Zero);
        zero.send(()).await.unwrap();
        while !zero.is_stopped() {
            evenkeel::yield_now().await;
        }
    });
}

#[test]
fn timers_ring_while_others_send_from_other_workers() {
    let runtime = evenkeel::Builder::new().workers(3).build().unwrap();
    runtime.block_on(async {
        struct Sum(u64, u64);
        enum Item {
            Add,
            Tick,
            Get(ReplyTo<(u64, u64)>),
        }
        impl Actor for Sum {
            type Message = Item;

            async fn started(&mut self, context: &mut Context<Self>) -> Handled {
                context.send_every_with(Duration::from_millis(1), || Item::Tick);
                Ok(())
            }

            async fn handle(&mut self, item: Item, _context: &mut Context<Self>) -> Handled {
                match item {
                    Item::Add => self.0 += 1,
                    Item::Tick => self.1 += 1,
                    Item::Get(reply) => reply.send((self.0, self.1)),
                }
                Ok(())
            }
        }
        let sum = spawn(Sum(0, 0));
        let senders: Vec<_> = (0..2)
            .map(|_| {
                let sum = sum.clone();
                evenkeel::spawn(async move {
                    for n in 0..2_000_u32 {
                        sum.send(Item::Add).await.unwrap();
                        if n % 100 == 0 {
                            sleep(Duration::from_millis(1)).await;
                        }
                    }
                })
            })
            .collect();
        for sender in senders {
            sender.await.unwrap();
        }
        let (mut added, mut ticks) = sum.ask(Item::Get).await.unwrap();
        while ticks < 3 {
            sleep(Duration::from_millis(1)).await;
            (added, ticks) = sum.ask(Item::Get).await.unwrap();
        }
        assert_eq!(added, 4_000);
    });
}
