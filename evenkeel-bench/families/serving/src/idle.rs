//! What connections without traffic cost a server.
//!
//! **Steps.** 1. The server starts, and says what it has. 2. The client connects, and sends one
//! request on each connection. 3. The server says what it has: the growth of its resident set is
//! that of its connections. 4. For a moment there is no traffic, so that workers that search or
//! spin after some come to rest. Then for the measured time there is none either. Before and after
//! it the server says what it has used: the difference is the processor time of an idle server. 5.
//! The client sends one more request on each connection, which all have replies.

use std::thread;
use std::time::Duration;

use crate::run::{Client, Host, Server};
use crate::spec::Spec;

/// The bytes of the buffer of each connection, which count as its own.
const BUFFER: usize = 1 << 10;

/// The time without traffic before the measured time.
const SETTLE: Duration = Duration::from_millis(200);

/// The measurements of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Growth of the server's resident set, in bytes.
    pub(crate) growth: u64,
    /// Processor time of the server without traffic.
    pub(crate) server_cpu: Duration,
}

/// Runs it once.
pub(crate) fn run(host: Host<'_>, spec: &Spec) -> anyhow::Result<Outcome> {
    let mut server = Server::start(host, spec, BUFFER)?;
    let port = server.port()?;
    let empty = server.mark()?;
    let mut client = Client::start(spec, port)?;
    client.phase(Duration::ZERO)?;
    let full = server.mark()?;
    thread::sleep(SETTLE);
    let before = server.time()?;
    thread::sleep(spec.time);
    let after = server.time()?;
    client.phase(Duration::ZERO)?;
    drop(client);
    Ok(Outcome {
        growth: full.resident.saturating_sub(empty.resident),
        server_cpu: after.saturating_sub(before),
    })
}
