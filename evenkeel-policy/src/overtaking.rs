//! Whether tasks with short polls overtake those with long ones in a queue.
//!
//! In the order of age, a task of some microseconds waits for all polls ahead, and a few polls of a
//! millisecond decide how long all others wait. So, while long polls come up, the task at the head
//! of the queue lets shorter ones behind it go first. How long a poll will take is told by the
//! type of the task's future.
//!
//! # Why no task starves
//! After a long poll those that overtake get no more time than that poll has taken, 4 ms at most,
//! and one poll more. The poll of a task that overtakes and is long all the same counts as theirs.
//! So a task with long polls waits for twice the long polls ahead of it at most, and not for all
//! short tasks that will ever come. Both kinds get half of the time if both have enough to do.
//! Within each kind the order is that of age.
//!
//! # Rejected
//! Shorter ones first without a limit (shortest job first): it has the least mean wait, and starves
//! long tasks. A queue of its own for long tasks: every thief would look at one more. By the task's
//! own history: a task that is polled once has none.

/// A poll of this length is a long one: many times the system calls with which a task comes and
/// goes, and a fifth of what a person would call a computation. An estimate; no benchmark sets it.
pub const LONG: u64 = 200_000;

/// How far behind the head a worker looks for a shorter task. With more long ones in front the
/// worker is overloaded, and any order has long waits. An estimate; no benchmark sets it.
pub const FARTHEST: usize = 64;

/// The most that shorter polls get between two long ones: a long task that is overtaken must not
/// pay for another one that took a second. A choice: below what a person notices.
const MOST: u64 = 4_000_000;

/// What a worker knows of the polls of one type of future: how many of the last ones were long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habit(u8);

impl Habit {
    /// The most that it counts.
    const MOST: u8 = 3;

    /// Returns the habit after a poll that has taken `elapsed`.
    ///
    /// A single long poll proves nothing: the system may have taken the worker's core meanwhile.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::overtaking::{Habit, LONG};
    /// let once = Habit::default().after(LONG);
    /// assert!(!once.is_long());
    /// let twice = once.after(2 * LONG);
    /// assert!(twice.is_long());
    /// assert!(!twice.after(LONG / 2).is_long());
    /// ```
    #[inline]
    #[must_use]
    pub fn after(self, elapsed: u64) -> Self {
        if elapsed >= LONG {
            Self((self.0 + 1).min(Self::MOST))
        } else {
            Self(self.0.saturating_sub(1))
        }
    }

    /// Returns whether the next poll is expected to be a long one.
    #[inline]
    #[must_use]
    pub fn is_long(self) -> bool {
        self.0 >= 2
    }
}

/// What the worker's time has gone to since its last long poll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// How long the last long poll has taken, up to [`MOST`].
    long: u64,
    /// The time of shorter polls since then.
    short: u64,
}

impl Turn {
    /// Returns the account after a batch that has taken `elapsed`. `overtook` says that its task
    /// may have gone before a longer one: then its time is the shorter ones', however long it was.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::overtaking::{LONG, Turn};
    /// let turn = Turn::default().after(5 * LONG, false);
    /// assert!(turn.is_of_short());
    /// let half = |turn: Turn, _| turn.after(LONG / 2, true);
    /// let turn = (0..9).fold(turn, half);
    /// assert!(turn.is_of_short());
    /// let turn = (0..9).fold(turn, half);
    /// assert!(!turn.is_of_short(), "the shorter ones have had as much time");
    /// let turn = Turn::default().after(5 * LONG, false).after(6 * LONG, true);
    /// assert!(!turn.is_of_short(), "one that was not short after all");
    /// let second = Turn::default().after(1_000_000_000, false);
    /// let turn = (0..40).fold(second, half);
    /// assert!(!turn.is_of_short(), "they get 4 ms after a poll of a second");
    /// ```
    #[inline]
    #[must_use]
    pub fn after(self, elapsed: u64, overtook: bool) -> Self {
        if elapsed >= LONG && !overtook {
            Self { long: elapsed.min(MOST), short: 0 }
        } else {
            Self { short: self.short.saturating_add(elapsed), ..self }
        }
    }

    /// Returns whether shorter tasks may overtake.
    #[inline]
    #[must_use]
    pub fn is_of_short(self) -> bool {
        self.short < self.long
    }
}
