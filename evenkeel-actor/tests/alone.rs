//! Actors that end because nobody has a reference to them any more: not before they have handled all there is, and whoever has a waker.

#[path = "common/workers.rs"]
mod workers;

use evenkeel_actor::{Actor, Context, ExitReason, Handled, spawn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use workers::on_workers;

/// The actor looks for what has rung, finds nothing, and finds itself alone: the message came in between.
#[test]
fn a_message_that_comes_with_the_last_reference_is_handled_while_a_timer_rings_for_nothing() {
    struct Rings(Arc<AtomicU32>);
    impl Actor for Rings {
        type Message = bool;
        async fn handle(&mut self, rings: bool, context: &mut Context<Self>) -> Handled {
            if rings {
                let timer = context.send_after(Duration::ZERO, false);
                context.cancel(timer);
            }
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }
    on_workers(1, async {
        for round in 0..2_000 {
            let handled = Arc::new(AtomicU32::new(0));
            let actor = spawn(Rings(handled.clone()));
            let stopped = actor.stopped();
            let begun = handled.clone();
            let last = std::thread::spawn(move || {
                actor.try_send(true).unwrap();
                while begun.load(Ordering::Relaxed) == 0 {
                    std::thread::yield_now();
                }
                (0..round % 64).for_each(|_| std::hint::spin_loop());
                actor.try_send(false).unwrap();
            });
            assert!(matches!(stopped.await, ExitReason::Unreferenced), "round {round}");
            last.join().unwrap();
            assert_eq!(handled.load(Ordering::Relaxed), 2, "round {round}");
        }
    });
}
