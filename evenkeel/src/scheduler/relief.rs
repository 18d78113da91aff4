//! The reliefs: threads that poll tasks while the workers are inside fork-join, or stuck in a poll.
//!
//! A worker cannot poll a task on top of a frame that forks or of a poll that lasts: the task might
//! wait for a lock that the frame holds. So such a worker keeps its tasks waiting; the others take
//! them over, unless they compute too. Then a *relief* takes them over: a processor with a thread
//! of its own, which the system's scheduler puts beside the workers.
//!
//! # Roles
//! A *worker* is *away* while it runs, from its loop, an errand, a part of a broadcast or a job, or
//! while its poll is inside `block_in_place`. It is also away from when the
//! [lookout](super::lookout) finds it *stuck*, inside a long poll, until the batch of that poll
//! ends. One relief is *on duty*; it rests unless it is called. Others are stuck, or in *reserve*.
//! A thread that makes a task ready is a *pusher*, as in [`idle`](crate::idle). A relief takes no
//! part in fork-join: a task that forks on it runs both halves one after the other. Otherwise it
//! might wait for workers that all wait for a lock which the task holds. Its deque is always full.
//!
//! # Protocol
//! - *Push*: the task becomes visible; a full fence; a look at the word of `idle`. The pusher calls
//!   the relief if the word says that all are away. It also calls if the task came from outside,
//!   its processor's worker is away, and no worker sleeps.
//! - *Going away*: the worker counts itself in, by a locked instruction on that word; it looks at
//!   its own queue and, if it was the last, at every other. If its own has a task it wakes a
//!   sleeper; if no worker sleeps, or others have tasks, it calls.
//! - *Finding a worker stuck*: the lookout counts it in, in the same way, and does the same.
//! - *Calling*: `called := true`, by an exchange. The caller that finds it false unparks the relief
//!   on duty or, the first time, starts its thread. It has the lookout make rounds.
//! - *Relieving*: if all are away, or it has been called and no worker sleeps, the relief on duty
//!   takes the queues and inboxes of the workers that are away by force; those of other reliefs in
//!   any case. It polls the tasks. It leaves its tasks to the workers once one has been back for a
//!   while.
//! - *Leaving*: a pusher from outside that would have to call leaves its task in the inbox of the
//!   relief on duty, if a relief runs; then it calls.
//! - *Timers*: the relief fires those of workers that are away, and rests until the next is due;
//!   [`timers`](crate::timers) says which threads call it for timers.
//! - *Visitors* of a worker inside fork-join are left to it until it has been there for
//!   [`STRANDED`](crate::policy::stealing::STRANDED). The relief rests until then at the longest.
//!   The last worker to go away, or the lookout that counts it in, calls as for a timer.
//! - *Resting*: it clears `called`, by an exchange; a full fence; it looks at its inbox, at the
//!   queues of other reliefs and, if all are away, at every queue, and goes on if there is
//!   anything. When it goes on, or its rest is over, it sets `called` itself, by an exchange, and
//!   has the lookout make rounds. So while `called` is false the relief is inside no poll.
//! - *Duty*: the lookout puts another relief on duty if the one that was is stuck. A relief that
//!   comes back and finds itself off duty leaves its tasks to the one on duty, and calls it: that
//!   one's rest may have been bounded by an older look at the timers. Then it goes into reserve,
//!   and its thread ends if it has not been appointed for [`STAY`].
//!
//! # Why no task waits
//! - *Pusher and last worker to go away* form Dekker's pattern, queue against word: the pusher sees
//!   that all are away, or the worker sees the task. Where the lookout counts the last worker in,
//!   it looks itself. The relief takes the queues of a stuck worker by force, like those of others;
//!   the task that this worker polls is in none of them. If not all are away, one of them is in its
//!   loop, or in a poll, and the rules of `idle` and of the lookout hold.
//! - *Pusher and relief*: both change `called` by a read-modify-write. A pusher that finds it set
//!   comes before the relief clears it, and so before the relief's look. The calls for one worker
//!   of several that is away are not part of this proof: they save a task the time until another
//!   worker takes it. If the system refuses the first relief's thread, `called` stays set, pushers
//!   neither call nor leave tasks, and the lookout tries again.
//! - *Visitors*: a sender that sees all away calls, and the relief that looks then bounds its rest.
//!   Otherwise the last worker to go away sees the visitors, or the thread does that looks next
//!   ([`travel`](crate::travel)). That call and the relief's resting form the pattern of timers.
//! - *Pusher and change of duty*: a pusher may leave its task to a relief that is off duty, or
//!   unpark one. Each relief that clears `called` looks at the inboxes of all reliefs after that,
//!   whether or not it is still on duty. So if that relief has swallowed the call for another one,
//!   it has the task.
//!
//! # What is lost
//! The relief may take a task that forks for long. Then the task runs on one core, though workers
//! come back and have nothing to do. Its other tasks wait until the lookout has put another relief
//! on duty, or workers that are back take them, as from any processor in a long poll.
//!
//! # Rejected
//! A deque of its own from which workers steal, as a [spare](super::spare) has: a relief that waits
//! for a stolen half polls no task, and its core is idle. Polling tasks at forks: see above. A
//! search for tasks between two jobs that a waiting worker runs: the same. A timer instead of
//! calls: a ready task would wait for it. Leaving the relief, while it is awake, tasks of workers
//! that are in their loops: a trace of `evenkeel-bench run --bench mixed` showed no long wait of
//! such tasks. A thread from the start: most runtimes either poll tasks or compute, and need none.
//! One queue for all reliefs, under a mutex: each of them needs counters, a registry and a memory
//! of its own anyway, and with a queue of its own it runs the workers' loop.

use super::handover;
use super::sleep::Wakened;
use super::wake;
use super::worker::{Left, Worker};
use crate::idle::Idle;
use crate::policy::forking;
use crate::primitives::clock;
use crate::primitives::spin::Backoff;
use crate::processor::context::Context;
use crate::processor::meter::Doing;
use crate::processor::seat::Seat;
use crate::processor::shared::Shared;
use crate::topology::Distance;
use std::sync::Arc;
use std::time::Duration;

/// How long a relief waits in reserve before its thread ends. An estimate; no benchmark sets it. A
/// model has no use for a thread that waits.
const STAY: Duration = Duration::from_secs(if cfg!(any(loom, shuttle)) { 0 } else { 10 });

/// Runs the processor of the relief with this number until its runtime is over, or no relief is
/// needed.
pub(crate) fn work(shared: Arc<Shared>, number: usize) {
    let _left = Left { shared: &shared, is_worker: false };
    run(Seat::of_relief(&shared, number));
    shared.idle.retire(number);
    // Another thread may have taken this one for awake.
    shared.move_clock_if_stands(None);
}

fn run(seat: Seat) {
    seat.shared().idle.begin_relief(seat.me());
    // A lookout that has looked before then took it for resting.
    seat.shared().watch();
    let context = Context::new(seat, clock::now());
    context.switch(Doing::Running(Distance::Same), context.now.get());
    context.enter(|| Worker::new(&context).work());
    context.switch(Doing::Asleep, clock::now());
}

/// The relief's state from one batch to the next.
pub(super) struct Relieving {
    backoff: Backoff,
    /// The last time at which all were away, or the relief was called.
    away: u64,
    /// Whether a call has ended its last rest.
    is_called: bool,
    /// Since when it has been in reserve; none on duty.
    in_reserve: Option<u64>,
}

impl Relieving {
    pub(super) fn new(now: u64) -> Self {
        Self { backoff: Backoff::new(), away: now, is_called: true, in_reserve: None }
    }
}

impl Worker<'_> {
    /// Does the relief's work between two batches. Returns false if its thread ends.
    #[cold]
    pub(super) fn relieve(&mut self, relieving: &mut Relieving) -> bool {
        if self.shared.idle.duty() != self.me {
            return self.stand_by(relieving);
        }
        relieving.in_reserve = None;
        let now = self.context.now.get();
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

    /// Fires the timers of workers that are away and, if `takes` is set, takes their ready tasks;
    /// those of other reliefs in any case. Returns whether there is a task to poll.
    fn take_over(&mut self, takes: bool) -> bool {
        let now = clock::now();
        self.context.now.set(now);
        for other in 0..self.shared.processors.len() {
            let processor = &self.shared.processors[other];
            let is_taken = if other < self.shared.workers {
                self.fire_for(other, now);
                self.look_for(other, now);
                takes && self.shared.is_away(other)
            } else {
                other != self.me
            };
            if is_taken && processor.is_to_be_relieved(now) {
                handover::force(self.context, other, false);
            }
        }
        self.context.ready() > 0
    }

    /// Leaves the ready tasks to the workers that are back, in turn.
    fn hand_back(&self) {
        let is_back = |&other: &usize| !self.shared.is_away(other);
        let back: Vec<usize> = (0..self.shared.workers).filter(is_back).collect();
        if self.context.ready() == 0 || back.is_empty() {
            return;
        }
        let mut entries = self.context.moved.borrow_mut();
        self.context.seat.split(usize::MAX, &mut entries);
        for (entry, &target) in entries.drain(..).zip(back.iter().cycle()) {
            wake::leave(&self.shared, target, entry.task);
        }
    }

    /// Rests until the relief is called, or has to come for a timer or visitors. Returns false if
    /// the runtime is over.
    fn rest(&mut self, relieving: &mut Relieving) -> bool {
        self.context.trim();
        self.withdraw();
        let reason = match self.prepare_rest(relieving) {
            Err(reason) => reason,
            Ok(limit) => {
                self.asleep(|idle, _| idle.rest(limit));
                relieving.is_called = false;
                Wakened::Work
            }
        };
        relieving.is_called |= self.shared.idle.end_rest();
        // What it polls next may occupy it.
        self.shared.watch();
        reason != Wakened::Over
    }

    /// Announces the rest, and takes the last look. Returns how long the relief may rest, or what
    /// keeps it from resting.
    fn prepare_rest(&mut self, relieving: &Relieving) -> Result<Option<Duration>, Wakened> {
        self.shared.idle.announce_rest();
        if let Some(reason) = self.look_home() {
            return Err(reason);
        }
        let all_away = self.shared.idle.counts().all_away;
        if self.is_any_to_be_relieved(all_away) {
            return Err(Wakened::Work);
        }
        // A relief that was called for a timer or visitors waits for them even if a worker is back
        // by then: errands in close succession would call it again and again.
        let limit = self.rest_limit(all_away || relieving.is_called);
        if self.shared.move_clock_if_stands(None) {
            return Err(Wakened::Work);
        }
        Ok(limit)
    }

    /// Returns whether there is a task to take over: from another relief or, if all workers are
    /// away, from any processor.
    fn is_any_to_be_relieved(&self, all_away: bool) -> bool {
        let shared = &self.shared;
        let now = self.context.now.get();
        let workers = 0..if all_away { shared.workers } else { 0 };
        let mut others = workers.chain(shared.other_reliefs(self.me));
        others.any(|other| shared.processors[other].is_to_be_relieved(now))
    }

    /// Does the work of a relief that is off duty between two batches: leaves its tasks to the
    /// relief on duty, and waits in reserve. Returns false if its thread ends.
    #[cold]
    fn stand_by(&mut self, relieving: &mut Relieving) -> bool {
        let idle = &self.context.shared().idle;
        let is_first = relieving.in_reserve.is_none();
        let since = *relieving.in_reserve.get_or_insert_with(clock::now);
        self.context.trim();
        self.withdraw();
        if self.leave_to_duty() || is_first {
            // This one may have taken a call for that one.
            self.shared.recall_relief();
        }
        idle.enter_reserve(self.me);
        let reason = self.look_home();
        if reason.is_none() && !self.shared.move_clock_if_stands(None) {
            self.asleep(|idle, me| idle.wait_in_reserve(me, STAY));
        }
        if !idle.leave_reserve(self.me) {
            *relieving = Relieving::new(clock::now());
            return true;
        }
        let has_stayed = u128::from(clock::now().saturating_sub(since)) >= STAY.as_nanos();
        reason != Some(Wakened::Over) && (reason.is_some() || !has_stayed || self.is_needed())
    }

    /// Returns whether the relief has to stay: it is the home of tasks, or may have tasks.
    fn is_needed(&self) -> bool {
        let seat = &self.context.seat;
        seat.registered_count() > 0 || !seat.processor().inbox.is_empty()
    }

    /// Leaves all tasks to the relief on duty. Returns whether there was any.
    fn leave_to_duty(&mut self) -> bool {
        let mut entries = self.context.moved.borrow_mut();
        self.context.seat.split(usize::MAX, &mut entries);
        // The number is read before the row, which may grow by that relief.
        let number = self.shared.idle.duty();
        let duty = &self.shared.processors[number];
        let is_any = !entries.is_empty();
        entries.drain(..).for_each(|entry| duty.inbox.push(entry.task));
        is_any
    }

    /// Calls `wait`, which parks this relief, and counts a sleep.
    fn asleep(&self, wait: impl FnOnce(&Idle, usize)) {
        self.context.switch(Doing::Asleep, clock::now());
        self.context.counters().sleeps.add(1);
        wait(&self.shared.idle, self.me);
        self.context.counters().wake_ups.add(1);
        self.context.switch(Doing::Running(Distance::Same), clock::now());
    }
}

#[cfg(all(test, loom))]
mod model;
