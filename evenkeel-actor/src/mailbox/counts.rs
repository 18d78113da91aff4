//! The counts of an actor, kept in its mailbox.

use super::{APART, MEASURED, Mailbox};
use crate::system::counters::Count;
use crate::words::metrics::ActorMetrics;
use std::time::Duration;

/// Counts of rare occurrences.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// The most messages that have lain in the queue at once.
    pub(super) highest: u32,
    pub(super) restarts: u32,
    /// Messages that were left at the end.
    pub(super) left: u32,
    pub(super) busy: u64,
    /// Messages handled, as of an earlier time. Fewer have been handled since than 32 bits hold.
    pub(super) handled: u64,
    /// Messages that were handled when the actor last took the queue, modulo 2^32.
    pub(super) emptied: Option<u32>,
}

impl<M: Send + 'static> Mailbox<M> {
    /// Returns the number of messages that have come in, through slots, queue and timers, modulo
    /// 2^32.
    pub(crate) fn received(&self) -> u32 {
        let shared = self.shared.lock();
        let behind = shared.rest.as_ref().map_or(0, |rest| rest.received);
        self.slots.received().wrapping_add(behind)
    }

    /// Counts a restart of the actor, and returns the number of its restarts.
    pub(crate) fn note_restart(&self) -> u32 {
        self.system.counters().add(Count::Restarted, 1);
        let mut shared = self.shared.lock();
        let counts = &mut shared.rest().counts;
        counts.restarts += 1;
        counts.restarts
    }

    /// Counts `more` handled messages. The mailbox has not yet been told of `since` of the actor's.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_handled(&self, more: u16, since: &mut u16) {
        self.system.counters().add(Count::Messages, u64::from(more));
        let mut shared = self.shared.lock();
        // Most actors handle too few messages to need a box of their own.
        if shared.rest.is_some() || *since >= u16::MAX / 2 {
            shared.rest().counts.handled += u64::from(*since & !63);
            *since %= 64;
        }
    }

    /// Returns whether the actor's polls are timed.
    #[inline(always)]
    pub(crate) fn is_measured(&self) -> bool {
        self.has(MEASURED)
    }

    /// Returns whether a poll of the actor does more than poll its body.
    #[inline(always)]
    pub(crate) fn is_attended(&self) -> bool {
        self.has(APART | MEASURED)
    }

    /// Counts a poll that has taken `nanos` nanoseconds.
    #[cold]
    pub(crate) fn note_busy(&self, nanos: u64) {
        self.shared.lock().rest().counts.busy += nanos;
    }

    /// Returns the counts.
    pub(crate) fn metrics(&self) -> ActorMetrics {
        let shared = self.shared.lock();
        let in_slots = self.slots.len();
        let (behind, counts) = match &shared.rest {
            Some(rest) => (rest.received, rest.counts),
            None => (0, Counts::default()),
        };
        let depth = in_slots + shared.rest.as_ref().map_or(0, |rest| rest.queue.len() as u32);
        // Fewer messages have come in since than 32 bits hold.
        let known = self.slots.received().wrapping_add(behind);
        let received = counts.handled + u64::from(known.wrapping_sub(counts.handled as u32));
        let taken = received - u64::from(depth);
        let handled = match counts.emptied {
            // The actor has no message in hand.
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
