//! The pipe between handlers and the teller: a pair of connected sockets.

use std::io::{ErrorKind, Read, Result};
use std::os::unix::net::UnixStream;

/// The end of the handlers.
#[derive(Debug)]
pub(super) struct Writer(UnixStream);

/// The end of the teller.
#[derive(Debug)]
pub(super) struct Reader(UnixStream);

/// Makes a pipe.
///
/// # Errors
/// The system's.
pub(super) fn pair() -> Result<(Reader, Writer)> {
    let (reader, writer) = UnixStream::pair()?;
    writer.set_nonblocking(true)?;
    Ok((Reader(reader), Writer(writer)))
}

impl Writer {
    /// Writes a byte, unless the pipe is full: then the teller has yet to read.
    pub(super) fn write(&self) {
        // One call of the system, which does not block.
        let _ = rustix::io::write(&self.0, &[0]);
    }
}

impl Reader {
    /// Waits for a byte at least, and takes what is there. Returns false if none ever comes.
    pub(super) fn read(&mut self) -> bool {
        loop {
            match self.0.read(&mut [0; 256]) {
                Ok(1..) => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The other end is open for as long as the hub is there, and that is for ever.
                Ok(0) | Err(_) => return false,
            }
        }
    }
}
