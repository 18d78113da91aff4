//! Tokio's current-thread runtimes as a server, one for each core.
//!
//! A thread accepts connections and gives each core one in turns, so that all cores have as many.
//! It sleeps when no connections come.

use std::iter;
use std::net::{TcpListener, TcpStream};
use std::thread;

use anyhow::Context;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::{Serve, tokio::spawn};

/// Starts runtimes that serve the connections of this socket, until the process ends.
pub(super) fn start(cores: usize, listener: TcpListener, serve: Serve) -> anyhow::Result<()> {
    let cores: anyhow::Result<Vec<_>> = iter::repeat_with(|| core(serve)).take(cores).collect();
    let cores = cores?;
    let accept = move || {
        let mut turns = cores.iter().cycle();
        for stream in listener.incoming() {
            let Ok(stream) = stream else { break };
            let sent = turns.next().map(|core| core.send(stream));
            if !matches!(sent, Some(Ok(()))) {
                break;
            }
        }
    };
    thread::Builder::new().spawn(accept).context("cannot start the thread that accepts")?;
    Ok(())
}

/// Starts a thread with a runtime, which serves the connections that it is sent.
fn core(serve: Serve) -> anyhow::Result<UnboundedSender<TcpStream>> {
    let (send, receive) = mpsc::unbounded_channel();
    let runtime = Builder::new_current_thread().enable_io().build()?;
    thread::Builder::new()
        .spawn(move || runtime.block_on(take(receive, serve)))
        .context("cannot start a thread for Tokio")?;
    Ok(send)
}

/// Serves each connection in a task of its own. The client sees one that fails.
async fn take(mut connections: UnboundedReceiver<TcpStream>, serve: Serve) {
    while let Some(stream) = connections.recv().await {
        let stream =
            stream.set_nonblocking(true).and_then(|()| tokio::net::TcpStream::from_std(stream));
        if let Ok(stream) = stream {
            spawn(stream, serve);
        }
    }
}
