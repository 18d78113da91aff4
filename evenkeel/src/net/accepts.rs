//! What a listener does around its accepts: it counts them, and pauses when there are no
//! descriptors or no memory for one.
//!
//! Such a connection stays in the backlog, so the next accept would try at once, fail again, and a
//! server that goes on after an error would do nothing else. So the accept that fails returns its
//! error, and later ones first wait: 5 ms, then twice as long after each further failure, up to a
//! second. An accept that succeeds ends that for calls after it.
//!
//! A pause belongs to the runtime in which the accept has failed, and goes by its clock. In another
//! runtime, outside of any, and when its runtime ends there is no pause: the accept tries.
//!
//! # Source
//! The times are those of Go's `net/http`.

use crate::primitives::{Mutex, lock};
use crate::processor::shared::Shared;
use crate::processor::{context, current};
use crate::time::{Instant, Sleep, sleep_until};
use rustix::io::Errno;
use std::future::poll_fn;
use std::io::{Error, Result};
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

const SHORTEST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Accepts {
    state: Mutex<State>,
    /// The wait of the last caller that was polled by functions.
    polled: Mutex<Option<Polled>>,
}

#[derive(Debug, Default)]
struct State {
    pause: Option<Pause>,
    length: Duration,
}

#[derive(Clone, Debug)]
struct Pause {
    until: Instant,
    of: Owner,
}

#[derive(Debug)]
struct Polled {
    sleep: Pin<Box<Sleep>>,
    of: Owner,
}

/// The runtime by whose clock a pause goes.
#[derive(Clone, Debug)]
struct Owner(Weak<Shared>);

impl Owner {
    /// Returns whether it is the thread's current runtime.
    fn is_current(&self) -> bool {
        current::with(|shared| {
            shared.is_some_and(|shared| std::ptr::eq(Arc::as_ptr(shared), self.0.as_ptr()))
        })
    }
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
            Err(error) if is_out_of_means(error) => {
                state.length = (state.length * 2).clamp(SHORTEST, LONGEST);
                // Without a runtime there is no timer.
                state.pause = current::shared().map(|shared| Pause {
                    until: Instant::now() + state.length,
                    of: Owner(Arc::downgrade(&shared)),
                });
            }
            Err(_) => {}
        }
        result
    }

    /// Waits for the end of the pause, if there is one.
    pub(super) async fn wait(&self) {
        if let Some(Pause { until, .. }) = self.pause() {
            // If the runtime ends, the accept tells.
            _ = rest(until).await;
        }
    }

    /// Does the same, for a caller that is polled by functions: of several tasks, the last one is
    /// woken.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        // The sleep is polled, and dropped, outside of the lock.
        let former = lock(&self.polled).take();
        let polled = former.filter(|polled| polled.of.is_current()).or_else(|| {
            let Pause { until, of } = self.pause()?;
            Some(Polled { sleep: Box::pin(sleep_until(until)), of })
        });
        let Some(mut polled) = polled else { return Poll::Ready(()) };
        if polled.sleep.as_mut().poll_or_over(cx.waker()).is_ready() {
            return Poll::Ready(());
        }
        let other = lock(&self.polled).replace(polled);
        drop(other);
        Poll::Pending
    }

    /// Returns the pause, if it is one of the current runtime and not over.
    fn pause(&self) -> Option<Pause> {
        let pause = lock(&self.state).pause.clone();
        pause.filter(|pause| pause.of.is_current() && pause.until > Instant::now())
    }
}

/// Waits until a point in time, by the clock of the caller's runtime. Returns false if that ends.
pub(super) async fn rest(until: Instant) -> bool {
    let mut sleep = pin!(sleep_until(until));
    poll_fn(|cx| sleep.as_mut().poll_or_over(cx.waker())).await.is_ok()
}

/// Whether the process or the system has no descriptors or no memory left.
fn is_out_of_means(error: &Error) -> bool {
    let means = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    means.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
