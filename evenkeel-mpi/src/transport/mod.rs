//! The transport: what is sent, what comes, who is there.
//!
//! On the channel for short messages each rank has receives posted at all times. Three kinds go there, by tag, and are given in the order in which they were sent:
//! - *frame*: a frame of at most [`SHORT`] bytes, which is all of the message;
//! - *long*: eight bytes, the length of a longer frame, which follows on the other channel. The receiver posts a receive of that length, for that rank; since those of
//!   one rank are posted in the order of their announcements, they match in that order. [`Incoming`](crate::peer::Incoming) keeps the frame's place;
//! - *leave*: no bytes, the last message of its sender.
//!
//! So no rank looks for messages whose length it does not know. Rejected: a matched probe (`MPI_Improbe`, `MPI_Imrecv`) for every message, with which 8 bytes take nearly twice as long
//! and need no announcement of long ones; posted receives that are long enough for any frame, which keep 16 MiB each and can be complete out of order.
//!
//! Requests are bounded: those that send by [`Config::in_flight`], twice as many with announcements, those that receive by [`ARRIVING`] and [`ARRIVING_BYTES`]; at these bounds no more messages are taken.
//! Two ranks at their bounds do not wait for each other: a long frame that was announced is received without anything of the receiver's
//! but its polls, and a rank that may not send still polls.

mod ending;

use crate::config::Config;
use crate::error::{MpiError, StartError};
use crate::peer::{Message, Peer, State};
use crate::raw::{Channel, Finished, Posted, Requests, SHORT, Session, Short};
use crate::wait::{Bell, Pause};
use evenkeel_actor::node::{
    DownReason, Event, NodeId, Refusal, Refused, Transport, TransportWaker,
};
use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The version of what ranks say to each other: tags, and what they mean.
const VERSION: i64 = 1;
const FRAME: i32 = 1;
const LONG: i32 = 2;
const LEAVE: i32 = 3;

/// How many long frames are received at a time, and how many bytes unless one has more. Estimates; no benchmark sets them.
const ARRIVING: usize = 64;
const ARRIVING_BYTES: usize = 64 << 20;

/// After how many messages in succession the requests are tested. One test costs about as much as a message; no benchmark sets it.
const TAKEN_PER_TEST: u32 = 16;

/// How often a wait that spins looks before it reads the clock, which costs a quarter of a look: 16 take about 2 µs. Set by the example `pingpong`, in
/// which a clock for each look makes an answer 50 to 100 ns later.
const LOOKS_PER_CLOCK: u32 = 16;

/// Frames between the ranks of an MPI job; the [crate's documentation](crate) says what is particular.
///
/// It stays on the thread that has started it:
///
/// ```compile_fail,E0277
/// fn elsewhere<T: Send>() {}
/// elsewhere::<evenkeel_mpi::MpiTransport>();
/// ```
pub struct MpiTransport {
    config: Config,
    peers: Vec<Peer>,
    events: VecDeque<Event>,
    posted: Posted,
    sends: Requests<Sending>,
    receives: Requests<Receiving>,
    receiving_bytes: usize,
    /// What is complete; empty between calls.
    sent: Vec<Finished<Sending>>,
    received: Vec<Finished<Receiving>>,
    /// Short messages taken since the requests were tested.
    taken: u32,
    /// Messages that are sent to ranks that are not lost, and not complete.
    sending: usize,
    leaving: bool,
    /// The first error that MPI has reported.
    lost: Option<String>,
    bell: Arc<Bell>,
    /// Whether anything was sent or has come since `quiet_since` was set.
    active: bool,
    quiet_since: Instant,
    /// How often a wait looks at MPI before it reads the clock.
    looks: u32,
    // Last: requests end before MPI does.
    session: Session,
}

/// What a send is for.
struct Sending {
    to: u32,
    kind: Sent,
}

#[derive(Clone, Copy)]
enum Sent {
    Frame { synchronous: bool },
    Announcement,
    Leave,
}

/// Where a long frame that is being received belongs.
struct Receiving {
    from: u32,
    place: u64,
    bytes: usize,
}

impl MpiTransport {
    /// Initialises MPI, on this thread, and joins the other ranks. Collective: returns when all have called it.
    ///
    /// Under `mpiexec -n N`; a program that is started without is the one rank of its own job.
    ///
    /// # Errors
    /// [`StartError`]. What the MPI library finds wrong before it is initialised it writes to the standard error itself, and ends the process.
    pub fn start(config: &Config) -> Result<Self, StartError> {
        config.check()?;
        let session = Session::start()?;
        agree(&session, "version of the transport", VERSION)?;
        let longest = i64::try_from(config.longest_frame).expect("checked to be a C int");
        agree(&session, "longest frame", longest)?;
        let peers: Vec<_> = (0..session.size()).map(|_| Peer::new(config.window)).collect();
        let events = (0..session.size())
            .filter(|&rank| rank != session.rank())
            .map(|rank| Event::Up { node: NodeId::new(rank) })
            .collect();
        Ok(Self {
            config: config.clone(),
            peers,
            events,
            posted: Posted::new(&session)?,
            sends: Requests::new(),
            receives: Requests::new(),
            receiving_bytes: 0,
            sent: Vec::new(),
            received: Vec::new(),
            taken: 0,
            sending: 0,
            leaving: false,
            lost: None,
            bell: Bell::new(),
            active: true,
            quiet_since: Instant::now(),
            looks: LOOKS_PER_CLOCK,
            session,
        })
    }

    fn peer(&mut self, rank: u32) -> &mut Peer {
        &mut self.peers[rank as usize]
    }

    /// Looks at MPI once: takes one short message, or what of the requests is complete.
    fn progress(&mut self) {
        let room = self.receives.is_empty()
            || self.receives.len() < ARRIVING && self.receiving_bytes < ARRIVING_BYTES;
        if room && self.any_is_there() {
            match self.posted.next(&self.session) {
                Ok(Some(short)) => {
                    self.arrived(short);
                    self.taken += 1;
                    if self.taken < TAKEN_PER_TEST {
                        return;
                    }
                }
                Ok(None) => {}
                Err(error) => self.lose_all(&error),
            }
        }
        self.taken = 0;
        self.test();
    }

    fn other_ranks(&self) -> impl Iterator<Item = u32> + use<> {
        let own = self.session.rank();
        (0..self.session.size()).filter(move |&rank| rank != own)
    }

    fn others(&self) -> impl Iterator<Item = &Peer> {
        self.other_ranks().map(|rank| &self.peers[rank as usize])
    }

    /// A rank whose every other one is lost asks MPI for no more messages.
    fn any_is_there(&self) -> bool {
        self.lost.is_none() || self.others().any(|peer| peer.state != State::Lost)
    }

    fn test(&mut self) {
        if !self.sends.is_empty() {
            let mut sent = mem::take(&mut self.sent);
            self.sends.test(&self.session, &mut sent);
            for finished in sent.drain(..) {
                self.has_sent(finished);
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

    fn arrived(&mut self, Short { from, tag, bytes }: Short) {
        let place = self.peer(from).incoming.matched();
        match (tag, announced(&bytes)) {
            (FRAME, _) if bytes.len() <= self.config.longest_frame => {
                self.peer(from).incoming.complete(place, Message::Frame(bytes));
            }
            (LONG, Some(length)) if length <= self.config.longest_frame => {
                let note = Receiving { from, place, bytes: length };
                let at = (Channel::Long, from, LONG);
                self.receiving_bytes += length;
                if let Some(finished) = self.receives.receive(&self.session, at, length, note) {
                    self.has_received(finished);
                }
            }
            (LEAVE, _) => self.peer(from).incoming.complete(place, Message::Leave),
            _ => {
                let what = format!("it has sent {bytes:?} with the tag {tag}, which means nothing");
                self.lose(from, what);
            }
        }
        self.deliver(from);
    }

    fn has_received(&mut self, finished: Finished<Receiving>) {
        let Receiving { from, place, bytes } = finished.note;
        self.receiving_bytes -= bytes;
        match finished.result {
            Err(error) => self.lose(from, error.to_string()),
            Ok(frame) => self.peer(from).incoming.complete(place, Message::Frame(frame)),
        }
        self.deliver(from);
    }

    /// Gives what has come from a rank, as far as it is complete.
    fn deliver(&mut self, from: u32) {
        let node = NodeId::new(from);
        let peer = &mut self.peers[from as usize];
        while peer.state == State::Up
            && let Some(message) = peer.incoming.next()
        {
            self.events.push_back(match message {
                Message::Frame(frame) => Event::Received { from: node, frame },
                Message::Leave => {
                    peer.state = State::Left;
                    Event::Down { node, reason: DownReason::Left }
                }
            });
        }
    }

    fn has_sent(&mut self, finished: Finished<Sending>) {
        let Sending { to, kind } = finished.note;
        let peer = self.peer(to);
        peer.sending -= 1;
        if let Sent::Frame { synchronous: true } = kind {
            peer.window.matched();
        }
        if peer.state != State::Lost {
            self.sending -= 1;
        }
        match (finished.result, kind) {
            (Ok(buffer), Sent::Frame { .. }) => self.events.push_back(Event::Sent { buffer }),
            (Ok(_), Sent::Announcement | Sent::Leave) => {}
            (Err(error), _) => self.lose(to, error.to_string()),
        }
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
        self.sending += 1;
        self.peer(to).sending += 1;
        let (at, note) = ((channel, to, tag), Sending { to, kind });
        if let Some(finished) = self.sends.send(&self.session, at, synchronous, buffer, note) {
            self.has_sent(finished);
        }
    }

    #[cold]
    fn lose(&mut self, rank: u32, how: String) {
        let peer = self.peer(rank);
        let before = mem::replace(&mut peer.state, State::Lost);
        let sending = peer.sending;
        if before == State::Lost {
            return;
        }
        self.sending -= sending;
        if before == State::Up {
            let reason = DownReason::Lost(how.clone());
            self.events.push_back(Event::Down { node: NodeId::new(rank), reason });
        }
        self.lost.get_or_insert(format!("rank {rank}: {how}"));
    }

    /// An error that is about no rank in particular.
    #[cold]
    fn lose_all(&mut self, error: &MpiError) {
        for rank in self.other_ranks() {
            self.lose(rank, error.to_string());
        }
    }

    /// Pauses by the rule, at most for `most`; whether the waker has ended it.
    fn pause(&mut self, now: Instant, most: Duration) -> bool {
        if mem::take(&mut self.active) {
            self.quiet_since = now;
        }
        match Pause::after(now.duration_since(self.quiet_since), self.config.longest_nap) {
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

    /// A frame to this node itself is refused as one to an unknown node is: it needs no transport.
    fn send(&mut self, to: NodeId, frame: Vec<u8>) -> Result<(), Refused> {
        let rank = to.number();
        let why = if rank >= self.session.size() || rank == self.session.rank() {
            Refusal::Unknown
        } else if self.leaving || self.peers[rank as usize].state != State::Up {
            Refusal::Down
        } else if frame.len() > self.config.longest_frame {
            Refusal::TooLong
        } else if self.sends.len() >= self.config.in_flight {
            Refusal::Full
        } else if let Some(synchronous) = self.peers[rank as usize].window.next() {
            self.active = true;
            self.peer(rank).window.goes(synchronous);
            self.begin_to_send(rank, Sent::Frame { synchronous }, frame);
            return Ok(());
        } else {
            Refusal::Full
        };
        Err(Refused { frame, why })
    }

    fn poll(&mut self) -> Option<Event> {
        if self.events.is_empty() {
            self.progress();
        }
        let event = self.events.pop_front();
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
                if self.bell.take() || !self.events.is_empty() {
                    return;
                }
                self.progress();
            }
            let now = Instant::now();
            let passed = now.duration_since(*begin.get_or_insert(now));
            if !self.events.is_empty() || passed >= most || self.pause(now, most - passed) {
                return;
            }
        }
    }

    fn waker(&self) -> TransportWaker {
        let bell = self.bell.clone();
        Arc::new(move || bell.ring())
    }

    fn is_sending(&self) -> bool {
        self.sending > 0
    }

    fn leave(&mut self) {
        if mem::replace(&mut self.leaving, true) {
            return;
        }
        // To those that have left as well: they wait for it.
        for rank in self.other_ranks() {
            if self.peer(rank).state != State::Lost {
                self.begin_to_send(rank, Sent::Leave, Vec::new());
            }
        }
    }
}

impl fmt::Debug for MpiTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MpiTransport")
            .field("rank", &self.session.rank())
            .field("ranks", &self.session.size())
            .field("sending", &self.sending)
            .field("receiving", &self.receives.len())
            .finish_non_exhaustive()
    }
}

/// The length that an announcement states.
fn announced(bytes: &[u8]) -> Option<usize> {
    let length = u64::from_le_bytes(bytes.try_into().ok()?);
    usize::try_from(length).ok()
}

/// Whether all ranks have the same value: collective.
fn agree(session: &Session, what: &'static str, here: i64) -> Result<(), StartError> {
    let [greatest, negated] = session.greatest([here, -here])?;
    let least = -negated;
    if least == greatest {
        Ok(())
    } else {
        Err(StartError::Differs { what, here, least, greatest })
    }
}
