//! Sleeping: what a worker does when its search has found nothing.

use super::handover;
use super::job;
use super::run;
use super::worker::Worker;
use crate::detect;
use crate::idle::Watch;
use crate::policy::{Look, waking};
use crate::primitives::atomic::{Edge, Ordering};
use crate::primitives::{clock, fence};
use crate::processor::meter::Doing;
use crate::processor::shared::Phase;
use std::time::Duration;

/// The end of a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wakened {
    /// There may be work.
    Work,
    /// Another thread has woken this processor, and counted it as a searcher.
    Searcher,
    /// The runtime is over.
    Over,
}

/// What a sleeper keeps from one round of the watch to the next.
#[derive(Debug, Default)]
struct Rounds {
    /// The length of its last sleep.
    slept: u64,
    /// What [`Idle::watch`](crate::idle::Idle::watch) has seen.
    seen: Option<u64>,
}

impl Worker<'_> {
    /// Returns whether `worth` holds for the look of any other processor.
    pub(super) fn any_other(&self, worth: fn(&Look) -> bool) -> bool {
        let now = self.context.now.get();
        let shared = &self.shared;
        let mut others = shared.other_workers(self.me).chain(shared.other_reliefs(self.me));
        others.any(|other| worth(&shared.processors[other].look(now, &mut 0)))
    }

    /// Sleeps until there may be work, by the protocol of [`idle`](crate::idle).
    pub(super) fn sleep(&mut self) -> Wakened {
        let idle = &self.context.shared().idle;
        self.context.trim();
        if detect::look_again() {
            // The hook may have made a task ready.
            return Wakened::Work;
        }
        self.withdraw();
        self.announce();
        self.context.counters().sleeps.add(1);
        self.context.seat.processor().cpu.leave();
        let wakened = self.sleep_until_woken();
        // The lookout wakes a sleeper that it has counted as stuck too late.
        idle.come_unstuck(&self.context.seat.processor().absence);
        if idle.has_lost_watch() {
            self.shared.watch();
        }
        self.shared.watch_for_stalls();
        let serves = self.has_served();
        self.context.seat.processor().published.serves.store(serves, Ordering::Relaxed);
        if self.has_sockets() {
            // The next poll may last, and nothing but the lookout sees to the sockets then.
            self.shared.watch();
        }
        self.context.switch(Doing::Searching, self.context.now.get());
        wakened
    }

    /// Announces the sleep and asks for jobs, up to and including the fences. The last look has to
    /// follow.
    pub(super) fn announce(&self) {
        let idle = &self.context.shared().idle;
        idle.announce(self.me);
        // After the announcement, and before the last look.
        idle.come_unstuck(&self.context.seat.processor().absence);
        self.context.switch(Doing::Asleep, self.read_clock());
        self.ask_for_jobs();
        // A victim that puts a job into its overflow sees the request, or this worker sees the job.
        fence::full(Edge::DequeAsked);
    }

    /// Reads the clock: once before a sleep and once after it, for all that is done there.
    fn read_clock(&self) -> u64 {
        let now = clock::now();
        self.context.now.set(now);
        now
    }

    /// Sleeps. The caller has announced it.
    fn sleep_until_woken(&mut self) -> Wakened {
        let idle = &self.context.shared().idle;
        let (mut rounds, mut is_left) = (Rounds::default(), false);
        let reason = loop {
            if let Some(reason) = self.last_look() {
                break reason;
            }
            let watch = self.watch(&mut rounds);
            let limit = self.bound_sleep(self.sleep_limit(watch));
            if limit == Some(Duration::ZERO) || self.shared.move_clock_if_stands(Some(self.me)) {
                break Wakened::Work;
            }
            let begun = self.context.now.get();
            let slept = idle.sleep(self.me, limit, self.shared.clock.stands());
            let now = self.read_clock();
            self.out_since = now;
            // No sender takes the sleep for a long batch.
            self.context.seat.processor().published.batch.store(now, Ordering::Relaxed);
            self.context.counters().wake_ups.add(1);
            if slept.is_woken || !slept.ready.is_empty() {
                let is_searcher = slept.is_woken || !idle.cancel(self.me);
                // The wakers may be a caller's, and block: then only the lookout sees it.
                if !slept.ready.is_empty() {
                    self.shared.watch();
                }
                // Awake: a pusher that counts as a sleeper wakes itself, by a system call.
                if slept.ready.wake() {
                    self.note_sleep(now.saturating_sub(begun));
                }
                return if is_searcher { Wakened::Searcher } else { Wakened::Work };
            }
            if watch.is_some() {
                self.context.counters().watches.add(1);
                is_left = self.is_to_fire_for_others(now) || self.is_to_look_for_others(now);
                self.is_to_search = self.any_other(waking::after_watch);
                if is_left || self.is_to_search || self.any_jobs() {
                    break Wakened::Work;
                }
            }
        };
        let is_cancelled = idle.cancel(self.me);
        if is_left {
            // Awake: a push beside a sleeper asks for no other thread. And the wakers may be a
            // caller's, and block: then only the lookout sees it.
            self.shared.watch();
            let now = self.context.now.get();
            let _is_any = self.fire_for_others(now) | self.look_for_others(now);
        }
        if is_cancelled {
            return reason;
        }
        // Another thread has woken this processor meanwhile and counted it as a searcher.
        if reason == Wakened::Over {
            idle.end_search();
            return Wakened::Over;
        }
        Wakened::Searcher
    }

    /// Returns whether another worker has fork-join jobs that this one may steal or seize.
    pub(super) fn any_jobs(&self) -> bool {
        let seizable = fence::is_asymmetric();
        self.shared.hosts(self.me).any(|other| {
            let deque = &self.shared.processor(other).deque;
            (deque.has_public() || (seizable && deque.has_private()))
                && job::may_take(self.context, other, u64::MAX)
        })
    }

    /// Asks every victim for fork-join jobs: the next victim that forks wakes a sleeper. The
    /// worker's announcement, with its fence, comes before the request. So a victim that takes the
    /// request sees the sleeper: [`publish`](crate::deque::Deque::publish) says why.
    pub(super) fn ask_for_jobs(&self) {
        for other in self.shared.hosts(self.me) {
            self.shared.processor(other).deque.ask();
        }
    }

    /// Withdraws a pending request, so that a sleeper does not block the victim's word. If the
    /// victim has taken the request, it answers, and the answer wakes this processor.
    pub(super) fn withdraw(&mut self) {
        if self.request.is_some_and(|request| handover::give_up(self.context, &request)) {
            self.request = None;
        }
    }

    /// Takes the last look, between the announcement and the sleep.
    pub(super) fn last_look(&mut self) -> Option<Wakened> {
        if let Some(reason) = self.look_home() {
            return Some(reason);
        }
        if !self.any_other(waking::before_sleep) && !self.any_jobs() {
            return None;
        }
        if self.shared.idle.counts().searching == 0 {
            return Some(Wakened::Work);
        }
        // A searcher takes the same look before it sleeps, so there is no need to compete with it.
        // But a caller's waker may block it: then the watch finds what lies there.
        self.shared.arm();
        None
    }

    /// Takes the part of the last look that concerns this processor alone.
    pub(super) fn look_home(&mut self) -> Option<Wakened> {
        let processor = self.context.seat.processor();
        match self.shared.phase() {
            Phase::Running => {}
            Phase::Over => return Some(Wakened::Over),
            Phase::Draining | Phase::Aborting => {
                run::take_back(self.context);
                // Of two workers that count at the same time, one has to see what the other has
                // just counted.
                fence::full(Edge::IdleCounted);
                if self.shared.close_if_complete() {
                    self.shared.advance(Phase::Over);
                    return Some(Wakened::Over);
                }
                if self.shared.phase() == Phase::Aborting && !self.aborted {
                    return Some(Wakened::Work);
                }
            }
        }
        if !processor.inbox.is_empty()
            || self.any_errands()
            || processor.bell.has_rung()
            || processor.gift.is_ready()
            || !processor.returned.is_empty()
            || processor.arrivals.look_before_sleep()
            || self.is_to_leave()
            // Wakers have spawned them since the batch; only this worker pushes them, so it sees
            // them without a fence.
            || self.has_jobs()
        {
            return Some(Wakened::Work);
        }
        None
    }

    /// Returns the length of the next sleep in nanoseconds, if this sleeper is the watch.
    fn watch(&self, rounds: &mut Rounds) -> Option<u64> {
        if self.shared.idle.watch(self.me, &mut rounds.seen) != Watch::Duty {
            return None;
        }
        rounds.slept = waking::next_watch(rounds.slept);
        Some(rounds.slept)
    }
}

#[cfg(all(test, loom))]
mod model;
