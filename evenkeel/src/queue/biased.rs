//! The owner-biased lock: its owner enters for the price of two stores and a load.
//!
//! # Roles
//! One *owner*, the worker that holds a processor's seat, enters millions of times a second.
//! *Thieves*, all other threads, come rarely and pay for both sides, unless the owner pays.
//!
//! # States
//! `busy`: the owner is inside an operation. `claim`: zero; or [`CLAIMED`], a thief has or wants
//! the value; or a *request*, the number of a processor that asks the owner for work; or both.
//! `fenced`: the owner makes a full fence at each of its operations, so that thieves need not pay.
//! The owner chooses, and so does a thief that pays for a heavy fence.
//!
//! # Protocol
//! The owner enters (1 to 3) and leaves (4):
//! 1. `busy := true`, and a light fence.
//! 2. If `fenced`: a full fence.
//! 3. If `claim` has [`CLAIMED`]: `busy := false`, wait until [`CLAIMED`] is cleared, and begin
//!    again. Otherwise the owner has the value.
//! 4. `busy := false` (release).
//!
//! A thief claims (1 to 5) and leaves (6):
//! 1. It locks `gate`, so that there is one thief.
//! 2. If the owner is not `fenced`: `fenced := true`, and a heavy fence.
//! 3. It sets [`CLAIMED`], and makes a full fence.
//! 4. If the owner is no longer `fenced`, the thief clears [`CLAIMED`] and leaves with nothing.
//! 5. It waits until `busy` is false; then the thief has the value.
//! 6. It clears [`CLAIMED`] (release) and unlocks `gate`.
//!
//! An owner that the operating system has preempted inside an operation keeps `busy` set: after a
//! bound the thief clears [`CLAIMED`] and leaves with nothing.
//!
//! Between two operations the owner becomes fenced by `fenced := true` (release), and unfenced by
//! `fenced := false` and a full fence. Where there is no heavy fence, the owner is always fenced.
//! If the system refuses a thief its heavy fence, that thief takes its `fenced := true` back.
//!
//! A thief asks: it sets a request where `claim` is zero; the owner sees the word anyway when it
//! next enters, and answers. The thief can withdraw a request that the owner has not taken.
//!
//! # Why they exclude each other
//! It is Dekker's pattern: the owner stores `busy`, fences, loads `claim`; the thief stores
//! `claim`, fences, loads `busy`. At least one of the two sees the other's store. If the owner sees
//! the claim, it stays out. If it does not, the thief sees `busy` and waits. The owner's accesses
//! inside happen before its release store of `busy`, which the thief acquires. The thief's accesses
//! happen before its release of `claim`, which the owner acquires on its way in. So the value needs
//! no atomics, and a race detector that knows nothing of `membarrier` finds nothing to report.
//!
//! The thief's fence is a full one. The owner's is one if it sees `fenced`, so the proof needs that
//! each operation of the owner which the thief may meet has seen it.
//! - *The thief has stored it*: the pattern once more. The owner stores `busy`, makes a light
//!   fence, loads `fenced`; the thief stores `fenced`, makes a heavy fence, and later loads `busy`.
//!   An operation that has not seen `fenced` is one whose `busy` the thief sees. A later thief
//!   comes after this one by the gate.
//! - *The owner has stored it*: operations before `fenced := true` are over by then (release and
//!   acquire), and those while it was true have full fences.
//! - *The owner takes it back*: it stores `fenced`, fences, loads `claim`; the thief stores
//!   `claim`, fences, loads `fenced`. It is Dekker's pattern again: if the thief has seen the older
//!   value, the owner sees the claim.
//!
//! # Why no thread waits for ever
//! The owner waits only for a thief inside its section, which moves words or tasks and runs no
//! caller's code. A thief waits for a bounded number of pauses.
//!
//! # Rejected
//! The heavy fence behind the claim: the owner waits for as long as the system call lasts, some 4
//! µs, and for milliseconds if the system takes the thief's core away at its end. On a machine that
//! has other work too, the workers of an echo server (`evenkeel-bench run --bench echo`) spent a
//! twentieth of their time in such waits.
//!
//! A ring with a compare-and-swap per pop: the owner pays at each of its operations for thieves
//! that are not there. A plain mutex: 15 to 20 ns for each push or pop. Hand-over on request alone:
//! an owner inside a long poll would starve its queue. The heavy fence alone: while a worker
//! searches, a fenced owner pays 2 to 5 ns per operation, where the thief of a stuck owner would
//! pay 10 µs and interrupt all cores; with `fenced`, `evenkeel-bench run --bench transfer` takes
//! half as long.

#![allow(unsafe_code, reason = "a lock gives `&mut` from `&`")]

use crate::primitives::atomic::{AtomicBool, AtomicU64, Edge, Ordering, edge};
use crate::primitives::cell::UnsafeCell;
use crate::primitives::spin::{Backoff, pause};
use crate::primitives::{Mutex, MutexGuard, fence};
use crossbeam_utils::CachePadded;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A thief has the value, or waits for the owner to leave.
const CLAIMED: u64 = 1;

/// Pauses that a thief waits for an owner inside an operation. An operation lasts some 10 ns; a
/// hundred pauses are 1 to 4 µs, so an owner that is still inside has been preempted, or moves many
/// tasks. An estimate from these two costs, which no benchmark sets. Two in the models, which are
/// to explore both ends in few schedules.
const THIEF_PATIENCE: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 100 };

/// A value that one owner uses all the time and thieves seldom.
pub(crate) struct Biased<T> {
    /// Beside the value: the owner writes both.
    busy: AtomicBool,
    fenced: AtomicBool,
    value: UnsafeCell<T>,
    /// On a line of its own: the owner only reads it.
    claim: CachePadded<AtomicU64>,
    gate: Mutex<()>,
}

// SAFETY: the protocol gives access to the value to one thread at a time.
unsafe impl<T: Send> Send for Biased<T> {}
// SAFETY: as above: a shared `Biased` moves the value between threads and never shares it.
unsafe impl<T: Send> Sync for Biased<T> {}

impl<T> Biased<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            busy: AtomicBool::new(false),
            fenced: AtomicBool::new(!fence::is_asymmetric()),
            value: UnsafeCell::new(value),
            claim: CachePadded::new(AtomicU64::new(0)),
            gate: Mutex::new(()),
        }
    }

    /// Enters as the owner.
    ///
    /// # Safety
    /// The caller is the only owner: no other thread calls `enter` until a happens-before edge
    /// from the caller's last [`Owned`], and no other `Owned` of this lock exists on this thread.
    #[inline(always)]
    pub(crate) unsafe fn enter(&self) -> Owned<'_, T> {
        if !self.try_enter() {
            self.enter_claimed();
        }
        Owned { lock: self }
    }

    #[inline(always)]
    fn try_enter(&self) -> bool {
        self.busy.store(true, Ordering::Relaxed);
        fence::light(Edge::BiasedLight);
        if self.fenced.load(Ordering::Relaxed) {
            fence::full(Edge::BiasedFenced);
        }
        self.claim.load(edge(Edge::BiasedClaim, Ordering::Acquire)) & CLAIMED == 0
    }

    /// Sets whether the owner makes full fences at its operations.
    ///
    /// # Safety
    /// As for [`enter`](Self::enter).
    pub(crate) unsafe fn set_fenced(&self, fenced: bool) {
        if fenced {
            self.fenced.store(true, edge(Edge::BiasedShow, Ordering::Release));
        } else if fence::is_asymmetric() {
            self.fenced.store(false, Ordering::Relaxed);
            fence::full(Edge::BiasedUnfence);
        }
    }

    /// Returns whether the owner is fenced, so that a claim needs no heavy fence.
    #[inline(always)]
    pub(crate) fn is_fenced(&self) -> bool {
        self.fenced.load(edge(Edge::BiasedShow, Ordering::Acquire))
    }

    #[cold]
    fn enter_claimed(&self) {
        let mut backoff = Backoff::new();
        loop {
            self.busy.store(false, edge(Edge::BiasedLeave, Ordering::Release));
            while self.claim.load(Ordering::Relaxed) & CLAIMED != 0 {
                backoff.snooze();
            }
            if self.try_enter() {
                return;
            }
        }
    }

    /// Takes the value from the owner, by a heavy fence if the owner is not fenced and `heavy`
    /// allows it. Returns `None` if another thief holds the gate, if a heavy fence is needed and
    /// not allowed or refused, if the owner ends its fences meanwhile, or if it stays inside beyond
    /// the bound.
    #[cold]
    pub(crate) fn claim(&self, heavy: bool) -> Option<Claimed<'_, T>> {
        let gate = self.gate.try_lock().ok()?;
        let may_claim = self.is_fenced() || (heavy && self.fence_owner());
        if !may_claim {
            return None;
        }
        self.claim.fetch_or(CLAIMED, Ordering::Relaxed);
        fence::after_read_modify_write(Edge::BiasedClaimed);
        let claimed = Claimed { lock: self, _gate: gate };
        if !self.is_fenced() {
            return None;
        }
        for _ in 0..THIEF_PATIENCE {
            if !self.busy.load(edge(Edge::BiasedBusy, Ordering::Acquire)) {
                return Some(claimed);
            }
            pause();
        }
        None
    }

    /// Makes the owner fenced, for a thief that holds the gate. Returns false if the system has
    /// refused the heavy fence.
    fn fence_owner(&self) -> bool {
        self.fenced.store(true, Ordering::Relaxed);
        let is_done = fence::heavy(Edge::BiasedHeavy);
        if !is_done {
            self.fenced.store(false, Ordering::Relaxed);
        }
        is_done
    }

    /// Leaves a request of processor `thief` for the owner. Returns false if there is a claim or
    /// another request already.
    ///
    /// The changes of a request order nothing. The thief tells the owner only the number in the
    /// word. The answer goes by the lock of the [gift](super::gift). The fences of
    /// [`idle`](crate::idle) find a thief that sleeps meanwhile. Each change is a
    /// read-modify-write, and so continues the release sequence of an earlier thief's end of its
    /// claim: an owner that sees the request acquires from that thief.
    pub(crate) fn ask(&self, thief: usize) -> bool {
        self.claim
            .compare_exchange(0, request_of(thief), Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// Withdraws the request of processor `thief`. Returns false if the owner has taken it, and
    /// then answers it. It is one or the other by the order of changes of `claim` alone.
    pub(crate) fn withdraw(&self, thief: usize) -> bool {
        let mut claim = self.claim.load(Ordering::Relaxed);
        while claim & !CLAIMED == request_of(thief) {
            match self.claim.compare_exchange_weak(
                claim,
                claim & CLAIMED,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(actual) => claim = actual,
            }
        }
        false
    }

    /// Returns whether there is a request; for the owner, which has the line in its cache.
    #[inline(always)]
    pub(crate) fn is_asked(&self) -> bool {
        self.claim.load(Ordering::Relaxed) > CLAIMED
    }

    /// Takes the request, if there is one: the owner then has to answer it. This orders nothing, as
    /// [`ask`](Self::ask) says.
    #[cold]
    pub(crate) fn take_request(&self) -> Option<usize> {
        let claim = self.claim.fetch_and(CLAIMED, Ordering::Relaxed);
        thief_of(claim)
    }
}

/// The word of a request: the processor's number, counted from one, above the claim bit.
const fn request_of(thief: usize) -> u64 {
    (thief as u64 + 1) << 1
}

const fn thief_of(claim: u64) -> Option<usize> {
    match claim >> 1 {
        0 => None,
        number => Some(number as usize - 1),
    }
}

impl<T> fmt::Debug for Biased<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Biased").finish_non_exhaustive()
    }
}

/// The owner's access to the value.
pub(crate) struct Owned<'a, T> {
    lock: &'a Biased<T>,
}

impl<T> Deref for Owned<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the owner is inside (`enter`), which excludes thieves; the borrow ends before
        // it leaves.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for Owned<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above; `enter` promises that there is no other `Owned`, and `&mut self` that
        // there is no other borrow through this one.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Owned<'_, T> {
    /// Leaves by a read-modify-write, which is a full fence between the accesses inside and those
    /// that follow: half the price of a separate fence.
    #[inline(always)]
    pub(crate) fn leave_fenced(self, edge_of_fence: Edge) {
        let lock = self.lock;
        std::mem::forget(self);
        lock.busy.swap(false, edge(Edge::BiasedLeave, Ordering::AcqRel));
        fence::after_read_modify_write(edge_of_fence);
    }
}

impl<T> Drop for Owned<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.busy.store(false, edge(Edge::BiasedLeave, Ordering::Release));
    }
}

/// A thief's access to the value, or its attempt at it.
pub(crate) struct Claimed<'a, T> {
    lock: &'a Biased<T>,
    /// Held for as long as the claim is set: one thief at a time.
    _gate: MutexGuard<'a, ()>,
}

impl<T> Deref for Claimed<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `claim` returns a `Claimed` only after it saw `busy` false behind its full
        // fence, of a fenced owner. The owner stays out for as long as the claim is set.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for Claimed<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above; the gate excludes other thieves, `&mut self` other borrows.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Drop for Claimed<'_, T> {
    fn drop(&mut self) {
        self.lock.claim.fetch_and(!CLAIMED, edge(Edge::BiasedUnclaim, Ordering::Release));
    }
}

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
