//! What brings signals from their handlers to the listeners: one hub for the process.
//!
//! # Roles
//! A *handler* runs on any thread, inside of whatever code the signal interrupts. The *teller* is
//! one thread, which starts with the first listener and lasts as long as the process. *Listeners*
//! wait, each with at most two wakers: that of a `poll_recv` stays during a `recv`. The *pipe* is a
//! pair of connected sockets: handlers write to one end, and the teller reads from the other.
//!
//! # States
//! Of a kind of signal there is a *count* of arrivals. A listener is *behind* if it has seen
//! another count, and *level* otherwise. The teller has its own view of each count.
//!
//! # Steps
//! 1. A listener is made: the handler is installed, if it is not there yet, and then the listener
//!    sees the count.
//! 2. A handler adds one to the count, and then writes a byte. If the pipe is full, it writes
//!    nothing.
//! 3. The teller reads what is in the pipe, at least a byte, and then loads each count. Where one
//!    has changed, it takes all wakers of that kind under their lock, and calls them without it.
//! 4. A listener that is polled loads the count. If it is behind, it sees that count, and its wait
//!    is over. Otherwise it takes the lock, loads the count again, and leaves its waker if it is
//!    still level.
//!
//! # Why nothing is lost
//! An arrival after step 1 changes the count, so each listener of the kind is behind until it is
//! polled, however often the signal comes and whenever the teller runs.
//!
//! A listener that waits is woken: the teller reads after the write of step 2, or has bytes left to
//! read if the pipe was full. In both cases its load comes after the addition, so it sees another
//! count, and takes the wakers. If a listener left its waker before, under the lock, the teller
//! finds it. If the listener takes the lock later, the lock orders its second load behind the
//! teller's, and it finds that it is behind.
//!
//! A listener that has seen a count before the teller has may wait again, and is woken once for
//! nothing.
//!
//! # What is bounded
//! The pipe has the system's size, the kinds are [`NUMBERS`], and a listener has at most two
//! wakers, and one more for each `recv` that its caller forgets between two signals. So a storm of
//! signals takes time, and no memory.
//!
//! # Rejected
//! - The pipe in the readiness set of a runtime: listeners would belong to that runtime, end with
//!   it, and not work outside of one.
//! - A thread that looks at the counts now and then: it would cost time without signals, and be
//!   late with them.
//! - A byte for the number of the signal: a full pipe would lose some.
//! - A flag that a byte is on its way, which spares writes: a handler could rely on a write that
//!   another handler has yet to make, and a signal costs more than the write.
//! - Handlers that go with the last listener: a default action that comes back would end the
//!   process at a signal that comes between two listeners.

use super::kind::NUMBERS;
use super::pipe;
use super::post::Post;
use crate::primitives::{Mutex, lock};
use crate::processor::current;
use std::io::Result;
use std::sync::Arc;
use std::thread;

/// What all listeners share.
pub(super) type Hub = Arc<Post<NUMBERS>>;

/// The hub of the process, once there is a listener.
static HUB: Mutex<Option<Hub>> = Mutex::new(None);

/// Returns the hub of the process, and starts its teller if this is the first call.
///
/// # Errors
/// Fails if the system has no descriptor or no thread left. A later call tries again.
pub(super) fn open() -> Result<Hub> {
    let mut hub = lock(&HUB);
    if let Some(hub) = &*hub {
        return Ok(hub.clone());
    }
    let (reader, writer) = pipe::pair()?;
    let post = Arc::new(Post::new(writer));
    let own = post.clone();
    // Linux takes 15 bytes of a name.
    let teller = thread::Builder::new().name("evenkeel-signal".to_owned());
    let affinity = current::with(|shared| shared.map(|shared| shared.affinity().clone()));
    teller.spawn(move || {
        // A pinned worker's child would run on the worker's core alone.
        if let Some(affinity) = affinity {
            affinity.apply();
        }
        own.tell(reader);
    })?;
    Ok(hub.insert(post).clone())
}
