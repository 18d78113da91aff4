//! Askers that give up during the answer.

use crate::common::until::until;
use crate::common::workers::on_workers;
use evenkeel::budget;
use evenkeel::time::sleep;
use evenkeel_actor::kit::Probe;
use evenkeel_actor::{Actor, Handled, ReplyTo, spawn};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

const ROUNDS: u32 = 50_000;

/// Answers with its value, and announces each answer just before.
struct Lender {
    lent: Arc<()>,
    begun: Arc<AtomicU32>,
}

impl Actor for Lender {
    type Message = ReplyTo<Arc<()>>;

    async fn handle(
        &mut self,
        reply: Self::Message,
        _context: &mut evenkeel_actor::Context<Self>,
    ) -> Handled {
        let answer = self.lent.clone();
        self.begun.fetch_add(1, Ordering::SeqCst);
        drop(reply.try_send(answer));
        Ok(())
    }
}

#[test]
fn an_answer_is_dropped_once_whenever_its_asker_gives_up() {
    let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
    let (lent, begun) = (Arc::new(()), Arc::new(AtomicU32::new(0)));
    let lender = Lender { lent: lent.clone(), begun: begun.clone() };
    runtime.block_on(async {
        let lender = spawn(lender);
        for round in 0..ROUNDS {
            let mut ask = pin!(lender.ask(|reply| reply));
            // The ask leaves its waker. It does not yield: it is polled once.
            let once = poll_fn(|context| Poll::Ready(ask.as_mut().poll(context).is_ready()));
            budget::unconstrained(once).await;
            // As near to the answer as possible, but without keeping a core that the answer may
            // need.
            let mut looks = 0;
            while begun.load(Ordering::SeqCst) <= round {
                looks += 1;
                if looks < 2_000 { std::hint::spin_loop() } else { std::thread::yield_now() }
            }
            for _ in 0..round % 16 {
                std::hint::spin_loop();
            }
        }
        // All earlier asks have been answered.
        drop(lender.ask(|reply| reply).await.unwrap());
    });
    drop(runtime);
    assert_eq!(begun.load(Ordering::SeqCst), ROUNDS + 1);
    assert_eq!(Arc::strong_count(&lent), 1, "no answer is left over, and none was dropped twice");
}

/// A waker that does nothing.
struct Still;

impl Wake for Still {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn an_answered_ask_that_has_waited_leaves_none_of_its_wakers() {
    on_workers(1, async {
        let (lent, begun) = (Arc::new(()), Arc::new(AtomicU32::new(0)));
        let lender = spawn(Lender { lent, begun: begun.clone() });
        let still = Arc::new(Still);
        let waker = Waker::from(still.clone());
        let mut ask = Box::pin(lender.ask(|reply| reply));
        let mut poll = || ask.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        assert!(!budget::unconstrained(async { poll() }).await);
        assert!(Arc::strong_count(&still) > 2, "the asker waits");
        until(|| begun.load(Ordering::SeqCst) > 0).await;
        assert!(budget::unconstrained(async { poll() }).await);
        drop(ask);
        assert_eq!(Arc::strong_count(&still), 2);
    });
}

/// A waker that answers when its last clone is dropped, and notes whether the asker gets it.
#[derive(Default)]
struct LastAct {
    reply: Mutex<Option<ReplyTo<u32>>>,
    is_taken: Arc<Mutex<Option<bool>>>,
}

impl Wake for LastAct {
    fn wake(self: Arc<Self>) {}
}

impl Drop for LastAct {
    fn drop(&mut self) {
        if let Some(reply) = self.reply.get_mut().unwrap().take() {
            *self.is_taken.lock().unwrap() = Some(reply.try_send(7).is_ok());
        }
    }
}

#[test]
fn an_answer_that_comes_while_an_asker_finds_its_limit_over_is_not_lost() {
    let runtime = evenkeel::Builder::new().workers(1).start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut desk = Probe::<ReplyTo<u32>>::new();
        let client = desk.actor();
        let mut ask = pin!(client.ask(|reply| reply).timeout(Duration::from_secs(1)));
        let last = Arc::new(LastAct::default());
        let is_taken = last.is_taken.clone();
        let waker = Waker::from(last.clone());
        let mut poll = || ask.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        assert!(!budget::unconstrained(async { poll() }).await);
        *last.reply.lock().unwrap() = Some(desk.receive().await.unwrap());
        drop((waker, last));
        // The timer uses up its clone of the waker, so the place for the answer has the last.
        sleep(Duration::from_secs(2)).await;
        assert_eq!(*is_taken.lock().unwrap(), None);
        // This poll finds no answer, leaves another waker instead of that one, and then finds the
        // limit over.
        let answer = budget::unconstrained(ask).await;
        assert_eq!((answer, *is_taken.lock().unwrap()), (Ok(7), Some(true)));
    });
}
