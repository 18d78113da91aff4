//! Counts that many threads add to and few read.
//!
//! Each thread has a line of its own, to which it adds by a load and a store; who reads takes the
//! sum. Threads beyond the first few share one line and add by locked instructions.
//!
//! # Why nothing is lost
//! A line is one thread's for as long as that lives: its number is taken and given back under a
//! lock, which orders the stores of the one before it. A thread whose own things are being
//! destroyed has given its number back, and uses the shared line.
//!
//! An addition releases and a sum acquires, so that whoever has seen the end of an actor counted
//! finds counted what was so before.
//!
//! # Rejected
//! One word for all: workers that spawn or drop would take it from each other, 20 to 50 ns each
//! time. A line per worker: several runtimes may share a system, and threads that are no workers
//! send as well.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What is counted in a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    Spawned,
    Ended,
    Failed,
    Restarted,
    Messages,
    DroppedNewest,
    DroppedOldest,
    LeftBehind,
    LateReply,
    Undelivered,
    Unrecorded,
}

/// How many there are.
const COUNTS: usize = Count::Unrecorded as usize + 1;

/// Threads that have a line of their own. An estimate: more than this have few cores to run on; no
/// benchmark sets it.
const OWN: usize = 63;

/// The counts of one system.
#[derive(Debug)]
pub(crate) struct Counters {
    lines: [Line; OWN + 1],
}

/// Two cache lines, as processors fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Line([AtomicU64; COUNTS]);

/// Says that a thread has asked for no number yet.
const UNKNOWN: usize = usize::MAX;

thread_local! {
    /// The thread's line.
    static LINE: Cell<usize> = const { Cell::new(UNKNOWN) };
    /// Gives the number back when the thread ends.
    static LEASE: Lease = Lease(take_number());
}

/// Numbers that no living thread has.
static FREE: Mutex<Free> = Mutex::new(Free { given_back: Vec::new(), next: 0 });

struct Free {
    given_back: Vec<usize>,
    next: usize,
}

struct Lease(usize);

impl Drop for Lease {
    fn drop(&mut self) {
        LINE.set(OWN);
        if self.0 < OWN {
            FREE.lock().unwrap_or_else(PoisonError::into_inner).given_back.push(self.0);
        }
    }
}

fn take_number() -> usize {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(number) = free.given_back.pop() {
        return number;
    }
    let number = free.next.min(OWN);
    free.next = (number + 1).min(OWN);
    number
}

#[cold]
fn first_line() -> usize {
    let number = LEASE.try_with(|lease| lease.0).unwrap_or(OWN);
    LINE.set(number);
    number
}

impl Counters {
    pub(crate) const fn new() -> Self {
        Self { lines: [const { Line([const { AtomicU64::new(0) }; COUNTS]) }; OWN + 1] }
    }

    #[inline]
    pub(crate) fn add(&self, count: Count, amount: u64) {
        let mut line = LINE.get();
        if line == UNKNOWN {
            line = first_line();
        }
        let word = &self.lines[line].0[count as usize];
        if line == OWN {
            word.fetch_add(amount, Ordering::Release);
        } else {
            word.store(word.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Release);
        }
    }

    /// What all threads have added. Those that add meanwhile are counted or not; what a thread had
    /// counted before something that is in the sum is in later sums.
    pub(crate) fn sum(&self, count: Count) -> u64 {
        let words = self.lines.iter().map(|line| line.0[count as usize].load(Ordering::Acquire));
        words.fold(0, u64::wrapping_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn what_many_threads_add_at_once_is_all_there() {
        static COUNTERS: Counters = Counters::new();
        // More at once than have lines of their own, twice, so that numbers are given back and
        // taken again.
        for round in 1..=2 {
            thread::scope(|scope| {
                for _ in 0..OWN + 10 {
                    scope.spawn(|| {
                        for _ in 0..1_000 {
                            COUNTERS.add(Count::Spawned, 1);
                            COUNTERS.add(Count::Unrecorded, 2);
                        }
                    });
                }
            });
            let each = round * (OWN as u64 + 10) * 1_000;
            assert_eq!(COUNTERS.sum(Count::Spawned), each);
            assert_eq!(COUNTERS.sum(Count::Unrecorded), 2 * each);
            assert_eq!(COUNTERS.sum(Count::Failed), 0);
        }
    }
}
