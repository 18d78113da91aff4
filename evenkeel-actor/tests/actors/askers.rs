//! Askers that give up during the answer.

use evenkeel::budget;
use evenkeel_actor::{Actor, Context, Handled, ReplyTo, spawn};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;

const ROUNDS: u32 = 50_000;

/// Answers with its value, and announces each answer just before.
struct Lender {
    lent: Arc<()>,
    begun: Arc<AtomicU32>,
}

impl Actor for Lender {
    type Message = ReplyTo<Arc<()>>;

    async fn handle(&mut self, reply: Self::Message, _context: &mut Context<Self>) -> Handled {
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
