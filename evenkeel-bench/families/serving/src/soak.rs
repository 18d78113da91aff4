//! Connections that come and go, of which a server keeps nothing.
//!
//! **Steps.** 1. The server starts. 2. For the time of the warm-up connections come and go; then
//! all go. 3. When the server has closed its descriptors, it says what it has: the *start*. 4. For
//! the measured time connections come and go; half of it is over in the *middle*. 5. All go. When
//! the server has closed its descriptors, it says what it has: the *end*.
//!
//! **What is checked.** At the start the server has no more descriptors than it began with and a
//! few of its own, and at the end no more than at the start. At the end its resident set is at most
//! [`SHARE`] or [`ROOM`] larger than at the start, whichever is more.

use std::thread;
use std::time::Duration;

use anyhow::{bail, ensure};

use crate::run::{Client, Host, Server};
use crate::spec::Spec;
use crate::told::{Mark, Seen};
use suite::output::note;

/// The bytes of the buffer of each connection.
const BUFFER: usize = 1 << 10;

/// The share by which a resident set may have grown.
const SHARE: f64 = 0.25;

/// The bytes by which it may have grown in any case.
const ROOM: u64 = 4 << 20;

/// Descriptors that a server may open with its first connections, and as many for each worker.
const OWN: u64 = 4;

/// The looks in a row that see the same descriptors, when all connections are closed.
const SAME: u32 = 5;

/// The most looks: ten seconds of them.
const LOOKS: u32 = 500;

/// The time from one look at its descriptors to the next.
const LOOK: Duration = Duration::from_millis(20);

/// The measurements of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Connections that came and went in the measured time.
    pub(crate) connections: u64,
    /// After the warm-up, without connections.
    pub(crate) start: Mark,
    /// In the middle of the measured time, with connections.
    pub(crate) middle: Mark,
    /// After the measured time, without connections.
    pub(crate) end: Mark,
}

/// Runs it once.
pub(crate) fn run(host: Host<'_>, spec: &Spec) -> anyhow::Result<Outcome> {
    let name = host.peer();
    let mut server = Server::start(host, spec, BUFFER)?;
    let port = server.port()?;
    let fresh = server.mark()?;
    come_and_go(spec, port, [spec.warm_up], |_| Ok(()))?;
    let own = OWN * (1 + spec.workers as u64);
    let start = drained(&mut server, fresh.descriptors + own)?;
    note!("{name} at the start: {}", told(&start));
    let mut marks = Vec::new();
    let connections = come_and_go(spec, port, [spec.time / 2; 2], |_| {
        marks.push(server.mark()?);
        Ok(())
    })?;
    let middle = marks[0];
    note!("{name} in the middle: {}", told(&middle));
    let end = drained(&mut server, start.descriptors)?;
    note!("{name} at the end: {}, after {connections} connections", told(&end));
    check(&start, &end)?;
    Ok(Outcome { connections, start, middle, end })
}

/// Has connections come and go for these times, and then all go. Calls `each` after each time.
/// Returns the number of connections.
fn come_and_go<const N: usize>(
    spec: &Spec,
    port: u16,
    times: [Duration; N],
    mut each: impl FnMut(&Seen) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let mut client = Client::start(spec, port)?;
    let mut connections = 0;
    for time in times {
        let seen = client.phase(time)?;
        connections += seen.connections;
        each(&seen)?;
    }
    Ok(connections)
}

/// Waits until a server has no more than these descriptors and closes none for a while, and
/// returns what it has then.
fn drained(server: &mut Server, most: u64) -> anyhow::Result<Mark> {
    let (mut same, mut last) = (0, u64::MAX);
    for _ in 0..LOOKS {
        let mark = server.mark()?;
        same = if mark.descriptors == last { same + 1 } else { 0 };
        last = mark.descriptors;
        if mark.descriptors <= most && same >= SAME {
            return Ok(mark);
        }
        thread::sleep(LOOK);
    }
    bail!(
        "{last} descriptors are open {:?} after all connections have gone, where {most} are the \
         server's own",
        LOOK * LOOKS
    )
}

/// Checks that a server keeps no memory of connections.
fn check(start: &Mark, end: &Mark) -> anyhow::Result<()> {
    let room = ((start.resident as f64 * SHARE) as u64).max(ROOM);
    ensure!(
        end.resident <= start.resident + room,
        "the resident set is {} at the end, {} at the start: more than {} larger",
        mib(end.resident),
        mib(start.resident),
        mib(room)
    );
    Ok(())
}

fn told(mark: &Mark) -> String {
    format!("{} resident, {} descriptors", mib(mark.resident), mark.descriptors)
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_keeps_memory_is_found_out() {
        let mark = |mib: u64| Mark { resident: mib << 20, descriptors: 9 };
        check(&mark(8), &mark(12)).unwrap();
        check(&mark(100), &mark(125)).unwrap();
        check(&mark(9), &mark(8)).unwrap();
        let error = check(&mark(8), &mark(13)).unwrap_err().to_string();
        assert!(error.contains("13.0 MiB at the end, 8.0 MiB at the start"), "{error}");
        check(&mark(100), &mark(126)).unwrap_err();
    }
}
