//! Requests of HTTP/1.1 on connections that are kept. A reply has the number of its request, and
//! all of its body is compared.

use super::wire::{Id, Wire};

/// The end of the head of a reply.
const END: &[u8] = b"\r\n\r\n";

/// The longest head of a reply, in bytes.
const LONGEST: usize = 4_096;

/// The requests of all connections of a thread.
#[derive(Default)]
pub(super) struct Http(Vec<u8>);

impl Wire for Http {
    /// The bytes that have come.
    type Reply = Vec<u8>;

    fn request(&mut self, id: Id) -> &[u8] {
        let path = id.page.name();
        let text = format!("GET {path}?{} HTTP/1.1\r\nHost: localhost\r\n\r\n", number(id));
        self.0.clear();
        self.0.extend_from_slice(text.as_bytes());
        &self.0
    }

    fn take(&mut self, id: Id, reply: &mut Vec<u8>, bytes: &[u8]) -> Result<bool, String> {
        reply.extend_from_slice(bytes);
        let Some(end) = reply.windows(END.len()).position(|window| window == END) else {
            let is_head = reply.len() <= LONGEST;
            return if is_head { Ok(false) } else { Err("the head has no end".to_owned()) };
        };
        let head = str::from_utf8(&reply[..end]).map_err(|_| "the head is no text".to_owned())?;
        let body = &reply[end + END.len()..];
        let length = length(head)?;
        if body.len() < length {
            return Ok(false);
        }
        let due = id.page.body(number(id));
        if body != due.as_bytes() {
            let (seen, due) = (body.len(), due.len());
            return Err(format!("the body of {seen} bytes is not that of {due} that is due"));
        }
        reply.clear();
        Ok(true)
    }
}

/// Returns a number that no other request of the client has.
fn number(Id { connection, number, .. }: Id) -> u64 {
    (connection as u64) << 40 | number
}

/// Returns the length of the body by a head.
fn length(head: &str) -> Result<usize, String> {
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 200 ") {
        return Err(format!("the reply is `{status}`"));
    }
    let length = lines.filter_map(|line| line.split_once(':'));
    let mut length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.next().and_then(|(_, length)| length.trim().parse().ok());
    length.ok_or_else(|| "the reply has no length".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::Page;

    const ID: Id = Id { connection: 0, number: 7, page: Page::Light };

    fn taken(reply: &str) -> Result<bool, String> {
        Http::default().take(ID, &mut Vec::new(), reply.as_bytes())
    }

    #[test]
    fn a_reply_is_complete_with_the_last_byte_of_its_body() {
        let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nA: b\r\n\r\nhello 7";
        let (mut http, mut came) = (Http::default(), Vec::new());
        for at in 0..reply.len() - 1 {
            assert_eq!(http.take(ID, &mut came, &reply[at..=at]), Ok(false));
        }
        assert_eq!(http.take(ID, &mut came, &reply[reply.len() - 1..]), Ok(true));
        assert!(came.is_empty());
    }

    #[test]
    fn another_status_body_or_length_is_found() {
        for (reply, words) in [
            ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "HTTP/1.1 404"),
            ("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nhello 8", "not that of 7"),
            ("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nhello 77", "the body of 8 bytes"),
            ("HTTP/1.1 200 OK\r\n\r\nhello 7", "no length"),
        ] {
            let error = taken(reply).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        assert!(taken(&"x".repeat(LONGEST + 1)).unwrap_err().contains("no end"));
    }

    #[test]
    fn no_two_requests_have_a_number_in_common() {
        let mut http = Http::default();
        let one = http.request(ID).to_vec();
        assert!(one.starts_with(b"GET /light?7 HTTP/1.1\r\n"));
        assert_ne!(http.request(Id { connection: 1, ..ID }), one);
        assert_ne!(http.request(Id { number: 8, ..ID }), one);
    }
}
