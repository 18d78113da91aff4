//! What a mailbox counts of its actor.

use super::{APART, MEASURED, Mailbox};
use crate::system::counters::Count;
use crate::words::metrics::ActorMetrics;
use std::time::Duration;

/// Counts of what happens seldom.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// The most messages that have lain in the queue at once.
    pub(super) highest: u32,
    pub(super) restarts: u32,
    /// Messages that were there at the end.
    pub(super) left: u32,
    pub(super) busy: u64,
    /// Messages handled, as of some time ago, but fewer ago than 32 bits tell.
    pub(super) handled: u64,
    /// How many had been handled when the actor took out the queue, as far as 32 bits tell.
    pub(super) emptied: Option<u32>,
}

impl<M: Send + 'static> Mailbox<M> {
    /// How many messages have come in, of slots, queue and timers, as far as 32 bits tell.
    pub(crate) fn received(&self) -> u32 {
        let shared = self.shared.lock();
        let behind = shared.rest.as_ref().map_or(0, |rest| rest.received);
        self.slots.received().wrapping_add(behind)
    }

    /// Notes that the actor has been started again, and says how often it has.
    pub(crate) fn note_restart(&self) -> u32 {
        self.system.counters().add(Count::Restarted, 1);
        let mut shared = self.shared.lock();
        let counts = &mut shared.rest().counts;
        counts.restarts += 1;
        counts.restarts
    }

    /// Notes that the actor has handled `more` messages, and `since` of which the mailbox does not
    /// know.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_handled(&self, more: u16, since: &mut u16) {
        self.system.counters().add(Count::Messages, u64::from(more));
        let mut shared = self.shared.lock();
        // Most actors handle too few for a box of their own.
        if shared.rest.is_some() || *since >= u16::MAX / 2 {
            shared.rest().counts.handled += u64::from(*since & !63);
            *since %= 64;
        }
    }

    /// Whether the actor's polls are timed.
    #[inline(always)]
    pub(crate) fn is_measured(&self) -> bool {
        self.has(MEASURED)
    }

    /// Whether there is more to a poll of the actor than its body's.
    #[inline(always)]
    pub(crate) fn is_attended(&self) -> bool {
        self.has(APART | MEASURED)
    }

    /// Notes that a poll has taken so many nanoseconds.
    #[cold]
    pub(crate) fn note_busy(&self, nanos: u64) {
        self.shared.lock().rest().counts.busy += nanos;
    }

    /// What has been counted.
    pub(crate) fn metrics(&self) -> ActorMetrics {
        let shared = self.shared.lock();
        let in_slots = self.slots.len();
        let (behind, counts) = match &shared.rest {
            Some(rest) => (rest.received, rest.counts),
            None => (0, Counts::default()),
        };
        let depth = in_slots + shared.rest.as_ref().map_or(0, |rest| rest.queue.len() as u32);
        // What has come in since is less than 32 bits tell.
        let known = self.slots.received().wrapping_add(behind);
        let received = counts.handled + u64::from(known.wrapping_sub(counts.handled as u32));
        let taken = received - u64::from(depth);
        let handled = match counts.emptied {
            // It has nothing in hand.
            _ if shared.berth.is_taken() || shared.berth.is_closed() => {
                taken - u64::from(counts.left)
            }
            Some(emptied) => {
                let since = known.wrapping_sub(emptied);
                counts.handled.max(received.saturating_sub(u64::from(since)))
            }
            None => taken.saturating_sub(1),
        };
        ActorMetrics {
            received,
            handled,
            depth: depth as usize,
            highest_depth: counts.highest.max(depth).max(u32::from(received > 0)) as usize,
            waiting_senders: shared.rest.as_ref().map_or(0, |rest| rest.waiting.len()),
            busy: self.is_measured().then(|| Duration::from_nanos(counts.busy)),
            restarts: counts.restarts,
        }
    }
}
