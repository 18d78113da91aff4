//! Sends messages to other nodes, and the outcomes of questions.

use super::calls::Outcome;
use super::inner::{Counts, Inner, Peer, Standing};
use super::scope;
use super::tell::note_dead;
use crate::node::multiplexer::{Link, PutError};
use crate::node::wire::{Envelope, Failure, Message, References};
use crate::node::{FrameError, NodeId};
use crate::trace;
use crate::words::dead_letter::DeadLetterKind;

impl Peer {
    /// Puts a message in without waiting. A message for a node that is down is lost with it.
    pub(crate) fn say(&self, message: Message<'_>) {
        let _ = self.try_say(message);
    }

    /// Puts a message in, and returns whether that worked.
    pub(crate) fn try_say(&self, message: Message<'_>) -> Result<(), PutError<FrameError>> {
        self.try_say_with(message, References::default())
    }

    /// Puts in a message with these references in its value.
    pub(super) fn try_say_with(
        &self,
        message: Message<'_>,
        references: References<'_>,
    ) -> Result<(), PutError<FrameError>> {
        let Some(link) = &self.link else { return Err(PutError::Down) };
        let envelope = Envelope { cause: trace::current(), references, message };
        if scope::is_writing() {
            return self.say_later(link, &envelope);
        }
        self.node.senders.under(|| link.put_anyway(|out| envelope.write(out)))
    }

    /// Puts a message in once the value is written that this thread is writing: the caller is a
    /// `Serialize` under the lock of a lane, which stops an actor or drops a place for an answer.
    /// The message comes from the same sender as the value, so it is read after what that has sent.
    #[cold]
    fn say_later(&self, link: &Link, envelope: &Envelope<'_>) -> Result<(), PutError<FrameError>> {
        let mut record = Vec::new();
        envelope.write(&mut record).map_err(PutError::Unwritable)?;
        let (node, link) = (self.node, link.clone());
        scope::once_written(move || {
            let write = |out: &mut Vec<u8>| {
                out.extend_from_slice(&record);
                Ok::<_, FrameError>(())
            };
            drop(node.senders.under(|| link.put_anyway(write)));
        });
        Ok(())
    }

    /// Fails a question.
    pub(crate) fn fail(&self, call: u64, failure: Failure, detail: &str) {
        if self.link.is_none() {
            self.node.calls.close(call, Outcome::Failed(failure, detail));
            return;
        }
        let detail = self.detail(detail);
        self.say(Message::Failed { call, failure, detail });
    }

    /// Reports that this process has handed the place for the answer to a question of this peer on
    /// to another node.
    pub(crate) fn moved(&self, call: u64, to: NodeId) {
        if self.link.is_none() {
            self.node.moved(self.id, call, to);
        } else {
            self.say(Message::Moved { call, to });
        }
    }
}

impl Inner {
    /// Notes that a node has handed the place for the answer to a question on. The node that it
    /// names may not exist.
    pub(crate) fn moved(&self, from: NodeId, call: u64, to: NodeId) {
        if let Some(peer) = self.peer(to) {
            self.calls.moved(call, from, to, || peer.standing() == Standing::Down);
        }
    }

    /// Closes a call with its outcome.
    pub(crate) fn close_call(&self, call: u64, outcome: Outcome<'_>) {
        let is_answer = matches!(outcome, Outcome::Answer(_));
        if !self.calls.close(call, outcome) && is_answer {
            Counts::add(&self.counts.late);
            note_dead(self.system, DeadLetterKind::LateReply, 1);
        }
    }
}
