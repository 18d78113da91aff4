//! Workers that are stuck in a poll that forks, and how the lookout learns of them.
//!
//! A worker inside a poll polls no other task, and neither does a worker that runs a job of that
//! poll. So one task can occupy all workers, and then a relief has to poll the others. When a job
//! is stolen, neither host nor thief knows how long the poll will last, and a fork must not cost
//! more because of it. So the [lookout](super::lookout) looks, sooner than at polls that do not
//! fork.
//!
//! # Roles
//! A *host* is a worker that forks inside a poll. A *thief* comes from its loop and steals a job of
//! the host. The *lookout* looks.
//!
//! # States
//! A worker is *inside a fork* while a place of its deque is in use, or while it waits. It waits
//! for a half, a scope, a broadcast or another runtime; the count of its waits is in its
//! [absence](crate::idle). The place of a stolen half is in use until the half is over. The place
//! of a boxed job is free once the thief has begun: then the owner waits at the end of its scope.
//!
//! # Protocol
//! - *Thief*: once it is away, and before it runs the job, it asks the lookout to look, unless the
//!   host is away itself. It calls the lookout if that makes no rounds.
//! - *Host, waiting*: when it begins to wait, it counts the wait, makes a full fence, and asks in
//!   the same way, unless it is away.
//! - *Lookout*: a worker that is inside a fork at two looks, in the same poll, and for
//!   [long enough](crate::policy::relieving::lasts), is *stuck*.
//! - *Host, back*: at the end of its batch, before and after its sleep, and when it goes away
//!   itself, it looks whether it has been counted, and counts itself out.
//!
//! # Why the lookout looks
//! Take a host that is inside a fork in its poll: either a thief has a half of it, or it waits. The
//! asker is the thief in the one case and the host in the other, and until the half or the wait is
//! over the host is inside the fork. The request and the look meet in one word, with a full fence
//! on either side. The asker's fence is between the steal, or the count of the wait, and its look
//! at the word. The lookout's fence is between its store that it looks, and the look. So the look
//! sees the host inside the fork, and the lookout goes on until the host is stuck; or the asker
//! leaves its request. Then the lookout sees the request at its next look, or it has stored that
//! its rounds are over, and the asker calls it.
//!
//! # Cost
//! A fork: nothing. A thief: a load of the host's state, and an exchange of its own when it goes
//! away. A wait: a locked instruction, and the same load. A worker: a load of its own state for
//! each batch. Short polls that fork, even where no other task or timer exists: the first thief, or
//! the host that waits, wakes the lookout, some 5 µs before the thief runs the job.
//!
//! # Rejected
//! The thief counts the host in when it steals: where a task is ready, each short join would call
//! the relief. Only the host asks, when it waits: two long halves do not wait. The thief asks only
//! if there is a task or a timer: the pusher of a later task knows of no thief. A look at the time
//! in each fork: a fork must cost nothing more.

use crate::idle::Absence;
use crate::processor::context::Context;

/// Counts a worker's wait inside fork-join for as long as it lives.
#[derive(Debug)]
pub(crate) struct Waiting<'a>(&'a Absence);

impl<'a> Waiting<'a> {
    /// Counts a wait of the caller, and asks the lookout to look at it.
    pub(crate) fn begin(context: &'a Context) -> Self {
        let absence = &context.seat.processor().absence;
        absence.begin_wait();
        context.shared().look_after(context.seat.me());
        Self(absence)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.end_wait();
    }
}
