//! A thread of a client: its connections, and how they go on when the system says so.

use std::io::ErrorKind;
use std::mem;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use mio::{Events, Interest, Poll, Token};

use super::alarm::Alarm;
use super::connection::Connection;
use super::wire::Wire;
use crate::pages::Page;
use suite::kit::latency::Latencies;

/// How long one wait for replies takes at most.
pub(super) const WAIT: Duration = Duration::from_millis(500);

/// The bytes that are read at once.
const BUFFER: usize = 1 << 16;

/// Events that one wait returns at most.
const EVENTS: usize = 1_024;

/// The token of the alarm; connections have their places.
const ALARM: Token = Token(usize::MAX - 1);

/// What a thread has seen in a phase.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Requests that have their replies.
    pub(super) requests: u64,
    /// Replies before the end of the phase.
    pub(super) within: u64,
    /// The delays of light requests.
    pub(super) delays: Latencies,
    /// How late requests with times of their own began.
    pub(super) late: Latencies,
    /// Connections that came and went.
    pub(super) connections: u64,
}

impl Tally {
    /// Adds that of another thread.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.requests += other.requests;
        self.within += other.within;
        self.connections += other.connections;
        self.delays.absorb(&other.delays);
        self.late.absorb(&other.late);
    }
}

/// The connections of one thread.
pub(super) struct Driver<W: Wire> {
    pub(super) poll: Poll,
    pub(super) alarm: Alarm,
    pub(super) wire: W,
    pub(super) connections: Vec<Connection<W>>,
    /// Connections with a request under way.
    pub(super) busy: usize,
    /// How long it waits for the last replies of a phase while none comes.
    patience: Duration,
    /// The time of the waits since a socket was last ready.
    silence: Duration,
    buffer: Box<[u8]>,
    events: Option<Events>,
}

impl<W: Wire> Driver<W> {
    /// Creates one without connections.
    pub(super) fn new(wire: W, patience: Duration) -> anyhow::Result<Self> {
        let poll = Poll::new().context("cannot wait for sockets")?;
        let alarm = Alarm::new(poll.registry(), ALARM)?;
        let buffer = vec![0; BUFFER].into();
        let events = Some(Events::with_capacity(EVENTS));
        let connections = Vec::new();
        let silence = Duration::ZERO;
        Ok(Self { poll, alarm, wire, connections, busy: 0, patience, silence, buffer, events })
    }

    /// Adds a connection.
    pub(super) fn add(&mut self, mut connection: Connection<W>) -> anyhow::Result<()> {
        let both = Interest::READABLE | Interest::WRITABLE;
        let token = Token(self.connections.len());
        self.poll.registry().register(&mut connection.stream, token, both)?;
        self.connections.push(connection);
        Ok(())
    }

    /// Puts a connection into the place of an idle one, and returns that one.
    pub(super) fn exchange(
        &mut self,
        place: usize,
        mut connection: Connection<W>,
    ) -> anyhow::Result<Connection<W>> {
        let both = Interest::READABLE | Interest::WRITABLE;
        let registry = self.poll.registry();
        registry.register(&mut connection.stream, Token(place), both)?;
        let mut old = mem::replace(&mut self.connections[place], connection);
        registry.deregister(&mut old.stream)?;
        Ok(old)
    }

    /// Begins a request on an idle connection.
    pub(super) fn begin(&mut self, place: usize, due: Instant) -> anyhow::Result<()> {
        self.busy += 1;
        self.connections[place].begin(&mut self.wire, due)
    }

    /// Waits for sockets, for a while at most, and calls `each` with the place of every connection
    /// that can go on.
    pub(super) fn turn(
        &mut self,
        most: Duration,
        mut each: impl FnMut(&mut Self, usize) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut events = self.events.take().unwrap_or_else(|| Events::with_capacity(EVENTS));
        let began = Instant::now();
        match self.poll.poll(&mut events, Some(most)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
        // A process that is stopped for a while has not waited all that time.
        self.silence += began.elapsed().min(WAIT);
        if events.iter().any(|event| event.token() != ALARM) {
            self.silence = Duration::ZERO;
        }
        for event in &events {
            if event.token() != ALARM {
                each(self, event.token().0)?;
            }
        }
        self.events = Some(events);
        Ok(())
    }

    /// Has a connection go on. If that completes a reply, counts it and returns when.
    pub(super) fn drive(
        &mut self,
        place: usize,
        until: Instant,
        tally: &mut Tally,
    ) -> anyhow::Result<Option<Instant>> {
        let connection = &mut self.connections[place];
        if !connection.drive(&mut self.wire, &mut self.buffer)? {
            return Ok(None);
        }
        Ok(Some(self.done(place, until, tally)))
    }

    /// Reads a part of a reply. Returns whether there may be more to read.
    pub(super) fn sip(
        &mut self,
        place: usize,
        most: usize,
        until: Instant,
        tally: &mut Tally,
    ) -> anyhow::Result<bool> {
        let connection = &mut self.connections[place];
        let (is_complete, has_more) = connection.read(&mut self.wire, &mut self.buffer, most)?;
        if is_complete {
            self.done(place, until, tally);
        }
        Ok(has_more)
    }

    /// Counts a reply that has become complete.
    fn done(&mut self, place: usize, until: Instant, tally: &mut Tally) -> Instant {
        let (now, connection) = (Instant::now(), &self.connections[place]);
        self.busy -= 1;
        tally.requests += 1;
        tally.within += u64::from(now <= until);
        if connection.page() == Page::Light {
            tally.delays.add(now.duration_since(connection.due()));
        }
        now
    }

    /// Returns an error if the time is over, and no reply comes to the requests under way.
    pub(super) fn check_patience(&self, until: Instant) -> anyhow::Result<()> {
        ensure!(
            self.busy == 0 || self.silence < self.patience || Instant::now() < until,
            "requests without a reply, of which none has come for {:?}: {}",
            self.silence,
            self.busy
        );
        Ok(())
    }

    /// Checks that all connections are open and idle.
    pub(super) fn check_idle(&mut self) -> anyhow::Result<()> {
        let wire = &mut self.wire;
        self.connections.iter_mut().try_for_each(|connection| connection.check(wire))
    }
}
