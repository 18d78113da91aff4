//! Timers, which wake tasks at given times.
//!
//! # Roles
//! A *timer* is a [node](entry::Entry) in a pinned future. Its *future* arms, renews and cancels
//! it. An *armer* is the thread that polls such a future. A [`wheel`] belongs to each processor.
//! Its *owner*, the processor's worker, fires the timers that are due; so does any *other* worker
//! that finds it overdue.
//!
//! # States
//! `next` is the time at which a timer may be due, by the machine's clock, or never. It may be
//! early, because a cancellation leaves it alone, and is never late. The wheel lies under the lock.
//! A timer is *idle*, then *armed* (in the wheel of the processor that armed it, with its waker in
//! its [word](crate::primitives::wait_word)), then *fired*. An armed timer that is cancelled is
//! idle again.
//!
//! # Protocol
//! - *Arm*: under the lock, link the node and, if its deadline is before `next`, lower `next`.
//! - *Cancel*: under the lock, look at the word once more; unlink the node if it is still armed.
//! - *Fire*, at most [`GROUP`] under one hold of the lock: unlink, take the waker, store *fired*
//!   into the word, and, if no other is due, raise `next` to the earliest of the remaining timers;
//!   then, without the lock, wake. A worker fires at most [`GROUPS`](timing::GROUPS) of these
//!   before it goes on.
//! - *Owner*: it compares `next` with its coarse clock at the end of each batch and whenever it
//!   looks round.
//! - *Sleeper*: it announces itself ([`idle`](super::idle)), then takes the lock to learn the next
//!   deadline, and sleeps no longer. An armer on another thread that lowers `next` then looks
//!   whether the owner has announced itself, and unparks it.
//! - *Others*: a worker that looks at a processor anyway (to help, to steal, as the watch, which
//!   wakes up for it) fires for it when it is overdue, or at once if its worker is away (see
//!   [relief](crate::scheduler::relief)). An armer that lowers `next` while a worker sleeps makes
//!   the watch begin its rounds, and the watch sleeps no longer than until it would fire for
//!   another processor. None of the others waits for the lock: the system may have preempted its
//!   holder, and the next worker that looks finds the timer still overdue.
//! - *When all are away*: the last worker to go away, or the
//!   [lookout](crate::scheduler::lookout) that counts it in, calls the
//!   [relief](crate::scheduler::relief), and so does each armer that lowers `next` after that. None
//!   of them calls if the relief's rest ends by `next`.
//! - *When none sleeps*: an armer that lowers `next` while the lookout rests asks it to look,
//!   unless the lookout's rest ends soon after `next`.
//!
//! # Why no timer is lost
//! - *Owner awake*: it looks at `next` at the end of its batch, or another worker does: a searcher,
//!   a helper, or the watch. Either a worker sleeps, and one sleeper is the watch, which an armer
//!   and an owner that goes away have begin its rounds; or no worker sleeps, and all look round.
//!   For an owner that stays away the lookout looks too, after its rest.
//! - *Owner asleep*: its look and the arming are both under the lock. If its look comes second, it
//!   sees the deadline. If its look comes first, its announcement happens before the arming, so the
//!   armer sees the announcement and unparks the owner.
//! - *All away*: arming and going away form Dekker's pattern, `next` against the word of `idle`,
//!   with a full fence on either side. Arming and the relief's resting form another, `next` against
//!   `rests_until`. A worker that arms in its own poll makes a light fence only. It goes away
//!   itself with a full fence; a lookout that finds it [stuck](crate::scheduler::lookout) and
//!   counts it in makes a heavy fence, and then looks at `next`. From then on another worker may go
//!   away last, and the relief may rest. So a worker that finds itself counted in makes a full
//!   fence.
//!
//! # Why none is early
//! Arming rounds a deadline up to a tick, and firing rounds the time down; and coarse clocks are
//! late, never early.
//!
//! # How late
//! The owner fires a timer at the end of the first batch that ends after its tick: some 4 µs after
//! it, 32 where sockets wake the tasks, or after as long as a poll lasts. (A batch in which polls
//! turn from short to long may have [256](crate::policy::batch) of the long ones.) If more than
//! [`GROUPS`](timing::GROUPS) of [`GROUP`] are due, the others follow batch by batch. If a poll
//! lasts longer, another worker fires the timer when it looks at this processor
//! [`OVERDUE`](timing::OVERDUE) or more after the tick. Working workers look at one other processor
//! per batch, or [go round](crate::policy::helping::ROUND) a few others, searching workers look at
//! all. If all others sleep, the watch fires it, at most [`WATCH`](crate::policy::waking::WATCH)
//! later, or [`LONGEST_WATCH`](crate::policy::waking::LONGEST_WATCH) if the timer was armed while
//! the watch slept.
//!
//! # Cost
//! Arming and cancelling take a locked instruction each, and a count. `next` takes the owner one
//! load per batch.
//!
//! # Rejected
//! One wheel for a runtime: all armings would contend for its cache line. A count of references to
//! the runtime in each timer: another locked instruction on a shared line for arming, another for
//! dropping. Computing `next` anew at each cancellation: instead it is early once, and sleepers
//! compute it. A heap: its cost grows with the number of timers, and almost all timeouts are
//! cancelled.

#![allow(unsafe_code, reason = "nodes lie in futures")]

pub(crate) mod clock;
mod entry;
mod lease;
#[cfg(all(test, loom))]
mod model;
mod wheel;

pub(crate) use entry::{Entry, Progress};
pub(crate) use lease::Lease;

use crate::policy::timing::{self, GROUP};
use crate::primitives::ahead;
use crate::primitives::atomic::{AtomicU64, Ordering};
use crate::primitives::spin_lock::{SpinGuard, SpinLock};
use crate::primitives::wait_word::Word;
use clock::Clock;
use crossbeam_utils::CachePadded;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::task::Waker;
use wheel::Wheel;

/// Never.
pub(crate) const NEVER: u64 = u64::MAX;

/// The timers of one processor.
#[derive(Debug)]
pub(crate) struct Timers {
    /// The time at which a timer may be due, by the machine's clock.
    next: CachePadded<AtomicU64>,
    inner: SpinLock<Inner>,
}

struct Inner {
    wheel: Wheel,
    /// The rules of the runtime that has the wheel; none while no runtime has it.
    rules: Option<Rules>,
    tally: Tally,
}

/// Counts of a processor's timers since its runtime began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) armed: u64,
    pub(crate) fired: u64,
    pub(crate) cancelled: u64,
    /// Moves from one level of the wheel to a lower one.
    pub(crate) moved: u64,
}

/// The rules of a runtime's wheels.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) clock: Arc<Clock>,
    /// The binary logarithm of a tick's nanoseconds.
    pub(crate) tick_bits: u32,
    /// Wakes by the word of a waker, and takes the word up.
    wake: unsafe fn(*mut ()),
}

impl Rules {
    /// Makes the rules of a new runtime, by the resolution of its timers in nanoseconds. All its
    /// timers have wakers of the type `W`.
    pub(crate) fn new<W: Word>(resolution: u64) -> Self {
        /// # Safety
        /// The word is that of a `W`, and is taken up once.
        unsafe fn wake<W: Word>(word: *mut ()) {
            // SAFETY: the caller's promise.
            unsafe { W::from_raw(word) }.wake();
        }
        ahead::prepare();
        let (clock, tick_bits) = (Arc::new(Clock::new()), timing::tick_bits(resolution));
        Self { clock, tick_bits, wake: wake::<W> }
    }
}

/// The result of arming a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Armed {
    /// It is armed.
    Waits {
        /// Whether it is the next timer, so that a sleeper until the former next one has to be
        /// told.
        is_next: bool,
    },
    /// Its deadline has passed.
    Due,
    /// The runtime has ended.
    Over,
}

impl Timers {
    fn new() -> Self {
        Self {
            next: CachePadded::new(AtomicU64::new(NEVER)),
            inner: SpinLock::new(Inner {
                wheel: Wheel::new(),
                rules: None,
                tally: Tally::default(),
            }),
        }
    }

    /// The time at which a timer may be due, by the machine's clock.
    #[inline(always)]
    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Arms a timer, given `machine`, a recent time of the machine's clock. Drops the waker unless
    /// the timer then waits.
    ///
    /// # Safety
    /// The node is idle or fired. The caller is its future, which stays where it is and does not
    /// end before it has [cancelled](Self::cancel) the timer here or seen that the timer has ended.
    /// `W` is the type of wakers of the runtime's [rules](Rules::new).
    #[inline]
    pub(crate) unsafe fn arm<W: Word>(
        &self,
        entry: NonNull<Entry>,
        deadline: u64,
        machine: u64,
        waker: W,
    ) -> Armed {
        let mut inner = self.inner.lock();
        let Inner { wheel, rules, tally } = &mut *inner;
        let Some(Rules { clock, tick_bits, .. }) = rules else {
            return drop_unlocked(inner, waker, Armed::Over);
        };
        let now = clock.at(machine);
        if deadline <= now {
            return drop_unlocked(inner, waker, Armed::Due);
        }
        if wheel.is_empty() {
            wheel.set_elapsed(now >> *tick_bits);
        }
        // No overflow: a deadline is never zero here.
        let tick = ((deadline - 1) >> *tick_bits) + 1;
        // SAFETY: the caller's promise.
        unsafe { entry.as_ref() }.word.wait(waker);
        // SAFETY: the caller's promise; this thread has the lock.
        unsafe { wheel.insert(entry, tick, deadline) };
        tally.armed += 1;
        let next = clock.to_machine(tick.saturating_mul(1 << *tick_bits));
        let is_next = next < self.next();
        if is_next {
            self.next.store(next, Ordering::Relaxed);
        }
        Armed::Waits { is_next }
    }

    /// Cancels a timer that was armed here and may have ended meanwhile. Returns none if it has;
    /// otherwise it becomes idle, and its waker is the caller's.
    ///
    /// # Safety
    /// The timer was armed here with a `W`, and the caller is its future.
    #[inline]
    pub(crate) unsafe fn cancel<W: Word>(&self, entry: NonNull<Entry>) -> Option<W> {
        // SAFETY: the caller's promise: the future is there.
        let node = unsafe { entry.as_ref() };
        let mut inner = self.inner.lock();
        if node.progress() != Progress::Armed {
            return None;
        }
        // SAFETY: the timer is armed here, so it is in this wheel.
        unsafe { inner.wheel.remove(entry) };
        let waker = node.word.waker();
        node.set_idle();
        inner.tally.cancelled += 1;
        drop(inner);
        // SAFETY: while the timer was armed, its word was that of a `W`, which only the lock's
        // holder took.
        Some(unsafe { W::from_raw(waker) })
    }

    /// Makes a timer wake `waker`, and returns false; or returns true, if it has ended.
    ///
    /// # Safety
    /// As [`cancel`](Self::cancel).
    pub(crate) unsafe fn renew<W: Word>(&self, entry: &Entry, waker: &Waker) -> bool {
        let with_lock = |look: &mut dyn FnMut()| {
            let _inner = self.inner.lock();
            look();
        };
        // SAFETY: the caller's promise.
        unsafe { entry.word.renew(waker, with_lock, |_: &W| {}) }
    }

    /// Returns whether this is a wheel of the runtime that has `clock`.
    pub(crate) fn go_by(&self, clock: &Arc<Clock>) -> bool {
        self.inner.lock().rules.as_ref().is_some_and(|rules| Arc::ptr_eq(&rules.clock, clock))
    }

    /// Fires the timers that are due at `machine` by the machine's clock, and returns their number.
    pub(crate) fn fire(&self, machine: u64) -> usize {
        self.fire_groups(machine, usize::MAX, || Some(self.inner.lock()))
    }

    /// Fires some of them, for their owner, which polls tasks before it goes on. Until the last of
    /// them has fired, [`next`](Self::next) stays in the past.
    pub(crate) fn fire_some(&self, machine: u64) {
        self.fire_groups(machine, timing::GROUPS, || Some(self.inner.lock()));
    }

    /// Does the same for a worker that is not the owner. It does not wait for the lock, because the
    /// system may have preempted its holder.
    pub(crate) fn fire_if_free(&self, machine: u64) -> usize {
        self.fire_groups(machine, timing::GROUPS, || self.inner.try_lock())
    }

    fn fire_groups<'a>(
        &'a self,
        machine: u64,
        groups: usize,
        lock: impl Fn() -> Option<SpinGuard<'a, Inner>>,
    ) -> usize {
        let mut fired = 0;
        for _ in 0..groups {
            let Some(inner) = lock() else { return fired };
            let Some(wake) = inner.rules.as_ref().map(|rules| rules.wake) else { return fired };
            let mut due = Due::new(wake);
            let more = self.take_due(inner, machine, &mut due);
            fired += due.len;
            due.wake();
            if !more {
                break;
            }
        }
        fired
    }

    /// Takes a group of due timers. Returns true if there may be more.
    fn take_due(&self, mut inner: SpinGuard<'_, Inner>, machine: u64, due: &mut Due) -> bool {
        let Inner { wheel, rules: Some(Rules { clock, tick_bits, .. }), tally } = &mut *inner
        else {
            return false;
        };
        let now = clock.at(machine);
        while !due.is_full() {
            let mut entry = wheel.pop(now >> *tick_bits);
            if entry.is_none() && clock.stands() {
                // A tick is the first one that is not before the deadline.
                entry = wheel.pop_exact(now, (now >> *tick_bits).saturating_add(1));
            }
            let Some(entry) = entry else {
                self.publish(&mut inner);
                return false;
            };
            // SAFETY: the node was in the wheel, so its future is there.
            let node = unsafe { entry.as_ref() };
            due.push(node.end(false));
            tally.fired += 1;
        }
        true
    }

    /// Returns the counts so far.
    pub(crate) fn tally(&self) -> Tally {
        let inner = self.inner.lock();
        Tally { moved: inner.wheel.moved(), ..inner.tally }
    }

    /// Sets `next` by the timers in the wheel, and returns it.
    fn publish(&self, inner: &mut Inner) -> u64 {
        let Inner { wheel, rules, .. } = inner;
        let next = rules.as_ref().zip(wheel.next_tick()).map_or(NEVER, |(rules, tick)| {
            rules.clock.to_machine(tick.saturating_mul(1 << rules.tick_bits))
        });
        self.next.store(next, Ordering::Relaxed);
        next
    }

    /// Computes `next` without the cancelled timers, and returns it: for use before a sleep, and
    /// when the clock has changed.
    pub(crate) fn refresh(&self) -> u64 {
        self.publish(&mut self.inner.lock())
    }

    /// Returns the earliest deadline by the runtime's clock, to the nanosecond.
    pub(crate) fn earliest(&self) -> Option<u64> {
        self.inner.lock().wheel.earliest()
    }

    /// Ends all timers, because their runtime ends, and refuses later ones. One thread closes: the
    /// one that ends the runtime, or that drops its last share.
    pub(crate) fn close(&self) {
        let mut wake = None;
        loop {
            let mut inner = self.inner.lock();
            wake = wake.or(inner.rules.take().map(|rules| rules.wake));
            // Without rules nothing is armed.
            let Some(wake) = wake else { return };
            let mut due = Due::new(wake);
            while let Some(entry) = inner.wheel.pop(u64::MAX) {
                // SAFETY: the node was in the wheel, so its future is there.
                let node = unsafe { entry.as_ref() };
                due.push(node.end(true));
                if due.is_full() {
                    break;
                }
            }
            self.next.store(NEVER, Ordering::Relaxed);
            drop(inner);
            if due.len == 0 {
                return;
            }
            due.wake();
        }
    }

    fn open(&self, rules: Rules) {
        let mut inner = self.inner.lock();
        // The end of the former runtime has emptied it.
        inner.wheel = Wheel::new();
        inner.tally = Tally::default();
        inner.rules = Some(rules);
    }
}

/// Releases the lock, then drops a waker, which may run a caller's code.
fn drop_unlocked<T, R>(lock: impl Sized, waker: T, result: R) -> R {
    drop(lock);
    drop(waker);
    result
}

/// The words of the wakers of a group of timers that are due.
struct Due {
    words: [*mut (); GROUP],
    len: usize,
    wake: unsafe fn(*mut ()),
}

impl Due {
    fn new(wake: unsafe fn(*mut ())) -> Self {
        Self { words: [ptr::null_mut(); GROUP], len: 0, wake }
    }

    fn is_full(&self) -> bool {
        self.len == GROUP
    }

    fn push(&mut self, word: *mut ()) {
        self.words[self.len] = word;
        self.len += 1;
    }

    fn wake(self) {
        for &word in &self.words[..self.len] {
            // SAFETY: each word was taken from a timer that has ended, so it is taken up once; the
            // wheel's timers are armed with wakers of the type of its rules.
            unsafe { (self.wake)(word) };
        }
    }
}
