//! A worker's loop.
//!
//! The worker polls in batches of about [`batch::BATCH`], or of [a few requests](batch::SERVING).
//! At the end of each batch it reads the clock, empties its inbox, answers and makes requests,
//! looks at one other processor if it is [time](super::help), and wakes a sleeper if its own
//! backlog is worth it. Without work it [searches](super::search), then [sleeps](super::sleep).

use super::away::Away;
use super::broadcast;
use super::errands;
use super::handover;
use super::job::{self, Stolen};
use super::relief::Relieving;
use super::run;
use super::wake;
use super::worker::{Left, Worker};
use crate::deque::Level;
use crate::policy::{batch, overtaking, waking};
use crate::primitives::atomic::Ordering;
use crate::primitives::{clock, unwind};
use crate::processor::context::Context;
use crate::processor::meter::Doing;
use crate::processor::seat::Seat;
use crate::processor::shared::{Phase, WorkerHook};
use crate::queue::ring::Entry;
use crate::raw_task::header::Header;
use crate::raw_task::state::Signal;
use crate::topology::Distance;
use std::ptr;

/// Runs the processor of `seat` until its runtime is over.
pub(crate) fn work(seat: Seat) {
    let shared = seat.shared().clone();
    let me = seat.me();
    shared.idle.sit(me);
    let _left = Left { shared: &shared, is_worker: true };
    let context = Context::new(seat, clock::now());
    context.switch(Doing::Running(Distance::Same), context.now.get());
    context.enter(|| {
        let mut worker = Worker::new(&context);
        call(&shared.hooks.worker_start, me);
        shared.watch_for_stalls();
        worker.work();
        worker.stop();
    });
    context.switch(Doing::Asleep, clock::now());
}

/// Calls a hook; the process's panic hook reports a panic.
pub(super) fn call(hook: &Option<WorkerHook>, me: usize) {
    if let Some(hook) = hook {
        unwind::contain(|| hook(me));
    }
}

impl<'a> Worker<'a> {
    /// Runs the loop of a thread that has a processor. (A relief and a driver use it too, so that a
    /// poll is compiled into one loop: with two, a yield takes half a nanosecond longer.)
    pub(super) fn work(&mut self) {
        let mut relieving = Relieving::new(self.context.now.get());
        loop {
            let polls = self.batch();
            self.end_batch(polls);
            if !self.context.has_place() {
                if self.context.is_relief() {
                    if !self.relieve(&mut relieving) {
                        return;
                    }
                    continue;
                }
                if self.is_to_leave() {
                    return;
                }
            }
            if self.context.ready() == 0
                && !self.has_jobs()
                && !self.end_keeping()
                && !self.may_look_at_sockets()
                && !self.find_work()
            {
                return;
            }
            if let Some(stolen) = self.stolen.take() {
                self.run_job(stolen);
            }
        }
    }

    /// Calls the hook for the end of the loop. If the runtime is over, there is no other loop for
    /// the jobs that the hook leaves in the deque. It leaves nothing else: tasks are cancelled as
    /// they are spawned, and errands and parts are refused.
    pub(super) fn stop(&mut self) {
        call(&self.shared.hooks.worker_stop, self.me);
        while self.shared.phase() == Phase::Over && self.has_jobs() {
            self.drain_jobs();
        }
    }

    /// Runs a fork-join job, and the jobs that it leaves in the deque.
    fn run_job(&mut self, stolen: Stolen) {
        self.offer_to_idle();
        let distance = self.context.distance(stolen.victim());
        self.context.switch(Doing::Running(distance), clock::now());
        let _away = self.leave_for(stolen.victim());
        stolen.run(self.context);
        self.drain_jobs();
        self.context.switch(Doing::Running(Distance::Same), self.context.now.get());
    }

    /// Counts the worker as away while it runs a job of `victim`, and asks the lookout to look at
    /// that worker.
    pub(super) fn leave_for(&self, victim: usize) -> Away<'a> {
        let away = Away::begin(self.context);
        self.shared.look_after(victim);
        away
    }

    /// Runs this worker's parts of broadcasts, and errands for about a batch: a turn of the whole
    /// loop costs more than a short errand. Tasks and jobs go before the next errand.
    #[cold]
    pub(super) fn run_errands(&mut self) {
        let _away = Away::begin(self.context);
        self.out_after = u64::MAX;
        let end = self.context.now.get().saturating_add(batch::BATCH);
        loop {
            self.offer_to_idle();
            broadcast::run_all(self.context);
            self.drain_scopes();
            let is_any = errands::run_next(self.context);
            self.drain_scopes();
            self.context.now.set(clock::now());
            if !is_any || !self.may_go_on(end) {
                return;
            }
        }
    }

    /// Returns whether the worker may run another errand at once, before `end`.
    fn may_go_on(&self, end: u64) -> bool {
        self.context.now.get() < end
            && self.context.ready() == 0
            && self.context.seat.processor().inbox.is_empty()
            && !self.has_jobs()
            // In a deterministic run no step goes by the machine's time.
            && !self.shared.hooks.deterministic
    }

    /// Asks all workers, if there is a sleeper, to wake one at their next fork, and this worker, if
    /// any worker is idle, to publish its first fork. In a recursion that forks a few times and
    /// then computes for long, a thief that asks only then would wait.
    fn offer_to_idle(&self) {
        let counts = self.shared.idle.counts();
        if counts.sleeping > 0 {
            self.ask_for_jobs();
        }
        if counts.sleeping + counts.searching > 0 {
            self.context.seat.processor().deque.ask();
        }
    }

    /// Runs the jobs left in the deque, for about a batch: jobs that spawn jobs without end do not
    /// keep tasks waiting. Jobs of scopes run in any case: the next task may wait for a lock that
    /// is held across the scope.
    #[cold]
    pub(super) fn drain_jobs(&mut self) {
        self.out_after = u64::MAX;
        let end = clock::now().saturating_add(batch::BATCH);
        job::run_above_while(self.context, Level::FLOOR, || {
            self.context.forks.has_scoped() || clock::now() < end
        });
        if !self.has_jobs() {
            // The worker may have taken the job itself, as a thief does.
            self.context.forks.forget_scoped(Level::FLOOR);
        }
        // The time of the jobs does not count as the next batch's.
        self.context.now.set(clock::now());
    }

    /// Does the same, if there are jobs of scopes among the jobs.
    fn drain_scopes(&mut self) {
        if self.context.forks.has_scoped() {
            self.drain_jobs();
        }
    }

    /// Polls until the batch is full, the queue is empty, or the inbox has a task. Returns the
    /// number of polls.
    #[inline(always)]
    pub(super) fn batch(&mut self) -> u32 {
        let context = self.context;
        context.seat.processor().published.batch.store(context.now.get(), Ordering::Relaxed);
        if self.pace.caution > 0 {
            return self.batch_of_one();
        }
        let inbox = &context.seat.processor().inbox;
        let arrivals = &context.seat.processor().arrivals;
        // Most runtimes have no visitors, and check that once per batch.
        let visits = context.seat.has_visitors();
        let mut polls = 0;
        let mut wait = 0;
        while polls < self.pace.polls_per_batch {
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
                // The first task is the oldest, and at the beginning of a batch the clock is right.
                wait = context.now.get().saturating_sub(entry.since);
            }
            run::run(context, entry.task);
            polls += 1;
            if !inbox.is_empty() {
                break;
            }
        }
        if polls > 0 {
            self.note_wait(wait);
        }
        polls
    }

    #[inline(always)]
    fn note_wait(&mut self, wait: u64) {
        self.pace.learn_wait(wait);
        self.context.counters().longest_wait.raise(wait);
    }

    /// Makes a batch of a single poll, while long polls come up. Returns the number of polls.
    ///
    /// Apart from the other batches: a look at what is needed here alone would cost each of their
    /// polls a nanosecond.
    #[cold]
    #[inline(never)]
    fn batch_of_one(&mut self) -> u32 {
        let context = self.context;
        if context.is_asked() {
            handover::answer(context, false);
        }
        let Some(entry) = self.pop_one() else { return 0 };
        let wait = context.now.get().saturating_sub(entry.since);
        self.pace.polled = Some(entry.task.kind());
        run::run(context, entry.task);
        self.note_wait(wait);
        1
    }

    /// Returns how long a batch of a few polls is meant to last.
    #[inline(always)]
    fn span(&self) -> u64 {
        let serves = self.context.seat.processor().published.serves.load(Ordering::Relaxed);
        batch::span(serves, self.shared.workers - 1)
    }

    fn pop_one(&self) -> Option<Entry> {
        let seat = &self.context.seat;
        let visits = seat.has_visitors();
        // Visitors go by age. Where tasks have ever travelled, `visits` stays set.
        let has_visitors = visits
            && (seat.processor().published.visitors.len() > 0
                || seat.processor().arrivals.has_rung());
        // Where the clock stands, a test relies on the order.
        if !has_visitors && self.pace.lengths.lets_overtake() && !self.shared.clock.stands() {
            let is_long = |task: &Header| self.pace.lengths.is_long(task.kind());
            return seat.pop_overtaking(overtaking::FARTHEST, is_long);
        }
        if let Some(entry) = seat.pop(visits) {
            return Some(entry);
        }
        let has_rung = visits && seat.processor().arrivals.has_rung();
        if has_rung && seat.receive(self.context.now.get()) > 0 { seat.pop(visits) } else { None }
    }

    pub(super) fn end_batch(&mut self, polls: u32) {
        let context = self.context;
        let now = clock::now();
        let elapsed = now.saturating_sub(context.now.replace(now));
        if self.shared.idle.come_unstuck(&context.seat.processor().absence) {
            self.shared.watch_for_stalls();
        }
        if polls > 0 {
            // What follows is no poll of the batch's last task.
            context.seat.processor().published.polled.store(ptr::null_mut(), Ordering::Relaxed);
            context.counters().polls.add(u64::from(polls));
            context.counters().longest_batch.raise(elapsed);
            self.pace.learn(elapsed, polls, context.take_completed(), self.span());
            let published = &context.seat.processor().published;
            published.mean_poll.store(self.pace.mean_poll, Ordering::Relaxed);
            published.mean_wait.store(self.pace.mean_wait, Ordering::Relaxed);
            published.mean_work.store(self.pace.mean_work(), Ordering::Relaxed);
        }
        if self.has_jobs() {
            // Tasks have spawned jobs into scopes, and no thief has taken them.
            let _away = Away::begin(self.context);
            self.drain_jobs();
        }
        if self.any_errands() {
            self.run_errands();
        }
        self.end_trial(now);
        self.tend_gathering(now);
        self.tend_mark(now);
        context.send_departed();
        self.tend_sockets(now);
        self.take_in();
        if self.shared.phase() >= Phase::Aborting {
            self.abort_all();
        }
        self.tend_keep(now);
        if context.ready() > 0 {
            self.help(now);
            self.wake_for_backlog(now);
        }
        if self.shared.idle.counts().searching > 0 && context.seat.may_be_robbed() {
            context.fence(now);
        } else {
            context.unfence(now);
        }
        if self.pace.count_batch() {
            context.trim();
        }
    }

    /// Fires due timers, and takes in new and woken tasks, answers and complete tasks. Returns
    /// whether there is anything to run, including parts of broadcasts and errands.
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
        if processor.bell.has_rung() {
            self.answer_bell();
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
        self.has_any() || self.any_errands()
    }

    fn wake_for_backlog(&self, now: u64) {
        let counts = self.shared.idle.counts();
        if counts.sleeping == 0 {
            return;
        }
        let own = self.context.seat.processor().look(now, &mut 0);
        if waking::after_batch(&own, counts.sleeping, counts.searching) {
            self.shared.wake_one();
        } else {
            // The tasks stay in this queue; the watch looks at them.
            self.shared.arm();
        }
    }

    /// Aborts the tasks in the registry of this processor.
    pub(super) fn abort_all(&mut self) {
        if std::mem::replace(&mut self.aborted, true) {
            return;
        }
        run::take_back(self.context);
        for task in self.context.seat.registered() {
            wake::signal(task.live(), Signal::Abort);
        }
    }
}
