//! Actors that receive the events of nodes.

use crate::world::{World, id, slow};
use evenkeel_actor::node::in_process::Faults;
use evenkeel_actor::remote::NodeEvent;
use evenkeel_actor::{Actor, Builder, Context, Fail, Handled, ReplyTo};
use futures::channel::oneshot;

/// Keeps its events until it is asked.
#[derive(Default)]
struct Log(Vec<NodeEvent>);

enum Message {
    Told(NodeEvent),
    /// Answers with its events.
    Get(ReplyTo<Vec<NodeEvent>>),
    /// Is handled when the sender is gone.
    Wait(oneshot::Receiver<()>),
}

impl From<NodeEvent> for Message {
    fn from(event: NodeEvent) -> Self {
        Self::Told(event)
    }
}

impl Actor for Log {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::Told(event) => self.0.push(event),
            Message::Get(reply) => reply.send(self.0.clone()),
            Message::Wait(gone) => drop(gone.await),
        }
        Ok(())
    }
}

#[test]
fn an_actor_is_sent_the_events_in_order_and_at_first_the_last_of_each_node() {
    for workers in [1, 2] {
        let world = World::new(4, workers, slow(2));
        let control = world.control.clone();
        world.on(0, async move |node| {
            let log = Builder::new().system(node.system()).spawn(Log::default()).unwrap();
            let subscription = node.send_events_to(&log);
            let told = log.ask(Message::Get).await.unwrap();
            assert_eq!(told.len(), 3, "{told:?}");
            assert!(told.iter().all(|event| matches!(event, NodeEvent::Up { .. })));
            control.kill(id(2));
            let told = loop {
                let told = log.ask(Message::Get).await.unwrap();
                if told.len() == 4 {
                    break told;
                }
            };
            assert!(told[3].is_loss() && told[3].node() == Some(id(2)), "{told:?}");
            // A later subscriber receives only the loss.
            let late = Builder::new().system(node.system()).spawn(Log::default()).unwrap();
            node.send_events_to(&late).keep();
            let told = late.ask(Message::Get).await.unwrap();
            assert_eq!(told.iter().filter(|event| event.is_loss()).count(), 1, "{told:?}");
            assert_eq!(told.len(), 3);
            // After its end, a subscription receives nothing more.
            drop(subscription);
            control.kill(id(3));
            while late.ask(Message::Get).await.unwrap().len() < 4 {}
            assert_eq!(log.ask(Message::Get).await.unwrap().len(), 4);
            assert_eq!(node.metrics().missed_events, 0);
        });
    }
}

#[test]
fn a_full_mailbox_is_counted_and_said_later() {
    for workers in [1, 2] {
        let world = World::new(5, workers, Faults::default());
        let control = world.control.clone();
        world.on(0, async move |node| {
            let builder = Builder::new().capacity(3).overflow::<Fail>().system(node.system());
            let log = builder.spawn(Log::default()).unwrap();
            let (held, gone) = oneshot::channel();
            log.try_send(Message::Wait(gone)).unwrap();
            while log.depth() > 0 {
                evenkeel::yield_now().await;
            }
            // Four nodes are up or come up: three events find room.
            let _subscription = node.send_events_to(&log);
            let missed = 1;
            while node.metrics().missed_events < missed {
                evenkeel::yield_now().await;
            }
            drop(held);
            let told = loop {
                match log.ask(Message::Get).await {
                    Ok(told) => break told,
                    Err(_) => evenkeel::yield_now().await,
                }
            };
            assert_eq!(told.len() as u64, 4 - missed);
            control.kill(id(4));
            // There is room for a question beside the events.
            let told = loop {
                match log.ask(Message::Get).await {
                    Ok(now) if now.len() == told.len() + 2 => break now,
                    _ => evenkeel::yield_now().await,
                }
            };
            assert_eq!(told[told.len() - 2], NodeEvent::Missed(missed));
            assert!(told[told.len() - 1].is_loss());
            assert_eq!(node.metrics().missed_events, missed);
        });
    }
}

/// The conversion of events asks for an event of its own node, and causes another one.
#[test]
fn a_conversion_may_use_the_node_and_may_panic() {
    struct Odd;
    struct Turned;

    impl From<NodeEvent> for Turned {
        fn from(event: NodeEvent) -> Self {
            assert!(!event.is_loss(), "a conversion that panics");
            Self
        }
    }

    impl Actor for Odd {
        type Message = Turned;

        async fn handle(&mut self, _: Turned, _context: &mut Context<Self>) -> Handled {
            Ok(())
        }
    }

    let world = World::new(3, 2, Faults::default());
    let control = world.control.clone();
    world.on(0, async move |node| {
        let odd = Builder::new().system(node.system()).spawn(Odd).unwrap();
        let _subscription = node.send_events_to(&odd);
        let mut events = node.events();
        control.kill(id(1));
        control.kill(id(2));
        let mut losses = 0;
        while losses < 2 {
            losses += usize::from(events.next().await.unwrap().is_loss());
        }
        while node.metrics().missed_events < 2 {
            evenkeel::yield_now().await;
        }
    });
}

#[test]
fn a_subscriber_that_has_stopped_is_forgotten_and_so_are_all_when_the_node_leaves() {
    let world = World::new(2, 1, Faults::default());
    let control = world.control.clone();
    world.on(0, async move |node| {
        let stopped = Builder::new().system(node.system()).spawn(Log::default()).unwrap();
        let subscription = node.send_events_to(&stopped);
        stopped.stop_now();
        stopped.stopped().await;
        let log = Builder::new().system(node.system()).spawn(Log::default()).unwrap();
        node.send_events_to(&log).keep();
        control.kill(id(1));
        while log.ask(Message::Get).await.unwrap().len() < 2 {}
        drop(subscription);
        // The node has the last reference.
        let ended = log.stopped();
        drop(log);
        node.leave().await;
        assert!(ended.await.is_normal());
    });
}
