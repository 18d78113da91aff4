//! The senders that wait for room: plain data under the mailbox's lock.
//!
//! A sender that finds the mailbox full takes a *ticket*. The actor or another sender calls tickets
//! in the order in which they were taken. A called ticket has a place *promised*, which no other
//! sender may use. Its sender puts its message there, or gives the place back by leaving.

use std::collections::VecDeque;
use std::task::Waker;

/// A place in the line. Later tickets are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

#[derive(Debug, Default)]
pub(crate) struct Waiting {
    line: VecDeque<(Ticket, Waker)>,
    next: u64,
    promised: u32,
    /// Tickets before this one are void: the mailbox was shut while they waited.
    valid: u64,
}

impl Waiting {
    /// Returns the number of waiting senders.
    pub(crate) fn len(&self) -> usize {
        self.line.len()
    }

    /// Returns the number of places that are promised and not used yet.
    pub(crate) fn promised(&self) -> u32 {
        self.promised
    }

    /// Returns whether no sender waits and no place is promised.
    pub(crate) fn is_over(&self) -> bool {
        self.line.is_empty() && self.promised == 0
    }

    pub(crate) fn join(&mut self, waker: Waker) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.line.push_back((ticket, waker));
        ticket
    }

    /// Returns whether the mailbox was shut since the ticket was taken.
    pub(crate) fn is_void(&self, ticket: Ticket) -> bool {
        ticket.0 < self.valid
    }

    /// Makes all tickets void, and returns the wakers of the waiting senders.
    pub(crate) fn annul(&mut self) -> Vec<Waker> {
        self.valid = self.next;
        self.promised = 0;
        self.line.drain(..).map(|(_, waker)| waker).collect()
    }

    /// Returns the waker of a ticket, if the ticket has not been called.
    pub(crate) fn waker(&mut self, ticket: Ticket) -> Option<&mut Waker> {
        let index = self.index(ticket)?;
        self.line.get_mut(index).map(|(_, waker)| waker)
    }

    fn index(&self, ticket: Ticket) -> Option<usize> {
        self.line.binary_search_by_key(&ticket, |&(ticket, _)| ticket).ok()
    }

    /// Calls the first `amount` tickets.
    pub(crate) fn call(&mut self, amount: usize, called: &mut Vec<Waker>) {
        for (_, waker) in self.line.drain(..amount) {
            self.promised += 1;
            called.push(waker);
        }
    }

    /// Ends the promise of a called ticket, which has used its place or gives it back.
    pub(crate) fn settle(&mut self) {
        self.promised -= 1;
    }

    /// Takes a ticket out of the line, and returns its waker. None if it has been called.
    pub(crate) fn leave(&mut self, ticket: Ticket) -> Option<Waker> {
        let index = self.index(ticket)?;
        self.line.remove(index).map(|(_, waker)| waker)
    }

    /// Returns the wakers of all waiting senders, at the end of the mailbox.
    pub(crate) fn dissolve(self) -> Vec<Waker> {
        self.line.into_iter().map(|(_, waker)| waker).collect()
    }
}
