//! The set of one processor.

#![allow(unsafe_code, reason = "mio lends its descriptor as a number")]

use super::source::{self, Source};
use crate::primitives::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use crate::primitives::slab::Slab;
use crate::primitives::{Mutex, MutexGuard, clock, lock, unwind};
use mio::event::Event;
use mio::{Events, Interest, Poll, Registry, Token};
use rustix::event::{PollFd, PollFlags, Timespec};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{Arc, OnceLock, TryLockError};
use std::task::Waker;
use std::time::Duration;

/// The most notes that one look takes from the system; the next look takes the rest.
const MOST: usize = 1_024;

/// The number of interrupts.
const INTERRUPT: Token = Token(usize::MAX);

/// Where a processor's set is, once it is open.
#[derive(Debug, Default)]
pub(crate) struct Place(OnceLock<Arc<Set>>);

impl Place {
    #[inline]
    pub(crate) fn get(&self) -> Option<&Set> {
        self.0.get().map(|set| &**set)
    }

    /// Returns the set, and opens it if necessary.
    pub(crate) fn open(&self) -> io::Result<&Arc<Set>> {
        if let Some(set) = self.0.get() {
            return Ok(set);
        }
        let set = Arc::new(Set::open()?);
        // If another thread was faster, its set counts.
        Ok(self.0.get_or_init(|| set))
    }
}

#[derive(Debug)]
pub(crate) struct Set {
    look: Mutex<Look>,
    registry: Registry,
    interrupt: mio::Waker,
    /// The sources by their numbers.
    sources: Mutex<Slab<Arc<Source>>>,
    /// The number of sources.
    count: AtomicUsize,
    /// When the last look began.
    looked: AtomicU64,
    is_over: AtomicBool,
}

#[derive(Debug)]
struct Look {
    poll: Poll,
    events: Events,
}

/// A source in a set, until [`deregister`](Self::deregister).
#[derive(Debug)]
pub(crate) struct Registration {
    set: Arc<Set>,
    source: Arc<Source>,
    number: usize,
}

impl Set {
    fn open() -> io::Result<Self> {
        let poll = Poll::new()?;
        let registry = poll.registry().try_clone()?;
        let interrupt = mio::Waker::new(&registry, INTERRUPT)?;
        Ok(Self {
            look: Mutex::new(Look { poll, events: Events::with_capacity(MOST) }),
            registry,
            interrupt,
            sources: Mutex::new(Slab::new()),
            count: AtomicUsize::new(0),
            looked: AtomicU64::new(clock::now()),
            is_over: AtomicBool::new(false),
        })
    }

    /// Returns when the last look began.
    pub(crate) fn looked(&self) -> u64 {
        self.looked.load(Ordering::Relaxed)
    }

    /// Returns whether there are sources in it.
    pub(crate) fn is_used(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Looks without waiting, unless another thread looks. Returns whether it has woken any
    /// operation.
    pub(crate) fn look(&self, now: u64) -> bool {
        self.looked.store(now, Ordering::Relaxed);
        match self.look.try_lock() {
            Ok(look) => self.take(look, Some(Duration::ZERO)),
            Err(TryLockError::Poisoned(poisoned)) => {
                self.take(poisoned.into_inner(), Some(Duration::ZERO))
            }
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// Sleeps until a source is ready or the sleep is interrupted, for at most `limit`. The caller
    /// is the owner.
    pub(crate) fn sleep(&self, limit: Option<Duration>) {
        let look = lock(&self.look);
        // The look counts in milliseconds, and timers in less.
        let rest = limit.map(|limit| {
            wait(&look.poll, limit);
            Duration::ZERO
        });
        self.take(look, rest);
        self.looked.store(clock::now(), Ordering::Relaxed);
    }

    /// Ends the present sleep, or the next one.
    pub(crate) fn interrupt(&self) {
        // It fails only if the process has no memory for eight bytes in the kernel.
        self.interrupt.wake().expect("a readiness set could not be interrupted");
    }

    fn take(&self, mut guard: MutexGuard<'_, Look>, limit: Option<Duration>) -> bool {
        let Look { poll, events } = &mut *guard;
        // A signal to the thread ends the wait early, without events.
        if poll.poll(events, limit).is_err() || events.is_empty() {
            return false;
        }
        let mut woken = Vec::new();
        let mut sources = lock(&self.sources);
        for event in &*events {
            if let Some(source) = sources.get_mut(event.token().0) {
                source.note(bits(event), &mut woken);
            }
        }
        drop(sources);
        drop(guard);
        wake(woken)
    }

    /// Enters a socket.
    pub(crate) fn register(
        self: &Arc<Self>,
        socket: &mut impl mio::event::Source,
    ) -> io::Result<Registration> {
        let source = Arc::new(Source::default());
        let number = lock(&self.sources).insert(source.clone());
        let both = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.registry.register(socket, Token(number), both) {
            lock(&self.sources).remove(number);
            return Err(error);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        if self.is_over.load(Ordering::SeqCst) {
            let mut woken = Vec::new();
            source.end(&mut woken);
        }
        Ok(Registration { set: self.clone(), source, number })
    }

    /// Ends all operations, also those that come later: the runtime is over.
    pub(crate) fn close(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        let mut woken = Vec::new();
        for source in lock(&self.sources).iter() {
            source.end(&mut woken);
        }
        wake(woken);
    }
}

impl Registration {
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Takes the socket out of the set.
    pub(crate) fn deregister(&self, socket: &mut impl mio::event::Source) {
        // The system forgets a socket that is closed in any case.
        _ = self.set.registry.deregister(socket);
        let source = lock(&self.set.sources).remove(self.number);
        drop(source);
        self.set.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits until there is anything in the set, for at most `limit`.
fn wait(poll: &Poll, limit: Duration) {
    // SAFETY: the descriptor stays open while `poll` is borrowed.
    let fd = unsafe { BorrowedFd::borrow_raw(poll.as_raw_fd()) };
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    let limit = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
    // A signal ends the wait early: the sleeper looks, and sleeps again.
    _ = rustix::event::poll(&mut fds, Some(&limit));
}

/// Wakes operations. Returns whether there was any.
fn wake(woken: Vec<Waker>) -> bool {
    let is_any = !woken.is_empty();
    for waker in woken {
        // A foreign waker that panics must not unwind the worker.
        unwind::contain(|| waker.wake());
    }
    is_any
}

/// Returns the directions in which a source is ready or closed. An error makes both ready: the next
/// operation gets it.
fn bits(event: &Event) -> u64 {
    let bit = |is: bool, bit: u64| if is { bit } else { 0 };
    let is_error = event.is_error();
    bit(event.is_readable() || is_error || event.is_priority(), source::READ)
        | bit(event.is_writable() || is_error, source::WRITE)
        | bit(event.is_read_closed(), source::READ_CLOSED)
        | bit(event.is_write_closed(), source::WRITE_CLOSED)
}
