//! Coroutines: bodies that suspend themselves with a value and continue with another one.
//!
//! A [`Coroutine`] is an `async` body that is not awaited but [resumed](Resume::resume): values go
//! in by `resume(input)` and come out by `suspender.suspend(output).await`, in the body or in any
//! `async` function that it calls. It needs no runtime, no stack and, if pinned in place, no
//! allocation. Inside a task, a body that is resumed by [`resume_async`](Resume::resume_async) can
//! await anything that a task can await.
//!
//! | to | use |
//! |---|---|
//! | make one | [`Coroutine::new`]; [`boxed`](Coroutine::boxed) for one type for all bodies |
//! | make a step | [`resume`](Resume::resume), [`try_resume`](Resume::try_resume), [`resume_async`](Resume::resume_async) |
//! | take its outputs | [`values`](Resume::values), an iterator or a stream |
//! | let it hand itself over | [`resume_then`](Resume::resume_then) |
//! | let several resume each other | [`Cycle`] |
//! | raise something in it | pass it a `Result` and write `suspend(..).await?` |
//!
//! # Roles
//! The *resumer* has the coroutine exclusively. The *body* is a future. By its *suspender* it
//! suspends this coroutine and no other.
//!
//! # States
//! *New* (the body has not begun), *suspended* (it waits for an input), *waiting* (it is inside an
//! `await` of something else), *finished* (it has returned or panicked): see [`Phase`].
//!
//! # Steps
//! 1. The resumer puts an *exchange* on its stack: the coroutine's number, the input, room for an
//!    output, and the waker that the resumer itself is polled with, or one that does nothing. It
//!    marks the coroutine finished, in case the body panics, and polls the body with a waker. That
//!    waker is the exchange's address under a table that only this module has.
//! 2. The suspension that the body is in finds the exchange by its context's waker, compares the
//!    number, takes the input, and completes. The body runs on.
//! 3. At its next suspension the body finds the exchange again and leaves its output there. The
//!    poll is pending.
//! 4. The resumer takes the output from the exchange: the coroutine is suspended. A body that is
//!    pending without an output awaits something else: the coroutine waits, and a plain `resume`
//!    fails with an error that says so. If the body has not taken the input yet, the coroutine
//!    stays suspended, and the resumer keeps the input.
//!
//! # Why nothing is confused, and nothing dangles
//! A process gives out each number once. A coroutine's suspender is made once, with the number, and
//! cannot be cloned. So an exchange with the suspender's number belongs to this very coroutine and
//! has its types. Another number belongs to a coroutine in between: its body uses the suspender of
//! an outer coroutine. The search then continues with the waker behind the exchange. It finds the
//! outer coroutine if all coroutines in between are resumed asynchronously. Then the one output
//! suspends all of them, and the one input continues them. Otherwise the body panics, with a
//! message.
//!
//! A body reaches the exchange only during the poll: the waker is lent, and cloning it clones the
//! resumer's own waker, which may outlive everything. After [`mem::forget`](std::mem::forget) of a
//! coroutine its body is never polled. The body does not refer to the exchange, nor the exchange to
//! the body, so a coroutine can move to another thread if its values can.
//!
//! # Rejected
//! A slot beside the body, to which the suspender points: the body's frame then refers to itself,
//! and the compiler keeps each of its variables in memory. A step took 4 to 7 ns instead of 0.3 to
//! 0.7, and the only gain was that the body had wakers of its own. The same slot, found through a
//! thread-local variable: another load and store for each step, and a body that moves between steps
//! of an outer one has to be found again. Numbers by address: an escaped suspender would fit a
//! later coroutine of other types at the same address. A check of types by `TypeId`: no borrowed
//! inputs and outputs, and nested coroutines of equal types are confused. Separate stacks: a page
//! or more each, and no guard against values that must not change threads.
//!
//! # Examples
//! Fibonacci numbers:
//!
//! ```
//! use evenkeel::coroutine::{Coroutine, Resume};
//! use std::pin::pin;
//!
//! let fibonacci = pin!(Coroutine::new(async |mut suspender, ()| {
//!     let (mut a, mut b) = (0, 1);
//!     loop {
//!         suspender.suspend(a).await;
//!         (a, b) = (b, a + b);
//!     }
//! }));
//! assert_eq!(fibonacci.values().take(8).collect::<Vec<u32>>(), [0, 1, 1, 2, 3, 5, 8, 13]);
//! ```
//!
//! A formatter that receives one character at a time, writes five groups of four to a line, and
//! ends the line when it is dropped:
//!
//! ```
//! use evenkeel::coroutine::{Coroutine, Resume};
//! use std::cell::RefCell;
//! use std::pin::pin;
//!
//! struct Line<'a>(&'a RefCell<String>);
//! impl Drop for Line<'_> {
//!     fn drop(&mut self) {
//!         self.0.borrow_mut().push('\n');
//!     }
//! }
//!
//! let text = RefCell::new(String::new());
//! {
//!     let mut formatter = pin!(Coroutine::new(async |mut suspender, mut c: char| {
//!         loop {
//!             let line = Line(&text);
//!             for place in 0..20 {
//!                 if place % 4 == 0 && place > 0 {
//!                     line.0.borrow_mut().push_str("  ");
//!                 }
//!                 line.0.borrow_mut().push(c);
//!                 c = suspender.suspend(()).await;
//!             }
//!         }
//!         #[expect(unreachable_code, reason = "it says what the body returns")]
//!         ()
//!     }));
//!     for c in "abcdefghijklmnopqrstuvwxyz".chars() {
//!         formatter.resume(c);
//!     }
//! }
//! assert_eq!(text.into_inner(), "abcd  efgh  ijkl  mnop  qrst\nuvwx  yz\n");
//! ```
//!
//! A consumer that reports the sum of what it has received, and a producer that stops it by an
//! error:
//!
//! ```
//! use evenkeel::coroutine::{Coroutine, Resume, Step};
//! use std::pin::pin;
//!
//! struct Stop;
//!
//! let mut consumer = pin!(Coroutine::new(async |mut suspender, mut item: Result<u32, Stop>| {
//!     let mut sum = 0;
//!     while let Ok(n) = item {
//!         sum += n;
//!         item = suspender.suspend(sum).await;
//!     }
//!     format!("{sum} in all")
//! }));
//! for n in 1..=3 {
//!     assert!(consumer.resume(Ok(n)).yielded().is_some());
//! }
//! assert_eq!(consumer.resume(Err(Stop)), Step::Complete(String::from("6 in all")));
//! ```
//!
//! # Source
//! Coroutines, full coroutines, starters, and `suspend` with a block come from C∀ (Delisle,
//! *Concurrency in C∀*, MMath thesis, University of Waterloo, 2018) and µC++. Here they have no
//! stacks.

mod cycle;
mod error;
mod exchange;
mod frame;
mod id;
mod resume;
mod suspender;
mod values;

pub use cycle::{Cycle, Member, Transfer, TransferError};
pub use error::{Refusal, ResumeError};
pub use frame::Coroutine;
pub use resume::{BoxCoroutine, LocalBoxCoroutine, Phase, Resume, ResumeAsync, Step, Then};
pub use suspender::{Suspend, Suspender};

pub use values::Values;
#[cfg(feature = "stream")]
pub use values::ValuesStream;
