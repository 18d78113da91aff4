//! The transport.
//!
//! On the channel for short messages each rank has receives posted at all times. Three kinds go
//! there, by tag, and their events are in the order of sending:
//! - *frame*: a frame of at most [`SHORT`] bytes, which is the whole message;
//! - *long*: eight bytes, the length of a longer frame, which follows on the other channel. The
//!   receiver posts a receive of that length for that rank. Receives for one rank are posted in the
//!   order of their announcements, so they match in that order. [`Incoming`](crate::peer::Incoming)
//!   keeps the frame's place;
//! - *leave*: no bytes, the last message of its sender.
//!
//! So no rank looks for messages of unknown length. Rejected: a matched probe (`MPI_Improbe`,
//! `MPI_Imrecv`) for every message, which needs no announcements, but takes nearly twice as long
//! for 8 bytes; posted receives that are long enough for any frame, which keep 16 MiB each and can
//! be complete out of order.
//!
//! Requests are bounded: sends by [`Config::in_flight`], twice as many with announcements, and
//! receives by [`ARRIVING`] and [`ARRIVING_BYTES`]; at these bounds the rank takes no more
//! messages. Two ranks at their bounds do not wait for each other: the receive of an announced
//! frame needs only the receiver's polls, and a rank that may not send still polls.

mod ending;
mod ledger;
mod program;

use crate::config::Config;
use crate::error::StartError;
use crate::peer::State;
use crate::raw::{Channel, Finished, Posted, Requests, SHORT, Session};
use crate::wait::{Bell, Pause};
use ending::Ending;
use evenkeel_node::{Event, NodeId, Refusal, Refused, Transport, TransportWaker};
use ledger::{Arrived, FRAME, LEAVE, LONG, Ledger, Receiving, Sending, Sent};
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The version of the protocol between ranks: tags, and their meanings.
const VERSION: i64 = 2;

/// The most long frames that are received at a time, and the most bytes, unless one frame has more.
/// Estimates; no benchmark sets them.
const ARRIVING: usize = 64;
const ARRIVING_BYTES: usize = 64 << 20;

/// The number of successive messages after which the requests are tested. One test costs about as
/// much as a message; no benchmark sets it.
const TAKEN_PER_TEST: u32 = 16;

/// The most buffers that are kept for short messages, and their greatest length: those of a few
/// frames of a host. Estimates; no benchmark sets them.
const SPARE: usize = 16;
const LONGEST_SPARE: usize = 64 << 10;

/// How often a spinning wait looks before it reads the clock, which costs a quarter of a look: 16
/// looks take about 2 µs. Set by the example `pingpong`, in which a clock for each look delays a
/// frame by 40 ns.
const LOOKS_PER_CLOCK: u32 = 16;

/// Moves frames between the ranks of an MPI job, as described in the [crate's
/// documentation](crate).
///
/// It stays on the thread that started it:
///
/// ```compile_fail,E0277
/// fn elsewhere<T: Send>() {}
/// elsewhere::<evenkeel_mpi::MpiTransport>();
/// ```
pub struct MpiTransport {
    config: Config,
    ledger: Ledger,
    posted: Posted,
    sends: Requests<Sending>,
    receives: Requests<Receiving>,
    receiving_bytes: usize,
    /// Complete requests; empty between calls.
    sent: Vec<Finished<Sending>>,
    received: Vec<Finished<Receiving>>,
    /// Buffers for short messages.
    spare: Vec<Vec<u8>>,
    /// Short messages taken since the last test of the requests.
    taken: u32,
    leaving: bool,
    ending: Ending,
    bell: Arc<Bell>,
    /// Whether a frame was sent or an event has come since `quiet_since` was set.
    active: bool,
    quiet_since: Instant,
    /// How often a wait looks at MPI before it reads the clock.
    looks: u32,
    // Last: requests end before MPI does.
    session: Session,
}

impl MpiTransport {
    /// Initialises MPI on this thread, and joins the other ranks. Collective: returns when all
    /// ranks have called it.
    ///
    /// Programs run under `mpiexec -n N`; without it a program is the only rank of its own job.
    ///
    /// # Errors
    /// [`StartError`], on all ranks if they do not belong together. For errors before it is
    /// initialised, the MPI library itself writes to the standard error, and ends the process.
    pub fn start(config: &Config) -> Result<Self, StartError> {
        config.check()?;
        let session = Session::start()?;
        agree(&session, "version of the transport", VERSION)?;
        program::agree(&config.what(), |mine| session.greatest(mine))?;
        let longest = i64::try_from(config.longest_frame).expect("checked to be a C int");
        agree(&session, "longest frame", longest)?;
        let ledger =
            Ledger::new(session.rank(), session.size(), config.window, config.longest_frame);
        Ok(Self {
            config: config.clone(),
            ledger,
            posted: Posted::new(&session)?,
            sends: Requests::new(),
            receives: Requests::new(),
            receiving_bytes: 0,
            sent: Vec::new(),
            received: Vec::new(),
            spare: Vec::new(),
            taken: 0,
            leaving: false,
            ending: Ending::Leaves,
            bell: Bell::new(),
            active: true,
            quiet_since: Instant::now(),
            looks: LOOKS_PER_CLOCK,
            session,
        })
    }

    /// Looks at MPI once: takes one short message, or the complete requests. Returns a frame if
    /// that is the next event; no other event is queued then.
    #[inline]
    fn progress(&mut self) -> Option<Event> {
        let room = self.receives.is_empty()
            || self.receives.len() < ARRIVING && self.receiving_bytes < ARRIVING_BYTES;
        if room && !self.ledger.is_alone() {
            let spare = &mut self.spare;
            match self.posted.next(&self.session, || spare.pop().unwrap_or_default()) {
                Ok(Some(short)) => {
                    self.taken += 1;
                    let frame = match self.ledger.arrived(short) {
                        Arrived::Frame(frame) => Some(frame),
                        Arrived::Long(long) => {
                            self.receive(long);
                            None
                        }
                        Arrived::Noted => None,
                    };
                    if self.taken < TAKEN_PER_TEST {
                        return frame;
                    }
                    // The events of complete requests come after this frame.
                    self.test();
                    return frame;
                }
                Ok(None) => {}
                Err(error) => self.ledger.lose_all(&error.to_string()),
            }
        }
        self.test();
        None
    }

    fn test(&mut self) {
        self.taken = 0;
        if !self.sends.is_empty() {
            let mut sent = mem::take(&mut self.sent);
            self.sends.test(&self.session, &mut sent);
            for finished in sent.drain(..) {
                self.ledger.sent(finished);
            }
            self.sent = sent;
        }
        if !self.receives.is_empty() {
            let mut received = mem::take(&mut self.received);
            self.receives.test(&self.session, &mut received);
            for finished in received.drain(..) {
                self.has_received(finished);
            }
            self.received = received;
        }
    }

    fn receive(&mut self, note: Receiving) {
        let (at, length) = ((Channel::Long, note.from, LONG), note.length);
        self.receiving_bytes += length;
        if let Some(finished) = self.receives.receive(&self.session, at, length, note) {
            self.has_received(finished);
        }
    }

    fn has_received(&mut self, finished: Finished<Receiving>) {
        self.receiving_bytes -= finished.note.length;
        self.ledger.received(finished);
    }

    fn begin_to_send(&mut self, to: u32, kind: Sent, buffer: Vec<u8>) {
        let (channel, tag) = match kind {
            Sent::Frame { .. } if buffer.len() <= SHORT => (Channel::Short, FRAME),
            Sent::Frame { .. } => {
                let length = (buffer.len() as u64).to_le_bytes().to_vec();
                self.begin_to_send(to, Sent::Announcement, length);
                (Channel::Long, LONG)
            }
            Sent::Announcement => (Channel::Short, LONG),
            Sent::Leave => (Channel::Short, LEAVE),
        };
        let synchronous = matches!(kind, Sent::Frame { synchronous: true });
        self.ledger.sends(to);
        let (at, note) = ((channel, to, tag), Sending { to, kind });
        if let Some(finished) = self.sends.send(&self.session, at, synchronous, buffer, note) {
            self.ledger.sent(finished);
        }
    }

    /// Pauses by the rule, at most for `most`. Returns whether the waker has ended the pause.
    fn pause(&mut self, now: Instant, most: Duration) -> bool {
        if mem::take(&mut self.active) {
            self.quiet_since = now;
        }
        let under_way = !self.sends.is_empty() || !self.receives.is_empty();
        let idle = now.duration_since(self.quiet_since);
        match Pause::after(idle, self.config.longest_nap, under_way) {
            Pause::Spin => {
                self.looks = LOOKS_PER_CLOCK;
                false
            }
            Pause::Yield => {
                self.looks = 1;
                thread::yield_now();
                false
            }
            Pause::Sleep(nap) => {
                self.looks = 1;
                self.bell.sleep(nap.min(most))
            }
        }
    }
}

impl Transport for MpiTransport {
    fn local(&self) -> NodeId {
        NodeId::new(self.session.rank())
    }

    fn nodes(&self) -> u32 {
        self.session.size()
    }

    fn longest_frame(&self) -> usize {
        self.config.longest_frame
    }

    /// A frame to this node itself is refused like one to an unknown node: it needs no transport.
    fn send(&mut self, to: NodeId, frame: Vec<u8>) -> Result<(), Refused> {
        let rank = to.number();
        let why = if rank >= self.session.size() || rank == self.session.rank() {
            Refusal::Unknown
        } else if self.leaving || self.ledger.state(rank) != State::Up {
            Refusal::Down
        } else if frame.len() > self.config.longest_frame {
            Refusal::TooLong
        } else if self.sends.len() >= self.config.in_flight {
            Refusal::Full
        } else if let Some(synchronous) = self.ledger.peer(rank).window.next() {
            self.active = true;
            self.ledger.peer(rank).window.goes(synchronous);
            self.begin_to_send(rank, Sent::Frame { synchronous }, frame);
            return Ok(());
        } else {
            Refusal::Full
        };
        Err(Refused { frame, why })
    }

    fn poll(&mut self) -> Option<Event> {
        let event = match self.ledger.events.pop_front() {
            None => self.progress().or_else(|| self.ledger.events.pop_front()),
            event => event,
        };
        self.active |= event.is_some();
        event
    }

    fn wait(&mut self, most: Duration) {
        if self.active {
            self.looks = LOOKS_PER_CLOCK;
        }
        let mut begin = None;
        loop {
            for _ in 0..self.looks {
                if self.bell.take() || !self.ledger.events.is_empty() {
                    return;
                }
                if let Some(frame) = self.progress() {
                    self.ledger.events.push_front(frame);
                }
            }
            let now = Instant::now();
            let passed = now.duration_since(*begin.get_or_insert(now));
            if !self.ledger.events.is_empty() || passed >= most || self.pause(now, most - passed) {
                return;
            }
        }
    }

    fn waker(&self) -> TransportWaker {
        let bell = self.bell.clone();
        Arc::new(move || bell.ring())
    }

    fn recycle(&mut self, buffer: Vec<u8>) {
        if self.spare.len() < SPARE && (1..=LONGEST_SPARE).contains(&buffer.capacity()) {
            self.spare.push(buffer);
        }
    }

    fn is_sending(&self) -> bool {
        self.ledger.sending > 0
    }

    fn leave(&mut self) {
        if mem::replace(&mut self.leaving, true) {
            return;
        }
        // Ranks that have left get it as well: they wait for it.
        for rank in self.ledger.other_ranks() {
            if self.ledger.state(rank) != State::Lost {
                self.begin_to_send(rank, Sent::Leave, Vec::new());
            }
        }
    }

    /// Returns true when all ranks have left.
    fn ended(&mut self) -> bool {
        self.moves_end()
    }
}

impl fmt::Debug for MpiTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MpiTransport")
            .field("rank", &self.session.rank())
            .field("ranks", &self.session.size())
            .field("sending", &self.ledger.sending)
            .field("receiving", &self.receives.len())
            .finish_non_exhaustive()
    }
}

/// Checks that all ranks have the same value: collective.
fn agree(session: &Session, what: &'static str, here: i64) -> Result<(), StartError> {
    let [greatest, negated] = session.greatest([here, -here])?;
    let least = -negated;
    if least == greatest {
        Ok(())
    } else {
        Err(StartError::Differs { what, here, least, greatest })
    }
}
