//! Workers that are away: such a worker runs fork-join, and polls no tasks meanwhile.
//!
//! [`relief`](super::relief) has the protocol.

use super::timing;
use crate::processor::Processor;
use crate::processor::context::Context;

/// Counts a worker as away for as long as it lives. A worker has one at a time.
#[derive(Debug)]
pub(super) struct Away<'a>(&'a Context);

impl<'a> Away<'a> {
    /// Counts the worker, the caller, as away. It wakes a sleeper or calls the relief if it leaves
    /// tasks behind, or if it was the last and there is a task to poll anywhere.
    pub(super) fn begin(context: &'a Context) -> Self {
        let shared = context.shared();
        let counts = shared.idle.go_away(&context.seat.processor().absence);
        let now = context.now.get();
        let has_work = |processor: &Processor| processor.look(now, &mut 0).has_work();
        if has_work(context.seat.processor()) {
            if counts.sleeping > 0 {
                shared.idle.wake_one();
            } else {
                shared.call_relief();
            }
        } else if counts.all_away && shared.processors.iter().any(has_work) {
            shared.call_relief();
        }
        if counts.all_away {
            timing::call_for_timers(shared);
        }
        Self(context)
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        self.0.shared().idle.come_back(&self.0.seat.processor().absence);
    }
}
