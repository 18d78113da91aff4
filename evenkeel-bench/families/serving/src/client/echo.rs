//! Messages that come back as they went. Each has the numbers of its connection and of its request,
//! and all of its bytes are compared.

use super::wire::{Id, Wire};

/// The bytes of both numbers: the fewest that a message has.
pub(crate) const LEAST: usize = 16;

/// The messages of all connections of a thread: they differ in their numbers.
pub(super) struct Echo(Vec<u8>);

impl Echo {
    pub(super) fn new(bytes: usize) -> Self {
        Self((0..bytes.max(LEAST)).map(|place| (place % 251) as u8).collect())
    }
}

impl Wire for Echo {
    /// The bytes that have come back.
    type Reply = usize;

    fn request(&mut self, Id { connection, number, .. }: Id) -> &[u8] {
        self.0[..8].copy_from_slice(&(connection as u64).to_le_bytes());
        self.0[8..LEAST].copy_from_slice(&number.to_le_bytes());
        &self.0
    }

    fn take(&mut self, id: Id, back: &mut usize, bytes: &[u8]) -> Result<bool, String> {
        let due = &self.request(id)[*back..];
        match due.get(..bytes.len()) {
            Some(due) if due == bytes => {}
            Some(_) => return Err(format!("the bytes from {back} on came back changed")),
            None => return Err(format!("{} bytes too many came back", bytes.len() - due.len())),
        }
        *back += bytes.len();
        let is_complete = *back == self.0.len();
        if is_complete {
            *back = 0;
        }
        Ok(is_complete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::Page;

    fn id(number: u64) -> Id {
        Id { connection: 3, number, page: Page::Light }
    }

    #[test]
    fn a_message_that_comes_back_in_parts_is_complete_with_its_last_byte() {
        let (mut echo, mut back) = (Echo::new(64), 0);
        let message = echo.request(id(1)).to_vec();
        assert_eq!(message.len(), 64);
        assert_eq!(echo.take(id(1), &mut back, &message[..5]), Ok(false));
        // Another connection of the thread sends meanwhile.
        echo.request(Id { connection: 4, ..id(9) });
        assert_eq!(echo.take(id(1), &mut back, &message[5..]), Ok(true));
        assert_eq!(back, 0);
    }

    #[test]
    fn a_byte_that_is_changed_or_too_many_and_the_message_before_are_found() {
        let mut echo = Echo::new(64);
        let mut message = echo.request(id(1)).to_vec();
        assert!(echo.take(id(2), &mut 0, &message).unwrap_err().contains("changed"));
        message.push(0);
        assert!(echo.take(id(1), &mut 0, &message).unwrap_err().contains("1 bytes too many"));
        message.truncate(64);
        message[63] ^= 1;
        assert!(echo.take(id(1), &mut 0, &message[..63]).is_ok_and(|is_complete| !is_complete));
        assert!(echo.take(id(1), &mut 63, &message[63..]).unwrap_err().contains("from 63 on"));
    }
}
