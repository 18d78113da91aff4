//! Readiness: which sockets of a processor can be read and written.
//!
//! # Roles
//! A *set* belongs to one processor, and its worker is the *owner*. A *looker* asks the system what
//! in the set is ready: the owner, or another thread for an owner that does not come to it. A
//! [*source*](source) is one socket in the set.
//!
//! # Protocol
//! - *Open*: the first socket that has to wait at a processor opens its set. A processor without a
//!   set sleeps on a futex, as before. If the system refuses the set, the socket goes into an open
//!   one of another processor.
//! - *Register*: an operation that would block for the first time enters its socket into the set of
//!   the processor that polls it, in both directions. It leaves that set if it
//!   [moves](registration) to another one, or is dropped. The system tells each change once.
//! - *Look*: a thread takes the set's lock if it is free, asks the system, notes what is ready at
//!   the sources, and leaves the lock. Then it wakes the operations. So a wake on the owner's
//!   thread goes into the owner's queue, and no caller's code runs under the lock.
//! - *Sleep*: the owner holds the lock, and the system wakes it when a source is ready. Another
//!   thread wakes it by an *interrupt*, which the system keeps until the next look: it takes the
//!   place of an unpark. Once the owner has the lock, and before it sleeps, it asks whether it has
//!   been called, because another looker may have got the interrupt. The owner counts itself
//!   [awake](crate::idle) before it wakes the operations. While it counted as asleep, it would wake
//!   itself for them.
//! - *Close*: when the runtime is over, every operation that waits gets an error, and so do later
//!   ones.
//!
//! # Why nothing is lost
//! What the system tells a looker is noted at its source before the lock is free. A looker that
//! finds the lock taken leaves the look to the other thread. The owner's sleep is a look. An
//! owner that is inside a poll looks after its batch; others, busy or not, look for it once it is
//! [overdue](crate::policy::readiness).
//!
//! A number in the set may be given to another source while a looker still has a note for the one
//! before. The new source is then taken for ready: its operation tries, would block, and waits.
//!
//! # Rejected
//! One set for all processors: one thread at a time looks, and all tasks are woken in its queue,
//! however many workers there are. Tokio's runtime has one: of 9,000 connections that echo, on two
//! workers, one in a hundred waits for 168 to 258 ms there, and 161 to 184 here, in four sessions.
//! Under light load one set is better all the same, so sockets [gather](registration).
//!
//! One thread that looks for all workers, as in `async-io` 2: two workers beside it make 0.6 of
//! the answers of Tokio's runtime with 100 connections, with 2.2 times the processor time for each;
//! with one connection 0.9, and 2.3 times. (This set in the same session: 1.08, 0.97, and 0.99,
//! 1.04.)
//!
//! Completions instead of readiness: of two programs in C that do nothing but echo, on two threads,
//! the one on io_uring takes 9.9 and 10.1 µs for an answer with 100 connections, the one on epoll
//! 10.1 and 11.4, this set 10.0 and 10.8, Tokio's runtime 10.1 and 11.4; with 9,000 connections
//! 15.2 and 15.9, 17.5 and 17.6, 19.9 and 20.0, 18.9 and 19.2. That is 2 to 14 % for the kernel's
//! part, on one system. A kernel that completes operations owns their buffers until then, and the
//! traits of I/O lend theirs for one poll: each answer would be copied once more. So readiness it
//! is. What a server can gain on Tokio's is thereby bounded: the program on epoll, which has no
//! tasks, takes 0.91 to 0.96 of its processor time for an answer.
//!
//! A set that no socket leaves: a worker that finds few of them ready sleeps for every few answers
//! (the figures are at [`Catch`](crate::policy::readiness::Catch)).
//!
//! Sockets at the worker on whose core their packets arrive, as the system says: beside clients on
//! the same cores the system moves the threads of both about too often for that, and the server
//! makes up to a tenth fewer answers. (Where the sockets of each client's thread were in one set
//! from the beginning, the system kept that thread and the worker on one core, and the server made
//! a tenth more; but no worker can tell which sockets have a client in common.)
//!
//! Entering a socket when it is opened: one that is accepted at a processor is often handed to a
//! task that another one polls first.
//!
//! Looks that take 64 notes at most, and come again when the tasks that they have woken are polled,
//! with the sources and tasks prefetched: they spare cache misses, 8 % of the processor time of an
//! echo server with 9,000 connections and one worker, and nothing with two workers, or with 1,000
//! connections. Looks that wait until few tasks are ready, for 4 ms at most, with 64, 256 or 1,024
//! notes at a time: a twentieth less with 9,000 connections and two workers, within the spread of
//! six rounds.
//!
//! The youngest ready tasks first, whose sockets are still in the caches: with 9,000 connections
//! that echo and two workers, 64 of 72 polls take a tenth less of processor time each, and one
//! answer in a hundred waits for 0.6 to 0.8 s instead of 0.16 to 0.21; with 32 of 64 polls both are
//! within the spread of the first. Tokio's runtime, whose workers take what they have just woken
//! first, has 2 to 10 % less processor time than this one there, and 0.22 to 0.31 s.
//!
//! Yielding the core, and looking once more, before a worker sleeps among its sockets: on two cores
//! with two workers and 100 connections a server of pages sleeps 3 to 7 times for 100 pages instead
//! of 10 to 15, and makes up to a tenth more of them, if its client has one thread. With two, its
//! workers lose their cores 20 times for 100 pages instead of 15, and it makes 3 to 5 % fewer.

// A model of loom has all of it, on a system of its own.
#[cfg(not(any(loom, all(feature = "net", unix, not(shuttle)))))]
mod absent;
#[cfg(all(test, loom))]
mod model;
#[cfg(loom)]
pub(crate) mod modelled;
#[cfg(any(loom, all(feature = "net", unix, not(shuttle))))]
mod registration;
#[cfg(any(loom, all(feature = "net", unix, not(shuttle))))]
mod set;
#[cfg(any(loom, all(feature = "net", unix, not(shuttle))))]
pub(crate) mod source;
#[cfg(any(loom, all(feature = "net", unix, not(shuttle))))]
mod stay;
#[cfg(all(feature = "net", unix, not(any(loom, shuttle))))]
mod system;
#[cfg(any(loom, all(feature = "net", unix, not(shuttle))))]
mod woken;

#[cfg(not(any(loom, all(feature = "net", unix, not(shuttle)))))]
pub(crate) use absent::{Place, Set, Woken};
#[cfg(loom)]
use modelled as system;
#[cfg(any(loom, all(feature = "net", unix, not(shuttle))))]
pub(crate) use registration::Registration;
#[cfg(any(loom, all(feature = "net", unix, not(shuttle))))]
pub(crate) use set::{Place, Set};
#[cfg(any(loom, all(feature = "net", unix, not(shuttle))))]
pub(crate) use woken::Woken;

/// What a set has, and has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sockets: usize,
    pub(crate) looks: u64,
    pub(crate) notes: u64,
    pub(crate) moved: u64,
}
