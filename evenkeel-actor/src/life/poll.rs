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

/// Polls a body, as one of its system, and timed if that is asked for.
#[inline(always)]
pub(super) fn poll<M: Send + 'static, B: Future<Output = ExitReason>>(
    own: &Mailbox<M>,
    body: Pin<&mut B>,
    context: &mut task::Context<'_>,
) -> thread::Result<Poll<ExitReason>> {
    // A guard, not a function that calls back: the body is polled in one place, where it can be in
    // line.
    let attended = if own.is_attended() { Some(Attended::begin(own)) } else { None };
    let polled = catch_unwind(AssertUnwindSafe(|| body.poll(context)));
    if let Some(attended) = attended {
        attended.end();
    }
    polled
}

/// A poll of an actor of another system than the process's, or one that is timed.
struct Attended<'a, M: Send + 'static> {
    own: &'a Mailbox<M>,
    /// When it began, if it is timed: the clock costs more than all else here.
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
