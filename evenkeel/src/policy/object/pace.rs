//! How often whoever counts operations looks at the clock, to see whether a step is due.
//!
//! Steps are far apart, turns of short operations are not, and the clock takes longer than one of those: so it is read once for several turns, as long as these are short.

/// Turns between two looks at most: what has become slow is seen after so many. Measured: an operation on one counter, all of whose operations are at one home, was a fortieth dearer with a look at each turn
/// (`evenkeel-bench run --bench counters --objects 1 --runtime home,automatic`).
pub const MOST: u32 = 8;

/// Looks in a step, so that it is late by a part of it only.
const LOOKS: u64 = 4;

/// After how many turns to look again, if so many have taken so many nanoseconds, and steps are this far apart.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::pace::{MOST, pace};
/// assert_eq!(pace(6_400, 8, 100_000), MOST);
/// assert_eq!(pace(80_000, 8, 100_000), 2);
/// assert_eq!(pace(800_000, 8, 100_000), 1, "each is as long as a step");
/// ```
#[must_use]
pub fn pace(passed: u64, turns: u32, step: u64) -> u32 {
    let each = (passed / u64::from(turns.max(1))).max(1);
    (step / LOOKS / each).clamp(1, u64::from(MOST)) as u32
}

/// At most so many turns between two looks at the clock say that operations are long: where steps are 100 us apart turns take more than 8 us then, and operations 130 ns.
const SLOW: u32 = 2;

/// At least so many say that they are not long any more: turns of less than 5 us. So far from [`SLOW`], because the looks that are further apart see fewer objects twice, which is not to be taken for others in use again and again.
const FAST: u32 = 5;

/// Whether operations are so long that one in 16 of them may be looked at, and not only one of each turn, for [which objects are in use](super::breadth), when the clock is looked at after so many turns, and they were long before or not. What is rare counts as long too: it is the time from one operation to the next. Measured: a
/// look takes 20 ns, so a hundredth of such operations; and where 1,024 directories of 32 KiB are written, in turn all of them and a sixteenth, a change is seen in 2 to 3 ms instead of 5 to 7
/// (`evenkeel-bench run --bench directory --popularity oscillating --access all`).
///
/// # Examples
/// ```
/// use evenkeel::policy::object::pace::{are_long, pace};
/// assert!(are_long(pace(64_000, 1, 100_000), false));
/// assert!(!are_long(pace(6_400, 1, 100_000), false) && are_long(pace(6_400, 1, 100_000), true));
/// assert!(!are_long(pace(3_200, 1, 100_000), true));
/// ```
#[must_use]
pub fn are_long(turns: u32, were_long: bool) -> bool {
    turns <= SLOW || (were_long && turns < FAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_looked_at_some_times_in_a_step_and_after_every_turn_at_first() {
        assert_eq!(pace(u64::MAX, 0, 100_000), 1, "nothing was counted before");
        assert_eq!(pace(0, 1, 100_000), MOST);
        for each in [1, 100, 4_000, 10_000, 30_000, 1_000_000] {
            let turns = pace(each * 3, 3, 100_000);
            assert!(turns == 1 || each * u64::from(turns) <= 100_000 / LOOKS, "{each}: {turns}");
            let next = each * u64::from(turns + 1);
            assert!(turns == MOST || next > 100_000 / LOOKS, "{each}: {turns}");
        }
    }

    #[test]
    fn a_look_at_long_operations_takes_little_of_their_time() {
        // One in 16 of them, of 64, for 20 ns.
        for each in (100..100_000).step_by(100) {
            let costs = 64 / 16 * 20 * 100;
            assert!(!are_long(pace(each, 1, 100_000), false) || costs <= each, "{each}");
            assert!(!are_long(pace(each, 1, 100_000), true) || costs <= 2 * each, "{each}");
        }
        assert!(are_long(pace(64 * 150, 1, 100_000), false));
    }
}
