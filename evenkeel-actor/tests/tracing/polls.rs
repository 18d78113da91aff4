//! Spans are entered at each poll, and never held across an await.

use crate::log::{What, log};
use evenkeel_actor::{Actor, Context, Handled, ReplyTo, spawn};

/// Takes many polls for one message, and emits an event in each.
struct Slow(&'static str);

impl Actor for Slow {
    type Message = ReplyTo<u64>;

    async fn handle(&mut self, reply: ReplyTo<u64>, context: &mut Context<Self>) -> Handled {
        let id = context.message_id();
        for _ in 0..50 {
            tracing::info!(target: "test", who = self.0, "poll");
            evenkeel::yield_now().await;
            assert_eq!(context.message_id(), id);
        }
        reply.send(id.unwrap().get());
        Ok(())
    }
}

#[test]
fn a_handler_that_awaits_does_not_leak_its_span_into_others_of_its_worker() {
    let log = log();
    let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
    let (left, right) = runtime.block_on(async {
        let task = evenkeel::spawn(async {
            for _ in 0..50 {
                tracing::info!(target: "test", who = "task", "poll");
                evenkeel::yield_now().await;
            }
        });
        let (left, right) = (spawn(Slow("left")), spawn(Slow("right")));
        let both = futures::join!(left.ask(|reply| reply), right.ask(|reply| reply));
        task.await.unwrap();
        (both.0.unwrap(), both.1.unwrap())
    });
    let spans = log.spans("handle", "::Slow");
    let span =
        |message| spans.iter().find(|s| s.1.number("message.id") == Some(message)).unwrap().0;
    let (left, right) = (span(left), span(right));
    let mut order = Vec::new();
    for (_, fields, noted) in log.events("poll") {
        let within: &[u64] = match fields.get("who") {
            "left" => &[left],
            "right" => &[right],
            _ => &[],
        };
        assert_eq!(noted.within, within, "{fields:?}");
        order.push(fields.get("who").to_owned());
    }
    assert_eq!(order.len(), 150);
    let changes = order.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes > 50, "they took turns: {order:?}");
    // Each span is left before the next is entered.
    let steps = log.all();
    let of = |id: u64| [left, right].contains(&id);
    for noted in &steps {
        if let What::Enter(id) = noted.what
            && of(id)
        {
            assert!(noted.within.is_empty(), "a span within another");
        }
    }
    let entered = steps.iter().filter(|noted| matches!(noted.what, What::Enter(id) if id == left));
    let exited = steps.iter().filter(|noted| matches!(noted.what, What::Exit(id) if id == left));
    assert!(entered.clone().count() > 50);
    // Once more when the handler is dropped in its span.
    assert_eq!(entered.count(), exited.count());
    let threads: Vec<_> = steps
        .iter()
        .filter(|noted| matches!(noted.what, What::Enter(id) if of(id)))
        .map(|noted| noted.thread)
        .collect();
    assert!(threads.windows(2).all(|pair| pair[0] == pair[1]), "there is one worker");
}

#[test]
fn a_span_of_the_thread_that_runs_the_actors_is_not_theirs() {
    struct Plain;

    impl Actor for Plain {
        type Message = ReplyTo<()>;

        async fn handle(&mut self, reply: ReplyTo<()>, _: &mut Context<Self>) -> Handled {
            reply.send(());
            Ok(())
        }
    }

    let log = log();
    let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
    let span = tracing::info_span!(target: "test", "outer");
    span.in_scope(|| runtime.block_on(async { spawn(Plain).ask(|reply| reply).await.unwrap() }));
    // The log asserts that it has no parent.
    assert_eq!(log.spans("handle", "::Plain").len(), 1);
}
