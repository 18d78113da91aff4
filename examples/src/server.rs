//! A server that stops gracefully: it accepts no more, gives its connections time to end, and cuts
//! the rest.

use crate::Fault;
use evenkeel::net::{TcpListener, TcpStream};
use evenkeel::select;
use evenkeel::task::{CancellationToken, JoinError, JoinSet};
use evenkeel::time::{Instant, sleep, timeout, timeout_at};
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// How long it waits when the system refuses a connection, such as for a limit on open files.
const RETRY: Duration = Duration::from_millis(10);

/// How long connections have for the turn at which an abort ends them.
const TURN: Duration = Duration::from_millis(100);

/// How long a peer may take for its handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// A server on a port of the loopback device.
pub struct Server {
    address: SocketAddr,
    stop: CancellationToken,
    accepting: evenkeel::JoinHandle<Report>,
}

/// What became of the connections.
#[derive(Debug, Default)]
pub struct Report {
    /// Those that came to their own end.
    pub completed: usize,
    /// Those that ended by an error or a panic.
    pub failed: usize,
    /// The error or panic of the last of these. All of them would fill the memory of a server.
    pub last_failure: Option<String>,
    /// Those that were still alive at the end of the grace, also inside a poll that did not return.
    pub cut: usize,
}

impl Server {
    /// Starts a server, each connection of which is a task. When it stops, `connection` is told by
    /// the token, and has the time `grace` to end.
    pub async fn start<F, C>(grace: Duration, connection: F) -> io::Result<Self>
    where
        F: Fn(TcpStream, CancellationToken) -> C + Send + Sync + 'static,
        C: Future<Output = Result<(), Fault>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let accepting = evenkeel::spawn(accept(listener, stop.clone(), grace, connection));
        Ok(Self { address, stop, accepting })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops, and returns when all connections have ended or are cut, or a moment after the grace.
    pub async fn stop(self) -> Report {
        self.stop.cancel();
        self.accepting.await.expect("the server does not panic")
    }
}

async fn accept<F, C>(
    listener: TcpListener,
    stop: CancellationToken,
    grace: Duration,
    connection: F,
) -> Report
where
    F: Fn(TcpStream, CancellationToken) -> C,
    C: Future<Output = Result<(), Fault>> + Send + 'static,
{
    let mut report = Report::default();
    let mut connections = JoinSet::new();
    loop {
        let accepted = select! {
            accepted = stop.run_until_cancelled(listener.accept()) => accepted,
            // At its end, and not after a next connection: until then its memory stays.
            Some(ended) = connections.join_next() => {
                report.count(ended);
                continue;
            }
        };
        let Some(accepted) = accepted else { break };
        match accepted.and_then(|(stream, _)| stream.set_nodelay(true).map(|()| stream)) {
            Ok(stream) => drop(connections.spawn(connection(stream, stop.clone()))),
            Err(error) => {
                eprintln!("a connection is refused: {error}");
                sleep(RETRY).await;
            }
        }
    }
    // From here on the system refuses connections.
    drop(listener);
    drain(connections, grace, &mut report).await;
    report
}

/// Gives connections the time `grace` to end, and cuts the rest. One inside a poll that does not
/// return is cut too, and not waited for: the shutdown of the runtime gives it up.
pub async fn drain(
    mut connections: JoinSet<Result<(), Fault>>,
    grace: Duration,
    report: &mut Report,
) {
    let deadline = Instant::now() + grace;
    while let Ok(Some(ended)) = timeout_at(deadline, connections.join_next()).await {
        report.count(ended);
    }
    // An abort acts at a connection's next turn. Inside a poll that does not return it has none.
    connections.abort_all();
    let deadline = Instant::now() + TURN;
    while let Ok(Some(ended)) = timeout_at(deadline, connections.join_next()).await {
        report.count(ended);
    }
    report.cut += connections.len();
}

/// Waits for a peer's handshake, for ten seconds at most. An error too if the server stops before.
pub async fn handshake<T, E>(
    stop: &CancellationToken,
    made: impl Future<Output = Result<T, E>>,
) -> Result<T, Fault>
where
    Fault: From<E>,
{
    let made = stop.run_until_cancelled(timeout(HANDSHAKE, made)).await;
    Ok(made.ok_or("the server stops before the handshake is complete")???)
}

impl Report {
    pub fn count(&mut self, ended: Result<Result<(), Fault>, JoinError>) {
        match ended {
            Ok(Ok(())) => self.completed += 1,
            Ok(Err(error)) => self.count_failed(error.to_string()),
            Err(error) if error.is_cancelled() => self.cut += 1,
            Err(error) => self.count_failed(error.to_string()),
        }
    }

    fn count_failed(&mut self, failure: String) {
        self.failed += 1;
        self.last_failure = Some(failure);
    }

    /// Panics unless all connections but `failed` of them came to their own ends.
    #[track_caller]
    pub fn assert(&self, failed: usize) {
        assert_eq!((self.failed, self.cut), (failed, 0), "{:?}", self.last_failure);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (completed, failed, cut) = (self.completed, self.failed, self.cut);
        write!(f, "{completed} connections completed, {failed} failed, {cut} cut")
    }
}
