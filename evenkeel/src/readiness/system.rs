//! What the operating system says of sockets: edge-triggered, by `mio`.

#![allow(unsafe_code, reason = "mio lends its descriptor as a number, and `select` takes one")]

use super::source;
use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token};
use rustix::event::{
    FdSetElement, PollFd, PollFlags, Timespec, fd_set_insert, fd_set_num_elements,
};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// The most notes that one look takes; the next look takes the rest.
const MOST: usize = 1_024;

/// A wait that is as long as this is cut to milliseconds: what is left is waited for in the next
/// one. An estimate: one more wake-up in as long a time.
const LONG: Duration = Duration::from_millis(8);

/// The number of interrupts.
const INTERRUPT: Token = Token(usize::MAX);

pub(crate) type Socket<'a> = BorrowedFd<'a>;

/// What all threads use of a set in the system.
#[derive(Debug)]
pub(super) struct System {
    registry: Registry,
    interrupt: mio::Waker,
}

/// What the thread uses that looks.
#[derive(Debug)]
pub(super) struct Looker {
    poll: Poll,
    events: Events,
}

impl System {
    pub(super) fn open() -> io::Result<(Self, Looker)> {
        let poll = Poll::new()?;
        let registry = poll.registry().try_clone()?;
        let interrupt = mio::Waker::new(&registry, INTERRUPT)?;
        Ok((Self { registry, interrupt }, Looker { poll, events: Events::with_capacity(MOST) }))
    }

    /// Enters a socket, in both directions, and for urgent data. What is ready already is told at
    /// the next look.
    pub(super) fn enter(&self, socket: Socket<'_>, number: usize) -> io::Result<()> {
        let all = Interest::READABLE | Interest::WRITABLE;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let all = all | Interest::PRIORITY;
        self.registry.register(&mut SourceFd(&socket.as_raw_fd()), Token(number), all)
    }

    /// Takes a socket out.
    pub(super) fn leave(&self, socket: Socket<'_>) {
        // The system forgets a socket that is closed in any case.
        _ = self.registry.deregister(&mut SourceFd(&socket.as_raw_fd()));
    }

    /// Returns whether the next look finds anything.
    pub(super) fn has_notes(&self) -> bool {
        is_readable(&self.registry, Some(Duration::ZERO))
    }

    /// Ends the present look, or the next one.
    pub(super) fn interrupt(&self) {
        // It fails only if the process has no memory for eight bytes in the kernel.
        self.interrupt.wake().expect("a readiness set could not be interrupted");
    }
}

impl Looker {
    /// Waits until there are notes, for at most `limit`. Returns whether there are any.
    pub(super) fn look(&mut self, limit: Option<Duration>) -> bool {
        let limit = limit.map(|limit| {
            // A look counts in milliseconds, and timers in less. A long wait ends a little early.
            let whole = Duration::from_millis(limit.as_millis() as u64);
            if whole < LONG && whole != limit {
                self.wait(Some(limit));
                return Duration::ZERO;
            }
            whole
        });
        // A signal to the thread ends the wait early, without events.
        self.poll.poll(&mut self.events, limit).is_ok() && !self.events.is_empty()
    }

    /// Returns the numbers of sources, and the directions in which they are ready or closed.
    pub(super) fn notes(&self) -> impl Iterator<Item = (usize, u64)> {
        self.events.iter().map(|event| (event.token().0, bits(event)))
    }

    /// Waits until the next look finds anything, for at most `limit`.
    pub(super) fn wait(&self, limit: Option<Duration>) {
        is_readable(&self.poll, limit);
    }
}

/// Waits until there are notes, for at most `limit`. Returns whether there are any.
fn is_readable(system: &impl AsRawFd, limit: Option<Duration>) -> bool {
    // SAFETY: the descriptor stays open while `system` is borrowed.
    let fd = unsafe { BorrowedFd::borrow_raw(system.as_raw_fd()) };
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    let longest = Timespec { tv_sec: i64::MAX, tv_nsec: 0 };
    let limit = limit.map(|limit| Timespec::try_from(limit).unwrap_or(longest));
    // A signal ends the wait early: the sleeper looks, and sleeps again.
    let ready = match rustix::event::poll(&mut fds, limit.as_ref()) {
        Err(Errno::INVAL) => select(fd, limit.as_ref()),
        polled => polled.map(|ready| ready as i32),
    };
    ready.is_ok_and(|ready| ready > 0)
}

/// Waits until `fd` is readable. `poll` takes at most as many descriptors as the process may have,
/// so not even one where a sandbox has set that limit to zero.
#[cold]
fn select(fd: BorrowedFd<'_>, limit: Option<&Timespec>) -> rustix::io::Result<i32> {
    let (fd, end) = (fd.as_raw_fd(), fd.as_raw_fd() + 1);
    let mut fds = vec![FdSetElement::default(); fd_set_num_elements(1, end)];
    fd_set_insert(&mut fds, fd);
    // SAFETY: the set has a bit for each number below `end`. The only one that is set is that of a
    // descriptor that is open.
    unsafe { rustix::event::select(end, Some(&mut fds), None, None, limit) }
}

/// Returns the directions in which a source is ready or closed. An error makes both ready: the next
/// operation gets it.
fn bits(event: &Event) -> u64 {
    let bit = |is: bool, bit: u64| if is { bit } else { 0 };
    let is_error = event.is_error();
    bit(event.is_readable() || is_error || event.is_priority(), source::READ)
        | bit(event.is_priority(), source::READ_URGENT)
        | bit(event.is_writable() || is_error, source::WRITE)
        | bit(event.is_read_closed(), source::READ_CLOSED)
        | bit(event.is_write_closed(), source::WRITE_CLOSED)
}
