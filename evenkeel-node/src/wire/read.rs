//! How bytes become messages.

use super::super::varint::{self, Reader};
use super::super::{FrameError, NodeId, Slot};
use super::cast::read_slot;
use super::{BarrierStep, EndBy, EndKind, Failure, StopHow};
use super::{End, Envelope, LONGEST_DETAIL, LONGEST_NAME, Members, Message, Places, Probe};
use super::{References, kind};
use std::num::NonZeroU64;

impl<'a> Envelope<'a> {
    /// Reads the message that takes all of a record.
    pub(crate) fn read(mut reader: Reader<'a>) -> Result<Self, FrameError> {
        let at = reader.at();
        let kind = reader.byte()?;
        let cause = match kind & kind::WITH_CAUSE {
            0 => None,
            _ => Some(cause(&mut reader)?),
        };
        let plain = kind & !(kind::WITH_CAUSE | kind::WITH_REFERENCES);
        let references = match kind & kind::WITH_REFERENCES {
            0 => References::default(),
            _ if has_value(plain) => References::read(&mut reader)?,
            _ => return Err(FrameError::UnknownKind { at, kind }),
        };
        let message = Message::read(plain, at, &mut reader)?;
        reader.finish()?;
        Ok(Self { cause, references, message })
    }
}

/// Reads a record if it is a `Tell` without a cause or references. Most records are, and what this
/// returns stays in registers, where an [`Envelope`] goes through memory.
#[inline]
pub(crate) fn read_plain_tell<'a>(mut reader: Reader<'a>) -> Option<(Slot, &'a [u8])> {
    let is_it = reader.byte() == Ok(kind::TELL);
    let to = read_slot(&mut reader).ok().filter(|_| is_it)?;
    Some((to, reader.rest()))
}

/// Returns whether messages of a kind have a value, which may have references.
fn has_value(kind: u8) -> bool {
    let is_for_actor = matches!(kind, kind::TELL | kind::ASK | kind::HAND | kind::CAST);
    is_for_actor || matches!(kind, kind::ANSWER | kind::SPAWN | kind::SPAWN_LINKED)
}

/// Reads a cause. Zero is not one: it would be a longer form of none.
fn cause(reader: &mut Reader<'_>) -> Result<NonZeroU64, FrameError> {
    let at = reader.at();
    NonZeroU64::new(reader.number()?).ok_or(FrameError::Overlong { at })
}

fn end<'a>(reader: &mut Reader<'a>) -> Result<End<'a>, FrameError> {
    let (by, kind) = (EndBy::read(reader)?, EndKind::read(reader)?);
    let node = if kind.has_node() { reader.number32()? } else { 0 };
    Ok(End { by, kind, node: NodeId::new(node), detail: detail(reader)? })
}

fn detail<'a>(reader: &mut Reader<'a>) -> Result<&'a str, FrameError> {
    reader.text("a detail", LONGEST_DETAIL)
}

impl<'a> Message<'a> {
    fn read(kind: u8, at: usize, reader: &mut Reader<'a>) -> Result<Self, FrameError> {
        // Fields are evaluated in the order in which they are written, which is that of the bytes.
        Ok(match kind {
            kind::TELL => Self::Tell { to: read_slot(reader)?, payload: reader.rest() },
            kind::ASK => Self::Ask {
                to: read_slot(reader)?,
                call: reader.number()?,
                limit: reader.number()?,
                payload: reader.rest(),
            },
            kind::HAND => Self::Hand {
                to: read_slot(reader)?,
                call: reader.number()?,
                places: Places::read(reader)?,
                payload: reader.rest(),
            },
            kind::ANSWER => Self::Answer { call: reader.number()?, payload: reader.rest() },
            kind::FAILED => Self::Failed {
                call: reader.number()?,
                failure: Failure::read(reader)?,
                detail: detail(reader)?,
            },
            kind::ABANDON => Self::Abandon { call: reader.number()? },
            kind::SPAWN | kind::SPAWN_LINKED => Self::Spawn {
                call: reader.number()?,
                parent: match kind {
                    kind::SPAWN_LINKED => Some(read_slot(reader)?),
                    _ => None,
                },
                script: reader.text("the name of a script", LONGEST_NAME)?,
                arguments: reader.rest(),
            },
            kind::LOCATE => Self::Locate {
                call: reader.number()?,
                name: reader.text("the name of an actor", LONGEST_NAME)?,
                messages: reader.text("the name of a type", LONGEST_NAME)?,
            },
            kind::LOCATED => Self::Located { call: reader.number()?, at: read_slot(reader)? },
            kind::RELEASE => Self::Release {
                to: read_slot(reader)?,
                from: NodeId::new(reader.number32()?),
                times: reader.number()?,
            },
            kind::LENT => Self::Lent {
                to: read_slot(reader)?,
                holder: NodeId::new(reader.number32()?),
                times: reader.number()?,
                loan: reader.number()?,
            },
            kind::COUNTED => Self::Counted { loan: reader.number()? },
            kind::LINK => Self::Link {
                tie: reader.number()?,
                from: read_slot(reader)?,
                to: read_slot(reader)?,
            },
            kind::MONITOR => Self::Monitor { tie: reader.number()?, to: read_slot(reader)? },
            kind::UNTIE | kind::UNTIE_BACK => {
                Self::Untie { tie: reader.number()?, opener: kind == kind::UNTIE }
            }
            kind::EXIT | kind::EXIT_BACK => {
                Self::Exit { tie: reader.number()?, opener: kind == kind::EXIT, end: end(reader)? }
            }
            kind::STOP => Self::Stop { to: read_slot(reader)?, how: StopHow::read(reader)? },
            kind::CAST => Self::Cast { members: Members::read(reader)?, payload: reader.rest() },
            kind::BARRIER => Self::Barrier {
                barrier: reader.number()?,
                phase: reader.number()?,
                step: BarrierStep::read(reader)?,
            },
            kind::TOKEN | kind::BLACK_TOKEN => Self::Termination(Probe::Token {
                round: reader.number()?,
                count: varint::unfold(reader.number()?),
                black: kind == kind::BLACK_TOKEN,
            }),
            kind::DONE => Self::Termination(Probe::Done { round: reader.number()? }),
            kind::LOST => {
                Self::Termination(Probe::Failed { node: NodeId::new(reader.number32()?) })
            }
            kind::HELLO => Self::Hello {
                node: NodeId::new(reader.number32()?),
                nodes: reader.number32()?,
                incarnation: reader.number()?,
                longest_frame: reader.number()?,
                ties: reader.number()?,
                job: reader.text("the name of a job", LONGEST_NAME)?,
                name: reader.text("the name of a node", LONGEST_NAME)?,
            },
            kind::LEAVE => Self::Leave,
            kind::REFUSE => Self::Refuse { detail: detail(reader)? },
            kind::MOVED => {
                Self::Moved { call: reader.number()?, to: NodeId::new(reader.number32()?) }
            }
            kind::HOLD => Self::Hold { to: Some(read_slot(reader)?) },
            kind::HOLD_ALL => Self::Hold { to: None },
            kind::RESUME => Self::Resume { to: Some(read_slot(reader)?) },
            kind::RESUME_ALL => Self::Resume { to: None },
            kind => return Err(FrameError::UnknownKind { at, kind }),
        })
    }
}
