//! Groups: joining, leaving, publishing; recipients.

use crate::common::held::held;
use crate::common::workers::on_workers;
use evenkeel::sync::Semaphore;
use evenkeel_actor::{
    Actor, ActorRef, Builder, Context, DeadLetterKind, DropNewest, DropOldest, Fail, Group,
    Handled, JoinGroupError, Overflow, Recipient, ReplyTo, SendError, System,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Clone)]
struct News(Arc<str>);

enum Message {
    News(News),
    Get(ReplyTo<Vec<Arc<str>>>),
    Hold(Arc<Semaphore>),
}

impl From<News> for Message {
    fn from(news: News) -> Self {
        Self::News(news)
    }
}

struct Reader(Vec<Arc<str>>);

impl Actor for Reader {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::News(news) => self.0.push(news.0),
            Message::Get(reply) => reply.send(self.0.clone()),
            Message::Hold(gate) => gate.take().await,
        }
        Ok(())
    }
}

fn reader<P: Overflow>(builder: Builder<P>) -> ActorRef<Message, P> {
    builder.spawn(Reader(Vec::new())).unwrap()
}

fn news(text: &str) -> News {
    News(text.into())
}

#[test]
fn members_get_what_is_published_until_they_leave_or_end() {
    on_workers(2, async {
        let system = System::new();
        let group = system.group::<News>("news").unwrap();
        let builder = Builder::new().system(system);
        let (first, second) = (reader(builder.clone()), reader(builder.clone()));
        assert_eq!(group.join(&first), Ok(true));
        assert_eq!(group.join(&second), Ok(true));
        assert_eq!(group.join(&first), Ok(false));
        let members: Vec<_> = group.members().iter().map(|member| member.id()).collect();
        assert_eq!(members, [first.id(), second.id()]);
        assert_eq!(group.publish(news("one")).await.delivered, 2);
        assert!(group.leave(first.id()));
        assert!(!group.leave(first.id()));
        assert_eq!(group.try_publish(news("two")).delivered, 1);
        assert_eq!(first.ask(Message::Get).await.unwrap(), ["one".into()]);
        assert_eq!(second.ask(Message::Get).await.unwrap(), ["one".into(), "two".into()]);
        second.kill();
        while !group.is_empty() {
            evenkeel::yield_now().await;
        }
        assert_eq!(group.publish(news("three")).await.members(), 0);
        assert_eq!(group.join(&second), Err(JoinGroupError::Stopped { id: second.id() }));
        let foreign = reader(Builder::new());
        let error = group.join(&foreign).unwrap_err();
        assert_eq!(error, JoinGroupError::OtherSystem { id: foreign.id() });
        assert!(error.to_string().contains("another system"));
    });
}

#[test]
fn members_are_in_the_order_in_which_they_joined_last() {
    on_workers(1, async {
        let group = Group::<News>::new();
        let readers: Vec<_> = (0..3).map(|_| reader(Builder::new())).collect();
        readers.iter().for_each(|reader| assert_eq!(group.join(reader), Ok(true)));
        assert!(group.leave(readers[0].id()));
        assert_eq!(group.join(&readers[0]), Ok(true));
        let members: Vec<_> = group.members().iter().map(|member| member.id()).collect();
        assert_eq!(members, [1, 2, 0].map(|one: usize| readers[one].id()));
    });
}

#[test]
fn a_full_member_does_as_its_policy_says() {
    on_workers(1, async {
        let system = System::new();
        let group = system.group::<News>("news").unwrap();
        let builder = Builder::new().system(system).capacity(1);
        let wait = reader(builder.clone());
        let fail = reader(builder.clone().overflow::<Fail>());
        let newest = reader(builder.clone().overflow::<DropNewest>());
        let oldest = reader(builder.clone().overflow::<DropOldest>());
        let gates = [
            held(&wait, Message::Hold).await,
            held(&fail, Message::Hold).await,
            held(&newest, Message::Hold).await,
            held(&oldest, Message::Hold).await,
        ];
        group.join(&wait).unwrap();
        group.join(&fail).unwrap();
        group.join(&newest).unwrap();
        group.join(&oldest).unwrap();
        let published = group.try_publish(news("one"));
        assert_eq!((published.delivered, published.dropped), (4, 0));
        let published = group.try_publish(news("two"));
        assert_eq!((published.delivered, published.dropped, published.stopped), (1, 3, 0));
        assert_eq!(system.dead_letters_of(DeadLetterKind::Undelivered), 2);
        assert_eq!(system.dead_letters_of(DeadLetterKind::DroppedNewest), 1);
        assert_eq!(system.dead_letters_of(DeadLetterKind::DroppedOldest), 1);
        let mut publishing = Box::pin(group.publish(news("three")));
        assert!(futures::poll!(&mut publishing).is_pending());
        gates.iter().for_each(|gate| gate.add_permits(1));
        let published = publishing.await;
        assert_eq!((published.delivered, published.dropped), (2, 2));
        let texts = wait.ask(Message::Get).await.unwrap();
        assert_eq!(texts, ["one".into(), "three".into()]);
    });
}

#[test]
fn a_named_group_lasts_as_long_as_its_members_and_references() {
    on_workers(1, async {
        let system = System::new();
        let actor = reader(Builder::new().system(system));
        system.group::<News>("news").unwrap().join(&actor).unwrap();
        let error = system.group::<u32>("news").unwrap_err();
        assert!(error.has.ends_with("News"), "{error}");
        let group = system.group::<News>("news").unwrap();
        assert_eq!(group.len(), 1);
        group.leave(actor.id());
        drop(group);
        // The group is gone, so that its name may have another type.
        let numbers = system.group::<u32>("news").unwrap();
        assert!(numbers.is_empty());
        drop(numbers);
        system.group::<News>("news").unwrap().join(&actor).unwrap();
        actor.kill();
        while system.group::<u32>("news").is_err() {
            evenkeel::yield_now().await;
        }
    });
}

/// When the references of the allocation were counted, both dropping threads saw the other's
/// reference in one round in thousands.
#[test]
fn a_named_group_is_forgotten_whose_last_two_references_go_at_once() {
    let system = System::new();
    for round in 0..10_000 {
        let name = format!("room {}", round % 8);
        let one: Group<u32> = system.group(name.as_str()).unwrap();
        let two = one.clone();
        let go = &AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                go.store(true, Ordering::Release);
                drop(one);
            });
            while !go.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            drop(two);
        });
        assert!(system.group::<String>(name.as_str()).is_ok(), "round {round}: the name is free");
    }
}

#[test]
fn a_group_without_a_name_keeps_its_members_no_longer_than_it_is_there() {
    on_workers(2, async {
        let group = Group::<News>::new();
        let actor = reader(Builder::new());
        let weak = actor.any();
        group.join(&actor).unwrap();
        drop(actor);
        for _ in 0..100 {
            evenkeel::yield_now().await;
        }
        assert!(!weak.is_stopped());
        drop(weak);
        let member = group.members()[0].id();
        let gone = evenkeel_actor::spawn(Reader(Vec::new()));
        assert_ne!(gone.id(), member);
        assert_eq!(group.publish(news("one")).await.delivered, 1);
    });
}

#[test]
fn no_actor_that_ends_while_it_joins_stays_in_a_group() {
    on_workers(2, async {
        let group = Group::<News>::new();
        for _ in 0..500 {
            let actor = reader(Builder::new());
            let killer = evenkeel::spawn({
                let actor = actor.clone();
                async move { actor.kill() }
            });
            let _ = group.join(&actor);
            killer.await.unwrap();
            while !group.is_empty() || !actor.is_stopped() {
                evenkeel::yield_now().await;
            }
        }
    });
}

#[test]
fn a_recipient_takes_what_can_be_converted() {
    on_workers(1, async {
        let actor = reader(Builder::new().capacity(1).overflow::<Fail>());
        let (converted, own): (Recipient<News>, Recipient<Message>) =
            (actor.recipient(), actor.clone().into());
        assert_eq!((converted.id(), own.id()), (actor.id(), actor.id()));
        converted.send(news("one")).await.unwrap();
        while actor.depth() > 0 {
            evenkeel::yield_now().await;
        }
        let gate = held(&actor, Message::Hold).await;
        own.try_send(Message::News(news("two"))).unwrap();
        assert_eq!(converted.try_send(news("three")), Err(SendError::Full(())));
        assert_eq!(converted.clone().send(news("three")).await, Err(SendError::Full(())));
        gate.add_permits(1);
        while actor.depth() > 0 {
            evenkeel::yield_now().await;
        }
        assert_eq!(actor.ask(Message::Get).await.unwrap(), ["one".into(), "two".into()]);
        actor.kill();
        while !actor.is_stopped() {
            evenkeel::yield_now().await;
        }
        assert_eq!(converted.try_send(news("four")), Err(SendError::Stopped(())));
    });
}

#[test]
fn an_offered_message_goes_to_one_member_with_room_each_in_its_turn() {
    on_workers(1, async {
        let system = System::new();
        let group = system.group::<News>("news").unwrap();
        let builder = Builder::new().system(system).capacity(2);
        let readers: Vec<_> = (0..3).map(|_| reader(builder.clone())).collect();
        let mut gates = Vec::new();
        for reader in &readers {
            gates.push(held(reader, Message::Hold).await);
            group.join(reader).unwrap();
        }
        let depths = || readers.iter().map(ActorRef::depth).collect::<Vec<_>>();
        for expected in [[1, 0, 0], [1, 1, 0], [1, 1, 1], [2, 1, 1]] {
            assert!(group.offer(news("one")).is_ok());
            assert_eq!(depths(), expected);
        }
        // One that has been passed over for want of room is not the one to begin with.
        readers[1].try_send(Message::News(news("other"))).unwrap();
        assert!(group.offer(news("two")).is_ok());
        assert_eq!(depths(), [2, 2, 2]);
        let full = group.offer(news("three")).unwrap_err();
        assert!(full.is_full() && &*full.into_message().0 == "three");
        for reader in &readers {
            reader.kill();
            reader.stopped().await;
        }
        assert!(matches!(group.offer(news("late")), Err(SendError::Stopped(_))));
        assert_eq!(system.dead_letters_of(DeadLetterKind::Undelivered), 0);
    });
}
