//! The threads that a runtime starts for its processors, and the wait for their ends.
//!
//! # Roles
//! The *ender* shuts the runtime down. It joins the threads that have *left*: they are out of their
//! loops. The values of a thread's thread-locals are destroyed only after that, and these are a
//! caller's: a destructor may block.
//!
//! # Steps
//! *Begin*: before it runs anything else, the thread puts the sender of a channel into a
//! thread-local. *End*: the standard library destroys the thread's values, the last one that was
//! made first, so the sender goes last and closes the channel. *Join*: an ender with a limit waits
//! for that. Then it joins the thread, or leaves it behind if the time is over.
//!
//! # Why the join is short
//! Once the channel is closed the thread runs no destructor of Rust's any more. The standard
//! library keeps that order without a promise. In another order a join would last as long as the
//! destructors, and nothing else would change.
//!
//! # Rejected
//! `JoinHandle::is_finished`: it is true before the values are destroyed. A thread that joins the
//! others for the ender: it is one more for each shutdown, and one destructor that blocks would
//! hide the ends of the threads behind it. Counting a thread as left only then: a destructor that
//! drops the runtime would wait for its own thread.

use std::cell::Cell;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

thread_local! {
    /// The sender of the thread's channel.
    static END: Cell<Option<Sender<()>>> = const { Cell::new(None) };
}

/// A thread that a runtime has started.
#[derive(Debug)]
pub(super) struct OwnThread {
    handle: JoinHandle<()>,
    /// Its channel is closed when the values of the thread's thread-locals are destroyed.
    end: Receiver<()>,
}

/// What a new thread has to [begin](Self::begin) with.
pub(super) struct Beginning(Sender<()>);

impl Beginning {
    /// Keeps the sender in the calling thread, the new one, until that ends.
    pub(super) fn begin(self) {
        END.set(Some(self.0));
    }
}

impl OwnThread {
    /// Starts a thread by `start`, whose thread begins with the argument.
    pub(super) fn start(
        start: impl FnOnce(Beginning) -> io::Result<JoinHandle<()>>,
    ) -> io::Result<Self> {
        let (sender, end) = mpsc::channel();
        Ok(Self { handle: start(Beginning(sender))?, end })
    }

    /// Returns whether the values of its thread-locals are destroyed.
    pub(super) fn has_ended(&self) -> bool {
        self.end.try_recv() == Err(TryRecvError::Disconnected)
    }

    /// Waits until the thread has ended, or until `limit`. Returns false if it is left behind. A
    /// thread does not wait for itself: a destructor of its own may drop the runtime.
    pub(super) fn join(self, limit: Option<Instant>) -> bool {
        if self.handle.thread().id() == thread::current().id() {
            return true;
        }
        if let Some(limit) = limit {
            let rest = limit.saturating_duration_since(Instant::now());
            if self.end.recv_timeout(rest) == Err(RecvTimeoutError::Timeout) {
                return false;
            }
        }
        // Workers catch the panics of tasks and hooks.
        self.handle.join().expect("a worker does not panic");
        true
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_does_not_wait_for_its_own_end() {
        let (sender, receiver) = mpsc::channel::<OwnThread>();
        let (tell, told) = mpsc::channel();
        let thread = OwnThread::start(|beginning| {
            thread::Builder::new().spawn(move || {
                beginning.begin();
                tell.send(receiver.recv().unwrap().join(None)).unwrap();
            })
        });
        sender.send(thread.unwrap()).unwrap();
        assert_eq!(told.recv(), Ok(true));
    }
}
