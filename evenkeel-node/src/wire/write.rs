//! How messages become bytes.

use super::super::{FrameError, Slot, frame, varint};
use super::cast::write_slot;
use super::{End, Envelope, LONGEST_DETAIL, LONGEST_NAME, MOST_PLACES, MOST_REFERENCES, Message};
use super::{Probe, References, kind};
use std::num::NonZeroU64;

impl Envelope<'_> {
    /// Appends the message to a frame that has been [begun](frame::begin).
    ///
    /// # Errors
    /// [`FrameError::Oversized`], if one of its texts is too long, and [`FrameError::TooGreat`] if
    /// there are more than [`MOST_PLACES`] places or [`MOST_REFERENCES`] references in it. The
    /// frame is then as it was.
    pub fn append(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        frame::append(out, |out| self.write(out))
    }

    /// Appends the part of a record behind its length, for callers that write into a frame by other
    /// means.
    ///
    /// # Errors
    /// [`FrameError::Oversized`], if one of its texts is too long, and [`FrameError::TooGreat`] if
    /// there are more than [`MOST_PLACES`] places or [`MOST_REFERENCES`] references in it. The
    /// appended bytes are then of no use.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        if self.references.len() > MOST_REFERENCES {
            return Err(FrameError::TooGreat { at: out.len(), most: MOST_REFERENCES as u64 });
        }
        self.message.write(self.cause, self.references, out)
    }
}

/// Appends all of a [`Message::Tell`] but its payload, which the caller appends.
#[inline]
pub fn write_tell(to: Slot, cause: Option<NonZeroU64>, out: &mut Vec<u8>) {
    head(kind::TELL, cause, References::default(), out);
    write_slot(to, out);
}

/// Appends all of a [`Message::Answer`] but its payload, which the caller appends.
#[inline]
pub fn write_answer(call: u64, cause: Option<NonZeroU64>, out: &mut Vec<u8>) {
    head(kind::ANSWER, cause, References::default(), out);
    varint::put(out, call);
}

#[inline]
fn head(kind: u8, cause: Option<NonZeroU64>, references: References<'_>, out: &mut Vec<u8>) {
    let beside = if cause.is_some() { kind::WITH_CAUSE } else { 0 };
    if references.is_empty() {
        out.push(kind | beside);
    } else {
        out.push(kind | beside | kind::WITH_REFERENCES);
    }
    if let Some(cause) = cause {
        varint::put(out, cause.get());
    }
    if !references.is_empty() {
        references.write(out);
    }
}

fn text(text: &str, what: &'static str, most: usize, out: &mut Vec<u8>) -> Result<(), FrameError> {
    if text.len() > most {
        return Err(FrameError::Oversized { what, length: text.len(), most });
    }
    varint::put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

fn detail(detail: &str, out: &mut Vec<u8>) -> Result<(), FrameError> {
    text(detail, "a detail", LONGEST_DETAIL, out)
}

fn end(end: End<'_>, out: &mut Vec<u8>) -> Result<(), FrameError> {
    out.extend([end.by.code(), end.kind.code()]);
    if end.kind.has_node() {
        varint::put(out, end.node.number().into());
    }
    detail(end.detail, out)
}

impl Message<'_> {
    fn write(
        &self,
        cause: Option<NonZeroU64>,
        references: References<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), FrameError> {
        // A message without a value has no references.
        let mut begin = |kind| head(kind, cause, References::default(), &mut *out);
        match *self {
            Self::Tell { to, payload } => {
                head(kind::TELL, cause, references, out);
                write_slot(to, out);
                out.extend_from_slice(payload);
            }
            Self::Ask { to, call, limit, payload } => {
                head(kind::ASK, cause, references, out);
                write_slot(to, out);
                varint::put(out, call);
                varint::put(out, limit);
                out.extend_from_slice(payload);
            }
            Self::Hand { to, call, places, payload } => {
                if places.count() > MOST_PLACES {
                    return Err(FrameError::TooGreat { at: out.len(), most: MOST_PLACES as u64 });
                }
                head(kind::HAND, cause, references, out);
                write_slot(to, out);
                varint::put(out, call);
                places.write(out);
                out.extend_from_slice(payload);
            }
            Self::Answer { call, payload } => {
                head(kind::ANSWER, cause, references, out);
                varint::put(out, call);
                out.extend_from_slice(payload);
            }
            Self::Failed { call, failure, detail: more } => {
                begin(kind::FAILED);
                varint::put(out, call);
                out.push(failure.code());
                detail(more, out)?;
            }
            Self::Abandon { call } => {
                begin(kind::ABANDON);
                varint::put(out, call);
            }
            Self::Moved { call, to } => {
                begin(kind::MOVED);
                varint::put(out, call);
                varint::put(out, to.number().into());
            }
            Self::Spawn { call, script, parent, arguments } => {
                let kind = if parent.is_some() { kind::SPAWN_LINKED } else { kind::SPAWN };
                head(kind, cause, references, out);
                varint::put(out, call);
                if let Some(parent) = parent {
                    write_slot(parent, out);
                }
                text(script, "the name of a script", LONGEST_NAME, out)?;
                out.extend_from_slice(arguments);
            }
            Self::Locate { call, name, messages } => {
                begin(kind::LOCATE);
                varint::put(out, call);
                text(name, "the name of an actor", LONGEST_NAME, out)?;
                text(messages, "the name of a type", LONGEST_NAME, out)?;
            }
            Self::Located { call, at } => {
                begin(kind::LOCATED);
                varint::put(out, call);
                write_slot(at, out);
            }
            Self::Release { to, from, times } => {
                begin(kind::RELEASE);
                write_slot(to, out);
                varint::put(out, from.number().into());
                varint::put(out, times);
            }
            Self::Lent { to, holder, times, loan } => {
                begin(kind::LENT);
                write_slot(to, out);
                varint::put(out, holder.number().into());
                varint::put(out, times);
                varint::put(out, loan);
            }
            Self::Counted { loan } => {
                begin(kind::COUNTED);
                varint::put(out, loan);
            }
            Self::Link { tie, from, to } => {
                begin(kind::LINK);
                varint::put(out, tie);
                write_slot(from, out);
                write_slot(to, out);
            }
            Self::Monitor { tie, to } => {
                begin(kind::MONITOR);
                varint::put(out, tie);
                write_slot(to, out);
            }
            Self::Untie { tie, opener } => {
                begin(if opener { kind::UNTIE } else { kind::UNTIE_BACK });
                varint::put(out, tie);
            }
            Self::Exit { tie, opener, end: how } => {
                begin(if opener { kind::EXIT } else { kind::EXIT_BACK });
                varint::put(out, tie);
                end(how, out)?;
            }
            Self::Stop { to, how } => {
                begin(kind::STOP);
                write_slot(to, out);
                out.push(how.code());
            }
            Self::Cast { members, payload } => {
                head(kind::CAST, cause, references, out);
                members.write(out);
                out.extend_from_slice(payload);
            }
            Self::Barrier { barrier, phase, step } => {
                begin(kind::BARRIER);
                varint::put(out, barrier);
                varint::put(out, phase);
                out.push(step.code());
            }
            Self::Termination(Probe::Token { round, count, black }) => {
                begin(if black { kind::BLACK_TOKEN } else { kind::TOKEN });
                varint::put(out, round);
                varint::put(out, varint::fold(count));
            }
            Self::Termination(Probe::Done { round }) => {
                begin(kind::DONE);
                varint::put(out, round);
            }
            Self::Termination(Probe::Failed { node }) => {
                begin(kind::LOST);
                varint::put(out, node.number().into());
            }
            Self::Hello { node, nodes, incarnation, longest_frame, ties, job, name } => {
                begin(kind::HELLO);
                varint::put(out, node.number().into());
                varint::put(out, nodes.into());
                varint::put(out, incarnation);
                varint::put(out, longest_frame);
                varint::put(out, ties);
                text(job, "the name of a job", LONGEST_NAME, out)?;
                text(name, "the name of a node", LONGEST_NAME, out)?;
            }
            Self::Leave => begin(kind::LEAVE),
            Self::Refuse { detail: more } => {
                begin(kind::REFUSE);
                detail(more, out)?;
            }
            Self::Hold { to: None } => begin(kind::HOLD_ALL),
            Self::Hold { to: Some(to) } => {
                begin(kind::HOLD);
                write_slot(to, out);
            }
            Self::Resume { to: None } => begin(kind::RESUME_ALL),
            Self::Resume { to: Some(to) } => {
                begin(kind::RESUME);
                write_slot(to, out);
            }
        }
        Ok(())
    }
}
