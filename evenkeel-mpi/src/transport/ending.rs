//! The end of a transport, and with it of MPI in this process.
//!
//! `MPI_Finalize` returns when all ranks have called it, and spins until then. So a rank first gets
//! to a point at which the call returns at once:
//! 1. It sends *leave* to all other ranks, if it has not.
//! 2. It polls, and drops arriving frames, until its own messages are complete and each other rank
//!    has sent *leave*. A rank that still sends to this one is never stuck, because this one takes
//!    everything. Each rank does this, so all messages become complete.
//! 3. It enters a barrier that does not block, and tests it in growing pauses. When the barrier is
//!    complete, all ranks are in this step, and each waits only for its own next look.
//!
//! [`ended`](Transport::ended) does all of that, and a host calls it between other work: a rank
//! with one worker, which drives the transport, goes on with its tasks, for which a rank that has
//! not left yet may wait. The drop does the rest in pauses of its own, so it is quick after
//! `ended`, and correct without. It cannot avoid `MPI_Finalize` itself, which takes as long as the
//! last rank's next look at the barrier: at most a host's longest wait or its worker's longest
//! poll.
//!
//! A rank that cannot do this ends the job in the drop, and prints why. A rank that panics ends the
//! job because others may wait for it. A rank that knows of a lost rank ends it because step 2 or 3
//! would wait for that one; `ended` is then true at once.

use super::MpiTransport;
use crate::raw::Collective;
use evenkeel_node::Transport;
use std::thread;
use std::time::{Duration, Instant};

/// The exit code of a job in which a rank panics: that of a panicking Rust program.
const PANICKED: i32 = 101;
const LOST: i32 = 1;

/// The longest wait of one pause; there is nothing else to do.
const LONG: Duration = Duration::from_secs(3600);

/// The most messages that one look at the end drops. An estimate: as many as a host hands on in a
/// turn; no benchmark sets it.
const THROWN_AWAY: usize = 64;

/// The progress of the end.
pub(super) enum Ending {
    /// Some ranks have not left, as far as this one knows.
    Leaves,
    /// All ranks have left, and this one is in the barrier.
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
            self.abort(LOST, &format!("cannot end in order ({lost})"));
        }
    }
}

impl MpiTransport {
    /// Takes steps 2 and 3 without blocking. Returns whether they are complete, or impossible.
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

    /// Takes step 3, and returns whether it is complete.
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

    /// Ends the job, and prints why.
    fn abort(&self, code: i32, why: &str) -> ! {
        let (rank, ranks) = (self.session.rank(), self.session.size());
        eprintln!("evenkeel-mpi: rank {rank} of {ranks} {why}: it ends the whole job by MPI_Abort");
        self.session.abort(code)
    }
}
