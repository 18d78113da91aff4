//! The relief: who polls tasks while the workers are inside fork-join.
//!
//! A worker cannot poll a task on top of a frame that forks: the task might wait for a lock that
//! the frame holds. So a worker that computes for long keeps its tasks waiting; the others take
//! them over, unless they compute too. Then the *relief* does: a processor with a thread of its
//! own, which the system's scheduler puts beside the workers.
//!
//! # Roles
//! A worker is *away* while it runs, from its loop, an errand, a part of a broadcast or a job; and
//! from when the relief finds it [stuck](super::stuck), inside a long poll that forks, until the
//! batch of that poll ends. The *relief* rests unless it is called. Whoever makes a task ready is a
//! *pusher*, as in [`idle`](crate::idle). The relief takes no part in fork-join: a task that forks
//! on it runs both halves one after the other, because all workers that it might have to wait for
//! might wait for a lock which the task holds. Its deque is always full.
//!
//! # Protocol
//! *Push*: the task becomes visible; a full fence; a look at the word of `idle`. If it says that
//! all are away, or if the task came from outside, its processor's worker is away and nobody
//! sleeps, the pusher calls. *Going away*: the worker counts itself in, by a locked instruction on
//! that word; it looks at its own queue and, if it was the last, at every other. If there is
//! anything in its own it wakes a sleeper; if nobody sleeps, or others have something, it calls.
//! *Finding a worker stuck*: the relief counts it in, in the same way. If there is anything in that
//! worker's queue it wakes a sleeper; if nobody sleeps it goes on as if it had been called.
//! *Looking* for such is a protocol of its own: [`stuck`](super::stuck). *Calling*: `called :=
//! true`, by an exchange. Who finds it false unparks the relief or, the first time, starts its
//! thread. *Relieving*: if all are away, or it has been called and nobody sleeps, the relief takes
//! the queues and inboxes of those that are away by force. It polls. It leaves its tasks to the
//! workers once one has been back for a while. *Leaving*: a pusher from outside whose call would
//! follow leaves its task in the inbox of the relief itself, if that runs; then it calls. *Timers*
//! of workers that are away it fires, and rests until the next is due, or until it is to look
//! again: [`timers`](crate::timers) says who calls it for those. *Resting*: it clears `called`, by
//! an exchange; a full fence; it looks at its inbox and, if all are away, at every queue, and goes
//! on if there is anything.
//!
//! # Why no task waits
//! *Pusher and last worker to go away* form Dekker's pattern, queue against word: the pusher sees
//! that all are away, or the worker sees the task. Where the relief counts the last worker in, it
//! looks itself. It takes the queues of a stuck worker by force, as those of others; what that
//! worker polls is in none of them. If not all are away, one of them is in its loop, or in a poll,
//! and the rules of `idle` hold. *Pusher and relief*: both change `called` by a read-modify-write.
//! A pusher that finds it set comes before the relief clears it, and so before the relief's look.
//! The calls for one worker of several that is away are no part of this: they save a task the time
//! until another comes for it. If the system refuses the thread, `called` stays set, and nobody
//! calls or leaves anything any more: tasks wait for a worker to be back.
//!
//! # What is lost
//! A task that forks for long may be the one that the relief takes. Then it runs on one core,
//! though workers come back and have nothing to do, and for so long the relief is in no place to
//! poll others, to fire timers, or to look. Tasks that it has taken before are taken from it by
//! workers that are back, as from any processor in a long poll. What it has begun to poll stays.
//!
//! # Rejected
//! A deque of its own from which workers steal, as a [spare](super::spare) has: a relief that waits
//! for a stolen half polls nobody, as in any long poll, but with nothing on its core. Polling tasks
//! at forks: see above. A search for them between two jobs that a waiting worker runs: the same. A
//! timer: who is woken would wait for it. To leave it tasks whose worker is in its loop, while it
//! is awake: a trace of `evenkeel-bench run --bench mixed` showed no long wait of those. A thread
//! from the start: most runtimes poll tasks or compute, and need none.

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

/// Runs the relief's processor until its runtime is over.
pub(crate) fn work(shared: Arc<Shared>) {
    shared.idle.begin_relief();
    let _left = Left(&shared);
    let context = Context::new(Seat::of_relief(&shared), clock::now());
    context.switch(Doing::Running(Distance::Same), context.now.get());
    context.enter(|| Worker::new(&context).work());
    context.switch(Doing::Asleep, clock::now());
}

/// What the relief knows from one batch to the next.
pub(super) struct Relieving {
    backoff: Backoff,
    /// When all were away last, or the relief was called.
    away: u64,
    /// Whether it was called before it rested last, but for naps between two looks.
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
    /// What the relief does between two batches. False if the runtime is over.
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
            // Who has work may keep it locked, if the system has preempted its worker.
            relieving.backoff.snooze();
        } else {
            return false;
        }
        true
    }

    /// Fires the timers of those that are away and, if it is to, `takes` what is ready there. Says
    /// whether there is anything to poll.
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

    /// Leaves what is ready to the workers that are back, in turn.
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

    /// Rests until it is called, or is to look or to fire a timer. False if the runtime is over.
    fn rest(&mut self, relieving: &mut Relieving) -> bool {
        self.context.trim();
        self.withdraw();
        self.shared.idle.announce_rest();
        match self.look_home() {
            Some(Wakened::Over) => return false,
            Some(_) => {}
            None if self.shared.idle.counts().all_away && self.any_other(Look::has_work) => {}
            None => {
                // Who was called for a timer and comes when a worker is back waits for it all the
                // same: errands that follow one another closely would call again and again. Naps
                // between two looks are parts of that wait.
                let all_away = self.shared.idle.counts().all_away;
                let look = relieving.lookout.due(&self.shared.idle);
                let limit = self.rest_limit(all_away || relieving.called, look);
                self.context.switch(Doing::Asleep, clock::now());
                self.context.counters().sleeps.add(1);
                let is_called = self.shared.idle.rest(limit);
                relieving.called = is_called || (relieving.called && look.is_some());
                relieving.is_called = is_called;
                self.context.counters().wake_ups.add(1);
                self.context.switch(Doing::Running(Distance::Same), clock::now());
            }
        }
        true
    }
}

#[cfg(all(test, loom))]
mod model;
