//! What is said to other nodes, and of questions.

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
    /// Puts a message in that is not waited for. What is for a node that is down is lost with it.
    pub(crate) fn say(&self, message: Message<'_>) {
        let _ = self.try_say(message);
    }

    /// The same for whoever wants to know whether it was put in.
    pub(crate) fn try_say(&self, message: Message<'_>) -> Result<(), PutError<FrameError>> {
        self.try_say_with(message, References::default())
    }

    /// The same for a message with these references in its value.
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

    /// The same where a value is being written under the lock of a lane, by whose `Serialize`
    /// something is said: that an actor is to stop, or that nobody answers.
    #[cold]
    fn say_later(&self, link: &Link, envelope: &Envelope<'_>) -> Result<(), PutError<FrameError>> {
        let mut record = Vec::new();
        envelope.write(&mut record).map_err(PutError::Unwritable)?;
        let link = link.clone();
        self.node.spawn(async move {
            let write = |out: &mut Vec<u8>| {
                out.extend_from_slice(&record);
                Ok::<_, FrameError>(())
            };
            drop(link.put_anyway(write));
        });
        Ok(())
    }

    /// A question was in vain.
    pub(crate) fn fail(&self, call: u64, failure: Failure, detail: &str) {
        if self.link.is_none() {
            self.node.calls.close(call, Outcome::Failed(failure, detail));
            return;
        }
        let detail = self.detail(detail);
        self.say(Message::Failed { call, failure, detail });
    }

    /// The place for the answer to a question of this node was handed on, by this process to
    /// another one.
    pub(crate) fn moved(&self, call: u64, to: NodeId) {
        if self.link.is_none() {
            self.node.moved(self.id, call, to);
        } else {
            self.say(Message::Moved { call, to });
        }
    }
}

impl Inner {
    /// A node has handed the place for the answer to a question on. There may be no such node as it
    /// says.
    pub(crate) fn moved(&self, from: NodeId, call: u64, to: NodeId) {
        if let Some(peer) = self.peer(to) {
            self.calls.moved(call, from, to, || peer.standing() == Standing::Down);
        }
    }

    /// A call has its outcome.
    pub(crate) fn close_call(&self, call: u64, outcome: Outcome<'_>) {
        let is_answer = matches!(outcome, Outcome::Answer(_));
        if !self.calls.close(call, outcome) && is_answer {
            Counts::add(&self.counts.late);
            note_dead(self.system, DeadLetterKind::LateReply);
        }
    }
}
