//! How long the close of a stream waits for what was written.

use socket2::Socket;
use std::io::Result;
use std::time::Duration;

/// Sets how long it waits. The system counts whole seconds in an `int`, and zero discards what was
/// written: a part of a second is rounded up.
pub(super) fn set_linger(socket: &Socket, linger: Option<Duration>) -> Result<()> {
    let whole = |linger: Duration| {
        let seconds = linger.as_secs().saturating_add(u64::from(linger.subsec_nanos() > 0));
        Duration::from_secs(seconds.min(i32::MAX as u64))
    };
    socket.set_linger(linger.map(whole))
}
