//! The counters of actors and systems.

use crate::common::held::held;
use crate::common::until::until;
use crate::common::workers::on_workers;
use evenkeel::sync::Semaphore;
use evenkeel_actor::{Actor, Builder, Context, DropOldest, Handled, ReplyTo, Stash, System};
use std::sync::Arc;
use std::time::{Duration, Instant};

enum Message {
    Note([u64; 4]),
    Spin(Duration),
    Hold(Arc<Semaphore>),
    Ask(ReplyTo<()>),
    Fail,
}

struct Busy;

impl Actor for Busy {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::Note(numbers) => assert_eq!(numbers, [1; 4]),
            Message::Spin(duration) => {
                let start = Instant::now();
                while start.elapsed() < duration {
                    std::hint::spin_loop();
                }
            }
            Message::Hold(gate) => gate.take().await,
            Message::Ask(reply) => reply.send(()),
            Message::Fail => return Err(evenkeel_actor::Failure::message("on purpose")),
        }
        Ok(())
    }
}

#[test]
fn what_comes_in_and_is_handled_is_counted_exactly_once_the_actor_rests() {
    for workers in [1, 2] {
        on_workers(workers, async {
            let system = System::new();
            let actor = Builder::new().system(system).capacity(7).spawn(Busy).unwrap();
            for _ in 0..1_000 {
                actor.send(Message::Note([1; 4])).await.unwrap();
            }
            until(|| actor.metrics().handled == 1_000).await;
            let metrics = actor.metrics();
            assert_eq!((metrics.received, metrics.depth), (1_000, 0));
            assert!((1..=7).contains(&metrics.highest_depth), "{metrics:?}");
            assert_eq!((metrics.waiting_senders, metrics.busy, metrics.restarts), (0, None, 0));
            assert_eq!(system.metrics().messages, 1_000 / 64 * 64);
            assert_eq!(actor.any().metrics(), metrics);
            actor.stop();
            until(|| system.metrics().ended == 1).await;
            assert_eq!(system.metrics().messages, 1_000);
        });
    }
}

#[test]
fn depth_and_those_that_wait_are_seen_while_the_actor_is_held_up() {
    on_workers(1, async {
        let actor = Builder::new().capacity(5).spawn(Busy).unwrap();
        let gate = held(&actor, Message::Hold).await;
        for _ in 0..5 {
            actor.try_send(Message::Note([1; 4])).unwrap();
        }
        let mut waiting = Box::pin(actor.send(Message::Note([1; 4])));
        assert!(futures::poll!(&mut waiting).is_pending());
        let metrics = actor.metrics();
        assert_eq!((metrics.received, metrics.handled, metrics.depth), (6, 0, 5));
        assert_eq!((metrics.highest_depth, metrics.waiting_senders), (5, 1));
        gate.add_permits(1);
        waiting.await.unwrap();
        until(|| actor.metrics().handled == 7).await;
        assert_eq!(actor.metrics().highest_depth, 5);

        // A displaced message does not count as received.
        let builder = Builder::new().capacity(2).overflow::<DropOldest>();
        let oldest = builder.spawn(Busy).unwrap();
        let gate = held(&oldest, Message::Hold).await;
        for _ in 0..10 {
            oldest.try_send(Message::Note([1; 4])).unwrap();
        }
        assert_eq!(oldest.metrics().received, 3);
        gate.add_permits(1);
        until(|| oldest.metrics().handled == 3).await;
    });
}

#[test]
fn busy_time_is_that_of_polls() {
    on_workers(1, async {
        let spin = Duration::from_millis(2);
        let system = System::new();
        system.measure_busy_time(true);
        let actor = Builder::new().system(system).spawn(Busy).unwrap();
        assert_eq!(actor.metrics().busy, Some(Duration::ZERO));
        // A worker's clock may have been slightly ahead when a poll began, so that a poll may count
        // for slightly less.
        while actor.metrics().busy.unwrap() < spin {
            actor.send(Message::Spin(spin)).await.unwrap();
            actor.ask(Message::Ask).await.unwrap();
        }
        system.measure_busy_time(false);
        let actor = Builder::new().system(system).spawn(Busy).unwrap();
        assert_eq!(actor.metrics().busy, None);
    });
}

#[test]
fn ends_are_counted_and_counts_outlive_their_actor() {
    on_workers(2, async {
        let system = System::new();
        let spawn = || Builder::new().system(system).spawn(Busy).unwrap();
        let (stops, fails, killed, lives) = (spawn(), spawn(), spawn(), spawn());
        for _ in 0..20 {
            stops.send(Message::Note([1; 4])).await.unwrap();
        }
        stops.stop();
        fails.send(Message::Fail).await.unwrap();
        killed.kill();
        until(|| system.metrics().ended == 3).await;
        let metrics = system.metrics();
        assert_eq!((metrics.spawned, metrics.alive(), metrics.failed), (4, 1, 1));
        assert_eq!(metrics.messages, 20);
        assert_eq!((stops.metrics().received, stops.metrics().handled), (20, 20));
        assert!(!lives.is_stopped());
        // Messages left behind count as received and not as handled.
        let gate = held(&lives, Message::Hold).await;
        for _ in 0..9 {
            lives.try_send(Message::Note([1; 4])).unwrap();
        }
        lives.any().stop_now();
        gate.add_permits(1);
        until(|| system.metrics().ended == 4).await;
        assert_eq!((lives.metrics().received, lives.metrics().handled), (10, 1));
        assert_eq!(system.metrics().dead_letters, 9);
    });
}

/// Stashes each number once, until there are a hundred.
struct Twice(Stash<u32>, u32);

impl Actor for Twice {
    type Message = u32;

    async fn handle(&mut self, number: u32, context: &mut Context<Self>) -> Handled {
        if self.1 > 0 {
            self.1 -= 1;
            return Ok(());
        }
        self.0.put(number)?;
        if self.0.is_full() {
            self.1 = 100;
            self.0.unstash_all(context);
        }
        Ok(())
    }
}

#[test]
fn what_has_been_in_a_stash_counts_once_more() {
    on_workers(1, async {
        let system = System::new();
        let builder = Builder::new().system(system);
        let twice = builder.spawn(Twice(Stash::new(100), 0)).unwrap();
        for number in 0..1_000 {
            twice.send(number).await.unwrap();
            let metrics = twice.metrics();
            assert!(
                metrics.handled <= metrics.received && metrics.received <= 2_000,
                "{metrics:?}"
            );
        }
        until(|| twice.metrics().handled == 2_000).await;
        assert_eq!(twice.metrics().received, 2_000);
        twice.stop();
        twice.stopped().await;
        assert_eq!((twice.metrics().received, twice.metrics().handled), (2_000, 2_000));
        assert_eq!(system.metrics().messages, 2_000);
    });
}
