//! Listeners for signals.

use super::handler;
use super::hub::{self, Hub};
use super::kind::SignalKind;
use super::waiters::Seen;
use crate::primitives::wakers::WakerPlace;
use crate::scheduler::interleave::is_deterministic;
use crate::task::budget;
use std::fmt;
use std::future::Future;
use std::io::{Error, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Returns a listener for a kind of signal.
///
/// It gets each signal that comes after this call has returned. The first listener of a kind
/// replaces the default action of that signal [for the rest of the
/// process](super#what-the-first-listener-changes). This needs no runtime.
///
/// # Errors
/// * `InvalidInput`: the signal cannot be listened for (`SIGKILL`, `SIGSTOP`, `SIGILL`, `SIGFPE`,
///   `SIGSEGV`), or the system has none with this number. No action of a signal has changed then.
/// * The system's: there is no descriptor or no thread left for the first listener of the process.
/// * In a [deterministic](crate::deterministic) run: its order would follow that of the signals.
///
/// # Cost
/// The first listener of the process starts a thread and opens two descriptors, the first one of a
/// kind makes a system call more, and others take two locks.
///
/// # Examples
/// ```
/// use evenkeel::signal::unix::{SignalKind, signal};
/// use rustix::process::{Signal, getpid, kill_process};
///
/// # fn main() -> std::io::Result<()> {
/// let runtime = evenkeel::Runtime::new().expect("the runtime starts");
/// let mut hangups = signal(SignalKind::hangup())?;
/// let reloads = runtime.spawn(async move { hangups.recv().await });
/// kill_process(getpid(), Signal::HUP)?;
/// assert_eq!(runtime.block_on(reloads).unwrap(), Some(()));
///
/// let refused = signal(SignalKind::from_raw(9)).unwrap_err();
/// assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
/// # Ok(())
/// # }
/// ```
pub fn signal(kind: SignalKind) -> Result<Signal> {
    if is_deterministic() {
        return Err(Error::other(
            "a deterministic run has no signals, as its order would follow theirs: use channels, or an ordinary runtime",
        ));
    }
    let index = kind.index()?;
    let hub = hub::open()?;
    let seen = hub.listen(index, || handler::install(&hub, index))?;
    Ok(Signal { hub, index, seen })
}

/// A listener for one kind of signal. Returned by [`signal`], which has an example.
///
/// Signals that come between two waits are told once, however many there were: the system itself
/// does not count them. Each listener of a kind gets its own note of them. A signal that comes
/// while no wait is under way is kept for the next one.
///
/// A listener that is dropped leaves nothing behind but the handler.
#[must_use = "a listener does nothing until it is asked"]
pub struct Signal {
    hub: Hub,
    index: usize,
    seen: Seen,
}

impl Signal {
    /// Waits for the next signal, or returns at once if one has come since the last wait. Always
    /// returns `Some`: the `Option` lets the call stand in `while let`, as with a channel.
    ///
    /// # Cancel safety
    /// No signal is lost: it is kept for the next wait.
    ///
    /// # Cost
    /// Two loads if a signal has come. Otherwise a lock, and another thread's wake-up. Takes a unit
    /// of the [`budget`](crate::budget).
    ///
    /// # Examples
    /// A thousand signals are told once or more, and none of them later:
    /// ```
    /// use evenkeel::signal::unix::{SignalKind, signal};
    /// use rustix::process::{Signal, getpid, kill_process};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let mut sizes = signal(SignalKind::window_change())?;
    /// for _ in 0..1_000 {
    ///     kill_process(getpid(), Signal::WINCH)?;
    /// }
    /// assert_eq!(evenkeel::block_on(sizes.recv()), Some(()));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn recv(&mut self) -> Option<()> {
        Wait { former: self.seen.replace_place(None), signal: self }.await
    }

    /// Does the same as [`recv`](Self::recv), for a caller that is polled by functions. The task of
    /// the last call is woken, also if a `recv` is dropped meanwhile.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        ready!(budget::poll_unit(cx.waker()));
        self.hub.poll(self.index, &mut self.seen, cx.waker()).map(Some)
    }

    fn leave(&mut self) {
        self.hub.leave(self.index, &mut self.seen);
    }
}

/// A stream that does not end: an item for what [`recv`](Signal::recv) returns.
///
/// # Examples
/// Signals of two kinds in one loop:
/// ```
/// use evenkeel::signal::unix::{SignalKind, signal};
/// use futures::{StreamExt, stream::select};
/// use rustix::process::{Signal, getpid, kill_process};
///
/// # fn main() -> std::io::Result<()> {
/// let reload = signal(SignalKind::hangup())?.map(|()| "reload");
/// let end = signal(SignalKind::terminate())?.map(|()| "end");
/// kill_process(getpid(), Signal::TERM)?;
/// let told = evenkeel::block_on(select(reload, end).next());
/// assert_eq!(told, Some("end"));
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "stream")]
impl futures_core::Stream for Signal {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        self.poll_recv(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        self.leave();
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").field("number", &self.index).finish_non_exhaustive()
    }
}

/// A wait, which takes its waker with it when it is dropped, and no other.
struct Wait<'a> {
    signal: &'a mut Signal,
    /// The place of the listener's waker from before, which stays there.
    former: Option<WakerPlace>,
}

impl Future for Wait<'_> {
    type Output = Option<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        self.signal.poll_recv(cx)
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.signal.leave();
        self.signal.seen.replace_place(self.former);
    }
}
