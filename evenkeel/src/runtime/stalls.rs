//! Reports of long polls, for the hook of [`Builder::on_stall`](super::Builder::on_stall).
//!
//! # Roles
//! The *lookout* finds that a thread is stuck inside a poll. The *reporter*, a thread that it
//! starts, finds out which task that is, and calls the hook. So a hook may block, and the lookout
//! goes on looking. The end of the runtime does not wait for the reporter.
//!
//! # Protocol
//! 1. The lookout starts the thread, unless another report is under way or the reporter rests. If
//!    the system refuses the thread, there is no report.
//! 2. The reporter [looks for the task](sweep::polled): the stuck thread's processor has its
//!    address, and the registry that has the same address keeps it alive. If the poll is over by
//!    then, there is no report. If a task of the same spawn site has been reported, there is none
//!    either.
//! 3. It waits until the poll is over, for [`LONG`], or until the runtime is shut down, and calls
//!    the hook.
//!
//! # Why the report names the right task
//! The count of polls changes at the end of a batch, and is part of what the lookout has seen
//! twice. If it has not changed after the search, the thread is still in that batch, so the address
//! is that of the long poll's task, or of one that the same batch has polled since: then the poll
//! ended within the last microseconds. A thread that is busy between two batches, as with a long
//! queue that it takes over, has no address.
//!
//! # Cost
//! Without a hook: a count. A poll stores the address of its task in any case. A search: a heavy
//! fence for each processor up to the task's home, and a millisecond for a million tasks, during
//! which that processor's queue is locked. So the reporter rests for [`RESTS`] times as long as it
//! has searched.
//!
//! # Rejected
//! A blocking thread: where the system refuses one, the lookout would run the closures that wait
//! for it; and the reporter would be among what a shutdown waits for and reports. The lookout calls
//! the hook: a hook that waits for what the stuck task holds, such as the lock of the standard
//! error, would end all help. The worker reports at the end of its poll: a poll that never ends is
//! the one to hear of. A backtrace of the stuck thread, from a signal: a system call that the
//! signal interrupts returns early, and no unwinder promises to be safe there. A debugger takes the
//! thread's number from the report instead.

use crate::primitives::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::primitives::{Mutex, clock, lock, unwind};
use crate::processor::current;
use crate::processor::shared::{Phase, Shared, Stalled};
use crate::scheduler::sweep;
use crate::task::{Stall, TaskInfo};
use std::collections::HashSet;
use std::panic::Location;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Polls of this length are reported before they are over. A choice: long enough for the report to
/// tell most polls' whole duration, and short enough for a person who waits for it.
const LONG: u64 = 100_000_000;

/// How often the reporter looks whether the poll is over: about the lookout's own precision.
const LOOKS: Duration = Duration::from_millis(1);

/// The searches take this part of the time at most. A choice.
const RESTS: u64 = 100;

/// Makes the reports of one runtime.
pub(super) struct Reporter {
    hook: Box<dyn Fn(&Stall) + Send + Sync>,
    is_busy: AtomicBool,
    /// The end of the reporter's rest.
    rests_until: AtomicU64,
    /// The spawn sites that it has reported.
    reported: Mutex<HashSet<Location<'static>>>,
}

/// A report that is under way, for as long as it lives.
struct Report(Arc<Reporter>);

impl Drop for Report {
    fn drop(&mut self) {
        self.0.is_busy.store(false, Ordering::Relaxed);
    }
}

impl Reporter {
    pub(super) fn new(hook: impl Fn(&Stall) + Send + Sync + 'static) -> Self {
        Self {
            hook: Box::new(hook),
            is_busy: AtomicBool::new(false),
            rests_until: AtomicU64::new(0),
            reported: Mutex::default(),
        }
    }

    /// Has a thread report what the lookout, the caller, has found.
    pub(super) fn report(self: &Arc<Self>, shared: &Arc<Shared>, stalled: Stalled) {
        let rests = clock::now() < self.rests_until.load(Ordering::Relaxed);
        if rests || self.is_busy.swap(true, Ordering::Relaxed) {
            return;
        }
        let (report, own) = (Report(self.clone()), shared.clone());
        let work = move || {
            let _entered = current::enter(&own);
            // The hook is a caller's, and so is the payload of its panic.
            unwind::contain(|| report.0.make(&own, stalled));
        };
        drop(shared.start_thread("reporter", work));
    }

    fn make(&self, shared: &Shared, stalled: Stalled) {
        let Some(task) = self.find(shared, stalled) else { return };
        if lock(&self.reported).contains(task.spawn_site) {
            return;
        }
        let lasted = || clock::now().saturating_sub(stalled.since);
        let mut is_over = false;
        while !is_over && lasted() < LONG && shared.phase() < Phase::Aborting {
            thread::sleep(LOOKS);
            is_over = is_over_by_now(shared, stalled);
        }
        lock(&self.reported).insert(*task.spawn_site);
        (self.hook)(&Stall {
            task,
            lasted: Duration::from_nanos(lasted()),
            is_over,
            is_blocked: stalled.is_blocked,
            thread: shared.idle.probe(stalled.processor).number(),
        });
    }

    /// Finds out which task the stuck thread polls, if it still does.
    fn find(&self, shared: &Shared, stalled: Stalled) -> Option<TaskInfo> {
        let before = clock::now();
        let task = sweep::polled(shared, stalled.processor);
        let now = clock::now();
        let rest = now.saturating_sub(before).saturating_mul(RESTS);
        self.rests_until.store(now.saturating_add(rest), Ordering::Relaxed);
        let task = task.filter(|_| !is_over_by_now(shared, stalled))?;
        Some(TaskInfo::of(task.live()))
    }
}

fn is_over_by_now(shared: &Shared, stalled: Stalled) -> bool {
    shared.processors[stalled.processor].counters.polls.get() != stalled.polls
}
