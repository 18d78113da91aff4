//! One poll of an actor's body.

use crate::mailbox::Mailbox;
use crate::system::Entered;
use crate::words::exit::ExitReason;
use evenkeel::internal::now;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{self, Poll};
use std::thread;

/// Polls a body, inside of its actor's system, and timed if the mailbox says so.
#[inline(always)]
pub(super) fn poll<M: Send + 'static, B: Future<Output = ExitReason>>(
    own: &Mailbox<M>,
    body: Pin<&mut B>,
    context: &mut task::Context<'_>,
) -> thread::Result<Poll<ExitReason>> {
    // A guard, not a function with a callback: the body has one place where it is polled, and can
    // be inlined there.
    let attended = if own.is_attended() { Some(Attended::begin(own)) } else { None };
    let polled = catch_unwind(AssertUnwindSafe(|| body.poll(context)));
    if let Some(attended) = attended {
        attended.end();
    }
    polled
}

/// A poll of an actor of a system other than the process's, or a timed poll.
struct Attended<'a, M: Send + 'static> {
    own: &'a Mailbox<M>,
    /// When the poll began, if it is timed: the clock costs more than all else here.
    begun: Option<u64>,
    _entered: Entered,
}

impl<'a, M: Send + 'static> Attended<'a, M> {
    #[cold]
    fn begin(own: &'a Mailbox<M>) -> Self {
        let begun = own.is_measured().then(now);
        Self { own, begun, _entered: own.system().enter() }
    }

    #[cold]
    fn end(self) {
        if let Some(begun) = self.begun {
            self.own.note_busy(now().saturating_sub(begun));
        }
    }
}
