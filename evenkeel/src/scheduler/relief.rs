//! The relief: a thread that polls tasks while the workers are inside fork-join.
//!
//! A worker cannot poll a task on top of a frame that forks: the task might wait for a lock that
//! the frame holds. So a worker that computes for long keeps its tasks waiting; the others take
//! them over, unless they compute too. Then the *relief* takes them over: a processor with a thread
//! of its own, which the system's scheduler puts beside the workers.
//!
//! # Roles
//! A *worker* is *away* while it runs, from its loop, an errand, a part of a broadcast or a job. It
//! is also away from when the relief finds it [stuck](super::stuck), inside a long poll that forks,
//! until the batch of that poll ends. The *relief* rests unless it is called. A thread that makes a
//! task ready is a *pusher*, as in [`idle`](crate::idle). The relief takes no part in fork-join: a
//! task that forks on it runs both halves one after the other. Otherwise it might wait for workers
//! that all wait for a lock which the task holds. Its deque is always full.
//!
//! # Protocol
//! - *Push*: the task becomes visible; a full fence; a look at the word of `idle`. The pusher calls
//!   the relief if the word says that all are away. It also calls if the task came from outside,
//!   its processor's worker is away, and no worker sleeps.
//! - *Going away*: the worker counts itself in, by a locked instruction on that word; it looks at
//!   its own queue and, if it was the last, at every other. If its own has a task it wakes a
//!   sleeper; if no worker sleeps, or others have tasks, it calls.
//! - *Finding a worker stuck*: the relief counts it in, in the same way. If there is a task in that
//!   worker's queue, the relief wakes a sleeper; if no worker sleeps, it goes on as if it had been
//!   called. *Looking* for stuck workers is a protocol of its own: [`stuck`](super::stuck).
//! - *Calling*: `called := true`, by an exchange. The caller that finds it false unparks the relief
//!   or, the first time, starts its thread.
//! - *Relieving*: if all are away, or it has been called and no worker sleeps, the relief takes the
//!   queues and inboxes of the workers that are away by force. It polls the tasks. It leaves its
//!   tasks to the workers once one has been back for a while.
//! - *Leaving*: a pusher from outside that would have to call leaves its task in the inbox of the
//!   relief itself, if the relief runs; then it calls.
//! - *Timers*: the relief fires those of workers that are away, and rests until the next is due, or
//!   until its next look; [`timers`](crate::timers) says which threads call it for timers.
//! - *Resting*: it clears `called`, by an exchange; a full fence; it looks at its inbox and, if all
//!   are away, at every queue, and goes on if there is anything.
//!
//! # Why no task waits
//! - *Pusher and last worker to go away* form Dekker's pattern, queue against word: the pusher sees
//!   that all are away, or the worker sees the task. Where the relief counts the last worker in, it
//!   looks itself. It takes the queues of a stuck worker by force, like those of others; the task
//!   that this worker polls is in none of them. If not all are away, one of them is in its loop, or
//!   in a poll, and the rules of `idle` hold.
//! - *Pusher and relief*: both change `called` by a read-modify-write. A pusher that finds it set
//!   comes before the relief clears it, and so before the relief's look. The calls for one worker
//!   of several that is away are not part of this proof: they save a task the time until another
//!   worker takes it. If the system refuses the thread, `called` stays set, and pushers then
//!   neither call nor leave tasks: tasks wait for a worker to come back.
//!
//! # What is lost
//! The relief may take a task that forks for long. Then the task runs on one core, though workers
//! come back and have nothing to do, and until it ends the relief cannot poll others, fire timers,
//! or look. Workers that are back take its other tasks from it, as from any processor in a long
//! poll. The task that it has begun to poll stays.
//!
//! # Rejected
//! A deque of its own from which workers steal, as a [spare](super::spare) has: a relief that waits
//! for a stolen half polls no task, and its core is idle. Polling tasks at forks: see above. A
//! search for tasks between two jobs that a waiting worker runs: the same. A timer instead of
//! calls: a ready task would wait for it. Leaving the relief, while it is awake, tasks of workers
//! that are in their loops: a trace of `evenkeel-bench run --bench mixed` showed no long wait of
//! such tasks. A thread from the start: most runtimes either poll tasks or compute, and need none.

use super::handover;
use super::sleep::Wakened;
use super::stuck::Lookout;
use super::wake;
use super::worker::{Left, Worker};
use crate::policy::{Look, forking};
use crate::primitives::clock;
use crate::primitives::spin::Backoff;
use crate::processor::context::Context;
use crate::processor::meter::Doing;
use crate::processor::seat::Seat;
use crate::processor::shared::Shared;
use crate::topology::Distance;
use std::sync::Arc;
use std::time::Duration;

/// Runs the relief's processor until its runtime is over.
pub(crate) fn work(shared: Arc<Shared>) {
    shared.idle.begin_relief();
    let _left = Left(&shared);
    let context = Context::new(Seat::of_relief(&shared), clock::now());
    context.switch(Doing::Running(Distance::Same), context.now.get());
    context.enter(|| Worker::new(&context).work());
    context.switch(Doing::Asleep, clock::now());
}

/// The relief's state from one batch to the next.
pub(super) struct Relieving {
    backoff: Backoff,
    /// The last time at which all were away, or the relief was called.
    away: u64,
    /// Whether it was called before its last rest; naps between two looks do not count as rests.
    called: bool,
    /// Whether a call has ended that rest, or a worker has been found stuck since then.
    is_called: bool,
    lookout: Lookout,
}

impl Relieving {
    pub(super) fn new(now: u64) -> Self {
        let (backoff, lookout) = (Backoff::new(), Lookout::default());
        Self { backoff, away: now, called: true, is_called: true, lookout }
    }
}

impl Worker<'_> {
    /// Does the relief's work between two batches. Returns false if the runtime is over.
    #[cold]
    pub(super) fn relieve(&mut self, relieving: &mut Relieving) -> bool {
        let now = self.context.now.get();
        relieving.is_called |= self.look_out(&mut relieving.lookout);
        let counts = self.shared.idle.counts();
        let takes = forking::takes_over(counts.all_away, relieving.is_called, counts.sleeping);
        if counts.all_away {
            relieving.away = now;
        } else if forking::hand_back(now.saturating_sub(relieving.away)) {
            self.hand_back();
        }
        if self.context.ready() > 0 || self.take_over(takes) {
            relieving.backoff = Backoff::new();
        } else if self.rest(relieving) {
            relieving.away = clock::now();
            // A processor with work may keep its queue locked, if the system has preempted its
            // worker.
            relieving.backoff.snooze();
        } else {
            return false;
        }
        true
    }

    /// Fires the timers of workers that are away and, if `takes` is set, takes their ready tasks.
    /// Returns whether there is a task to poll.
    fn take_over(&mut self, takes: bool) -> bool {
        let now = clock::now();
        self.context.now.set(now);
        for other in 0..self.me {
            let processor = &self.shared.processors[other];
            self.fire_for(other, now);
            if takes && self.shared.is_away(other) && processor.look(now, &mut 0).has_work() {
                handover::force(self.context, other, false);
            }
        }
        self.context.ready() > 0
    }

    /// Leaves the ready tasks to the workers that are back, in turn.
    fn hand_back(&self) {
        let is_back = |&other: &usize| !self.shared.is_away(other);
        let back: Vec<usize> = (0..self.me).filter(is_back).collect();
        if self.context.ready() == 0 || back.is_empty() {
            return;
        }
        let mut entries = self.context.moved.borrow_mut();
        self.context.seat.split(usize::MAX, &mut entries);
        for (entry, &target) in entries.drain(..).zip(back.iter().cycle()) {
            wake::leave(&self.shared, target, entry.task);
        }
    }

    /// Rests until the relief is called, or has to look or to fire a timer. Returns false if the
    /// runtime is over.
    fn rest(&mut self, relieving: &mut Relieving) -> bool {
        self.context.trim();
        self.withdraw();
        match self.prepare_rest(relieving) {
            Err(reason) => reason != Wakened::Over,
            Ok(Rest { limit, is_nap }) => {
                self.context.switch(Doing::Asleep, clock::now());
                self.context.counters().sleeps.add(1);
                let is_called = self.shared.idle.rest(limit);
                relieving.called = is_called || (relieving.called && is_nap);
                relieving.is_called = is_called;
                self.context.counters().wake_ups.add(1);
                self.context.switch(Doing::Running(Distance::Same), clock::now());
                true
            }
        }
    }

    /// Announces the rest, and takes the last look. Returns how long the relief may rest, or what
    /// keeps it from resting.
    fn prepare_rest(&mut self, relieving: &Relieving) -> Result<Rest, Wakened> {
        self.shared.idle.announce_rest();
        if let Some(reason) = self.look_home() {
            return Err(reason);
        }
        if self.shared.idle.counts().all_away && self.any_other(Look::has_work) {
            return Err(Wakened::Work);
        }
        // A relief that was called for a timer waits for it even if a worker is back by then:
        // errands in close succession would call it again and again. Naps between two looks are
        // parts of that wait.
        let all_away = self.shared.idle.counts().all_away;
        let look = relieving.lookout.due(&self.shared.idle);
        let limit = self.rest_limit(all_away || relieving.called, look);
        if self.shared.move_clock_if_stands() {
            return Err(Wakened::Work);
        }
        Ok(Rest { limit, is_nap: look.is_some() })
    }
}

/// A rest of the relief.
struct Rest {
    /// Until the next timer or look.
    limit: Option<Duration>,
    /// Whether it is a nap between two looks.
    is_nap: bool,
}

#[cfg(all(test, loom))]
mod model;
