//! The length of an actor's turn.
//!
//! An actor with many messages handles several in one poll, as a switch costs more than a small
//! message. It yields to other tasks when its time is used up. It reads the clock after a number of
//! messages that adapts to their duration. So a reading costs little beside them, and a turn of
//! long messages is not much too long.

/// The length of a turn in nanoseconds: several batches of the scheduler's 4 µs, so that the cost
/// of a switch disappears, and far below what a user would call a delay. An estimate; no benchmark
/// sets it.
pub(crate) const BUDGET: u32 = 20_000;

/// An actor's share of the workers' time beside other actors that always have messages too. The
/// length of its turns sets the share.
///
/// Each ready actor and task has its turn once in a round, whatever its priority, so none starves.
/// Each waits for the turns of the others that are ready: at most 80 µs per turn, plus one stride
/// of messages or one long message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Priority {
    /// A quarter of the normal share: turns of 5 µs.
    Low,
    /// Turns of 20 µs.
    #[default]
    Normal,
    /// Four times the normal share: turns of 80 µs.
    High,
}

/// Returns the length of an actor's turn in nanoseconds.
pub(crate) fn budget(priority: Priority) -> u32 {
    match priority {
        Priority::Low => BUDGET / 4,
        Priority::Normal => BUDGET,
        Priority::High => BUDGET * 4,
    }
}

/// Nanoseconds between two clock readings, about: 40 to 80 of them cost a tenth of a percent.
const BETWEEN: u32 = 2_000;

/// The most messages between two clock readings.
const MOST: u8 = 64;

/// Messages before the first clock reading of an actor's life.
pub(crate) const FIRST: u8 = 4;

/// Messages of a turn where a seed determines the order, which the time must not affect: one, so
/// that other tasks may run between any two.
pub(crate) const SINGLE: u8 = 1;

/// Returns after how many messages to read the clock again, if `messages` have taken `nanos`.
pub(crate) fn stride(messages: u8, nanos: u32) -> u8 {
    let each = nanos / u32::from(messages.max(1));
    let fit = BETWEEN / each.max(1);
    u8::try_from(fit).unwrap_or(MOST).clamp(1, MOST.min(messages.saturating_mul(2)).max(1))
}

/// Returns whether a turn of `nanos` nanoseconds is over.
pub(crate) fn is_over(nanos: u32, priority: Priority) -> bool {
    nanos >= budget(priority)
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

    const PRIORITIES: [Priority; 3] = [Priority::Low, Priority::Normal, Priority::High];

    /// Returns how long a turn of messages of `each` nanoseconds lasts, and how many messages it
    /// has.
    fn turn(each: u32, priority: Priority, messages: &mut u8) -> (u32, u32) {
        let (mut passed, mut handled) = (0, 0);
        while !is_over(passed, priority) {
            let nanos = u32::from(*messages) * each;
            passed += nanos;
            handled += u32::from(*messages);
            *messages = stride(*messages, nanos);
        }
        (passed, handled)
    }

    #[test]
    fn a_turn_overruns_its_budget_by_one_stride_at_most() {
        for priority in PRIORITIES {
            for each in [1, 10, 100, 1_000, 10_000, 100_000] {
                let (passed, _) = turn(each, priority, &mut { FIRST });
                let over = passed - budget(priority);
                let most = (2 * BETWEEN).max(each * u32::from(FIRST));
                assert!(over <= most, "{priority:?} {each}: {over}");
            }
        }
    }

    #[test]
    fn shares_are_as_one_to_four_to_sixteen_and_everybody_has_a_turn_in_each_round() {
        for each in [10, 50, 200] {
            let mut handled = [0_u32; 3];
            let mut strides = [FIRST; 3];
            // A round of the queue: each of three actors that always have messages has one turn.
            for _ in 0..1_000 {
                for (index, priority) in PRIORITIES.into_iter().enumerate() {
                    let (passed, messages) = turn(each, priority, &mut strides[index]);
                    assert!(messages > 0 && passed <= budget(Priority::High) + 2 * BETWEEN);
                    handled[index] += messages;
                }
            }
            let share = |of: usize, to: usize| f64::from(handled[of]) / f64::from(handled[to]);
            assert!((3.0..5.0).contains(&share(1, 0)), "{handled:?}");
            assert!((3.0..5.0).contains(&share(2, 1)), "{handled:?}");
        }
    }
}
