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
pub const MOST: u64 = 4_000_000;

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

/// Types that a worker remembers; of two that fall on the same place the later one stays. An
/// estimate: few types have long polls; no benchmark sets it.
const PLACES: usize = 16;

/// What a worker remembers of the lengths of polls, by the type of the task's future: tasks that
/// are polled once have no history of their own. A type is a number, such as an address.
///
/// The worker learns from batches of a single poll, which follow each [long
/// batch](crate::batch::caution), and uses it in such batches alone. So where all polls are short
/// this costs nothing.
///
/// # Examples
/// ```
/// use evenkeel_policy::overtaking::{LONG, Lengths};
/// let (long, short) = (0x1000, 0x2000);
/// let mut lengths = Lengths::default();
/// for _ in 0..2 {
///     assert!(!lengths.lets_overtake(), "nothing is known of the type");
///     lengths.learn(Some(long), 4 * LONG);
/// }
/// assert!(lengths.lets_overtake() && lengths.is_long(long) && !lengths.is_long(short));
/// for _ in 0..8 {
///     lengths.learn(Some(short), LONG / 2);
/// }
/// assert!(!lengths.lets_overtake(), "the short ones have had their time");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lengths {
    places: [Place; PLACES],
    turn: Turn,
    /// Whether any of the types is long.
    any_long: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    kind: usize,
    habit: Habit,
}

fn place(kind: usize) -> usize {
    // The tables of functions that a type's number is the address of are some 80 bytes long.
    (kind >> 4).wrapping_mul(0x9E37_79B9) >> 8 & (PLACES - 1)
}

impl Lengths {
    /// Learns from a batch that has taken `elapsed`; `polled` is the type of its task if it had one
    /// alone.
    pub fn learn(&mut self, polled: Option<usize>, elapsed: u64) {
        let overtook = |kind| self.lets_overtake() && !self.is_long(kind);
        self.turn = self.turn.after(elapsed, polled.is_some_and(overtook));
        let Some(kind) = polled else { return };
        let place = &mut self.places[place(kind)];
        if place.kind != kind {
            // A type with short polls is not worth a place.
            if elapsed < LONG {
                return;
            }
            *place = Place { kind, ..Place::default() };
        }
        place.habit = place.habit.after(elapsed);
        self.any_long = self.places.iter().any(|place| place.habit.is_long());
    }

    /// Returns whether the next poll is one for which shorter tasks may overtake.
    #[must_use]
    pub fn lets_overtake(&self) -> bool {
        self.any_long && self.turn.is_of_short()
    }

    /// Returns whether a long poll is expected of a task of this type.
    #[must_use]
    pub fn is_long(&self, kind: usize) -> bool {
        let place = &self.places[place(kind)];
        place.kind == kind && place.habit.is_long()
    }
}
