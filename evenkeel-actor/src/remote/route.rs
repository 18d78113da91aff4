//! Routes: what a remote reference needs beside the actor's slot, in four bytes. A route says where
//! values of one type go to one node.
//!
//! A *route* is a [peer](super::inner) and a type of values that are written for it. A program has
//! a route for each such pair that it uses. Routes are kept for ever, so a reference that has a
//! route's number can be copied without counting.
//!
//! Nodes are never freed either, as [`System`]s are not. A process has one, or a few in tests.

use super::arrived;
use super::calls::Outcome;
use super::given::Bundle;
use super::inner::{Peer, Standing};
use super::scope;
use crate::kin::peer::Peer as KinPeer;
use crate::kin::witness::Witness;
use crate::node::multiplexer::{Link, PutError};
use crate::node::payload::{self, PayloadError};
use crate::node::wire::{self, Envelope, Failure, Message, Places, StopHow};
use crate::node::{Name, Slot};
use crate::refs::away::{Refused, Room, Route, RouteId};
use crate::system::System;
use crate::trace;
use crate::words::exit::ExitReason;
use crate::words::id::ActorId;
use serde::Serialize;
use std::any::{Any, TypeId, type_name};
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::PoisonError;

/// Writes a value, which is of the route's type.
type Put = fn(&dyn Any, &mut Vec<u8>) -> Result<(), PayloadError>;

/// A peer, and how values of a type are written for it.
pub(crate) struct PeerRoute {
    pub(crate) peer: &'static Peer,
    put: Put,
    /// The name of the type.
    of: &'static str,
}

/// Routes that a thread remembers. An estimate; no benchmark sets it.
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
        let peer = self.peer;
        if scope::is_writing() {
            scope::once_written(move || {
                if let Err((witness, reason)) = peer.watch(slot, witness) {
                    witness.tell(peer.actor(slot), &reason);
                }
            });
            return Ok(());
        }
        peer.watch(slot, witness).map_err(|(_, reason)| reason)
    }

    fn unwatch(&self, slot: Slot, by: ActorId) {
        let peer = self.peer;
        scope::once_written(move || peer.unwatch(slot, by));
    }

    fn link(&self, slot: Slot, id: ActorId, own: KinPeer) -> Result<(), ExitReason> {
        let peer = self.peer;
        if scope::is_writing() {
            scope::once_written(move || {
                if let Err(reason) = peer.link_with(slot, id, own.clone()) {
                    own.exit(peer.actor(slot), &reason, None);
                }
            });
            return Ok(());
        }
        peer.link_with(slot, id, own)
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
            // While a value is read, only its reader drops the place: the rest of the value cannot
            // be read.
            let is_read = scope::reading().is_ok();
            self.peer.fail(call, if is_read { Failure::Unreadable } else { Failure::Ended }, "");
        }
    }
}

impl PeerRoute {
    #[cold]
    fn refused(&self, error: &PutError<PayloadError>) -> Refused {
        match error {
            // The name of an actor of this node that has ended.
            PutError::Down if self.peer.link.is_none() => Refused::Stopped,
            PutError::Full { .. } => Refused::Full,
            PutError::Down | PutError::Leaving => Refused::NodeDown,
            PutError::Unwritable(_) if scope::were_too_many_calls() => Refused::TooManyCalls,
            PutError::TooLong { .. } | PutError::Unwritable(_) => {
                // A value that another one's `Serialize` sends is refused under a lock.
                if !scope::is_writing() {
                    trace::not_written(self.system().node(), self.peer.id, self.of, error);
                }
                Refused::Unwritable
            }
        }
    }

    /// Puts a value of the route's type in for an actor, if there is room.
    fn put(&self, to: Slot, value: &dyn Any) -> Result<(), PutError<PayloadError>> {
        let Some(link) = &self.peer.link else { return Err(PutError::Down) };
        // If the link is shut, senders do not wait: the next step returns the reason.
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

    /// The error of a value that the `Serialize` of another value sends.
    #[cold]
    fn nested(&self) -> PutError<PayloadError> {
        let why = scope::NESTED.to_owned();
        PutError::Unwritable(PayloadError::Unwritable { of: self.of, why })
    }
}

/// Rewrites the head of a record, once its value turns out to contain places or references, so that
/// it names them. `message` is the new message, without the value. So a node that cannot deliver
/// the record can fail the calls, and its receiver counts the references.
#[inline(never)]
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
    let end = out.len();
    // There are no more places and references than allowed, and no texts.
    if envelope.write(out).is_err() {
        out.truncate(end);
        return;
    }
    // The new head stands behind the value, and has to stand before it.
    let length = out.len() - end;
    out[head.end..].rotate_right(length);
    drop(out.drain(head));
}
