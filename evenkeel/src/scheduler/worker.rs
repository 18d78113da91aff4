//! A worker: the loop of a thread that runs a processor.
//!
//! Polls are made in batches of about [`batch::BATCH`](crate::policy::batch::BATCH). At the end of each
//! the worker reads the clock, empties its inbox, answers and makes requests, looks at one other
//! processor, and sees to it that its own backlog does not wait beside a sleeper.

use super::context::Context;
use super::handover::{self, Request};
use super::idle::{Counts, Watch};
use super::run;
use super::seat::Seat;
use super::shared::{Phase, Shared};
use crate::policy::helping::{self, Help};
use crate::policy::{self, Look, batch, searching, stealing, victim, waking};
use crate::primitives::atomic::Ordering;
use crate::primitives::random::Random;
use crate::primitives::{clock, spin};
use crate::task::report::TaskInfo;
use crate::task::state::Signal;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Batches between two looks at the size of the queue's buffer: some milliseconds.
const TRIM: u32 = 1_024;

/// Runs the processor of `seat` until its runtime is over.
pub(crate) fn work(seat: Seat) {
    let shared = seat.shared().clone();
    let me = seat.me();
    shared.idle.sit(me);
    call(&shared.hooks.worker_start, me);
    let context = Context::new(seat, clock::now());
    context.enter(|| Worker::new(&context).work());
    call(&shared.hooks.worker_stop, me);
    shared.note_left();
}

/// Calls a hook; the report of a panic is left to the process's panic hook.
fn call(hook: &Option<super::shared::WorkerHook>, me: usize) {
    if let Some(hook) = hook {
        let _ = catch_unwind(AssertUnwindSafe(|| hook(me)));
    }
}

struct Worker<'a> {
    context: &'a Context,
    shared: Arc<Shared>,
    me: usize,
    random: Random,
    /// The counts of switches at the last look, by processor.
    seen: Vec<u64>,
    request: Option<Request>,
    polls_per_batch: u32,
    mean_poll: u64,
    mean_wait: u64,
    batches: u32,
    /// Whether the tasks of this processor have been aborted.
    aborted: bool,
}

impl<'a> Worker<'a> {
    fn new(context: &'a Context) -> Self {
        let shared = context.shared().clone();
        let me = context.seat.me();
        Self {
            context,
            me,
            random: Random::new(me as u64),
            seen: vec![0; shared.processors.len()],
            shared,
            request: None,
            polls_per_batch: 1,
            mean_poll: batch::BATCH,
            mean_wait: 0,
            batches: 0,
            aborted: false,
        }
    }

    fn work(&mut self) {
        loop {
            let polls = self.batch();
            self.end_batch(polls);
            if self.context.ready() == 0 && !self.find_work() {
                return;
            }
        }
    }

    /// Polls until the batch is full or the queue is empty, and gives the number of polls.
    #[inline(always)]
    fn batch(&mut self) -> u32 {
        let context = self.context;
        let mut polls = 0;
        let mut wait = 0;
        while polls < self.polls_per_batch {
            if context.is_asked() {
                handover::answer(context, false);
            }
            let Some(entry) = context.seat.pop() else { break };
            wait = context.now.get().saturating_sub(entry.since);
            run::run(context, entry.task);
            polls += 1;
        }
        if polls > 0 {
            self.mean_wait = policy::smooth(self.mean_wait, wait);
            context.counters().longest_wait.raise(wait);
        }
        polls
    }

    fn end_batch(&mut self, polls: u32) {
        let context = self.context;
        let now = clock::now();
        let elapsed = now.saturating_sub(context.now.replace(now));
        if polls > 0 {
            context.counters().polls.add(u64::from(polls));
            self.mean_poll = policy::smooth(self.mean_poll, elapsed / u64::from(polls));
            self.polls_per_batch = batch::polls(self.mean_poll);
            let published = &context.seat.processor().published;
            published.mean_poll.store(self.mean_poll, Ordering::Relaxed);
            published.mean_wait.store(self.mean_wait, Ordering::Relaxed);
        }
        self.take_in();
        if self.shared.phase() >= Phase::Aborting {
            self.abort_all();
        }
        if context.ready() > 0 {
            self.help(now);
            self.wake_for_backlog(now);
        }
        self.batches = self.batches.wrapping_add(1);
        if self.batches % TRIM == 0 {
            context.seat.trim();
        }
    }

    /// Takes in what others have left: new and woken tasks, answers, complete tasks. Says whether
    /// there was anything to run.
    fn take_in(&mut self) -> bool {
        let context = self.context;
        let processor = context.seat.processor();
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
        if !processor.returned.is_empty() {
            run::take_back(context);
        }
        if self.request.is_some() && handover::receive(context).is_some() {
            self.request = None;
        }
        context.ready() > 0
    }

    /// Looks at one other processor and helps it if its work is much older.
    fn help(&mut self, now: u64) {
        let context = self.context;
        if let Some(request) = self.request {
            let answered = now.saturating_sub(request.since) < stealing::ANSWER
                || !handover::give_up(context, &request);
            if !answered {
                self.request = None;
                let switches = self.switches(request.victim);
                if handover::force(context, request.victim, switches != request.switches) > 0 {
                    context.counters().helps.add(1);
                }
            }
            return;
        }
        let neighbours = &self.shared.neighbours[self.me];
        let Some(other) = victim::pick(self.random.next(), &neighbours.others, neighbours.near)
        else {
            return;
        };
        let theirs = self.look(other, now);
        if !theirs.has_work() {
            return;
        }
        let mut seen = self.seen[self.me];
        let own = context.seat.processor().look(now, &mut seen);
        match helping::help(&own, &theirs) {
            Help::No => {}
            Help::Ask => self.request = handover::ask(context, other, now),
            Help::Take => {
                if handover::force(context, other, false) > 0 {
                    context.counters().helps.add(1);
                }
            }
        }
    }

    fn wake_for_backlog(&self, now: u64) {
        let counts = self.shared.idle.counts();
        if counts.sleeping == 0 {
            return;
        }
        let age = self.context.seat.processor().head_age(now);
        if waking::after_batch(self.context.ready(), age, counts.sleeping, counts.searching) {
            self.shared.idle.wake_one();
        }
    }

    fn look(&mut self, other: usize, now: u64) -> Look {
        self.shared.processors[other].look(now, &mut self.seen[other])
    }

    fn switches(&self, other: usize) -> u64 {
        self.shared.processors[other].published.switches.load(Ordering::Relaxed)
    }

    /// Searches and sleeps until there is something to run. False if the runtime is over.
    fn find_work(&mut self) -> bool {
        let awake = self.shared.processors.len();
        let mut searching = self.shared.idle.begin_search(|counts: Counts| {
            searching::may_search(counts.searching, awake - counts.sleeping)
        });
        loop {
            if searching {
                self.context.counters().searches.add(1);
                let found = self.search();
                let last = self.shared.idle.end_search();
                if found {
                    if last {
                        self.wake_next();
                    }
                    return true;
                }
            }
            match self.sleep() {
                Wakened::Work => return true,
                Wakened::Searcher => searching = true,
                Wakened::Over => return false,
            }
        }
    }

    /// Looks for work at the others, nearest first, until there is some or time is up.
    fn search(&mut self) -> bool {
        let start = clock::now();
        loop {
            let now = clock::now();
            self.context.now.set(now);
            if self.take_in() {
                return true;
            }
            let waited = now.saturating_sub(start);
            if self.steal_once(now, waited) {
                self.context.counters().steals.add(1);
                return true;
            }
            if waited >= searching::SEARCH || self.must_stop_searching() {
                return false;
            }
            for _ in 0..8 {
                spin::pause();
            }
        }
    }

    fn must_stop_searching(&self) -> bool {
        match self.shared.phase() {
            Phase::Running | Phase::Draining => false,
            Phase::Aborting => !self.aborted,
            Phase::Over => true,
        }
    }

    /// Goes round the others once: the near ones from a random one on, then the rest.
    fn steal_once(&mut self, now: u64, waited: u64) -> bool {
        let shared = self.shared.clone();
        let neighbours = &shared.neighbours[self.me];
        let (near, far) = neighbours.others.split_at(neighbours.near);
        for group in [near, far] {
            let start = (self.random.next() % group.len().max(1) as u64) as usize;
            for other in group[start..].iter().chain(&group[..start]) {
                let look = self.look(*other, now);
                if stealing::steal(&look, waited) && self.steal(*other, now) {
                    return true;
                }
            }
        }
        false
    }

    fn steal(&mut self, other: usize, now: u64) -> bool {
        let context = self.context;
        if self.request.is_some() {
            return false;
        }
        if self.shared.processors[other].published.ready.load(Ordering::Relaxed) == 0 {
            return handover::force(context, other, false) > 0;
        }
        let Some(request) = handover::ask(context, other, now) else { return false };
        if !handover::await_answer(context, &request) && handover::give_up(context, &request) {
            let switched = self.switches(other) != request.switches;
            return handover::force(context, other, switched) > 0;
        }
        match handover::receive(context) {
            Some(count) => count > 0,
            None => {
                // The victim has taken the request and is about to answer.
                self.request = Some(request);
                false
            }
        }
    }

    /// The last searcher has found work: if there is more, the next one is woken.
    fn wake_next(&self) {
        let now = self.context.now.get();
        let more = self.context.ready() >= 2 || self.worth_staying(now);
        if more && self.shared.idle.counts().sleeping > 0 {
            self.shared.idle.wake_one();
        }
    }

    fn worth_staying(&self, now: u64) -> bool {
        let mut others = self.shared.neighbours[self.me].others.iter();
        others.any(|&other| {
            let look = self.shared.processors[other].look(now, &mut 0);
            waking::before_sleep(&look)
        })
    }

    fn sleep(&mut self) -> Wakened {
        let shared = self.shared.clone();
        let idle = &shared.idle;
        self.context.seat.trim();
        idle.announce(self.me);
        self.context.counters().sleeps.add(1);
        let mut slept = 0;
        loop {
            let cancelled = if let Some(wakened) = self.last_look() {
                Some(wakened)
            } else {
                let limit = self.watch(&mut slept);
                if idle.sleep(self.me, limit) {
                    self.context.now.set(clock::now());
                    return Wakened::Searcher;
                }
                if limit.is_some() {
                    self.context.counters().watches.add(1);
                }
                None
            };
            if let Some(wakened) = cancelled {
                let still_mine = idle.cancel(self.me);
                if !still_mine {
                    // Woken meanwhile, and counted as a searcher.
                    return if wakened == Wakened::Over {
                        idle.end_search();
                        Wakened::Over
                    } else {
                        Wakened::Searcher
                    };
                }
                return wakened;
            }
        }
    }

    /// The look between the announcement and the sleep.
    fn last_look(&mut self) -> Option<Wakened> {
        let now = clock::now();
        let processor = self.context.seat.processor();
        match self.shared.phase() {
            Phase::Running => {}
            Phase::Over => {
                run::discard(&self.shared);
                return Some(Wakened::Over);
            }
            Phase::Draining | Phase::Aborting => {
                run::take_back(self.context);
                if self.shared.all_complete() {
                    self.shared.advance(Phase::Over);
                    run::discard(&self.shared);
                    return Some(Wakened::Over);
                }
                if self.shared.phase() == Phase::Aborting && !self.aborted {
                    return Some(Wakened::Work);
                }
            }
        }
        if !processor.inbox.is_empty()
            || processor.gift.is_ready()
            || !processor.returned.is_empty()
        {
            return Some(Wakened::Work);
        }
        // A searcher makes the same look before it sleeps, so there is no need to compete with it.
        if self.shared.idle.counts().searching == 0 && self.worth_staying(now) {
            return Some(Wakened::Work);
        }
        None
    }

    /// How long to sleep, by whether this sleeper is the watch.
    fn watch(&self, slept: &mut u64) -> Option<Duration> {
        let idle = &self.shared.idle;
        let mut watch = idle.watch(self.me);
        if watch == Watch::AllAsleep {
            // Whoever is woken after the second look sees that the watch is not armed.
            idle.set_armed(false);
            watch = idle.watch(self.me);
        }
        if watch != Watch::Duty {
            return None;
        }
        idle.set_armed(true);
        *slept = waking::next_watch(*slept);
        Some(Duration::from_nanos(*slept))
    }

    /// Aborts the tasks that this processor has given birth to.
    fn abort_all(&mut self) {
        if std::mem::replace(&mut self.aborted, true) {
            return;
        }
        run::take_back(self.context);
        let mut infos = Vec::new();
        for task in self.context.seat.registered() {
            if !task.state.load().is_complete() {
                infos.push(TaskInfo::of(task.live()));
                super::wake::signal(task.live(), Signal::Abort);
            }
        }
        self.shared.note_aborted(infos);
    }
}

/// What has ended a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wakened {
    /// There may be work.
    Work,
    /// Somebody has woken this processor, and counts it as a searcher.
    Searcher,
    /// The runtime is over.
    Over,
}
