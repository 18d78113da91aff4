//! The end of a transport, and with it of MPI in this process.
//!
//! `MPI_Finalize` returns when all ranks have called it, and spins until then. So a rank that ends
//! first brings itself to where the call returns at once:
//! 1. It says *leave* to all others, if it has not.
//! 2. It polls, throwing away what comes, until its own messages are complete and each other rank
//!    has said *leave*. A rank that still sends to this one is never stuck, because this one takes
//!    everything; each does this, so each one's messages become complete.
//! 3. It enters a barrier that does not block, and tests it in growing pauses. When that is
//!    complete, all ranks are in this step, and none waits for anything but its own next look.
//!
//! All of that is [`ended`](Transport::ended), which a host calls between other work: a rank whose
//! only worker drives the transport goes on with its tasks, for which a rank that has not left yet
//! may wait. The drop does the rest in pauses of its own, so it is quick after that, and right
//! without. What it cannot spare its thread is `MPI_Finalize` itself: it takes as long as the last
//! rank's next look at the barrier, at most a host's longest wait or its worker's longest poll.
//!
//! A rank that can not do this ends the job in the drop, and says why: one that panics, since
//! others may wait for it, and one that has been told of a lost rank, since step 2 or 3 would wait
//! for that; its end has then nothing to wait for.

use super::MpiTransport;
use crate::raw::Collective;
use evenkeel_node::Transport;
use std::thread;
use std::time::{Duration, Instant};

/// With which code a job ends in which a rank panics: that of a Rust program which does.
const PANICKED: i32 = 101;
const LOST: i32 = 1;

/// How long at most one wait is; there is nothing else to do.
const LONG: Duration = Duration::from_secs(3600);

/// Messages that one look at the end throws away. An estimate: as many as a host hands on in a
/// turn; no benchmark sets it.
const THROWN_AWAY: usize = 64;

/// How far the end has come.
pub(super) enum Ending {
    /// Not all have left, as far as this rank knows.
    Leaves,
    /// They have, and this rank is in the barrier.
    Barrier(Collective),
    /// All ranks are in the barrier.
    Together,
}

impl Drop for MpiTransport {
    fn drop(&mut self) {
        if thread::panicking() {
            self.abort(PANICKED, "panics; the others could wait for it for ever");
        }
        self.leave();
        while !self.moves_end() {
            self.pause(Instant::now(), LONG);
        }
        if let Some(lost) = &self.ledger.lost {
            self.abort(LOST, &format!("can not end in order ({lost})"));
        }
    }
}

impl MpiTransport {
    /// Steps 2 and 3, without blocking. Whether they are done, or cannot be.
    pub(super) fn moves_end(&mut self) -> bool {
        if let Ending::Leaves = self.ending {
            for _ in 0..THROWN_AWAY {
                if self.poll().is_none() {
                    break;
                }
            }
            if self.ledger.lost.is_none() && (self.is_sending() || self.ledger.any_is_up()) {
                return false;
            }
        }
        if self.ledger.lost.is_some() {
            return true;
        }
        self.moves_barrier().unwrap_or_else(|error| {
            self.ledger.lost = Some(error.to_string());
            true
        })
    }

    /// Step 3.
    fn moves_barrier(&mut self) -> Result<bool, crate::MpiError> {
        if let Ending::Leaves = self.ending {
            self.ending = Ending::Barrier(self.session.barrier()?);
        }
        if let Ending::Barrier(barrier) = &mut self.ending
            && self.session.is_complete(barrier)?
        {
            self.ending = Ending::Together;
        }
        Ok(matches!(self.ending, Ending::Together))
    }

    /// Ends the job, with a line that says why.
    fn abort(&self, code: i32, why: &str) -> ! {
        let (rank, ranks) = (self.session.rank(), self.session.size());
        eprintln!("evenkeel-mpi: rank {rank} of {ranks} {why}: it ends the whole job by MPI_Abort");
        self.session.abort(code)
    }
}
