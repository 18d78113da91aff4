//! A monitor without its data.

#![allow(unsafe_code, reason = "waiting tasks are linked through their futures")]

use super::cores::Cores;
use super::held::breaks_off;
use super::members::Members;
use super::node::{Kind, Node, Op, Place};
use super::reservation;
use super::set::Set;
use super::state::State;
use super::watch;
use crate::detect::Object;
use crate::primitives::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::primitives::const_unless_model;
use crate::primitives::spin_lock::{SpinGuard, SpinLock};
use crate::task::word_waker::WordWaker;
use std::sync::atomic::AtomicU64 as Count;
use std::task::Waker;

/// One monitor.
#[derive(Debug)]
pub(super) struct Core {
    state: SpinLock<State>,
    /// Whether a node is on the urgent list, or the hold continues calls. Only holders change that
    /// from *no* to *yes*, so to a holder *no* is certain.
    urgent: AtomicBool,
    /// Its number for conditions, or zero until one asks.
    id: AtomicU64,
    /// Its identity for [`detect`](crate::detect).
    pub(super) object: Object,
}

/// The outcome of an attempt to enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The caller holds the core.
    Own,
    /// The caller holds the whole set, as the call that an acceptor has waited for.
    Accepted,
    /// The caller has to wait.
    Wait,
}

impl Core {
    const_unless_model! {
        pub(super) const fn new(object: Object) -> Self {
            Self {
                object,
                state: SpinLock::new(State::new()),
                urgent: AtomicBool::new(false),
                id: AtomicU64::new(0),
            }
        }
    }

    /// Returns a number that no other core ever has.
    #[inline(always)]
    pub(super) fn id(&self) -> u64 {
        match self.id.load(Ordering::Relaxed) {
            0 => self.fresh_id(),
            id => id,
        }
    }

    #[cold]
    fn fresh_id(&self) -> u64 {
        static NEXT: Count = Count::new(1);
        let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
        match self.id.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => fresh,
            Err(id) => id,
        }
    }

    #[inline(always)]
    pub(super) fn lock(&self) -> SpinGuard<'_, State> {
        self.state.lock()
    }

    /// Whether a node may be on the urgent list, or the hold may continue calls; for a holder.
    #[inline(always)]
    pub(super) fn has_urgent(&self) -> bool {
        self.urgent.load(Ordering::Relaxed)
    }

    /// Notes whether a node is on the urgent list, or the hold continues calls. The caller has the
    /// lock.
    #[inline(always)]
    pub(super) fn note_urgent(&self, state: &State) {
        self.urgent.store(!state.urgent.is_empty() || state.continues(), Ordering::Relaxed);
    }

    /// Whether it is free.
    pub(super) fn is_free(&self) -> bool {
        !self.lock().owned
    }

    /// Enters, or joins the queue and sets `queued`. `first` says that this is the leader of the
    /// set `cores`, and that the caller holds no other core of the set yet.
    ///
    /// # Safety
    /// The node is in no queue. It and the cores stay where they are until the node has been taken
    /// out.
    #[inline(always)]
    pub(super) unsafe fn enter(
        &self,
        node: &Node,
        cores: Cores<'_>,
        op: Op,
        first: bool,
        waker: &Waker,
        queued: &mut bool,
    ) -> Entry {
        let mut state = self.lock();
        if !state.owned {
            state.owned = true;
            return Entry::Own;
        }
        // SAFETY: the caller's promise.
        unsafe { self.enter_owned(state, node, cores, op, first, waker, queued) }
    }

    /// The same, for a core that is held.
    ///
    /// # Safety
    /// As [`enter`](Self::enter).
    #[expect(clippy::too_many_arguments, reason = "the rest of `enter`, out of line")]
    #[inline(never)]
    unsafe fn enter_owned<'a>(
        &'a self,
        state: SpinGuard<'a, State>,
        node: &Node,
        cores: Cores<'_>,
        op: Op,
        first: bool,
        waker: &Waker,
        queued: &mut bool,
    ) -> Entry {
        let mut spare = None;
        // Declared after the spare waker, so that the lock is released before that is dropped.
        let mut state = state;
        loop {
            if !state.owned {
                state.owned = true;
                return Entry::Own;
            }
            let accepted = first && op.is_in(state.mask) && state.is_accepted(cores);
            if accepted && op != Op::END {
                state.follow_acceptor(op);
                self.note_urgent(&state);
                return Entry::Accepted;
            }
            let Some(waker) = spare.take().or_else(|| WordWaker::of_task(waker)) else {
                // Cloning it runs the caller's code, which must not run under the lock.
                drop(state);
                spare = Some(WordWaker::boxed(waker));
                state = self.lock();
                continue;
            };
            node.fill(Kind::Entry, Place::Entry, cores, op);
            node.word.wait(waker);
            // Before anything that may panic.
            *queued = true;
            if !accepted {
                // SAFETY: the caller's promise.
                unsafe { state.entry.push_back(node.into()) };
                // SAFETY: it waits with this lock; the rest is the caller's promise.
                unsafe { watch::queued(node, cores, self) };
                return Entry::Wait;
            }
            // The acceptor goes on, and the caller comes last.
            // SAFETY: the caller's promise.
            unsafe { state.push_last(node) };
            // Before the grant: the acceptor looks at it without the lock when it leaves.
            self.note_urgent(&state);
            let acceptor = state.take_acceptor(Op::END);
            drop(state);
            acceptor.wake();
            return Entry::Wait;
        }
    }

    /// Enters if the core is free.
    pub(super) fn try_enter(&self) -> bool {
        let mut state = self.lock();
        !std::mem::replace(&mut state.owned, true)
    }

    /// Gives the core up: with all of its set to the next urgent node; if there is none, alone, to
    /// its reservation or to the first entrant. If the holder's call breaks off, its acceptor
    /// learns it.
    #[inline(always)]
    pub(super) fn release(&self) {
        let mut state = self.lock();
        if state.is_unclaimed() {
            (state.owned, state.call) = (false, None);
        } else {
            self.hand_over(state);
        }
    }

    #[inline(never)]
    fn hand_over(&self, mut state: SpinGuard<'_, State>) {
        state.break_off();
        let next = if state.urgent.is_empty() {
            if state.is_reserved() {
                drop(state);
                return reservation::release(self);
            }
            state.release()
        } else {
            let next = state.pass_on();
            self.note_urgent(&state);
            next
        };
        drop(state);
        if let Some(next) = next {
            next.wake();
        }
    }

    /// Excuses the holder's call, which has just been accepted, from breaking off, if this thread
    /// is cancelling another call or panicking. In that case a destructor makes the call, so it
    /// counts as complete whenever it leaves.
    #[inline(always)]
    pub(super) fn excuse(&self) {
        if breaks_off() {
            self.lock().forget_call();
        }
    }

    /// Gives the set that this core leads to the next node on the urgent list. Returns false if the
    /// list is empty.
    #[inline(never)]
    fn pass_on(&self) -> bool {
        let mut state = self.lock();
        state.break_off();
        let next = state.pass_on();
        self.note_urgent(&state);
        drop(state);
        next.map(WordWaker::wake).is_some()
    }
}

/// Gives up a held set: as a whole to the next urgent node, or core by core, the leader last, to
/// reservations or entrants. If the hold is a call that breaks off, its acceptor learns it.
///
/// # Safety
/// The caller holds the set.
#[inline(always)]
pub(super) unsafe fn leave<S: Set>(members: &Members<S>) {
    // SAFETY: the set borrows its monitors.
    unsafe { watch::left(members) };
    // SAFETY: as above.
    let leader = unsafe { members.leader().get() };
    if S::SINGLE {
        leader.release();
        return;
    }
    if leader.has_urgent() {
        if breaks_off() {
            // SAFETY: the caller's promise.
            unsafe { reservation::break_off(members) };
        }
        if leader.pass_on() {
            return;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { release_all(members) };
}

/// Releases a set core by core, the leader last.
///
/// # Safety
/// The caller holds it, and no node is urgent.
#[inline]
pub(super) unsafe fn release_all<S: Set>(members: &Members<S>) {
    let mut place = S::place();
    let cores = members.cores(&mut place);
    // SAFETY: the caller's promise; the set borrows its monitors.
    unsafe { release(cores, cores.len()) };
}

/// Releases the first `count` of these cores, the last one first.
///
/// # Safety
/// The caller holds them, and their monitors are borrowed meanwhile.
#[inline(always)]
pub(super) unsafe fn release(cores: Cores<'_>, count: usize) {
    for index in (0..count).rev() {
        // SAFETY: the caller's promise.
        unsafe { cores.get(index).get() }.release();
    }
}
