//! The place of a socket: the set of a worker, which it enters when it first has to wait, and
//! leaves for [a better one](crate::readiness).

use crate::policy::readiness::{self, Better};
use crate::primitives::atomic::Edge;
use crate::primitives::{Mutex, fence, lock};
use crate::processor::context::Context;
use crate::processor::current;
use crate::processor::entered;
use crate::processor::shared::{Phase, Shared};
use crate::readiness::source::Direction;
use crate::readiness::{Registration, Set};
use rustix::io::Errno;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{Arc, OnceLock};

/// None until the socket first has to wait.
#[derive(Debug, Default)]
pub(super) struct Place(OnceLock<Registration>);

/// The operation that registers a socket holds the lock that its descriptor chooses: two of the
/// same socket may get there at the same time, at two workers. A socket has none of its own, which
/// would be a tenth of its memory.
static REGISTERS: [Mutex<()>; 16] = [const { Mutex::new(()) }; 16];

impl Place {
    #[inline(always)]
    pub(super) fn get(&self) -> Option<&Registration> {
        self.0.get()
    }

    pub(super) fn leave(&mut self, socket: BorrowedFd<'_>) {
        if let Some(registration) = self.0.take() {
            registration.leave(socket);
        }
    }

    /// Enters the socket into the set of this worker, or of another worker of the thread's runtime.
    /// The system has refused an operation in the direction `refused`, if there is one.
    #[cold]
    pub(super) fn register(
        &self,
        socket: BorrowedFd<'_>,
        refused: Option<Direction>,
    ) -> Result<()> {
        let fd = socket.as_raw_fd();
        let shared = current::shared().ok_or_else(no_runtime)?;
        if shared.hooks.deterministic {
            return Err(Error::other(
                "a deterministic run has no sockets, as its order would follow theirs: use channels, or an ordinary runtime",
            ));
        }
        let here = entered::with_any(|context| {
            let context = context.filter(|here| std::ptr::eq(&**here.shared(), &*shared));
            context.map(|here| here.seat.me()).filter(|&me| me < shared.workers)
        });
        let near = here.unwrap_or(fd as usize % shared.workers);
        let (at, set) = open_near(&shared, near)?;
        {
            let _registers = lock(&REGISTERS[fd as usize % REGISTERS.len()]);
            if self.get().is_some() {
                return Ok(());
            }
            let registration =
                Registration::enter(set, at, socket, refused).map_err(not_entered)?;
            self.0.set(registration).expect("one operation at a time registers");
        }
        if here != Some(at) {
            // Its worker may sleep outside of the set.
            shared.idle.unpark(at);
        }
        // Its worker may be stuck in its next poll, or in this one.
        shared.watch();
        Ok(())
    }

    /// Counts a wait at this worker, and moves the socket if it is worth that.
    pub(super) fn wait_here(&self, socket: BorrowedFd<'_>) {
        let Some(registration) = self.get() else { return };
        entered::with_any(|context| {
            let Some(here) = context else { return };
            let (shared, me) = (here.shared(), here.seat.me());
            if me >= shared.workers {
                return;
            }
            let home = registration.home();
            let sleeps = home < shared.workers && shared.idle.is_asleep(home);
            let to = match readiness::better(home == me, here.catches_few.get(), sleeps) {
                Better::Home => home,
                Better::Here => me,
                Better::Gatherer => gatherer(here).unwrap_or(home),
            };
            if !registration.wait(to != home) {
                return;
            }
            // Of another runtime this worker knows no sets.
            let former = (home < shared.workers).then(|| shared.idle.set(home).get()).flatten();
            if let Some(former) = former
                && let Ok(set) = open_set(shared, to)
            {
                registration.change(former, set, to, socket);
                if to != me {
                    // It may have gone to sleep meanwhile, outside of the set.
                    shared.idle.unpark(to);
                }
            }
        });
    }
}

/// Returns the set of worker `at`, and opens it if necessary. That of a runtime that is over is
/// closed: what waits there fails.
///
/// The thread that ends the runtime says so before it closes the sets that it finds, and both sides
/// have a full fence. Either that thread finds this set, or this one finds that the runtime is
/// over.
fn open_set(shared: &Shared, at: usize) -> Result<&Arc<Set>> {
    let place = shared.idle.set(at);
    let is_new = place.get().is_none();
    let set = place.open()?;
    if is_new {
        fence::full(Edge::IdlePush);
        if shared.phase() == Phase::Over {
            set.close();
        }
    }
    Ok(set)
}

/// Returns the set of worker `near`, and opens it if necessary. If that fails, as in a process
/// without free descriptors, it is the set of any worker that has one: a socket waits there as
/// well, and moves when the other set can be opened.
///
/// # Errors
/// The system's, if no worker has a set.
fn open_near(shared: &Shared, near: usize) -> Result<(usize, &Arc<Set>)> {
    open_set(shared, near).map(|set| (near, set)).or_else(|error| {
        let mut all = 0..shared.workers;
        let open = all.find_map(|at| shared.idle.set(at).opened().map(|set| (at, set)));
        open.ok_or(error)
    })
}

/// Returns the gatherer, if it is another worker than this one, and comes to its set.
fn gatherer(here: &Context) -> Option<usize> {
    let shared = here.shared();
    let gatherer = shared.idle.gatherer();
    if gatherer == here.seat.me() {
        return None;
    }
    let tended = shared.idle.set(gatherer).get().map_or(0, |set| set.tended());
    let comes = shared.idle.is_asleep(gatherer) || !readiness::is_overdue(here.now.get(), tended);
    comes.then_some(gatherer)
}

/// Says what to do about a descriptor that the system takes into no set.
fn not_entered(error: Error) -> Error {
    let words = match Errno::from_io_error(&error) {
        Some(Errno::PERM) => {
            "the system tells nothing of such a descriptor, as that of a file on a disk, which is always ready: use fs"
        }
        Some(Errno::EXIST) => "the descriptor waits in another AsyncFd already: share that one",
        _ => return error,
    };
    Error::new(error.kind(), words)
}

pub(super) fn no_runtime() -> Error {
    Error::other(
        "a socket or a look-up has to wait, and there is no runtime: use it inside a task or block_on of an evenkeel \
         runtime",
    )
}
