//! Foreign wakers that panic when they wake, are cloned or are dropped, or that use the monitor
//! themselves: panics in a wake or a drop are caught, no monitor stays held, no waker is dropped
//! twice, and none runs under a monitor's lock.

#![allow(unsafe_code, reason = "a waker whose clone panics when it is dropped is made by hand")]

use crate::common::op::F;
use crate::common::polling::Hand;
use crate::common::watchdog::watchdog;
use evenkeel::sync::monitor::{Accepted, Clause, Condition, Held, Monitor, lock_all};
use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread;

type Plain = Monitor<u32, Condition<u32>>;

struct PanicsOnWake;

impl Wake for PanicsOnWake {
    fn wake(self: Arc<Self>) {
        panic!("it is meant to");
    }
}

/// Panics when its last clone is dropped.
struct PanicsOnDrop;

impl Wake for PanicsOnDrop {
    fn wake(self: Arc<Self>) {}
}

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        assert!(thread::panicking(), "it is meant to");
    }
}

fn is_pending<F: Future>(future: &mut Pin<Box<F>>, waker: &Waker) -> bool {
    future.as_mut().poll(&mut Context::from_waker(waker)).is_pending()
}

/// Polls once, with a waker of which the future then holds the last clone.
fn leave_last<F: Future>(future: &mut Pin<Box<F>>) {
    assert!(is_pending(future, &Waker::from(Arc::new(PanicsOnDrop))), "it waits");
}

#[test]
fn a_set_is_left_whole_whichever_waiter_is_woken() {
    let monitors: [Plain; 3] = Default::default();
    let held = lock_all(monitors.each_ref());
    let held = Hand::new(held).ready();
    let waker = Waker::from(Arc::new(PanicsOnWake));
    let mut entrants = monitors.each_ref().map(|monitor| Box::pin(monitor.enter()));
    assert!(entrants.iter_mut().all(|entrant| is_pending(entrant, &waker)));
    drop(held);
    drop(entrants);
    assert!(monitors.iter().all(|monitor| monitor.try_enter().is_some()), "no task is inside");
}

#[test]
fn an_acceptor_that_is_dropped_leaves_whatever_its_waker_does() {
    let monitor = Plain::default();
    let mut accept = Box::pin(Held::accept(monitor.try_enter().unwrap(), [Clause::new(F)]));
    leave_last(&mut accept);
    drop(accept);
    assert!(monitor.try_enter().is_some(), "no task is inside");
}

#[test]
fn half_of_a_set_is_given_up_whatever_the_waker_does() {
    let monitors: [Plain; 3] = Default::default();
    let last = monitors.last().unwrap().try_enter().unwrap();
    let mut all = Box::pin(lock_all(monitors.each_ref()));
    leave_last(&mut all);
    drop(all);
    drop(last);
    assert!(monitors.iter().all(|monitor| monitor.try_enter().is_some()), "no task is inside");
}

thread_local! {
    /// The number of clones of this thread's waker, and whether the next drop of one panics.
    static CLONES: Cell<isize> = const { Cell::new(0) };
    static ARMED: Cell<bool> = const { Cell::new(false) };
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, drop_clone, |_| {}, drop_clone);

unsafe fn clone(data: *const ()) -> RawWaker {
    CLONES.set(CLONES.get() + 1);
    RawWaker::new(data, &VTABLE)
}

unsafe fn drop_clone(_: *const ()) {
    CLONES.set(CLONES.get() - 1);
    assert!(!ARMED.take(), "it is meant to");
}

/// This thread's waker.
fn counted() -> Waker {
    CLONES.set(1);
    // SAFETY: the functions of the table follow no pointer, and the waker stays on its thread.
    unsafe { Waker::new(ptr::null(), &VTABLE) }
}

/// Polls twice: at the second poll the limit has come, and the drop of the clone then panics.
fn end_by_limit<T, F: Future<Output = T>>(make: impl FnOnce(Limit) -> F) -> T {
    let waker = counted();
    let limit = Limit::default();
    let mut future = Box::pin(make(limit.clone()));
    assert!(is_pending(&mut future, &waker), "it waits");
    limit.0.set(true);
    ARMED.set(true);
    let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) else {
        panic!("its time is over");
    };
    assert!(!ARMED.get(), "a clone has been dropped");
    drop(future);
    drop(waker);
    assert_eq!(CLONES.get(), 0, "each is dropped once");
    output
}

#[derive(Clone, Default)]
struct Limit(Rc<Cell<bool>>);

impl Limit {
    fn over(self) -> impl Future<Output = ()> {
        poll_fn(move |_| if self.0.get() { Poll::Ready(()) } else { Poll::Pending })
    }
}

#[test]
fn an_accept_ends_by_its_limit_whatever_its_waker_does() {
    let monitor = Plain::default();
    let held = monitor.try_enter().unwrap();
    let accept = |limit: Limit| Held::accept_until(held, [Clause::new(F)], limit.over());
    let (held, accepted) = end_by_limit(accept);
    assert_eq!(accepted, Accepted::Timeout);
    drop(held);
    assert!(monitor.try_enter().is_some(), "no task is inside");
}

#[test]
fn a_wait_ends_by_its_limit_whatever_its_waker_does() {
    let monitor = Plain::default();
    let wait = |datum| monitor.conditions().wait_with(monitor.try_enter().unwrap(), datum);
    let first = Hand::waiting(wait(1));
    let mut last = None;
    let (mut held, signalled) = end_by_limit(|limit| {
        let until = monitor.conditions().wait_until(monitor.try_enter().unwrap(), 2, limit.over());
        async {
            let mut until = pin!(until);
            poll_fn(|context| {
                let polled = until.as_mut().poll(context);
                // Behind the wait.
                last.get_or_insert_with(|| Hand::waiting(wait(3)));
                polled
            })
            .await
        }
    });
    assert!(!signalled);
    assert_eq!(monitor.conditions().signal_all(&mut held), 2, "the others wait as before");
    drop(held);
    drop(first.ready());
    drop(last.unwrap().ready());
    assert!(monitor.try_enter().is_some(), "no task is inside");
}

thread_local! {
    /// A hold that is given up when the waker below is cloned, and the monitor to examine when a
    /// clone is dropped.
    static LEAVES: Cell<Option<Held<Arc<Plain>>>> = const { Cell::new(None) };
    static LOOKS_AT: Cell<Option<Arc<Plain>>> = const { Cell::new(None) };
}

static CURIOUS: RawWakerVTable = RawWakerVTable::new(clone_and_leave, look, |_| {}, look);

unsafe fn clone_and_leave(data: *const ()) -> RawWaker {
    drop(LEAVES.take());
    RawWaker::new(data, &CURIOUS)
}

unsafe fn look(_: *const ()) {
    if let Some(monitor) = LOOKS_AT.take() {
        assert!(monitor.try_enter().is_none(), "the entrant is inside");
    }
}

#[test]
fn a_waker_that_was_cloned_in_vain_is_dropped_without_the_lock() {
    let _watchdog = watchdog();
    let monitor = Arc::new(Plain::default());
    let mut entry = Box::pin(monitor.enter());
    LEAVES.set(monitor.clone().try_enter_owned());
    LOOKS_AT.set(Some(monitor.clone()));
    // SAFETY: the functions of the table follow no pointer, and the waker stays on its thread.
    let waker = unsafe { Waker::new(ptr::null(), &CURIOUS) };
    let polled = entry.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(polled.is_ready(), "the holder has left while the waker was cloned");
    assert!(LOOKS_AT.take().is_none(), "the clone has been dropped");
}

static UNCLONABLE: RawWakerVTable =
    RawWakerVTable::new(|_| panic!("it is meant to"), |_| {}, |_| {}, |_| {});

#[test]
fn a_signaller_whose_waker_panics_as_it_is_cloned_has_chosen_no_waiter() {
    let monitor = Plain::default();
    let condition = monitor.conditions();
    let waiter = Hand::waiting(condition.wait_with(monitor.try_enter().unwrap(), 1));
    let prepared = Cell::new(0);
    let prepare = |_: &mut Held<&Plain>, _| prepared.set(prepared.get() + 1);
    let held = monitor.try_enter().unwrap();
    let mut signaller = Box::pin(condition.signal_block_with(held, prepare));
    // SAFETY: the functions of the table follow no pointer.
    let waker = unsafe { Waker::new(ptr::null(), &UNCLONABLE) };
    let polled = catch_unwind(AssertUnwindSafe(|| is_pending(&mut signaller, &waker)));
    assert!(polled.is_err(), "the panic is the caller's");
    drop(signaller);
    let mut held = monitor.try_enter().expect("it was left");
    assert!(condition.signal(&mut held), "the waiter can be signalled");
    assert_eq!(prepared.get(), 0, "nothing has been prepared for it");
    drop(held);
    drop(waiter.ready());
    assert!(monitor.try_enter().is_some(), "no task is inside");
}

#[test]
fn a_signaller_whose_waker_has_panicked_as_it_was_cloned_signals_when_it_is_polled_again() {
    let monitor = Plain::default();
    let condition = monitor.conditions();
    let waiter = Hand::waiting(condition.wait_with(monitor.try_enter().unwrap(), 7));
    let held = monitor.try_enter().unwrap();
    let prepare = |held: &mut Held<&Plain>, datum| **held = datum;
    let mut signaller = Box::pin(condition.signal_block_with(held, prepare));
    // SAFETY: the functions of the table follow no pointer.
    let waker = unsafe { Waker::new(ptr::null(), &UNCLONABLE) };
    let polled = catch_unwind(AssertUnwindSafe(|| is_pending(&mut signaller, &waker)));
    assert!(polled.is_err(), "the panic is the caller's");
    assert!(is_pending(&mut signaller, Waker::noop()), "the waiter is signalled");
    let held = waiter.ready();
    assert_eq!(*held, 7, "it has been prepared");
    drop(held);
    let polled = signaller.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(polled, Poll::Ready((_, Some(())))), "it goes on");
}
