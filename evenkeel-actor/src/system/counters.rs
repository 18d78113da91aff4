//! Counters that many threads add to and few read.
//!
//! Each thread has its own line, to which it adds by a load and a store; a reader takes the sum.
//! Threads beyond the first 63 share one line and add by locked instructions.
//!
//! # Why nothing is lost
//! A line belongs to one thread for as long as that thread lives. The thread takes its number and
//! gives it back under a lock, which orders the stores of the previous owner. A thread that is
//! destroying its thread-local values has given its number back, and uses the shared line.
//!
//! An addition releases and a sum acquires. So a reader that has counted the end of an actor also
//! counts what was added before that end.
//!
//! # Rejected
//! One word for all threads: workers that spawn or drop would take its cache line from each other,
//! 20 to 50 ns each time. A line per worker: several runtimes may share a system, and threads that
//! are no workers send as well.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The counters of a system.
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

/// The number of counters.
const COUNTS: usize = Count::Unrecorded as usize + 1;

/// How many threads have a line of their own. An estimate: more threads have too few cores to run
/// on; no benchmark sets it.
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

/// The thread has not asked for a number yet.
const UNKNOWN: usize = usize::MAX;

thread_local! {
    /// The number of the thread's line.
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

    /// Returns the sum over all threads. Concurrent additions may be missing. What a thread added
    /// before an addition in this sum is in all later sums.
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
        // More threads than have lines of their own, twice, so that numbers are given back and
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
