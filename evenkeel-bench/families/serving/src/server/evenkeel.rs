//! Evenkeel as a server.

use std::io;

use evenkeel::net::{TcpListener, TcpStream};

use super::{Serve, Service, page};

/// Starts a runtime that serves the connections of this socket.
pub(super) fn start(
    workers: usize,
    listener: std::net::TcpListener,
    serve: Serve,
) -> anyhow::Result<evenkeel::Runtime> {
    let runtime = evenkeel::Builder::new().workers(workers).build()?;
    let listener = TcpListener::from_std(listener)?;
    // The task runs on without its handle.
    drop(runtime.spawn(accept(listener, serve)));
    Ok(runtime)
}

/// Accepts connections, each into a task of its own, which has room for one service. The client
/// sees one that fails.
async fn accept(listener: TcpListener, serve: Serve) {
    while let Ok((stream, _)) = listener.accept().await {
        let _: io::Result<()> = stream.set_nodelay(true);
        match serve.service {
            Service::Echo => drop(evenkeel::spawn(echo(stream, serve.buffer))),
            Service::Http => drop(evenkeel::spawn(page::serve(stream))),
        }
    }
}

async fn echo(stream: TcpStream, buffer: usize) -> io::Result<()> {
    let mut buffer = vec![0; buffer];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            read => stream.write_all(&buffer[..read]).await?,
        }
    }
}
