//! The bytes that stand for kinds of messages.

pub(super) const TELL: u8 = 1;
pub(super) const ASK: u8 = 2;
pub(super) const ANSWER: u8 = 3;
pub(super) const FAILED: u8 = 4;
pub(super) const ABANDON: u8 = 5;
pub(super) const SPAWN: u8 = 6;
/// As [`SPAWN`], with a parent.
pub(super) const SPAWN_LINKED: u8 = 7;
pub(super) const LOCATE: u8 = 8;
pub(super) const LOCATED: u8 = 9;
pub(super) const LINK: u8 = 10;
pub(super) const UNTIE: u8 = 11;
pub(super) const EXIT: u8 = 12;
pub(super) const MONITOR: u8 = 13;
pub(super) const UNTIE_BACK: u8 = 14;
pub(super) const EXIT_BACK: u8 = 15;
pub(super) const STOP: u8 = 16;
pub(super) const CAST: u8 = 17;
pub(super) const BARRIER: u8 = 18;
pub(super) const TOKEN: u8 = 19;
/// As [`TOKEN`], with a black token.
pub(super) const BLACK_TOKEN: u8 = 20;
pub(super) const DONE: u8 = 21;
pub(super) const LOST: u8 = 22;
pub(super) const HELLO: u8 = 23;
pub(super) const LEAVE: u8 = 24;
pub(super) const HOLD: u8 = 25;
/// As [`HOLD`], for all actors.
pub(super) const HOLD_ALL: u8 = 26;
pub(super) const RESUME: u8 = 27;
/// As [`RESUME`], for all actors.
pub(super) const RESUME_ALL: u8 = 28;
pub(super) const MOVED: u8 = 29;
pub(super) const REFUSE: u8 = 30;
pub(super) const HAND: u8 = 31;
pub(super) const RELEASE: u8 = 32;
pub(super) const LENT: u8 = 33;
pub(super) const COUNTED: u8 = 34;

/// Beside a kind that has a value: the references in it follow the cause.
pub(super) const WITH_REFERENCES: u8 = 0x40;

/// Beside any kind: a cause follows.
pub(super) const WITH_CAUSE: u8 = 0x80;
