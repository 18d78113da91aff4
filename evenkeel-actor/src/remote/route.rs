//! Where values of one type go to one node: what a remote reference needs beside the actor's slot,
//! in four bytes.
//!
//! A *peer* is another node as seen from this one. A *route* is a peer and a type whose values are
//! written for it. There are as many as a program has pairs of these that it uses, so they are kept
//! for ever, and a reference that has a route's number can be copied without counting.
//!
//! Nodes are never freed either, as [`System`]s are not. A process has one, or a few
//! in tests.

use super::arrived;
use super::calls::Outcome;
use super::given::Bundle;
use super::holds::Holds;
use super::inner::Inner;
use super::lease::Ledger;
use super::parking::Parking;
use super::scope;
use super::ties::Ties;
use crate::kin::peer::Peer as KinPeer;
use crate::kin::witness::Witness;
use crate::node::multiplexer::{Link, PutError};
use crate::node::payload::{self, PayloadError};
use crate::node::wire::{self, Envelope, Failure, Message, Places, References, StopHow};
use crate::node::{FrameError, Name, NodeId, Slot};
use crate::refs::away::{Refused, Room, Route, RouteId};
use crate::system::System;
use crate::trace;
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use serde::Serialize;
use std::any::{Any, TypeId, type_name};
use std::cell::Cell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes of a message that says what went wrong, without the text: its kind, a number, three codes,
/// a node, a length.
const BESIDE_DETAIL: usize = 1 + 10 + 3 + 5 + 3;

/// Writes a value, which is of the route's type.
type Put = fn(&dyn Any, &mut Vec<u8>) -> Result<(), PayloadError>;

/// Another node, as seen from this one; or this one, whose actors that have ended it names.
pub(crate) struct Peer {
    pub(crate) node: &'static Inner,
    pub(crate) id: NodeId,
    /// None to the node itself.
    pub(crate) link: Option<Link>,
    standing: AtomicU8,
    /// Messages of the protocols of nodes that were put in for it, which are no work.
    pub(crate) control: AtomicU64,
    routes: Mutex<Vec<(TypeId, RouteId)>>,
    pub(crate) ties: Ties,
    /// What is to be said of leases of its actors.
    pub(super) ledger: Ledger,
    /// What it has asked to hold.
    pub(crate) holds: Holds,
    /// What has come from it and waits for room in mailboxes.
    pub(crate) parking: Parking,
}

/// What is known of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Standing {
    /// It has not said who it is.
    New = 0,
    /// It has, and belongs to the job.
    Greeted = 1,
    /// It is down, or shut out.
    Down = 2,
}

impl Peer {
    pub(crate) fn new(node: &'static Inner, id: NodeId, link: Option<Link>) -> Self {
        Self {
            node,
            id,
            link,
            standing: AtomicU8::new(Standing::New as u8),
            control: AtomicU64::new(0),
            routes: Mutex::default(),
            ties: Ties::new(),
            ledger: Ledger::default(),
            holds: Holds::default(),
            parking: Parking::default(),
        }
    }

    #[inline]
    pub(crate) fn standing(&self) -> Standing {
        match self.standing.load(Ordering::Acquire) {
            0 => Standing::New,
            1 => Standing::Greeted,
            _ => Standing::Down,
        }
    }

    /// It has said who it is. False if it had before, or is down, which it stays: nobody takes for
    /// a moment what a node sends that is shut out.
    pub(crate) fn greets(&self) -> bool {
        let (new, greeted) = (Standing::New as u8, Standing::Greeted as u8);
        self.standing.compare_exchange(new, greeted, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// What is known now; says what was known before.
    pub(crate) fn stand(&self, standing: Standing) -> Standing {
        match self.standing.swap(standing as u8, Ordering::AcqRel) {
            0 => Standing::New,
            1 => Standing::Greeted,
            _ => Standing::Down,
        }
    }

    /// Whether it is down or shut out, as far as actors know or those who send.
    pub(crate) fn is_down(&self) -> bool {
        self.standing() == Standing::Down || self.link.as_ref().is_some_and(Link::is_shut)
    }

    /// Puts a message of nodes in, which is no work: it is not counted for the end of all work.
    pub(crate) fn control(&self, message: Message<'_>) {
        if let Some(link) = &self.link {
            // Before it can have arrived.
            self.control.fetch_add(1, Ordering::Relaxed);
            let envelope = Envelope::from(message);
            if link.put_anyway(|out| envelope.write(out)).is_err() {
                self.control.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// Puts a message in that is not waited for. What is for a node that is down is lost with it.
    pub(crate) fn say(&self, message: Message<'_>) {
        let _ = self.try_say(message);
    }

    /// The same for whoever wants to know whether it was put in.
    pub(crate) fn try_say(&self, message: Message<'_>) -> Result<(), PutError<FrameError>> {
        self.try_say_with(message, References::default())
    }

    /// The same for a message with these references in its value.
    pub(super) fn try_say_with(
        &self,
        message: Message<'_>,
        references: References<'_>,
    ) -> Result<(), PutError<FrameError>> {
        let Some(link) = &self.link else { return Err(PutError::Down) };
        let envelope = Envelope { cause: trace::current(), references, message };
        if scope::is_writing() {
            return self.say_later(link, &envelope);
        }
        self.node.senders.under(|| link.put_anyway(|out| envelope.write(out)))
    }

    /// The same where a value is being written under the lock of a lane, by whose `Serialize`
    /// something is said: that an actor is to stop, or that nobody answers.
    #[cold]
    fn say_later(&self, link: &Link, envelope: &Envelope<'_>) -> Result<(), PutError<FrameError>> {
        let mut record = Vec::new();
        envelope.write(&mut record).map_err(PutError::Unwritable)?;
        let link = link.clone();
        self.node.spawn(async move {
            let write = |out: &mut Vec<u8>| {
                out.extend_from_slice(&record);
                Ok::<_, FrameError>(())
            };
            drop(link.put_anyway(write));
        });
        Ok(())
    }

    /// Whether more may be said to it that a third node has caused: as long as half of what would
    /// have it shut out waits for it. The other half is for what it causes itself, so it is not
    /// shut out for others.
    pub(crate) fn has_room_for_others(&self) -> bool {
        let backlog = self.link.as_ref().map_or(0, Link::backlog);
        backlog <= self.node.limits.backlog / 2
    }

    /// Waits until there is room on the way, and an actor of the peer takes messages.
    pub(crate) async fn room(&self, to: Slot) {
        self.holds.go_on(to).await;
        if let Some(link) = &self.link {
            link.room().await;
        }
    }

    /// A question was in vain.
    pub(crate) fn fail(&self, call: u64, failure: Failure, detail: &str) {
        if self.link.is_none() {
            self.node.calls.close(call, Outcome::Failed(failure, detail));
            return;
        }
        let detail = self.detail(detail);
        self.say(Message::Failed { call, failure, detail });
    }

    /// The beginning of a text that says what went wrong, so that a message with it is not too
    /// long.
    pub(crate) fn detail<'a>(&self, detail: &'a str) -> &'a str {
        let longest = self.node.multiplexer.packing().longest_message;
        super::short(detail, wire::LONGEST_DETAIL.min(longest.saturating_sub(BESIDE_DETAIL)))
    }

    /// The place for the answer to a question of this node was handed on, by this process to
    /// another one.
    pub(crate) fn moved(&self, call: u64, to: NodeId) {
        if self.link.is_none() {
            self.node.moved(self.id, call, to);
        } else {
            self.say(Message::Moved { call, to });
        }
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Peer({})", self.id)
    }
}

/// A peer, and how values of a type are written for it.
pub(crate) struct PeerRoute {
    pub(crate) peer: &'static Peer,
    put: Put,
    /// The name of the type.
    of: &'static str,
}

/// How many routes a thread remembers. An estimate; no benchmark sets it.
const REMEMBERED: usize = 16;

type Remembered = Cell<Option<(*const Peer, TypeId, RouteId)>>;

thread_local! {
    /// Routes that were asked for, by peer and type. They stay true for ever.
    static CACHE: [Remembered; REMEMBERED] = const { [const { Cell::new(None) }; REMEMBERED] };
}

/// Takes the last word of what is hashed, which for a [`TypeId`] is good enough.
#[derive(Default)]
struct LastWord(u64);

impl Hasher for LastWord {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 ^= word;
    }
}

fn place(peer: &Peer, of: TypeId) -> usize {
    let mut hasher = LastWord::default();
    of.hash(&mut hasher);
    (hasher.finish() as usize).wrapping_add(peer.id.number() as usize) % REMEMBERED
}

/// The route to a peer for values of `T`.
#[inline]
pub(crate) fn of<T: Serialize + 'static>(peer: &'static Peer) -> RouteId {
    let of = TypeId::of::<T>();
    let at = place(peer, of);
    CACHE.with(|cache| match cache[at].get() {
        Some((cached, cached_of, route)) if std::ptr::eq(cached, peer) && cached_of == of => route,
        _ => {
            let route = make::<T>(peer);
            cache[at].set(Some((peer, of, route)));
            route
        }
    })
}

#[cold]
fn make<T: Serialize + 'static>(peer: &'static Peer) -> RouteId {
    let of = TypeId::of::<T>();
    let mut routes = peer.routes.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&(_, route)) = routes.iter().find(|route| route.0 == of) {
        return route;
    }
    let put: Put = |value, out| {
        let value = value.downcast_ref::<T>();
        payload::put(value.expect("a route is made for its references' type"), out)
    };
    let route = RouteId::new(Box::new(PeerRoute { peer, put, of: type_name::<T>() }));
    routes.push((of, route));
    route
}

/// The peer that a route leads to.
pub(crate) fn peer(route: RouteId) -> &'static Peer {
    let route: &dyn Any = route.get();
    route.downcast_ref::<PeerRoute>().expect("all routes are made here").peer
}

impl Route for PeerRoute {
    fn system(&self) -> System {
        self.peer.node.system
    }

    fn name(&self, slot: Slot) -> Name {
        Name { node: self.peer.id, slot }
    }

    fn id(&self, slot: Slot) -> ActorId {
        self.peer.actor(slot)
    }

    fn is_down(&self) -> bool {
        let peer = self.peer;
        let is_shut = peer.link.as_ref().is_none_or(Link::is_shut);
        is_shut || peer.standing() == Standing::Down
    }

    fn tell(&self, to: Slot, value: &dyn Any) -> Result<(), Refused> {
        self.put(to, value).map_err(|error| self.refused(&error))
    }

    fn room(&self, to: Slot) -> Room {
        Room(Box::pin(self.peer.room(to)))
    }

    fn end(&self, to: Slot, how: StopHow) {
        self.peer.say(Message::Stop { to, how });
    }

    fn watch(&self, slot: Slot, witness: Witness) -> Result<(), ExitReason> {
        self.peer.watch(slot, witness)
    }

    fn unwatch(&self, slot: Slot, by: ActorId) {
        self.peer.unwatch(slot, by);
    }

    fn link(&self, slot: Slot, id: ActorId, own: KinPeer) -> Result<(), ExitReason> {
        self.peer.link_with(slot, id, own)
    }

    fn answer(&self, call: u64, is_handed_on: bool, value: &dyn Any) -> bool {
        if !self.peer.may_be_told(is_handed_on) {
            return false;
        }
        let answered = self.put_answer(call, value);
        if let Err(error @ (PutError::Unwritable(_) | PutError::TooLong { .. })) = &answered {
            self.peer.fail(call, Failure::Unwritable, &error.to_string());
        }
        answered.is_ok()
    }

    fn leave_unanswered(&self, call: u64, is_handed_on: bool) {
        if self.peer.may_be_told(is_handed_on) {
            // While a value is read, its reader alone drops the place: what follows it there cannot
            // be read.
            let is_read = scope::reading().is_ok();
            self.peer.fail(call, if is_read { Failure::Unreadable } else { Failure::Ended }, "");
        }
    }
}

impl PeerRoute {
    #[cold]
    fn refused<E>(&self, error: &PutError<E>) -> Refused {
        match error {
            // The name of an actor of this node that has ended.
            PutError::Down if self.peer.link.is_none() => Refused::Stopped,
            PutError::Full { .. } => Refused::Full,
            PutError::Down | PutError::Leaving => Refused::NodeDown,
            PutError::Unwritable(_) if scope::were_too_many_calls() => Refused::TooManyCalls,
            PutError::TooLong { .. } | PutError::Unwritable(_) => Refused::Unwritable,
        }
    }

    /// Puts a value of the route's type in for an actor, if there is room.
    fn put(&self, to: Slot, value: &dyn Any) -> Result<(), PutError<PayloadError>> {
        let Some(link) = &self.peer.link else { return Err(PutError::Down) };
        // If the way is shut nobody is to wait: what follows says why.
        if self.peer.holds.has(to) && !link.is_shut() {
            return Err(PutError::Full { most: 0 });
        }
        scope::write(self.peer, |noted| {
            if noted.is_nested() {
                return Err(self.nested());
            }
            self.peer.node.senders.under(|| {
                link.try_put(|out| {
                    let start = out.len();
                    wire::write_tell(to, trace::current(), out);
                    let head = out.len();
                    (self.put)(value, out)?;
                    if noted.any() {
                        begin_anew(out, start..head, noted, |places| match noted.last_call() {
                            call if !places.is_empty() => {
                                Message::Hand { to, call, places, payload: &[] }
                            }
                            0 => Message::Tell { to, payload: &[] },
                            call => Message::Ask { to, call, limit: 0, payload: &[] },
                        });
                    }
                    Ok(())
                })
            })
        })
    }

    /// Puts an answer of the route's type in. Never waits.
    fn put_answer(&self, call: u64, value: &dyn Any) -> Result<(), PutError<PayloadError>> {
        let Some(link) = &self.peer.link else {
            // The question has come back to the node that asked it.
            let (mut bytes, mut bundle) = (Vec::new(), None);
            scope::write(self.peer, |noted| {
                (self.put)(value, &mut bytes).map_err(PutError::Unwritable)?;
                bundle = noted.take_references();
                Ok(())
            })?;
            let _arrived = arrived::within(bundle.as_ref().and_then(Bundle::arrive));
            let is_awaited = self.peer.node.calls.close(call, Outcome::Answer(&bytes));
            return if is_awaited { Ok(()) } else { Err(PutError::Down) };
        };
        scope::write(self.peer, |noted| {
            if noted.is_nested() {
                return Err(self.nested());
            }
            self.peer.node.senders.under(|| {
                link.put_anyway(|out| {
                    let start = out.len();
                    wire::write_answer(call, trace::current(), out);
                    let head = out.len();
                    (self.put)(value, out)?;
                    if noted.has_references() {
                        let answer = Message::Answer { call, payload: &[] };
                        begin_anew(out, start..head, noted, |_| answer);
                    }
                    Ok(())
                })
            })
        })
    }

    /// A value's `Serialize` sends another value: the lane that it would go by is locked for the
    /// first.
    #[cold]
    fn nested(&self) -> PutError<PayloadError> {
        let why = "it is sent while another message is written, by that one's Serialize".to_owned();
        PutError::Unwritable(PayloadError::Unwritable { of: self.of, why })
    }
}

/// Has a record say whose answers are awaited and which references are in its value, once it is
/// known that there are some: `message` is what it is then, without the value. So whoever cannot
/// deliver it can say so, and whoever gets it counts.
#[cold]
fn begin_anew(
    out: &mut Vec<u8>,
    head: Range<usize>,
    noted: &scope::Notes,
    message: impl FnOnce(Places<'_>) -> Message<'_>,
) {
    let (places, references) = (noted.passed_on(), noted.references());
    let message = message(places.as_places());
    let envelope =
        Envelope { cause: trace::current(), references: references.as_references(), message };
    let mut begins = Vec::new();
    // There are no more places than may be, and no texts.
    if envelope.write(&mut begins).is_ok() {
        drop(out.splice(head, begins));
    }
}
