//! The numbers of tasks, and those of threads, which no task has.

use crate::primitives::thread::thread_local;
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A task's number: unique in its process for as long as the process lives.
///
/// # Examples
/// ```
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let (a, b) = (runtime.spawn(async {}), runtime.spawn(async {}));
/// assert_ne!(a.id(), b.id());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(u64);

impl Id {
    /// A number that no task has.
    pub(crate) const NONE: Self = Self(0);

    /// The number itself; not zero.
    pub(crate) fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The next free number. A plain `std` atomic: a model need not explore it.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Numbers that a processor takes at a time, so that processors do not meet at each spawn.
const BLOCK: u64 = 1024;

/// Numbers of a [row](Ids::row): more than the tasks of a run, and the process has two billion
/// rows.
#[cfg(not(any(loom, shuttle)))]
const ROW: u64 = 1 << 32;

/// The numbers reserved by a processor, or by a thread that makes coroutines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ids {
    next: u64,
    end: u64,
}

impl Ids {
    pub(crate) const fn new() -> Self {
        Self { next: 0, end: 0 }
    }

    /// Numbers without a gap, for tasks that are told apart by the distance to the first of them.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn row() -> Self {
        let next = NEXT.fetch_add(ROW, Ordering::Relaxed);
        Self { next, end: next + ROW }
    }

    /// Returns the place of a number in this row, if it has it.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn place(&self, id: Id) -> Option<u64> {
        id.0.checked_sub(self.next).filter(|_| id.0 < self.end)
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Id {
        if self.next == self.end {
            self.next = NEXT.fetch_add(BLOCK, Ordering::Relaxed);
            self.end = self.next + BLOCK;
        }
        let id = self.next;
        self.next += 1;
        Id(id)
    }
}

/// Takes a number for a task that is spawned from outside the runtime.
pub(crate) fn take_one() -> Id {
    Id(NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The bit that tells the number of a thread from that of a task.
const THREAD: u64 = 1 << 63;

/// The next number of a thread. A plain `std` atomic, as above.
static NEXT_THREAD: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// The number of this thread; zero before it is first asked for.
    static OWN: Cell<u64> = const { Cell::new(0) };
}

/// Returns the number of the calling thread. No task has it, and no other thread ever has it, even
/// after this one has ended; an address could be reused by a later thread.
#[inline(always)]
pub(crate) fn of_thread() -> Id {
    Id(THREAD | among_threads())
}

/// Returns the same number without the bit `THREAD`: not zero, and below 2^36, more threads than
/// a process starts.
#[inline(always)]
pub(crate) fn among_threads() -> u64 {
    match OWN.try_with(Cell::get) {
        Ok(number) if number != 0 => number,
        _ => number_thread(),
    }
}

#[cold]
fn number_thread() -> u64 {
    let number = NEXT_THREAD.fetch_add(1, Ordering::Relaxed);
    // `OWN` has no destructor. If access fails all the same, the thread gets a new number each
    // time, and is not recognised.
    let _ = OWN.try_with(|own| own.set(number));
    number
}
