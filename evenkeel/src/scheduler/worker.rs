//! A worker: the loop of a thread that runs a processor.
//!
//! Polls are made in batches of about [`batch::BATCH`]. At the end of each
//! the worker reads the clock, empties its inbox, answers and makes requests, looks at one other
//! processor, and sees to it that its own backlog does not wait beside a sleeper. Without work it
//! [searches](super::search), then [sleeps](super::sleep).

use super::broadcast;
use super::errands;
use super::handover::{self, Request};
use super::job::{self, Asked, Stolen};
use super::relief::{Away, Relieving};
use super::run;
use super::stuck;
use super::trial::Trial;
use super::view::View;
use crate::deque::Level;
use crate::policy::random::Random;
use crate::policy::{self, batch, waking};
use crate::primitives::atomic::Ordering;
use crate::primitives::{clock, unwind};
use crate::processor::context::Context;
use crate::processor::meter::Doing;
use crate::processor::seat::Seat;
use crate::processor::shared::{Phase, Shared};
use crate::raw_task::state::Signal;
use crate::topology::Distance;
use std::sync::Arc;

/// Batches between two looks at the size of the queue's buffer: some milliseconds, an estimate that
/// no benchmark sets.
const TRIM: u32 = 1_024;

/// Runs the processor of `seat` until its runtime is over.
pub(crate) fn work(seat: Seat) {
    let shared = seat.shared().clone();
    let me = seat.me();
    shared.idle.sit(me);
    let _left = Left(&shared);
    let context = Context::new(seat, clock::now());
    context.switch(Doing::Running(Distance::Same), context.now.get());
    context.enter(|| {
        let mut worker = Worker::new(&context);
        call(&shared.hooks.worker_start, me);
        worker.work();
        call(&shared.hooks.worker_stop, me);
        // What that hook has spawned is cancelled.
        worker.work();
    });
    context.switch(Doing::Asleep, clock::now());
}

/// Says that the worker has left, however it leaves.
pub(super) struct Left<'a>(pub(super) &'a Shared);

impl Drop for Left<'_> {
    fn drop(&mut self) {
        self.0.note_left();
    }
}

/// Calls a hook; the report of a panic is left to the process's panic hook.
fn call(hook: &Option<crate::processor::shared::WorkerHook>, me: usize) {
    if let Some(hook) = hook {
        unwind::contain(|| hook(me));
    }
}

/// Fading sums.
#[derive(Debug, Default)]
struct Recent {
    polls: u64,
    completed: u64,
}

impl Recent {
    fn add(&mut self, polls: u64, completed: u64) {
        self.polls = self.polls / 4 * 3 + polls;
        self.completed = self.completed / 4 * 3 + completed;
    }
}

pub(super) struct Worker<'a> {
    pub(super) context: &'a Context,
    pub(super) shared: Arc<Shared>,
    pub(super) me: usize,
    pub(super) random: Random,
    turn: u64,
    /// What is known of the other processors.
    pub(super) view: View,
    /// The request that is out, if one is.
    pub(super) request: Option<Request>,
    /// Since when others have been asked for fork-join jobs.
    pub(super) asked: Box<[Asked]>,
    /// The fork-join job that has been found, if one has.
    pub(super) stolen: Option<Stolen>,
    /// The steal that is on trial, if one is.
    pub(super) trial: Option<Trial>,
    polls_per_batch: u32,
    /// How many of the next batches are of a single poll.
    caution: u32,
    pub(super) mean_poll: u64,
    mean_wait: u64,
    /// Polls and completed tasks of the last batches, each counting three quarters of the one after
    /// it.
    recent: Recent,
    batches: u32,
    /// When it has last moved apart from another worker.
    pub(super) moved: u64,
    /// Whether it has looked where it is since its thread began.
    pub(super) has_looked_around: bool,
    /// Whether the tasks of this processor have been aborted.
    pub(super) aborted: bool,
    /// What the bell of [arrivals](crate::travel) had rung when it was last without work.
    pub(super) heard: u64,
}

impl<'a> Worker<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        let shared = context.shared().clone();
        let me = context.seat.me();
        Self {
            context,
            me,
            random: Random::new(me as u64),
            turn: Random::new(me as u64).next(),
            view: View::new(shared.processors.len()),
            request: None,
            asked: (0..shared.spares.end()).map(|_| Asked::default()).collect(),
            stolen: None,
            trial: None,
            polls_per_batch: 1,
            caution: 0,
            mean_poll: batch::BATCH,
            mean_wait: 0,
            recent: Recent::default(),
            batches: 0,
            moved: 0,
            has_looked_around: false,
            aborted: false,
            heard: 0,
            shared,
        }
    }

    /// The loop of every thread that has a processor. (The relief's is this one too, so that a poll
    /// is compiled into one loop: with two, a yield takes half a nanosecond longer.)
    pub(super) fn work(&mut self) {
        let mut relieving = Relieving::new(self.context.now.get());
        loop {
            let polls = self.batch();
            self.end_batch(polls);
            if self.context.is_relief() {
                if !self.relieve(&mut relieving) {
                    return;
                }
                continue;
            }
            if self.context.ready() == 0 && !self.has_jobs() && !self.find_work() {
                return;
            }
            if let Some(stolen) = self.stolen.take() {
                self.run_job(stolen);
            }
        }
    }

    /// Runs a fork-join job, and what it leaves in the deque.
    fn run_job(&mut self, stolen: Stolen) {
        self.offer_to_idle();
        let distance = self.context.distance(stolen.victim());
        self.context.switch(Doing::Running(distance), clock::now());
        let _away = Away::begin(self.context);
        stuck::look_after(&self.shared, stolen.victim());
        stolen.run(self.context);
        self.drain_jobs();
        self.context.switch(Doing::Running(Distance::Same), self.context.now.get());
    }

    /// Whether there is a closure for this worker, or for any.
    pub(super) fn any_errands(&self) -> bool {
        (!self.context.seat.processor().parts.is_empty() || !self.shared.errands.is_empty())
            && !self.context.is_relief()
    }

    /// Runs this worker's parts of broadcasts, and one errand: tasks come next.
    #[cold]
    pub(super) fn run_errands(&mut self) {
        self.offer_to_idle();
        let _away = Away::begin(self.context);
        broadcast::run_all(self.context);
        self.drain_scopes();
        errands::run_next(self.context);
        self.drain_scopes();
        self.context.now.set(clock::now());
    }

    /// Has whoever forks next wake a sleeper, and this worker publish its first fork if anybody is
    /// idle: in a recursion that forks a few times and then computes for long, whoever asked only
    /// then would wait.
    fn offer_to_idle(&self) {
        let counts = self.shared.idle.counts();
        if counts.sleeping > 0 {
            self.ask_for_jobs();
        }
        if counts.sleeping + counts.searching > 0 {
            self.context.seat.processor().deque.ask();
        }
    }

    /// Runs what is left in the deque, for about a batch: jobs that spawn jobs without end do not
    /// keep tasks waiting. Those of scopes are run in any case: the next task may wait for a lock
    /// that is held across the scope.
    #[cold]
    pub(super) fn drain_jobs(&mut self) {
        let end = clock::now().saturating_add(batch::BATCH);
        job::run_above_while(self.context, Level::FLOOR, || {
            self.context.scoped.get().is_some() || clock::now() < end
        });
        if !self.has_jobs() {
            // The worker may have taken the job itself, as a thief does.
            self.context.scoped.set(None);
        }
        // The next batch is not charged with it.
        self.context.now.set(clock::now());
    }

    /// The same, if jobs of scopes are among it.
    fn drain_scopes(&mut self) {
        if self.context.scoped.get().is_some() {
            self.drain_jobs();
        }
    }

    pub(super) fn has_jobs(&self) -> bool {
        self.context.seat.processor().deque.level() > Level::FLOOR
    }

    /// Polls until the batch is full or the queue is empty, or until something comes from outside,
    /// and gives the number of polls.
    #[inline(always)]
    pub(super) fn batch(&mut self) -> u32 {
        let context = self.context;
        let inbox = &context.seat.processor().inbox;
        let arrivals = &context.seat.processor().arrivals;
        // Most runtimes have none, and look once per batch.
        let visits = context.seat.has_visitors();
        let mut polls = 0;
        let mut wait = 0;
        while polls < self.polls_per_batch {
            if context.is_asked() {
                handover::answer(context, false);
            }
            let Some(entry) = context.seat.pop(visits) else {
                if visits && arrivals.has_rung() && context.seat.receive(context.now.get()) > 0 {
                    continue;
                }
                break;
            };
            if polls == 0 {
                // The first is the oldest, and at the beginning of a batch the clock is right.
                wait = context.now.get().saturating_sub(entry.since);
            }
            run::run(context, entry.task);
            polls += 1;
            if !inbox.is_empty() {
                break;
            }
        }
        if polls > 0 {
            self.mean_wait = policy::smooth(self.mean_wait, wait);
            context.counters().longest_wait.raise(wait);
        }
        polls
    }

    pub(super) fn end_batch(&mut self, polls: u32) {
        let context = self.context;
        let now = clock::now();
        let elapsed = now.saturating_sub(context.now.replace(now));
        self.shared.idle.come_unstuck(&context.seat.processor().absence);
        if polls > 0 {
            context.counters().polls.add(u64::from(polls));
            self.mean_poll = policy::smooth(self.mean_poll, elapsed / u64::from(polls));
            self.caution = batch::caution(self.caution, elapsed);
            self.polls_per_batch = if self.caution > 0 { 1 } else { batch::polls(self.mean_poll) };
            let published = &context.seat.processor().published;
            published.mean_poll.store(self.mean_poll, Ordering::Relaxed);
            published.mean_wait.store(self.mean_wait, Ordering::Relaxed);
            self.recent.add(u64::from(polls), context.take_completed());
            let work = batch::work(self.mean_poll, self.recent.polls, self.recent.completed);
            published.mean_work.store(work, Ordering::Relaxed);
        }
        if self.has_jobs() {
            // Tasks have spawned jobs into scopes, which nobody has taken.
            let _away = Away::begin(self.context);
            self.drain_jobs();
        }
        if self.any_errands() {
            self.run_errands();
        }
        self.end_trial(now);
        context.send_departed();
        self.take_in();
        if self.shared.phase() >= Phase::Aborting {
            self.abort_all();
        }
        if context.ready() > 0 {
            self.help(now);
            self.wake_for_backlog(now);
        }
        if self.shared.idle.counts().searching > 0 && context.seat.may_be_robbed() {
            context.fence(now);
        } else {
            context.unfence(now);
        }
        self.batches = self.batches.wrapping_add(1);
        if self.batches.is_multiple_of(TRIM) {
            context.trim();
        }
    }

    /// Bits that choose whom to look at: multiples of the golden ratio, which spread looks more
    /// evenly over the others than random bits do (Weyl; Knuth, "The Art of Computer Programming",
    /// 6.4).
    pub(super) fn next_turn(&mut self) -> u64 {
        self.turn = self.turn.wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.turn
    }

    /// Takes in what others have left, and what is due: timers, new and woken tasks, answers,
    /// complete tasks. Says whether there is anything to run, parts of broadcasts and errands among
    /// it.
    pub(super) fn take_in(&mut self) -> bool {
        let context = self.context;
        let processor = context.seat.processor();
        self.fire_own();
        if !processor.inbox.is_empty() {
            let since = processor.inbox.since();
            let mut woken = 0;
            for task in processor.inbox.take() {
                run::adopt(context, &task);
                context.seat.push(task, since.min(context.now.get()));
                woken += 1;
            }
            context.counters().wakes_outside.add(woken);
        }
        if processor.arrivals.is_in_use() {
            context.seat.receive(context.now.get());
        }
        if !processor.returned.is_empty() {
            run::take_back(context);
        }
        if self.request.is_some() && handover::receive(context).is_some() {
            self.request = None;
        }
        context.ready() > 0 || self.any_errands()
    }

    fn wake_for_backlog(&self, now: u64) {
        let counts = self.shared.idle.counts();
        if counts.sleeping == 0 {
            return;
        }
        let own = self.context.seat.processor().look(now, &mut 0);
        if waking::after_batch(&own, counts.sleeping, counts.searching) {
            self.shared.idle.wake_one();
        } else {
            // Whatever stays in this queue stays under the eyes of the watch.
            self.shared.idle.arm();
        }
    }

    /// Aborts the tasks that this processor has given birth to.
    pub(super) fn abort_all(&mut self) {
        if std::mem::replace(&mut self.aborted, true) {
            return;
        }
        run::take_back(self.context);
        for task in self.context.seat.registered() {
            super::wake::signal(task.live(), Signal::Abort);
        }
    }
}
