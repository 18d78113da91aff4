//! The bits of the state word, and what a change makes of them. [`state`](super) has the meaning of
//! the fields.

use super::Join;

pub(super) const WAKE: u64 = 1;
pub(super) const WAKES: u64 = 0b11;
pub(super) const TOKEN: u64 = 1 << 2;
pub(super) const TOKENS: u64 = 0b11 << 2;
pub(super) const COMPLETE: u64 = 1 << 4;
pub(super) const ABORTED: u64 = 1 << 5;
pub(super) const JOINER: u64 = 1 << 6;
pub(super) const HANDLE: u64 = 1 << 7;
pub(super) const REGISTERED: u64 = 1 << 8;
pub(super) const PARTED: u64 = 1 << 9;
/// One of `others`.
pub(super) const REFERENCE: u64 = 1 << 10;
/// One of `publics`.
pub(super) const PUBLIC: u64 = 1 << 36;

/// Set when a task with a public part has too many `others`, or when the field is below zero.
pub(super) const OTHERS_TOP: u64 = PUBLIC >> 1;

/// More references than memory could hold: a program that leaks them in a loop is stopped before
/// the count wraps.
pub(super) const MOST_REFERENCES: i64 = 1 << 52;

/// The same limit for references to a public part: a gigabyte of them. The distance to where the
/// field wraps is more than the threads of any process.
pub(super) const MOST_PUBLICS: i64 = (1 << 27) - (1 << 22);

/// What a signal asks of the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Poll the task again.
    Wake,
    /// The same, and leave a token for `park`.
    Unpark,
    /// Drop the future at the next poll.
    Abort,
}

/// One value of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(pub(super) u64);

impl Word {
    /// Returns whether the task is in no queue and not being polled, complete or not.
    #[inline(always)]
    pub(crate) fn is_idle(self) -> bool {
        self.0 & WAKES == 0
    }

    pub(crate) fn is_complete(self) -> bool {
        self.0 & COMPLETE != 0
    }

    pub(crate) fn is_aborted(self) -> bool {
        self.0 & ABORTED != 0
    }

    /// Returns whether the task has a public part.
    pub(crate) fn has_public(self) -> bool {
        self.0 & PARTED != 0
    }

    pub(crate) fn has_joiner(self) -> bool {
        self.0 & JOINER != 0
    }

    pub(crate) fn has_handle(self) -> bool {
        self.0 & HANDLE != 0
    }

    /// Returns what the handle of the task finds: `Done` if it has to wait.
    #[inline(always)]
    pub(crate) fn joined(self) -> Join {
        if self.0 & HANDLE == 0 {
            Join::GivenUp
        } else if self.is_complete() {
            Join::Complete
        } else {
            Join::Done
        }
    }

    /// Returns the number of references of all kinds. Exact while the task is idle or parked.
    pub(crate) fn references(self) -> u64 {
        if self.0 & PARTED == 0 {
            return self.0 / REFERENCE;
        }
        self.0 % PUBLIC / REFERENCE + self.0 / PUBLIC
    }

    /// Returns the number of references to the public part, for a task that has one, without the
    /// changes that its poller has deferred.
    #[inline(always)]
    pub(crate) fn publics(self) -> i64 {
        self.0.wrapping_add(Pending::MOST * REFERENCE) as i64 >> PUBLIC.trailing_zeros()
    }

    #[inline(always)]
    pub(super) fn wakes(self) -> u64 {
        self.0 & WAKES
    }

    #[inline(always)]
    pub(super) fn tokens(self) -> u8 {
        ((self.0 & TOKENS) / TOKEN) as u8
    }

    /// Returns whether no handle, registry or reference can reach the task.
    #[inline(always)]
    pub(super) fn is_unreachable(self) -> bool {
        self.0 & (HANDLE | REGISTERED) == 0 && self.0 / REFERENCE == 0
    }

    #[inline(always)]
    pub(super) fn signalled(self, signal: Signal, consume: bool) -> Self {
        let mut word = self.0;
        if word & WAKES != WAKES {
            word += WAKE;
        }
        match signal {
            Signal::Wake => {}
            Signal::Unpark if word & TOKENS != TOKENS => word += TOKEN,
            Signal::Unpark => {}
            Signal::Abort => word |= ABORTED,
        }
        if consume {
            word = word.wrapping_sub(REFERENCE);
        }
        Self(word)
    }
}

/// The changes that the poller defers until the next change of the word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pending {
    /// Wakers and `Task`s made inside the poll, less those dropped inside it.
    pub(crate) references: i8,
    /// The same for references to the public part.
    pub(crate) publics: i8,
    /// Tokens consumed.
    pub(crate) tokens: u8,
}

impl Pending {
    /// The largest absolute value of `references`.
    pub(super) const MOST: u64 = i8::MIN.unsigned_abs() as u64;

    #[inline(always)]
    pub(super) fn fold(self, word: u64) -> u64 {
        let word = self.fold_unchecked(word);
        if self.publics > 0 && has_too_many_publics(word) {
            std::process::abort();
        }
        word
    }

    #[inline(always)]
    pub(super) fn fold_unchecked(self, word: u64) -> u64 {
        let references = i64::from(self.references).wrapping_mul(REFERENCE as i64);
        let publics = i64::from(self.publics).wrapping_mul(PUBLIC as i64);
        let word = word.wrapping_add(references as u64).wrapping_add(publics as u64);
        word.wrapping_sub(u64::from(self.tokens) * TOKEN)
    }
}

/// Returns whether the count of references to the public part is about to wrap, which would free a
/// task that is in use.
#[inline(always)]
pub(super) fn has_too_many_publics(word: u64) -> bool {
    word as i64 > MOST_PUBLICS << PUBLIC.trailing_zeros()
}

/// Whether a change was the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Release {
    /// Others can still reach the task.
    Shared,
    /// The change removed the last hold: the caller frees the task.
    Last,
}

impl Release {
    pub(super) fn of(word: Word) -> Self {
        if word.is_unreachable() { Self::Last } else { Self::Shared }
    }
}
