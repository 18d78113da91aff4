//! Conditions: where a holder waits if it cannot go on.

#![allow(unsafe_code, reason = "waiting tasks are linked through their futures")]

use super::core::Core;
use super::cores::CoreRef;
use super::held::Held;
use super::members::Members;
use super::node::{List, Node, Place};
use super::set::Set;
use crate::detect;
use crate::primitives::cell::UnsafeCell;
use crate::task::word_waker::WordWaker;
use std::fmt;
use std::sync::OnceLock;
use std::task::Waker;

/// A queue of tasks that wait inside a set of monitors until another task
/// [signals](Condition::signal) them, first come first served. Each waiter brings a datum `D`,
/// which holders can read ([`Condition::front`]).
///
/// The first wait binds a condition to its set of monitors; it belongs to no other set from then
/// on. A condition lies beside the value of a [`Monitor`](super::Monitor), as its second part, or
/// anywhere that outlives the waits.
///
/// # Source
/// Hoare, "Monitors: an operating system structuring concept", 1974; the binding to sets of
/// monitors is C∀'s (Delisle, MMath thesis, University of Waterloo, 2018).
///
/// # Examples
/// [`Monitor`](super::Monitor) has a buffer with two conditions. A gate lets all waiting tasks
/// pass, one after the other:
/// ```
/// use evenkeel::sync::monitor::{Condition, Monitor};
///
/// # evenkeel::block_on(async {
/// let gate = Monitor::<bool, Condition>::default();
/// let runner = async || {
///     let mut is_open = gate.enter().await;
///     if !*is_open {
///         is_open = gate.conditions().wait(is_open).await;
///     }
///     assert!(*is_open);
/// };
/// let starter = async {
///     let mut is_open = gate.enter().await;
///     *is_open = true;
///     assert_eq!(gate.conditions().signal_all(&mut is_open), 2);
///     assert!(gate.conditions().is_empty(&is_open));
/// };
/// futures::join!(runner(), runner(), starter);
/// # });
/// ```
/// Customers bring the number of rolls that they want, and a baker bakes for each in turn:
/// ```
/// use evenkeel::sync::monitor::{Condition, Monitor};
///
/// # evenkeel::block_on(async {
/// let rolls = Monitor::<u32, Condition<u32>>::default();
/// let customer = async |count| {
///     let held = rolls.enter().await;
///     let mut held = rolls.conditions().wait_with(held, count).await;
///     *held -= count;
/// };
/// let baker = async {
///     let mut held = rolls.enter().await;
///     while let Some(count) = rolls.conditions().front(&held) {
///         *held += count;
///         (held, _) = rolls.conditions().signal_block(held).await;
///         assert_eq!(*held, 0, "the customer has been inside");
///     }
/// };
/// futures::join!(customer(3), customer(5), baker);
/// # });
/// ```
/// Only a holder can wait:
/// ```compile_fail,E0308
/// # use evenkeel::sync::monitor::{Condition, Monitor};
/// let monitor = Monitor::new(0_u32);
/// let condition = Condition::new();
/// let wait = condition.wait(&monitor);
/// ```
/// A condition with a waiter cannot be dropped:
/// ```compile_fail,E0505
/// # use evenkeel::sync::monitor::{Condition, Monitor};
/// let monitor = Monitor::new(0_u32);
/// let condition = Condition::new();
/// let wait = condition.wait(monitor.try_enter().unwrap());
/// drop(condition);
/// drop(wait);
/// ```
pub struct Condition<D = ()> {
    pub(super) queue: Queue,
    datum: std::marker::PhantomData<fn(D) -> D>,
}

/// A condition without its data.
pub(super) struct Queue {
    /// The monitors of the first wait, by number.
    brand: OnceLock<Brand>,
    /// Guarded by the lock of the set's leader.
    list: UnsafeCell<List>,
}

/// A set, by the numbers of its cores, in the order in which the first wait had them. Addresses
/// change as monitors move.
#[derive(Debug)]
struct Brand {
    first: u64,
    rest: Box<[u64]>,
}

// SAFETY: holders of the set that the condition belongs to, and its waiters, reach the queue under
// the leader's lock. Data move between threads, as `D: Send` permits.
unsafe impl<D: Send> Sync for Condition<D> {}
// SAFETY: as above.
unsafe impl<D: Send> Send for Condition<D> {}

/// What a waiter brings.
#[repr(C)]
pub(super) struct Waiter<D> {
    pub(super) node: Node,
    pub(super) datum: D,
}

impl<D> Condition<D> {
    /// Creates a condition without waiters, bound to no set.
    #[must_use]
    pub fn new() -> Self {
        let queue = Queue { brand: OnceLock::new(), list: UnsafeCell::new(List::new()) };
        Self { queue, datum: std::marker::PhantomData }
    }
}

impl Brand {
    /// Whether it is the brand of this set, in the same order.
    ///
    /// # Safety
    /// The cores' monitors are borrowed.
    #[inline(always)]
    unsafe fn is_of(&self, cores: &[CoreRef]) -> bool {
        // SAFETY: the caller's promise.
        let is = |number: &u64, core: CoreRef| unsafe { core.get() }.id() == *number;
        is(&self.first, cores[0])
            && self.rest.len() + 1 == cores.len()
            && self.rest.iter().zip(&cores[1..]).all(|(number, core)| is(number, *core))
    }

    /// Whether it is the brand of this set, in any order.
    ///
    /// # Safety
    /// As [`is_of`](Self::is_of).
    unsafe fn is_of_some_order(&self, cores: &[CoreRef]) -> bool {
        // SAFETY: the caller's promise.
        let is_there = |core: &CoreRef| match unsafe { core.get() }.id() {
            id if id == self.first => true,
            id => self.rest.contains(&id),
        };
        // No monitor is twice in a set.
        cores.len() == self.rest.len() + 1 && cores.iter().all(is_there)
    }
}

impl Queue {
    /// Binds it to this set, if it is bound to none yet.
    ///
    /// # Panics
    /// If it is bound to another.
    ///
    /// # Safety
    /// The cores' monitors are borrowed.
    #[inline(always)]
    #[track_caller]
    pub(super) unsafe fn bind(&self, cores: &[CoreRef]) {
        // SAFETY: the caller's promise.
        if !unsafe { self.is_bound(cores) } {
            // SAFETY: the caller's promise.
            unsafe { self.bind_now(cores) };
        }
    }

    #[cold]
    #[track_caller]
    unsafe fn bind_now(&self, cores: &[CoreRef]) {
        self.brand.get_or_init(|| Brand {
            // SAFETY: the caller's promise.
            first: unsafe { cores[0].get() }.id(),
            // SAFETY: as above.
            rest: cores[1..].iter().map(|core| unsafe { core.get() }.id()).collect(),
        });
        // Another thread may have bound it first, to another set.
        // SAFETY: as above.
        unsafe { self.is_bound(cores) };
    }

    /// Whether it is bound to this set. False if it is bound to none: then it has no waiter.
    ///
    /// # Panics
    /// If it is bound to another.
    ///
    /// # Safety
    /// The cores' monitors are borrowed.
    #[inline(always)]
    #[track_caller]
    pub(super) unsafe fn is_bound(&self, cores: &[CoreRef]) -> bool {
        let Some(brand) = self.brand.get() else { return false };
        // SAFETY: the caller's promise.
        if !unsafe { brand.is_of(cores) } {
            // SAFETY: the caller's promise.
            unsafe { Self::check(brand, cores) };
        }
        true
    }

    #[cold]
    #[track_caller]
    unsafe fn check(brand: &Brand, cores: &[CoreRef]) {
        assert!(
            // SAFETY: the caller's promise.
            unsafe { brand.is_of_some_order(cores) },
            "a condition is used inside other monitors than those of its first wait: use one condition for each set of monitors"
        );
    }

    /// The list.
    ///
    /// # Safety
    /// The caller has the lock of the leader of the set that the condition is bound to, and reaches
    /// the list through this call alone.
    #[inline(always)]
    pub(super) unsafe fn with<R>(&self, f: impl FnOnce(&mut List) -> R) -> R {
        self.list.with_mut(|list| {
            // SAFETY: the caller's promise.
            f(unsafe { &mut *list })
        })
    }

    /// Signals up to `most` waiters, and returns how many it signalled.
    ///
    /// # Safety
    /// The caller holds the set that it is bound to, of which this is the leader.
    #[inline(always)]
    unsafe fn signal(&self, leader: &Core, most: usize) -> usize {
        let mut state = leader.lock();
        let mut count = 0;
        while count < most
            // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
            && let Some(waiter) = unsafe { self.with(take_next) }
        {
            // SAFETY: it has just been taken out of the queue, and waits with this lock.
            unsafe { state.push_signalled(waiter) };
            count += 1;
        }
        leader.note_urgent(&state);
        count
    }

    /// Signals the first waiter, whether it has been chosen or not.
    ///
    /// # Safety
    /// As [`signal`](Self::signal).
    pub(super) unsafe fn signal_front(&self, leader: &Core) {
        let mut state = leader.lock();
        // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
        if let Some(waiter) = unsafe { self.with(List::take) } {
            // SAFETY: it has just been taken out of the queue, and waits with this lock.
            unsafe { state.push_signalled(waiter) };
            leader.note_urgent(&state);
        }
    }

    /// Turns the chosen waiter, if it is still there, back into an ordinary one, and wakes it: its
    /// limit may have come meanwhile.
    ///
    /// # Safety
    /// This is the leader of the set that the condition is bound to.
    pub(super) unsafe fn unchoose(&self, leader: &Core) {
        // Waking uses up the waiter's waker. The waiter stores another one when it is polled.
        let idle = WordWaker::boxed(Waker::noop());
        let state = leader.lock();
        let is_chosen = |list: &mut List| list.find(|ticket| ticket.place == Place::Chosen);
        // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
        let Some(waiter) = (unsafe { self.with(is_chosen) }) else {
            drop(state);
            return;
        };
        // SAFETY: it waits, and this thread has the lock.
        unsafe { waiter.with(|ticket| ticket.place = Place::Condition) };
        detect::renewed(std::ptr::from_ref(waiter).cast(), || None);
        // SAFETY: as above.
        let waker = unsafe { waiter.word.replace(idle) };
        drop(state);
        waker.wake();
    }

    /// Whether it is bound to this set.
    ///
    /// # Safety
    /// The cores' monitors are borrowed.
    pub(super) unsafe fn is_of(&self, cores: &[CoreRef]) -> bool {
        // SAFETY: the caller's promise.
        self.brand.get().is_some_and(|brand| unsafe { brand.is_of_some_order(cores) })
    }
}

/// Takes out the waiter that a signal is for: the first one that no other signaller has chosen and
/// prepares something for.
#[inline(always)]
pub(super) fn take_next<'a>(list: &mut List) -> Option<&'a Node> {
    let next = list.find(|ticket| ticket.place != Place::Chosen)?;
    // SAFETY: it is in this list.
    unsafe { list.remove(next.into()) };
    Some(next)
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
    /// Signals the task that has waited longest: it goes on as soon as the holder leaves or waits,
    /// before all entrants. Returns false if no task waits. Tasks that one holder has signalled go
    /// on in the order of the signals.
    ///
    /// # Panics
    /// If the condition belongs to another set of monitors.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::sync::monitor::{Condition, Monitor};
    ///
    /// # evenkeel::block_on(async {
    /// let steps = Monitor::<Vec<&str>, Condition>::default();
    /// let waiter = async {
    ///     let held = steps.enter().await;
    ///     steps.conditions().wait(held).await.push("waiter");
    /// };
    /// let signaller = async {
    ///     let mut held = steps.enter().await;
    ///     assert!(steps.conditions().signal(&mut held));
    ///     assert!(!steps.conditions().signal(&mut held), "there was one waiter");
    ///     held.push("signaller");
    /// };
    /// futures::join!(waiter, signaller);
    /// assert_eq!(steps.into_inner(), ["signaller", "waiter"]);
    /// # });
    /// ```
    #[inline]
    #[track_caller]
    pub fn signal<S: Set>(&self, held: &mut Held<S>) -> bool {
        self.signal_up_to(held, 1) > 0
    }

    /// Signals all waiting tasks, and returns their number. They go on one after the other, the one
    /// that has waited longest first.
    ///
    /// # Panics
    /// As [`signal`](Self::signal).
    #[track_caller]
    pub fn signal_all<S: Set>(&self, held: &mut Held<S>) -> usize {
        self.signal_up_to(held, usize::MAX)
    }

    #[inline(always)]
    #[track_caller]
    fn signal_up_to<S: Set>(&self, held: &mut Held<S>, most: usize) -> usize {
        let members = held.members();
        // SAFETY: the set borrows its monitors.
        if !unsafe { self.queue.is_bound(members.written().as_ref()) } {
            return 0;
        }
        // SAFETY: as above.
        let leader = unsafe { members.leader().get() };
        // SAFETY: the set is held, and the condition belongs to it.
        unsafe { self.queue.signal(leader, most) }
    }

    /// Returns whether no task waits.
    ///
    /// The answer holds for this moment only. The limit of a [limited wait](Self::wait_until) may
    /// end it at any time, also while the monitors are held. A signal after that finds the next
    /// waiter, or none. [`signal_block_with`](Self::signal_block_with) looks and signals in one
    /// step.
    ///
    /// # Panics
    /// As [`signal`](Self::signal).
    #[track_caller]
    pub fn is_empty<S: Set>(&self, held: &Held<S>) -> bool {
        self.look(held, List::is_empty).unwrap_or(true)
    }

    /// Returns the datum of the task that has waited longest, or `None` if no task waits.
    ///
    /// As with [`is_empty`](Self::is_empty), that task may stop waiting before a signal that
    /// follows.
    ///
    /// # Panics
    /// As [`signal`](Self::signal).
    #[track_caller]
    pub fn front<S: Set>(&self, held: &Held<S>) -> Option<D>
    where
        D: Copy,
    {
        let front = |list: &List| {
            let waiter = list.front()?.cast::<Waiter<D>>();
            // SAFETY: each node of this list is the beginning of a `Waiter<D>`, and was put there
            // by the address of that. No task changes a `Waiter` while it waits.
            Some(unsafe { waiter.as_ref() }.datum)
        };
        self.look(held, front).flatten()
    }

    /// Chooses the task that has waited longest as the next to be signalled, and returns its datum.
    /// From then on its wait ends only by that signal or by being dropped, and other signals pass
    /// it by. None if no task waits. The caller signals the front, or unchooses it.
    ///
    /// # Panics
    /// As [`signal`](Self::signal).
    #[track_caller]
    pub(super) fn choose<S: Set>(&self, held: &Members<S>) -> Option<D>
    where
        D: Copy,
    {
        let choose = |list: &List| {
            let waiter = list.front()?.cast::<Waiter<D>>();
            // SAFETY: as in `front`.
            let waiter = unsafe { waiter.as_ref() };
            // SAFETY: it waits, and this thread has the leader's lock.
            unsafe { waiter.node.with(|ticket| ticket.place = Place::Chosen) };
            Some(waiter.datum)
        };
        self.look_inside(held, choose).flatten()
    }

    /// Looks at the queue, unless the condition is not bound yet and so has no waiter.
    ///
    /// # Panics
    /// As [`signal`](Self::signal).
    #[track_caller]
    fn look<S: Set, R>(&self, held: &Held<S>, f: impl FnOnce(&List) -> R) -> Option<R> {
        self.look_inside(held.members(), f)
    }

    #[track_caller]
    fn look_inside<S: Set, R>(
        &self,
        members: &Members<S>,
        f: impl FnOnce(&List) -> R,
    ) -> Option<R> {
        // SAFETY: the set borrows its monitors.
        if !unsafe { self.queue.is_bound(members.written().as_ref()) } {
            return None;
        }
        // SAFETY: as above.
        let _state = unsafe { members.leader().get() }.lock();
        // SAFETY: this thread has the leader's lock, and the condition belongs to the set.
        Some(unsafe { self.queue.with(|list| f(list)) })
    }
}
