//! Panics in tasks, destructors, hooks and foreign wakers: where they are reported, and what goes
//! on.

use crate::common::panics::Bomb;
use crate::common::until::until;
use crate::common::unwinds::Unwinds;
use crate::common::watchdog::watchdog;
use evenkeel::{Builder, Runtime, Shutdown};
use futures::poll;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};

/// A runtime of one worker, which an escaped panic would end, and the reports that its hook
/// received.
fn runtime() -> (Runtime, Arc<Mutex<Vec<String>>>) {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let hook = {
        let reports = reports.clone();
        move |panic: &evenkeel::task::TaskPanic<'_>| {
            reports.lock().unwrap().push(panic.to_string());
        }
    };
    let runtime = Builder::new().workers(1).on_task_panic(hook).build();
    (runtime.expect("the runtime starts"), reports)
}

/// Checks that the worker is still alive.
fn goes_on(runtime: &Runtime) {
    assert_eq!(runtime.block_on(runtime.spawn(async { 1 })).unwrap(), 1);
}

/// Ready at once, and panics when it is dropped.
struct Trap<T> {
    output: Option<T>,
    _bomb: Bomb,
}

impl<T> Trap<T> {
    fn new(output: T) -> Self {
        Self { output: Some(output), _bomb: Bomb("future") }
    }
}

impl<T: Unpin> Future for Trap<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        Poll::Ready(self.output.take().expect("a trap is polled once"))
    }
}

#[test]
fn a_joiner_gets_the_panic_and_the_hook_is_not_told() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime();
    let number = 7;

    let error = runtime.block_on(runtime.spawn(async { panic!("plain") })).unwrap_err();
    assert!(error.is_panic() && !error.is_cancelled());
    assert_eq!(error.to_string(), format!("task {} panicked: plain", error.id()));
    assert_eq!(error.into_panic().downcast_ref::<&str>(), Some(&"plain"));

    let handle = runtime.spawn(async move { panic!("number {number}") });
    let error = runtime.block_on(handle).unwrap_err();
    assert!(format!("{error:?}").contains("number 7"), "{error:?}");
    let payload = AssertUnwindSafe(error.into_panic());
    let again = catch_unwind(|| resume_unwind({ payload }.0)).unwrap_err();
    assert_eq!(again.downcast_ref::<String>().unwrap(), "number 7");

    let error = runtime.block_on(runtime.spawn(async { panic_any(3_u8) })).unwrap_err();
    assert!(error.to_string().ends_with("(a payload that is not text)"), "{error}");
    assert_eq!(error.into_panic().downcast_ref::<u8>(), Some(&3));

    goes_on(&runtime);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    assert!(reports.lock().unwrap().is_empty());
}

#[test]
fn the_hook_is_told_once_without_a_joiner() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime();
    drop(runtime.spawn(async { panic!("dropped before") }));
    let handle = runtime.spawn(async { panic!("dropped after") });
    until(|| handle.is_finished());
    drop(handle);
    goes_on(&runtime);
    runtime.shutdown(Shutdown::Drain);

    let reports = reports.lock().unwrap();
    assert_eq!(reports.len(), 2, "{reports:?}");
    for (report, word) in reports.iter().zip(["before", "after"]) {
        assert!(report.contains("panicked, and had no joiner: dropped"), "{report}");
        assert!(report.ends_with(word) && report.contains(file!()), "{report}");
    }
}

#[test]
fn a_panic_in_a_blocking_closure_is_told_like_a_task_s() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime();
    let handle = runtime.spawn_blocking(|| panic!("joined"));
    let error = runtime.block_on(handle).unwrap_err();
    assert!(error.to_string().ends_with("panicked: joined"), "{error}");
    drop(runtime.spawn_blocking(|| panic!("not joined")));
    runtime.shutdown(Shutdown::Drain);
    let reports = reports.lock().unwrap();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].ends_with("not joined"), "{reports:?}");
}

#[test]
fn a_task_hook_that_panics_stops_no_worker() {
    let _watchdog = watchdog();
    let told = Arc::new(AtomicUsize::new(0));
    let hook = {
        let told = told.clone();
        move |_: &evenkeel::task::TaskPanic<'_>| {
            told.fetch_add(1, Ordering::Relaxed);
            panic!("in the hook");
        }
    };
    let runtime = Builder::new().workers(1).on_task_panic(hook).build().unwrap();
    drop(runtime.spawn(async { panic!("in the task") }));
    goes_on(&runtime);
    let handle = runtime.spawn(async { panic!("in the task") });
    until(|| handle.is_finished());
    drop(handle);
    goes_on(&runtime);
    runtime.shutdown(Shutdown::Drain);
    assert_eq!(told.load(Ordering::Relaxed), 2);
}

#[test]
fn a_destructor_s_panic_takes_the_place_of_the_output() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime();
    let output = Arc::new(());
    let error = runtime.block_on(runtime.spawn(Trap::new(output.clone())));
    assert!(error.unwrap_err().to_string().ends_with("panicked: future"));
    assert_eq!(Arc::strong_count(&output), 1, "the output has been dropped");
    goes_on(&runtime);
    runtime.shutdown(Shutdown::Drain);
    assert!(reports.lock().unwrap().is_empty());
}

#[test]
fn of_two_panics_the_first_is_told() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime();
    let error = runtime
        .block_on(runtime.spawn(Unwinds::new(&Arc::default(), || panic_any("second"))))
        .unwrap_err();
    assert!(error.to_string().ends_with("panicked: first"), "{error}");
    goes_on(&runtime);
    runtime.shutdown(Shutdown::Drain);
    assert!(reports.lock().unwrap().is_empty());
}

/// As if the future were a thread's closure: its values can tell a failure from an end.
#[test]
fn a_future_that_panics_is_dropped_while_its_panic_unwinds() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime();
    let unwinding = Arc::new(Mutex::new(Vec::new()));
    let own = || Unwinds::new(&unwinding, || ());
    let captured = (own(), own());
    let handles = [
        runtime.spawn(own()),
        runtime.spawn(async move {
            let _captured = captured.0;
            panic_any("first")
        }),
        runtime.spawn_blocking(move || {
            let _captured = captured.1;
            panic_any("first")
        }),
    ];
    for handle in handles {
        let error = runtime.block_on(handle).unwrap_err();
        assert!(error.to_string().ends_with("panicked: first"), "{error}");
    }
    // Without a panic there is no unwinding.
    let aborted = runtime.spawn({
        let kept = own();
        async move {
            let _kept = kept;
            std::future::pending::<()>().await
        }
    });
    aborted.abort();
    assert!(runtime.block_on(aborted).unwrap_err().is_cancelled());
    assert_eq!(*unwinding.lock().unwrap(), [true, true, true, false]);
    goes_on(&runtime);
    runtime.shutdown(Shutdown::Drain);
    assert!(reports.lock().unwrap().is_empty());
}

/// The first panic's unwinding drops the future. The destructor panics too, and so does the
/// destructor of that panic's payload.
#[test]
fn panics_in_the_unwinding_of_a_panic_are_contained() {
    struct Payload;

    impl Drop for Payload {
        fn drop(&mut self) {
            panic_any("third");
        }
    }

    let _watchdog = watchdog();
    let (runtime, _) = runtime();
    let unwinding = Arc::new(Mutex::new(Vec::new()));
    let error = runtime
        .block_on(runtime.spawn(Unwinds::new(&unwinding, || panic_any(Payload))))
        .unwrap_err();
    assert_eq!(*unwinding.lock().unwrap(), [true]);
    assert!(error.to_string().ends_with("panicked: first"), "{error}");
    goes_on(&runtime);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
}

#[test]
fn an_output_and_a_future_may_both_panic_when_they_are_dropped() {
    let _watchdog = watchdog();
    let (runtime, _) = runtime();
    let handle = runtime.spawn(Trap::new(Bomb("output")));
    let error = runtime.block_on(handle).map(std::mem::forget).unwrap_err();
    assert!(error.to_string().ends_with("panicked: future"), "{error}");
    goes_on(&runtime);
}

#[test]
fn an_output_that_is_not_taken_and_panics_stops_no_worker() {
    let _watchdog = watchdog();
    let (runtime, _) = runtime();
    drop(runtime.spawn(async { Bomb("output") }));
    goes_on(&runtime);
    let handle = runtime.spawn(async { Bomb("output") });
    until(|| handle.is_finished());
    drop(handle);
    goes_on(&runtime);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
}

#[test]
fn payloads_that_panic_when_they_are_dropped_stop_no_worker() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime();
    drop(runtime.spawn(async { panic_any(Bomb("payload")) }));
    goes_on(&runtime);
    drop(runtime.spawn(PanicsWithBomb(false)));
    goes_on(&runtime);
    runtime.shutdown(Shutdown::Drain);
    assert_eq!(reports.lock().unwrap().len(), 2);
}

/// Panics when polled; the payload of its second panic is a [`Bomb`].
struct PanicsWithBomb(bool);

impl Future for PanicsWithBomb {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.0 = true;
        panic_any("first");
    }
}

impl Drop for PanicsWithBomb {
    fn drop(&mut self) {
        if self.0 {
            panic_any(Bomb("payload"));
        }
    }
}

#[test]
fn a_foreign_waker_that_panics_stops_no_worker() {
    struct Loud;
    impl Wake for Loud {
        fn wake(self: Arc<Self>) {
            panic!("in a waker");
        }
    }

    let _watchdog = watchdog();
    let (runtime, _) = runtime();
    let mut handle = runtime.spawn(evenkeel::task::park());
    let waker = Waker::from(Arc::new(Loud));
    assert!(Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)).is_pending());
    handle.task().unpark();
    until(|| handle.is_finished());
    goes_on(&runtime);
    runtime.block_on(handle).unwrap();
}

/// A payload that panics with another of its kind when it is dropped.
struct Endless;

impl Drop for Endless {
    fn drop(&mut self) {
        panic_any(Endless);
    }
}

#[test]
fn panics_without_end_in_a_task_and_in_the_hook_stop_no_worker() {
    let _watchdog = watchdog();
    let told = Arc::new(AtomicUsize::new(0));
    let hook = {
        let told = told.clone();
        move |_: &evenkeel::task::TaskPanic<'_>| {
            told.fetch_add(1, Ordering::Relaxed);
            panic_any(Endless);
        }
    };
    let runtime = Builder::new().workers(1).on_task_panic(hook).build().unwrap();
    drop(runtime.spawn(async { panic_any(Endless) }));
    goes_on(&runtime);
    let handle = runtime.spawn(async { panic_any(Endless) });
    until(|| handle.is_finished());
    drop(handle);
    drop(runtime.spawn(async { Endless }));
    drop(runtime.spawn_blocking(|| panic_any(Endless)));
    goes_on(&runtime);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    assert_eq!(told.load(Ordering::Relaxed), 3);
}

#[test]
fn panics_without_end_in_a_foreign_waker_stop_no_worker() {
    struct Loud;
    impl Wake for Loud {
        fn wake(self: Arc<Self>) {
            panic_any(Endless);
        }
    }

    let _watchdog = watchdog();
    let (runtime, _) = runtime();
    let waker = Waker::from(Arc::new(Loud));
    let mut context = Context::from_waker(&waker);
    let mut parked = runtime.spawn(evenkeel::task::park());
    assert!(Pin::new(&mut parked).poll(&mut context).is_pending());
    let (open, opened) = mpsc::channel::<()>();
    let mut blocked = runtime.spawn_blocking(move || opened.recv());
    assert!(Pin::new(&mut blocked).poll(&mut context).is_pending());
    parked.task().unpark();
    drop(open);
    until(|| parked.is_finished() && blocked.is_finished());
    goes_on(&runtime);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
}

#[test]
fn a_panic_while_others_wait_leaves_them_waiting() {
    let _watchdog = watchdog();
    let (runtime, _) = runtime();
    runtime.block_on(async {
        let mut waits = evenkeel::spawn(evenkeel::task::park());
        assert!(poll!(&mut waits).is_pending());
        let panics = evenkeel::spawn(async { panic!("alone") });
        assert!(panics.await.unwrap_err().is_panic());
        assert!(poll!(&mut waits).is_pending());
        waits.task().unpark();
        waits.await.unwrap();
    });
}

#[test]
#[should_panic(expected = "for the caller")]
fn a_panic_of_the_future_given_to_block_on_is_the_caller_s() {
    let _watchdog = watchdog();
    let (runtime, _) = runtime();
    runtime.block_on(async { panic!("for the caller") });
}
