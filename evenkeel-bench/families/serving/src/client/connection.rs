//! A connection of a client, with one request under way at most.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::Instant;

use anyhow::{Context, bail};
use mio::net::TcpStream;
use socket2::{Domain, Protocol, Socket, Type};

use super::wire::{Id, Wire};
use crate::pages::Page;

/// What it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has no request under way.
    Idle,
    /// It has sent this many bytes of a request.
    Writing(usize),
    /// It waits for the reply.
    Reading,
}

/// One connection.
pub(super) struct Connection<W: Wire> {
    pub(super) stream: TcpStream,
    id: Id,
    state: State,
    reply: W::Reply,
    /// When the request under way was to begin.
    due: Instant,
    /// When the requests behind it were to begin.
    queue: VecDeque<Instant>,
}

/// Connects to a server. A receive buffer that is given is of that many bytes.
pub(super) fn connect(address: SocketAddr, receive: Option<usize>) -> anyhow::Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    if let Some(receive) = receive {
        socket.set_recv_buffer_size(receive)?;
    }
    socket.connect(&address.into()).context("cannot connect to the server")?;
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    Ok(TcpStream::from_std(socket.into()))
}

impl<W: Wire> Connection<W> {
    /// Creates one without a request, of this number among all of the client.
    pub(super) fn new(stream: TcpStream, connection: usize, page: Page) -> Self {
        Self {
            stream,
            id: Id { connection, number: 0, page },
            state: State::Idle,
            reply: W::Reply::default(),
            due: Instant::now(),
            queue: VecDeque::new(),
        }
    }

    /// The number of the request that was last begun.
    pub(super) fn number(&self) -> u64 {
        self.id.number
    }

    /// Its number among all of the client.
    pub(super) fn connection(&self) -> usize {
        self.id.connection
    }

    pub(super) fn page(&self) -> Page {
        self.id.page
    }

    pub(super) fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// When the request that was last under way was to begin.
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// Begins a request that is due now, or was before. The connection is idle.
    pub(super) fn begin(&mut self, wire: &mut W, due: Instant) -> anyhow::Result<()> {
        debug_assert!(self.is_idle());
        self.id.number += 1;
        self.due = due;
        self.state = State::Writing(0);
        self.write(wire)
    }

    /// Begins a request as soon as those before it have their replies. Returns whether the
    /// connection was idle.
    pub(super) fn queue(&mut self, wire: &mut W, due: Instant) -> anyhow::Result<bool> {
        if self.is_idle() {
            self.begin(wire, due)?;
            return Ok(true);
        }
        self.queue.push_back(due);
        Ok(false)
    }

    /// Begins the request that waits longest, and returns whether there is one.
    pub(super) fn next(&mut self, wire: &mut W) -> anyhow::Result<bool> {
        let Some(due) = self.queue.pop_front() else { return Ok(false) };
        self.begin(wire, due).map(|()| true)
    }

    /// Goes on as far as it can without waiting. Returns whether a reply has become complete.
    pub(super) fn drive(&mut self, wire: &mut W, buffer: &mut [u8]) -> anyhow::Result<bool> {
        if matches!(self.state, State::Writing(_)) {
            self.write(wire)?;
        }
        self.read(wire, buffer, usize::MAX).map(|(is_complete, _)| is_complete)
    }

    fn write(&mut self, wire: &mut W) -> anyhow::Result<()> {
        let request = wire.request(self.id);
        while let State::Writing(done) = self.state {
            match self.stream.write(&request[done..]) {
                Ok(more) if done + more == request.len() => self.state = State::Reading,
                Ok(more) => self.state = State::Writing(done + more),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.odd(format!("cannot send: {error}"))),
            }
        }
        Ok(())
    }

    /// Reads up to `most` bytes. Returns whether a reply has become complete, and whether there may
    /// be more to read.
    pub(super) fn read(
        &mut self,
        wire: &mut W,
        buffer: &mut [u8],
        most: usize,
    ) -> anyhow::Result<(bool, bool)> {
        let mut left = most;
        while left > 0 {
            let room = buffer.len().min(left);
            let read = match self.stream.read(&mut buffer[..room]) {
                Ok(0) => return Err(self.odd("the server has closed the connection".to_owned())),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok((false, false)),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.odd(format!("cannot receive: {error}"))),
            };
            if self.is_idle() {
                return Err(self.odd(format!("{read} bytes came that were not asked for")));
            }
            match wire.take(self.id, &mut self.reply, &buffer[..read]) {
                Ok(true) => {
                    self.state = State::Idle;
                    return Ok((true, false));
                }
                Ok(false) => left -= read,
                Err(why) => return Err(self.odd(why)),
            }
        }
        Ok((false, true))
    }

    /// Checks that the server has not closed an idle connection, and has sent nothing more.
    pub(super) fn check(&mut self, wire: &mut W) -> anyhow::Result<()> {
        let (is_complete, _) = self.read(wire, &mut [0; 1], 1)?;
        if is_complete {
            bail!("a reply has come twice");
        }
        Ok(())
    }

    /// An error that says where it was.
    fn odd(&self, why: String) -> anyhow::Error {
        let Id { connection, number, page } = self.id;
        anyhow::anyhow!("connection {connection}, request {number} ({page}): {why}")
    }
}
