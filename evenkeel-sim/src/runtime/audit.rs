//! The measurements of a run: how long tasks wait, and how long a backlog lies beside a sleeper.

use super::task::Task;
use evenkeel_policy::helping;

/// The factor of the share in the promise: a helper leaves a processor alone if its work is up to
/// [`helping::MARGIN`] times as old as the helper's own.
const SHARE: u64 = helping::MARGIN;

#[derive(Debug)]
pub(crate) struct Audit {
    /// Processors that make progress for the whole run.
    progress: u64,
    /// The work of the ready tasks: the sum of their next polls.
    queued: u64,
    /// The number of running tasks, and the sum of the times at which they end.
    running: u64,
    ends: u64,
    /// The longest wait beyond the share of the work ahead, and its task.
    pub(crate) worst: u64,
    pub(crate) task: usize,
    pub(crate) wait: u64,
    pub(crate) ahead: u64,
    pub(crate) at: u64,
    /// The time since which two or more tasks have waited at each processor.
    backlog_since: Vec<Option<u64>>,
    /// The time since which a processor has slept, and the last wake-up.
    sleepers_since: Option<u64>,
    last_wake: u64,
    /// The longest time for which a backlog lay beside a sleeper while none was woken.
    pub(crate) neglect: u64,
}

impl Audit {
    /// Of this many processors, `progress` make progress for the whole run.
    pub(crate) fn new(progress: usize, processors: usize) -> Self {
        Self {
            progress: progress as u64,
            queued: 0,
            running: 0,
            ends: 0,
            worst: 0,
            task: 0,
            wait: 0,
            ahead: 0,
            at: 0,
            backlog_since: vec![None; processors],
            sleepers_since: None,
            last_wake: 0,
            neglect: 0,
        }
    }

    /// Returns the work ahead of a task that becomes ready: that of the ready tasks, and the rest
    /// of the running ones. It is `N·p` of the promise, with the true sum in place of the mean.
    pub(crate) fn ahead(&self, now: u64) -> u64 {
        self.queued + self.ends.saturating_sub(self.running * now)
    }

    pub(crate) fn queued(&mut self, task: &Task) {
        if !task.stuck {
            self.queued += task.next_poll;
        }
    }

    pub(crate) fn started(&mut self, task: &mut Task, now: u64) {
        if task.stuck {
            return;
        }
        task.ends = now + task.next_poll;
        self.queued -= task.next_poll;
        self.running += 1;
        self.ends += task.ends;
    }

    pub(crate) fn ended(&mut self, task: &Task) {
        if !task.stuck {
            self.running -= 1;
            self.ends -= task.ends;
        }
    }

    /// Records the wait of a task until `now`, when it starts or the run ends.
    pub(crate) fn waited(&mut self, index: usize, task: &Task, now: u64) {
        let wait = now.saturating_sub(task.ready_at);
        let excess = wait.saturating_sub(SHARE * task.ahead / self.progress);
        if excess > self.worst {
            self.worst = excess;
            self.task = index;
            self.wait = wait;
            self.ahead = task.ahead;
            self.at = now;
        }
    }

    /// Records that the queue of a processor has `ready` tasks.
    pub(crate) fn queue(&mut self, me: usize, ready: usize, now: u64) {
        self.note_neglect(me, now);
        if ready < 2 {
            self.backlog_since[me] = None;
        } else if self.backlog_since[me].is_none() {
            self.backlog_since[me] = Some(now);
        }
    }

    fn note_neglect(&mut self, me: usize, now: u64) {
        if let (Some(backlog), Some(sleepers)) = (self.backlog_since[me], self.sleepers_since) {
            let since = backlog.max(sleepers).max(self.last_wake);
            self.neglect = self.neglect.max(now.saturating_sub(since));
        }
    }

    pub(crate) fn slept(&mut self, now: u64) {
        self.sleepers_since.get_or_insert(now);
    }

    /// Records that a processor is woken, and `sleeping` stay asleep.
    pub(crate) fn woken(&mut self, now: u64, sleeping: usize) {
        self.check_backlogs(now);
        self.last_wake = now;
        if sleeping == 0 {
            self.sleepers_since = None;
        }
    }

    pub(crate) fn check_backlogs(&mut self, now: u64) {
        for me in 0..self.backlog_since.len() {
            self.note_neglect(me, now);
        }
    }
}
