//! Whether a simulated worker's quick tasks run on one processor or on two: trials of thieves, and
//! workers that give their tasks to another. It follows the real workers, and calls the same
//! [policy](evenkeel_policy::together).

use super::load::Load;
use super::machine::{Entry, Machine};
use evenkeel_policy::together::{self, Mark, Past};
use evenkeel_policy::{Look, stealing};
use std::mem;

/// What a worker keeps of its trials, and of what it gives and gets.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    step: Step,
    /// When the next step is due.
    next: u64,
    past: Past,
    trial: Option<Trial>,
    /// The trials in a row in which a steal from a processor has not paid.
    failed: Vec<u32>,
    marked: Marked,
}

/// What a giver does at its next step.
#[derive(Debug, Default)]
enum Step {
    /// It begins to count.
    #[default]
    Apart,
    /// It ends the count of its polls and those of this worker, and gives that one its tasks.
    Counts(usize, Polls),
    /// It gives this worker the tasks that have come since.
    Gathered(usize),
}

/// The polls of two workers at a time.
#[derive(Clone, Copy, Debug)]
struct Polls {
    since: u64,
    own: u64,
    others: u64,
}

/// A steal on trial.
#[derive(Debug)]
struct Trial {
    victim: usize,
    /// The victim's mean poll before the steal.
    before: u64,
    until: u64,
    polls: Polls,
}

/// The polls under a mark on the worker's own queue.
#[derive(Debug, Default)]
struct Marked {
    until: u64,
    since: u64,
    polls: u64,
    /// The nanoseconds per poll in the time before.
    before: u64,
}

impl<L: Load> Machine<L> {
    /// Takes the steps of worker `me` that are due at the end of a batch.
    pub(crate) fn tend_gathering(&mut self, me: usize, now: u64) {
        let gathering = &mut self.processors[me].gathering;
        if let Some(trial) = gathering.trial.take_if(|trial| trial.until <= now) {
            self.judge_trial(me, &trial, now);
        }
        if now >= self.processors[me].gathering.next {
            self.gather(me, now);
        }
        self.tend_mark(me, now);
    }

    /// Begins a trial if the tasks that `me` has stolen are quick: `victim` looked like `before`.
    pub(crate) fn begin_trial(&mut self, me: usize, victim: usize, before: &Look, now: u64) {
        if self.gathers && together::is_trial(before) {
            let polls = self.begin_polls(me, victim, now);
            let until = now + together::TRIAL;
            let trial = Trial { victim, before: before.mean_poll, until, polls };
            self.processors[me].gathering.trial = Some(trial);
        }
    }

    /// Ends a trial without a result.
    pub(crate) fn end_trial(&mut self, me: usize) {
        self.processors[me].gathering.trial = None;
    }

    fn judge_trial(&mut self, me: usize, trial: &Trial, now: u64) {
        let victim = trial.victim;
        if !self.look(me, victim, now).switched {
            // The victim stands still or sleeps: there is nothing to compare with.
            return;
        }
        let (own, theirs) = self.mean_polls(me, victim, &trial.polls, now);
        let processors = self.processors.len();
        let failed = &mut self.processors[me].gathering.failed;
        failed.resize(processors, 0);
        let mark = together::judge(trial.before, own, theirs, now, failed[victim]);
        failed[victim] = if mark.is_none() { 0 } else { failed[victim].saturating_add(1) };
        if let Some(mark) = mark {
            self.processors[victim].mark = mark;
            self.give_to(me, victim, now);
        }
    }

    fn gather(&mut self, me: usize, now: u64) {
        let gathering = &mut self.processors[me].gathering;
        match mem::take(&mut gathering.step) {
            Step::Apart if gathering.next > 0 => {
                if let Some(taker) = self.taker(me).filter(|&taker| self.may_gather(me, taker, now))
                {
                    let step = Step::Counts(taker, self.begin_polls(me, taker, now));
                    let gathering = &mut self.processors[me].gathering;
                    (gathering.step, gathering.next) = (step, now + together::COUNT);
                    return;
                }
            }
            // A worker does not begin with it.
            Step::Apart => {}
            Step::Counts(taker, polls) if self.may_gather(me, taker, now) => {
                let (own, theirs) = self.mean_polls(me, taker, &polls, now);
                let past = self.processors[me].gathering.past;
                self.processors[taker].mark = together::gather(own, theirs, now, past);
                return self.give_to(me, taker, now);
            }
            Step::Counts(..) => {}
            Step::Gathered(taker) => {
                let mark = self.processors[taker].mark;
                if mark.until > now {
                    if self.look(me, taker, now).switched || self.idle.stack.contains(&taker) {
                        return self.give_to(me, taker, now);
                    }
                    // The tasks would lie behind its poll.
                    self.processors[me].gathering.step = Step::Gathered(taker);
                    return;
                }
                let gathering = &mut self.processors[me].gathering;
                gathering.next = now + gathering.past.add(mark != Mark::default());
                return;
            }
        }
        let gathering = &mut self.processors[me].gathering;
        gathering.next = now + gathering.past.pause();
    }

    fn begin_polls(&self, me: usize, other: usize, now: u64) -> Polls {
        let of = |worker: usize| self.processors[worker].counted;
        Polls { since: now, own: of(me), others: of(other) }
    }

    /// Returns the time per poll of both since the count began.
    fn mean_polls(&self, me: usize, other: usize, polls: &Polls, now: u64) -> (u64, u64) {
        let mean = |worker: usize, before: u64| {
            together::mean(now - polls.since, self.processors[worker].counted - before)
        };
        (mean(me, polls.own), mean(other, polls.others))
    }

    fn taker(&self, me: usize) -> Option<usize> {
        self.processors[me].others.iter().copied().find(|&other| other < me)
    }

    fn may_gather(&mut self, me: usize, taker: usize, now: u64) -> bool {
        // A look at oneself does not tell.
        let own = Look { switched: true, ..self.processors[me].look(now, 0) };
        let theirs = self.look(me, taker, now);
        together::may_gather(&own, &theirs)
    }

    /// Gives all tasks to a taker, now and after each batch for as long as they are together there;
    /// but not those that have waited long: there their wait would begin anew.
    fn give_to(&mut self, me: usize, taker: usize, now: u64) {
        let gathering = &mut self.processors[me].gathering;
        gathering.trial = None;
        (gathering.step, gathering.next) = (Step::Gathered(taker), now);
        let old = |entry: &Entry| now.saturating_sub(entry.since) >= stealing::OLD_SMALL_HEAD;
        let (old, young): (Vec<_>, Vec<_>) =
            mem::take(&mut self.processors[me].ready).into_iter().partition(old);
        self.processors[me].switches += u64::from(!young.is_empty());
        self.audit.queue(me, old.len(), now);
        self.processors[me].ready = old.into();
        for entry in young {
            self.leave(taker, entry.task, now);
        }
    }

    /// Ends the mark on this worker's queue if it has failed.
    fn tend_mark(&mut self, me: usize, now: u64) {
        let processor = &mut self.processors[me];
        let (mark, polls) = (processor.mark, processor.counted);
        let marked = &mut processor.gathering.marked;
        if mark.until <= now || now < marked.since + together::TRIAL {
            return;
        }
        let next = Marked { until: mark.until, since: now, polls, before: 0 };
        let last = mem::replace(marked, next);
        if last.until != mark.until {
            // It is new: the count begins.
            return;
        }
        marked.before = together::mean(now - last.since, polls - last.polls);
        if mark.has_failed([last.before, marked.before]) {
            processor.mark = Mark::default();
        }
    }
}
