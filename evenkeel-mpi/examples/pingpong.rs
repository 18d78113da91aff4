//! The cost of the transport beside bare MPI, between two ranks, in one run and by turns.
//!
//! ```console
//! mpiexec -n 2 target/release/examples/pingpong [ROUNDS] [TRIPS] [FRAMES] [WINDOW]
//! ```
//! In each of ROUNDS (default 9) rank 0 sends 8 bytes and gets them back TRIPS times (100,000), by
//! `MPI_Send` and `MPI_Recv`, then through the transport, polled as a host does; then FRAMES frames
//! (100,000) of 8 KiB, and as many of 64 bytes, with the default window or WINDOW, go from rank 0
//! to rank 1, which answers after the last. All contents are checked. A stream by `MPI_Send` and
//! `MPI_Recv` stands beside them. Medians, least and greatest of the rounds; a time of a ping-pong
//! is one way, half a round trip.

use evenkeel_actor::node::{DownReason, Event, NodeId, Refusal, Transport};
use evenkeel_mpi::{Config, MpiTransport};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};
use std::error::Error;
use std::num::NonZero;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The contents of a frame behind its number.
static FILLING: [u8; 8 << 10] = [7; 8 << 10];

const WARM_UP: u64 = 10_000;

fn main() -> ExitCode {
    match pingpong() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn pingpong() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |name| {
        let argument = arguments.next();
        let number = argument.map(|word| {
            let wrong = || format!("{name} is a number of 1 or more, not `{word}`: pingpong [ROUNDS] [TRIPS] [FRAMES] [WINDOW]");
            word.parse::<NonZero<u32>>().map(NonZero::get).map_err(|_| wrong())
        });
        number.transpose()
    };
    let rounds = next("ROUNDS")?.unwrap_or(9);
    let trips = next("TRIPS")?.unwrap_or(100_000).into();
    let frames = next("FRAMES")?.unwrap_or(100_000).into();
    let config = Config::new();
    let config = match next("WINDOW")? {
        Some(window) => config.window(window),
        None => config,
    };
    let transport = MpiTransport::start(&config)?;
    if transport.nodes() != 2 {
        return Err("start two ranks: mpiexec -n 2 target/release/examples/pingpong".into());
    }
    let mut pair = Pair::new(transport);
    bare(WARM_UP);
    pair.ping_pong(WARM_UP);
    let mut tables = [
        Table::new("MPI_Send and MPI_Recv, 8 bytes, one way"),
        Table::new("transport, 8 bytes, one way"),
        Table::new("MPI_Send and MPI_Recv, stream of 8 KiB, each"),
        Table::new("transport, stream of 8 KiB frames, each"),
        Table::new("transport, stream of 64-byte frames, each"),
    ];
    for _ in 0..rounds {
        tables[0].add(bare(trips), trips * 2);
        tables[1].add(pair.ping_pong(trips), trips * 2);
        tables[2].add(bare_stream(frames), frames);
        tables[3].add(pair.stream(frames, 8 << 10), frames);
        tables[4].add(pair.stream(frames, 64), frames);
    }
    if pair.first {
        for table in &mut tables {
            table.print();
        }
        println!("ping-pong, transport / bare: {:.2}", tables[1].median() / tables[0].median());
        println!("stream, transport / bare: {:.2}", tables[3].median() / tables[2].median());
    }
    pair.end();
    Ok(())
}

/// Ping-pong by MPI's blocking calls.
fn bare(trips: u64) -> Duration {
    let world = SimpleCommunicator::world();
    let other = world.process_at_rank(1 - world.rank());
    let mut answer = 0_u64;
    let begin = Instant::now();
    for trip in 0..trips {
        if world.rank() == 0 {
            other.send(&trip);
            other.receive_into(&mut answer);
            assert_eq!(answer, trip);
        } else {
            other.receive_into(&mut answer);
            other.send(&answer);
        }
    }
    begin.elapsed()
}

/// A stream of 8 KiB from rank 0 to rank 1 by MPI's blocking calls, from and into one buffer.
fn bare_stream(frames: u64) -> Duration {
    let world = SimpleCommunicator::world();
    let other = world.process_at_rank(1 - world.rank());
    let mut frame = FILLING;
    let begin = Instant::now();
    for number in 0..=frames {
        // The last frame goes back, as the answer.
        if (world.rank() == 0) == (number < frames) {
            frame[..8].copy_from_slice(&number.to_le_bytes());
            other.send(&frame[..]);
        } else {
            other.receive_into(&mut frame[..]);
            check(&frame, number, FILLING.len());
        }
    }
    begin.elapsed()
}

/// The transport, and buffers for reuse.
struct Pair {
    transport: MpiTransport,
    first: bool,
    other: NodeId,
    spare: Vec<Vec<u8>>,
}

impl Pair {
    fn new(transport: MpiTransport) -> Self {
        let first = transport.local() == NodeId::new(0);
        Self { first, other: NodeId::new(u32::from(first)), spare: Vec::new(), transport }
    }

    /// Returns the next event, and keeps a returned buffer.
    fn event(&mut self) -> Option<Event> {
        match self.transport.poll()? {
            Event::Sent { buffer } => {
                self.keep(buffer);
                None
            }
            event => Some(event),
        }
    }

    fn keep(&mut self, buffer: Vec<u8>) {
        if self.spare.len() < 256 {
            self.spare.push(buffer);
        }
    }

    fn frame(&mut self) -> Vec<u8> {
        loop {
            match self.event() {
                Some(Event::Received { from, frame }) if from == self.other => return frame,
                Some(Event::Up { .. }) => {}
                Some(event) => panic!("{event:?} is not a frame"),
                None => self.transport.wait(Duration::from_secs(1)),
            }
        }
    }

    fn send(&mut self, mut frame: Vec<u8>) {
        while let Err(refused) = self.transport.send(self.other, frame) {
            assert_eq!(refused.why, Refusal::Full);
            frame = refused.frame;
            assert_eq!(self.event(), None, "nothing comes while this rank streams");
            if self.spare.is_empty() {
                self.transport.wait(Duration::from_secs(1));
            }
        }
    }

    /// Returns a frame of `length` bytes that begins with `number`.
    fn make(&mut self, number: u64, length: usize) -> Vec<u8> {
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.resize(length, 7);
        frame[..8].copy_from_slice(&number.to_le_bytes());
        frame
    }

    fn ping_pong(&mut self, trips: u64) -> Duration {
        let begin = Instant::now();
        for trip in 0..trips {
            if self.first {
                let frame = self.make(trip, 8);
                self.send(frame);
                let frame = self.frame();
                check(&frame, trip, 8);
                self.keep(frame);
            } else {
                let frame = self.frame();
                self.send(frame);
            }
        }
        begin.elapsed()
    }

    fn stream(&mut self, frames: u64, length: usize) -> Duration {
        let begin = Instant::now();
        if self.first {
            for number in 0..frames {
                let frame = self.make(number, length);
                self.send(frame);
            }
            check(&self.frame(), frames, 8);
        } else {
            for number in 0..frames {
                let frame = self.frame();
                check(&frame, number, length);
            }
            let frame = self.make(frames, 8);
            self.send(frame);
        }
        begin.elapsed()
    }

    fn end(mut self) {
        self.transport.leave();
        loop {
            match self.event() {
                Some(Event::Down { reason: DownReason::Left, .. }) => return,
                Some(event) => panic!("{event:?} at the end"),
                None => self.transport.wait(Duration::from_secs(1)),
            }
        }
    }
}

fn check(frame: &[u8], number: u64, length: usize) {
    assert_eq!(frame.len(), length);
    assert_eq!(frame[..8], number.to_le_bytes());
    // By `memcmp`: a check byte by byte would cost more than the transport.
    assert!(frame[8..] == FILLING[8..length]);
}

/// Nanoseconds per operation of each round.
struct Table {
    what: &'static str,
    nanoseconds: Vec<f64>,
}

impl Table {
    fn new(what: &'static str) -> Self {
        Self { what, nanoseconds: Vec::new() }
    }

    fn add(&mut self, elapsed: Duration, operations: u64) {
        self.nanoseconds.push(elapsed.as_secs_f64() * 1e9 / operations as f64);
        self.nanoseconds.sort_by(f64::total_cmp);
    }

    fn median(&self) -> f64 {
        self.nanoseconds[self.nanoseconds.len() / 2]
    }

    fn print(&self) {
        let (least, greatest) = (self.nanoseconds[0], self.nanoseconds[self.nanoseconds.len() - 1]);
        println!("{:<45} {:8.1} ns  [{least:.1}, {greatest:.1}]", self.what, self.median());
    }
}
