//! The steps that follow the end of an actor.
//!
//! # In which order
//! The life counts the end, frees the actor's names, and drops what the actor has left. Then it
//! tells the [observer](crate::System::on_failure) of failures, the linked actors, the watching
//! actors and the parent. Three kinds of joiners come last: the supervisor, futures of
//! [`stopped`](crate::ActorRef::stopped), and witnesses that registered after the mailbox was
//! closed. So when a joiner is told, all other effects of the end have happened.
//!
//! # The end of a supervisor
//! A supervisor that ends also ends its wards, the actors that it supervises. Its own joiners are
//! told when the last ward has ended: its own supervisor, futures, and late witnesses. Each ward
//! has a *share* of that announcement, as a witness: from before the ward is told to end until it
//! has told its own joiners. So when the end of a supervisor is announced, no actor below it is
//! left, through any number of levels. A ward that does not come to an await delays the
//! announcement, as it does when its supervisor stops in order. Links, watching actors and the
//! parent react to the end, and are told without that wait. Children of other actors that fail or
//! are killed are not waited for: they may spawn children without end, each inside of the last.
//!
//! The released share may be the last one of the supervisor above, and so on up a chain of any
//! length. The first release announces all of these ends in a [loop](release), so no end stands on
//! the stack of another.

#![allow(unsafe_code, reason = "the mailbox is closed for the actor")]

use crate::kin::Kin;
use crate::kin::peer::Peer;
use crate::kin::witness::{Joiners, Keeper, Witness};
use crate::mailbox::{Left, Mailbox};
use crate::primitives::Mutex;
use crate::system::counters::Count;
use crate::system::dead_letters;
use crate::system::failures::{ActorFailure, ActorInfo};
use crate::trace::{self, Called};
use crate::words::dead_letter::DeadLetterKind;
use crate::words::event::{Event, Notice, NoticeKind};
use crate::words::exit::ExitReason;
use crate::words::id::{ActorId, HasId};
use evenkeel::internal::{Public, contain};
use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

/// Ends an actor of type `A`: closes its mailbox, drops the contents, and tells the actors, futures
/// and observers that the end concerns.
///
/// # Safety
/// The caller is the actor's life, and its body, with the receiver, is gone.
#[inline]
pub(crate) unsafe fn end<A, M: Send + 'static>(own: &Public<Mailbox<M>>, reason: ExitReason) {
    let called = Called::of(own);
    // SAFETY: the caller's promise.
    if let Some(joiners) = unsafe { own.close_quietly(&reason) } {
        trace::stopped::<A>(own, &called, &reason);
        joiners.tell(&reason);
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { end_with_words::<A, M>(own, reason, &called) }
}

/// Counts the end, after all other counts of the actor, and frees the actor's names. This comes
/// before others are told, as they may give the names to another actor.
fn settle<M: Send + 'static>(own: &Public<Mailbox<M>>) {
    let system = own.system();
    system.counters().add(Count::Ended, 1);
    if own.is_known() {
        system.forget(own.id());
    }
}

/// As [`end`], for an actor that leaves something behind, did not end in order, or has a name or
/// relations with other actors.
///
/// # Safety
/// As [`end`].
#[cold]
#[inline(never)]
unsafe fn end_with_words<A, M: Send + 'static>(
    own: &Public<Mailbox<M>>,
    reason: ExitReason,
    called: &Called,
) {
    // SAFETY: the caller's promise.
    let left = unsafe { own.close(reason) };
    let (id, system) = (own.id(), own.system());
    let reason = left.reason.clone();
    let last = Last { own: Some(own.clone()), reason, told: Mutex::default() };
    if !left.messages.is_empty() {
        let kind = DeadLetterKind::LeftBehind;
        dead_letters::note::<M>(system, Some(id), kind, left.messages.len() as u64);
    }
    if left.reason.is_failure() {
        system.counters().add(Count::Failed, 1);
    }
    settle(own);
    trace::stopped::<A>(own, called, &left.reason);
    if left.is_empty() && !left.reason.is_failure() {
        return;
    }
    tell::<A, M>(own, left, called, &Arc::new(last));
}

/// The joiners of an actor. The drop of this value tells them: after all others have been told, and
/// all wards have ended.
struct Last<M: Send + 'static> {
    /// None once the joiners have been told.
    own: Option<Public<Mailbox<M>>>,
    reason: ExitReason,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    /// The supervisor, and the index of its child.
    supervisor: Option<(Peer, usize)>,
    waiting: Vec<Witness>,
    joiners: Joiners,
}

impl<M: Send + 'static> Last<M> {
    /// Tells the joiners, once. Returns the shares that the actor had of the ends above it.
    fn say(&mut self) -> Vec<Arc<dyn Keeper>> {
        let Some(own) = self.own.take() else { return Vec::new() };
        let told = self.told.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Told { supervisor, mut waiting, joiners } = mem::take(told);
        if let Some((supervisor, index)) = supervisor {
            supervisor.event(Event::Notice(Notice { index, kind: NoticeKind::Gone }));
        }
        let (late, late_joiners) = own.has_told();
        waiting.extend(late);
        let mut above = Vec::new();
        for witness in waiting {
            match witness {
                Witness::Keeper(keeper) => above.push(keeper),
                witness => witness.tell(own.id(), &self.reason),
            }
        }
        joiners.tell(&self.reason);
        late_joiners.tell(&self.reason);
        above
    }
}

impl<M: Send + 'static> Keeper for Last<M> {
    fn release(self: Arc<Self>) -> Vec<Arc<dyn Keeper>> {
        Arc::into_inner(self).map_or_else(Vec::new, |mut last| last.say())
    }
}

impl<M: Send + 'static> Drop for Last<M> {
    fn drop(&mut self) {
        release(self.say());
    }
}

/// Releases shares. Where the last share of a supervisor goes, releases that supervisor's own
/// shares too.
fn release(mut shares: Vec<Arc<dyn Keeper>>) {
    while let Some(share) = shares.pop() {
        shares.extend(share.release());
    }
}

/// Tells everything that the end concerns, except for the supervisor and other joiners: these are
/// left to `last`.
fn tell<A, M: Send + 'static>(
    own: &Public<Mailbox<M>>,
    mut left: Left<M>,
    called: &Called,
    last: &Arc<Last<M>>,
) {
    let id = own.id();
    let reason = left.reason.clone();
    let mut kin = left.kin.take();
    if let Some(kin) = &mut kin {
        drop(kin.peer.take());
        for child in mem::take(&mut kin.children).into_values().rev() {
            child.control().orphan();
        }
        for ward in mem::take(&mut kin.wards).into_values().rev() {
            // A ward that has ended, with all below it, drops the share at once.
            drop(ward.control().watch(Witness::Keeper(last.clone())));
            ward.control().orphan();
        }
    }
    let messages = mem::take(&mut left.messages);
    let entered = own.system().enter();
    drop_each::<A, M>(own, messages, called);
    if let Some(mut timers) = left.timers.take() {
        timers.clear(|payload| report::<A, M>(own, None, called, panicked(payload)));
    }
    drop(entered);
    let name = kin.as_ref().and_then(|kin| kin.name.clone());
    // A supervised actor has reported its failures when it fell.
    if reason.is_failure() && kin.as_ref().is_none_or(|kin| kin.post.is_none()) {
        report::<A, M>(own, name, called, reason.clone());
    }
    let told = kin.map(|kin| tell_kin(id, *kin, &reason)).unwrap_or_default();
    let joiners = mem::take(&mut left.joiners);
    *last.told.lock().unwrap_or_else(PoisonError::into_inner) = Told { joiners, ..told };
    contain(|| drop(left));
}

/// Tells links, watching actors and the parent. Returns the supervisor and the shares of ends
/// above, which are told last.
fn tell_kin(id: ActorId, mut kin: Kin, reason: &ExitReason) -> Told {
    for (_, peer) in mem::take(&mut kin.links) {
        peer.exit(id, reason, None);
    }
    let (actors, waiting): (Vec<_>, Vec<_>) =
        kin.witnesses.take().into_iter().partition(Witness::is_actor);
    for witness in actors {
        witness.tell(id, reason);
    }
    if let Some((parent, number)) = kin.parent.take() {
        parent.child_ended(number, id, reason);
    }
    let supervisor = kin.post.take().and_then(|post| post.supervisor);
    Told { supervisor, waiting, joiners: Joiners::default() }
}

/// Drops each message separately: a panicking destructor does not prevent the drop of the others.
fn drop_each<A, M: Send + 'static>(own: &Public<Mailbox<M>>, messages: Vec<M>, called: &Called) {
    if !mem::needs_drop::<M>() {
        return;
    }
    for message in messages {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(message))) {
            report::<A, M>(own, None, called, panicked(payload));
        }
    }
}

/// Reports a failure to the observer of the system.
pub(crate) fn report<A, M: Send + 'static>(
    own: &Public<Mailbox<M>>,
    name: Option<std::sync::Arc<str>>,
    called: &Called,
    reason: ExitReason,
) {
    trace::failed::<A>(own, called, own.has_post(), &reason);
    let task = own.task();
    let actor = ActorInfo {
        id: own.id(),
        name: name.as_deref().map(str::to_owned),
        spawn_site: task.spawn_site(),
        type_name: std::any::type_name::<A>(),
    };
    let failure = ActorFailure { actor, reason, supervised: own.has_post() };
    own.system().failures().tell(&failure);
}

/// Returns the reason for a panic.
pub(crate) fn panicked(payload: Box<dyn Any + Send>) -> ExitReason {
    ExitReason::Panicked(words(payload).into())
}

/// Returns the message of a panic.
pub(crate) fn words(payload: Box<dyn Any + Send>) -> String {
    let words = payload.downcast_ref::<&str>().copied();
    let words = words.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let words = words.unwrap_or("something that is no text").to_owned();
    contain(|| drop(payload));
    words
}
