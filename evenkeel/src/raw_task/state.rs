//! The state word of a task: its bits and their algebra, without `unsafe`.
//!
//! # Roles
//! The *poller* is the worker that has taken the task out of a ready queue. *Wakers* may be on any
//! thread. The *joiner* holds the `JoinHandle`. The *completer* is the thread that marks the task
//! complete. The *scheduler* keeps the task in its registry until it is complete. The *ender* is a
//! thread that shuts the runtime down by a deadline, and has a reference to a stuck task.
//!
//! # States
//! | field | meaning |
//! |---|---|
//! | `wakes` (2 bits, saturating) | zero: idle, in no queue. Otherwise queued or being polled, and how often woken since it was last idle |
//! | `tokens` (2 bits, saturating) | unparks since the poller last folded its consumed tokens back in |
//! | `COMPLETE` | the output is in place, or has been dropped |
//! | `ABORTED` | the next poll drops the future instead |
//! | `JOINER` | the joiner's waker is in its slot, which belongs to the completer |
//! | `HANDLE` | the `JoinHandle` exists, and has not been given up |
//! | `REGISTERED` | the scheduler's registry holds the task |
//! | `PARTED` | the task has a [public part](crate::task::public) |
//! | `others` (26 bits, wrapping) | `Waker`s and `Task`s in existence |
//! | `publics` (28 bits, wrapping) | references to the public part; of a task that has none, the upper bits of `others` |
//!
//! # Protocol
//! A *wake* adds one to `wakes` in a single read-modify-write; if that took the task out of idle,
//! the waker puts it into a queue. A *poll* begins with a plain load that remembers `wakes`. It
//! ends with one compare-and-swap that sets `wakes` to zero if it still has the remembered value,
//! and otherwise leaves the task queued. So a task costs its wakers one locked instruction and its
//! poller one. Saturation never hides a wake: a poll that would begin with `wakes` at its maximum
//! first takes it back to one.
//!
//! A worker may leave the closing compare-and-swap for later: then the task is
//! [kept](crate::queue::keep), and to all others its poll goes on.
//!
//! A *token* works alike: `unpark` adds to `tokens` in the same step as to `wakes`; `park` compares
//! `tokens` with a count, private to the poller, of those consumed, and the closing
//! compare-and-swap folds that count back in.
//!
//! The poller may *defer* changes of `others` and `publics`: a waker cloned inside the task's own
//! poll is counted in the closing compare-and-swap. The fields may wrap below zero meanwhile, which
//! is harmless. They decide whether the task is freed only once `REGISTERED` is cleared, and that
//! happens after the last poll has folded its changes in. `publics` is read earlier, to end an
//! actor that is alone, in two cases only. Either the poller reads it, and includes what it has
//! deferred, or the task is parked, with nothing deferred. Neither field wraps above: `publics` is
//! checked at each addition, at once or at the end of a poll, and where `others` is large its
//! additions are not deferred; the check stops the process long before.
//!
//! When `others` is below zero, it has borrowed one from `publics`. It is below zero by less than
//! [`Pending::MOST`], the bound of what the poller can have deferred, so a reader of `publics` adds
//! that much first. Both together are zero only if each is: then nothing is borrowed.
//!
//! The thread that makes the word say *no `HANDLE`, not `REGISTERED`, no `others`, no `publics`*
//! frees the task. Each of these falls by a read-modify-write, so exactly one change does that.
//!
//! # Giving a handle up
//! The ender does not wait for a poll that does not return, and the handle of that task must not
//! wait either. *Give up* (ender): one exchange, of a word that has `HANDLE` and not `COMPLETE`,
//! clears `HANDLE` and `JOINER` and adds one to `others`. So the handle's hold becomes a counted
//! reference, and the waker in the slot becomes the ender's, which wakes it. To the completer the
//! task is one whose handle was dropped: it drops the output itself, and wakes no joiner. So a
//! completion costs what it costs without this step. The handle finds its bit cleared, which no
//! other thread does: it returns *stuck*, and ends its hold by dropping a reference.
//!
//! *Exactly one of complete and stuck.* `COMPLETE` and the give-up are changes of one word, and
//! each looks for the other: the ender gives up no complete task; the completer's exchange fails on
//! a word that the ender has changed, and begins again with a task without a handle. The handle
//! looks at its own bit first: a task that was given up and completes later stays stuck.
//!
//! *The slot has one owner.* With `JOINER` set it is the completer's or the ender's, as one change
//! of the word decides. Without `JOINER` it is the handle's, and the ender leaves it alone, as the
//! completer does. The handle decides by a word that has `HANDLE`: a word without it shows no
//! `JOINER` while the ender may be at the slot. The ender's exchange acquires, because it follows
//! `JOINER` to what the handle has put there (`StateGiveUp`). It releases nothing: the handle
//! follows its cleared bit to no memory, and the thread that frees the task does so after the ender
//! has dropped its own reference (`StateRelease`).
//!
//! *The memory.* The sum of holds stays the same, so the task is not unreachable by this step. It
//! is registered, or its completer has yet to end the scheduler's hold, until its poll returns.
//!
//! # Why no wake is lost
//! In the word's modification order a wake comes before the poll's first load or after it. If
//! before, the poll acquires what the waker released and sees its effects. If after, the closing
//! compare-and-swap finds `wakes` changed and the task is polled again.
//!
//! # Rejected
//! A *notified* bit cleared when the poll begins (Tokio, async-task): a third locked instruction
//! per switch. A counter by `fetch_add`: it overflows into its neighbours when a task is woken
//! often enough during one long poll. One count of all references to a task with a public part: a
//! waker that outlives the last public reference, even the task's own, then keeps the task from
//! finding itself alone. The drop of that waker signals nothing.

mod word;

pub(crate) use word::{Pending, Release, Signal, Word};

use crate::primitives::atomic::{AtomicU64, Edge, Ordering, edge};
use word::{
    ABORTED, COMPLETE, HANDLE, JOINER, MOST_REFERENCES, OTHERS_TOP, PARTED, PUBLIC, REFERENCE,
    REGISTERED, TOKENS, WAKE, WAKES, has_too_many_publics,
};

/// How a poll may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Begin {
    /// Poll, and pass this to [`State::end`].
    Poll(Polled),
    /// Drop the future.
    Cancel,
}

/// The value of `wakes` at the beginning of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Polled(u64);

impl Polled {
    /// That of a task that is kept.
    pub(crate) const KEPT: Self = Self(WAKE);
}

/// How a poll that returned `Pending` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum End {
    /// The task is idle: another worker may be polling it already.
    Idle,
    /// The task was woken meanwhile: the poller puts it back into its queue. Nothing was folded in.
    Again,
}

/// The result of a joiner's attempt to leave, change or take back its waker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Join {
    /// Done.
    Done,
    /// The task is complete: its output is the joiner's.
    Complete,
    /// The ender has given the handle up: the output is not the joiner's, the slot is not, and the
    /// handle's hold is a reference.
    GivenUp,
}

/// The word itself.
#[derive(Debug)]
pub(crate) struct State(AtomicU64);

impl State {
    /// A task that is queued, registered, and has a handle.
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(WAKE | REGISTERED | HANDLE))
    }

    /// A task that is queued and registered, and has a public part with `publics` references.
    pub(crate) fn with_public(publics: u64) -> Self {
        Self(AtomicU64::new(WAKE | REGISTERED | PARTED | (publics * PUBLIC)))
    }

    #[inline(always)]
    pub(crate) fn load(&self) -> Word {
        Word(self.0.load(Ordering::Relaxed))
    }

    /// Loads the word with acquire ordering: the caller sees everything that the completer did
    /// before.
    #[inline]
    pub(crate) fn load_joined(&self) -> Word {
        Word(self.0.load(edge(Edge::StateJoined, Ordering::Acquire)))
    }

    /// Attempts once to signal from the value `word`; returns the actual value if the word has
    /// changed. With `consume` the signal uses up one reference in the same step, which on a
    /// complete task may be the last.
    #[inline(always)]
    pub(crate) fn signal(
        &self,
        word: Word,
        signal: Signal,
        consume: bool,
    ) -> Result<Release, Word> {
        let fresh = word.signalled(signal, consume);
        self.exchange(word, fresh, edge(Edge::StateWake, Ordering::AcqRel))
            .map(|()| Release::of(fresh))
    }

    /// Begins a poll.
    #[inline(always)]
    pub(crate) fn begin(&self) -> Begin {
        let word = Word(self.0.load(edge(Edge::StateBegin, Ordering::Acquire)));
        if word.0 & ABORTED != 0 {
            return Begin::Cancel;
        }
        if word.wakes() == WAKES {
            return self.begin_saturated();
        }
        Begin::Poll(Polled(word.wakes()))
    }

    #[cold]
    fn begin_saturated(&self) -> Begin {
        let mut word = self.load();
        loop {
            let fresh = Word(word.0 & !WAKES | WAKE);
            // Acquire ordering: a wake that finds the field full leaves the word as it was, so this
            // exchange may take that wake without having seen it. No release: the task stays the
            // poller's.
            match self.exchange(word, fresh, edge(Edge::StateSaturated, Ordering::Acquire)) {
                Ok(()) if word.is_aborted() => return Begin::Cancel,
                Ok(()) => return Begin::Poll(Polled(WAKE)),
                Err(actual) => word = actual,
            }
        }
    }

    /// Returns whether the end of this poll may be left out for a while. The task was woken once
    /// since it was last idle. And it has no public part, which relies on what the poller has
    /// deferred.
    #[inline(always)]
    pub(crate) fn may_be_kept(&self, polled: Polled) -> bool {
        let word = self.load();
        polled == Polled::KEPT && word.wakes() == WAKE && !word.has_public()
    }

    /// Returns whether a task that is kept was signalled meanwhile.
    #[inline(always)]
    pub(crate) fn is_signalled(&self) -> bool {
        self.load().wakes() != WAKE
    }

    /// Ends a poll that returned `Pending`.
    #[inline(always)]
    pub(crate) fn end(&self, polled: Polled, pending: Pending) -> End {
        let mut word = self.load();
        loop {
            if word.wakes() != polled.0 {
                return End::Again;
            }
            let idle = Word(pending.fold(word.0) & !WAKES);
            match self.exchange(word, idle, edge(Edge::StateEnd, Ordering::AcqRel)) {
                Ok(()) => return End::Idle,
                Err(actual) => word = actual,
            }
        }
    }

    /// Folds in the changes that the poller has deferred. The caller polls the task.
    ///
    /// The exchange orders nothing. The task stays the poller's, and the poller follows no word of
    /// another thread's here. The next [`begin`](Self::begin) acquires what wakers have released,
    /// because a read-modify-write of any ordering continues their release sequences. The poller
    /// releases its own writes with the berth's lock or with its last change of the word. A thread
    /// that drops a public reference and the poller both look at the word and at the berth. The
    /// berth's lock orders those looks.
    #[cold]
    pub(crate) fn fold(&self, pending: Pending) {
        let mut word = self.load();
        while let Err(actual) = self.exchange(word, Word(pending.fold(word.0)), Ordering::Relaxed) {
            word = actual;
        }
    }

    /// Takes all tokens beyond the `consumed` ones, if there are any, and returns the new count of
    /// consumed tokens.
    #[inline(always)]
    pub(crate) fn take_token(&self, consumed: u8) -> Option<u8> {
        let word = Word(self.0.load(edge(Edge::StateBegin, Ordering::Acquire)));
        if word.0 & TOKENS == TOKENS {
            return Some(self.take_saturated());
        }
        let tokens = word.tokens();
        (tokens > consumed).then_some(tokens)
    }

    /// A full field cannot show further tokens, so `take_token` empties it whenever it finds it
    /// full. Hence a count of consumed tokens is at most two, and a full field holds one more.
    ///
    /// Acquire ordering: an unpark between the poller's look and this change finds the field full
    /// and leaves it so. This change takes the token of that unpark, so the park must see what came
    /// before the unpark. No release: the task stays the poller's.
    #[cold]
    fn take_saturated(&self) -> u8 {
        self.0.fetch_and(!TOKENS, edge(Edge::StateTokens, Ordering::Acquire));
        0
    }

    /// Attempts once to mark the task complete, from the value `word`. With `unregister` the
    /// scheduler's hold ends in the same step, and the caller learns whether it was the last.
    pub(crate) fn complete(
        &self,
        word: Word,
        pending: Pending,
        unregister: bool,
    ) -> Result<Release, Word> {
        let mut fresh = pending.fold(word.0) | COMPLETE;
        if unregister {
            fresh &= !REGISTERED;
        }
        self.exchange(word, Word(fresh), edge(Edge::StateComplete, Ordering::AcqRel))
            .map(|()| Release::of(Word(fresh)))
    }

    /// Ends the scheduler's hold.
    pub(crate) fn unregister(&self) -> Release {
        let before = self.0.fetch_and(!REGISTERED, edge(Edge::StateRelease, Ordering::AcqRel));
        Release::of(Word(before & !REGISTERED))
    }

    /// Gives the slot with the joiner's waker to the completer.
    #[inline]
    pub(crate) fn set_joiner(&self) -> Join {
        self.change_unless_complete(|word| word | JOINER)
    }

    /// Takes the slot back.
    pub(crate) fn unset_joiner(&self) -> Join {
        self.change_unless_complete(|word| word & !JOINER)
    }

    /// Ends the handle's hold on a task that is not complete.
    pub(crate) fn detach(&self) -> Join {
        self.change_unless_complete(|word| word & !HANDLE)
    }

    /// Gives the handle up, unless the task is complete: returns `None` then, and else the word
    /// before the change. If that has a joiner, the slot with its waker is the caller's. The caller
    /// has a reference.
    ///
    /// Acquire ordering: the caller follows `JOINER` to the waker. No release: see the head of this
    /// file.
    #[cold]
    pub(crate) fn give_up(&self) -> Option<Word> {
        let mut word = self.load();
        loop {
            match word.joined() {
                Join::Complete => return None,
                // No handle, or one that has been given up.
                Join::GivenUp => return (!word.is_complete()).then_some(word),
                Join::Done => {}
            }
            let fresh = Word((word.0 & !(HANDLE | JOINER)).wrapping_add(REFERENCE));
            match self.exchange(word, fresh, edge(Edge::StateGiveUp, Ordering::Acquire)) {
                Ok(()) => break,
                Err(actual) => word = actual,
            }
        }
        if word.0 & OTHERS_TOP != 0 {
            Self::check_references(word.0);
        }
        Some(word)
    }

    /// Ends the handle's hold on a complete task, after its output is gone.
    pub(crate) fn release_handle(&self) -> Release {
        let before = self.0.fetch_and(!HANDLE, edge(Edge::StateRelease, Ordering::AcqRel));
        Release::of(Word(before & !HANDLE))
    }

    /// Counts a new reference. The caller holds one, or polls the task.
    pub(crate) fn add_reference(&self) {
        let before = self.0.fetch_add(REFERENCE, Ordering::Relaxed);
        if before & OTHERS_TOP != 0 {
            Self::check_references(before);
        }
    }

    /// Whether there are so many references that each new one is to be counted at once, and not at
    /// the end of a poll: [`add_reference`](Self::add_reference) then checks the count.
    #[inline(always)]
    pub(crate) fn has_many_references(&self) -> bool {
        self.0.load(Ordering::Relaxed) & OTHERS_TOP != 0
    }

    /// Aborts a process in which the count is about to wrap: that would free a task that is in use.
    #[cold]
    fn check_references(word: u64) {
        let too_many = if word & PARTED == 0 {
            word as i64 >> REFERENCE.trailing_zeros() > MOST_REFERENCES
        } else {
            // A field that is a few below zero is not too large.
            word % PUBLIC / REFERENCE + Pending::MOST < PUBLIC / REFERENCE
        };
        if too_many {
            std::process::abort();
        }
    }

    /// Counts a new reference to the public part. The caller holds one, or polls the task, or has
    /// found that the future has one: under the part's lock, where the future does not end; or
    /// under the lock of a place that the future empties before it gives its own up.
    #[inline]
    pub(crate) fn add_public(&self) {
        let before = self.0.fetch_add(PUBLIC, Ordering::Relaxed);
        if has_too_many_publics(before) {
            std::process::abort();
        }
    }

    /// Counts a reference out.
    pub(crate) fn drop_reference(&self) -> Release {
        let before = self.0.fetch_sub(REFERENCE, edge(Edge::StateRelease, Ordering::AcqRel));
        Release::of(Word(before.wrapping_sub(REFERENCE)))
    }

    /// Counts a reference to the public part out.
    pub(crate) fn drop_public(&self) -> Release {
        let before = self.0.fetch_sub(PUBLIC, edge(Edge::StateRelease, Ordering::AcqRel));
        Release::of(Word(before.wrapping_sub(PUBLIC)))
    }

    /// Counts a reference to the public part out, unless the count is exactly `others`: then
    /// nothing changes.
    #[inline]
    pub(crate) fn drop_public_beside(&self, others: u64) -> Option<Release> {
        let mut word = self.load();
        loop {
            if word.publics() == others as i64 && !word.is_complete() {
                return None;
            }
            let fresh = Word(word.0.wrapping_sub(PUBLIC));
            match self.exchange(word, fresh, edge(Edge::StateRelease, Ordering::AcqRel)) {
                Ok(()) => return Some(Release::of(fresh)),
                Err(actual) => word = actual,
            }
        }
    }

    /// Release ordering: the completer or the ender follows `JOINER` to the waker, and the thread
    /// that frees the task comes after all that the joiner did with it. No acquire: a task that is
    /// not complete has nothing for the joiner. A failure acquires, and may find the task complete.
    fn change_unless_complete(&self, change: impl Fn(u64) -> u64) -> Join {
        let mut word = self.load_joined();
        loop {
            let joined = word.joined();
            if joined != Join::Done {
                return joined;
            }
            let order = edge(Edge::StateJoin, Ordering::Release);
            match self.exchange(word, Word(change(word.0)), order) {
                Ok(()) => return Join::Done,
                Err(actual) => word = actual,
            }
        }
    }

    #[inline(always)]
    fn exchange(&self, from: Word, to: Word, order: Ordering) -> Result<(), Word> {
        let failure =
            if order == Ordering::Relaxed { Ordering::Relaxed } else { Ordering::Acquire };
        self.0.compare_exchange(from.0, to.0, order, failure).map(|_| ()).map_err(Word)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
