//! Ctrl-C.

use super::kind::SignalKind;
use super::listener::signal;
use std::io::Result;

/// Waits for Ctrl-C, which the terminal sends as `SIGINT`.
///
/// Each call waits for a signal that comes after the first poll of its future. One that came before
/// is not taken, and one that comes between two calls is lost to both. A loop that listens keeps a
/// [`Signal`](super::unix::Signal) instead:
/// `signal(SignalKind::interrupt())`. Several calls that wait at the same time all return.
///
/// The first poll replaces what Ctrl-C does by default [for the rest of the
/// process](super#what-the-first-listener-changes): later ones do not end the process, whether or
/// not a call waits for them.
///
/// # Errors
/// Those of [`signal`].
///
/// # Cancel safety
/// Nothing is lost that another listener waits for. The default action does not come back.
///
/// # Examples
/// The process sends the signal to itself here:
/// ```
/// use evenkeel::signal::ctrl_c;
/// use futures::{pin_mut, poll};
/// use rustix::process::{Signal, getpid, kill_process};
///
/// # fn main() -> std::io::Result<()> {
/// evenkeel::block_on(async {
///     let pressed = ctrl_c();
///     pin_mut!(pressed);
///     assert!(poll!(pressed.as_mut()).is_pending(), "it listens from its first poll on");
///     kill_process(getpid(), Signal::INT)?;
///     pressed.await
/// })
/// # }
/// ```
pub async fn ctrl_c() -> Result<()> {
    signal(SignalKind::interrupt())?.recv().await;
    Ok(())
}
