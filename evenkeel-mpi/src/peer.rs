//! The state that a rank keeps of another one.

use std::collections::VecDeque;

/// Another rank.
pub(crate) struct Peer {
    pub(crate) state: State,
    pub(crate) window: Window,
    pub(crate) incoming: Incoming,
    /// How many of this rank's messages to it MPI has not completed.
    pub(crate) sending: usize,
}

/// Whether a rank can be sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Up,
    /// It has announced that it leaves; it still takes frames, and drops them.
    Left,
    /// MPI has reported an error about it.
    Lost,
}

impl Peer {
    pub(crate) fn new(window: u32) -> Self {
        Self {
            state: State::Up,
            window: Window::new(window),
            incoming: Incoming::default(),
            sending: 0,
        }
    }
}

/// Bounds how far a sender is ahead of a receiver.
///
/// Of `window / 2` frames in succession the last is synchronous: MPI completes it when its receiver
/// has matched it, and by MPI's order the receiver has then matched all frames before it. No
/// synchronous frame is sent while one is pending. So the unmatched frames are the pending one,
/// fewer than half a window before it and fewer than half after it.
///
/// Rejected: own messages that acknowledge frames. They cost one more message per half window, from
/// a receiver that must then have room to send.
pub(crate) struct Window {
    half: u32,
    /// Frames since the last synchronous one.
    since: u32,
    pending: bool,
}

impl Window {
    fn new(window: u32) -> Self {
        Self { half: window / 2, since: 0, pending: false }
    }

    /// Returns whether the next frame is synchronous; `None` if there is no room for it.
    pub(crate) fn next(&self) -> Option<bool> {
        let synchronous = self.since + 1 >= self.half;
        (!synchronous || !self.pending).then_some(synchronous)
    }

    /// Notes that a frame is sent, as [`next`](Self::next) has said.
    pub(crate) fn goes(&mut self, synchronous: bool) {
        if synchronous {
            self.since = 0;
            self.pending = true;
        } else {
            self.since += 1;
        }
    }

    /// Notes that the synchronous frame is complete.
    pub(crate) fn matched(&mut self) {
        self.pending = false;
    }
}

/// The messages from a rank, in order: MPI matches in order, but a long message can be complete
/// after a short one that was matched later.
#[derive(Default)]
pub(crate) struct Incoming {
    waiting: VecDeque<Option<Message>>,
    /// The number of the first waiting message.
    first: u64,
}

/// A message that has been received.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Frame(Vec<u8>),
    Leave,
}

impl Incoming {
    /// Returns whether no message waits for an earlier one.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds a place for a matched message.
    pub(crate) fn matched(&mut self) -> u64 {
        self.waiting.push_back(None);
        self.first + self.waiting.len() as u64 - 1
    }

    /// Puts a complete message into its place.
    pub(crate) fn complete(&mut self, place: u64, message: Message) {
        // A missing place belonged to a rank that was lost in between.
        if let Some(at) = place.checked_sub(self.first)
            && let Some(waiting) = usize::try_from(at).ok().and_then(|at| self.waiting.get_mut(at))
        {
            *waiting = Some(message);
        }
    }

    /// Takes the next message, if it is complete.
    pub(crate) fn next(&mut self) -> Option<Message> {
        if self.waiting.front()?.is_none() {
            return None;
        }
        self.first += 1;
        self.waiting.pop_front().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the most sent and unmatched frames, if a receiver matches between sends when
    /// `matches` says so.
    fn furthest(window: u32, frames: usize, mut matches: impl FnMut(usize) -> bool) -> usize {
        let mut sender = Window::new(window);
        let mut unmatched: VecDeque<bool> = VecDeque::new();
        let (mut furthest, mut sent) = (0, 0);
        while sent < frames {
            let synchronous = sender.next();
            if let Some(synchronous) = synchronous {
                sender.goes(synchronous);
                unmatched.push_back(synchronous);
                sent += 1;
                furthest = furthest.max(unmatched.len());
            }
            while (synchronous.is_none() || matches(sent)) && !unmatched.is_empty() {
                if unmatched.pop_front() == Some(true) {
                    sender.matched();
                    break;
                }
            }
        }
        furthest
    }

    #[test]
    fn no_sender_is_further_ahead_than_the_window() {
        for window in [2, 3, 4, 7, 64, 128] {
            let lazy = furthest(window, 1_000, |_| false);
            assert!(lazy <= window as usize, "{lazy} of {window}");
            assert!(lazy + 1 >= (window / 2 * 2) as usize, "{lazy} of {window}: it is used");
            let eager = furthest(window, 1_000, |sent| sent % 3 == 0);
            assert!(eager <= window as usize, "{eager} of {window}");
        }
    }

    #[test]
    fn messages_come_out_in_the_order_in_which_they_were_matched() {
        let mut incoming = Incoming::default();
        let (long, short, leave) = (incoming.matched(), incoming.matched(), incoming.matched());
        incoming.complete(leave, Message::Leave);
        incoming.complete(short, Message::Frame(vec![2]));
        assert_eq!(incoming.next(), None, "the long one is not there yet");
        incoming.complete(long, Message::Frame(vec![1]));
        assert_eq!(incoming.next(), Some(Message::Frame(vec![1])));
        assert_eq!(incoming.next(), Some(Message::Frame(vec![2])));
        assert_eq!(incoming.next(), Some(Message::Leave));
        assert_eq!(incoming.next(), None);
        assert_eq!(incoming.matched(), 3);
    }
}
