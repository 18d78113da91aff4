//! How processors fall asleep and are woken.
//!
//! # Roles
//! A *pusher* has just made a task visible in a queue or an inbox. A *searcher* is awake, without
//! work, and looks at the others. A *sleeper* is parked. The *watch* is the sleeper at the bottom
//! of the stack: its sleeps are bounded while others work.
//!
//! # States
//! `word` counts the sleepers, the searchers and the workers that are away. `stack` holds the
//! sleepers, the last to fall asleep on top. Each processor has a flag, `asleep`.
//!
//! # Falling asleep
//! 1. If it has been searching, the processor counts itself out of the searchers.
//! 2. It *announces* itself: onto the stack, `asleep := true`, one more sleeper in `word`.
//! 3. A full fence.
//! 4. It looks at every queue and inbox once more, and at the phase of the runtime. If there is
//!    anything, it takes itself off the stack and goes on. If a pusher has taken it off already, it
//!    has been woken.
//! 5. It parks until `asleep` is false.
//!
//! # Waking
//! 1. The pusher makes the task visible.
//! 2. A full fence. On x86 that is the locked instruction that made the task ready (the push into
//!    the pusher's own queue comes before it) or that put it into an inbox. The only worker of a
//!    runtime makes no fence of its own here: it is awake, and there is no other worker. A worker
//!    that wakes a task which it [keeps](crate::queue::keep) makes none either.
//! 3. It loads `word`. If there is a sleeper and no searcher, and the policy finds a wake worth its
//!    price, the pusher takes the top of the stack. It counts that sleeper as a searcher, clears
//!    `asleep` and unparks it.
//!
//! The last searcher, when it finds work, wakes the next sleeper if there is more work: wake-ups
//! come in a chain, one per task found, not in a herd.
//!
//! # Why no wake-up is lost
//! The push and the announcement form Dekker's pattern with a full fence on either side. So the
//! pusher sees the sleeper (3), or the sleeper sees the task (4). If the pusher sees a searcher
//! instead and leaves the task to it, the searcher was counted in when the pusher looked. So the
//! searcher's step 1 comes after the push's fence, and its step 4 sees the task. Both fences run at
//! every push and at every announcement, not once per batch, so the delay is that of one step.
//!
//! The fences order what pushers, sleepers and searchers rely on. A pusher loads `word` after its
//! fence, and a sleeper or a searcher changes `word` before its own. If the load does not see the
//! change, the pusher's fence comes first, and the look after the other fence sees the task. The
//! stack's lock orders the counts of sleepers, and `asleep`. Changes of `word` are acquire and
//! release besides: the worker that goes away last sees the timers that others had armed before
//! they went away.
//!
//! A pusher that the policy keeps from waking (a lone task in its own queue) runs the task itself
//! at its next switch. If its present poll lasts, the watch finds the task: while it makes rounds,
//! it looks at the heads' ages at least every
//! [`waking::LONGEST_WATCH`](crate::policy::waking::LONGEST_WATCH). When all are asleep, and none
//! has been awake since its last round, the watch sleeps without a bound; a wake-up of another
//! sleeper does not change that. So each thread that leaves something to be found later arms it: a
//! pusher, a sender beside a searcher, a worker that goes away with timers, a sleeper beside work
//! that it leaves to a searcher. If it finds `armed` false, it unparks the watch to begin its
//! rounds. An idle runtime does not wake at all, but for one with a worker that has settled, or is
//! away with a timer, which counts as awake. `armed` says that the sleeper at the bottom has a
//! bounded sleep or an unpark on its way. It changes under the stack's lock alone, and the thread
//! that takes an armed watch off the stack unparks the next one.
//!
//! # When all workers compute
//! `word` also counts the workers that are [*away*](absence): inside fork-join, blocking in place,
//! or stuck inside a poll. When all are away, none sleeps, and none searches, but one that a waker
//! blocks; and the pusher of step 3 [calls](calling) the [`relief`](crate::scheduler::relief). If
//! none sleeps and the [`lookout`](crate::scheduler::lookout) rests, which `word` says too, the
//! pusher asks it to look. All conditions of step 3 are one comparison of `word`.
//!
//! # Where a worker sleeps
//! A worker parks on a futex or, if its processor has sockets, in their [set](crate::readiness),
//! from which an interrupt takes it. The thread that wakes it does not know which. So it leaves a
//! call, makes a full fence, and looks whether the sleeper is in its set, or about to be: then it
//! interrupts the set. It unparks the thread in any case. The sleeper marks that it is about to be
//! in its set, makes a full fence, takes the lock of looks, and looks for a call. So one of the two
//! sees the other. The system keeps an interrupt until the next look. That may be the look of
//! another thread, into the set of a worker that is about to sleep: it has left the lock before the
//! sleeper takes it, so the sleeper sees the call that came before the interrupt. A thread from
//! outside that gives a sleeping worker its first socket unparks it, and it goes to sleep again in
//! the set.
//!
//! A worker that its own sockets have woken takes itself off the stack, and wakes the tasks of its
//! sockets after that. It is their pusher. If it still counted as a sleeper, it would see one, and
//! interrupt its own set.
//!
//! # Rejected
//! A watch that rests as soon as it sees all workers asleep: where one worker sleeps between any
//! two requests, each request would unpark the watch, which comes when that worker sleeps again. An
//! echo server with one connection and two workers took 24 µs of processor time for an answer, and
//! takes 18 now, Tokio 17.
//! A plain load of `word` after a plain push, with a fence once per batch: a poll that goes on for
//! long after the push would leave the task beside a sleeper. The heavy fence on the sleeper's side
//! only: it would interrupt every core whenever one falls asleep. Waking for each push: two tasks
//! that take turns would pay a system call of 7 to 11 µs per turn.

mod absence;
mod calling;
mod counts;
#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

use crate::primitives::atomic::{AtomicBool, AtomicU64, AtomicUsize, Edge, Ordering, edge};
use crate::primitives::probe::Probe;
use crate::primitives::thread::{self, Thread};
use crate::primitives::{Mutex, fence, lock};
use crate::readiness::{Place, Woken};
use calling::Calling;
use counts::{ALL_AWAY, AWAY, SEARCHER, SLEEPER, UNWATCHED};
use std::time::Duration;

/// The sleepers and searchers of a runtime.
#[derive(Debug)]
pub(crate) struct Idle {
    word: AtomicU64,
    /// Whether the watch makes its rounds.
    armed: AtomicBool,
    stack: Mutex<Stack>,
    seats: Box<[Seat]>,
    /// The worker in whose set sockets gather. A hint: nothing depends on when others see a change.
    gatherer: AtomicUsize,
    /// The number of seats that are workers'. Those that may follow are the reliefs', which are
    /// never on the stack: a relief that is `asleep` is in reserve.
    workers: usize,
    calling: Calling,
}

/// The sleepers, the last to fall asleep on top.
#[derive(Debug)]
struct Stack {
    sleepers: Vec<usize>,
    /// How many have left it. If that is no more than at the last round of the watch, no worker has
    /// been awake since.
    left: u64,
}

/// Where a processor sleeps.
#[derive(Debug)]
struct Seat {
    asleep: AtomicBool,
    /// Whether a relief has a thread, or one is being started.
    taken: AtomicBool,
    /// The processor's thread, once it runs.
    thread: Mutex<Option<Thread>>,
    /// By which the system knows that thread.
    probe: Probe,
    /// The sockets of the processor. Its worker sleeps in it, if it is used.
    set: Place,
    /// Whether the worker sleeps in the set, or is about to.
    is_in_set: AtomicBool,
    /// Whether it is to come out.
    is_called: AtomicBool,
}

impl Seat {
    /// Sleeps in the set if it has sources, otherwise on the futex. Returns the operations that the
    /// caller has to wake.
    fn park(&self, limit: Option<Duration>, stands: bool) -> Woken {
        let Some(set) = self.set.get().filter(|set| set.is_used()) else {
            thread::park(limit);
            return Woken::default();
        };
        self.is_in_set.store(true, Ordering::Relaxed);
        // After the mark, and before the look at the call: a caller has it the other way round.
        fence::full(Edge::IdleInSet);
        let take_call = || self.is_called.swap(false, Ordering::AcqRel);
        let ready = set.sleep(limit, stands, take_call);
        self.is_in_set.store(false, Ordering::Relaxed);
        // The caller of this looks at all that it may have been called for. A call that it has
        // answered would end its next sleep at once.
        take_call();
        ready
    }

    /// Ends the present park of the thread, or the next one.
    fn unpark(&self) {
        if let Some(set) = self.set.get() {
            self.is_called.store(true, Ordering::Release);
            fence::full(Edge::IdleCallSet);
            if self.is_in_set.load(Ordering::Relaxed) {
                set.interrupt();
            }
        }
        if let Some(thread) = &*lock(&self.thread) {
            thread.unpark();
        }
    }
}

impl Idle {
    /// The state for `workers` workers, all awake, and at most `reliefs` reliefs.
    pub(crate) fn new(workers: usize, reliefs: usize) -> Self {
        let seat = || Seat {
            asleep: AtomicBool::new(false),
            taken: AtomicBool::new(false),
            thread: Mutex::new(None),
            probe: Probe::default(),
            set: Place::default(),
            is_in_set: AtomicBool::new(false),
            is_called: AtomicBool::new(false),
        };
        let relieved = ALL_AWAY + UNWATCHED - workers as u64 * AWAY;
        Self {
            word: AtomicU64::new(if reliefs > 0 { relieved } else { 0 }),
            armed: AtomicBool::new(false),
            stack: Mutex::new(Stack { sleepers: Vec::with_capacity(workers), left: 0 }),
            seats: (0..workers + reliefs).map(|_| seat()).collect(),
            gatherer: AtomicUsize::new(0),
            workers,
            calling: Calling::new(workers),
        }
    }

    /// Registers the calling thread as the one that runs processor `me`.
    pub(crate) fn sit(&self, me: usize) {
        *lock(&self.seats[me].thread) = Some(thread::current());
        self.seats[me].probe.take();
    }

    #[inline(always)]
    pub(crate) fn counts(&self) -> Counts {
        Counts::of(self.word.load(Ordering::Relaxed))
    }

    /// Returns the probe of the thread of processor `number`.
    pub(crate) fn probe(&self, number: usize) -> &Probe {
        &self.seats[number].probe
    }

    /// Returns whether a pusher has to wake a sleeper, call the relief or call the lookout.
    #[inline(always)]
    pub(crate) fn is_pusher_to_look(&self) -> bool {
        self.word.load(Ordering::Relaxed) >= ALL_AWAY
    }

    /// Counts the caller in as a searcher if `may` allows it.
    pub(crate) fn begin_search(&self, may: impl Fn(Counts) -> bool) -> bool {
        let mut word = self.word.load(Ordering::Relaxed);
        while may(Counts::of(word)) {
            let more = word + SEARCHER;
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.word.compare_exchange_weak(word, more, success, failure) {
                Ok(_) => return true,
                Err(actual) => word = actual,
            }
        }
        false
    }

    /// Counts the caller out again. Returns true if it was the last searcher.
    pub(crate) fn end_search(&self) -> bool {
        let before = self.word.fetch_sub(SEARCHER, Ordering::AcqRel);
        // A pusher that has left a task to this searcher relies on the look that follows.
        fence::after_read_modify_write(Edge::IdleSleep);
        Counts::of(before).searching == 1
    }

    /// Announces that `me` falls asleep, up to and including the fence. The caller then takes its
    /// last look at the queues, and calls [`sleep`](Self::sleep) or [`cancel`](Self::cancel).
    pub(crate) fn announce(&self, me: usize) {
        let mut stack = lock(&self.stack);
        stack.sleepers.push(me);
        // The stack's lock orders it: a waker stores false there after it has found `me`.
        self.seats[me].asleep.store(true, Ordering::Relaxed);
        self.word.fetch_add(SLEEPER, Ordering::AcqRel);
        drop(stack);
        fence::full(Edge::IdleSleep);
    }

    /// Takes the announcement back. Returns false if `me` has been woken meanwhile, which makes it
    /// a searcher.
    pub(crate) fn cancel(&self, me: usize) -> bool {
        self.remove(me, 0)
    }

    /// Sleeps once, for at most `limit`, and under a clock that `stands` or not. If `me` has not
    /// been woken then, the announcement still stands: sockets are ready, time is up, or the watch
    /// has to begin its rounds.
    pub(crate) fn sleep(&self, me: usize, limit: Option<Duration>, stands: bool) -> Slept {
        let seat = &self.seats[me];
        // Relaxed: the second load acquires, and sees what this one has seen.
        let is_asleep = seat.asleep.load(Ordering::Relaxed);
        let ready = if is_asleep { seat.park(limit, stands) } else { Woken::default() };
        // Acquire ordering: the sleeper has been counted as a searcher, and must see the task that
        // the waker has pushed. Its park may have ended before the waker's unpark.
        let is_woken = !seat.asleep.load(edge(Edge::IdleAwake, Ordering::Acquire));
        Slept { is_woken, ready }
    }

    /// Returns whether a pusher relies on the watch, and no worker sleeps any more.
    #[inline]
    pub(crate) fn has_lost_watch(&self) -> bool {
        self.armed.load(Ordering::Relaxed) && self.counts().is_unwatched
    }

    /// Returns whether `me` is the watch, and whether it makes rounds: not if all workers sleep and
    /// none has been awake since the last round. `seen` is for this call alone, from one round to
    /// the next. A pusher is awake, so it was taken off the stack after this call and sees `armed`.
    pub(crate) fn watch(&self, me: usize, seen: &mut Option<u64>) -> Watch {
        let stack = lock(&self.stack);
        if stack.sleepers.first() != Some(&me) {
            return Watch::None;
        }
        let is_quiet = seen.replace(stack.left) == Some(stack.left);
        let is_wanted = self.armed.load(Ordering::Relaxed) && !is_quiet;
        let rests = stack.sleepers.len() == self.workers && !is_wanted;
        self.armed.store(!rests, Ordering::Relaxed);
        if rests { Watch::Rest } else { Watch::Duty }
    }

    /// Unparks the watch to begin its rounds, if it has not begun. Returns false if no worker
    /// sleeps: the caller has to call the lookout.
    #[must_use]
    pub(crate) fn arm(&self) -> bool {
        if self.armed.load(Ordering::Relaxed) {
            // The worker that leaves the stack last sees it too.
            return true;
        }
        let stack = lock(&self.stack);
        let Some(&bottom) = stack.sleepers.first() else { return false };
        self.armed.store(true, Ordering::Relaxed);
        self.unpark(bottom);
        true
    }

    /// Wakes the sleeper on top of the stack as a searcher.
    pub(crate) fn wake_one(&self) -> bool {
        // Two pushers that both saw no searcher wake one sleeper between them.
        self.wake_nearest(|_| Some(()), |counts| counts.searching == 0)
    }

    /// Wakes the sleeper of the least rank as a searcher, of equals the last to fall asleep, if
    /// `may` allows it. Sleepers without a rank stay asleep.
    #[cold]
    pub(crate) fn wake_nearest<R: Ord>(
        &self,
        rank: impl Fn(usize) -> Option<R>,
        may: impl Fn(Counts) -> bool,
    ) -> bool {
        let mut stack = lock(&self.stack);
        if !may(self.counts()) {
            return false;
        }
        let sleepers = stack.sleepers.iter().enumerate().rev();
        let ranked = sleepers.filter_map(|(position, &number)| Some((rank(number)?, position)));
        let Some((_, position)) = ranked.min_by(|a, b| a.0.cmp(&b.0)) else { return false };
        let number = self.take_off(&mut stack, position, SEARCHER);
        drop(stack);
        self.unpark(number);
        true
    }

    /// Wakes processor `number` as a searcher, if it sleeps. A relief is unparked, and called if it
    /// is on duty.
    pub(crate) fn wake(&self, number: usize) -> bool {
        if number >= self.workers {
            if number == self.duty() && self.is_up() {
                _ = self.call();
            }
            // Another relief, which has just gone off duty, may take the call.
            self.unpark(number);
            return true;
        }
        if !self.seats[number].asleep.load(Ordering::Relaxed) || !self.remove(number, SEARCHER) {
            return false;
        }
        self.unpark(number);
        true
    }

    /// Wakes all sleepers as searchers, calls the relief, and unparks those in reserve and the
    /// lookout.
    pub(crate) fn wake_all(&self) {
        for number in 0..self.seats.len() {
            self.wake(number);
        }
        self.unpark_lookout();
    }

    fn remove(&self, number: usize, searcher: u64) -> bool {
        let mut stack = lock(&self.stack);
        match stack.sleepers.iter().position(|&sleeper| sleeper == number) {
            Some(position) => {
                self.take_off(&mut stack, position, searcher);
                true
            }
            None => false,
        }
    }

    /// Takes a sleeper off the stack, and returns its number.
    fn take_off(&self, stack: &mut Stack, position: usize, searcher: u64) -> usize {
        let number = stack.sleepers.remove(position);
        stack.left += 1;
        self.woken(number, searcher);
        if position == 0
            && self.armed.load(Ordering::Relaxed)
            && let Some(&bottom) = stack.sleepers.first()
        {
            // The watch leaves: the next sleeper goes on with its rounds.
            self.unpark(bottom);
        }
        number
    }

    /// Updates the word and the flag of a sleeper that has been taken off the stack. The caller
    /// holds the stack's lock.
    fn woken(&self, number: usize, searcher: u64) {
        self.word.fetch_add(searcher.wrapping_sub(SLEEPER), Ordering::AcqRel);
        self.seats[number].asleep.store(false, edge(Edge::IdleWoken, Ordering::Release));
    }

    /// Calls `f` if all workers sleep, and lets no thread wake one meanwhile.
    pub(crate) fn if_all_sleep<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        let stack = lock(&self.stack);
        (stack.sleepers.len() == self.workers).then(f)
    }

    /// Returns whether sockets may be ready of which no task knows yet, while all workers sleep.
    pub(crate) fn has_untold(&self) -> bool {
        let mut sets = self.seats[..self.workers].iter().filter_map(|seat| seat.set.get());
        sets.any(|set| set.is_used() && set.has_untold())
    }

    /// Returns whether processor `number` has announced its sleep and has not been woken. A hint,
    /// which orders nothing: a caller that relies on it has made a fence before, or has held a lock
    /// that the sleeper takes after its announcement.
    pub(crate) fn is_asleep(&self, number: usize) -> bool {
        self.seats[number].asleep.load(Ordering::Relaxed)
    }

    /// Unparks every sleeper and the lookout, and calls the relief, so that each computes anew how
    /// long it may sleep.
    pub(crate) fn unpark_all(&self) {
        if self.has_reliefs() {
            self.wake(self.duty());
        }
        (0..self.workers).for_each(|number| self.unpark(number));
        self.unpark_lookout();
    }

    /// Unparks the thread of processor `number`, for whatever reason it is parked.
    pub(crate) fn unpark(&self, number: usize) {
        self.seats[number].unpark();
    }

    /// Unparks a thread, which may be the one that drives a current-thread runtime, and sleeps
    /// among its sockets.
    #[cold]
    pub(crate) fn unpark_thread(&self, thread: &Thread) {
        let seat = &self.seats[0];
        let own = lock(&seat.thread);
        let has_seat = own.as_ref().is_some_and(|own| own.id() == thread.id());
        drop(own);
        if has_seat { seat.unpark() } else { thread.unpark() }
    }

    /// Returns the place of the sockets of processor `number`.
    #[inline(always)]
    pub(crate) fn set(&self, number: usize) -> &Place {
        &self.seats[number].set
    }

    /// Returns the worker in whose set sockets gather that have no better one.
    pub(crate) fn gatherer(&self) -> usize {
        self.gatherer.load(Ordering::Relaxed)
    }

    /// Has sockets gather at worker `number`.
    pub(crate) fn gather_at(&self, number: usize) {
        self.gatherer.store(number, Ordering::Relaxed);
    }

    /// Ends all operations on sockets.
    pub(crate) fn close_sets(&self) {
        self.seats.iter().filter_map(|seat| seat.set.get()).for_each(|set| set.close());
    }
}

/// The end of a sleep.
#[derive(Debug)]
pub(crate) struct Slept {
    /// Another thread has woken the sleeper, which is a searcher now.
    pub(crate) is_woken: bool,
    /// The operations on sockets that the sleeper has to wake, once it is not announced any more.
    pub(crate) ready: Woken,
}

/// The duty of a sleeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// None: it is not the watch.
    None,
    /// It is the watch, and other workers are awake, or have been since its last round.
    Duty,
    /// It is the watch, and no other worker has been awake since its last round.
    Rest,
}

pub(crate) use absence::Absence;
pub(crate) use calling::{Appointed, Called};
pub(crate) use counts::Counts;
