//! The costs of the actions that take time on a real machine, in nanoseconds.

/// What each action costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    /// A pop and the call of a poll.
    pub(crate) switch: u64,
    /// The end of a batch, without the work that it finds.
    pub(crate) end_batch: u64,
    /// A look at a processor behind the same last-level cache.
    pub(crate) look: u64,
    /// A look at another one.
    pub(crate) far_look: u64,
    /// The pauses between two rounds of a search.
    pub(crate) pauses: u64,
    /// A hand-over to a processor behind the same last-level cache, for either side.
    pub(crate) handover: u64,
    /// One to another processor.
    pub(crate) far_handover: u64,
    /// A heavy fence while the other processors run.
    pub(crate) heavy_fence: u64,
    /// The announcement of a sleep with its fence.
    pub(crate) announce: u64,
    /// The system call that wakes a sleeper, for the waker.
    pub(crate) wake: u64,
    /// From that call until the sleeper runs.
    pub(crate) wake_latency: u64,
    /// How long a poll takes beside another worker that is awake on the same core, in per cent of
    /// what it takes there alone.
    pub(crate) beside_sibling: u64,
}

impl Default for Costs {
    /// Measured on a virtual machine with two cores behind one cache. So `far_look` and
    /// `far_handover` are assumed: a look takes a line from another package and gives it back, at
    /// 100 ns each, and a hand-over takes 1 µs there, as for
    /// [`LONG_BACKLOG`](evenkeel_policy::stealing::LONG_BACKLOG).
    fn default() -> Self {
        Self {
            switch: 5,
            end_batch: 80,
            look: 10,
            far_look: 200,
            pauses: 300,
            handover: 300,
            far_handover: 1_000,
            heavy_fence: 9_500,
            announce: 300,
            wake: 9_000,
            wake_latency: 25_000,
            beside_sibling: 100,
        }
    }
}
