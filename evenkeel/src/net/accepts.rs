//! What a listener does around its accepts: it counts them, and pauses when there are no
//! descriptors or no memory for one.
//!
//! Such a connection stays in the backlog, so the next accept would try at once, fail again, and a
//! server that goes on after an error would do nothing else. So the accept that fails returns its
//! error, and later ones first wait: 5 ms, then twice as long after each further failure, up to a
//! second. An accept that succeeds ends that.
//!
//! # Source
//! The times are those of Go's `net/http`.

use crate::primitives::{Mutex, lock};
use crate::processor::{context, current};
use crate::time::{Instant, Sleep, sleep_until};
use rustix::io::Errno;
use std::future::Future;
use std::io::{Error, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

const SHORTEST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Accepts {
    state: Mutex<State>,
    /// The wait of the last caller that was polled by functions.
    polled: Mutex<Option<Pin<Box<Sleep>>>>,
}

#[derive(Debug, Default)]
struct State {
    until: Option<Instant>,
    length: Duration,
}

impl Accepts {
    /// Takes the result of an accept.
    pub(super) fn note<R>(&self, result: Result<R>) -> Result<R> {
        let mut state = lock(&self.state);
        match &result {
            Ok(_) => {
                *state = State::default();
                context::with_any(|context| {
                    if let Some(here) = context {
                        here.counters().accepted.add(1);
                    }
                });
            }
            // Without a runtime there is no timer.
            Err(error) if is_out_of_means(error) && current::shared().is_some() => {
                state.length = (state.length * 2).clamp(SHORTEST, LONGEST);
                state.until = Some(Instant::now() + state.length);
            }
            Err(_) => {}
        }
        result
    }

    /// Waits for the end of the pause, if there is one.
    pub(super) async fn wait(&self) {
        if let Some(until) = self.until() {
            sleep_until(until).await;
        }
    }

    /// Does the same, for a caller that is polled by functions: of several tasks, the last one is
    /// woken.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        // The sleep is polled, and dropped, outside of the lock.
        let former = lock(&self.polled).take();
        let Some(mut sleep) = former.or_else(|| Some(Box::pin(sleep_until(self.until()?)))) else {
            return Poll::Ready(());
        };
        if sleep.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let other = lock(&self.polled).replace(sleep);
        drop(other);
        Poll::Pending
    }

    fn until(&self) -> Option<Instant> {
        let mut state = lock(&self.state);
        state.until.take_if(|until| *until <= Instant::now());
        state.until
    }
}

/// Whether the process or the system has no descriptors or no memory left.
fn is_out_of_means(error: &Error) -> bool {
    let means = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    means.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
