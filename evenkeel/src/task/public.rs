//! Tasks with a public part: a value in the task's allocation, beside the future, that other code
//! reaches.
//!
//! An actor's mailbox is such a part. In an allocation of its own it would cost a second call of
//! the allocator per actor, forty bytes for another count, another waker and the pointers between
//! the two, and a cache line per message. A [`Public`] is a counted reference to the task, as a
//! waker is: it keeps the allocation, and with it the public part, but not the future.
//!
//! # When the other references have gone
//! The future has a reference too. The thread that drops the last reference beside it wakes the
//! task in the same step, so that the task can find itself [alone](Own::is_alone) and end. Wakers
//! and `Task`s are [counted apart](crate::raw_task::state) and do not matter here: they reach the
//! allocation and not the part. One that is kept for longer than the wait it is for, by other code
//! or by the future itself, keeps the memory and delays no end.
//!
//! # Weak references
//! A [`Weak`] is such a `Task`, from which a reference to the part can be made again. *Upgrade*
//! (any thread): takes the part's lock, counts one reference more unless the berth is deserted or
//! closed, and releases the lock. *Desert* (the future, in its own poll): takes the lock, and looks
//! for what other threads have left in the part. If there is nothing, and the future is alone, it
//! marks the berth, and ends.
//!
//! *An upgraded reference keeps the task.* Of an upgrade and the future's look one comes first
//! under the lock. If the upgrade does, the look finds one more reference. If the look does, the
//! upgrade finds the mark. The look is exact: it includes what the poller has deferred; and another
//! thread that has no reference makes one only while it finds the future's, in a place that the
//! future empties before it gives that up.
//!
//! *No upgrade fails while there is a reference*, unless the future itself has made it after it was
//! deserted. The upgrade does not look at the count: that may be one while a reference which the
//! poller has given away is deferred.
//!
//! *No wake is lost.* An upgrade may come between the last holder's look at the count and its lock.
//! Then that holder wakes the task for nothing, and the thread that drops the new reference wakes
//! it again.

#![allow(unsafe_code, reason = "a reference is an address that is followed to the public part")]

use super::cell::{FIRST, Front, Name, make_public};
use super::task_ref::Task;
use crate::detect::actors::{self, Kept};
use crate::processor::current;
use crate::processor::entered;
use crate::processor::shared::Shared;
use crate::raw_task::berth::{Berth, Parked, Part};
use crate::raw_task::header::{Live, TaskPtr};
use crate::raw_task::id::Id;
use crate::raw_task::rights::{Reference, Runnable};
use crate::raw_task::state::{Release, Signal};
use crate::scheduler::{spawn, wake};
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::offset_of;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

/// A reference to a task with a public part.
pub struct Public<S: Part> {
    task: TaskPtr,
    part: PhantomData<S>,
}

// SAFETY: as for `Public`.
unsafe impl<S: Part + Send + Sync> Send for Own<S> {}
// SAFETY: as for `Public`.
unsafe impl<S: Part + Send + Sync> Sync for Own<S> {}
// SAFETY: it gives `&S` to each thread that has one, and the last of them drops the part where it
// is.
unsafe impl<S: Part + Send + Sync> Send for Public<S> {}
// SAFETY: as above.
unsafe impl<S: Part + Send + Sync> Sync for Public<S> {}

/// The address of a task with a public part, for the future in it, which has a counted reference
/// beside. It counts nothing.
#[derive(Debug)]
pub struct Own<S: Part> {
    task: TaskPtr,
    part: PhantomData<S>,
}

impl<S: Part> Own<S> {
    /// Returns the address behind a reference.
    ///
    /// # Safety
    /// The caller does not use the result once that reference is gone.
    #[must_use]
    pub unsafe fn of(reference: &Public<S>) -> Self {
        Self { task: reference.task, part: PhantomData }
    }

    /// Returns the same address once more, to be used for as long as this one.
    ///
    /// # Safety
    /// As for [`of`](Self::of).
    #[must_use]
    pub unsafe fn again(&self) -> Self {
        Self { task: self.task, part: PhantomData }
    }

    /// Returns the task's number.
    #[must_use]
    #[inline]
    pub fn task_id(&self) -> Id {
        // SAFETY: the future's reference is there.
        unsafe { Live::new(self.task) }.footer().id
    }

    /// Makes a counted reference.
    #[must_use]
    pub fn public(&self) -> Public<S> {
        // SAFETY: the future's reference is there.
        let task = unsafe { Live::new(self.task) };
        count_one(task);
        actors::public_made(task.footer().id, 1);
        Public { task: self.task, part: PhantomData }
    }

    /// Returns whether the future has the only reference to the part. For the future, from its own
    /// poll. A future that ends for this reason asks here first, and then [under the
    /// lock](Self::desert), beside its last look for what other threads have left in the part.
    #[must_use]
    #[inline]
    pub fn is_alone(&self) -> bool {
        // SAFETY: the future's reference is there.
        let task = unsafe { Live::new(self.task) };
        task.state.load().publics() + i64::from(task.pending_publics()) == 1
    }

    /// Returns whether the future has the only reference to the part, and if so, marks the berth:
    /// no other reference comes up any more, and the future ends. For the future, from its own
    /// poll, under the part's lock, when it has found nothing in the part.
    #[must_use]
    #[inline]
    pub fn desert(&self, berth: &mut Berth) -> bool {
        let is_alone = self.is_alone();
        if is_alone {
            berth.desert();
        }
        is_alone
    }
}

impl<S: Part> Deref for Own<S> {
    type Target = S;

    #[inline(always)]
    fn deref(&self) -> &S {
        // SAFETY: the future's reference is there.
        unsafe { part(self.task) }
    }
}

/// The public part of a task.
///
/// # Safety
/// The task has a part of this type, and is not freed for as long as the result is used.
#[inline(always)]
unsafe fn part<'a, S>(task: TaskPtr) -> &'a S {
    // SAFETY: the part lies behind the header in the same allocation.
    let part = unsafe { task.as_non_null().byte_add(offset_of!(Front<S>, public)) };
    // SAFETY: the part is there until the task is freed.
    unsafe { part.cast::<S>().as_ref() }
}

/// Counts one more reference, privately if the caller polls the task.
#[inline(always)]
fn count_one(task: Live<'_>) {
    if !defer(task, true) {
        task.state.add_public();
    }
}

/// Changes the count by the private one of the task's poller, if that is the caller.
#[inline(always)]
fn defer(task: Live<'_>, made: bool) -> bool {
    entered::with(|context| {
        context.is_some_and(|context| context.polls(task.ptr())) && task.defer_public(made)
    })
}

impl<S: Part> Public<S> {
    /// Spawns a task on the runtime that the caller belongs to, as [`spawn`](super::spawn) does.
    /// Part and future are made where they lie. The future is made with a reference to its task,
    /// which it must not follow before it is polled.
    ///
    /// # Panics
    /// If the caller belongs to no runtime.
    #[inline]
    #[track_caller]
    pub fn spawn<F, M>(part: impl FnOnce() -> S, make: M, site: &'static Location<'static>) -> Self
    where
        S: Send + Sync,
        M: FnOnce(Self) -> F,
        F: Future<Output = ()> + Send + 'static,
    {
        let spawned = spawn::here(
            (part, make),
            |(part, make), birth| {
                made(make_public(part, |task| make(Self::of_new(task)), (), site, birth))
            },
            |(part, make)| Some(Self::spawn_on(&current::shared()?, part, make, (), site)),
        );
        match spawned {
            Some(own) => own,
            None => panic!(
                "an actor is spawned at {site}, outside of a runtime: do it in a task or inside Runtime::block_on"
            ),
        }
    }

    /// As [`spawn`](Self::spawn), on the runtime of `shared`; a runtime that shuts down cancels the
    /// task at once.
    fn spawn_on<F, M, N>(
        shared: &Arc<Shared>,
        part: impl FnOnce() -> S,
        make: M,
        name: N,
        site: &'static Location<'static>,
    ) -> Self
    where
        S: Send + Sync,
        M: FnOnce(Self) -> F,
        F: Future<Output = ()> + Send + 'static,
        N: Name,
    {
        let make =
            |birth| made(make_public(part, |task| make(Self::of_new(task)), name, site, birth));
        if shared.refuses_spawns() { spawn::refused(make) } else { spawn::on(shared, make) }
    }

    /// Queues the task, which has been parked in its berth.
    ///
    /// # Safety
    /// The right is that of this task.
    #[inline(always)]
    pub unsafe fn resume(&self, right: Parked) {
        let _ = right;
        // SAFETY: the right was the poller's, which has left it in the berth, and the one that took
        // it from there gives it back here.
        let task = unsafe { Runnable::new(self.task) };
        wake::queue(task);
    }

    /// Drops the future at its next turn.
    pub fn abort(&self) {
        wake::signal(self.live(), Signal::Abort);
    }

    /// Returns the task's number.
    #[must_use]
    #[inline]
    pub fn task_id(&self) -> Id {
        self.live().footer().id
    }

    /// Returns the task.
    #[must_use]
    pub fn task(&self) -> Task {
        Task::new(Reference::of(self.live()))
    }
}

/// The results of a spawn: the right to poll the task, and the caller's reference.
fn made<S: Part>((task, address): (Runnable, TaskPtr)) -> (Runnable, Public<S>) {
    let public = Public::<S>::of_new(address);
    actors::public_made(public.live().footer().id, FIRST as usize);
    (task, public)
}

impl<S: Part> Public<S> {
    /// One of the [first](FIRST) references to a new task.
    pub(super) fn of_new(task: TaskPtr) -> Self {
        Self { task, part: PhantomData }
    }

    #[inline(always)]
    fn live(&self) -> Live<'_> {
        // SAFETY: the reference is counted, and the borrow keeps it.
        unsafe { Live::new(self.task) }
    }

    /// Drops the last reference beside the future's, and queues the task if it is parked.
    ///
    /// The reference is dropped under the lock, so that a poller which parks has seen the drop or
    /// is found parked. The thread that completes the task takes the lock before, to close the
    /// berth, and so comes after this. If it has closed the berth already, there is no task to
    /// wake.
    #[cold]
    fn drop_last(&self) {
        enum Found {
            Closed,
            Parked,
            Running,
        }
        let found = self.with_berth(|berth| {
            if berth.is_closed() {
                return Found::Closed;
            }
            // It is registered, as it is not complete.
            let _ = self.live().state.drop_public();
            if berth.take().is_some() { Found::Parked } else { Found::Running }
        });
        match found {
            Found::Running => {}
            // SAFETY: the right has lain in this task's berth, and this is its only taker.
            Found::Parked => wake::queue(unsafe { Runnable::new(self.task) }),
            Found::Closed => {
                if self.live().state.drop_public() == Release::Last {
                    // SAFETY: this was the last reference, and a task with a public part has no
                    // handle, so no output is left in it.
                    unsafe { self.task.free() }
                }
            }
        }
    }

    /// Returns a reference that does not count.
    #[must_use]
    pub fn downgrade(&self) -> Weak<S> {
        let task = Reference::of(self.live());
        let kept = Kept::of(|| task.live().footer().id);
        Weak { _kept: kept, task, part: PhantomData }
    }

    /// Returns whether both are references to the same task.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.task == other.task
    }

    /// Returns a number that no other task has while a reference to this one exists.
    #[must_use]
    pub fn address(&self) -> usize {
        self.task.as_ptr().addr()
    }
}

impl<S: Part> Deref for Public<S> {
    type Target = S;

    #[inline(always)]
    fn deref(&self) -> &S {
        // SAFETY: the task has been made with a part of this type, and this reference, being
        // counted, keeps it.
        unsafe { part(self.task) }
    }
}

impl<S: Part> Clone for Public<S> {
    #[inline]
    fn clone(&self) -> Self {
        count_one(self.live());
        actors::public_made(self.live().footer().id, 1);
        Self { task: self.task, part: PhantomData }
    }
}

impl<S: Part> Drop for Public<S> {
    #[inline]
    fn drop(&mut self) {
        let task = self.live();
        actors::public_gone(task.footer().id);
        if defer(task, false) {
            return;
        }
        match task.state.drop_public_beside(FIRST) {
            Some(Release::Shared) => {}
            // SAFETY: this was the last reference, and a task with a public part has no handle, so
            // no output is left in it.
            Some(Release::Last) => unsafe { self.task.free() },
            None => self.drop_last(),
        }
    }
}

impl<S: Part> fmt::Debug for Public<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Public({})", self.live().footer().id)
    }
}

/// A reference to a task with a public part that keeps the allocation and no future, as a [`Task`]
/// does: the head of this file has the protocol.
pub struct Weak<S: Part> {
    /// It ends no wait. Before the reference, as it is to be dropped first.
    _kept: Kept,
    task: Reference,
    part: PhantomData<S>,
}

// SAFETY: as for `Public`.
unsafe impl<S: Part + Send + Sync> Send for Weak<S> {}
// SAFETY: as for `Public`.
unsafe impl<S: Part + Send + Sync> Sync for Weak<S> {}

impl<S: Part> Weak<S> {
    /// Returns a counted reference. None if the future has found that there are no others, or is
    /// gone.
    #[must_use]
    pub fn upgrade(&self) -> Option<Public<S>> {
        let task = self.task.live();
        // SAFETY: the task has been made with a part of this type, and the reference keeps it from
        // being freed.
        let part = unsafe { part::<S>(task.ptr()) };
        part.with_berth(|berth| {
            if berth.is_left() {
                return None;
            }
            // The future has a reference, as the berth is not closed.
            task.state.add_public();
            actors::public_made(task.footer().id, 1);
            Some(Public { task: task.ptr(), part: PhantomData })
        })
    }

    /// Returns the task's number.
    #[must_use]
    pub fn task_id(&self) -> Id {
        self.task.live().footer().id
    }
}

impl<S: Part> Clone for Weak<S> {
    fn clone(&self) -> Self {
        let task = self.task.clone();
        let kept = Kept::of(|| task.live().footer().id);
        Self { _kept: kept, task, part: PhantomData }
    }
}

impl<S: Part> fmt::Debug for Weak<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Weak({})", self.task_id())
    }
}
