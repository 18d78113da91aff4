//! Timers of actors: messages that an actor sends to itself later.
//!
//! # Roles
//! The *actor* has its timers in a box, which the first timer allocates. It sets them, and takes
//! the messages that are due. One *sleep* stands for the earliest timer. It wakes the *bell*, which
//! orders the actor to look at its timers.
//!
//! # Steps
//! The actor does not put a message that is due into the mailbox: it hands the message to its
//! handler, as it does an order. So the message needs no room, a full mailbox does not delay it,
//! and a cancelled one does not come, even if it was due. Between two of them the actor handles one
//! message of the mailbox, if there is one. So timers that are always due leave half of the actor's
//! time to the mailbox.
//!
//! # Why nothing is lost
//! The bell gives its order under the lock of the mailbox, as a sender puts a message in: the actor
//! either sees the order before it parks, or is found parked. The order stands until the actor
//! finds nothing due. Then the actor sets the sleep to the earliest timer that is left, and polls
//! it: if the sleep is already over, the order stands again.
//!
//! # References
//! The bell has the actor's address and counts no reference. So the address is taken from it, under
//! the bell's lock, before the actor's future is gone. While a message of
//! [`send_after`](crate::Context::send_after) is to come, the box holds a reference to the actor:
//! the actor handles a promised message, even if no other reference is left. A period is no
//! promise: an actor that only waits for its ticks stops as it would without them.
//!
//! # Rejected
//! A task per timer: it costs an allocation of 300 bytes and a reference that keeps the actor, and
//! the message waits for room.
//!
//! The sleep with the actor's own waker: an actor that waits for messages is parked in its mailbox,
//! where wakers do not reach it.

#![allow(unsafe_code, reason = "the bell has the address of its actor, without a reference count")]

use crate::mailbox::{self, Mailbox};
use crate::trace::{Parcel, seal};
use evenkeel::internal::{Own, Public, contain};
use evenkeel::time::{Instant, Sleep, sleep, sleep_until};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

/// The name of an actor's timer, to [cancel](crate::Context::cancel) it. It is never equal to the
/// name of another timer, be it another actor's or one from before a restart.
///
/// # Examples
/// See [`Context::cancel`](crate::Context::cancel).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimerId {
    /// The actor, by the number of its task.
    pub(crate) actor: crate::ActorId,
    pub(crate) number: u64,
}

/// What a timer sends.
enum What<M> {
    Once(Parcel<M>),
    Every { period: Duration, make: Box<dyn FnMut() -> M + Send> },
}

/// The receive timeout: the time without messages after which the actor gets one.
struct Idle<M> {
    limit: Duration,
    make: Box<dyn FnMut() -> M + Send>,
    /// The time since which the actor has been idle, if it is known, and the number of messages
    /// that it had received by then.
    since: Option<(Instant, u32)>,
    /// Whether the actor has had the message of this idle time.
    told: bool,
}

/// The timers of an actor.
pub(crate) struct Timers<M: 'static> {
    /// By their deadlines. Timers with the same deadline are in the order in which they were set.
    due: BTreeMap<(Instant, u64), What<M>>,
    deadlines: BTreeMap<u64, Instant>,
    /// The number of the last timer.
    last: u64,
    idle: Option<Idle<M>>,
    sleep: Pin<Box<Sleep>>,
    bell: Arc<Bell<M>>,
    waker: Waker,
    /// Some while a message is promised.
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
        // The reference is dropped without the lock: it may be the last one, and then its drop
        // wakes the actor.
        let actor = own.as_ref().map(Own::public);
        drop(own);
        if let Some(actor) = actor {
            mailbox::look_at_timers(&actor);
        }
    }
}

impl<M: Send + 'static> Timers<M> {
    /// # Safety
    /// The timers are dropped before the address becomes invalid.
    pub(crate) unsafe fn new(own: &Own<Mailbox<M>>, last: u64) -> Box<Self> {
        // SAFETY: the drop of the timers takes the address out of the bell.
        let own = unsafe { own.again() };
        let bell = Arc::new(Bell(Mutex::new(Some(own))));
        Box::new(Self {
            due: BTreeMap::new(),
            deadlines: BTreeMap::new(),
            last,
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
        self.last += 1;
        self.last
    }

    /// Returns the number of the last timer.
    pub(crate) fn last_number(&self) -> u64 {
        self.last
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

    /// Ends a promise, which has been kept or taken back.
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

    /// Notes that the actor is idle, after `received` messages in its life, modulo 2^32.
    pub(crate) fn rests(&mut self, received: u32) {
        let Some(idle) = &mut self.idle else { return };
        if idle.since.is_none_or(|(_, before)| before != received) {
            let armed = idle.since.is_some() && !idle.told;
            idle.since = Some((Instant::now(), received));
            idle.told = false;
            // A sleep that ends too early is set again at that time, which costs less than setting
            // it here.
            if !armed {
                self.arm();
            }
        }
    }

    /// Returns the earliest time at which something is due.
    fn earliest(&self) -> Option<Instant> {
        let first = self.due.first_key_value().map(|((deadline, _), _)| *deadline);
        let idle = self.idle.as_ref().filter(|idle| !idle.told);
        let idle = idle.and_then(|idle| idle.since?.0.checked_add(idle.limit));
        [first, idle].into_iter().flatten().min()
    }

    /// Sets the sleep, so that the bell rings when something is due.
    fn arm(&mut self) {
        let deadline = self.earliest();
        // The drop of the old value disarms it: a reset would arm it for the bell.
        self.sleep.set(sleep_until(deadline.unwrap_or_else(Instant::now)));
        if deadline.is_none() {
            // A sleep that is not polled is in no wheel.
            return;
        }
        let over = self.sleep.as_mut().poll(&mut Context::from_waker(&self.waker)).is_ready();
        if over {
            self.waker.wake_by_ref();
        }
    }

    /// Takes a message that is due, unless a message of the mailbox comes first. `received` as in
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
                // The idle time starts anew when the actor has nothing more to do.
                idle.since = None;
            } else if now.saturating_duration_since(since) >= idle.limit {
                idle.told = true;
                // The timeout's own message counts as one: the actor is idle anew when it has
                // handled that.
                idle.since = None;
                return Taken::Message(seal((idle.make)()));
            }
        }
        Taken::Nothing
    }

    /// Sets the sleep when nothing is due, which ends the bell's order.
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

/// Returns the end of a wait of `duration`: later than every point in time if the clock cannot hold
/// it.
fn in_at_least(duration: Duration) -> Instant {
    sleep(duration).deadline()
}

/// Returns the time of the tick that follows the one of `due`, which was seen at `now`. Missed
/// ticks are left out.
fn next_tick(due: Instant, now: Instant, period: Duration) -> Instant {
    let late = now.saturating_duration_since(due).as_nanos();
    let into = u64::try_from(late % period.as_nanos().max(1)).unwrap_or(0);
    let next = now.checked_add(period.saturating_sub(Duration::from_nanos(into)));
    next.unwrap_or_else(|| in_at_least(period))
}

impl<M: 'static> Timers<M> {
    /// Drops each message separately: a panicking destructor does not prevent the drop of the
    /// others, nor abort the process in the unwinding of an earlier panic. `panicked` gets the
    /// payload of each panic.
    pub(crate) fn clear(&mut self, mut panicked: impl FnMut(Box<dyn Any + Send>)) {
        loop {
            let dropped = catch_unwind(AssertUnwindSafe(|| {
                self.due.pop_first().is_some() || self.idle.take().is_some()
            }));
            match dropped {
                Ok(true) => {}
                Ok(false) => return,
                Err(payload) => panicked(payload),
            }
        }
    }
}

impl<M: 'static> Drop for Timers<M> {
    fn drop(&mut self) {
        *self.bell.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.clear(|payload| {
            contain(|| drop(payload));
        });
    }
}

impl<M: 'static> fmt::Debug for Timers<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers").field("amount", &self.due.len()).finish_non_exhaustive()
    }
}
