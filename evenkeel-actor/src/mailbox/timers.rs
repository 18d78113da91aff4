//! Timers of actors: messages that an actor will have sent itself.
//!
//! # Roles
//! The *actor* has its timers in a box of its own, which appears with the first, sets them, and
//! takes what is due. One *sleep* stands for the earliest of them; what it wakes is the *bell*,
//! which gives the actor an order to look.
//!
//! # Steps
//! A message that is due is not put into the mailbox: the actor hands it to its handler as it does
//! an order. So it needs no room, a full mailbox does not delay it, and one that has been cancelled
//! does not come, not even if it was due. Between two of them one message of the mailbox is
//! handled, if there is one, so that timers which are due all the time leave the others half of the
//! actor.
//!
//! # Why nothing is lost
//! The bell gives its order under the lock of the mailbox, as a sender puts a message in: an actor
//! that parks has seen it or is found parked. The order stands until the actor finds nothing due.
//! Then it sets the sleep to the earliest that is left, and polls it: if that is over already the
//! order stands again.
//!
//! # References
//! The bell knows the address of its actor and counts nothing, so it is taken from it, under the
//! bell's lock, before the actor's future is gone. While a message of
//! [`send_after`](crate::Context::send_after) is to come, the box has a reference to the actor:
//! what has been promised is handled, even if nobody else has one. A period is no promise, and an
//! actor that only waits for its ticks stops as it would without.
//!
//! # Rejected
//! A task per timer: an allocation of 300 bytes each and a reference that keeps the actor, and the
//! message waits for room. The sleep with the actor's own waker: an actor that waits for messages
//! is parked in its mailbox, where wakers do not reach it.

#![allow(unsafe_code, reason = "the bell knows its actor by an address that it does not count")]

use crate::mailbox::{self, Mailbox};
use crate::trace::{Parcel, seal};
use evenkeel::internal::{Own, Public};
use evenkeel::time::{Instant, Sleep, sleep_until};
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

/// Names a timer of an actor, to [cancel](crate::Context::cancel) it. Those of other actors are
/// never equal to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimerId {
    /// Of the actor's task.
    pub(crate) actor: crate::ActorId,
    pub(crate) number: u64,
}

/// What becomes due.
enum What<M> {
    Once(Parcel<M>),
    Every { period: Duration, make: Box<dyn FnMut() -> M + Send> },
}

/// After how long without messages the actor gets another.
struct Idle<M> {
    limit: Duration,
    make: Box<dyn FnMut() -> M + Send>,
    /// Since when it has had nothing to do, if that is known, and what it had received by then.
    since: Option<(Instant, u32)>,
    /// Whether it has been told of this idleness.
    told: bool,
}

/// The timers of an actor.
pub(crate) struct Timers<M: 'static> {
    /// By their deadlines, those of one deadline in the order in which they were set.
    due: BTreeMap<(Instant, u64), What<M>>,
    deadlines: BTreeMap<u64, Instant>,
    next: u64,
    idle: Option<Idle<M>>,
    sleep: Pin<Box<Sleep>>,
    bell: Arc<Bell<M>>,
    waker: Waker,
    /// While something has been promised.
    keep: Option<Public<Mailbox<M>>>,
    promised: usize,
    /// Whether a message of the mailbox comes first.
    gives_way: bool,
}

/// Rings when the sleep is over.
struct Bell<M: 'static>(Mutex<Option<Own<Mailbox<M>>>>);

impl<M: Send + 'static> Wake for Bell<M> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The reference is dropped without the lock: it may be the last one, which wakes.
        let actor = own.as_ref().map(Own::public);
        drop(own);
        if let Some(actor) = actor {
            mailbox::look_at_timers(&actor);
        }
    }
}

impl<M: Send + 'static> Timers<M> {
    /// # Safety
    /// The timers are dropped before the address is not to be used any more.
    pub(crate) unsafe fn new(own: &Own<Mailbox<M>>) -> Box<Self> {
        // SAFETY: it is taken out of the bell when the timers are dropped.
        let own = unsafe { own.again() };
        let bell = Arc::new(Bell(Mutex::new(Some(own))));
        Box::new(Self {
            due: BTreeMap::new(),
            deadlines: BTreeMap::new(),
            next: 0,
            idle: None,
            sleep: Box::pin(sleep_until(Instant::now())),
            waker: Waker::from(bell.clone()),
            bell,
            keep: None,
            promised: 0,
            gives_way: false,
        })
    }

    fn insert(&mut self, deadline: Instant, number: u64, what: What<M>) {
        let earliest = self.due.first_key_value().is_none_or(|((first, _), _)| deadline < *first);
        self.due.insert((deadline, number), what);
        self.deadlines.insert(number, deadline);
        if earliest {
            self.arm();
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(crate) fn once(&mut self, own: Public<Mailbox<M>>, after: Duration, message: M) -> u64 {
        self.promised += 1;
        self.keep.get_or_insert(own);
        let number = self.number();
        self.insert(in_at_least(after), number, What::Once(seal(message)));
        number
    }

    pub(crate) fn every(&mut self, period: Duration, make: Box<dyn FnMut() -> M + Send>) -> u64 {
        let number = self.number();
        self.insert(in_at_least(period), number, What::Every { period, make });
        number
    }

    pub(crate) fn cancel(&mut self, number: u64) -> bool {
        let Some(deadline) = self.deadlines.remove(&number) else { return false };
        if let Some(What::Once(_)) = self.due.remove(&(deadline, number)) {
            self.fulfilled();
        }
        self.arm();
        true
    }

    /// A promise is kept, or taken back.
    fn fulfilled(&mut self) {
        self.promised -= 1;
        if self.promised == 0 {
            self.keep = None;
        }
    }

    pub(crate) fn set_idle(&mut self, limit: Option<(Duration, Box<dyn FnMut() -> M + Send>)>) {
        self.idle = limit.map(|(limit, make)| Idle { limit, make, since: None, told: false });
        self.arm();
    }

    /// Notes that the actor has found nothing to do, having received so many messages in its life,
    /// as far as 32 bits tell.
    pub(crate) fn rests(&mut self, received: u32) {
        let Some(idle) = &mut self.idle else { return };
        if idle.since.is_none_or(|(_, before)| before != received) {
            let armed = idle.since.is_some() && !idle.told;
            idle.since = Some((Instant::now(), received));
            idle.told = false;
            // A sleep that ends too early is set again then, which is less work than to set it now.
            if !armed {
                self.arm();
            }
        }
    }

    /// When something is due next.
    fn earliest(&self) -> Option<Instant> {
        let first = self.due.first_key_value().map(|((deadline, _), _)| *deadline);
        let idle = self.idle.as_ref().filter(|idle| !idle.told);
        let idle = idle.and_then(|idle| idle.since?.0.checked_add(idle.limit));
        [first, idle].into_iter().flatten().min()
    }

    /// Has the bell ring when something is due.
    fn arm(&mut self) {
        let Some(deadline) = self.earliest() else {
            // What is not polled is in no wheel.
            return self.sleep.as_mut().reset(Instant::now());
        };
        self.sleep.as_mut().reset(deadline);
        let over = self.sleep.as_mut().poll(&mut Context::from_waker(&self.waker)).is_ready();
        if over {
            self.waker.wake_by_ref();
        }
    }

    /// A message that is due, if the others have had theirs. `received` as in
    /// [`rests`](Self::rests).
    pub(crate) fn take(&mut self, received: u32) -> Taken<M> {
        if self.gives_way {
            self.gives_way = false;
            return Taken::Later;
        }
        let now = Instant::now();
        let is_due = |(deadline, _): &(Instant, u64)| *deadline <= now;
        if let Some(first) = self.due.first_entry()
            && is_due(first.key())
        {
            let ((deadline, number), what) = first.remove_entry();
            self.deadlines.remove(&number);
            self.gives_way = true;
            let message = match what {
                What::Once(message) => {
                    self.fulfilled();
                    message
                }
                What::Every { period, mut make } => {
                    let message = seal(make());
                    let next = next_tick(deadline, now, period);
                    self.due.insert((next, number), What::Every { period, make });
                    self.deadlines.insert(number, next);
                    message
                }
            };
            return Taken::Message(message);
        }
        if let Some(idle) = &mut self.idle
            && !idle.told
            && let Some((since, before)) = idle.since
        {
            if before != received {
                // It counts from when there is nothing more to do.
                idle.since = None;
            } else if now.saturating_duration_since(since) >= idle.limit {
                idle.told = true;
                // The message that tells of it is one: the actor is idle anew when it has handled
                // it.
                idle.since = None;
                return Taken::Message(seal((idle.make)()));
            }
        }
        Taken::Nothing
    }

    /// Sets the sleep when there is nothing due, so that the bell does not stand any more.
    pub(crate) fn settle(&mut self) {
        self.gives_way = false;
        self.arm();
    }
}

/// What the timers have for the actor.
pub(crate) enum Taken<M> {
    Message(Parcel<M>),
    /// A message of the mailbox comes first.
    Later,
    Nothing,
}

fn in_at_least(duration: Duration) -> Instant {
    let now = Instant::now();
    // As far as there is time: it never comes.
    now.checked_add(duration).unwrap_or_else(|| now + Duration::from_secs(200 * 365 * 86_400))
}

/// When the tick comes that follows the one of `due`, which was seen at `now`: those that were
/// missed are left out.
fn next_tick(due: Instant, now: Instant, period: Duration) -> Instant {
    let late = now.saturating_duration_since(due).as_nanos();
    let into = u64::try_from(late % period.as_nanos().max(1)).unwrap_or(0);
    let next = now.checked_add(period.saturating_sub(Duration::from_nanos(into)));
    next.unwrap_or_else(|| in_at_least(period))
}

impl<M: 'static> Drop for Timers<M> {
    fn drop(&mut self) {
        *self.bell.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl<M: 'static> fmt::Debug for Timers<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers").field("amount", &self.due.len()).finish_non_exhaustive()
    }
}
