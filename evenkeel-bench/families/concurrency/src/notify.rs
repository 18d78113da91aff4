//! Two of Tokio's `Notify` without a monitor: the least cost of its hand-over.
//!
//! The waiter waits on one and then wakes the signaller by the other, so both make N rounds in
//! turns. It guards nothing, so it is less than internal scheduling.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Notify;

use super::host;
use super::schedint::{Done, Role};
use suite::kit::fault::Fault;

/// A party before it begins.
struct Part {
    role: Role,
    n: u64,
    /// From the signaller to the waiter, and back.
    signals: Arc<[Notify; 2]>,
}

/// Runs both parties.
pub(super) fn run(n: u64) -> Result<Vec<Done>, Fault> {
    let signals = Arc::new([Notify::new(), Notify::new()]);
    let part = |role| Part { role, n, signals: signals.clone() };
    host::Tokio::run(1, [Role::Waiter, Role::Signaller].map(part).into(), go)
}

/// The body of a party.
async fn go(part: Part) -> Done {
    let Part { role, n, signals } = part;
    let [there, back] = &*signals;
    let started = Instant::now();
    let mut rounds = 0;
    for _ in 0..n {
        match role {
            Role::Waiter => {
                there.notified().await;
                back.notify_one();
            }
            Role::Signaller => {
                there.notify_one();
                back.notified().await;
            }
        }
        rounds += 1;
    }
    Done { took: started.elapsed(), rounds }
}
