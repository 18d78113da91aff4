//! A worker's memory of the other processors.

use crate::policy::{Look, stealing};
use crate::processor::shared::Shared;

/// The memory of one worker.
#[derive(Debug)]
pub(super) struct View(Vec<Seen>);

/// The memory of one processor.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// The count of departures at the last look.
    departures: usize,
    /// When the worker first saw that count, or last saw no task there.
    departed: u64,
    /// Vain attempts to take its work since it last switched.
    failures: u32,
    /// Until when the worker leaves it alone.
    until: u64,
    /// The number of trials in a row in which a steal from it has not paid.
    failed_trials: u32,
}

impl View {
    pub(super) fn new(processors: usize) -> Self {
        Self(vec![Seen::default(); processors])
    }

    /// Looks at a processor. Returns `None` while the worker leaves it alone, and its tasks.
    pub(super) fn look(&mut self, shared: &Shared, other: usize, now: u64) -> Option<Look> {
        let seen = &mut self.0[other];
        let mut look = shared.processors[other].look(now, &mut seen.departures);
        let has_tasks = look.ready > 0 || look.visitors > 0 || look.inbox;
        if look.switched || !has_tasks {
            seen.departed = now;
        }
        if look.switched {
            seen.failures = 0;
        } else if has_tasks && seen.failures > 0 && now < seen.until {
            return None;
        }
        look.stalled = now.saturating_sub(seen.departed);
        Some(look)
    }

    /// The number of trials in a row in which a steal from it has not paid.
    pub(super) fn failed_trials(&self, other: usize) -> u32 {
        self.0[other].failed_trials
    }

    /// Notes the result of a trial.
    pub(super) fn tried(&mut self, other: usize, pays: bool) {
        let seen = &mut self.0[other];
        seen.failed_trials = if pays { 0 } else { seen.failed_trials.saturating_add(1) };
    }

    /// Notes the result of an attempt to take its work.
    pub(super) fn attempted(&mut self, other: usize, now: u64, tasks: usize) {
        let seen = &mut self.0[other];
        seen.failures = if tasks == 0 { seen.failures.saturating_add(1) } else { 0 };
        seen.until = now.saturating_add(stealing::leave_alone(seen.failures));
    }
}
