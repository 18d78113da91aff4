//! Actors that are sent the events of nodes.
//!
//! # Roles
//! The *teller* is the thread that finds the event: a reader, the host, or a thread that drops a
//! node. It puts the event into the list of each subscriber, under the lock of the listeners, so in
//! order. Then it *drains* the list, without that lock: the conversion of an event to a message is
//! a user's code.
//!
//! # Why nothing stays, and order is kept
//! A teller that drains notes that in the list, and others leave their events to it. It checks
//! whether the list is empty and stops draining in one hold of the list's lock. So one of the two
//! tellers drains each event, one event after the other. A list that is longer than [`MOST`] takes
//! no more events, and counts them.
//!
//! # No teller waits
//! A message that finds the mailbox full is counted. The next one that finds room comes behind
//! [`NodeEvent::Missed`], which says how many were left out. If there is no room for both, that one
//! is counted too.

use super::happened::{MOST, NodeEvent};
use crate::kin::control::AnyActor;
use crate::mailbox::overflow::Overflow;
use crate::refs::actor_ref::ActorRef;
use crate::system::subscription::Told;
use evenkeel::internal::contain;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct List {
    events: VecDeque<NodeEvent>,
    missed: u64,
    is_drained: bool,
    is_over: bool,
}

/// An actor that is sent the events of a node.
pub(super) struct Subscriber {
    pub(super) number: u64,
    list: Mutex<List>,
    actor: AnyActor,
    tell: Box<dyn Fn(NodeEvent) -> Told + Send + Sync>,
}

impl Subscriber {
    pub(super) fn new<M, P>(number: u64, actor: ActorRef<M, P>) -> Self
    where
        M: From<NodeEvent> + Send + 'static,
        P: Overflow,
    {
        let any = actor.any();
        let tell = move |event| actor.tell_news(M::from(event));
        Self { number, list: Mutex::default(), actor: any, tell: Box::new(tell) }
    }

    /// Returns whether the actor has stopped.
    pub(super) fn has_stopped(&self) -> bool {
        self.actor.is_stopped()
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an event in, which is drained afterwards.
    pub(super) fn push(&self, event: NodeEvent, missed: &AtomicU64) {
        let mut list = self.lock();
        if list.is_over {
            return;
        }
        if list.events.len() < MOST {
            list.events.push_back(event);
        } else {
            list.missed += 1;
            missed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends the subscription: no more events are sent.
    pub(super) fn end(&self) {
        let mut list = self.lock();
        list.is_over = true;
        let left = std::mem::take(&mut list.events);
        drop(list);
        drop(left);
    }

    /// The next event, and how many before it were left out. None if there is none, or if another
    /// teller drains.
    fn next(&self, goes_on: bool) -> Option<(NodeEvent, u64)> {
        let mut list = self.lock();
        if list.is_drained && !goes_on {
            return None;
        }
        let event = if list.is_over { None } else { list.events.pop_front() };
        list.is_drained = event.is_some();
        Some((event?, list.missed))
    }

    /// Sends the events in the list. False if the actor has stopped.
    pub(super) fn drain(&self, missed: &AtomicU64) -> bool {
        let mut goes_on = false;
        while let Some((event, left_out)) = self.next(goes_on) {
            goes_on = true;
            // An event is left out if its conversion panics.
            let tell = |event| contain(|| (self.tell)(event)).unwrap_or(Told::Full);
            let mut told = Told::Taken;
            if left_out > 0 {
                told = tell(NodeEvent::Missed(left_out));
                if told == Told::Taken {
                    self.lock().missed -= left_out;
                }
            }
            if told == Told::Taken {
                told = tell(event);
            }
            match told {
                Told::Taken => {}
                Told::Full => {
                    self.lock().missed += 1;
                    missed.fetch_add(1, Ordering::Relaxed);
                }
                Told::Gone => {
                    self.end();
                    self.lock().is_drained = false;
                    return false;
                }
            }
        }
        true
    }
}
