//! The lookout: a thread that finds workers and reliefs that are stuck inside a poll.
//!
//! A worker inside a poll polls no other task, however long the poll lasts: it may compute, block
//! in a system call, or never end. Others take its tasks over, as long as one of them comes to its
//! loop. If none does, only a thread that is inside no poll can find that out.
//!
//! # Roles
//! The *lookout* runs no caller's code, so it is never stuck itself. A *worker*, a *relief*, a
//! *pusher* and a *sleeper* are those of [`relief`](super::relief) and [`idle`](crate::idle). An
//! *asker* wants the lookout to look.
//!
//! # States
//! The lookout *makes rounds*, or it *rests*. The word of `idle` says that it rests, where a pusher
//! looks anyway. A worker is *here*, *away* or *stuck*, by its [absence](crate::idle). A poll is
//! told by the counts of the processor's departures, sleeps and polls: inside one poll only a thief
//! changes them, which then takes the tasks.
//!
//! # Protocol
//! - *Round*: the lookout says that it looks, makes a full fence, and looks at every worker that is
//!   here and awake. One that has been inside the same poll for [long enough](relieving::lasts),
//!   and whose thread sleeps or computes, it counts as stuck. That ends in the heavy fence. If
//!   tasks or due timers lie there, the lookout wakes a sleeper; if no worker sleeps, it calls the
//!   relief. If all are away by then, it calls the relief for any task, and for timers.
//! - *Between two polls*: a worker searches there, or calls wakers, which are a caller's code and
//!   may block. One that has been between the same two for [much longer](relieving::LATE) is
//!   counted as stuck too, where the system says that its thread sleeps or computes. It may count
//!   as a searcher, to which others leave tasks; so as long as tasks lie there, the lookout wakes a
//!   sleeper all the same at each round, or calls the relief.
//! - *Settling*: it ends the polls of tasks that a stuck worker, or one that is away, has
//!   [kept](crate::queue::keep); others wake those tasks from then on. It does not rest while a
//!   worker keeps tasks.
//! - *Report*: it counts each long poll that does not fork. If a hook is set, it hands over what it
//!   has seen, and another thread makes a report of it (`runtime/stalls.rs`).
//! - *Timers*: if timers of a worker that is stuck or away are overdue, it wakes a sleeper at each
//!   round, or calls the relief.
//! - *Sockets*: as long as a worker that is stuck or away has [sockets](crate::readiness), the
//!   lookout makes rounds. At each, if the worker has not looked at them for a while, it wakes a
//!   sleeper, or calls the relief, which look. A worker that has sockets, and wakes, asks the
//!   lookout to look.
//! - *Errands*: if [errands](super::errands) lie there and all workers are away, it calls a
//!   [spare](super::spare) at each round, one for each stuck worker at most; and if they lie [for
//!   long](relieving::ERRANDS_LIE), one for each worker or spare that sleeps.
//! - *Duty*: if the relief on duty is stuck, the lookout *appoints* another: one in reserve, or one
//!   that it starts. If there is none, a worker that sleeps comes for its tasks.
//! - *Nap*: it makes the next round after a nap, if a worker has polled anything since the last
//!   round, or is here inside a poll; if the relief on duty does not rest; or if it has been asked.
//! - *Rest*: otherwise it says that it rests, in its own word and in that of `idle`; makes a heavy
//!   fence; and looks at all queues and timers. If there is a task beside no sleeper, it goes on
//!   with its rounds. It rests until it is asked, or until a timer is overdue: then a worker that
//!   slept may have woken, and be stuck.
//! - *Asking*: the asker sets the lookout's word. If the lookout rests, the asker clears the word
//!   of `idle`, and unparks the lookout or starts its thread. Askers are pushers and armers of
//!   timers that find it at rest while no worker sleeps; the worker that leaves the stack of
//!   sleepers last, if a pusher relies on the watch; callers of the relief; and thieves and hosts,
//!   by the protocol of [`stuck`](super::stuck). If a hook wants reports, workers that begin, wake
//!   or come back ask too: a worker may be stuck while another one sleeps, and then no task waits.
//!
//! # Why no task waits behind stuck workers
//! Let a task be ready while no worker comes to its loop. Its pusher has made a fence and looked at
//! the word of `idle`. If a worker slept, the rules of `idle` hold: that sleeper, or the watch,
//! takes the task, or is stuck itself and asks when it leaves the stack. If all were away, the
//! pusher has called the relief. Otherwise the pusher has found the lookout at rest and asked it,
//! or its load came before the lookout's change of the word. Then the pusher's fence and the heavy
//! fence of the lookout's rest form Dekker's pattern, and the lookout's last look sees the task.
//! (The only worker of a runtime makes a light fence here.) So the lookout makes rounds, and each
//! round finds one of three things. A worker has polled since the last one. Or all workers that are
//! awake are away or stuck, and the relief has been called. Or one is here, and inside the same
//! poll as in the last round, or between the same two; then it is stuck after
//! [`STUCK`](relieving::STUCK), or so much more, unless its thread gets no core.
//!
//! The relief is found stuck in the same way, by its duty: while it does not rest, the lookout does
//! not rest either. What a stuck relief has in its queues, the next one takes by force. If the
//! system refuses a relief's thread, or all reliefs are stuck, the lookout tries again at each
//! round. If the system refuses the lookout's own thread, tasks wait as without reliefs from then
//! on: pushers that tried again would make each push a system call.
//!
//! # No false alarm
//! A nap that lasts [much longer](relieving::LATE) than it should says that the process was
//! stopped, or the machine: what the lookout has seen by then is void, once for each poll. Where it
//! comes late at every round, because it gets no core, it finds stuck workers all the same. A
//! thread that is ready and computes nothing waits for a core. What is counted as stuck too early
//! counts itself out at the end of its batch, and costs a fence and some moves.
//!
//! # Cost
//! A push: nothing, beside the load of the word that every push has. The first push after a rest
//! unparks the lookout, 5 to 10 µs; the first of a runtime starts its thread. A round: some loads
//! for each worker, and a system call of 0.4 µs for each that is awake and has polled since the one
//! before, 250 times per second. A worker that seems stuck: a file of `/proc`. A worker that is
//! stuck: the heavy fence.
//!
//! # Rejected
//! The processor of a stuck worker moves to the relief, with its queues: a poll that is under way
//! uses the worker's seat for its pushes, forks, timers and counters, and each of these would have
//! to find out at each use that the seat is gone. Here all of them go on as before, and only the
//! tasks move. The relief as the lookout: it polls tasks, and so may be stuck itself. A signal to
//! the stuck thread: system calls return early, and a poll cannot be left anyway. A note of the
//! time in each poll: two loads and a store more for each. The watch alone, a sleeper that looks
//! up: where all workers are stuck, none sleeps.
//!
//! # Source
//! The monitor thread of Go's runtime (`sysmon`), which takes processors from system calls.

use super::away;
use super::timing;
use super::worker::Left;
use crate::policy::readiness;
use crate::policy::relieving::{self, Found, Sight};
use crate::primitives::atomic::Ordering;
use crate::primitives::probe::{Probe, State};
use crate::primitives::{clock, thread};
use crate::processor::Processor;
use crate::processor::shared::{Phase, Shared, Stalled};
use crate::timers::NEVER;
use std::sync::Arc;
use std::time::Duration;

/// Makes rounds until the runtime is over.
pub(crate) fn work(shared: &Arc<Shared>) {
    shared.idle.begin_lookout();
    let _left = Left { shared, is_worker: false };
    let mut lookout = Lookout::default();
    while shared.phase() < Phase::Over {
        if let Some(nap) = lookout.round(shared) {
            thread::park(Some(Duration::from_nanos(nap)));
        } else if let Some(limit) = prepare_rest(shared) {
            lookout = Lookout { alert: lookout.alert, ..Lookout::default() };
            shared.idle.rest_lookout(limit.map(Duration::from_nanos));
        }
    }
}

/// What the lookout remembers from one round to the next.
#[derive(Debug, Default)]
struct Lookout {
    /// What it has seen of each processor; empty before the first round.
    seen: Vec<Seen>,
    /// When the last round was; none before the first.
    round: Option<u64>,
    /// The length of the last nap.
    nap: u64,
    /// Until when it expects another stuck worker.
    alert: u64,
    /// While errands lie beside workers that are all away: how many errands spares had taken at the
    /// last round, and since when.
    taken: Option<(u64, u64)>,
}

/// A poll as others see it. The count of polls changes at the end of the batch: a worker between
/// two batches is in none of those that came before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Poll {
    departures: usize,
    sleeps: u64,
    polls: u64,
}

/// What the lookout has seen of one processor.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// The counts of departures, sleeps and polls, which identify a poll.
    poll: Poll,
    /// When the lookout first saw them; none if the worker was not inside a poll.
    since: Option<u64>,
    /// How long its thread had computed by then, if the system says so.
    computed: Option<u64>,
    /// Whether the lookout has counted the poll as a long one.
    is_noted: bool,
    /// Whether it has come late while the poll lasted.
    is_voided: bool,
}

impl Seen {
    /// Forgets for how long the poll has lasted, the first time that the lookout comes late.
    fn void(&mut self) {
        if self.since.is_some() && !std::mem::replace(&mut self.is_voided, true) {
            self.since = None;
        }
    }

    /// Looks at a processor that may be inside a poll.
    fn look(&mut self, processor: &Processor, probe: Option<&Probe>, now: u64) -> Looked {
        let looked = self.pass(processor);
        let since = *self.since.get_or_insert_with(|| {
            self.computed = probe.and_then(Probe::computed);
            now
        });
        Looked { lasts: now.saturating_sub(since), ..looked }
    }

    /// Looks at a processor that is inside no poll, if it has not changed.
    fn pass(&mut self, processor: &Processor) -> Looked {
        let (published, counters) = (&processor.published, &processor.counters);
        let poll = Poll {
            polls: counters.polls.get(),
            sleeps: counters.sleeps.get(),
            departures: published.departures(),
        };
        let departures = poll.departures.wrapping_sub(self.poll.departures) as u64;
        let is_same = poll == self.poll;
        if !is_same {
            *self = Self { poll, ..Self::default() };
        }
        Looked { lasts: 0, departures, is_same }
    }
}

/// The result of a look at one processor.
struct Looked {
    /// For how long it has been in the same poll.
    lasts: u64,
    /// How many tasks have departed since the last round.
    departures: u64,
    /// Whether it has neither polled nor slept since then.
    is_same: bool,
}

impl Lookout {
    /// Makes one round. Returns the length of the nap until the next one, or `None` if there has to
    /// be none.
    fn round(&mut self, shared: &Shared) -> Option<u64> {
        let is_asked = shared.idle.begin_look();
        let now = clock::now();
        let slept = now.saturating_sub(self.round.replace(now).unwrap_or(now));
        self.seen.resize(shared.processors.capacity(), Seen::default());
        if slept > self.nap.saturating_add(relieving::LATE) {
            self.seen.iter_mut().for_each(Seen::void);
        }
        let mut round = Round { now, slept, found: Found::Nothing, is_quiet: !is_asked };
        for worker in 0..shared.workers {
            self.look_at(shared, worker, &mut round);
        }
        self.look_at_duty(shared, &mut round);
        self.look_at_errands(shared, &mut round);
        if now < self.alert {
            round.found = round.found.max(Found::Suspect);
        }
        self.nap = relieving::next_nap(round.found, self.nap);
        (!round.is_quiet || !shared.idle.end_looks()).then_some(self.nap)
    }

    fn look_at(&mut self, shared: &Shared, worker: usize, round: &mut Round) {
        let processor = &shared.processors[worker];
        if processor.absence.is_away() {
            round.is_quiet &= settle_for(shared, processor, round.now);
            round.is_quiet &= !have_sockets_looked_at(shared, worker, round.now);
            if round.now >= processor.timers.next() {
                round.is_quiet = false;
                away::send_another(shared, shared.idle.counts());
            }
            if processor.absence.is_stuck() && !is_inside(processor) {
                // A waker blocks it. Its tasks have to be looked at for as long.
                round.is_quiet = false;
                send_past_searchers(shared, processor, round.now);
            }
            self.seen[worker].since = None;
            return;
        }
        if shared.idle.is_asleep(worker) {
            // A worker that falls asleep again and again is busy: rests in between would cost each
            // first pusher a call.
            round.is_quiet &= self.seen[worker].pass(processor).is_same;
            self.seen[worker].since = None;
            return;
        }
        let forks = forks(processor);
        let is_inside = forks || processor.meter.is_running();
        // Of a poll that forks the time alone counts.
        let probe = (!forks).then(|| shared.idle.probe(worker));
        let Looked { lasts, departures, .. } = self.seen[worker].look(processor, probe, round.now);
        // Between two polls it searches, or has been woken and has no core yet; or it calls wakers,
        // which are a caller's code.
        let lasts = if is_inside { lasts } else { lasts.saturating_sub(relieving::LATE) };
        let mut sight = Sight { lasts, forks, thread: None };
        if relieving::lasts(sight) && !forks {
            sight.thread = self.state_of(shared, worker);
        }
        let is_known = is_inside || sight.thread.is_some();
        if is_known && relieving::is_stuck(sight) {
            round.is_quiet &= count_stuck(shared, worker, round.now) && is_inside;
            round.is_quiet &= !have_sockets_looked_at(shared, worker, round.now);
            if !forks {
                self.alert = round.now.saturating_add(relieving::ALERT);
            }
            if is_inside && !forks {
                self.note_stall(shared, worker, sight, round.now);
            }
            return;
        }
        round.is_quiet = false;
        if forks {
            round.found = Found::Fork;
        } else if lasts > 0 || (is_inside && relieving::is_suspect(departures, round.slept)) {
            round.found = round.found.max(Found::Suspect);
        }
    }

    /// Asks the system for the state of a processor's thread.
    fn state_of(&mut self, shared: &Shared, processor: usize) -> Option<relieving::Thread> {
        let probe = shared.idle.probe(processor);
        Some(match probe.state()? {
            State::Ready => {
                let computed = probe.computed()?;
                let before = *self.seen[processor].computed.get_or_insert(computed);
                relieving::Thread::Ready(computed.saturating_sub(before))
            }
            State::Asleep => relieving::Thread::Asleep,
            State::Stopped => relieving::Thread::Stopped,
        })
    }

    /// Counts and reports a long poll of a processor, once.
    fn note_stall(&mut self, shared: &Shared, processor: usize, sight: Sight, now: u64) {
        let seen = &mut self.seen[processor];
        if !std::mem::replace(&mut seen.is_noted, true) {
            shared.note_stall(Stalled {
                processor,
                polls: seen.poll.polls,
                since: seen.since.unwrap_or(now),
                is_blocked: sight.thread == Some(relieving::Thread::Asleep),
            });
        }
    }

    /// Looks at the relief on duty, and appoints another if that one is stuck.
    fn look_at_duty(&mut self, shared: &Shared, round: &mut Round) {
        let (idle, duty) = (&shared.idle, shared.idle.duty());
        if idle.lacks_relief() || idle.is_appointing() {
            // The system may grant the thread later.
            round.is_quiet = false;
            if !idle.is_appointing() {
                shared.appoint_relief();
            }
            return;
        }
        if idle.is_resting() {
            self.seen[duty].since = None;
            return;
        }
        round.is_quiet = false;
        let processor = &shared.processors[duty];
        let Looked { lasts, departures, .. } =
            self.seen[duty].look(processor, Some(idle.probe(duty)), round.now);
        // Between two polls it takes tasks over, by a heavy fence for each processor that has some.
        let is_inside = !processor.published.polled.load(Ordering::Relaxed).is_null();
        let lasts = if is_inside { lasts } else { lasts.saturating_sub(relieving::LATE) };
        let mut sight = Sight { lasts, forks: false, thread: None };
        if processor.absence.is_away() {
            sight = Sight { lasts: u64::MAX, thread: Some(relieving::Thread::Asleep), ..sight };
        } else if relieving::lasts(sight) {
            sight.thread = self.state_of(shared, duty);
        }
        let is_stuck = relieving::is_stuck(sight);
        if is_stuck && !processor.absence.is_away() {
            self.note_stall(shared, duty, sight, round.now);
        }
        if is_stuck && !shared.appoint_relief() {
            // No relief comes. A worker that sleeps, if there is one, takes what lies there.
            if idle.counts().sleeping > 0 && processor.is_to_be_relieved(round.now) {
                shared.wake_one();
            }
        } else if lasts > 0 || relieving::is_suspect(departures, round.slept) {
            round.found = round.found.max(Found::Suspect);
        }
    }
}

/// Returns whether a thread in this state sleeps.
fn sleeps(state: State) -> bool {
    state == State::Asleep
}

impl Lookout {
    /// Calls a spare for the errands that lie there while all workers are away.
    fn look_at_errands(&mut self, shared: &Shared, round: &mut Round) {
        let before = self.taken.take();
        if shared.errands.is_empty() {
            return;
        }
        round.is_quiet = false;
        if !shared.are_all_away() {
            return;
        }
        let taken = shared.spares.taken();
        let same = before.filter(|&(before, _)| before == taken);
        let (_, since) = *self.taken.insert(same.unwrap_or((taken, round.now)));
        let is_stuck = |worker: &usize| shared.processors[*worker].absence.is_stuck();
        let (stuck, others): (Vec<_>, Vec<_>) = (0..shared.workers).partition(is_stuck);
        let mut without = stuck.len();
        if round.now.saturating_sub(since) >= relieving::ERRANDS_LIE {
            let spares = shared.spares.probes().map(Probe::state);
            // A worker of which nothing is known counts once; spares would, again and again.
            let workers = others.into_iter().map(|worker| shared.idle.probe(worker).state());
            without += workers.filter(|state| state.is_none_or(sleeps)).count();
            without += spares.filter(|state| state.is_some_and(sleeps)).count();
            // Each look reads a file for each thread.
            self.taken = Some((taken, round.now));
        }
        shared.call_spare_beside(without);
        round.found = round.found.max(Found::Suspect);
    }
}

/// Has another thread look at the sockets of a worker that is away, if they are overdue. Returns
/// whether it has sockets.
fn have_sockets_looked_at(shared: &Shared, worker: usize, now: u64) -> bool {
    let Some(set) = shared.idle.set(worker).get().filter(|set| set.is_used()) else {
        return false;
    };
    if readiness::is_overdue(now, set.looked()) {
        away::send_another(shared, shared.idle.counts());
    }
    true
}

/// One round.
struct Round {
    now: u64,
    /// How long the nap before it was.
    slept: u64,
    found: Found,
    /// Whether there has to be no further round.
    is_quiet: bool,
}

/// Returns whether a worker is inside a poll that forks.
fn forks(processor: &Processor) -> bool {
    processor.deque.is_in_use() || processor.absence.is_waiting()
}

/// Returns whether a worker that is awake is inside a poll. Between two polls it searches, or calls
/// wakers.
fn is_inside(processor: &Processor) -> bool {
    forks(processor) || processor.meter.is_running()
}

/// Has a sleeper, or the relief, come for the tasks and due timers of a worker that a waker blocks.
/// That worker may count as a searcher, to whom others leave tasks.
fn send_past_searchers(shared: &Shared, processor: &Processor, now: u64) {
    let has_work = processor.is_to_be_relieved(now) || now >= processor.timers.next();
    if has_work && !shared.idle.wake_nearest(|_| Some(()), |_| true) {
        shared.call_relief();
    }
}

/// Counts a worker as stuck, and has its tasks and timers taken over. Returns false if the kernel
/// has refused the heavy fence: then the lookout looks once more.
fn count_stuck(shared: &Shared, worker: usize, now: u64) -> bool {
    let processor = &shared.processors[worker];
    let is_fenced = shared.idle.find_stuck(worker, &processor.absence);
    let is_settled = settle(processor, now);
    away::leave_behind(shared, processor, shared.idle.counts(), now);
    is_fenced && is_settled
}

/// Settles for a worker that is away, and has its tasks taken over. Returns false if its processor
/// is locked: then the lookout looks once more.
fn settle_for(shared: &Shared, processor: &Processor, now: u64) -> bool {
    let has_kept = processor.published.keeps.load(Ordering::Relaxed);
    let is_settled = settle(processor, now);
    if has_kept {
        away::leave_behind(shared, processor, shared.idle.counts(), now);
    }
    is_settled
}

/// Ends the polls of the tasks that a processor [keeps](crate::queue::keep), if it keeps any.
pub(super) fn settle(processor: &Processor, now: u64) -> bool {
    if !processor.published.keeps.load(Ordering::Relaxed) {
        return true;
    }
    let Some(mut local) = processor.local.claim(true) else { return false };
    processor.settle(&mut local, now);
    true
}

/// Returns whether no task is left to the lookout: none is kept, and none waits beside workers none
/// of which sleeps.
pub(super) fn is_left_alone(shared: &Shared) -> bool {
    let now = clock::now();
    let counts = shared.idle.counts();
    // The watch looks at tasks, or the relief does.
    let is_left = counts.sleeping > 0 || counts.all_away;
    let has_work = |processor: &Processor| processor.is_to_be_relieved(now);
    let keeps = |processor: &Processor| processor.published.keeps.load(Ordering::Relaxed);
    let errands = counts.sleeping == 0 && !shared.errands.is_empty();
    !errands
        && !shared.processors.iter().any(keeps)
        && (is_left || !shared.processors.iter().any(has_work))
}

/// Takes the last look before a rest. The lookout has ended its rounds. Returns how long it may
/// rest, in nanoseconds, or `None` if it has to go on.
fn prepare_rest(shared: &Shared) -> Option<Option<u64>> {
    let idle = &shared.idle;
    let now = clock::now();
    if !is_left_alone(shared) {
        _ = idle.ask_to_look();
        return None;
    }
    // A sleeper that wakes, and is stuck in its next poll, does not fire its timers.
    let next = timing::next_of_all(shared);
    if next == NEVER {
        return Some(None);
    }
    let until = next.saturating_add(relieving::GRACE);
    idle.watch_from(until);
    Some(Some(until.saturating_sub(now)))
}

#[cfg(all(test, loom))]
mod model;

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// A process may be stopped while a poll lasts; a lookout that gets its core late at every
    /// round finds the poll in the end.
    #[test]
    fn the_time_of_a_poll_is_void_once() {
        let mut seen = Seen::default();
        seen.void();
        seen.since = Some(1);
        seen.void();
        assert_eq!(seen.since, None, "nothing was void before");
        seen.since = Some(2);
        seen.void();
        assert_eq!(seen.since, Some(2));
    }
}
