//! Messages that nobody handles.
//!
//! They are counted by kind, and whoever wants to see them subscribes. A subscriber is an actor: it
//! is sent a record by the thread that finds the dead letter, which never waits: where the
//! subscriber's mailbox is full, the record is left out and counted as such. So is what comes up
//! while a record is being sent, as a subscriber's own dead letters would go round for ever.
//!
//! Nothing of this is on the way of a message that is handled.

use crate::actor::{Actor, Handled};
use crate::actor_ref::ActorRef;
use crate::builder::Builder;
use crate::context::Context;
use crate::counters::Count;
use crate::error::SendError;
use crate::mailbox::overflow::{Fail, Overflow};
use crate::subscription::{Subscribed, Subscription, Told};
use crate::system::System;
use crate::trace;
use crate::words::id::ActorId;
use evenkeel::internal::contain;
use std::any::type_name;
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why nobody has handled a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeadLetterKind {
    /// It found its mailbox full, whose policy is [`DropNewest`](crate::DropNewest).
    DroppedNewest,
    /// Another one took its place, as the mailbox was full and its policy is
    /// [`DropOldest`](crate::DropOldest).
    DroppedOldest,
    /// It was in the mailbox of an actor when that ended.
    LeftBehind,
    /// It is a reply to somebody who had given up.
    LateReply,
    /// It found its actor stopped or its mailbox full, and there was no sender to give it back to:
    /// it was published to a group, or converted.
    Undelivered,
}

impl DeadLetterKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::DroppedNewest,
        Self::DroppedOldest,
        Self::LeftBehind,
        Self::LateReply,
        Self::Undelivered,
    ];

    fn count(self) -> Count {
        match self {
            Self::DroppedNewest => Count::DroppedNewest,
            Self::DroppedOldest => Count::DroppedOldest,
            Self::LeftBehind => Count::LeftBehind,
            Self::LateReply => Count::LateReply,
            Self::Undelivered => Count::Undelivered,
        }
    }
}

impl fmt::Display for DeadLetterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DroppedNewest => "dropped, as the mailbox was full",
            Self::DroppedOldest => "dropped for a newer one, as the mailbox was full",
            Self::LeftBehind => "left in the mailbox when the actor ended",
            Self::LateReply => "a reply that nobody waited for any more",
            Self::Undelivered => "not delivered, and nobody to give it back to",
        })
    }
}

/// The record of a message that nobody has handled, or of several of one kind at once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// Whom it was for: none of a reply.
    pub to: Option<ActorId>,
    /// The type of the message, as [`type_name`] has it.
    pub message: &'static str,
    /// Why nobody has handled it.
    pub kind: DeadLetterKind,
    /// How many messages this is about.
    pub count: u64,
}

impl fmt::Display for DeadLetter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count != 1 {
            write!(f, "{} times ", self.count)?;
        }
        f.write_str(self.message)?;
        if let Some(to) = self.to {
            write!(f, " for actor {to}")?;
        }
        write!(f, ": {}", self.kind)
    }
}

#[derive(Clone)]
struct Subscriber {
    number: u64,
    tell: Arc<dyn Fn(&DeadLetter) -> Told + Send + Sync>,
}

/// The subscribers of a system.
pub(crate) struct Subscribers {
    /// Whether there are any.
    any: AtomicBool,
    list: Mutex<Vec<Subscriber>>,
    next: AtomicU64,
    /// Actors of [`System::on_dead_letter`]: those that have been spawned, each counted once it is,
    /// and those that have ended, each before it has.
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Subscribers {
    pub(crate) const fn new() -> Self {
        Self {
            any: AtomicBool::new(false),
            list: Mutex::new(Vec::new()),
            next: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Subscriber>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscribed for Subscribers {
    fn unsubscribe(&self, number: u64) {
        let mut list = self.lock();
        let place = list.iter().position(|subscriber| subscriber.number == number);
        let gone = place.map(|place| list.swap_remove(place));
        self.any.store(!list.is_empty(), Ordering::Relaxed);
        drop(list);
        drop(gone);
    }
}

impl fmt::Debug for Subscribers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribers").field("amount", &self.lock().len()).finish()
    }
}

thread_local! {
    /// Whether this thread is sending records.
    static TELLS: Cell<bool> = const { Cell::new(false) };
}

/// Notes messages of type `M` that nobody handles.
#[cold]
pub(crate) fn note<M>(system: System, to: Option<ActorId>, kind: DeadLetterKind, count: u64) {
    if count == 0 {
        return;
    }
    system.counters().add(kind.count(), count);
    trace::dead_letter::<M>(system.node(), to, kind, count);
    let subscribers = system.subscribers();
    if !subscribers.any.load(Ordering::Relaxed) {
        return;
    }
    if TELLS.replace(true) {
        return system.counters().add(Count::Unrecorded, count);
    }
    let letter = DeadLetter { to, message: type_name::<M>(), kind, count };
    let list = subscribers.lock().clone();
    for Subscriber { number, tell } in list {
        // A conversion that panics is a record that is left out.
        match contain(|| tell(&letter)).unwrap_or(Told::Full) {
            Told::Taken => {}
            Told::Full => system.counters().add(Count::Unrecorded, count),
            Told::Gone => subscribers.unsubscribe(number),
        }
    }
    TELLS.set(false);
}

/// Records that wait for a closure. An estimate: a burst's worth in some 40 kilobytes; no benchmark
/// sets it.
const RECORDS: usize = 1_024;

/// The actor of [`System::on_dead_letter`].
struct Watch<F> {
    tell: F,
    system: System,
}

impl<F> Drop for Watch<F> {
    fn drop(&mut self) {
        self.system.subscribers().ended.fetch_add(1, Ordering::SeqCst);
    }
}

impl<F: FnMut(DeadLetter) + Send + 'static> Actor for Watch<F> {
    type Message = DeadLetter;

    async fn handle(&mut self, letter: DeadLetter, _context: &mut Context<Self>) -> Handled {
        (self.tell)(letter);
        Ok(())
    }
}

/// Dead letters.
impl System {
    /// How many actors are alive, but those of [`on_dead_letter`](Self::on_dead_letter), which
    /// begin nothing by themselves. Never fewer than there were at some moment of the call: what is
    /// subtracted is read first, and what is added last.
    pub(crate) fn working(self) -> u64 {
        let begun = self.subscribers().begun.load(Ordering::SeqCst);
        let all = self.metrics();
        let ended = self.subscribers().ended.load(Ordering::SeqCst);
        (all.spawned + ended).saturating_sub(all.ended + begun)
    }

    /// How many messages nobody has handled. What is dropped with an actor's [stash](crate::Stash)
    /// or its timers is none of them: it had been handled once, or was never sent.
    #[must_use]
    pub fn dead_letters(self) -> u64 {
        DeadLetterKind::ALL.iter().map(|kind| self.dead_letters_of(*kind)).sum()
    }

    /// How many messages nobody has handled for this reason.
    #[must_use]
    pub fn dead_letters_of(self, kind: DeadLetterKind) -> u64 {
        self.counters().sum(kind.count())
    }

    /// How many dead letters subscribers were not told of, as their mailboxes were full or the
    /// letter came up while another was told.
    #[must_use]
    pub fn unrecorded_dead_letters(self) -> u64 {
        self.counters().sum(Count::Unrecorded)
    }

    /// Has an actor be sent a record of each dead letter from now on, until the subscription is
    /// dropped or the actor has stopped.
    ///
    /// Nobody waits for the actor: a record that finds its mailbox full is
    /// [counted](Self::unrecorded_dead_letters) and left out, whatever the policy `P` is when
    /// others wait. The subscription counts as a reference to the actor.
    pub fn send_dead_letters_to<M, P>(self, actor: &ActorRef<M, P>) -> Subscription
    where
        M: From<DeadLetter> + Send + 'static,
        P: Overflow,
    {
        let actor = actor.clone();
        let tell = move |letter: &DeadLetter| match actor.try_send(M::from(letter.clone())) {
            Ok(()) => Told::Taken,
            Err(SendError::Full(_)) => Told::Full,
            Err(SendError::Unwritable(_) | SendError::TooManyCalls(_)) => Told::Full,
            Err(SendError::Stopped(_) | SendError::NodeDown(_)) => Told::Gone,
        };
        let subscribers = self.subscribers();
        let number = subscribers.next.fetch_add(1, Ordering::Relaxed);
        let mut list = subscribers.lock();
        list.push(Subscriber { number, tell: Arc::new(tell) });
        subscribers.any.store(true, Ordering::Relaxed);
        Subscription::new(subscribers, number)
    }

    /// Has `f` called with a record of each dead letter from now on, until the subscription is
    /// dropped: by an actor of its own, one record after the other. Records that come faster than
    /// it handles them wait, 1,024 at most.
    ///
    /// # Panics
    /// If the caller belongs to no runtime.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Builder, Context, DeadLetterKind, Handled, System};
    ///
    /// struct Deaf;
    ///
    /// impl Actor for Deaf {
    ///     type Message = u32;
    ///
    ///     async fn handle(&mut self, _message: u32, context: &mut Context<Self>) -> Handled {
    ///         context.me().try_send(2).unwrap();
    ///         context.stop();
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let letter = runtime.block_on(async {
    ///     let system = System::new();
    ///     let _subscription = system.on_dead_letter(move |letter| sender.send(letter).unwrap());
    ///     let deaf = Builder::new().system(system).spawn(Deaf).unwrap();
    ///     deaf.try_send(1).unwrap();
    ///     loop {
    ///         match receiver.try_recv() {
    ///             Ok(letter) => break letter,
    ///             Err(_) => evenkeel::yield_now().await,
    ///         }
    ///     }
    /// });
    /// assert_eq!(letter.kind, DeadLetterKind::LeftBehind);
    /// assert_eq!((letter.message, letter.count), ("u32", 1));
    /// ```
    #[track_caller]
    pub fn on_dead_letter(self, f: impl FnMut(DeadLetter) + Send + 'static) -> Subscription {
        let builder = Builder::new().capacity(RECORDS).overflow::<Fail>().system(self);
        let watch = Watch { tell: f, system: self };
        let watch = builder.spawn(watch).expect("the capacity is one that there can be");
        self.subscribers().begun.fetch_add(1, Ordering::SeqCst);
        self.send_dead_letters_to(&watch)
    }
}
