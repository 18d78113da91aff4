//! Messages that no actor handles: their counts, and their subscribers.
//!
//! Dead letters are counted by kind, and each subscriber receives a record of each. A subscriber is
//! an actor. The thread that finds the dead letter sends the record, and never waits: if the
//! subscriber's mailbox is full, the record is counted as unrecorded and left out. A message that
//! an actor handles takes none of these steps.
//!
//! # Why no record goes round for ever
//! A record is a message, and may become a dead letter in its turn. On this node that happens while
//! its thread sends the record: such a dead letter is counted as unrecorded, and sent to no
//! subscriber. A record for a subscriber on another node *arrives* there: the thread that delivers
//! it may find the subscriber stopped or its mailbox full, and sees bytes that may be a record or
//! not. So a dead letter that arises as a message arrives goes to subscribers on this node alone:
//! for the others it is counted as unrecorded. Hence a record that does not get into a mailbox goes
//! no further. One that was in a mailbox is reported anew if the subscriber ends before it handles
//! it, or if a later message takes its place; each such step needs an end or a message of its own.
//!
//! # Rejected
//! To drop a subscriber on another node when this node hears of its end: full mailboxes of policies
//! that drop messages would still send records to and fro. A mark in each message that is a record:
//! a byte in all others.

use super::System;
use super::counters::Count;
use super::subscription::{Subscribed, Subscription, Told};
use crate::kin::control::AnyActor;
use crate::primitives::sweeper::Sweeper;
use crate::trace;
use crate::words::dead_letter::{DeadLetter, DeadLetterKind};
use crate::words::id::ActorId;
use evenkeel::internal::contain;
use std::any::type_name;
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Clone)]
struct Subscriber {
    number: u64,
    /// Whether it is on another node.
    is_away: bool,
    actor: AnyActor,
    tell: Arc<dyn Fn(&DeadLetter) -> Told + Send + Sync>,
}

/// Subscribers, in no order. Those that have stopped are left out at the next record or sweep.
struct List {
    all: Vec<Subscriber>,
    sweeper: Sweeper,
}

/// The subscribers of a system.
pub(crate) struct Subscribers {
    /// Whether there are any subscribers.
    any: AtomicBool,
    list: Mutex<List>,
    next: AtomicU64,
    /// Actors of [`System::on_dead_letter`]: those spawned, each counted after it is, and those
    /// ended, each counted before it has.
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Subscribers {
    pub(crate) const fn new() -> Self {
        Self {
            any: AtomicBool::new(false),
            list: Mutex::new(List { all: Vec::new(), sweeper: Sweeper::new() }),
            next: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        }
    }

    /// Adds an actor as a subscriber, which receives records through `tell`.
    pub(crate) fn add(
        &'static self,
        actor: AnyActor,
        is_away: bool,
        tell: impl Fn(&DeadLetter) -> Told + Send + Sync + 'static,
    ) -> Subscription {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut gone = Vec::new();
        let mut list = self.lock();
        let len = list.all.len();
        if list.sweeper.is_due(len, false, usize::MAX) {
            gone.extend(list.all.extract_if(.., |one| one.actor.is_stopped()));
            let left = list.all.len();
            list.sweeper.swept(left);
        }
        list.all.push(Subscriber { number, is_away, actor, tell: Arc::new(tell) });
        self.any.store(true, Ordering::Relaxed);
        drop(list);
        drop(gone);
        Subscription::new(self, number)
    }

    /// Counts an actor of [`System::on_dead_letter`] that has been spawned.
    pub(crate) fn has_begun(&self) {
        self.begun.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts such an actor when it ends.
    pub(crate) fn ends(&self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the subscribers of these numbers, in one pass.
    fn remove(&self, numbers: &mut [u64]) {
        numbers.sort_unstable();
        let is_gone = |one: &mut Subscriber| numbers.binary_search(&one.number).is_ok();
        let mut list = self.lock();
        let gone: Vec<_> = list.all.extract_if(.., is_gone).collect();
        self.any.store(!list.all.is_empty(), Ordering::Relaxed);
        drop(list);
        drop(gone);
    }
}

impl Subscribed for Subscribers {
    fn unsubscribe(&self, number: u64) {
        self.remove(&mut [number]);
    }
}

impl fmt::Debug for Subscribers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribers").field("amount", &self.lock().all.len()).finish()
    }
}

thread_local! {
    /// Whether this thread is sending records.
    static TELLS: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread is delivering a message from another node.
    static ARRIVES: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f`, which delivers a message from another node, or reports that it cannot be delivered.
#[inline]
pub(crate) fn arriving<R>(f: impl FnOnce() -> R) -> R {
    /// Restores the mark, also during a panic.
    struct Back(bool);
    impl Drop for Back {
        fn drop(&mut self) {
            ARRIVES.set(self.0);
        }
    }
    let _back = Back(ARRIVES.replace(true));
    f()
}

/// Returns the counter of a kind.
fn count_of(kind: DeadLetterKind) -> Count {
    match kind {
        DeadLetterKind::DroppedNewest => Count::DroppedNewest,
        DeadLetterKind::DroppedOldest => Count::DroppedOldest,
        DeadLetterKind::LeftBehind => Count::LeftBehind,
        DeadLetterKind::LateReply => Count::LateReply,
        DeadLetterKind::Undelivered => Count::Undelivered,
    }
}

/// Counts messages of type `M` that no actor handles, and sends records to the subscribers.
#[cold]
pub(crate) fn note<M>(system: System, to: Option<ActorId>, kind: DeadLetterKind, count: u64) {
    if count == 0 {
        return;
    }
    system.counters().add(count_of(kind), count);
    trace::dead_letter::<M>(system.node(), to, kind, count);
    let subscribers = system.subscribers();
    if !subscribers.any.load(Ordering::Relaxed) {
        return;
    }
    if TELLS.replace(true) {
        return system.counters().add(Count::Unrecorded, count);
    }
    let letter = DeadLetter { to, message: type_name::<M>(), kind, count };
    let list = subscribers.lock().all.clone();
    let mut gone = Vec::new();
    for Subscriber { number, is_away, tell, .. } in list {
        if is_away && ARRIVES.get() {
            system.counters().add(Count::Unrecorded, count);
            continue;
        }
        // If the conversion panics, the record is left out.
        match contain(|| tell(&letter)).unwrap_or(Told::Full) {
            Told::Taken => {}
            Told::Full => system.counters().add(Count::Unrecorded, count),
            Told::Gone => gone.push(number),
        }
    }
    if !gone.is_empty() {
        subscribers.remove(&mut gone);
    }
    TELLS.set(false);
}

/// Counts of dead letters.
impl System {
    /// Returns the number of live actors without those of [`on_dead_letter`](Self::on_dead_letter),
    /// which begin nothing by themselves. It is never below the true number at some moment of the
    /// call: counts that it subtracts are read first, and counts that it adds last.
    pub(crate) fn working(self) -> u64 {
        let begun = self.subscribers().begun.load(Ordering::SeqCst);
        let all = self.metrics();
        let ended = self.subscribers().ended.load(Ordering::SeqCst);
        (all.spawned + ended).saturating_sub(all.ended + begun)
    }

    /// Returns the number of messages that no actor has handled. Messages dropped with an actor's
    /// [stash](crate::Stash) or its timers do not count: they were handled once, or never sent.
    #[must_use]
    pub fn dead_letters(self) -> u64 {
        DeadLetterKind::ALL.iter().map(|kind| self.dead_letters_of(*kind)).sum()
    }

    /// Returns the number of dead letters of this kind.
    #[must_use]
    pub fn dead_letters_of(self, kind: DeadLetterKind) -> u64 {
        self.counters().sum(count_of(kind))
    }

    /// Returns how many dead letters were not sent to a subscriber, as its mailbox was full, the
    /// thread was sending another record, or subscriber and message were of other nodes.
    #[must_use]
    pub fn unrecorded_dead_letters(self) -> u64 {
        self.counters().sum(Count::Unrecorded)
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::note;
    use crate::words::dead_letter::{DeadLetter, DeadLetterKind};
    use crate::{Actor, Context, Handled, System, kit, spawn};

    /// Takes all records.
    struct Sink;

    impl Actor for Sink {
        type Message = DeadLetter;

        async fn handle(&mut self, _: DeadLetter, _context: &mut Context<Self>) -> Handled {
            Ok(())
        }
    }

    #[test]
    fn kept_subscriptions_of_actors_that_end_between_two_records_leave_nothing() {
        kit::run(1, |_| async {
            let system = System::current();
            let left = || system.subscribers().lock().all.len();
            let kept = spawn(Sink);
            system.send_dead_letters_to(&kept).keep();
            for _ in 0..1_000 {
                let actor = spawn(Sink);
                system.send_dead_letters_to(&actor).keep();
                actor.stop();
                actor.stopped().await;
            }
            assert!(left() < 200, "{} subscribers are left of 1,000 that have ended", left());
            note::<u32>(system, None, DeadLetterKind::LateReply, 1);
            assert_eq!(left(), 1, "a record removes all that have ended");
        });
    }
}
