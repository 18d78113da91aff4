//! Sockets, over the loopback device, on 1, 2 and 8 workers.
#![cfg(unix)]

#[path = "../common"]
mod common {
    pub(crate) mod watchdog;
}

mod closed;
mod deferred;
mod empty;
mod faults;
mod halves;
mod others;
mod runtimes;
mod scheduling;
mod short;
mod standing;
mod stopped;
mod storm;
mod tcp;
#[cfg(any(feature = "futures-io", feature = "tokio-io", feature = "hyper"))]
mod traits;

use evenkeel::budget::unconstrained;
use evenkeel::net::{TcpListener, TcpStream};
use evenkeel::{Builder, Runtime};
use std::io::Result;
use std::pin::pin;

/// Runs `test` in runtimes with 1, 2 and 8 workers.
fn on_workers(test: impl Fn(&Runtime)) {
    let _watchdog = common::watchdog::watchdog();
    for workers in [1, 2, 8] {
        test(&Builder::new().workers(workers).build().unwrap());
    }
}

/// Returns both ends of a connection.
async fn pair() -> Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let (connected, accepted) =
        futures::join!(TcpStream::connect(listener.local_addr()?), listener.accept());
    Ok((connected?, accepted?.0))
}

/// Polls an operation once. It has to wait for its socket: not for the next slice of its task,
/// which would leave the socket where it is.
async fn must_wait(operation: impl Future) {
    assert!(futures::poll!(pin!(unconstrained(operation))).is_pending());
}

/// Returns what it gets until the peer closes.
async fn echo(stream: TcpStream) -> Result<u64> {
    let mut buffer = vec![0; 4_096];
    let mut count = 0;
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(count),
            n => {
                stream.write_all(&buffer[..n]).await?;
                count += n as u64;
            }
        }
    }
}
