//! Messages that no actor handles.

use crate::common::held::held;
use crate::common::until::until;
use evenkeel::sync::Semaphore;
use evenkeel_actor::{
    Actor, Builder, Context, DeadLetter, DeadLetterKind, DropNewest, DropOldest, Handled, ReplyTo,
    System,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

enum Message {
    Hold(Arc<Semaphore>),
    Note,
    Ask(Arc<Semaphore>, ReplyTo<String>),
}

struct Busy;

impl Actor for Busy {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::Hold(gate) => gate.take().await,
            Message::Note => {}
            Message::Ask(gate, reply) => {
                gate.take().await;
                reply.send(String::from("late"));
            }
        }
        Ok(())
    }
}

/// Keeps records; the first one can hold it up.
struct Records {
    kept: Arc<Mutex<Vec<DeadLetter>>>,
    gate: Arc<Semaphore>,
}

impl Actor for Records {
    type Message = DeadLetter;

    async fn handle(&mut self, letter: DeadLetter, _context: &mut Context<Self>) -> Handled {
        self.gate.take().await;
        self.kept.lock().unwrap().push(letter);
        self.gate.add_permits(1);
        Ok(())
    }
}

fn on_workers(workers: usize, test: impl Future<Output = ()> + Send + 'static) {
    let runtime = evenkeel::Builder::new().workers(workers).start_paused(true).build().unwrap();
    runtime.block_on(async { evenkeel::spawn(test).await.unwrap() });
}

#[test]
fn each_kind_is_counted_and_recorded() {
    on_workers(1, async {
        let system = System::new();
        let kept = Arc::new(Mutex::new(Vec::new()));
        let _subscription = system.on_dead_letter({
            let kept = kept.clone();
            move |letter| kept.lock().unwrap().push(letter)
        });
        let builder = Builder::new().system(system).capacity(1);
        let newest = builder.clone().overflow::<DropNewest>().spawn(Busy).unwrap();
        let oldest = builder.clone().overflow::<DropOldest>().spawn(Busy).unwrap();
        let _gates = (held(&newest, Message::Hold).await, held(&oldest, Message::Hold).await);
        for _ in 0..3 {
            newest.try_send(Message::Note).unwrap();
        }
        for _ in 0..2 {
            oldest.try_send(Message::Note).unwrap();
        }
        oldest.kill();
        until(|| oldest.is_stopped()).await;

        let asked = builder.spawn(Busy).unwrap();
        let gate = Arc::new(Semaphore::new(0));
        let ask = asked.ask(|reply| Message::Ask(gate.clone(), reply));
        assert!(ask.timeout(Duration::from_secs(1)).await.is_err());
        gate.add_permits(1);

        until(|| kept.lock().unwrap().len() == 5).await;
        let kept = kept.lock().unwrap().clone();
        let kinds: Vec<_> =
            kept.iter().map(|letter| (letter.kind, letter.to, letter.count)).collect();
        let note = std::any::type_name::<Message>();
        assert_eq!(
            kinds,
            [
                (DeadLetterKind::DroppedNewest, Some(newest.id()), 1),
                (DeadLetterKind::DroppedNewest, Some(newest.id()), 1),
                (DeadLetterKind::DroppedOldest, Some(oldest.id()), 1),
                (DeadLetterKind::LeftBehind, Some(oldest.id()), 1),
                (DeadLetterKind::LateReply, None, 1),
            ]
        );
        assert!(kept[..4].iter().all(|letter| letter.message == note));
        assert_eq!(kept[4].message, std::any::type_name::<String>());
        assert!(kept[0].to_string().ends_with("dropped, as the mailbox was full"));
        assert_eq!(system.dead_letters(), 5);
        assert_eq!(system.dead_letters_of(DeadLetterKind::DroppedNewest), 2);
        assert_eq!(system.dead_letters_of(DeadLetterKind::Undelivered), 0);
        assert_eq!(system.unrecorded_dead_letters(), 0);
    });
}

#[test]
fn a_subscriber_that_is_full_holds_no_sender_up_and_what_it_missed_is_counted() {
    on_workers(1, async {
        let system = System::new();
        let (kept, gate) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Semaphore::new(0)));
        let records = Records { kept: kept.clone(), gate: gate.clone() };
        let records = Builder::new().capacity(2).spawn(records).unwrap();
        let subscription = system.send_dead_letters_to(&records);
        let builder = Builder::new().system(system).capacity(1).overflow::<DropNewest>();
        let newest = builder.spawn(Busy).unwrap();
        let _gate = held(&newest, Message::Hold).await;
        for _ in 0..11 {
            newest.try_send(Message::Note).unwrap();
        }
        assert_eq!(system.dead_letters(), 10);
        assert_eq!(system.unrecorded_dead_letters(), 8);
        gate.add_permits(1);
        until(|| kept.lock().unwrap().len() == 2).await;
        drop(subscription);
        newest.try_send(Message::Note).unwrap();
        assert_eq!(system.dead_letters(), 11);
        evenkeel::yield_now().await;
        assert_eq!(kept.lock().unwrap().len(), 2);
    });
}

#[test]
fn the_dead_letters_of_a_subscriber_go_round_no_further() {
    on_workers(1, async {
        let system = System::new();
        let gate = Arc::new(Semaphore::new(0));
        let records = Records { kept: Arc::default(), gate };
        // Each new record displaces another, which is a dead letter of the same system.
        let builder = Builder::new().system(system).capacity(1).overflow::<DropOldest>();
        let records = builder.spawn(records).unwrap();
        system.send_dead_letters_to(&records).keep();
        let builder = Builder::new().system(system).capacity(1).overflow::<DropNewest>();
        let newest = builder.spawn(Busy).unwrap();
        let _gate = held(&newest, Message::Hold).await;
        for _ in 0..4 {
            newest.try_send(Message::Note).unwrap();
        }
        assert_eq!(system.dead_letters_of(DeadLetterKind::DroppedNewest), 3);
        assert_eq!(system.dead_letters_of(DeadLetterKind::DroppedOldest), 2);
        assert_eq!(system.unrecorded_dead_letters(), 2);
        // A stopped recorder receives no more records.
        records.kill();
        until(|| records.is_stopped()).await;
        newest.try_send(Message::Note).unwrap();
        assert_eq!(system.unrecorded_dead_letters(), 2);
    });
}

#[test]
fn what_runs_inside_an_actor_is_of_its_system() {
    struct Where;
    impl Actor for Where {
        type Message = ReplyTo<(System, System)>;

        async fn handle(&mut self, reply: Self::Message, context: &mut Context<Self>) -> Handled {
            evenkeel::yield_now().await;
            reply.send((System::current(), context.system()));
            Ok(())
        }
    }
    on_workers(2, async {
        let system = System::new();
        let other = Builder::new().system(system).spawn(Where).unwrap();
        let own = evenkeel_actor::spawn(Where);
        let process = System::current();
        assert_ne!(system, process);
        assert_eq!(other.ask(|reply| reply).await, Ok((system, system)));
        assert_eq!(own.ask(|reply| reply).await, Ok((process, process)));
    });
}
