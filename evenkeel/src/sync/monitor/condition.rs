//! Conditions: where those wait who are inside a monitor and cannot go on.

#![allow(unsafe_code, reason = "waiting tasks are linked through their futures")]

use super::core::CoreRef;
use super::held::Held;
use super::node::{List, Node};
use super::set::Set;
use crate::primitives::cell::UnsafeCell;
use std::fmt;
use std::sync::OnceLock;

/// A queue of tasks that wait inside a set of monitors until another one [signals](Condition::signal) them, first come first served. Each brings a datum `D`,
/// which others may look at ([`Condition::front`]).
///
/// A condition belongs to the set of monitors that the first one waits in, and to no other from then on. It lies beside the value of a
/// [`Monitor`](super::Monitor), as its second part, or anywhere that outlives the waits.
///
/// # Source
/// Hoare, "Monitors: an operating system structuring concept", 1974; the binding to sets of monitors is C∀'s (Delisle, MMath thesis, University of
/// Waterloo, 2018).
///
/// # Examples
/// See [`Monitor`](super::Monitor). Nobody waits without being inside:
/// ```compile_fail,E0308
/// # use evenkeel::sync::monitor::{Condition, Monitor};
/// let monitor = Monitor::new(0_u32);
/// let condition = Condition::new();
/// let wait = condition.wait(&monitor);
/// ```
/// A condition that somebody waits for cannot be dropped:
/// ```compile_fail,E0505
/// # use evenkeel::sync::monitor::{Condition, Monitor};
/// let monitor = Monitor::new(0_u32);
/// let condition = Condition::new();
/// let wait = condition.wait(monitor.try_enter().unwrap());
/// drop(condition);
/// drop(wait);
/// ```
pub struct Condition<D = ()> {
    /// The monitors of the first wait, by their numbers.
    brand: OnceLock<Brand>,
    /// Guarded by the lock of the set's leader.
    queue: UnsafeCell<List>,
    datum: std::marker::PhantomData<fn(D) -> D>,
}

/// A set, by numbers: addresses change as monitors move, and with them who leads.
#[derive(Debug)]
struct Brand {
    leader: u64,
    rest: Box<[u64]>,
}

// SAFETY: the queue is reached under the leader's lock, by holders of the set that the condition belongs to and by its waiters; data go from
// thread to thread, as `D: Send` permits.
unsafe impl<D: Send> Sync for Condition<D> {}
// SAFETY: as above.
unsafe impl<D: Send> Send for Condition<D> {}

impl Brand {
    /// Whether this is its set, whose monitors have been moved and have other addresses in another order.
    #[cold]
    fn is_moved(&self, cores: &[CoreRef], id: impl Fn(&CoreRef) -> u64) -> bool {
        let has = |id| self.leader == id || self.rest.contains(&id);
        // No monitor is twice in a set.
        cores.len() > 1 && cores.len() == self.rest.len() + 1 && cores.iter().map(id).all(has)
    }
}

/// What a waiter brings.
#[repr(C)]
pub(super) struct Waiter<D> {
    pub(super) node: Node,
    pub(super) datum: D,
}

impl<D> Condition<D> {
    /// A condition that nobody waits for.
    #[must_use]
    pub fn new() -> Self {
        Self {
            brand: OnceLock::new(),
            queue: UnsafeCell::new(List::new()),
            datum: std::marker::PhantomData,
        }
    }

    /// Binds it to this set, if it is bound to none yet.
    ///
    /// # Panics
    /// If it is bound to another.
    ///
    /// # Safety
    /// The cores' monitors are borrowed.
    #[inline]
    #[track_caller]
    pub(super) unsafe fn bind(&self, cores: &[CoreRef]) {
        // SAFETY: the caller's promise.
        let id = |core: &CoreRef| unsafe { core.get() }.id();
        let brand = self.brand.get_or_init(|| Brand {
            leader: id(&cores[0]),
            rest: cores[1..].iter().map(id).collect(),
        });
        let same = brand.leader == id(&cores[0])
            && brand.rest.len() + 1 == cores.len()
            && brand.rest.iter().zip(&cores[1..]).all(|(brand, core)| *brand == id(core));
        assert!(
            same || brand.is_moved(cores, id),
            "a condition is used inside other monitors than those of its first wait: use one condition for each set of monitors"
        );
    }

    /// Whether it is bound to this set. Not if it is bound to none: then nobody waits.
    ///
    /// # Panics
    /// If it is bound to another.
    ///
    /// # Safety
    /// The cores' monitors are borrowed.
    #[inline]
    #[track_caller]
    pub(super) unsafe fn is_bound(&self, cores: &[CoreRef]) -> bool {
        if self.brand.get().is_none() {
            return false;
        }
        // SAFETY: the caller's promise.
        unsafe { self.bind(cores) };
        true
    }

    /// The queue.
    ///
    /// # Safety
    /// The caller has the lock of the leader of the set that the condition is bound to, and reaches the queue through this call alone.
    #[inline(always)]
    pub(super) unsafe fn with_queue<R>(&self, f: impl FnOnce(&mut List) -> R) -> R {
        self.queue.with_mut(|queue| {
            // SAFETY: the caller's promise.
            f(unsafe { &mut *queue })
        })
    }
}

impl<D> Default for Condition<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<D> fmt::Debug for Condition<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condition").finish_non_exhaustive()
    }
}

impl<D> Condition<D> {
    /// Has the task that waits longest go on as soon as the holder leaves or waits, before anybody who wants to enter. False if nobody waits.
    /// Tasks that one holder has signalled go on in the order of the signals.
    ///
    /// # Panics
    /// If the condition belongs to another set of monitors.
    #[inline]
    #[track_caller]
    pub fn signal<S: Set>(&self, held: &mut Held<S>) -> bool {
        self.signal_up_to(held, 1) > 0
    }

    /// Signals all that wait, and gives their number: they go on one after the other, those first that wait longest.
    ///
    /// # Panics
    /// As [`signal`](Self::signal).
    #[track_caller]
    pub fn signal_all<S: Set>(&self, held: &mut Held<S>) -> usize {
        self.signal_up_to(held, usize::MAX)
    }

    #[inline]
    #[track_caller]
    fn signal_up_to<S: Set>(&self, held: &mut Held<S>, most: usize) -> usize {
        // SAFETY: the set borrows its monitors.
        if !unsafe { self.is_bound(held.cores()) } {
            return 0;
        }
        let leader = held.leader();
        let mut state = leader.lock();
        let mut count = 0;
        while count < most
            // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
            && let Some(waiter) = unsafe { self.with_queue(List::pop) }
        {
            // SAFETY: it has just been taken out of the queue, and waits with this lock.
            unsafe { state.push_signalled(waiter) };
            count += 1;
        }
        leader.note_urgent(&state);
        count
    }

    /// Whether nobody waits.
    ///
    /// # Panics
    /// As [`signal`](Self::signal).
    #[track_caller]
    pub fn is_empty<S: Set>(&self, held: &Held<S>) -> bool {
        // SAFETY: the set borrows its monitors.
        if !unsafe { self.is_bound(held.cores()) } {
            return true;
        }
        let _state = held.leader().lock();
        // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
        unsafe { self.with_queue(|queue| queue.is_empty()) }
    }

    /// The datum of the task that waits longest. None if nobody waits.
    ///
    /// # Panics
    /// As [`signal`](Self::signal).
    #[track_caller]
    pub fn front<S: Set>(&self, held: &Held<S>) -> Option<D>
    where
        D: Copy,
    {
        // SAFETY: the set borrows its monitors.
        if !unsafe { self.is_bound(held.cores()) } {
            return None;
        }
        let _state = held.leader().lock();
        let front = |queue: &mut List| {
            let waiter = std::ptr::from_ref(queue.front()?).cast::<Waiter<D>>();
            // SAFETY: the nodes of this queue are the beginnings of waiters with a `D`, which nobody changes while they wait.
            Some(unsafe { (*waiter).datum })
        };
        // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
        unsafe { self.with_queue(front) }
    }
}
