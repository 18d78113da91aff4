//! Runs a future on the calling thread.

use crate::detect::{Alarm, Blocking};
use crate::primitives::atomic::{AtomicBool, Edge, Ordering, edge};
use crate::primitives::thread::{self, Thread, thread_local};
use crate::processor::current::{self, Kind};
use crate::processor::shared::Shared;
use crate::processor::slice;
use crate::raw_task::id::{self, Id};
use crate::raw_task::party;
use crate::scheduler::driver::{self, Place};
use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};

/// Wakes a blocked thread.
struct Signal {
    woken: AtomicBool,
    thread: Thread,
    /// The thread's [number](id::among_threads).
    number: u64,
    /// The runtime that the thread is inside, which counts the thread while it is awake or woken.
    inside: Option<Arc<Shared>>,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Counted first: between the count and the swap the clock must not move.
        if let Some(shared) = &self.inside {
            shared.clock.come();
        }
        if !self.woken.swap(true, edge(Edge::BlockWake, Ordering::Release)) {
            self.unpark();
        } else if let Some(shared) = &self.inside {
            // The previous wake is counted. The thread may have seen it by now, and sleep again: it
            // did not move the clock while this caller was counted.
            shared.go_outside();
        }
    }
}

impl Signal {
    fn unpark(&self) {
        match &self.inside {
            Some(shared) if shared.driving.get().is_some() => {
                driver::unpark(shared, &self.thread, self.number);
            }
            _ => self.thread.unpark(),
        }
    }

    fn is_woken(&self) -> bool {
        // Relaxed: `take_wake` acquires.
        self.woken.load(Ordering::Relaxed)
    }

    /// Makes the signal count as woken: a wake that the thread has not seen does not stay counted,
    /// and later ones are not counted.
    fn deafen(&self) {
        // Acquire ordering: the wake was counted before. No model shows its loss: loom makes the
        // changes of the count in the order in which it runs them.
        if self.woken.swap(true, Ordering::Acquire)
            && let Some(shared) = &self.inside
        {
            shared.clock.go();
        }
    }

    /// Takes the wakes so far. What happened before them is visible after this; a wake after this
    /// unparks.
    fn take_wake(&self) {
        self.woken.swap(false, edge(Edge::BlockWoken, Ordering::Acquire));
    }
}

impl Alarm for Signal {
    fn is_woken(&self) -> bool {
        // It passes nothing on, and `detect` makes a fence before it.
        Self::is_woken(self)
    }
}

/// While this lives, the thread sees the wakes of a signal. It is dropped at the end of the
/// thread's future, or by its panic.
struct Listening<'a>(&'a Signal);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.deafen();
    }
}

thread_local! {
    /// The calls of `block_on` that this thread is inside, the innermost last.
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

/// A call of `block_on`. It does not count as a share of its signal: `detect` counts those.
struct Call {
    signal: Weak<Signal>,
    /// The address of the runtime that the call is inside.
    inside: Option<*const Shared>,
    is_deaf: bool,
}

/// While this lives, wakes of the innermost `block_on` of this thread inside a runtime are not
/// counted: the thread does not come to them, and may sleep inside of that runtime otherwise. Its
/// future is polled once more afterwards.
pub(super) struct Deaf(Option<Weak<Signal>>);

impl Deaf {
    pub(super) fn to(shared: &Arc<Shared>) -> Self {
        // A thread that destroys its thread-locals is inside no call that is noted.
        let signal = CALLS.try_with(|calls| {
            let mut calls = calls.borrow_mut();
            let is_of = |call: &&mut Call| call.inside == Some(Arc::as_ptr(shared));
            let call = calls.iter_mut().rev().find(is_of)?;
            let was_deaf = std::mem::replace(&mut call.is_deaf, true);
            (!was_deaf).then(|| call.signal.clone())
        });
        let signal = signal.ok().flatten();
        if let Some(signal) = signal.as_ref().and_then(Weak::upgrade) {
            signal.deafen();
        }
        Self(signal)
    }
}

impl Drop for Deaf {
    fn drop(&mut self) {
        let Some(signal) = &self.0 else { return };
        _ = CALLS.try_with(|calls| {
            let mut calls = calls.borrow_mut();
            let call = calls.iter_mut().find(|call| call.signal.ptr_eq(signal));
            if let Some(call) = call {
                call.is_deaf = false;
            }
        });
        // The signal counts as woken, as it has all the time.
        if let Some(signal) = signal.upgrade()
            && let Some(shared) = &signal.inside
        {
            shared.clock.come();
        }
    }
}

/// Notes a call of this thread while this lives.
struct Noted(bool);

impl Noted {
    fn new(signal: &Arc<Signal>) -> Self {
        let inside = signal.inside.as_ref().map(Arc::as_ptr);
        let call = Call { signal: Arc::downgrade(signal), inside, is_deaf: false };
        Self(CALLS.try_with(|calls| calls.borrow_mut().push(call)).is_ok())
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if self.0 {
            // Calls end in the order in which they are nested.
            _ = CALLS.try_with(|calls| calls.borrow_mut().pop());
        }
    }
}

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
    let woken = AtomicBool::new(false);
    let number = id::among_threads();
    let signal = Arc::new(Signal { woken, thread: thread::current(), number, inside });
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

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::primitives::mutation::check;
    use loom::sync::atomic::AtomicUsize;

    /// The thread may see a wake before it is unparked, or has been woken before. Here the thread
    /// that is unparked has ended: an unpark would order what the other one sees.
    #[test]
    fn a_thread_sees_what_came_before_its_wake() {
        check(&[Edge::BlockWake, Edge::BlockWoken], || {
            let message = Arc::new(AtomicUsize::new(0));
            let thread = loom::thread::spawn(thread::current).join().unwrap();
            let woken = AtomicBool::new(false);
            let signal = Arc::new(Signal { woken, thread, number: 0, inside: None });
            let waker = {
                let (message, waker) = (message.clone(), Waker::from(signal.clone()));
                loom::thread::spawn(move || {
                    message.store(1, Ordering::Relaxed);
                    waker.wake();
                })
            };
            signal.take_wake();
            let has_seen = message.load(Ordering::Relaxed) == 1;
            waker.join().unwrap();
            assert!(has_seen || signal.woken.load(Ordering::Relaxed));
        });
    }
}
