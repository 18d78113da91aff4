//! Runs a future on the calling thread.

mod calls;
mod signal;

pub(super) use calls::Deaf;

use crate::detect::Blocking;
use crate::primitives::thread;
use crate::processor::current::{self, Kind};
use crate::processor::shared::Shared;
use crate::processor::slice;
use crate::raw_task::id::Id;
use crate::raw_task::party;
use crate::scheduler::driver::Place;
use calls::Noted;
use signal::{Listening, Signal};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// While this lives, the thread is counted as awake inside a runtime.
struct Awake<'a>(&'a Shared);

impl<'a> Awake<'a> {
    fn new(shared: &'a Shared) -> Self {
        shared.clock.come();
        Self(shared)
    }
}

impl Drop for Awake<'_> {
    fn drop(&mut self) {
        self.0.go_outside();
    }
}

/// Runs a future to its end on this thread, which sleeps while the future waits. This needs no
/// runtime. Inside one, also by [`Runtime::enter`](crate::Runtime::enter), the future is inside
/// too, and the thread drives a [current-thread](crate::Builder::new_current_thread) runtime.
///
/// # Panics
/// As [`Runtime::block_on`](crate::Runtime::block_on).
///
/// # Examples
/// ```
/// assert_eq!(evenkeel::block_on(async { 1 + 1 }), 2);
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    current::refuse_on_worker("block_on", "the future");
    match current::shared() {
        Some(shared) => run_inside(future, &shared),
        None => run(future, None),
    }
}

/// [`block_on`] inside a runtime.
pub(super) fn run_inside<F: Future>(future: F, shared: &Arc<Shared>) -> F::Output {
    let is_counted = current::is_counted(shared);
    let _entered = current::enter_as(Kind::Blocked, shared);
    let _awake = (!is_counted).then(|| Awake::new(shared));
    run(future, Some(shared.clone()))
}

/// What polls a future, and what the thread in `block_on` needs for that.
struct Blocked<'a> {
    poll_future: &'a mut dyn FnMut(&mut Context<'_>) -> Poll<()>,
    signal: &'a Signal,
    waker: &'a Waker,
    blocking: Blocking,
    party: Id,
    /// Whether a poll is due, beside those for wakes: the first one is.
    is_due: bool,
}

impl Blocked<'_> {
    fn is_due(&self) -> bool {
        self.is_due || self.signal.is_woken()
    }

    /// Polls the future, if a poll is due.
    fn poll(&mut self) -> Poll<()> {
        if !std::mem::replace(&mut self.is_due, false) {
            if !self.signal.is_woken() {
                return Poll::Pending;
            }
            self.blocking.wake();
            self.signal.take_wake();
        }
        let polled = {
            let _begun = slice::begin_outside();
            let _turn = party::Turn::of(self.party);
            (self.poll_future)(&mut Context::from_waker(self.waker))
        };
        if polled.is_pending() {
            // The thread leaves the count; the waker enters it with the wake.
            if let Some(shared) = &self.signal.inside {
                shared.go_outside();
            }
            self.blocking.sleep(|| current::with(|shared| shared?.hooks.deadlock.clone()));
        }
        polled
    }
}

/// Completes a future on this thread, and returns its output. The future is dropped inside of the
/// runtime too.
fn run<F: Future>(future: F, inside: Option<Arc<Shared>>) -> F::Output {
    let mut future = pin!(future);
    let mut output = None;
    complete(inside, &mut |context| {
        future.as_mut().poll(context).map(|ready| output = Some(ready))
    });
    output.expect("the future is complete")
}

/// The loop of [`block_on`], compiled once. The runtime that the thread is inside counts the thread
/// as awake. If it has no worker threads, this one drives it while no other thread does.
fn complete(
    inside: Option<Arc<Shared>>,
    poll_future: &mut dyn FnMut(&mut Context<'_>) -> Poll<()>,
) {
    let signal = Arc::new(Signal::new(inside));
    let _deaf = signal.inside.as_ref().map(Deaf::to);
    let _noted = Noted::new(&signal);
    let _listening = Listening(&signal);
    let waker = Waker::from(signal.clone());
    let blocking = Blocking::begin(&signal);
    let (signal, waker) = (&*signal, &waker);
    let level = party::Level::begin();
    let party = level.party();
    let mut blocked = Blocked { poll_future, signal, waker, blocking, party, is_due: true };
    let place = signal.inside.as_ref().and_then(Place::of);
    loop {
        if let Some(place) = &place
            && place.drive(&|| signal.is_woken(), &mut || blocked.poll())
        {
            return;
        }
        if !blocked.is_due() {
            thread::park(None);
            continue;
        }
        if let Some(place) = &place {
            place.withdraw();
        }
        if blocked.poll().is_ready() {
            return;
        }
    }
}
