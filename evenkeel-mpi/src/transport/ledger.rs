//! The states of the other ranks, and the events for the host: plain bookkeeping, without MPI.

use crate::peer::{Message, Peer, State};
use crate::raw::{Finished, Short};
use evenkeel_node::{DownReason, Event, NodeId};
use std::collections::VecDeque;
use std::mem;

/// The tag of a short message that is a whole frame.
pub(super) const FRAME: i32 = 1;
/// The tag of a long frame, and of the short message that announces its length.
pub(super) const LONG: i32 = 2;
/// The tag of the last message of a rank.
pub(super) const LEAVE: i32 = 3;

/// The other ranks, and the events for the host.
pub(super) struct Ledger {
    pub(super) own: u32,
    pub(super) peers: Vec<Peer>,
    pub(super) events: VecDeque<Event>,
    /// Incomplete messages to ranks that are not lost.
    pub(super) sending: usize,
    /// The first error that MPI has reported.
    pub(super) lost: Option<String>,
    longest_frame: usize,
}

/// The note of a send.
pub(super) struct Sending {
    pub(super) to: u32,
    pub(super) kind: Sent,
}

#[derive(Clone, Copy)]
pub(super) enum Sent {
    Frame { synchronous: bool },
    Announcement,
    Leave,
}

/// The kinds of short messages that have come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// A frame that waits for no earlier message: the next event.
    Frame(Event),
    /// The announcement of a long frame, which the transport receives next.
    Long(Receiving),
    /// A message without an event, or with queued events only.
    Noted,
}

/// The place of a long frame that is being received.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Receiving {
    pub(super) from: u32,
    place: u64,
    pub(super) length: usize,
}

impl Ledger {
    pub(super) fn new(own: u32, ranks: u32, window: u32, longest_frame: usize) -> Self {
        let mut ledger = Self {
            own,
            peers: (0..ranks).map(|_| Peer::new(window)).collect(),
            events: VecDeque::new(),
            sending: 0,
            lost: None,
            longest_frame,
        };
        let up = ledger.other_ranks().map(|rank| Event::Up { node: NodeId::new(rank) });
        ledger.events.extend(up);
        ledger
    }

    pub(super) fn peer(&mut self, rank: u32) -> &mut Peer {
        &mut self.peers[rank as usize]
    }

    pub(super) fn state(&self, rank: u32) -> State {
        self.peers[rank as usize].state
    }

    pub(super) fn other_ranks(&self) -> impl Iterator<Item = u32> + use<> {
        let own = self.own;
        (0..u32::try_from(self.peers.len()).expect("ranks are C ints"))
            .filter(move |&rank| rank != own)
    }

    /// Returns whether all other ranks are lost, so that the transport does not call MPI again.
    pub(super) fn is_alone(&self) -> bool {
        self.lost.is_some() && self.other_ranks().all(|rank| self.state(rank) == State::Lost)
    }

    pub(super) fn any_is_up(&self) -> bool {
        self.other_ranks().any(|rank| self.state(rank) == State::Up)
    }

    /// Handles a short message that has come.
    pub(super) fn arrived(&mut self, Short { from, tag, bytes }: Short) -> Arrived {
        match self.state(from) {
            State::Up => {}
            State::Left => {
                self.lose(from, "it has sent something after it left".to_owned());
                return Arrived::Noted;
            }
            State::Lost => return Arrived::Noted,
        }
        let longest = self.longest_frame;
        let incoming = &mut self.peers[from as usize].incoming;
        if tag == FRAME && bytes.len() <= longest && incoming.is_empty() && self.events.is_empty() {
            return Arrived::Frame(Event::Received { from: NodeId::new(from), frame: bytes });
        }
        let place = incoming.matched();
        match (tag, announced(&bytes)) {
            (FRAME, _) if bytes.len() <= longest => {
                incoming.complete(place, Message::Frame(bytes));
            }
            (LONG, Some(length)) if length <= longest => {
                return Arrived::Long(Receiving { from, place, length });
            }
            (LEAVE, _) => incoming.complete(place, Message::Leave),
            _ => {
                let length = bytes.len();
                self.lose(
                    from,
                    format!(
                        "it has sent {length} bytes with the tag {tag}, which mean nothing here"
                    ),
                );
            }
        }
        self.deliver(from);
        Arrived::Noted
    }

    /// Handles the complete receive of a long frame.
    pub(super) fn received(&mut self, finished: Finished<Receiving>) {
        let Receiving { from, place, length } = finished.note;
        match finished.result {
            Ok(frame) if frame.len() == length => {
                self.peer(from).incoming.complete(place, Message::Frame(frame));
            }
            Ok(frame) => {
                let sent = frame.len();
                self.lose(from, format!("it has announced {length} bytes and sent {sent}"));
            }
            Err(error) => self.lose(from, error.to_string()),
        }
        self.deliver(from);
    }

    /// Queues the events of a rank's messages, as far as they are complete.
    fn deliver(&mut self, from: u32) {
        let node = NodeId::new(from);
        let peer = &mut self.peers[from as usize];
        while peer.state == State::Up
            && let Some(message) = peer.incoming.next()
        {
            self.events.push_back(match message {
                Message::Frame(frame) => Event::Received { from: node, frame },
                Message::Leave => {
                    peer.state = State::Left;
                    Event::Down { node, reason: DownReason::Left }
                }
            });
        }
    }

    /// Counts a message that is given to MPI. This rank does not wait for one to a lost rank: the
    /// announcement of a long frame may have told that the rank is lost.
    pub(super) fn sends(&mut self, to: u32) {
        let peer = self.peer(to);
        peer.sending += 1;
        if peer.state != State::Lost {
            self.sending += 1;
        }
    }

    /// Handles a message that MPI has completed.
    pub(super) fn sent(&mut self, finished: Finished<Sending>) {
        let Sending { to, kind } = finished.note;
        let peer = self.peer(to);
        peer.sending -= 1;
        if let Sent::Frame { synchronous: true } = kind {
            peer.window.matched();
        }
        if peer.state != State::Lost {
            self.sending -= 1;
        }
        match (finished.result, kind) {
            (Ok(buffer), Sent::Frame { .. }) => self.events.push_back(Event::Sent { buffer }),
            (Ok(_), Sent::Announcement | Sent::Leave) => {}
            (Err(error), _) => self.lose(to, error.to_string()),
        }
    }

    /// Handles an error about a rank: this rank sends nothing more to it, receives nothing from it
    /// and does not wait for it.
    #[cold]
    pub(super) fn lose(&mut self, rank: u32, how: String) {
        let peer = self.peer(rank);
        let before = mem::replace(&mut peer.state, State::Lost);
        let sending = peer.sending;
        if before == State::Lost {
            return;
        }
        self.sending -= sending;
        self.lost.get_or_insert_with(|| format!("rank {rank}: {how}"));
        if before == State::Up {
            let reason = DownReason::Lost(how);
            self.events.push_back(Event::Down { node: NodeId::new(rank), reason });
        }
    }

    /// Handles an error about no particular rank.
    #[cold]
    pub(super) fn lose_all(&mut self, how: &str) {
        for rank in self.other_ranks() {
            self.lose(rank, how.to_owned());
        }
    }
}

/// Returns the length in an announcement.
fn announced(bytes: &[u8]) -> Option<usize> {
    let length = u64::from_le_bytes(bytes.try_into().ok()?);
    usize::try_from(length).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MpiError;

    const LONGEST: usize = 10_000;

    fn node(rank: u32) -> NodeId {
        NodeId::new(rank)
    }

    /// Returns the ledger of rank 1 of 3, after the events of the other ranks that are up.
    fn ledger() -> Ledger {
        let mut ledger = Ledger::new(1, 3, 8, LONGEST);
        let up: Vec<_> = ledger.events.drain(..).collect();
        assert_eq!(up, [Event::Up { node: node(0) }, Event::Up { node: node(2) }]);
        ledger
    }

    fn short(from: u32, tag: i32, bytes: &[u8]) -> Short {
        Short { from, tag, bytes: bytes.to_vec() }
    }

    fn error() -> MpiError {
        MpiError::new("MPI_Testsome", 16, "unreachable".to_owned())
    }

    #[test]
    fn a_short_frame_waits_for_a_long_one_before_it() {
        let mut ledger = ledger();
        let long = ledger.arrived(short(0, LONG, &5_000_u64.to_le_bytes()));
        let Arrived::Long(note) = long else { panic!("a long frame is announced") };
        assert_eq!(note.length, 5_000);
        assert_eq!(ledger.arrived(short(0, FRAME, b"after")), Arrived::Noted);
        assert_eq!(ledger.arrived(short(0, LEAVE, b"")), Arrived::Noted);
        let other = Event::Received { from: node(2), frame: b"of another".to_vec() };
        assert_eq!(ledger.arrived(short(2, FRAME, b"of another")), Arrived::Frame(other));
        assert_eq!(ledger.events.pop_front(), None);
        ledger.received(Finished { note, result: Ok(vec![7; 5_000]) });
        let events: Vec<_> = ledger.events.drain(..).collect();
        assert_eq!(
            events,
            [
                Event::Received { from: node(0), frame: vec![7; 5_000] },
                Event::Received { from: node(0), frame: b"after".to_vec() },
                Event::Down { node: node(0), reason: DownReason::Left },
            ]
        );
    }

    #[test]
    fn a_frame_whose_announcement_failed_is_not_waited_for() {
        let mut ledger = ledger();
        let note = |kind| Sending { to: 0, kind };
        ledger.sends(0);
        ledger.sent(Finished { note: note(Sent::Announcement), result: Err(error()) });
        ledger.sends(0);
        assert_eq!(ledger.sending, 0);
        let frame = note(Sent::Frame { synchronous: false });
        ledger.sent(Finished { note: frame, result: Ok(Vec::new()) });
        assert_eq!(ledger.sending, 0);
    }

    #[test]
    fn a_meaningless_message_is_a_loss_of_its_sender_alone() {
        let too_long = (LONGEST as u64 + 1).to_le_bytes();
        let cases: [(i32, &[u8]); 5] = [
            (LONG, &too_long),
            (LONG, &u64::MAX.to_le_bytes()),
            (LONG, b"seven b"),
            (4, b""),
            (FRAME, &[0; LONGEST + 1]),
        ];
        for (tag, bytes) in cases {
            let mut ledger = ledger();
            assert_eq!(ledger.arrived(short(0, tag, bytes)), Arrived::Noted);
            let down = ledger.events.pop_front();
            assert!(
                matches!(&down, Some(Event::Down { node, reason: DownReason::Lost(how) })
                    if node.number() == 0 && how.contains(&format!("tag {tag}"))),
                "{down:?}"
            );
            // Later messages of the rank do not count, and its loss is reported once.
            assert_eq!(ledger.arrived(short(0, FRAME, b"more")), Arrived::Noted);
            assert_eq!(ledger.arrived(short(0, 77, b"")), Arrived::Noted);
            assert_eq!(ledger.events.pop_front(), None);
            assert_eq!((ledger.any_is_up(), ledger.is_alone()), (true, false));
        }
    }

    #[test]
    fn a_long_frame_shorter_than_announced_is_a_loss() {
        let mut ledger = ledger();
        let note = ledger.arrived(short(0, LONG, &9_u64.to_le_bytes()));
        let Arrived::Long(note) = note else { panic!("announced") };
        ledger.received(Finished { note, result: Ok(vec![0; 8]) });
        let how = "it has announced 9 bytes and sent 8".to_owned();
        let down = Event::Down { node: node(0), reason: DownReason::Lost(how) };
        assert_eq!(ledger.events.pop_front(), Some(down));
    }

    #[test]
    fn an_error_of_mpi_is_a_loss_in_its_words_and_nothing_waits_for_the_lost() {
        let mut ledger = ledger();
        let kind = Sent::Frame { synchronous: false };
        for to in [0, 0, 0, 2] {
            ledger.sends(to);
        }
        let failed = |to| Finished { note: Sending { to, kind }, result: Err(error()) };
        ledger.sent(failed(0));
        let how = "MPI_Testsome returned 16: unreachable".to_owned();
        let down = Event::Down { node: node(0), reason: DownReason::Lost(how.clone()) };
        assert_eq!(ledger.events.pop_front(), Some(down));
        assert_eq!(ledger.sending, 1, "the message to rank 2");
        ledger.sent(failed(0));
        ledger.sent(Finished { note: Sending { to: 0, kind }, result: Ok(vec![1]) });
        assert_eq!(ledger.events.pop_front(), Some(Event::Sent { buffer: vec![1] }));
        ledger.sent(Finished { note: Sending { to: 2, kind }, result: Ok(vec![2]) });
        assert_eq!(ledger.events.pop_front(), Some(Event::Sent { buffer: vec![2] }));
        assert_eq!(ledger.sending, 0);
        assert_eq!(ledger.lost, Some(format!("rank 0: {how}")));
        ledger.lose_all("gone");
        assert_eq!(ledger.events.len(), 1, "rank 0 was down already");
        assert!(ledger.is_alone());
    }

    #[test]
    fn a_rank_that_has_left_may_still_be_lost_but_is_down_once() {
        let mut ledger = ledger();
        assert_eq!(ledger.arrived(short(2, LEAVE, b"")), Arrived::Noted);
        assert_eq!(ledger.events.len(), 1);
        assert_eq!(ledger.arrived(short(2, FRAME, b"after all")), Arrived::Noted);
        assert_eq!(ledger.events.len(), 1);
        assert_eq!(ledger.lost.as_deref(), Some("rank 2: it has sent something after it left"));
    }
}
