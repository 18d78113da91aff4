//! Keeps an actor inside one message for as long as a test needs.

use evenkeel::sync::Semaphore;
use evenkeel_actor::{ActorRef, Overflow};
use std::sync::Arc;

/// Has an actor wait in the message that `hold` makes of a gate, and returns the gate when the
/// actor is inside.
pub(crate) async fn held<M: Send + 'static, P: Overflow>(
    actor: &ActorRef<M, P>,
    hold: impl FnOnce(Arc<Semaphore>) -> M,
) -> Arc<Semaphore> {
    let gate = Arc::new(Semaphore::new(0));
    assert!(actor.send(hold(gate.clone())).await.is_ok(), "it has not stopped");
    while actor.depth() > 0 {
        evenkeel::yield_now().await;
    }
    gate
}
