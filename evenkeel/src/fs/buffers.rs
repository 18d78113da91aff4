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

/// A write on its way to a blocking thread.
///
/// The caller has been told that the bytes are accepted. If the runtime ends before a thread begins
/// the write, it drops this, and the bytes are written by the thread that drops: to a file on a
/// disk all of them, and to a pipe as many as it takes at once, because more would block. What has
/// become of them is left for the file.
pub(super) struct Accepted {
    file: Arc<File>,
    buffers: Buffers,
    left: Arc<OnceLock<Unbegun>>,
}

/// A write that no thread has begun.
#[derive(Debug)]
pub(super) struct Unbegun {
    accepted: usize,
    written: Result<usize>,
}

impl Unbegun {
    pub(super) fn result(&self) -> Result<()> {
        let accepted = self.accepted;
        match &self.written {
            Ok(written) if *written == accepted => Ok(()),
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

impl Accepted {
    pub(super) fn new(file: Arc<File>, buffers: Buffers, left: Arc<OnceLock<Unbegun>>) -> Self {
        Self { file, buffers, left }
    }

    /// Writes, and returns the buffers.
    pub(super) fn write(mut self) -> (Buffers, Result<()>) {
        let result = self.buffers.write(&self.file);
        (mem::take(&mut self.buffers), result)
    }

    /// Writes without waiting, and returns how many bytes.
    fn write_at_once(&mut self) -> Result<usize> {
        let kind = self.file.metadata()?.file_type();
        if kind.is_file() {
            let accepted = self.buffers.accepted.len();
            return self.buffers.write(&self.file).map(|()| accepted);
        }
        pipe::write_at_once(&self.file, kind, &self.buffers.accepted)
    }
}

impl Drop for Accepted {
    fn drop(&mut self) {
        let accepted = self.buffers.accepted.len();
        if accepted > 0 {
            let written = self.write_at_once();
            let _ = self.left.set(Unbegun { accepted, written });
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
