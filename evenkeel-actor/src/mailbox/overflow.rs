//! The policies for a message that finds the mailbox full, as types.

mod sealed {
    pub trait Sealed {}
}

/// The policy of a full mailbox for a new message. One of [`Wait`], [`Fail`], [`DropNewest`] and
/// [`DropOldest`].
pub trait Overflow:
    sealed::Sealed + Send + Sync + Clone + Copy + std::fmt::Debug + 'static
{
    #[doc(hidden)]
    const FULL: Full;
}

/// The policies, as values.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    Wait,
    Fail,
    DropNewest,
    DropOldest,
}

/// The sender waits for room, first come, first served. The default.
#[derive(Clone, Copy, Debug)]
pub struct Wait;

/// The sender gets the message back at once.
#[derive(Clone, Copy, Debug)]
pub struct Fail;

/// The new message becomes a dead letter. If its destructor panics, the process's panic hook
/// reports that, and the sender continues.
#[derive(Clone, Copy, Debug)]
pub struct DropNewest;

/// The message that has waited longest becomes a dead letter. This does not reach messages that the
/// actor has already taken out, to handle in its current turn. If the destructor of the dropped
/// message panics, the process's panic hook reports that, and the sender continues: the new message
/// is in the mailbox.
#[derive(Clone, Copy, Debug)]
pub struct DropOldest;

impl sealed::Sealed for Wait {}
impl sealed::Sealed for Fail {}
impl sealed::Sealed for DropNewest {}
impl sealed::Sealed for DropOldest {}

impl Overflow for Wait {
    const FULL: Full = Full::Wait;
}

impl Overflow for Fail {
    const FULL: Full = Full::Fail;
}

impl Overflow for DropNewest {
    const FULL: Full = Full::DropNewest;
}

impl Overflow for DropOldest {
    const FULL: Full = Full::DropOldest;
}
