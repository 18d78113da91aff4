//! Starts, failures, restarts, ends, names and dead letters.

use crate::log::{Fields, Log, What, log};
use evenkeel_actor::{
    Actor, ActorRef, Builder, Child, Context, DropNewest, Event, Handled, ReplyTo, Supervisor,
    System, spawn,
};
use tracing::Level;

fn runtime() -> evenkeel::Runtime {
    evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap()
}

/// A system that does not print failures.
fn quiet() -> System {
    let system = System::new();
    system.on_failure(|_| ());
    system
}

/// The events in the lives of a type's actors, in order.
fn lives(log: &Log, actor: &str) -> Vec<(Level, Fields)> {
    let events = log.all().into_iter().filter_map(|noted| match noted.what {
        What::Event { level, target: "evenkeel_actor::life", fields } => Some((level, fields)),
        _ => None,
    });
    events.filter(|event| event.1.is_of(actor)).collect()
}

struct Shaky;

enum ToShaky {
    Id(ReplyTo<u64>),
    Panic,
    Fail,
}

impl Actor for Shaky {
    type Message = ToShaky;

    async fn handle(&mut self, message: ToShaky, context: &mut Context<Self>) -> Handled {
        match message {
            ToShaky::Id(reply) => reply.send(context.message_id().unwrap().get()),
            ToShaky::Panic => {
                evenkeel::yield_now().await;
                panic!("on purpose");
            }
            ToShaky::Fail => _ = "seven".parse::<u32>()?,
        }
        Ok(())
    }
}

/// Sends the messages that it receives, and replies with the identifier of the causing message.
struct Provoker(ActorRef<ToShaky>);

impl Actor for Provoker {
    type Message = (ToShaky, ReplyTo<u64>);

    async fn handle(
        &mut self,
        (message, reply): (ToShaky, ReplyTo<u64>),
        context: &mut Context<Self>,
    ) -> Handled {
        self.0.send(message).await?;
        reply.send(context.message_id().unwrap().get());
        Ok(())
    }
}

#[test]
fn failures_and_restarts_are_told_with_the_message_that_was_handled() {
    let log = log();
    let provoked = runtime().block_on(async {
        let mut tree = Supervisor::one_for_one().system(quiet());
        let child = tree.child(Child::new("shaky", || Shaky));
        let tree = tree.spawn();
        let provoker = spawn(Provoker(child.clone()));
        let panic = provoker.ask(|reply| (ToShaky::Panic, reply)).await.unwrap();
        child.ask(ToShaky::Id).await.unwrap();
        let fail = provoker.ask(|reply| (ToShaky::Fail, reply)).await.unwrap();
        child.ask(ToShaky::Id).await.unwrap();
        tree.stop();
        child.stopped().await;
        [panic, fail]
    });
    let spans = log.spans("handle", "::Shaky");
    let mut told = Vec::new();
    let mut failed = Vec::new();
    for (level, fields) in lives(log, "::Shaky") {
        assert_eq!(fields.get("actor.name"), "shaky");
        told.push((level, fields.get("message").to_owned()));
        if fields.get("message") == "actor failed" {
            assert_eq!(fields.get("supervised"), "true");
            let id = fields.number("message.id");
            assert!(spans.iter().any(|span| span.1.number("message.id") == id));
            failed.push((fields.number("cause").unwrap(), fields.get("reason").to_owned()));
        }
    }
    let life = |level, words: &str| (level, format!("actor {words}"));
    let mut expected = vec![life(Level::DEBUG, "started")];
    for _ in 0..2 {
        expected.push(life(Level::ERROR, "failed"));
        expected.push(life(Level::WARN, "restarted"));
        expected.push(life(Level::DEBUG, "started"));
    }
    expected.push(life(Level::DEBUG, "stopped"));
    assert_eq!(told, expected);
    let reasons = ["panicked: on purpose", "failed: invalid digit found in string"];
    let expected: Vec<_> = provoked.into_iter().zip(reasons.map(str::to_owned)).collect();
    assert_eq!(failed, expected);
}

/// Has a name in the registry, and ends with an error.
struct Known;

impl Actor for Known {
    type Message = Option<ReplyTo<u64>>;

    async fn handle(
        &mut self,
        reply: Option<ReplyTo<u64>>,
        context: &mut Context<Self>,
    ) -> Handled {
        let Some(reply) = reply else {
            return Err("it was asked to".parse::<u32>().unwrap_err().into());
        };
        reply.send(context.message_id().unwrap().get());
        Ok(())
    }

    async fn stopped(&mut self, _: &evenkeel_actor::ExitReason, _: &mut Context<Self>) {}
}

#[test]
fn a_registered_name_is_told_for_as_long_as_the_actor_has_it() {
    let log = log();
    let handled = runtime().block_on(async {
        let system = quiet();
        let known = Builder::new().system(system).spawn(Known).unwrap();
        let mut handled = vec![known.ask(Some).await.unwrap()];
        system.register("first", &known).unwrap();
        handled.push(known.ask(Some).await.unwrap());
        system.register("second", &known).unwrap();
        handled.push(known.ask(Some).await.unwrap());
        system.unregister("second");
        handled.push(known.ask(Some).await.unwrap());
        system.register("third", &known).unwrap();
        known.send(None).await.unwrap();
        known.stopped().await;
        handled
    });
    let spans = log.spans("handle", "::Known");
    let name = |id: &u64| {
        let span = spans.iter().find(|span| span.1.number("message.id") == Some(*id)).unwrap();
        span.1.get("actor.name").to_owned()
    };
    assert_eq!(handled.iter().map(name).collect::<Vec<_>>(), ["", "first", "second", ""]);
    let ends: Vec<_> = lives(log, "::Known").into_iter().skip(1).collect();
    let words: Vec<_> = ends.iter().map(|event| event.1.get("message")).collect();
    assert_eq!(words, ["actor stopped", "actor failed"]);
    for (_, fields) in &ends {
        assert_eq!(fields.get("actor.name"), "third");
        assert_eq!(fields.get("reason"), "failed: invalid digit found in string");
    }
}

/// Watches, and drops messages that arrive too fast.
struct Watcher(Option<ReplyTo<u64>>);

struct Unwatched;

enum ToWatcher {
    Watch(ActorRef<()>, ReplyTo<u64>),
    Overflow(ReplyTo<u64>),
    Nothing,
}

impl Actor for Unwatched {
    type Message = ();

    async fn handle(&mut self, (): (), _: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

impl Actor for Watcher {
    type Message = ToWatcher;

    async fn handle(&mut self, message: ToWatcher, context: &mut Context<Self>) -> Handled {
        match message {
            ToWatcher::Watch(whom, reply) => {
                context.watch(&whom.any());
                self.0 = Some(reply);
                whom.stop();
            }
            ToWatcher::Overflow(reply) => {
                let narrow = Builder::new().capacity(1).overflow::<DropNewest>();
                let narrow = narrow.spawn(Self(None))?;
                narrow.send(ToWatcher::Nothing).await?;
                narrow.send(ToWatcher::Nothing).await?;
                reply.send(context.message_id().unwrap().get());
            }
            ToWatcher::Nothing => {}
        }
        Ok(())
    }

    async fn event(&mut self, _event: Event, context: &mut Context<Self>) -> Handled {
        if let Some(reply) = self.0.take() {
            reply.send(context.message_id().unwrap().get());
        }
        Ok(())
    }
}

#[test]
fn events_are_handled_in_spans_that_say_so() {
    let log = log();
    let id = runtime().block_on(async {
        let (watcher, whom) = (spawn(Watcher(None)), spawn(Unwatched));
        watcher.ask(|reply| ToWatcher::Watch(whom, reply)).await.unwrap()
    });
    let spans = log.spans("handle", "::Watcher");
    let (_, fields) = spans.iter().find(|span| span.1.number("message.id") == Some(id)).unwrap();
    assert_eq!((fields.get("priority"), fields.get("message.type")), ("system", "Event::Down"));
    assert_eq!(fields.number("cause"), None);
}

#[test]
fn a_dead_letter_is_told_in_the_span_of_its_sender() {
    let log = log();
    let id = runtime().block_on(async {
        let watcher = Builder::new().system(System::new()).spawn(Watcher(None)).unwrap();
        watcher.ask(ToWatcher::Overflow).await.unwrap()
    });
    let spans = log.spans("handle", "::Watcher");
    let (span, _) = spans.iter().find(|span| span.1.number("message.id") == Some(id)).unwrap();
    let letters = log.events("dead letter");
    let letter = letters.iter().find(|event| event.1.number("cause") == Some(id)).unwrap();
    let (level, fields, noted) = letter;
    assert_eq!((*level, &noted.within[..]), (Level::DEBUG, &[*span][..]));
    assert!(fields.get("message.type").ends_with("::ToWatcher"));
    assert_eq!(fields.get("reason"), "dropped, as the mailbox was full");
    assert_eq!(fields.number("count"), Some(1));
}
