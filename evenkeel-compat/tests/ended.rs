//! The driver ends by the panic of a waker: later polls say so. A program of its own, because the
//! process has one driver.

use evenkeel_compat::CompatExt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::time::sleep;

/// Panics when it is woken.
struct Bad;

impl Wake for Bad {
    fn wake(self: Arc<Self>) {
        panic!("meant: a waker that panics");
    }
}

#[test]
fn a_poll_after_the_end_of_the_driver_says_so() {
    let mut first = Box::pin(async { sleep(Duration::from_millis(1)).await }.compat());
    let bad = Waker::from(Arc::new(Bad));
    assert!(first.as_mut().poll(&mut Context::from_waker(&bad)).is_pending());
    // Each poll is one after the end, or finds the sleep pending or over.
    let panic = loop {
        let mut next = Box::pin(async { sleep(Duration::from_secs(600)).await }.compat());
        let poll = || next.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        match catch_unwind(AssertUnwindSafe(poll)) {
            Ok(Poll::Ready(())) => unreachable!("ten minutes are over"),
            Ok(Poll::Pending) => std::thread::yield_now(),
            Err(panic) => break panic,
        }
    };
    let message = panic.downcast_ref::<&str>().expect("it is a text");
    assert!(message.contains("would wait for ever"), "{message}");
}
