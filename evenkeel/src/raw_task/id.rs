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
    /// A number that is never given.
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

/// The next number that nobody has. A plain `std` atomic: a model need not explore it.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Numbers that a processor takes at a time, so that processors do not meet at each spawn.
const BLOCK: u64 = 1024;

/// The own numbers of a processor, or of a thread that makes coroutines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ids {
    next: u64,
    end: u64,
}

impl Ids {
    pub(crate) const fn new() -> Self {
        Self { next: 0, end: 0 }
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

/// A number for a task that is spawned from outside.
pub(crate) fn take_one() -> Id {
    Id(NEXT.fetch_add(1, Ordering::Relaxed))
}

/// What tells the number of a thread from that of a task.
const THREAD: u64 = 1 << 63;

/// The next number of a thread. A plain `std` atomic, as above.
static NEXT_THREAD: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// The number of this thread; none before it is asked for.
    static OWN: Cell<u64> = const { Cell::new(0) };
}

/// The number of the calling thread, which no task has and no other thread, also after this one has
/// ended: an address may be that of a later thread.
#[inline(always)]
pub(crate) fn of_thread() -> Id {
    Id(THREAD | among_threads())
}

/// The same number among those of threads alone: not zero, and below 2^36, as many threads as a
/// process does not start.
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
    // It has no destructor; where that is an error all the same, the thread has a new number each
    // time, and is not known again.
    let _ = OWN.try_with(|own| own.set(number));
    number
}
