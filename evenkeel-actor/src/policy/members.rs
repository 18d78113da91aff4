//! The children of a supervisor, and those of them that it has to find, so that no event costs a
//! search through all.

use super::intensity::Backoff;
use super::restart::Restart;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The states of a child, which [`tree`](super::tree) explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting,
    BackOff,
    Starting,
    Up,
    Ceasing,
}

/// The number of states.
const STATES: usize = State::Ceasing as usize + 1;

/// The settings of a child.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) restart: Restart,
    /// How long the child may take to stop.
    pub(crate) shutdown: Duration,
    pub(crate) backoff: Option<Backoff>,
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) terms: Terms,
    state: State,
    /// Whether the child is to cease.
    cease: bool,
    /// Consecutive failures.
    pub(super) failures: u32,
    pub(super) up_since: Duration,
}

impl Member {
    pub(super) fn state(&self) -> State {
        self.state
    }

    pub(super) fn is_to_cease(&self) -> bool {
        self.cease
    }

    /// Whether the child has been started and not been told to stop.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.state, State::Starting | State::Up)
    }
}

/// The children by their numbers.
#[derive(Debug, Default)]
pub(super) struct Members {
    all: BTreeMap<usize, Member>,
    /// How many are in each state.
    amounts: [usize; STATES],
    waiting: BTreeSet<usize>,
    to_cease: BTreeSet<usize>,
}

impl Members {
    /// Adds a waiting child.
    pub(super) fn add(&mut self, index: usize, terms: Terms) {
        let (state, up_since) = (State::Waiting, Duration::ZERO);
        let _ = self.remove(index);
        self.all.insert(index, Member { terms, state, cease: false, failures: 0, up_since });
        self.enter(index, state);
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<Member> {
        let member = self.all.remove(&index)?;
        self.leave(index, member.state);
        self.to_cease.remove(&index);
        Some(member)
    }

    pub(super) fn get(&self, index: usize) -> Option<&Member> {
        self.all.get(&index)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Member> {
        self.all.get_mut(&index)
    }

    /// Changes the state of a child.
    pub(super) fn set(&mut self, index: usize, state: State) {
        let Some(member) = self.all.get_mut(&index) else { return };
        let before = std::mem::replace(&mut member.state, state);
        self.leave(index, before);
        self.enter(index, state);
    }

    /// Notes whether a child is to cease.
    pub(super) fn set_to_cease(&mut self, index: usize, cease: bool) {
        let Some(member) = self.all.get_mut(&index) else { return };
        member.cease = cease;
        if cease {
            self.to_cease.insert(index);
        } else {
            self.to_cease.remove(&index);
        }
    }

    fn enter(&mut self, index: usize, state: State) {
        self.amounts[state as usize] += 1;
        if state == State::Waiting {
            self.waiting.insert(index);
        }
    }

    fn leave(&mut self, index: usize, state: State) {
        self.amounts[state as usize] -= 1;
        if state == State::Waiting {
            self.waiting.remove(&index);
        }
    }

    /// Whether any child is in this state.
    pub(super) fn has(&self, state: State) -> bool {
        self.amounts[state as usize] > 0
    }

    /// The first waiting child.
    pub(super) fn first_waiting(&self) -> Option<usize> {
        self.waiting.first().copied()
    }

    /// The last child that is to cease.
    pub(super) fn last_to_cease(&self) -> Option<usize> {
        self.to_cease.last().copied()
    }

    /// The number after the last child's.
    pub(super) fn end(&self) -> usize {
        self.all.keys().next_back().map_or(0, |last| last + 1)
    }

    /// The numbers of the children in a range, for a loop that changes them.
    pub(super) fn within(&self, range: std::ops::Range<usize>) -> Vec<usize> {
        self.all.range(range).map(|(&index, _)| index).collect()
    }
}
