//! The slice of a poll: how long the task may go on with operations that do not wait.
//!
//! # Roles
//! The *worker* has one [`Slice`], for the poll that it makes. An *operation* of the polled task
//! that can complete at once takes one unit of it, or yields. A thread in `block_on` that is no
//! worker has one too, for the future that it runs. Other threads have no slice, and neither has a
//! worker between two polls.
//!
//! # Steps
//! 1. *Take*: an operation counts the units down. Nothing is set back when a poll begins, so a poll
//!    may begin with the units that another one has left.
//! 2. *Look*: an operation that finds no unit reads the clock. The first look of a poll begins its
//!    slice. A later look grants more units, as long as the slice is not over.
//! 3. *Refuse*: once the slice is over no units are granted. Each operation looks, is refused, and
//!    has the task yield, until the poll ends.
//!
//! # How a poll is told from another
//! By its task, and by the worker's coarse clock, which the worker sets at the end of each batch
//! and never inside a poll. So no poll stores anything. A task that is polled again in the same
//! batch goes on with its slice. The batch ends after
//! [`MOST_POLLS`](crate::policy::batch::MOST_POLLS) at the latest, and the first look in the next
//! one grants units: so each task makes progress. A thread in `block_on` numbers its polls: two
//! stores for each, beside the swap that takes its wake.
//!
//! # A poller that comes back at once
//! A blocking executor inside a task polls its future again in the same poll of the task, whose
//! slice does not end. Of the refused operations, [some](crate::policy::budget::passes) go on all
//! the same.
//!
//! # A poller that does not come back
//! A plain step of a coroutine polls once, and a yield would be its error. So a thread counts the
//! steps that it is inside. There operations take units as elsewhere, and none is refused. A poll
//! that begins inside a step, on the same thread, is inside none: its poller comes back.
//!
//! # Rejected
//! Units that are set at the beginning of each poll, as Tokio does: a store for each poll, where a
//! switch takes 3 ns. A slice from the beginning of the batch: the polls that follow a long one
//! would yield at once. A second poll of a coroutine's body whose plain step was refused: the
//! compiler inlines a body that is polled in one place only, and a step took 4 to 8 ns instead of
//! 0.2 to 0.5. The clock that is [never behind](crate::primitives::ahead): its readings are
//! cheaper, and yet `evenkeel-bench run --bench fanin` takes a tenth longer with one worker.

use crate::policy::budget;
use crate::primitives::clock;
use crate::primitives::thread::thread_local;
use std::cell::Cell;

/// The poll that a thread makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Poll {
    /// It makes none.
    None,
    /// One in a run that a seed determines.
    Seeded,
    /// One of the task with its header at `address`, in the batch that began at `batch`.
    Task { address: usize, batch: u64 },
}

thread_local! {
    /// Operations of this thread until the next look. On the thread itself, so that an operation
    /// need not ask whether that is a worker.
    static LEFT: Cell<u32> = const { Cell::new(budget::MOST) };
}

thread_local! {
    /// The plain steps of coroutines that this thread is inside, in the poll that it makes.
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

thread_local! {
    /// What this thread has while it is no worker.
    static OUTSIDE: Outside = const { Outside::new() };
}

/// Takes a unit of the slice of this thread's poll. Returns false if the operation has to look
/// first.
#[inline(always)]
pub(crate) fn take() -> bool {
    LEFT.with(|left| {
        let units = left.get();
        if units == 0 {
            return false;
        }
        left.set(units - 1);
        true
    })
}

/// Returns whether the next operation of this thread finds a unit.
#[inline]
pub(crate) fn has_units() -> bool {
    left() > 0
}

fn left() -> u32 {
    LEFT.with(Cell::get)
}

fn set_left(units: u32) {
    LEFT.with(|left| left.set(units));
}

/// Returns whether this thread is inside a plain step, where no operation is refused.
pub(crate) fn is_in_step() -> bool {
    STEPS.with(Cell::get) > 0
}

/// Sets how many plain steps this thread is inside, and returns how many it was.
pub(super) fn replace_steps(steps: u32) -> u32 {
    STEPS.with(|inside| inside.replace(steps))
}

/// A plain step of this thread, which ends when it is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Step(());

impl Step {
    #[inline(always)]
    pub(crate) fn begin() -> Self {
        STEPS.with(|steps| steps.set(steps.get() + 1));
        Self(())
    }
}

impl Drop for Step {
    #[inline(always)]
    fn drop(&mut self) {
        STEPS.with(|steps| steps.set(steps.get() - 1));
    }
}

/// Calls `f` with the slice of this thread, which is no worker, and its poll.
pub(crate) fn outside<R>(f: impl FnOnce(&Slice, Poll) -> R) -> R {
    OUTSIDE.with(|outside| f(&outside.slice, outside.poll.get()))
}

/// Begins a poll of this thread in `block_on`, which ends when the guard is dropped.
pub(crate) fn begin_outside() -> Begun {
    OUTSIDE.with(|outside| {
        let number = outside.polls.get() + 1;
        outside.polls.set(number);
        let former = outside.poll.replace(Poll::Task { address: 0, batch: number });
        Begun { former, steps: replace_steps(0) }
    })
}

/// What a thread has that is no worker.
#[derive(Debug)]
struct Outside {
    slice: Slice,
    /// The number of its polls so far.
    polls: Cell<u64>,
    /// The poll that it makes.
    poll: Cell<Poll>,
}

impl Outside {
    const fn new() -> Self {
        Self { slice: Slice::idle(0), polls: Cell::new(0), poll: Cell::new(Poll::None) }
    }
}

/// Ends a poll when it is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Begun {
    former: Poll,
    steps: u32,
}

impl Drop for Begun {
    fn drop(&mut self) {
        OUTSIDE.with(|outside| outside.poll.set(self.former));
        replace_steps(self.steps);
    }
}

/// What the poll of a thread has left, beside its units.
#[derive(Debug)]
pub(crate) struct Slice {
    /// Operations that the last look has granted.
    granted: Cell<u32>,
    /// Refused operations.
    refused: Cell<u32>,
    /// Whether the operations are exempt.
    is_exempt: Cell<bool>,
    /// When the last look was.
    looked: Cell<u64>,
    /// When the slice began.
    began: Cell<u64>,
    /// The poll that it belongs to.
    poll: Cell<Poll>,
}

impl Slice {
    /// Makes the slice of the polls of this thread.
    pub(super) fn new(now: u64) -> Self {
        set_left(budget::MOST);
        Self::idle(now)
    }

    const fn idle(now: u64) -> Self {
        Self {
            granted: Cell::new(budget::MOST),
            refused: Cell::new(0),
            is_exempt: Cell::new(false),
            looked: Cell::new(now),
            began: Cell::new(now),
            poll: Cell::new(Poll::None),
        }
    }

    /// Begins a poll whose units follow from a seed.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn begin_seeded(&self) {
        set_left(budget::OPERATIONS);
    }

    /// Exempts all operations until the guard is dropped.
    pub(crate) fn exempt(&self) -> Exempt<'_> {
        let before = (left(), self.is_exempt.replace(true));
        set_left(u32::MAX);
        Exempt { slice: self, before }
    }

    /// Looks at the clock for an operation that has found no unit. Returns whether it goes on.
    pub(crate) fn look(&self, poll: Poll) -> bool {
        if self.renew(poll) { take() } else { self.refuse() }
    }

    /// Looks at the clock, where no unit is left, and grants some if the slice is not over. Returns
    /// whether it does.
    pub(crate) fn renew(&self, poll: Poll) -> bool {
        if self.is_exempt.get() || poll == Poll::None {
            set_left(budget::MOST);
            return true;
        }
        if poll == Poll::Seeded {
            return false;
        }
        let now = clock::now();
        let took = now.saturating_sub(self.looked.replace(now));
        let slice = budget::left(now.saturating_sub(self.begin(poll, now)));
        if slice == 0 {
            return false;
        }
        let granted = budget::grant(self.granted.get(), took, slice);
        self.granted.set(granted);
        set_left(granted);
        true
    }

    /// Returns how much of its slice a poll has left, in nanoseconds; `None` if there is no poll,
    /// and `u64::MAX` if its operations are exempt.
    pub(crate) fn remaining(&self, poll: Poll) -> Option<u64> {
        match poll {
            Poll::None => None,
            _ if self.is_exempt.get() => Some(u64::MAX),
            Poll::Seeded => {
                // A loop that asks until nothing is left comes to its end.
                take();
                Some(budget::left_of(left()))
            }
            Poll::Task { .. } => {
                let now = clock::now();
                Some(budget::left(now.saturating_sub(self.begin(poll, now))))
            }
        }
    }

    /// Begins the slice of this poll if it has not begun, and returns when it began.
    fn begin(&self, poll: Poll, now: u64) -> u64 {
        if self.poll.replace(poll) != poll {
            self.began.set(now);
        }
        self.began.get()
    }

    /// Refuses an operation. Returns whether it goes on all the same.
    fn refuse(&self) -> bool {
        if is_in_step() {
            return true;
        }
        self.refused.set(self.refused.get().wrapping_add(1));
        budget::passes(self.refused.get())
    }
}

/// Ends an exemption when it is dropped.
#[derive(Debug)]
pub(crate) struct Exempt<'a> {
    slice: &'a Slice,
    before: (u32, bool),
}

impl Drop for Exempt<'_> {
    fn drop(&mut self) {
        set_left(self.before.0);
        self.slice.is_exempt.set(self.before.1);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_slice_belongs_to_the_polls_of_one_task_in_one_batch() {
        let slice = Slice::new(0);
        let poll = |address, batch| Poll::Task { address, batch };
        assert_eq!(slice.begin(poll(64, 0), 10), 10);
        assert_eq!(slice.begin(poll(64, 0), 20), 10);
        assert_eq!(slice.begin(poll(128, 0), 30), 30, "another task");
        assert_eq!(slice.begin(poll(128, 40), 50), 50, "another batch");
    }

    #[test]
    fn polls_outside_of_workers_have_slices_of_their_own() {
        let poll = || outside(|_, poll| poll);
        assert_eq!(poll(), Poll::None);
        let outer = begin_outside();
        let first = poll();
        let inner = begin_outside();
        assert_ne!(poll(), first);
        drop(inner);
        assert_eq!(poll(), first);
        drop(outer);
        assert_eq!(poll(), Poll::None);
        let _next = begin_outside();
        assert_ne!(poll(), first);
    }

    #[test]
    fn of_refused_operations_some_go_on() {
        let slice = Slice::new(0);
        slice.begin_seeded();
        assert!((0..budget::OPERATIONS).all(|_| take()));
        let gone_on = (0..3_200).filter(|_| take() || slice.look(Poll::Seeded)).count();
        assert!((50..150).contains(&gone_on), "{gone_on}");
        assert_eq!(slice.remaining(Poll::Seeded), Some(0));
        assert_eq!(slice.remaining(Poll::None), None);
        assert!(slice.look(Poll::None), "no poll is kept from anything");
    }

    #[test]
    fn an_exemption_leaves_the_units_as_they_were() {
        let slice = Slice::new(0);
        assert!(take());
        {
            let _outer = slice.exempt();
            let _inner = slice.exempt();
            assert!((0..1_000).all(|_| take()));
        }
        assert_eq!((left(), slice.is_exempt.get()), (budget::MOST - 1, false));
        assert!((1..budget::MOST).all(|_| take()));
        assert!(!take());
    }
}
