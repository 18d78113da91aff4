//! The resumer's side.

use super::error::{Refusal, ResumeError};
use super::values::Values;
use crate::task::budget::Unit;
use std::fmt;
use std::future::Future;
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A boxed coroutine with any body, which can be sent to other threads. See
/// [`Coroutine::boxed`](super::Coroutine::boxed).
pub type BoxCoroutine<'a, I, O, R = ()> =
    Pin<Box<dyn Resume<I, Yield = O, Return = R> + Send + 'a>>;

/// A boxed coroutine with any body, which stays on its thread. See
/// [`Coroutine::boxed_local`](super::Coroutine::boxed_local).
pub type LocalBoxCoroutine<'a, I, O, R = ()> = Pin<Box<dyn Resume<I, Yield = O, Return = R> + 'a>>;

/// How a step of a coroutine ends.
///
/// # Examples
/// ```
/// use evenkeel::coroutine::{Coroutine, Resume, Step};
/// use std::pin::pin;
///
/// let mut half = pin!(Coroutine::new(async |mut suspender, mut n: u32| {
///     while n % 2 == 0 {
///         n = suspender.suspend(n / 2).await;
///     }
///     "odd"
/// }));
/// assert_eq!(half.resume(12).yielded(), Some(6));
/// assert_eq!(half.resume(6).complete(), None);
/// match half.resume(3) {
///     Step::Yielded(n) => unreachable!("{n}"),
///     Step::Complete(why) => assert_eq!(why, "odd"),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step<O, R> {
    /// The body has suspended itself with this output.
    Yielded(O),
    /// The body has returned this. The coroutine is finished.
    Complete(R),
}

impl<O, R> Step<O, R> {
    /// Returns the output of a body that has suspended itself.
    #[inline]
    pub fn yielded(self) -> Option<O> {
        match self {
            Self::Yielded(output) => Some(output),
            Self::Complete(_) => None,
        }
    }

    /// Returns the result of a body that has returned.
    #[inline]
    pub fn complete(self) -> Option<R> {
        match self {
            Self::Yielded(_) => None,
            Self::Complete(result) => Some(result),
        }
    }
}

/// Where a coroutine is between two steps.
///
/// # Examples
/// ```
/// use evenkeel::coroutine::{Coroutine, Phase, Resume};
///
/// let mut coroutine = Coroutine::new(async |mut suspender, first: u32| {
///     let second: u32 = suspender.suspend(first).await;
///     evenkeel::yield_now().await;
///     first + second
/// })
/// .boxed();
/// assert_eq!(coroutine.phase(), Phase::New);
/// coroutine.resume(1);
/// assert_eq!(coroutine.phase(), Phase::Suspended);
/// // The body comes to its `await`, which a plain resume does not wait for.
/// assert!(coroutine.try_resume(2).is_err());
/// assert_eq!(coroutine.phase(), Phase::Waiting);
/// let step = evenkeel::block_on(coroutine.continue_async());
/// assert_eq!((step.complete(), coroutine.phase()), (Some(3), Phase::Finished));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The body has not begun. It waits for its first input.
    New,
    /// The body has suspended itself, and waits for an input.
    Suspended,
    /// The body awaits something other than its suspender.
    Waiting,
    /// The body has returned or panicked.
    Finished,
}

/// A coroutine that can be resumed: a [`Coroutine`](super::Coroutine), and every pinned pointer to
/// one.
///
/// Call the methods that take `&mut self` on a pinned pointer: `pin!(Coroutine::new(..))`, or a
/// [`BoxCoroutine`].
///
/// # Examples
/// A function for all coroutines of some types:
/// ```
/// use evenkeel::coroutine::{Coroutine, Phase, Resume};
/// use std::pin::pin;
///
/// /// Passes the inputs in, and collects the outputs, until the body ends.
/// fn feed<I, C>(mut coroutine: C, inputs: impl IntoIterator<Item = I>) -> Vec<C::Yield>
/// where
///     C: Resume<I> + Unpin,
/// {
///     let mut outputs = Vec::new();
///     for input in inputs {
///         if coroutine.phase() == Phase::Finished {
///             break;
///         }
///         outputs.extend(coroutine.resume(input).yielded());
///     }
///     outputs
/// }
///
/// let words = pin!(Coroutine::new(async |mut suspender, mut word: &str| {
///     while !word.is_empty() {
///         word = suspender.suspend(word.len()).await;
///     }
/// }));
/// assert_eq!(feed(words, ["one", "three", "", "five"]), [3, 5]);
/// ```
/// A coroutine around another one, which counts the steps:
/// ```
/// use evenkeel::coroutine::{Coroutine, Phase, Refusal, Resume, ResumeError, Step};
/// use std::pin::Pin;
/// use std::task::{Context, Poll};
///
/// struct Counted<C> {
///     coroutine: C,
///     steps: u32,
/// }
///
/// impl<I, C: Resume<I> + Unpin> Resume<I> for Counted<C> {
///     type Yield = C::Yield;
///     type Return = C::Return;
///
///     fn poll_resume(
///         mut self: Pin<&mut Self>,
///         context: &mut Context<'_>,
///         input: &mut Option<I>,
///     ) -> Poll<Result<Step<C::Yield, C::Return>, Refusal>> {
///         let poll = Pin::new(&mut self.coroutine).poll_resume(context, input);
///         self.steps += u32::from(matches!(poll, Poll::Ready(Ok(_))));
///         poll
///     }
///
///     fn try_resume_pinned(
///         mut self: Pin<&mut Self>,
///         input: I,
///     ) -> Result<Step<C::Yield, C::Return>, ResumeError<I>> {
///         let result = Pin::new(&mut self.coroutine).try_resume_pinned(input);
///         self.steps += u32::from(result.is_ok());
///         result
///     }
///
///     fn phase(&self) -> Phase {
///         self.coroutine.phase()
///     }
/// }
///
/// let coroutine = Coroutine::new(async |mut suspender, mut n: u32| {
///     while n > 0 {
///         n = suspender.suspend(n).await;
///     }
/// });
/// let mut counted = Counted { coroutine: coroutine.boxed(), steps: 0 };
/// counted.resume(1);
/// evenkeel::block_on(counted.resume_async(0));
/// assert!(counted.try_resume(2).is_err());
/// assert_eq!((counted.steps, counted.phase()), (2, Phase::Finished));
/// ```
pub trait Resume<I> {
    /// The type of the outputs with which the body suspends itself.
    type Yield;
    /// The type that the body returns.
    type Return;

    /// Makes or continues one step. The methods below are built on it.
    ///
    /// With an input, it begins a step, and takes the input unless it refuses. Without one, it
    /// continues the step of a body that [waits](Phase::Waiting). While it is pending, the body
    /// awaits something other than its suspender, with the waker of `context`. A body may do so
    /// before it takes the input, which stays with the caller then: pass it again.
    ///
    /// # Errors
    /// [`Refusal::Finished`]; [`Waiting`](Refusal::Waiting) if there is an input and the body waits
    /// for something else; [`Idle`](Refusal::Idle) if there is no input and the body waits for one.
    ///
    /// # Panics
    /// If the body does. The coroutine is finished then.
    #[expect(clippy::type_complexity, reason = "it is the sum of what a step can come to")]
    fn poll_resume(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        input: &mut Option<I>,
    ) -> Poll<Result<Step<Self::Yield, Self::Return>, Refusal>>;

    /// The implementation of [`try_resume`](Self::try_resume), for a pinned coroutine.
    ///
    /// # Errors
    /// As [`try_resume`](Self::try_resume).
    ///
    /// # Panics
    /// As [`try_resume`](Self::try_resume).
    fn try_resume_pinned(
        self: Pin<&mut Self>,
        input: I,
    ) -> Result<Step<Self::Yield, Self::Return>, ResumeError<I>>;

    /// Returns the phase of the coroutine.
    fn phase(&self) -> Phase;

    /// Resumes the coroutine: passes `input` to the body, which runs on this thread until it
    /// suspends itself or ends.
    ///
    /// Allocates nothing. Costs about a function call; if the compiler knows the body's type, it
    /// can inline the body.
    ///
    /// # Panics
    /// If the body panics, with its panic; the coroutine is finished then. In all cases in which
    /// [`try_resume`](Self::try_resume) returns an error.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::coroutine::{Coroutine, Resume, Step};
    /// use std::pin::pin;
    ///
    /// let mut echo = pin!(Coroutine::new(async |mut suspender, mut input: i32| {
    ///     while input != 0 {
    ///         input = suspender.suspend(-input).await;
    ///     }
    /// }));
    /// assert_eq!(echo.resume(7), Step::Yielded(-7));
    /// assert_eq!(echo.resume(8), Step::Yielded(-8));
    /// assert_eq!(echo.resume(0), Step::Complete(()));
    /// ```
    #[inline(always)]
    #[track_caller]
    fn resume(&mut self, input: I) -> Step<Self::Yield, Self::Return>
    where
        Self: Unpin + Sized,
    {
        match self.try_resume(input) {
            Ok(step) => step,
            Err(error) => refuse(error.refusal()),
        }
    }

    /// Resumes as [`resume`](Self::resume) does, but returns an error instead of panicking itself.
    ///
    /// # Errors
    /// Returns the input if the coroutine is [finished](Refusal::Finished) or
    /// [waits](Refusal::Waiting) for something other than its suspender. If it comes to such an
    /// `await` in this step, the error is [`Refusal::Awaits`]. Mostly the body has taken the input
    /// by then, and [`continue_async`](Self::continue_async) can finish the step. Otherwise the
    /// error returns the input, and the coroutine is [suspended](Phase::Suspended) as before: pass
    /// the input to [`resume_async`](Self::resume_async).
    ///
    /// # Panics
    /// If the body does. The coroutine is finished then.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::coroutine::{Coroutine, Refusal, Resume, Suspender};
    ///
    /// let mut once = Coroutine::new(async |_: Suspender<_, ()>, n: i32| n).boxed();
    /// once.resume(1);
    /// let error = once.try_resume(2).unwrap_err();
    /// assert_eq!((error.refusal(), error.into_input()), (Refusal::Finished, Some(2)));
    /// ```
    #[inline(always)]
    fn try_resume(&mut self, input: I) -> Result<Step<Self::Yield, Self::Return>, ResumeError<I>>
    where
        Self: Unpin + Sized,
    {
        Pin::new(self).try_resume_pinned(input)
    }

    /// Resumes the coroutine in a task: an `await` of its body suspends the task. So the body can
    /// use everything that tasks use, and only its suspender ends the step.
    ///
    /// The body's futures are polled with a waker of the coroutine, which stands in front of the
    /// task's waker. Cloning it clones the task's waker, and the primitives of evenkeel look
    /// through it.
    ///
    /// # Cancel safety
    /// If the future is dropped before its first poll, the input is dropped, and nothing has
    /// happened. The same holds if that poll has yielded because its [slice](crate::budget) was
    /// over. If it is dropped later, the body mostly [waits](Phase::Waiting): nothing is lost, and
    /// [`continue_async`](Self::continue_async) finishes the step. But a body that awaits something
    /// else before it takes the input is still [suspended](Phase::Suspended): the input is dropped,
    /// and another resume goes on. Ask [`phase`](Self::phase).
    ///
    /// # Panics
    /// The future panics with the body, and if the coroutine is finished or waits when the future
    /// is first polled.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::coroutine::{Coroutine, Resume, Step};
    /// use std::pin::pin;
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let task = runtime.spawn(async {
    ///     let mut polite = pin!(Coroutine::new(async |mut suspender, mut n: u32| loop {
    ///         evenkeel::yield_now().await;
    ///         n = suspender.suspend(n + 1).await;
    ///     }));
    ///     let Step::Yielded(two) = polite.resume_async(1).await;
    ///     let Step::Yielded(three) = polite.resume_async(two).await;
    ///     three
    /// });
    /// assert_eq!(runtime.block_on(task).unwrap(), 3);
    /// ```
    #[inline]
    fn resume_async(&mut self, input: I) -> ResumeAsync<'_, Self, I>
    where
        Self: Unpin + Sized,
    {
        ResumeAsync { coroutine: self, input: Some(input), unit: Unit::NEW }
    }

    /// Finishes the step of a body that [waits](Phase::Waiting).
    ///
    /// # Cancel safety
    /// Nothing is lost; it can be called again.
    ///
    /// # Panics
    /// The future panics with the body, and if the body does not wait when the future is first
    /// polled.
    ///
    /// # Examples
    /// The limit drops the first future; the step goes on in the second one:
    /// ```
    /// use evenkeel::coroutine::{Coroutine, Phase, Resume, Step, Suspender};
    /// use evenkeel::time::{Duration, timeout};
    /// use std::pin::pin;
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let (sender, receiver) = async_channel::bounded(1);
    ///     let mut adds = pin!(Coroutine::new(async |_: Suspender<_, ()>, n: u32| {
    ///         n + receiver.recv().await.unwrap()
    ///     }));
    ///     let late = timeout(Duration::from_millis(2), adds.resume_async(1)).await;
    ///     assert!(late.is_err() && adds.phase() == Phase::Waiting);
    ///     sender.send(2).await.unwrap();
    ///     assert_eq!(adds.continue_async().await, Step::Complete(3));
    /// });
    /// ```
    #[inline]
    fn continue_async(&mut self) -> ResumeAsync<'_, Self, I>
    where
        Self: Unpin + Sized,
    {
        ResumeAsync { coroutine: self, input: None, unit: Unit::NEW }
    }

    /// Returns the outputs of a coroutine that takes no inputs, as an iterator. With the feature
    /// `stream`, [`Values::into_stream`] makes it a stream.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::coroutine::{Coroutine, Resume};
    /// use std::pin::pin;
    ///
    /// let squares = pin!(Coroutine::new(async |mut suspender, ()| {
    ///     for n in 1..=4 {
    ///         suspender.suspend(n * n).await;
    ///     }
    /// }));
    /// assert_eq!(squares.values().sum::<u32>(), 30);
    /// ```
    #[inline]
    fn values(self) -> Values<Self>
    where
        Self: Resume<(), Yield = <Self as Resume<I>>::Yield> + Unpin + Sized,
    {
        Values::new(self)
    }

    /// Resumes the coroutine, and then calls [`Then::then`] of the body's output with the
    /// coroutine. The body is suspended by then, and no other thread can have resumed it. So a body
    /// can hand itself over, to another task for example. Returns the result of the body if it
    /// ends.
    ///
    /// # Panics
    /// As [`resume`](Self::resume) and the output's [`Then::then`].
    ///
    /// # Examples
    /// ```
    /// use evenkeel::coroutine::{BoxCoroutine, Coroutine, Resume, Then};
    /// use std::sync::mpsc::{Sender, channel};
    /// use std::thread;
    ///
    /// type Traveller = BoxCoroutine<'static, (), Via, thread::ThreadId>;
    ///
    /// /// "Send me through this channel."
    /// struct Via(Sender<Traveller>);
    ///
    /// impl Then<Traveller> for Via {
    ///     fn then(self, coroutine: Traveller) {
    ///         self.0.send(coroutine).expect("the receiver is there");
    ///     }
    /// }
    ///
    /// let (sender, receiver) = channel();
    /// let traveller: Traveller = Coroutine::new(async |mut suspender, ()| {
    ///     suspender.suspend(Via(sender)).await;
    ///     thread::current().id()
    /// })
    /// .boxed();
    /// assert_eq!(traveller.resume_then(()), None);
    /// let other = thread::spawn(move || receiver.recv().unwrap().resume_then(()));
    /// let other_id = other.thread().id();
    /// assert_eq!(other.join().unwrap(), Some(other_id));
    /// ```
    #[inline]
    #[track_caller]
    fn resume_then(mut self, input: I) -> Option<Self::Return>
    where
        Self: Unpin + Sized,
        Self::Yield: Then<Self>,
    {
        match self.resume(input) {
            Step::Yielded(output) => {
                output.then(self);
                None
            }
            Step::Complete(result) => Some(result),
        }
    }
}

#[cold]
#[track_caller]
pub(super) fn refuse(refusal: Refusal) -> ! {
    panic!("{refusal}")
}

impl<I, P> Resume<I> for Pin<P>
where
    P: DerefMut,
    P::Target: Resume<I>,
{
    type Yield = <P::Target as Resume<I>>::Yield;
    type Return = <P::Target as Resume<I>>::Return;

    #[inline]
    fn poll_resume(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        input: &mut Option<I>,
    ) -> Poll<Result<Step<Self::Yield, Self::Return>, Refusal>> {
        self.as_deref_mut().poll_resume(context, input)
    }

    #[inline(always)]
    fn try_resume_pinned(
        self: Pin<&mut Self>,
        input: I,
    ) -> Result<Step<Self::Yield, Self::Return>, ResumeError<I>> {
        self.as_deref_mut().try_resume_pinned(input)
    }

    #[inline]
    fn phase(&self) -> Phase {
        (**self).phase()
    }
}

impl<I, C: Resume<I> + Unpin> Resume<I> for &mut C {
    type Yield = C::Yield;
    type Return = C::Return;

    #[inline]
    fn poll_resume(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        input: &mut Option<I>,
    ) -> Poll<Result<Step<Self::Yield, Self::Return>, Refusal>> {
        Pin::new(&mut **self).poll_resume(context, input)
    }

    #[inline(always)]
    fn try_resume_pinned(
        mut self: Pin<&mut Self>,
        input: I,
    ) -> Result<Step<Self::Yield, Self::Return>, ResumeError<I>> {
        Pin::new(&mut **self).try_resume_pinned(input)
    }

    #[inline]
    fn phase(&self) -> Phase {
        (**self).phase()
    }
}

/// The future of [`Resume::resume_async`] and [`Resume::continue_async`], which have examples.
#[must_use = "futures do nothing unless awaited"]
pub struct ResumeAsync<'a, C, I> {
    coroutine: &'a mut C,
    /// `Some` until the body has taken it.
    input: Option<I>,
    unit: Unit,
}

/// The input is moved, never pinned.
impl<C, I> Unpin for ResumeAsync<'_, C, I> {}

impl<C: Resume<I> + Unpin, I> Future for ResumeAsync<'_, C, I> {
    type Output = Step<C::Yield, C::Return>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.input.is_some() {
            ready!(this.unit.poll(context.waker()));
        }
        Pin::new(&mut *this.coroutine).poll_resume(context, &mut this.input).map(
            |step| match step {
                Ok(step) => step,
                Err(refusal) => refuse(refusal),
            },
        )
    }
}

impl<C, I> fmt::Debug for ResumeAsync<'_, C, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumeAsync").finish_non_exhaustive()
    }
}

/// An output that acts on the coroutine once its body is suspended, for
/// [`Resume::resume_then`].
///
/// In C∀ this is `suspend { .. }`, a block that runs after the switch.
///
/// # Examples
/// Jobs that take turns: each puts itself at the back of the queue.
/// ```
/// use evenkeel::coroutine::{Coroutine, LocalBoxCoroutine, Resume, Then};
/// use std::cell::RefCell;
/// use std::collections::VecDeque;
/// use std::rc::Rc;
///
/// type Job = LocalBoxCoroutine<'static, (), Again>;
/// type Queue = Rc<RefCell<VecDeque<Job>>>;
///
/// struct Again(Queue);
///
/// impl Then<Job> for Again {
///     fn then(self, job: Job) {
///         self.0.borrow_mut().push_back(job);
///     }
/// }
///
/// let (queue, log) = (Queue::default(), Rc::new(RefCell::new(Vec::new())));
/// for name in ["a", "b"] {
///     let (again, log) = (queue.clone(), log.clone());
///     let job = Coroutine::new(async move |mut suspender, ()| {
///         for turn in 1..=2 {
///             log.borrow_mut().push((name, turn));
///             suspender.suspend(Again(again.clone())).await;
///         }
///     });
///     Again(queue.clone()).then(job.boxed_local());
/// }
/// loop {
///     let Some(job) = queue.borrow_mut().pop_front() else { break };
///     job.resume_then(());
/// }
/// assert_eq!(*log.borrow(), [("a", 1), ("b", 1), ("a", 2), ("b", 2)]);
/// ```
pub trait Then<C> {
    /// Acts on the coroutine. A thread that gets the coroutine from here can resume it at once.
    fn then(self, coroutine: C);
}
