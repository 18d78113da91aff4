//! Workers that are away: such a worker runs fork-join, or blocks in place, and polls no tasks
//! meanwhile.
//!
//! [`relief`](super::relief) has the protocol.

use super::timing;
use crate::idle::Counts;
use crate::processor::Processor;
use crate::processor::context::Context;
use crate::processor::entered;
use crate::processor::shared::Shared;
use crate::processor::spares::Waiting;
use crate::timers::NEVER;

/// Counts a worker as away for as long as it lives. A worker has one at a time.
#[derive(Debug)]
pub(super) struct Away<'a>(&'a Context);

impl<'a> Away<'a> {
    /// Counts the worker, the caller, as away. It wakes a sleeper or calls the relief if it leaves
    /// tasks behind, or if it was the last and there is a task to poll anywhere.
    pub(super) fn begin(context: &'a Context) -> Self {
        let counts = context.shared().idle.go_away(&context.seat.processor().absence);
        Self::leave(context, counts)
    }

    /// The same for a worker that is about to block inside its poll.
    fn block(context: &'a Context) -> Self {
        let counts = context.shared().idle.block(&context.seat.processor().absence);
        Self::leave(context, counts)
    }

    fn leave(context: &'a Context, counts: Counts) -> Self {
        leave_behind(context.shared(), context.seat.processor(), counts, context.now.get());
        Self(context)
    }
}

/// Has another thread come to a processor whose worker does not: a sleeper or, if no worker sleeps,
/// the relief.
pub(super) fn send_another(shared: &Shared, counts: Counts) {
    if counts.searching > 0 && !counts.all_away {
        // A searcher looks at all processors before it sleeps. If a caller's waker blocks it
        // first, the watch looks.
        shared.arm();
    } else if counts.sleeping == 0 || !shared.wake_one() {
        shared.call_relief();
    }
}

/// Follows the step by which the worker of `processor` was counted as away or stuck, which made
/// these `counts`: has a sleeper or the relief come for its tasks and its due timers, the watch for
/// its later timers and, if it was the last, the relief for all that is left, now or later.
pub(super) fn leave_behind(shared: &Shared, processor: &Processor, counts: Counts, now: u64) {
    let has_work = |processor: &Processor| processor.is_to_be_relieved(now);
    if has_work(processor) || now >= processor.timers.next() {
        send_another(shared, counts);
    } else if counts.all_away && shared.processors.iter().any(has_work) {
        shared.call_relief();
    }
    if counts.sleeping > 0 && processor.timers.next() != NEVER {
        // The watch may have come to rest, and this worker fires its timers no more.
        shared.arm();
    }
    if counts.all_away {
        timing::call_in_time(shared);
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        self.0.shared().idle.come_back(&self.0.seat.processor().absence);
        self.0.shared().watch_for_stalls();
    }
}

/// A relief that blocks inside its poll, for as long as it lives.
struct Blocked<'a>(&'a Context);

impl<'a> Blocked<'a> {
    /// Has the lookout put another relief on duty at once.
    fn begin(context: &'a Context) -> Self {
        context.seat.processor().absence.block_relief(true);
        context.shared().watch();
        context.shared().idle.unpark_lookout();
        Self(context)
    }
}

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        self.0.seat.processor().absence.block_relief(false);
    }
}

/// Calls `f`, which may block. If the caller is a worker, or a relief, inside a poll, others take
/// its tasks over at once.
pub(crate) fn block_in_place<R>(f: impl FnOnce() -> R) -> R {
    entered::with(|context| {
        let polls = |context: &&Context| {
            let is_gone = context.seat.processor().absence.has_gone();
            context.task().is_some() && !is_gone && !context.shared().hooks.deterministic
        };
        match context.filter(polls) {
            None => f(),
            Some(relief) if relief.is_relief() => {
                let _blocked = Blocked::begin(relief);
                f()
            }
            Some(worker) => {
                let shared = worker.shared();
                let _away = Away::block(worker);
                // A spare runs the errand that the closure may wait for.
                let _waiting = Waiting::begin(&shared.spares);
                if !shared.errands.is_empty() {
                    shared.call_spare();
                }
                f()
            }
        }
    })
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::policy::Locality;
    use crate::policy::timing::RESOLUTION;
    use crate::primitives::atomic::Ordering;
    use crate::processor::neighbours::Neighbours;
    use crate::processor::seat::Seat;
    use crate::processor::shared::{Hooks, Starter};
    use crate::task::word_waker::WordWaker;
    use crate::timers::Rules;
    use crate::topology::Topology;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// A searcher that a waker blocks counts as one, and as away.
    #[test]
    fn the_relief_is_called_where_the_only_searcher_is_stuck() {
        let (shared, _seats) = Seat::all(
            Neighbours::all(&Topology::flat(2), &[0, 1]),
            Locality::default(),
            Hooks::default(),
            1,
            Rules::new::<WordWaker>(RESOLUTION),
        );
        let called = Arc::new(AtomicBool::new(false));
        let start = {
            let called = called.clone();
            move |_, _| !called.swap(true, Ordering::Relaxed)
        };
        assert!(shared.relief_starter.set(Starter(Box::new(start))).is_ok());
        shared.idle.sit(1);
        shared.idle.announce(1);
        assert!(shared.idle.wake_one());
        assert!(shared.idle.find_stuck(1, &shared.processors[1].absence));
        let counts = shared.idle.go_away(&shared.processors[0].absence);
        assert!(counts.all_away && counts.searching == 1);
        send_another(&shared, counts);
        assert!(called.load(Ordering::Relaxed));
    }

    /// A worker with sockets is left its quick tasks for a while, because it comes to them.
    #[test]
    fn a_worker_that_is_away_is_not_left_its_tasks() {
        let runtime = crate::Builder::new().workers(1).build().unwrap();
        let task = runtime.spawn(async {
            entered::with_worker(|context| {
                let context = context.unwrap();
                let processor = context.seat.processor();
                processor.published.serves.store(true, Ordering::Relaxed);
                processor.published.mean_poll.store(5_000, Ordering::Relaxed);
                let looks = || {
                    let looks = [processor.look(0, &mut 0), processor.look_at_backlog(0, 0)];
                    looks.map(|look| look.serves_quickly())
                };
                assert_eq!(looks(), [true; 2]);
                let away = Away::begin(context);
                assert_eq!(looks(), [false; 2]);
                drop(away);
                assert_eq!(looks(), [true; 2]);
            });
        });
        runtime.block_on(task).unwrap();
    }
}
