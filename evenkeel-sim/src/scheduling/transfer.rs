//! The helm of Transfer: the leader, its round, and the tasks that have seen it.

/// State of leader and followers.
#[derive(Debug)]
pub(super) struct Helm {
    leader: usize,
    /// The worker at which the leader spins, once it has opened its round.
    processor: Option<usize>,
    round: u32,
    /// The last round that each task has seen, and the number of tasks that have not seen this one.
    seen: Vec<u32>,
    missing: usize,
    /// The first and the last transfer in the measured time, and those after the first.
    first: Option<u64>,
    last: u64,
    count: u64,
}

impl Helm {
    pub(super) fn new(tasks: usize) -> Self {
        Self {
            leader: 0,
            processor: None,
            round: 0,
            seen: vec![0; tasks],
            missing: 0,
            first: None,
            last: 0,
            count: 0,
        }
    }

    /// Returns whether `task` is the leader, which then opens its round at processor `me`.
    pub(super) fn opens(&mut self, task: usize, me: usize) -> bool {
        if task != self.leader || self.processor.is_some() {
            return false;
        }
        self.processor = Some(me);
        self.round += 1;
        self.seen[task] = self.round;
        self.missing = self.seen.len() - 1;
        true
    }

    /// Returns whether a round is new to `task`, which has then seen it.
    pub(super) fn acknowledges(&mut self, task: usize) -> bool {
        if self.seen[task] == self.round {
            return false;
        }
        self.seen[task] = self.round;
        self.missing -= 1;
        true
    }

    /// Returns whether all have seen the round.
    pub(super) fn is_complete(&self) -> bool {
        self.missing == 0
    }

    pub(super) fn leader(&self) -> usize {
        self.leader
    }

    /// Returns the worker at which the leader spins, or did so last.
    pub(super) fn processor(&self) -> usize {
        self.processor.unwrap_or_default()
    }

    /// Ends a round. `now` is the time, if it is measured.
    pub(super) fn pass_on(&mut self, next: usize, now: Option<u64>) {
        self.leader = next;
        self.processor = None;
        let Some(now) = now else { return };
        self.count += u64::from(self.first.is_some());
        self.first.get_or_insert(now);
        self.last = now;
    }

    /// Returns the number of transfers from the first to the last one that is measured, and how
    /// long they took.
    pub(super) fn transfers(&self) -> (u64, u64) {
        (self.count, self.last - self.first.unwrap_or(self.last))
    }
}
