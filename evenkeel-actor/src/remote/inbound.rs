//! Inbound frames: workers read what comes from other nodes, and deliver its messages.
//!
//! # Roles
//! The *host* hands frames over ([`Receiver`]). *Readers* are tasks that read a peer's frames. A
//! peer has at most as many readers as there are workers and as its
//! [`Demultiplexer`](crate::node::demultiplexer::Demultiplexer) allows. A host that is a task of
//! the only worker reads what it can itself, within the time of a turn: a frame then costs no task.
//!
//! # Why nothing stays
//! The host puts a frame into the demultiplexer, and starts a reader unless there are as many as
//! may be, in one hold of the lock. A reader that finds no frame to read ends, and notes it, in one
//! hold of the lock. A frame that may not be read yet waits for a frame that is being read; that
//! frame's reader looks again when it gives its frame back. A host that reads itself does so
//! without the lock while no frame is counted as unread. It alone adds unread frames, and a frame
//! is counted until the demultiplexer has it back. So then none waits and none is being read. A
//! frame that the host reads itself is counted only if the host does not get to its end. For the
//! search for the [end of all work](super::collective), a message that is being read has not come.
//!
//! # A full mailbox
//! Under [`Wait`](crate::Wait) the message is [parked](super::parking), and the reader goes on:
//! readers wait for nothing but their turns. So whatever actors do, readers read what comes from
//! all nodes.
//!
//! # Too many frames
//! Where workers are behind with reading, frames pile up to [`MOST_UNREAD`]. Then the host looks
//! for no more until one is read, and the sender's transport finds no room. While this node's
//! transport is still sending, the host polls it all the same, since transports need that. A peer
//! from which more comes then is told to [hold](super::holds) its values until half of the frames
//! are read. A peer that goes on all the same, until more of its bytes are unread than may be
//! [parked](super::Limits::parked), is shut out. Each frame counts as [`BESIDE_FRAME`] bytes more
//! than it has, and the limit is higher by what that makes for the frames of an honest peer.
//!
//! # The last messages of a node
//! A node counts as down when what has come from it is read, so that its answers and its steps of
//! protocols count, and what is parked is delivered. The latter waits for a second at most, since
//! an actor may never take what waits for it. What is parked then is delivered later if the node
//! has left in order, and is dropped if it is lost. A node that is shut out is down at once, and
//! readers drop its frames as they come to them.
//!
//! # Bad bytes
//! The bytes are a peer's. Bytes that are no frame, and messages that the protocol does not allow
//! at this point, are an event, and their sender is [shut out](super::NodeEvent::Malformed). A
//! value of another type than its actor's is a dead letter, as is a value for an actor that has
//! ended. If an answer is awaited, the asker is told. The same holds if a caller's code panics
//! here, such as the code that reads a value: each call has its outcome.

use super::arrived::{self, Arrived, Kept};
use super::askers::Askers;
use super::deliver::deliver;
use super::error::Mismatch;
use super::frames::Frames;
use super::inner::{Counts, Inner, Peer, Standing};
use super::take::{awaited, take};
use super::turn::Turn;
use crate::node::frame::Frame;
use crate::node::host::Deliver;
use crate::node::multiplexer::{Link, Multiplexer};
use crate::node::wire::{Envelope, Failure, Message, References};
use crate::node::{DownReason, FrameError, Name, NodeId, Refusal};
use crate::refs::away::Lease;
use crate::trace;
use evenkeel::Handle;
use evenkeel::internal::{contain, now};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

/// Frames that wait to be read before the host looks for no more. An estimate: some megabytes of
/// small messages; no benchmark sets it.
pub(crate) const MOST_UNREAD: usize = 256;

/// The number of unread frames at which peers that were told to hold because of frames may send
/// again. An estimate: half; no benchmark sets it.
const FEWER_UNREAD: usize = MOST_UNREAD / 2;

/// Bytes that an unread frame takes beside its own: frames of a few bytes would take far more
/// memory than they count. An estimate: its place in the demultiplexer, the part that it has in its
/// lane, and the least allocation; no benchmark sets it.
const BESIDE_FRAME: usize = 128;

/// The bytes of a frame's head and of a message without contents.
const SHORTEST_FRAME: usize = 5;

/// Nanoseconds for which what is parked of a lost node may wait before this node counts it as down:
/// actors may never take it. A choice; no benchmark sets it.
const LAST_WORDS: u64 = 1_000_000_000;

/// Bytes that a host which reads itself reads in a turn before it yields. An estimate: some hundred
/// small messages, which take as long as an actor's turn; no benchmark sets it.
const MOST_READ: usize = 4 << 10;

/// The turn was over before the frame's end; the field is the place of its next message.
struct Over(usize);

/// Takes frames over from the host.
pub(crate) struct Receiver {
    node: &'static Inner,
    /// The runtime of the node, which is there as long as the host is: no lock is taken for it.
    runtime: Handle,
    /// Bytes that a host which reads itself has read in this turn.
    read: usize,
}

impl Receiver {
    pub(crate) fn new(node: &'static Inner, runtime: Handle) -> Self {
        Self { node, runtime, read: 0 }
    }
}

impl Deliver for Receiver {
    fn begin(&mut self) {
        self.read = 0;
    }

    fn has_room(&self) -> bool {
        // Where the host reads itself, only the frames that it has not got to are unread.
        self.node.unread.load(Ordering::Relaxed) < MOST_UNREAD
    }

    fn gives_way(&self) -> bool {
        self.read >= MOST_READ
    }

    fn frame(&mut self, from: NodeId, frame: Vec<u8>) -> Option<Vec<u8>> {
        let node = self.node;
        let peer = node.peer(from)?;
        if peer.standing() == Standing::Down {
            return Some(frame);
        }
        let head = match Frame::read(&frame, node.longest_frame) {
            Ok(head) => head,
            Err(error) => {
                node.malformed(peer, error);
                return None;
            }
        };
        let (lane, fenced) = (head.lane, head.fenced);
        // A host that reads itself alone adds unread frames, so there are none.
        if node.reads_inline && node.unread.load(Ordering::Acquire) == 0 {
            self.read += frame.len();
            let begun = || _ = node.unread.fetch_add(1, Ordering::SeqCst);
            let turn = &mut Turn::new();
            let Err(Over(at)) = read(peer, head, 0, turn, begun) else { return Some(frame) };
            let mut frames = lock(peer);
            frames.readers += 1;
            frames.bytes += size(&frame);
            frames.waiting.came(lane, fenced, Vec::new());
            // It is the only frame, so it may be read.
            let _ = frames.waiting.next();
            drop(frames);
            drop(self.runtime.spawn(async move {
                evenkeel::yield_now().await;
                read_on(peer, lane, frame, at).await;
            }));
            return None;
        }
        let unread = node.unread.fetch_add(1, Ordering::SeqCst);
        let mut frames = lock(peer);
        frames.bytes += size(&frame);
        let bytes = frames.bytes;
        frames.waiting.came(lane, fenced, frame);
        if frames.readers < node.workers {
            frames.readers += 1;
            drop(frames);
            drop(self.runtime.spawn(read_all(peer)));
        } else {
            drop(frames);
        }
        let packing = node.multiplexer.packing();
        let most = node.limits.parked.saturating_add(beside_waiting(packing.waiting));
        if unread >= MOST_UNREAD && bytes > most {
            node.refuse(peer, Mismatch::Unread { bytes });
        } else if unread >= MOST_UNREAD {
            node.pile_up(peer);
        }
        None
    }

    fn up(&mut self, node: NodeId) {
        // For actors the node is up once it has introduced itself.
        trace::connected(self.node.system.node(), node);
    }

    fn down(&mut self, node: NodeId, reason: DownReason, lost: u64) {
        trace::disconnected(self.node.system.node(), node, &reason, lost);
        if let Some(peer) = self.node.peer(node) {
            self.node.ended(peer, reason, lost);
        }
    }

    fn refused(&mut self, to: NodeId, messages: u32, why: Refusal) {
        trace::not_sent(self.node.system.node(), to, messages, &why);
        self.node.counts.undelivered.fetch_add(messages.into(), Ordering::Relaxed);
    }
}

/// What the smallest frames of `waiting` bytes take beside them. A peer that holds may have as much
/// on its way, if its packing is that of this node.
fn beside_waiting(waiting: usize) -> usize {
    (waiting / SHORTEST_FRAME).saturating_mul(BESIDE_FRAME)
}

/// The bytes as which an unread frame counts.
fn size(frame: &[u8]) -> usize {
    frame.len() + BESIDE_FRAME
}

fn lock(peer: &Peer) -> std::sync::MutexGuard<'static, Frames> {
    let frames = &peer.node.frames[peer.id.number() as usize];
    frames.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    /// Takes account of a frame that was read.
    fn finished(&self, frame: Vec<u8>) {
        recycle(&self.multiplexer, frame);
        match self.unread.fetch_sub(1, Ordering::SeqCst) - 1 {
            FEWER_UNREAD if self.counts.has_piled_up.load(Ordering::SeqCst) => self.gets_on(),
            unread if unread + 1 == MOST_UNREAD => self.multiplexer.wake_host(),
            _ => {}
        }
    }

    /// Tells a peer to hold: more than `MOST_UNREAD` frames are unread.
    #[cold]
    fn pile_up(&self, peer: &'static Peer) {
        peer.parking.frames_pile_up(peer, true);
        self.counts.has_piled_up.store(true, Ordering::SeqCst);
        // A reader that gets to that number after this sees the flag; for one that did before, this
        // calls `gets_on`.
        if self.unread.load(Ordering::SeqCst) <= FEWER_UNREAD {
            self.gets_on();
        }
    }

    /// Lets the peers go on that were told to hold because of frames.
    #[cold]
    fn gets_on(&self) {
        // Before the loop: a peer that is told to hold meanwhile is told to go on by this call or
        // the next.
        self.counts.has_piled_up.store(false, Ordering::SeqCst);
        self.others().for_each(|peer| peer.parking.frames_pile_up(peer, false));
    }

    /// Handles the transport's report that nothing more comes from a node: it is down once what has
    /// come is read.
    fn ended(&'static self, peer: &'static Peer, reason: DownReason, lost: u64) {
        let mut frames = lock(peer);
        if frames.waiting.is_empty() && !peer.parking.any() {
            drop(frames);
            return self.down(peer, reason, lost);
        }
        frames.readers += 1;
        drop(frames);
        self.spawn(async move {
            read_all(peer).await;
            let begun = now();
            let waits = || peer.parking.any() && now().saturating_sub(begun) < LAST_WORDS;
            while !lock(peer).waiting.is_empty() || waits() {
                evenkeel::time::sleep(std::time::Duration::from_micros(100)).await;
            }
            self.down(peer, reason, lost);
        });
    }
}

fn recycle(multiplexer: &Multiplexer, frame: Vec<u8>) {
    if frame.capacity() > 0 {
        multiplexer.recycle(frame);
    }
}

/// Reads a node's frames while there are frames that may be read.
async fn read_all(peer: &'static Peer) {
    let next = lock(peer).next();
    if let Some((lane, frame)) = next {
        read_on(peer, lane, frame, 0).await;
    }
}

/// Reads a frame from its message at the place `at`, gives it back, and reads on while there are
/// frames that may be read.
async fn read_on(peer: &'static Peer, mut lane: u16, mut frame: Vec<u8>, mut at: usize) {
    let mut turn = Turn::new();
    loop {
        // Its head was read when it came.
        while let Ok(head) = Frame::read(&frame, peer.node.longest_frame) {
            let Err(Over(next)) = read(peer, head, at, &mut turn, || ()) else { break };
            at = next;
            evenkeel::yield_now().await;
            turn = Turn::new();
        }
        let (starts, next) = {
            let mut frames = lock(peer);
            frames.waiting.read(lane);
            frames.bytes -= size(&frame);
            // Frames that waited for this one may be read, by another reader too.
            let starts = !frames.waiting.is_empty() && frames.readers < peer.node.workers;
            frames.readers += usize::from(starts);
            (starts, frames.next())
        };
        // After the demultiplexer has it back: a host that finds no unread frame reads at once.
        peer.node.finished(frame);
        if starts {
            peer.node.spawn(read_all_boxed(peer));
        }
        let Some(after) = next else { return };
        ((lane, frame), at) = (after, 0);
    }
}

/// [`read_all`] in a box: the future would contain itself otherwise.
fn read_all_boxed(peer: &'static Peer) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(read_all(peer))
}

/// The references in a record of a peer; none if no reference keeps anything.
fn references_of(from: &'static Peer, references: References<'_>) -> Option<Arc<Arrived>> {
    let mut kept: Vec<(Name, Kept)> = Vec::new();
    let mut names = references.iter().peekable();
    while let Some(name) = names.next() {
        let mut times = 1;
        while names.next_if_eq(&name).is_some() {
            times += 1;
        }
        // Without such a node the value cannot be read either.
        let Some(owner) = from.node.peer(name.node) else { continue };
        if owner.link.is_some() {
            let lease = Lease::new(owner, name, from.id, times);
            kept.push((name, Kept::Leased(Arc::new(lease))));
        } else if let Some(target) = from.node.table.get(name.slot) {
            kept.push((name, Kept::Home(target)));
        }
    }
    Arrived::of(kept)
}

/// Makes the references of a record current until the result is dropped.
#[cold]
fn come(from: &'static Peer, references: References<'_>) -> arrived::Within {
    arrived::within(references_of(from, references))
}

/// Reads a frame from its message at the place `at`, until the turn is over; then returns the place
/// of the next message. A number of the message instead would have a long frame of a peer read anew
/// from its beginning each time. `stays` is called before what was read of such a frame is counted.
fn read(
    peer: &'static Peer,
    frame: Frame<'_>,
    at: usize,
    turn: &mut Turn,
    stays: impl FnOnce(),
) -> Result<(), Over> {
    let node = peer.node;
    let backlog = peer.link.as_ref().map_or(0, Link::backlog);
    if backlog > node.limits.backlog {
        // Reading has more sent to a peer that takes nothing.
        node.refuse(peer, Mismatch::Backlog { bytes: backlog });
        return Ok(());
    }
    let mut messages = frame.messages_from(at);
    let mut count = Count { node, messages: 0, control: 0 };
    loop {
        // Most messages, at less cost than all others.
        let tell = (peer.standing() == Standing::Greeted).then(|| messages.next_plain_tell());
        if let Some((to, payload)) = tell.flatten() {
            count.messages += 1;
            let _within = trace::within(None);
            count.messages -= u64::from(!deliver(peer, to, Askers::default(), payload));
        } else {
            let Some(message) = messages.next() else { return Ok(()) };
            if !handle(peer, message, turn, &mut count) {
                return Ok(());
            }
        }
        if turn.is_over() {
            stays();
            return Err(Over(messages.at()));
        }
    }
}

/// Handles a message of any kind. False if nothing more of its frame is to be read.
#[inline(never)]
fn handle(
    peer: &'static Peer,
    message: Result<Envelope<'_>, FrameError>,
    turn: &mut Turn,
    count: &mut Count,
) -> bool {
    let node = peer.node;
    let Envelope { cause, references, message } = match message {
        Ok(envelope) => envelope,
        Err(error) => {
            node.malformed(peer, error);
            return false;
        }
    };
    count.messages += 1;
    let is_greeted = peer.standing() == Standing::Greeted;
    let _within = trace::within(cause);
    // References that no code takes out of the value are given back when this is dropped.
    let _arrived = (!references.is_empty() && is_greeted).then(|| {
        turn.looks_soon();
        come(peer, references)
    });
    match message {
        Message::Tell { to, payload } if is_greeted => {
            count.messages -= u64::from(!deliver(peer, to, Askers::default(), payload));
        }
        Message::Ask { to, call, payload, .. } if is_greeted => {
            count.messages -= u64::from(!deliver(peer, to, Askers::by(call), payload));
        }
        Message::Hand { to, call, places, payload } if is_greeted => {
            turn.looks_soon();
            let askers = Askers::handed_on(call, places);
            count.messages -= u64::from(!deliver(peer, to, askers, payload));
        }
        other => {
            if let Message::Cast { .. } = other {
                turn.looks_soon();
            }
            let call = awaited(&other);
            match contain(|| take(peer, other, &mut count.control)) {
                Some(reads_on) => return reads_on,
                None => {
                    Counts::add(&node.counts.unreadable);
                    let askers = Askers { call, ..Askers::default() };
                    node.undelivered(peer, askers, Failure::Panicked, "");
                }
            }
        }
    }
    true
}

/// Counts the messages of a frame in one go when the reading ends, in whatever way.
struct Count {
    node: &'static Inner,
    messages: u64,
    control: u64,
}

impl Count {
    /// Adds without a locked instruction where the host is a task: then one thread polls it, all
    /// readers and all porters, and no other adds. A thread that sees the sum sees what the frame's
    /// messages have done; one that sees it late finds less received than sent, and no end.
    #[inline]
    fn add(&self, counter: &AtomicU64, more: u64) {
        if self.node.reads_inline {
            counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Release);
        } else {
            counter.fetch_add(more, Ordering::SeqCst);
        }
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        let counts = &self.node.counts;
        // In one step: a concurrent reader of the counts never sees a protocol message as one of
        // the work.
        self.add(&counts.messages, self.messages - self.control);
        if self.control > 0 {
            self.add(&counts.control, self.control);
        }
    }
}
