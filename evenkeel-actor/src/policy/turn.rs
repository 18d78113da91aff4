//! How long an actor's turn is.
//!
//! An actor with many messages handles several in one poll, as switching costs more than a small message, and gives way to other tasks when it has used its
//! time up. Time is looked at after a number of messages that adapts to what they take, so that a look costs little beside them and a turn of
//! long ones is not much too long.

/// Nanoseconds that a turn may last: several batches of the scheduler's 4 µs, so that the cost of a switch disappears, and far below what a
/// user would call a delay. An estimate; no benchmark sets it.
pub(crate) const BUDGET: u32 = 20_000;

/// Nanoseconds between two looks at the time, about: 40 to 80 of them cost a tenth of a percent.
const BETWEEN: u32 = 2_000;

/// The most messages between two looks.
const MOST: u8 = 64;

/// Messages before the first look of an actor's life.
pub(crate) const FIRST: u8 = 4;

/// Messages of a turn where a seed determines the order, which the time must not: one, so that others may come between any two.
pub(crate) const SINGLE: u8 = 1;

/// After how many messages the time is to be looked at again, if `messages` have taken `nanos`.
pub(crate) fn stride(messages: u8, nanos: u32) -> u8 {
    let each = nanos / u32::from(messages.max(1));
    let fit = BETWEEN / each.max(1);
    u8::try_from(fit).unwrap_or(MOST).clamp(1, MOST.min(messages.saturating_mul(2)).max(1))
}

/// Whether a turn of so many nanoseconds is over.
pub(crate) fn is_over(nanos: u32) -> bool {
    nanos >= BUDGET
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_of_quick_messages_grow_and_those_of_long_ones_are_one() {
        let mut messages = FIRST;
        for _ in 0..10 {
            messages = stride(messages, u32::from(messages) * 10);
        }
        assert_eq!(messages, MOST);
        assert_eq!(stride(MOST, u32::from(MOST) * 5_000), 1);
        assert_eq!(stride(0, 0), 1);
        assert_eq!(stride(1, u32::MAX), 1);
    }

    #[test]
    fn a_turn_overruns_its_budget_by_one_stride_at_most() {
        for each in [1, 10, 100, 1_000, 10_000, 100_000] {
            let (mut passed, mut messages) = (0, FIRST);
            while !is_over(passed) {
                let nanos = u32::from(messages) * each;
                passed += nanos;
                messages = stride(messages, nanos);
            }
            let over = passed - BUDGET;
            assert!(over <= (2 * BETWEEN).max(each * u32::from(FIRST)), "{each}: {over}");
        }
    }
}
