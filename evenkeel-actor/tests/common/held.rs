//! An actor that handles one message for as long as a test wants.

use evenkeel::sync::Semaphore;
use evenkeel_actor::{ActorRef, Overflow};
use std::sync::Arc;

/// Has an actor wait in the message that `hold` makes of a gate, and gives the gate when the actor
/// has come so far.
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
