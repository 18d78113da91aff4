//! Tokio's multi-thread runtime as a server.

use std::io;

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

use super::{Serve, Service, page};

/// Starts a runtime that serves the connections of this socket.
pub(super) fn start(
    workers: usize,
    listener: std::net::TcpListener,
    serve: Serve,
) -> anyhow::Result<Runtime> {
    let runtime = Builder::new_multi_thread().worker_threads(workers).enable_io().build()?;
    listener.set_nonblocking(true)?;
    let listener = {
        let _within = runtime.enter();
        TcpListener::from_std(listener)?
    };
    runtime.spawn(accept(listener, serve));
    Ok(runtime)
}

/// Accepts connections. The client sees one that fails.
async fn accept(listener: TcpListener, serve: Serve) {
    while let Ok((stream, _)) = listener.accept().await {
        spawn(stream, serve);
    }
}

/// Serves a connection until its client closes it, in a task of its own, which has room for one
/// service.
pub(super) fn spawn(stream: TcpStream, serve: Serve) {
    let _: io::Result<()> = stream.set_nodelay(true);
    match serve.service {
        Service::Echo => drop(tokio::spawn(echo(stream, serve.buffer))),
        Service::Http => drop(tokio::spawn(page::serve(TokioIo::new(stream)))),
    }
}

async fn echo(mut stream: TcpStream, buffer: usize) -> io::Result<()> {
    let mut buffer = vec![0; buffer];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            read => stream.write_all(&buffer[..read]).await?,
        }
    }
}
