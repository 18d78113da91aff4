//! The decisions of a supervisor: a state machine of plain values.
//!
//! Events go in, and [`Step`]s to carry out come out. Children are numbered in the order in which
//! they start. Each number is used once, and events of a child that is gone have no effect.
//!
//! # States of a child
//! *Waiting* to be started, or waiting for the end of a *back-off* before that; *starting*; *up*;
//! *ceasing*, which means that the child has been told to stop for a sibling or for the
//! supervisor's own end. A child that is *gone* has been removed.
//!
//! # Rules
//! Children that have to stop do so one at a time, the last first, and no child is started
//! meanwhile. Then the waiting children are started: one at a time and in order while the
//! supervisor boots or its strategy depends on order, else at once. An end that the supervisor has
//! not asked for is judged by the kind of the child and then by the intensity. An end that it has
//! asked for is not judged, even if it was a failure. So if several children fail at once under
//! one-for-all, one failure is counted.

use super::intensity::{Intensity, Limit};
pub(crate) use super::members::Terms;
use super::members::{Member, Members, State};
use super::restart::{Restart, Strategy};
use std::time::Duration;

/// A step for the supervisor to carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Start the child.
    Rise(usize),
    /// Tell the child to stop after its present message.
    Cease(usize),
    /// Kill the child.
    Raze(usize),
    /// Give the child up: it is not started again.
    Dismiss(usize),
    /// Call [`Tree::alarm`] for the child after that time.
    Alarm(usize, Duration),
    /// Cancel the child's alarm.
    Calm(usize),
}

/// The state of the supervisor itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its children start for the first time.
    Booting,
    Running,
    /// Its children stop; because of a child, if that child was restarted too often.
    Halting(Option<usize>),
    /// All its children have stopped.
    Halted(Option<usize>),
}

#[derive(Debug)]
pub(crate) struct Tree {
    strategy: Strategy,
    intensity: Intensity,
    members: Members,
    phase: Phase,
    steps: Vec<Step>,
}

impl Tree {
    pub(crate) fn new(strategy: Strategy, limit: Limit) -> Self {
        Self {
            strategy,
            intensity: Intensity::new(limit),
            members: Members::default(),
            phase: Phase::Booting,
            steps: Vec::new(),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    pub(crate) fn is_up(&self, index: usize) -> bool {
        self.members.get(index).is_some_and(|member| member.state() == State::Up)
    }

    /// Takes the steps that have become due since the last call, in the order to carry them out.
    pub(crate) fn take_steps(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.steps)
    }

    /// Adds a child, the last.
    pub(crate) fn add(&mut self, index: usize, terms: Terms) {
        self.members.add(index, terms);
    }

    /// Stops a child for good.
    pub(crate) fn remove(&mut self, index: usize) {
        let Some(member) = self.members.get_mut(index) else { return };
        member.terms.restart = Restart::Temporary;
        match member.state() {
            State::Waiting | State::BackOff => self.dismiss(index),
            State::Starting | State::Up => self.members.set_to_cease(index, true),
            State::Ceasing => {}
        }
        self.go_on();
    }

    /// Notes that a child has started.
    pub(crate) fn started(&mut self, index: usize, now: Duration) {
        let Some(member) = self.members.get_mut(index) else { return };
        if member.state() == State::Starting {
            member.up_since = now;
            self.members.set(index, State::Up);
        }
        self.go_on();
    }

    /// Notes that a child has ended and can be started again.
    pub(crate) fn fell(&mut self, index: usize, normal: bool, now: Duration) {
        let Some(member) = self.members.get(index) else { return };
        match member.state() {
            State::Ceasing => {
                self.steps.push(Step::Calm(index));
                self.settle(index);
            }
            State::Starting | State::Up if member.is_to_cease() => self.settle(index),
            State::Starting | State::Up => self.judge(index, normal, now),
            // It has ended before.
            State::Waiting | State::BackOff => {}
        }
        self.go_on();
    }

    /// Notes that a child has ended and cannot be started again.
    pub(crate) fn lost(&mut self, index: usize) {
        let Some(member) = self.members.remove(index) else { return };
        if matches!(member.state(), State::Ceasing | State::BackOff) {
            self.steps.push(Step::Calm(index));
        }
        self.go_on();
    }

    /// Handles the alarm of a child.
    pub(crate) fn alarm(&mut self, index: usize) {
        let Some(member) = self.members.get(index) else { return };
        match member.state() {
            State::BackOff => self.members.set(index, State::Waiting),
            State::Ceasing => self.steps.push(Step::Raze(index)),
            _ => return,
        }
        self.go_on();
    }

    /// Stops all children.
    pub(crate) fn halt(&mut self) {
        if matches!(self.phase, Phase::Booting | Phase::Running) {
            self.halt_for(None);
        }
        self.go_on();
    }

    fn halt_for(&mut self, culprit: Option<usize>) {
        self.phase = Phase::Halting(culprit);
        for index in self.members.within(0..self.members.end()) {
            match self.members.get(index).map(Member::state) {
                Some(State::Starting | State::Up) => self.members.set_to_cease(index, true),
                Some(State::BackOff) => {
                    self.steps.push(Step::Calm(index));
                    self.members.set(index, State::Waiting);
                }
                Some(State::Waiting | State::Ceasing) | None => {}
            }
        }
    }

    /// Handles an end that the supervisor has asked for.
    fn settle(&mut self, index: usize) {
        self.members.set_to_cease(index, false);
        self.members.set(index, State::Waiting);
        let Some(member) = self.members.get(index) else { return };
        let stays = matches!(self.phase, Phase::Halting(_));
        if !stays && !member.terms.restart.is_due_with_others() {
            self.dismiss(index);
        }
    }

    /// Handles an end that the supervisor has not asked for.
    fn judge(&mut self, index: usize, normal: bool, now: Duration) {
        let Some(member) = self.members.get_mut(index) else { return };
        if !member.terms.restart.is_due(normal) {
            self.dismiss(index);
            return;
        }
        if !self.intensity.admit(now) {
            self.members.set(index, State::Waiting);
            self.halt_for(Some(index));
            return;
        }
        let mut state = State::Waiting;
        if let Some(backoff) = member.terms.backoff {
            let (was_up, up) = (member.state() == State::Up, now.saturating_sub(member.up_since));
            let recovered = normal || (was_up && backoff.is_recovered(up));
            member.failures = if recovered { 1 } else { member.failures.saturating_add(1) };
            state = State::BackOff;
            self.steps.push(Step::Alarm(index, backoff.after(member.failures)));
        }
        self.members.set(index, state);
        let affected = self.strategy.affected(index, self.members.end());
        for index in self.members.within(affected) {
            if self.members.get(index).is_some_and(Member::is_live) {
                self.members.set_to_cease(index, true);
            }
        }
    }

    fn dismiss(&mut self, index: usize) {
        let Some(member) = self.members.remove(index) else { return };
        if member.state() == State::BackOff {
            self.steps.push(Step::Calm(index));
        }
        self.steps.push(Step::Dismiss(index));
    }

    /// Takes all steps that are possible.
    pub(crate) fn go_on(&mut self) {
        if self.members.has(State::Ceasing) {
            return;
        }
        if let Some(last) = self.members.last_to_cease() {
            self.members.set_to_cease(last, false);
            self.members.set(last, State::Ceasing);
            self.steps.push(Step::Cease(last));
            let shutdown = self.members.get(last).map(|member| member.terms.shutdown);
            self.steps.extend(shutdown.map(|shutdown| Step::Alarm(last, shutdown)));
            return;
        }
        if let Phase::Halting(culprit) = self.phase {
            self.phase = Phase::Halted(culprit);
        }
        if let Phase::Halted(_) = self.phase {
            return;
        }
        let ordered = self.phase == Phase::Booting || self.strategy.is_ordered();
        if ordered && (self.members.has(State::Starting) || self.members.has(State::BackOff)) {
            return;
        }
        while let Some(index) = self.members.first_waiting() {
            self.members.set(index, State::Starting);
            self.steps.push(Step::Rise(index));
            if ordered {
                return;
            }
        }
        if self.phase == Phase::Booting && !self.members.has(State::Starting) {
            self.phase = Phase::Running;
        }
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
