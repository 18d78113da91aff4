//! How an operation has come in, which determines how it goes out.
//!
//! It is one word. A value that is written in parts and read whole waits until the parts have left
//! the store buffer, behind stores to lines that another core has. Measured, a journey took 20 ns
//! longer with an enumeration and a flag beside it.

/// The word with which the operation leaves its object is known, and is the rest of this one.
/// Loading it again, just after a locked instruction has written it, took a quarter of an
/// uncontended entry (`perf annotate`, AMD EPYC).
const KNOWN: u64 = 1;

/// At the object's home.
const HOST: u64 = 1 << 1;

/// The thread was panicking when the guard of the operation was made.
const PANICKING: u64 = 1 << 2;

/// The time that it takes is sampled.
const SAMPLED: u64 = 1 << 3;

/// One of many readers that count themselves in the word.
const COUNTED: u64 = 1 << 4;

/// Its guard is [noted](crate::raw_task::party) on its thread.
const NOTED: u64 = 1 << 6;

/// Bits that the word of an object does not have when it is left.
const MARKS: u64 = KNOWN | HOST | PANICKING | SAMPLED | COUNTED | NOTED;

/// From this bit on: the number of the worker's note for a reader, plus one; zero for an operation
/// that has the lock.
const NOTE: u32 = 8;

/// How an operation has come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way(u64);

impl Way {
    /// Alone, by the lock. The operation leaves by storing `leaving`, as long as it does not change
    /// the word.
    #[inline(always)]
    pub(super) fn by_lock(leaving: u64) -> Self {
        debug_assert!(leaving & MARKS == 0);
        Self(leaving | KNOWN)
    }

    /// Alone, by the lock of a word that may change until the operation leaves.
    #[inline(always)]
    pub(super) fn by_changing_lock() -> Self {
        Self(0)
    }

    /// The same way, of an operation that has changed the word.
    #[inline(always)]
    pub(super) fn changed(self) -> Self {
        if self.is_shared() { self } else { Self(self.0 & (MARKS & !KNOWN)) }
    }

    /// The word to leave by, if it is known.
    #[inline(always)]
    pub(super) fn leaving(self) -> Option<u64> {
        (self.0 & KNOWN != 0).then_some(self.0 & !MARKS)
    }

    /// As one of many readers, by this note.
    #[inline(always)]
    pub(super) fn shared(note: u8) -> Self {
        Self((u64::from(note) + 1) << NOTE)
    }

    /// The same way, of a reader that has counted itself in the word.
    #[inline(always)]
    pub(super) fn counted(self) -> Self {
        Self(self.0 | COUNTED)
    }

    /// Whether the reader has counted itself in the word.
    #[inline(always)]
    pub(super) fn is_counted(self) -> bool {
        self.0 & COUNTED != 0
    }

    /// Whether other readers may be inside.
    #[inline(always)]
    pub(super) fn is_shared(self) -> bool {
        self.0 & KNOWN == 0 && self.0 >> NOTE != 0
    }

    /// The note of a reader.
    #[inline(always)]
    pub(super) fn note(self) -> Option<u8> {
        self.is_shared().then(|| ((self.0 >> NOTE) - 1) as u8)
    }

    /// The same way, at the object's home.
    #[inline(always)]
    pub(super) fn as_host(self) -> Self {
        Self(self.0 | HOST)
    }

    /// Whether the operation is at the object's home.
    #[inline(always)]
    pub(super) fn is_host(self) -> bool {
        self.0 & HOST != 0
    }

    /// The same way, on a thread that is panicking, or is not.
    #[inline(always)]
    pub(super) fn panicking(self, panicking: bool) -> Self {
        if panicking { Self(self.0 | PANICKING) } else { self }
    }

    /// Whether the thread was panicking when the operation began.
    #[inline(always)]
    pub(super) fn was_panicking(self) -> bool {
        self.0 & PANICKING != 0
    }

    /// The same way, of an operation that its worker's [ledger](super::ledger) records at its end.
    #[inline(always)]
    pub(super) fn sampled(self) -> Self {
        Self(self.0 | SAMPLED)
    }

    /// The same way, of an operation whose guard is noted.
    #[inline(always)]
    pub(super) fn noted(self) -> Self {
        Self(self.0 | NOTED)
    }

    /// Whether the operation's guard is noted.
    #[inline(always)]
    pub(super) fn is_noted(self) -> bool {
        self.0 & NOTED != 0
    }

    /// Whether the operation is sampled.
    #[inline(always)]
    pub(super) fn is_sampled(self) -> bool {
        self.0 & SAMPLED != 0
    }
}
