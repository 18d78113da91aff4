//! A server of echo without a runtime: one thread around a readiness set. What it takes is what
//! the system takes.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::thread;

use anyhow::Context;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

/// The number of the listening socket.
const LISTENER: Token = Token(usize::MAX);

/// The most notes of one look: as many as a runtime's.
const MOST: usize = 1_024;

/// A connection, and what it has not sent yet.
struct Connection {
    stream: TcpStream,
    rest: Vec<u8>,
}

/// Starts the thread, which serves until the process ends.
pub(super) fn start(listener: std::net::TcpListener, buffer: usize) -> anyhow::Result<()> {
    listener.set_nonblocking(true)?;
    let mut listener = TcpListener::from_std(listener);
    let poll = Poll::new()?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let serve = move || serve(poll, &listener, vec![0; buffer]);
    thread::Builder::new().spawn(serve).context("cannot start the thread that serves")?;
    Ok(())
}

fn serve(mut poll: Poll, listener: &TcpListener, mut buffer: Vec<u8>) -> io::Result<()> {
    let mut events = Events::with_capacity(MOST);
    let mut connections = HashMap::new();
    let mut next = 0;
    loop {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        for event in &events {
            if event.token() == LISTENER {
                accept(&poll, listener, &mut connections, &mut next)?;
            } else if let Some(connection) = connections.get_mut(&event.token())
                && !connection.echo(&mut buffer)
            {
                // The client sees a connection that is closed.
                connections.remove(&event.token());
            }
        }
    }
}

fn accept(
    poll: &Poll,
    listener: &TcpListener,
    connections: &mut HashMap<Token, Connection>,
    next: &mut usize,
) -> io::Result<()> {
    loop {
        let mut stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(_) => continue,
        };
        _ = stream.set_nodelay(true);
        let token = Token(*next);
        *next += 1;
        poll.registry().register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        connections.insert(token, Connection { stream, rest: Vec::new() });
    }
}

impl Connection {
    /// Sends back what there is. Returns false if the connection is over.
    fn echo(&mut self, buffer: &mut [u8]) -> bool {
        loop {
            while !self.rest.is_empty() {
                match self.stream.write(&self.rest) {
                    Ok(written) => drop(self.rest.drain(..written)),
                    Err(error) => return error.kind() == ErrorKind::WouldBlock,
                }
            }
            let read = match self.stream.read(buffer) {
                Ok(0) => return false,
                Ok(read) => read,
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            };
            match self.stream.write(&buffer[..read]) {
                // A short read has got all that there was.
                Ok(written) if written == read && read < buffer.len() => return true,
                Ok(written) => self.rest.extend_from_slice(&buffer[written..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.rest.extend_from_slice(&buffer[..read]);
                }
                Err(_) => return false,
            }
        }
    }
}
