//! When senders that wait for room are granted room.

/// Returns how many of the `waiting` senders may put their messages in, where `used` of `capacity`
/// places are used or promised.
///
/// It grants none before half of the places are free: each grant costs a switch, so grants come in
/// groups. With a capacity of one it grants the place at once.
pub(crate) fn grant(capacity: u32, used: u32, waiting: usize) -> usize {
    let free = capacity.saturating_sub(used);
    if free == 0 || free < capacity / 2 { 0 } else { waiting.min(free as usize) }
}

#[cfg(test)]
mod tests {
    use super::grant;

    #[test]
    fn an_empty_mailbox_takes_as_many_as_it_has_room_for() {
        assert_eq!(grant(8, 0, 100), 8);
        assert_eq!(grant(8, 0, 3), 3);
        assert_eq!(grant(1, 0, 3), 1);
    }

    #[test]
    fn no_sender_is_told_before_half_is_free() {
        assert_eq!(grant(8, 5, 100), 0);
        assert_eq!(grant(8, 4, 100), 4);
        assert_eq!(grant(1, 1, 3), 0);
        assert_eq!(grant(3, 2, 3), 1);
    }
}
