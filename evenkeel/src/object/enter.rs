//! The ways in.

#![allow(unsafe_code, reason = "an operation that has come in makes its guard")]

use super::door::Refusal;
use super::guard;
use super::inner::{self, Inner};
use super::visit::{self, Coming, Progress, Visit};
use super::way::Way;
use super::{EnterError, Guard, HeldGuard, Object};
use crate::processor::context::{self, Context};
use std::future::poll_fn;

/// Comes in at once, if it can, and calls `inside`; otherwise gives `operation` back. It takes that
/// by value, as it does `object`: whatever lies in the future is loaded anew behind the instruction
/// that locks, and each load takes its time there. So an entry takes 6.2 instead of 6.8 ns
/// (`evenkeel-bench run --bench histogram --workers 1 --runtime in-place`).
#[inline(always)]
fn at_once<'a, T, F, R, const READS: bool>(
    object: &'a Inner<T>,
    operation: F,
    inside: impl FnOnce(&'a Inner<T>, Way, F) -> R,
) -> Result<R, (Progress, F)> {
    match visit::at_once::<T, READS>(object) {
        Ok(way) => Ok(inside(object, way, operation)),
        Err(progress) => Err((progress, operation)),
    }
}

impl<T: Send> Object<T> {
    /// Enters the object (the published `ct_start`): the task goes to its home, or waits until
    /// no other operation is inside, and is inside until the guard is dropped (`ct_end`).
    ///
    /// The guard is not `Send`: an operation is a piece of one poll.
    /// [`enter_held`](Self::enter_held) is for operations that await.
    ///
    /// # Errors
    /// If an operation on it has panicked, or if the caller is inside of it.
    ///
    /// # Cancel safety
    /// A future that is dropped is not inside, wherever the task was on its way. Now and then an
    /// entry gives other tasks a turn first: of a class at homes one in 64, in place after some
    /// microseconds. So one may be pending although no operation is inside:
    /// [`try_enter`](Self::try_enter) is for callers that do not wait.
    ///
    /// # Cost
    /// That of an uncontended lock: one locked instruction to enter, and a store to leave. On the
    /// way to another home the task is ready work of that worker, in the order of its arrival.
    ///
    /// Only a task travels, and only in its own runtime. By anything else (`block_on`, and so the
    /// body of `#[evenkeel::main]`, or a task of another runtime) an object is entered where the
    /// caller is, whose core has to fetch it from the home: so spawn whatever makes many
    /// operations.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let list = evenkeel::object::Object::new(vec![1]);
    ///     list.enter().await.unwrap().push(2);
    ///     assert_eq!(*list.enter().await.unwrap(), [1, 2]);
    /// });
    /// ```
    #[inline(always)]
    pub async fn enter(&self) -> Result<Guard<'_, T>, EnterError> {
        // SAFETY: this thread has just come in, and what follows is the same poll.
        let inside = |object, way, ()| unsafe { Guard::new(object, way) };
        let progress = match at_once::<_, _, _, false>(&self.inner, (), inside) {
            Ok(guard) => return Ok(guard),
            Err((progress, ())) => progress,
        };
        let way = Coming::<T, false>::new(&self.inner, progress).await?;
        Ok(inside(&self.inner, way, ()))
    }

    /// Enters the object, calls `operation` and leaves. The closure may borrow what is around it.
    ///
    /// # Errors
    /// As [`enter`](Self::enter).
    ///
    /// # Cancel safety
    /// A future that is dropped before it is complete has not called the closure.
    ///
    /// # Panics
    /// If `operation` does, which poisons the object.
    #[inline(always)]
    pub async fn with<R>(&self, operation: impl FnOnce(&mut T) -> R) -> Result<R, EnterError> {
        // SAFETY: this thread has just come in, and what follows is the same poll.
        let inside = |object: &_, way, operation| unsafe { guard::run(object, way, operation) };
        let (progress, operation) = match at_once::<_, _, _, false>(&self.inner, operation, inside)
        {
            Ok(result) => return Ok(result),
            Err(rest) => rest,
        };
        let way = Coming::<T, false>::new(&self.inner, progress).await?;
        Ok(inside(&self.inner, way, operation))
    }

    /// Enters the object for reading, calls `operation` and leaves. The closure may borrow what is
    /// around it.
    ///
    /// Where its class is entered in place, workers read it beside each other, each by two locked
    /// instructions, as by a lock for readers and writers. After 32,768 reads, in the mean, all
    /// workers of the object's runtime read it without any, each where its task is, from the copy
    /// in its own cache, and one with a home too. That ends with the next operation of another
    /// kind, which waits for the readers, and begins again after as many reads.
    ///
    /// All other reads are alone inside: those that come to a home, those from threads that are no
    /// workers, those from workers of other runtimes while it is read by all, those of a worker
    /// that is inside of reads of four other objects, and the one in 32,768 by which the reading by
    /// all begins; like writes they end that.
    ///
    /// # Errors
    /// If an operation on it has panicked, or if the caller is inside of it, even if that reads
    /// too.
    ///
    /// # Panics
    /// If `operation` does. That does not poison the object, since it cannot have changed it.
    ///
    /// # Cancel safety
    /// A future that is dropped before it is complete has not called the closure.
    ///
    /// # Cost
    /// That of an uncontended lock for readers. A few plain loads and stores, no locked instruction
    /// and no journey, once it is read by all: the first write after that takes two to 50
    /// microseconds, and as long as the reads that have begun.
    ///
    /// # Source
    /// Biased locks for readers: Dice and Kogan, "BRAVO - Biased Locking for Reader-Writer Locks",
    /// USENIX ATC 2019.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::object::Object;
    /// use std::collections::HashMap;
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let routes = Object::new(HashMap::from([("/", "index")])).class("routes");
    ///     let tasks: Vec<_> = (0..4)
    ///         .map(|_| {
    ///             let routes = routes.clone();
    ///             evenkeel::spawn(async move {
    ///                 for _ in 0..1_000 {
    ///                     assert!(routes.read(|routes| routes.contains_key("/")).await.unwrap());
    ///                 }
    ///             })
    ///         })
    ///         .collect();
    ///     for task in tasks {
    ///         task.await.unwrap();
    ///     }
    ///     routes.with(|routes| routes.insert("/about", "about")).await.unwrap();
    ///     assert_eq!(routes.read(HashMap::len).await, Ok(2));
    /// });
    /// ```
    #[inline]
    pub async fn read<R>(&self, operation: impl FnOnce(&T) -> R) -> Result<R, EnterError>
    where
        T: Sync,
    {
        // SAFETY: this thread has just come in, and what follows is the same poll.
        let inside = |object: &_, way, operation| unsafe { guard::read(object, way, operation) };
        let (progress, operation) = match at_once::<_, _, _, true>(&self.inner, operation, inside) {
            Ok(result) => return Ok(result),
            Err(rest) => rest,
        };
        let way = Coming::<T, true>::new(&self.inner, progress).await?;
        Ok(inside(&self.inner, way, operation))
    }

    /// Enters the object if that can be done here and now: no operation is inside, and the task
    /// need not go to another worker for it. Outside of tasks, as [`enter`](Self::enter) says, no
    /// caller goes anywhere. Readers that are inside it waits for, some tens of microseconds at
    /// most; those that come meanwhile are let in after an operation that is alone.
    ///
    /// # Errors
    /// As [`enter`](Self::enter).
    #[inline]
    pub fn try_enter(&self) -> Result<Option<Guard<'_, T>>, EnterError> {
        context::with(|context| match self.inner.enter(context) {
            Ok(way) => self.have_entered(way, context).map(Some),
            Err(Refusal::Away(_)) => Ok(None),
            Err(Refusal::Taken) => self.inner.refuse_own(context).map(|()| None),
        })
    }

    /// What is left to do of an entry that has come in without a wait, by `way`: it is counted, but
    /// neither sampled nor a turn of the others.
    #[inline(always)]
    pub(super) fn have_entered(
        &self,
        way: Way,
        context: Option<&Context>,
    ) -> Result<Guard<'_, T>, EnterError> {
        let way = visit::refuse_poisoned(&self.inner, way)?;
        if let Some(context) = context
            && context.operations.count()
        {
            self.inner.class.count(context);
        }
        // SAFETY: this thread has just come in.
        Ok(unsafe { Guard::new(&self.inner, way) })
    }

    /// Enters the object for an operation that awaits inside: first come, first served among those
    /// that do; all others wait until it is over.
    ///
    /// Until then the object is held by the task that has entered it, outside of tasks by the
    /// thread, wherever the guard goes.
    ///
    /// # Errors
    /// As [`enter`](Self::enter). An entry by the holder, in whatever part of it, is one while it
    /// is inside.
    ///
    /// # Cancel safety
    /// A future that is dropped leaves the line, and is not inside.
    ///
    /// # Examples
    /// ```
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let list = evenkeel::object::Object::new(Vec::new());
    ///     evenkeel::spawn(async move {
    ///         let mut held = list.enter_held().await.unwrap();
    ///         held.push(1);
    ///         evenkeel::yield_now().await;
    ///         held.push(2);
    ///         assert_eq!(*held, [1, 2]);
    ///     })
    ///     .await
    ///     .unwrap();
    /// });
    /// ```
    pub async fn enter_held(&self) -> Result<HeldGuard<'_, T>, EnterError> {
        let holder = context::with(inner::holder);
        let turn = self.inner.turn().await?;
        let mut visit = Visit::in_turn(turn);
        poll_fn(|cx| visit.poll::<T, false>(&self.inner, cx)).await?;
        self.inner.door.hold();
        let turn = visit.into_turn().expect("it has been given one");
        turn.hold(holder);
        // SAFETY: the lock is this task's, and no worker's note stands for it.
        Ok(unsafe { HeldGuard::new(&self.inner, turn) })
    }
}
