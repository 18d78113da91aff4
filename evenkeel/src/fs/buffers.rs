//! The bytes that a file keeps between operations, and what blocking threads do with them.
//!
//! The *position* of a file is where its caller is. The system's own is ahead of it by the bytes
//! that were read and not taken.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::mem;
use std::sync::{Arc, OnceLock};

/// The most bytes that one operation moves.
pub(super) const MOST: usize = 2 * 1_024 * 1_024;

/// What goes to a blocking thread with an operation, and comes back.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Room for reads. It keeps its length, so that it is zeroed once.
    room: Vec<u8>,
    /// The part of `room` that was read and not taken.
    from: usize,
    to: usize,
    /// What a write has accepted, and the thread has yet to write.
    accepted: Vec<u8>,
}

impl Buffers {
    /// Returns what was read and not taken.
    pub(super) fn unread(&self) -> &[u8] {
        &self.room[self.from..self.to]
    }

    /// Takes the first `n` bytes of what was read.
    pub(super) fn consume(&mut self, n: usize) {
        self.from += n;
    }

    /// Moves what was read into `into`, as much as it has room for.
    pub(super) fn take(&mut self, into: &mut [u8]) -> usize {
        let n = self.unread().len().min(into.len());
        into[..n].copy_from_slice(&self.unread()[..n]);
        self.consume(n);
        n
    }

    /// Accepts bytes for a write, and returns how many.
    pub(super) fn accept(&mut self, bytes: &[u8]) -> usize {
        let n = bytes.len().min(MOST);
        self.accepted.extend_from_slice(&bytes[..n]);
        n
    }

    /// Reads once, at most `most` bytes. All that was read before has been taken.
    pub(super) fn fill(&mut self, mut file: &File, most: usize) -> Result<()> {
        (self.from, self.to) = (0, 0);
        if self.room.len() < most {
            self.room.resize(most, 0);
        }
        self.to = loop {
            match file.read(&mut self.room[..most]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        Ok(())
    }

    /// Writes what was accepted, at the position.
    pub(super) fn write(&mut self, mut file: &File) -> Result<()> {
        let accepted = mem::take(&mut self.accepted);
        self.give_back(file)?;
        let result = file.write_all(&accepted);
        self.accepted = accepted;
        self.accepted.clear();
        result
    }

    /// Moves the position. What was read is kept if that fails.
    pub(super) fn seek(&mut self, mut file: &File, to: SeekFrom) -> Result<u64> {
        let to = match to {
            SeekFrom::Current(by) => {
                let by = by.checked_sub_unsigned(self.unread().len() as u64);
                SeekFrom::Current(by.ok_or_else(|| {
                    Error::new(
                        ErrorKind::InvalidInput,
                        "a seek leads to before the start of the file",
                    )
                })?)
            }
            to => to,
        };
        let position = file.seek(to)?;
        (self.from, self.to) = (0, 0);
        Ok(position)
    }

    /// Moves the system's position to the caller's. A pipe has none: what was read is kept.
    pub(super) fn give_back(&mut self, file: &File) -> Result<()> {
        if self.unread().is_empty() {
            return Ok(());
        }
        match self.seek(file, SeekFrom::Current(0)) {
            Err(error) if error.kind() != ErrorKind::NotSeekable => Err(error),
            _ => Ok(()),
        }
    }
}

/// Buffers on their way to a blocking thread.
///
/// If the runtime ends before a thread begins the operation, the runtime drops this, and the file
/// gets the buffers back. Of a write, the caller has been told that the bytes are accepted. The
/// thread that drops writes them: to a file on a disk all of them, and to a pipe as many as it
/// takes at once, because more would block.
pub(super) struct Lent {
    file: Arc<File>,
    buffers: Buffers,
    /// None if the buffers have no bytes, and once a thread has begun.
    left: Option<Arc<OnceLock<Unbegun>>>,
}

/// What is left of an operation that no thread has begun.
#[derive(Debug, Default)]
pub(super) struct Unbegun {
    pub(super) buffers: Buffers,
    /// What has become of the bytes, if it was a write.
    pub(super) written: Option<Result<()>>,
}

impl Lent {
    /// Lends the buffers. Returns where they are left if no thread begins and they have bytes.
    pub(super) fn new(file: Arc<File>, buffers: Buffers) -> (Self, Option<Arc<OnceLock<Unbegun>>>) {
        let has_bytes = !buffers.unread().is_empty() || !buffers.accepted.is_empty();
        let left = has_bytes.then(Arc::default);
        (Self { file, buffers, left: left.clone() }, left)
    }

    /// Makes the operation, on a thread, and returns the buffers.
    pub(super) fn make<T>(
        mut self,
        operation: impl FnOnce(&File, &mut Buffers) -> T,
    ) -> (Buffers, T) {
        self.left = None;
        let mut buffers = mem::take(&mut self.buffers);
        let done = operation(&self.file, &mut buffers);
        (buffers, done)
    }

    /// Writes what was accepted without waiting.
    fn write_at_once(&mut self) -> Result<()> {
        let accepted = self.buffers.accepted.len();
        let written = self.file.metadata().and_then(|metadata| {
            let kind = metadata.file_type();
            if kind.is_file() {
                return self.buffers.write(&self.file).map(|()| accepted);
            }
            pipe::write_at_once(&self.file, kind, &self.buffers.accepted)
        });
        match written {
            Ok(written) if written == accepted => Ok(()),
            Ok(written) => Err(Error::other(format!(
                "the runtime has ended before a thread could write, and {written} of {accepted} bytes \
                 are written that were accepted: flush before the runtime ends"
            ))),
            Err(error) => Err(Error::new(
                error.kind(),
                format!("the {accepted} bytes that were accepted are not all written: {error}"),
            )),
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(left) = self.left.take() {
            let is_write = !self.buffers.accepted.is_empty();
            let written = is_write.then(|| self.write_at_once());
            let mut buffers = mem::take(&mut self.buffers);
            buffers.accepted.clear();
            left.set(Unbegun { buffers, written }).expect("the buffers are left once");
        }
    }
}

#[cfg(unix)]
mod pipe {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::fs::{File, FileType};
    use std::io::{ErrorKind, Result, Write};
    use std::os::unix::fs::FileTypeExt;

    /// A pipe that is ready takes as many bytes without blocking, unless another writer comes in
    /// between: POSIX's least `PIPE_BUF`.
    const AT_ONCE: usize = 512;

    pub(super) fn write_at_once(mut file: &File, kind: FileType, bytes: &[u8]) -> Result<usize> {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut left = bytes;
        while kind.is_fifo() && !left.is_empty() {
            let mut fds = [PollFd::new(file, PollFlags::OUT)];
            poll(&mut fds, Some(&now))?;
            if !fds[0].revents().contains(PollFlags::OUT) {
                break;
            }
            match file.write(&left[..left.len().min(AT_ONCE)]) {
                Ok(written) => left = &left[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(bytes.len() - left.len())
    }
}

#[cfg(not(unix))]
mod pipe {
    use std::fs::{File, FileType};
    use std::io::Result;

    pub(super) fn write_at_once(_: &File, _: FileType, _: &[u8]) -> Result<usize> {
        Ok(0)
    }
}
