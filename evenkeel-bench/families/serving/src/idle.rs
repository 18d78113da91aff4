//! What connections without traffic cost a server.
//!
//! **Steps.** 1. The server starts. A client connects, and sends one request on each connection: so
//! the server has what it needs for any connection at all. 2. The server says what it has. A second
//! client connects, as often, and does the same. The server says what it has again: the growth of
//! its resident set is that of the second client's connections. 3. The first client ends. 4. For a
//! moment there is no traffic, so that workers that search or spin after some come to rest. Then
//! for the measured time there is none either. Before and after it the server says what it has
//! used: the difference is the processor time of an idle server. 5. The second client sends one
//! more request on each connection, which all have replies.

use std::thread;
use std::time::Duration;

use crate::run::{Client, Host, Server};
use crate::spec::Spec;

/// The bytes of the buffer of each connection, which count as its own: few, so that the rest is the
/// runtime's.
const BUFFER: usize = 64;

/// The time without traffic before the measured time.
const SETTLE: Duration = Duration::from_millis(200);

/// The measurements of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Growth of the server's resident set by the second client's connections, in bytes.
    pub(crate) growth: u64,
    /// Processor time of the server without traffic.
    pub(crate) server_cpu: Duration,
}

/// Runs it once.
pub(crate) fn run(host: Host<'_>, spec: &Spec) -> anyhow::Result<Outcome> {
    let of_both = Spec { connections: 2 * spec.connections, ..spec.clone() };
    let mut server = Server::start(host, &of_both, BUFFER)?;
    let port = server.port()?;
    let mut first = Client::start(spec, port)?;
    first.phase(Duration::ZERO)?;
    let some = server.mark()?;
    let mut client = Client::start(spec, port)?;
    client.phase(Duration::ZERO)?;
    let full = server.mark()?;
    drop(first);
    thread::sleep(SETTLE);
    let before = server.time()?;
    thread::sleep(spec.time);
    let after = server.time()?;
    client.phase(Duration::ZERO)?;
    drop(client);
    Ok(Outcome {
        growth: full.resident.saturating_sub(some.resident),
        server_cpu: after.saturating_sub(before),
    })
}
