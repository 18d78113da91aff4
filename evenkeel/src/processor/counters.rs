//! The counters of a processor: its owner changes them by plain additions, and any thread may read
//! them.

use crate::primitives::counter::{ByDoubling, Counter};
use crate::topology::Distance;

impl Counters {
    /// Counts work taken from a processor at this distance.
    pub(crate) fn count_steal(&self, distance: Distance) {
        self.stolen_from[distance as usize].add(1);
    }

    /// Returns how often work has been taken from this distance.
    pub(crate) fn steals_from(&self, distance: Distance) -> u64 {
        self.stolen_from[distance as usize].get()
    }

    /// Returns the approximate number of tasks in the processor's registry.
    pub(crate) fn registered(&self) -> u64 {
        (self.spawned.get() + self.adopted.get()).saturating_sub(self.unregistered())
    }

    /// Returns the number of complete tasks that the registry had.
    pub(crate) fn unregistered(&self) -> u64 {
        self.completed.get() + self.taken_back.get()
    }
}

/// The counters of one processor. Only its owner changes them, except where a counter says
/// otherwise.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) polls: Counter,
    pub(crate) spawned: Counter,
    /// Tasks spawned outside for which it has become the home.
    pub(crate) adopted: Counter,
    /// Tasks of which it was the home, and the last to poll them.
    pub(crate) completed: Counter,
    pub(crate) wakes_local: Counter,
    /// Wakes that came through the inbox.
    pub(crate) wakes_outside: Counter,
    /// Requests of this processor to others.
    pub(crate) handovers_asked: Counter,
    /// Requests of other processors that this one has answered with at least one task.
    pub(crate) handovers_given: Counter,
    /// Heavy fences that this processor has paid for.
    pub(crate) heavy_fences: Counter,
    /// Times that it took older tasks from another while it had its own.
    pub(crate) helps: Counter,
    /// Times that it took tasks from another while it had none.
    pub(crate) steals: Counter,
    /// Fork-join jobs taken from others.
    pub(crate) jobs_stolen: Counter,
    /// Times that it took tasks or a job from another while it had none, by the distance of the
    /// other.
    stolen_from: [Counter; Distance::ALL.len()],
    /// Complete tasks that it has sent to their homes.
    pub(crate) returned: Counter,
    /// Complete tasks that others have sent to it, their home, and that it has taken back.
    pub(crate) taken_back: Counter,
    /// Tasks that came to it from other processors, by help or by theft.
    pub(crate) migrations: Counter,
    /// Tasks that have left it for the home of an object, or have left a home to go back.
    pub(crate) hops: Counter,
    /// Times that it gave its tasks to another processor, to leave them together there.
    pub(crate) splits_undone: Counter,
    pub(crate) searches: Counter,
    pub(crate) sleeps: Counter,
    /// Sleeps of the watch that ended without work.
    pub(crate) watches: Counter,
    /// Times that its thread woke from a sleep, for whatever reason.
    pub(crate) wake_ups: Counter,
    /// Timers of other processors that it fired.
    pub(crate) timers_fired_for_others: Counter,
    /// Times that it went to another hardware thread because another worker was on its own.
    pub(crate) moves: Counter,
    /// Long polls in which the lookout has found it. The lookout counts them.
    pub(crate) stalls: Counter,
    /// Scopes that have begun here, with whatever thread.
    pub(crate) scopes: Counter,
    /// The longest time from ready to polled, in nanoseconds, to within a batch.
    pub(crate) longest_wait: Counter,
    /// The longest batch, in nanoseconds.
    pub(crate) longest_batch: Counter,
    /// Connections that its tasks have accepted.
    pub(crate) accepted: Counter,
    /// The times from a look that found a socket ready to the poll of the operation that waited for
    /// it, in nanoseconds.
    pub(crate) socket_delays: ByDoubling,
}
