//! The drop of a wrapped future is inside the context.

use crate::{is_inside, is_outside, on_workers};
use evenkeel_compat::{Compat, CompatExt, handle};
use std::cell::RefCell;
use std::future::{Future, pending};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use tokio::sync::oneshot;

/// Says at its drop whether it is inside the context.
struct Says(Sender<bool>);

impl Drop for Says {
    fn drop(&mut self) {
        // The receiver may have left with a test that has failed.
        let _ = self.0.send(is_inside());
    }
}

fn says() -> (Says, Receiver<bool>) {
    let (inside, told) = channel();
    (Says(inside), told)
}

#[test]
fn a_future_that_was_never_polled_is_dropped_inside() {
    let (says, told) = says();
    drop(async move { drop(says) }.compat());
    assert!(told.recv().unwrap());
    assert!(is_outside(), "the context is left");
}

#[test]
fn an_output_is_dropped_where_the_caller_drops_it() {
    on_workers(|runtime| {
        let (says, told) = says();
        drop(runtime.block_on(async move { says }.compat()));
        assert!(!told.recv().unwrap());
        assert!(is_outside());
    });
}

#[test]
fn an_aborted_task_drops_its_future_inside() {
    on_workers(|runtime| {
        let (says, told) = says();
        let (polled, begun) = oneshot::channel();
        let task = async move {
            let _says = says;
            polled.send(()).unwrap();
            pending::<()>().await;
        };
        let task = runtime.spawn(task.compat());
        runtime.block_on(begun).unwrap();
        task.abort();
        assert!(runtime.block_on(task).unwrap_err().is_cancelled());
        assert!(told.recv().unwrap());
    });
}

#[test]
fn a_future_that_was_taken_out_is_dropped_outside() {
    let (says, told) = says();
    let wrapper = async move { drop(says) }.compat();
    let future = wrapper.into_inner();
    assert!(is_outside());
    drop(future);
    assert!(!told.recv().unwrap());
}

#[test]
fn a_panic_in_a_poll_leaves_the_context_and_drops_the_future_inside() {
    on_workers(|runtime| {
        let (says, told) = says();
        let task = async move {
            let _says = says;
            panic!("on purpose");
        };
        let task: evenkeel::JoinHandle<()> = runtime.spawn(task.compat());
        assert!(runtime.block_on(task).unwrap_err().is_panic());
        assert!(told.recv().unwrap());
        let next = runtime.spawn(async { is_outside() });
        assert!(runtime.block_on(next).unwrap(), "the worker is outside again");
    });
}

#[test]
fn a_panic_in_a_drop_leaves_the_context() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }
    let panics = Panics;
    let wrapper = async move { drop(panics) }.compat();
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(wrapper)));
    assert!(dropped.is_err());
    assert!(is_outside());
}

/// A future that keeps its part when it is over.
struct Keeps(#[allow(dead_code, reason = "its destructor speaks")] Says);

impl Future for Keeps {
    type Output = ();

    fn poll(self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        std::task::Poll::Ready(())
    }
}

#[test]
fn parts_that_a_complete_future_keeps_are_dropped_inside() {
    on_workers(|runtime| {
        let (says, told) = says();
        runtime.block_on(runtime.spawn(Keeps(says).compat())).unwrap();
        assert!(told.recv().unwrap());
    });
}

#[test]
fn a_thread_that_ends_may_drop_a_future_after_tokios_memory() {
    thread_local! {
        static LAST: RefCell<Option<Compat<Keeps>>> = const { RefCell::new(None) };
    }
    let (says, told) = says();
    thread::spawn(move || {
        // This is registered before Tokio's memory, and so it is dropped after that.
        LAST.set(None);
        drop(handle().enter());
        LAST.set(Some(Keeps(says).compat()));
    })
    .join()
    .unwrap();
    assert!(!told.recv().unwrap(), "there is no context any more, and nothing panicked");
}
