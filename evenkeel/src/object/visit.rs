//! How a task comes to an object and in. A task that `READS` goes in beside other readers, where it
//! can, and otherwise as any other task.

#![allow(unsafe_code, reason = "it looks at what the worker knows of itself")]

use super::door::Refusal;
use super::error::EnterError;
use super::inner::Inner;
use super::line::Turn;
use super::way::Way;
use crate::primitives::spin::pause;
use crate::processor::context::Context;
use crate::processor::entered;
use crate::raw_task::kept;
use crate::task::waker;
use std::fmt;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{self, Poll, ready};

/// Pauses before each look at an object that is taken, until the task gives others a turn. The
/// first look comes when a short operation is over. A task that finds the object taken again is one
/// of many, and each of them takes the line from the operation inside; so the second look lets that
/// operation go on for a while. Six looks after 1, 2, 4 pauses and so on made half as many
/// operations on a counter; longer pauses cost tasks that work for 100 ns between their operations
/// more than they gain (`evenkeel-bench run --bench counters,heap --objects 1 --runtime
/// tasks+parking_lot,in-place`, `--bench own --steps 50,100,200`). One look in the models.
const PAUSES: &[u32] = if cfg!(any(loom, shuttle)) { &[1] } else { &[8, 64] };

/// Journeys of one entry before it takes the object from its home: the task was taken away on its
/// way each time, or its poller does not let it go. The fewest that show that a host stands still.
/// 1, 4 and 16 are alike (`evenkeel-bench run --bench map,heap,histogram,graph,bank,directory
/// --tasks-per-core 16 --runtime home`).
const JOURNEYS: u64 = 2;

/// The result of a step: a way if the entry is inside; an error if it never will be; no way if a
/// held operation is inside, and the entry waits in line.
type Step = Result<Option<Way>, EnterError>;

/// The state of one entry on its way. It lies in the task that travels, so what few entries need is
/// in a box.
#[derive(Debug, Default)]
pub(super) struct Visit {
    progress: Progress,
    /// Initialised only if [`Progress::RARE`] is set, by which it is dropped.
    rare: ManuallyDrop<Option<Box<Rare>>>,
}

/// One poll of an entry: into which object, by which worker, and for which waker.
struct EntryPoll<'a, 'c, T, const READS: bool> {
    visit: &'a mut Visit,
    object: &'a Inner<T>,
    context: Option<&'a Context>,
    cx: &'a mut task::Context<'c>,
}

/// How far an entry has come: its journeys, above some marks. It is one word, which is zero for a
/// new entry: nearly all get in at once, and the compiler sees that there is nothing more to ask.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress(u64);

impl Progress {
    /// Its worker, if there is one, has counted it, and it did not get in at once.
    const COUNTED: u64 = 1;
    /// It is one of the few entries that are looked at.
    const LOOKED_AT: u64 = 2;
    /// It needs the box for what few entries need.
    const RARE: u64 = 4;
    /// It keeps its turn in line once it is inside.
    const KEEPS: u64 = 8;
    /// It is a read that goes in alone, and lets all others read the object without a count.
    const SHARES: u64 = 16;
    const JOURNEY: u64 = 32;

    /// The progress of a new entry.
    pub(super) const NEW: Self = Self(0);
    /// The progress of an entry that is tried again, and was counted the first time.
    pub(super) const AGAIN: Self = Self(Self::COUNTED);

    #[inline(always)]
    fn has(self, mark: u64) -> bool {
        self.0 & mark != 0
    }

    #[inline(always)]
    fn is_new(self) -> bool {
        self.0 == 0
    }

    #[inline(always)]
    fn journeys(self) -> u64 {
        self.0 / Self::JOURNEY
    }
}

/// What an entry that is held up has to remember.
#[derive(Debug, Default)]
struct Rare {
    /// Its target when it was last taken away on its way, and how many tasks had left the queue
    /// there.
    departures: Option<(usize, usize)>,
    /// The place in line, where there is one, and then the turn.
    waiting: Option<Waiting>,
    turn: Option<Turn>,
    /// Its waker, while a party of another thread keeps the object across polls.
    kept: Option<kept::Waiter>,
}

/// A place in line.
struct Waiting(Pin<Box<dyn Future<Output = Turn> + Send>>);

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").finish_non_exhaustive()
    }
}

impl Drop for Visit {
    #[inline(always)]
    fn drop(&mut self) {
        if self.progress.has(Progress::RARE) {
            self.end_rare();
        }
    }
}

/// Comes in, if all classes of the caller's runtime are entered in place, and nothing is in the
/// way. Otherwise returns how far the entry has come. Most come in, and leave nothing in their
/// task.
#[inline(always)]
pub(super) fn at_once<T, const READS: bool>(object: &Inner<T>) -> Result<Way, Progress> {
    // SAFETY: only this call uses it.
    let Some(context) = (unsafe { entered::current() }) else { return Err(Progress::NEW) };
    if context.shared().is_anything_elsewhere() {
        return Err(Progress::NEW);
    }
    if context.operations.count() {
        return Err(Progress(Progress::LOOKED_AT));
    }
    let way = if READS {
        object.enter_as_reader(context, true)
    } else {
        object.door.enter_in_place(context)
    };
    way.ok_or(Progress::AGAIN)
}

/// The rest of an entry that has come as far as `progress`. Its last poll goes on inside.
pub(super) struct Coming<'a, T, const READS: bool> {
    object: &'a Inner<T>,
    visit: Visit,
}

impl<'a, T, const READS: bool> Coming<'a, T, READS> {
    pub(super) fn new(object: &'a Inner<T>, progress: Progress) -> Self {
        Self { object, visit: progress.into() }
    }
}

impl<T, const READS: bool> Future for Coming<'_, T, READS> {
    type Output = Result<Way, EnterError>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        let Self { object, visit } = &mut *self;
        visit.poll::<T, READS>(object, cx)
    }
}

impl From<Progress> for Visit {
    fn from(progress: Progress) -> Self {
        Self { progress, rare: ManuallyDrop::default() }
    }
}

impl Visit {
    /// An entry of a task that has its turn in line, and keeps it.
    pub(super) fn in_turn(turn: Turn) -> Self {
        let mut visit = Self::from(Progress(Progress::KEEPS));
        visit.rare_mut().turn = Some(turn);
        visit
    }

    /// Whether it waits in line.
    pub(super) fn is_in_line(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.waiting.is_some())
    }

    /// Returns the turn, once inside.
    pub(super) fn into_turn(mut self) -> Option<Turn> {
        self.rare.take()?.turn
    }

    #[cold]
    fn rare_mut(&mut self) -> &mut Rare {
        self.progress.0 |= Progress::RARE;
        self.rare.get_or_insert_default()
    }

    /// Where the waker lies while a party of another thread keeps the object.
    #[cold]
    pub(super) fn kept_waiter(&mut self) -> &mut Option<kept::Waiter> {
        &mut self.rare_mut().kept
    }

    #[cold]
    fn end_rare(&mut self) {
        self.progress.0 &= !Progress::RARE;
        drop(self.rare.take());
    }

    /// Comes to the object and in, and passes the turn or the place in line on: the next in line
    /// waits for it, and this visit may be kept.
    #[inline(always)]
    pub(super) fn poll<T, const READS: bool>(
        &mut self,
        object: &Inner<T>,
        cx: &mut task::Context<'_>,
    ) -> Poll<Result<Way, EnterError>> {
        // SAFETY: only this call uses it.
        let context = unsafe { entered::current() };
        if let Some(context) = context
            && !self.progress.has(Progress::COUNTED | Progress::LOOKED_AT)
        {
            if self.progress.is_new()
                && let Some(target) = context.whereabouts_of(object.door.address())
            {
                // The task does not even look at the object: the object's lines are at its home.
                let context = Some(context);
                return EntryPoll::<_, READS> { visit: self, object, context, cx }.set_out(target);
            }
            if context.operations.count() {
                self.progress.0 |= Progress::LOOKED_AT;
            } else if READS && let Some(way) = object.enter_as_reader(context, true) {
                return Poll::Ready(Ok(way));
            } else if let Some(way) = object.door.enter_at_once(&object.class, context) {
                return Poll::Ready(Ok(way));
            }
        }
        EntryPoll::<_, READS> { visit: self, object, context, cx }.later()
    }
}

impl<T, const READS: bool> EntryPoll<'_, '_, T, READS> {
    /// As [`Visit::poll`], for an entry that did not get in at once.
    #[inline(never)]
    fn later(&mut self) -> Poll<Result<Way, EnterError>> {
        let way = ready!(self.in_line());
        if self.visit.progress.has(Progress::RARE) && !self.visit.progress.has(Progress::KEEPS) {
            self.visit.end_rare();
        }
        Poll::Ready(way)
    }

    /// As [`later`](Self::later), but keeps the turn in line.
    fn in_line(&mut self) -> Poll<Result<Way, EnterError>> {
        let (object, is_new) = (self.object, !self.visit.progress.has(Progress::COUNTED));
        self.visit.progress.0 |= Progress::COUNTED;
        if let Some(context) = self.context
            && is_new
            && self.visit.progress.has(Progress::LOOKED_AT)
        {
            object.class.count(context);
            if READS && object.is_to_be_shared(context) {
                self.visit.progress.0 |= Progress::SHARES;
            }
            // A task that has come from another worker has given the tasks there their turn.
            if self.visit.progress.journeys() == 0 && is_turn_over(object, context) {
                return self.again();
            }
        }
        // The wait is a part of what it costs that others use the object too.
        let began = self.begin();
        loop {
            if let Some(rare) = self.visit.rare.as_mut()
                && let Some(Waiting(waiting)) = &mut rare.waiting
            {
                // Another part of the task may hold the object by now, and wait for this one.
                object.refuse_own(self.context)?;
                let turn = ready!(waiting.as_mut().poll(self.cx));
                rare.waiting = None;
                rare.turn = Some(turn);
            }
            let in_turn = self.visit.rare.as_ref().is_some_and(|rare| rare.turn.is_some());
            if let Some(way) = self.enter_as_reader() {
                return Poll::Ready(Ok(way));
            }
            let step = match object.enter(self.context) {
                Ok(way) => Poll::Ready(Ok(Some(way))),
                Err(Refusal::Away(target)) => self.travel(usize::from(target)),
                Err(Refusal::Taken) => self.wait(in_turn),
            };
            if let Some(way) = ready!(step)? {
                return Poll::Ready(self.admit(way, began));
            }
            self.visit.rare_mut().waiting = Some(Waiting(Box::pin(object.line().turn())));
        }
    }

    /// What is left to do inside, for an entry that may be sampled.
    fn admit(&self, way: Way, began: Option<u64>) -> Result<Way, EnterError> {
        let mut way = refuse_poisoned(self.object, way)?;
        let Some(context) = self.context else { return Ok(way) };
        // Another read may have shared the object while this one waited, and let it in beside
        // others.
        if self.visit.progress.has(Progress::SHARES) && !way.is_shared() {
            // Readers that know the object's home go on travelling there until they doubt it.
            self.object.door.share();
            way = way.changed();
        }
        let Some(began) = began.filter(|_| way.is_host()) else { return Ok(way) };
        context.operations.begin_sample(self.object.door.address(), began);
        Ok(way.sampled())
    }

    /// Returns when the entry begins, if it is sampled: the time to fetch the object belongs to the
    /// operation.
    fn begin(&self) -> Option<u64> {
        let is_sample = |context: &&Context| {
            // The time of a held object says nothing: its task holds it as long as it likes.
            self.visit.progress.has(Progress::LOOKED_AT)
                && !self.visit.progress.has(Progress::RARE)
                && self.object.door.host(&self.object.class) == Some(context.seat.me())
        };
        self.context.filter(is_sample).map(|context| context.ahead.now())
    }

    /// Has the task travel to worker `target`, if the caller is a task.
    #[inline]
    fn set_out<R>(&mut self, target: usize) -> Poll<R> {
        self.visit.progress.0 += Progress::JOURNEY;
        self.context.inspect(|context| context.travel(target));
        self.wake_if_foreign();
        Poll::Pending
    }

    /// Goes to the object's home, or takes the object from there.
    #[cold]
    fn travel(&mut self, target: usize) -> Poll<Step> {
        let Some(context) = self.context.filter(|context| context.task().is_some()) else {
            return self.take(false);
        };
        let mut is_stuck = false;
        // Where several parts of a task are on their way, the task goes where the last one has sent
        // it.
        if self.visit.progress.journeys() > 0 && !context.was_sent_here() {
            // The task was taken away on its way.
            let shared = context.shared();
            let departures = shared.processors[target].published.departures();
            let seen = Some((target, departures));
            let before = &mut self.visit.rare_mut().departures;
            let stands_still = std::mem::replace(before, seen) == seen;
            // The task may come from where another part has sent it: a worker that sleeps is not
            // stuck.
            is_stuck = stands_still && !shared.idle.is_asleep(target);
        }
        if is_stuck || self.visit.progress.journeys() == JOURNEYS {
            return self.take(is_stuck);
        }
        context.note_whereabouts(self.object.door.address(), target);
        self.set_out(target)
    }

    /// Takes the object from its home; with `suspend` the object is entered in place until the host
    /// is back.
    #[cold]
    fn take(&mut self, suspend: bool) -> Poll<Step> {
        let (door, context) = (&self.object.door, self.context);
        let Ok(way) = door.enter_here(&self.object.class, context) else {
            return self.wait(true);
        };
        if suspend {
            door.suspend();
            context.inspect(|context| context.shared().forget_whereabouts());
        }
        Poll::Ready(Ok(Some(way)))
    }

    /// Looks again, at once or after a turn of other tasks, or waits in line.
    #[cold]
    fn wait(&mut self, in_turn: bool) -> Poll<Step> {
        let (object, context) = (self.object, self.context);
        object.refuse_own(context)?;
        if !in_turn && object.door.is_held() {
            return Poll::Ready(Ok(None));
        }
        if object.waits(context, self.cx.waker(), || self.visit.kept_waiter()) {
            return Poll::Pending;
        }
        for &pauses in PAUSES {
            (0..pauses).for_each(|_| pause());
            let enter = || if object.door.is_locked() { None } else { object.enter(context).ok() };
            if let Some(way) = self.enter_as_reader().or_else(enter) {
                return Poll::Ready(Ok(Some(way)));
            }
        }
        self.again()
    }

    /// Enters beside other readers, if the entry `READS`.
    fn enter_as_reader(&self) -> Option<Way> {
        let context = self.context.filter(|_| READS)?;
        self.object.enter_as_reader(context, !self.visit.progress.has(Progress::SHARES))
    }

    /// Gives other tasks a turn.
    #[cold]
    fn again<R>(&mut self) -> Poll<R> {
        match self.context {
            Some(context) if context.task().is_some() => {
                context.go_again();
                self.wake_if_foreign();
            }
            _ => self.cx.waker().wake_by_ref(),
        }
        Poll::Pending
    }

    /// Wakes the waker if it is not that of the task which is being polled: some part of that task
    /// has to look at this entry again.
    fn wake_if_foreign(&self) {
        let is_own = waker::task_of(self.cx.waker())
            .is_some_and(|task| self.context.is_some_and(|context| context.polls(task.ptr())));
        if !is_own {
            self.cx.waker().wake_by_ref();
        }
    }
}

/// Leaves again, if the object is poisoned.
#[inline(always)]
pub(super) fn refuse_poisoned<T>(object: &Inner<T>, way: Way) -> Result<Way, EnterError> {
    // A way with a known word has come in past no flag.
    if way.leaving().is_some() || !object.door.is_poisoned() {
        return Ok(way);
    }
    object.door.leave();
    Err(EnterError::poisoned(object.names()))
}

/// Whether the task has to give others a turn. At a home it does, since tasks that come to the
/// object may be among them; elsewhere after it has had its turn for long. In a deterministic run
/// time stands, and operations count.
fn is_turn_over<T>(object: &Inner<T>, context: &Context) -> bool {
    object.door.host(&object.class).is_some()
        || context.shared().hooks.deterministic
        || context.operations.is_turn_over(context.ahead.now())
}
