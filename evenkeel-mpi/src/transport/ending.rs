//! The end of a transport, and with it of MPI in this process.
//!
//! `MPI_Finalize` returns when all ranks have called it, and spins until then. So a rank that ends first brings itself to where the call returns at once:
//! 1. It says *leave* to all others, if it has not.
//! 2. It polls, throwing away what comes, until its own messages are complete and each other rank has said *leave*. A rank that still sends to this one
//!    is never stuck, because this one takes everything; each does this, so each one's messages become complete.
//! 3. It enters a barrier that does not block, and tests it in growing pauses. When that is complete, all ranks are in this drop.
//!
//! A rank that can not do this ends the job, and says why: one that panics, since others may wait for it, and one that has been told of a lost rank, since step 2 or 3 would
//! wait for that.

use super::MpiTransport;
use evenkeel_actor::node::Transport;
use std::thread;
use std::time::{Duration, Instant};

/// With which code a job ends in which a rank panics: that of a Rust program which does.
const PANICKED: i32 = 101;
const LOST: i32 = 1;

/// How long at most one wait is; there is nothing else to do.
const LONG: Duration = Duration::from_secs(3600);

impl Drop for MpiTransport {
    fn drop(&mut self) {
        if thread::panicking() {
            self.abort(PANICKED, "panics; the others could wait for it for ever");
        }
        self.leave();
        while self.ledger.lost.is_none() && (self.is_sending() || self.ledger.any_is_up()) {
            if self.poll().is_none() {
                self.wait(LONG);
            }
        }
        if let Some(lost) = &self.ledger.lost {
            self.abort(LOST, &format!("has lost another one and can not end in order ({lost})"));
        }
        if let Err(error) = self.await_all() {
            self.abort(LOST, &format!("can not end in order ({error})"));
        }
    }
}

impl MpiTransport {
    /// Step 3.
    fn await_all(&mut self) -> Result<(), crate::MpiError> {
        let mut barrier = self.session.barrier()?;
        while !self.session.is_complete(&mut barrier)? {
            self.pause(Instant::now(), LONG);
        }
        Ok(())
    }

    /// Ends the job, with a line that says why.
    fn abort(&self, code: i32, why: &str) -> ! {
        let (rank, ranks) = (self.session.rank(), self.session.size());
        eprintln!("evenkeel-mpi: rank {rank} of {ranks} {why}: it ends the whole job by MPI_Abort");
        self.session.abort(code)
    }
}
