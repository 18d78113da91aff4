//! The state of this node in collective operations. [`collective`](super::collective) has the
//! steps.

use super::error::NodeLost;
use super::waiters::Waiters;
use crate::node::NodeId;
use crate::node::barrier::Barrier;
use crate::node::termination::Detector;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The two barriers, and the search for the end of all work.
pub(crate) struct Collective {
    state: Mutex<State>,
    /// The tasks that wait for a change of the state.
    pub(super) waiters: Waiters,
}

/// The barrier of [`pass`](super::node::Node::barrier), and that of the end of all work, as frames
/// name them.
pub(super) const PASS: usize = 0;
pub(super) const END: usize = 1;

pub(super) struct State {
    pub(super) barriers: [Barrier; 2],
    pub(super) detector: Detector,
    /// What the detector has been told.
    pub(super) sent: u64,
    pub(super) received: u64,
    /// Whether a probe has come since the last evaluation.
    pub(super) is_probed: bool,
    pub(super) outcome: Option<Result<(), NodeLost>>,
    pub(super) lost: Option<NodeId>,
    /// Whether this node has left, or its host has ended.
    pub(super) has_left: bool,
}

impl Collective {
    pub(crate) fn new(local: NodeId, nodes: u32) -> Self {
        let state = State {
            barriers: [PASS, END].map(|_| Barrier::new(local, nodes)),
            detector: Detector::new(local, nodes),
            sent: 0,
            received: 0,
            is_probed: false,
            outcome: None,
            lost: None,
            has_left: false,
        };
        Self { state: Mutex::new(state), waiters: Waiters::default() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
