//! The ways to enter an object.

#![allow(unsafe_code, reason = "an operation that has come in makes its guard")]

use super::door::Refusal;
use super::guard;
use super::inner::{self, Inner};
use super::visit::{self, Coming, Progress, Visit};
use super::way::Way;
use super::{EnterError, Guard, HeldGuard, Object};
use crate::processor::context::Context;
use crate::processor::entered;
use std::future::poll_fn;

/// Comes in at once, if it can, and calls `inside`; otherwise returns `operation`. It takes
/// `operation` and `object` by value: what lies in the future is loaded anew behind the instruction
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
    /// Enters the object (the published `ct_start`). The task goes to its home, or waits until no
    /// other operation is inside. It is inside until the guard is dropped (`ct_end`).
    ///
    /// The guard is not `Send`: an operation is a piece of one poll.
    /// [`enter_held`](Self::enter_held) is for operations that await.
    ///
    /// # Errors
    /// If an operation on it has panicked, or if the caller is inside already.
    ///
    /// # Cancel safety
    /// A future that is dropped is not inside, wherever the task was on its way. Now and then an
    /// entry gives other tasks a turn first: one in 64 in a class at homes, and in place after some
    /// microseconds. So an entry may be pending although no operation is inside:
    /// [`try_enter`](Self::try_enter) is for callers that do not wait.
    ///
    /// # Cost
    /// As much as an uncontended lock: one locked instruction to enter, and a store to leave. On
    /// the way to another home the task is ready work of that worker, in the order of its arrival.
    ///
    /// Only a task travels, and only in its own runtime. Any other caller enters an object where it
    /// is, and its core has to fetch the object from the home. Such callers are `block_on`, and so
    /// the body of `#[evenkeel::main]`, and tasks of another runtime. So spawn code that makes many
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

    /// Enters the object, calls `operation` and leaves. The closure may borrow from its
    /// surroundings.
    ///
    /// # Errors
    /// As [`enter`](Self::enter).
    ///
    /// # Cancel safety
    /// A future that is dropped before it is complete has not called the closure.
    ///
    /// # Panics
    /// With the panic of `operation`, which poisons the object.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::object::Object;
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let names = Object::new(Vec::new());
    ///     let (name, mut longest) = (String::from("Ada"), 0);
    ///     let enter = names.with(|names| {
    ///         longest = longest.max(name.len());
    ///         names.push(name.clone());
    ///         names.len()
    ///     });
    ///     assert_eq!((enter.await.unwrap(), longest), (1, 3));
    /// });
    /// ```
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

    /// Enters the object for reading, calls `operation` and leaves. The closure may borrow from its
    /// surroundings.
    ///
    /// Where its class is entered in place, workers read it beside each other, each by two locked
    /// instructions, as by a lock for readers and writers. After 32,768 reads, in the mean, all
    /// workers of the object's runtime read it without any locked instruction, even an object with
    /// a home. Each reads where its task is, from the copy in its own cache. That ends with the
    /// next operation of another kind, which waits for the readers, and begins again after as many
    /// reads.
    ///
    /// All other reads are alone inside, and like writes they end the reading by all:
    ///
    /// * those that come to a home;
    /// * those from threads that are no workers;
    /// * those from workers of other runtimes while the object is read by all;
    /// * those of a worker that is inside reads of four other objects;
    /// * the one in 32,768 by which the reading by all begins.
    ///
    /// # Errors
    /// If an operation on it has panicked, or if the caller is inside already, even for reading.
    ///
    /// # Panics
    /// With the panic of `operation`. That does not poison the object, since it cannot have changed
    /// it.
    ///
    /// # Cancel safety
    /// A future that is dropped before it is complete has not called the closure.
    ///
    /// # Cost
    /// As much as an uncontended lock for readers. Once the object is read by all, a few plain
    /// loads and stores, no locked instruction and no journey. The first write after that takes 5
    /// to 50 µs, and as long as the reads that have begun.
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
    /// need not go to another worker for it. Outside of tasks no caller goes anywhere, as
    /// [`enter`](Self::enter) says. If readers are inside, this call waits for them, some tens of
    /// microseconds at most; readers that come meanwhile are let in after an operation that is
    /// alone.
    ///
    /// # Errors
    /// As [`enter`](Self::enter).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::object::Object;
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let log = Object::new(Vec::new());
    ///     let held = log.enter_held().await.unwrap();
    ///     let writes = evenkeel::spawn({
    ///         let log = log.clone();
    ///         async move { log.try_enter().unwrap().map(|mut log| log.push("too early")) }
    ///     });
    ///     assert_eq!(writes.await.unwrap(), None, "another operation is inside");
    ///     drop(held);
    ///     let mut log = log.try_enter().unwrap().expect("no operation is inside");
    ///     log.push("in time");
    ///     assert_eq!(*log, ["in time"]);
    /// });
    /// ```
    #[inline]
    pub fn try_enter(&self) -> Result<Option<Guard<'_, T>>, EnterError> {
        entered::with(|context| match self.inner.enter(context) {
            Ok(way) => self.have_entered(way, context).map(Some),
            Err(Refusal::Away(_)) => Ok(None),
            Err(Refusal::Taken) => self.inner.refuse_own(context).map(|()| None),
        })
    }

    /// The rest of an entry that has come in without a wait, by `way`: it is counted, but neither
    /// sampled nor a turn of other tasks.
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

    /// Enters the object for an operation that awaits inside. Such operations are first come, first
    /// served; all others wait until it is over.
    ///
    /// Until then the object is held by the task or local task that has entered it, in
    /// `block_on` by that future, and elsewhere by the thread, wherever the guard goes.
    ///
    /// # Errors
    /// As [`enter`](Self::enter). While the holder is inside, an entry by any part of the holder is
    /// an error.
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
        let turn = self.inner.turn().await?;
        let mut visit = Visit::in_turn(turn);
        poll_fn(|cx| visit.poll::<T, false>(&self.inner, cx)).await?;
        let turn = visit.into_turn().expect("it has been given one");
        // What is inside is this poll's, wherever the future was polled before.
        entered::with(|context| {
            turn.hold(inner::holder(context), context.is_some_and(|own| own.task().is_some()));
        });
        self.inner.door.hold();
        // SAFETY: the lock is this task's, and no worker's note stands for it.
        Ok(unsafe { HeldGuard::new(&self.inner, turn) })
    }
}
