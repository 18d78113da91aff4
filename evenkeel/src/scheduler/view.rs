//! What a worker remembers of the other processors.

use crate::policy::{Look, stealing};
use crate::processor::shared::Shared;

/// One worker's memory.
#[derive(Debug)]
pub(super) struct View(Vec<Seen>);

/// What it remembers of one processor.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// The count of departures at the last look.
    departures: usize,
    /// When that was first seen, or when there was last nothing to leave.
    departed: u64,
    /// Attempts to take its work in vain since it last switched.
    failures: u32,
    /// It is left alone until then.
    until: u64,
    /// Trials in a row in which a steal from it has not paid.
    failed_trials: u32,
}

impl View {
    pub(super) fn new(processors: usize) -> Self {
        Self(vec![Seen::default(); processors])
    }

    /// Looks at a processor. None while it is to be left alone.
    pub(super) fn look(&mut self, shared: &Shared, other: usize, now: u64) -> Option<Look> {
        let seen = &mut self.0[other];
        let mut look = shared.processors[other].look(now, &mut seen.departures);
        if look.switched || (look.ready == 0 && look.visitors == 0) {
            seen.departed = now;
        }
        if look.switched {
            seen.failures = 0;
        } else if seen.failures > 0 && now < seen.until {
            return None;
        }
        look.stalled = now.saturating_sub(seen.departed);
        Some(look)
    }

    /// Trials in a row in which a steal from it has not paid.
    pub(super) fn failed_trials(&self, other: usize) -> u32 {
        self.0[other].failed_trials
    }

    /// Notes what came of a trial.
    pub(super) fn tried(&mut self, other: usize, pays: bool) {
        let seen = &mut self.0[other];
        seen.failed_trials = if pays { 0 } else { seen.failed_trials.saturating_add(1) };
    }

    /// Notes what came of an attempt to take its work.
    pub(super) fn attempted(&mut self, other: usize, now: u64, tasks: usize) {
        let seen = &mut self.0[other];
        seen.failures = if tasks == 0 { seen.failures.saturating_add(1) } else { 0 };
        seen.until = now.saturating_add(stealing::leave_alone(seen.failures));
    }
}
