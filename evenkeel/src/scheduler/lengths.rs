//! What a worker remembers of the lengths of polls, so that short tasks [overtake](overtaking) long
//! ones.
//!
//! The worker remembers them by the type of the task's future, which the address of the task's
//! table of functions tells: tasks that are polled once have no history of their own. It learns
//! from batches of a single poll, which follow each [long batch](crate::policy::batch::caution),
//! and uses it in such batches alone. So where all polls are short this costs nothing.

use crate::policy::overtaking::{self, Habit, Turn};
use crate::raw_task::header::{Header, Vtable};
use std::ptr;

/// Types that a worker remembers; of two that fall on the same place the later one stays. An
/// estimate: few types have long polls; no benchmark sets it.
const PLACES: usize = 16;

/// A worker's knowledge of polls.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    places: [Place; PLACES],
    turn: Turn,
    /// Whether any of the types is long.
    any_long: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The address of the table of functions.
    table: usize,
    habit: Habit,
}

fn address(task: &Header) -> usize {
    ptr::from_ref::<Vtable>(task.vtable).addr()
}

fn place(table: usize) -> usize {
    // Tables are some 80 bytes long.
    (table >> 4).wrapping_mul(0x9E37_79B9) >> 8 & (PLACES - 1)
}

/// The type of a task that is about to be polled alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polled(usize);

impl Polled {
    pub(super) fn of(task: &Header) -> Self {
        Self(address(task))
    }
}

impl Lengths {
    /// Learns from a batch that has taken `elapsed`; `polled` is its task if it had one alone.
    pub(super) fn learn(&mut self, polled: Option<Polled>, elapsed: u64) {
        let overtook = |Polled(table)| self.lets_overtake() && !self.expects_long(table);
        self.turn = self.turn.after(elapsed, polled.is_some_and(overtook));
        let Some(Polled(table)) = polled else { return };
        let place = &mut self.places[place(table)];
        if place.table != table {
            // A type with short polls is not worth a place.
            if elapsed < overtaking::LONG {
                return;
            }
            *place = Place { table, ..Place::default() };
        }
        place.habit = place.habit.after(elapsed);
        self.any_long = self.places.iter().any(|place| place.habit.is_long());
    }

    /// Returns whether the next poll is one for which shorter tasks may overtake.
    pub(super) fn lets_overtake(&self) -> bool {
        self.any_long && self.turn.is_of_short()
    }

    /// Returns whether a long poll is expected of the task.
    pub(super) fn is_long(&self, task: &Header) -> bool {
        self.expects_long(address(task))
    }

    fn expects_long(&self, table: usize) -> bool {
        let place = &self.places[place(table)];
        place.table == table && place.habit.is_long()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::policy::overtaking::LONG;

    #[test]
    fn types_whose_polls_are_long_twice_are_remembered() {
        let mut lengths = Lengths::default();
        let (long, short) = (Polled(0x1000), Polled(0x2000));
        let is_long = |lengths: &Lengths, Polled(table): Polled| lengths.expects_long(table);
        for _ in 0..5 {
            lengths.learn(Some(short), LONG / 2);
            lengths.learn(None, 4 * LONG);
        }
        assert!(!lengths.lets_overtake(), "nothing is known of the type");
        for _ in 0..2 {
            lengths.learn(Some(long), 4 * LONG);
        }
        assert!(lengths.lets_overtake());
        assert!(is_long(&lengths, long) && !is_long(&lengths, short));
        for _ in 0..8 {
            lengths.learn(Some(short), LONG / 2);
        }
        assert!(!lengths.lets_overtake(), "the short ones have had their time");
        assert!(is_long(&lengths, long));
        for _ in 0..2 {
            lengths.learn(Some(long), LONG / 2);
        }
        assert!(!is_long(&lengths, long), "its polls are short now");
    }

    /// Polls that are long now and then, of types that are not known as long, take their time from
    /// that of the short ones. Otherwise they would keep the turn from the long ones for ever.
    #[test]
    fn what_overtakes_ends_the_turn_however_long_it_is() {
        let mut lengths = Lengths::default();
        let (long, other) = (Polled(0x1000), Polled(0x2000));
        for _ in 0..2 {
            lengths.learn(Some(long), 4 * LONG);
        }
        for _ in 0..4 {
            assert!(lengths.lets_overtake());
            lengths.learn(Some(other), 3 * LONG);
            lengths.learn(Some(other), 1);
            if lengths.lets_overtake() {
                lengths.learn(Some(other), LONG);
            }
            assert!(!lengths.lets_overtake(), "the long one is next");
            lengths.learn(Some(long), 4 * LONG);
        }
    }
}
