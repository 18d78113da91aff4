//! Why a coroutine is not resumed.

use std::fmt;

/// Why a coroutine is not resumed, or does not come back. [`ResumeError`] has an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// Its body has returned or panicked.
    Finished,
    /// Its body has its input already, and awaits something other than its suspender: a `resume`
    /// was refused with [`Awaits`](Self::Awaits), or a
    /// [`resume_async`](super::Resume::resume_async) was dropped.
    Waiting,
    /// Its body awaits something other than its suspender. That needs an asynchronous resume: if
    /// the body has taken the input, [`continue_async`](super::Resume::continue_async); otherwise
    /// the error returns the input, for [`resume_async`](super::Resume::resume_async).
    Awaits,
    /// There is no step to continue: the body waits for an input.
    Idle,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => {
                "the coroutine is finished and cannot be resumed: look for `Step::Complete`, or ask \
                 `phase`"
            }
            Self::Waiting => {
                "the coroutine has had its input and awaits something that is not its suspender: let \
                 it go on with `continue_async` before it is resumed again"
            }
            Self::Awaits => {
                "the body of the coroutine awaits something that is not its suspender: let it go on with \
                 `continue_async` if its `phase` is `Waiting`, and resume such a body with `resume_async`, or take its \
                 outputs as a stream (`values().into_stream()`) instead of an iterator"
            }
            Self::Idle => {
                "the coroutine waits for an input and has nothing to go on with: resume it instead"
            }
        })
    }
}

impl std::error::Error for Refusal {}

/// The error of [`try_resume`](super::Resume::try_resume): the reason, and the input, unless the
/// body has received it.
///
/// # Examples
/// A body has received its input and comes to an `await`, so the step can be finished:
/// ```
/// use evenkeel::coroutine::{Coroutine, Refusal, Resume, Step};
///
/// let mut polite = Coroutine::new(async |mut suspender, n: u32| {
///     evenkeel::yield_now().await;
///     suspender.suspend(n + 1).await;
/// })
/// .boxed();
/// let error = polite.try_resume(1).unwrap_err();
/// assert_eq!((error.refusal(), error.into_input()), (Refusal::Awaits, None));
/// let error = polite.try_resume(2).unwrap_err();
/// assert_eq!((error.refusal(), error.into_input()), (Refusal::Waiting, Some(2)));
/// assert_eq!(evenkeel::block_on(polite.continue_async()), Step::Yielded(2));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ResumeError<I> {
    refusal: Refusal,
    input: Option<I>,
}

impl<I> ResumeError<I> {
    pub(super) fn new(refusal: Refusal, input: Option<I>) -> Self {
        Self { refusal, input }
    }

    /// Returns the reason.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        self.refusal
    }

    /// Returns the input, unless the body has received it, as mostly with [`Refusal::Awaits`].
    #[must_use]
    pub fn into_input(self) -> Option<I> {
        self.input
    }
}

impl<I> fmt::Display for ResumeError<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl<I> fmt::Debug for ResumeError<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumeError").field("refusal", &self.refusal).finish_non_exhaustive()
    }
}

impl<I> std::error::Error for ResumeError<I> {}
