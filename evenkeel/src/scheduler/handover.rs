//! Handover: tasks go from one processor to another, first on request, last by force.
//!
//! # Roles
//! The *owner* of a queue, and a *taker*, the worker of another processor. The taker steals (it has
//! no work) or helps (it has work, and the owner's is older).
//!
//! # Protocol
//! 1. The taker leaves its number in the owner's `claim` word ([`ask`]). It has at most one request
//!    out.
//! 2. The owner sees the word at its next push or pop and takes the request ([`answer`]). It moves
//!    the older half of the difference into the taker's [`Gift`](crate::queue::gift), and wakes the
//!    taker if it sleeps. Zero tasks are an answer too.
//! 3. A taker without an answer in time withdraws its request ([`give_up`]). If that succeeds, the
//!    owner is inside a long poll, and the taker uses the heavy fence ([`force`]). If it fails, the
//!    owner has taken the request and the answer is on its way.
//!
//! An owner that answers makes its own full fences for a while (see
//! [`biased`](crate::queue::biased)), and so does an owner that sees a searcher. From such an owner
//! a thief takes without asking ([`seize`]).
//!
//! # Why nothing is lost
//! The request leaves the word by one read-modify-write, the owner's or the taker's, so it is
//! answered or withdrawn, never both (model in [`biased`](crate::queue::biased)). Tasks move under
//! the owner's side of the lock or under a claim, into a buffer of the taker, and each is in one of
//! the two at any time. A taker that falls asleep looks at its gift after it has announced itself.
//! The owner looks whether the taker sleeps after it has given, with a fence on either side.

use crate::policy::{Look, stealing};
use crate::primitives::atomic::{Edge, Ordering};
use crate::primitives::{clock, fence, spin};
use crate::processor::Processor;
use crate::processor::context::Context;
use crate::queue::ring::Entry;
use std::ptr;

/// A pending request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) victim: usize,
    /// When the answer is overdue.
    pub(crate) until: u64,
    /// The victim's count of departures at the request.
    pub(crate) departures: usize,
}

/// Answers the request that a taker has left, if it is still there. `polling` says that the caller
/// is inside a poll.
#[cold]
pub(crate) fn answer(context: &Context, polling: bool) {
    let Some(taker) = context.seat.processor().local.take_request() else { return };
    let shared = context.shared();
    let now = clock::now();
    context.fence(now);
    let theirs = shared.processors[taker].published.ready.len();
    let own = context.seat.processor().look(now, &mut 0);
    let amount = stealing::give(own.ready, theirs, polling, stealing::is_worth_half(&own));
    if !polling {
        // The task that this thread has polled last may be among those that it gives away.
        context.seat.processor().published.polled.store(ptr::null_mut(), Ordering::Relaxed);
    }
    shared.processors[taker].gift.give(|entries| context.seat.split(amount, entries));
    if amount > 0 {
        context.counters().handovers_given.add(1);
    }
    fence::full(Edge::IdlePush);
    shared.idle.wake(taker);
}

/// Asks processor `victim`, which looked like `look`. Returns `None` if another taker has a request
/// or a claim there.
pub(crate) fn ask(context: &Context, victim: usize, look: &Look, now: u64) -> Option<Request> {
    let processor = &context.shared().processors[victim];
    let departures = processor.published.departures();
    if !processor.local.ask(context.seat.me()) {
        return None;
    }
    context.counters().handovers_asked.add(1);
    let until = now.saturating_add(stealing::answer_within(look));
    Some(Request { victim, until, departures })
}

/// Waits for the answer for as long as that is cheaper than the heavy fence. Returns whether it is
/// here.
pub(crate) fn await_answer(context: &Context, request: &Request) -> bool {
    let gift = &context.seat.processor().gift;
    loop {
        for _ in 0..16 {
            if gift.is_ready() {
                return true;
            }
            spin::pause();
        }
        if clock::now() >= request.until {
            return gift.is_ready();
        }
    }
}

/// Returns whether the victim has polled since it was asked.
pub(crate) fn has_switched(context: &Context, request: &Request) -> bool {
    let victim = &context.shared().processors[request.victim];
    victim.published.departures() != request.departures
}

/// Withdraws a request. Returns false if the victim has taken it, and answers.
pub(crate) fn give_up(context: &Context, request: &Request) -> bool {
    context.shared().processors[request.victim].local.withdraw(context.seat.me())
}

/// Takes in an answer, if one is here, and returns its number of tasks.
pub(crate) fn receive(context: &Context) -> Option<usize> {
    let gift = &context.seat.processor().gift;
    if !gift.is_ready() {
        return None;
    }
    let mut entries = context.moved.borrow_mut();
    gift.take(&mut entries);
    Some(take_in(context, &mut entries))
}

/// Takes tasks, without asking, from a victim that makes its own fences. Returns their number, or
/// `None` if the victim makes none, or if another thief has a claim.
#[cold]
pub(crate) fn seize(context: &Context, victim: usize, look: &Look) -> Option<usize> {
    let processor = &context.shared().processors[victim];
    let mut entries = context.moved.borrow_mut();
    {
        let ends = &processor.published.ready;
        // Allocates here, not under the claim, while the owner would wait.
        entries.reserve(ends.len().min(stealing::MOST));
        let mut local = processor.local.claim(false)?;
        let amount = stealing::seize(look, ends.len(), context.ready());
        local.ready.drain(ends, amount, &mut entries);
    }
    Some(take_in(context, &mut entries))
}

/// Takes tasks from a victim that does not answer: its inbox, and by the heavy fence part or all of
/// its queue. Returns their number.
#[cold]
pub(crate) fn force(context: &Context, victim: usize, switched: bool) -> usize {
    let processor = &context.shared().processors[victim];
    let mut entries = context.moved.borrow_mut();
    let now = clock::now();
    let travellers = !switched
        && (processor.published.visitors.len() > 0
            || processor.arrivals.has_rung()
            || processor.published.departing.load(Ordering::Relaxed));
    if processor.published.ready.len() > 0 || travellers || processor.bell.has_rung() {
        if !processor.local.is_fenced() {
            context.counters().heavy_fences.add(1);
        }
        entries.reserve(processor.published.ready.len().min(stealing::MOST));
        if let Some(mut local) = processor.local.claim(true) {
            processor.answer_bell(&mut local, now);
            let ends = &processor.published.ready;
            let amount = stealing::take(ends.len(), switched);
            local.ready.drain(ends, amount, &mut entries);
            if !switched {
                processor.drain_travellers(&mut local, now, &mut entries);
            }
        }
    }
    if !switched {
        empty_inbox(context, processor, &mut entries);
        processor.gift.rob(&mut entries);
        entries.sort_by_key(|entry| entry.since);
    }
    take_in(context, &mut entries)
}

/// Moves the tasks in the inbox of another processor to `entries`.
fn empty_inbox(context: &Context, processor: &Processor, entries: &mut Vec<Entry>) {
    let since = processor.inbox.since();
    let before = entries.len();
    for task in processor.inbox.take() {
        super::run::adopt(context, &task);
        entries.push(Entry { task, since });
    }
    context.counters().wakes_outside.add((entries.len() - before) as u64);
}

fn take_in(context: &Context, entries: &mut Vec<Entry>) -> usize {
    let count = entries.len();
    if count > 0 {
        context.counters().migrations.add(count as u64);
        context.seat.take_in(entries);
    }
    count
}
