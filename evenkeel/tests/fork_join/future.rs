//! Awaited forks: results, panics, cancellation, and workers that go on meanwhile.

use super::fib;
use crate::common::watchdog::watchdog;
use evenkeel::fork_join::future;
use evenkeel::{Builder, Shutdown, block_on};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::{panic, pin, thread};

#[test]
fn results_come_out_of_tasks_and_of_any_thread() {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        let tasks: Vec<_> = (0..200)
            .map(|n| {
                runtime.spawn(async move {
                    let forked = future::fork(move || fib(n % 16));
                    let (a, b) = future::join(move || fib(n % 13), move || fib(n % 11)).await;
                    (forked.await, a, b)
                })
            })
            .collect();
        for (n, task) in (0..200).zip(tasks) {
            let expected = (fib(n % 16), fib(n % 13), fib(n % 11));
            assert_eq!(runtime.block_on(task).unwrap(), expected);
        }
    }
    // Outside any runtime.
    assert_eq!(block_on(future::join(|| fib(10), || fib(11))), (55, 89));
    assert_eq!(block_on(future::fork(|| fib(12))), 144);
}

#[test]
fn a_worker_goes_on_with_other_tasks_while_a_half_is_elsewhere() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).build().unwrap();
    let (taken, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let first = {
        let taken = taken.clone();
        move || {
            while !taken.load(Ordering::Acquire) {
                thread::yield_now();
            }
        }
    };
    let second = {
        let over = over.clone();
        move || {
            taken.store(true, Ordering::Release);
            while !over.load(Ordering::Acquire) {
                thread::yield_now();
            }
        }
    };
    let joined = runtime.spawn(async move { future::join(first, second).await });
    // The second half keeps one worker until another task has run, on the worker that forked.
    let other = runtime.spawn(async move { over.store(true, Ordering::Release) });
    runtime.block_on(other).unwrap();
    runtime.block_on(joined).unwrap();
}

#[test]
fn panics_come_out_of_the_await_after_both_halves() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).build().unwrap();
    for (a_panics, b_panics) in [(true, false), (false, true), (true, true)] {
        let count = Arc::new(AtomicUsize::new(0));
        let half = |panics: bool, text: &'static str| {
            let count = count.clone();
            move || {
                count.fetch_add(1, Ordering::Relaxed);
                assert!(!panics, "{text}");
            }
        };
        let joined = future::join(half(a_panics, "first"), half(b_panics, "second"));
        let error = runtime.block_on(runtime.spawn(joined)).unwrap_err();
        let panic = error.into_panic();
        let text = panic.downcast_ref::<String>().unwrap();
        assert_eq!(text, if a_panics { "first" } else { "second" });
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }
    let forked = runtime.spawn(async { future::fork(|| panic!("forked")).await });
    let error: evenkeel::JoinError = runtime.block_on(forked).map(|(): ()| ()).unwrap_err();
    assert_eq!(*error.into_panic().downcast_ref::<&str>().unwrap(), "forked");
}

#[test]
fn what_is_dropped_runs_all_the_same_once_it_has_begun() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).build().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let one = || {
        let count = count.clone();
        move || {
            count.fetch_add(1, Ordering::Relaxed);
        }
    };
    let (a, b, c, d) = (one(), one(), one(), one());
    let task = runtime.spawn(async move {
        drop(future::fork(a));
        drop(future::join(b, c));
        // Polled once, and then forgotten.
        let mut joined = pin::pin!(future::join(d, thread::yield_now));
        let _ = joined.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    });
    runtime.block_on(task).unwrap();
    drop(runtime);
    assert_eq!(count.load(Ordering::Relaxed), 2, "the fork and the first half that was polled");
}

#[test]
fn a_poll_after_the_result_panics() {
    let mut forked = pin::pin!(future::fork(|| 1));
    let mut cx = Context::from_waker(Waker::noop());
    while forked.as_mut().poll(&mut cx) != Poll::Ready(1) {
        thread::yield_now();
    }
    let again = catch_unwind(AssertUnwindSafe(|| forked.as_mut().poll(&mut cx)));
    let text = *again.unwrap_err().downcast_ref::<&str>().unwrap();
    assert!(text.starts_with("a fork is polled after its result has been taken: keep"), "{text}");
}

/// A waker with a destructor that waits for a worker, which is about to leave the fork's result.
#[test]
fn a_waker_that_is_replaced_is_dropped_without_the_lock() {
    struct Slow(Option<evenkeel::Handle>, Arc<AtomicBool>);
    impl std::task::Wake for Slow {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Slow {
        fn drop(&mut self) {
            let Some(handle) = &self.0 else { return };
            self.1.store(true, Ordering::Release);
            block_on(handle.spawn(async {})).unwrap();
        }
    }
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).reliefs(0).build().unwrap();
    let go = Arc::new(AtomicBool::new(false));
    let wait = go.clone();
    let _entered = runtime.enter();
    let mut forked = pin::pin!(future::fork(move || {
        while !wait.load(Ordering::Acquire) {
            thread::yield_now();
        }
    }));
    for handle in [Some(runtime.handle()), None] {
        let waker = Waker::from(Arc::new(Slow(handle, go.clone())));
        assert!(forked.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    block_on(forked);
}

#[test]
fn a_fork_that_its_runtime_never_runs_tells_its_waiter() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let handle = runtime.handle();
    runtime.shutdown(Shutdown::Abort);
    // What the process's panic hook sees of these panics.
    let (sender, seen) = mpsc::channel();
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if let Some(&text) = info.payload().downcast_ref::<&str>()
            && text.contains("its runtime ended")
        {
            let _ = sender.send(format!("{}: {text}", info.location().unwrap().file()));
        }
        before(info);
    }));
    let text = |panic: Box<dyn Any + Send>| *panic.downcast_ref::<&str>().unwrap();
    let forked =
        catch_unwind(AssertUnwindSafe(|| handle.block_on(async { future::fork(|| 1).await })));
    let fork = "fork: its runtime ended before it ran the closure: fork inside a runtime that runs";
    assert_eq!(text(forked.unwrap_err()), fork);
    let joined = catch_unwind(AssertUnwindSafe(|| {
        handle.block_on(async { future::join(|| 1, || 2).await })
    }));
    let join = "join: its runtime ended before it ran the second closure: join inside a runtime \
                that runs";
    assert_eq!(text(joined.unwrap_err()), join);
    let expected = [fork, join].map(|text| format!("{}: {text}", file!()));
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), expected);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        handle.block_on(async { future::join(|| panic!("the first"), || 2).await })
    }));
    assert_eq!(text(panicked.map(|((), _)| ()).unwrap_err()), "the first");
}

#[test]
fn storms_of_forks_across_tasks_all_come_out() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(4).build().unwrap();
    let task = |seed: u64| async move {
        let mut sum = 0;
        for n in 0..200 {
            let forks: Vec<_> = (0..4).map(|k| future::fork(move || (seed + n) * k)).collect();
            let (a, b) = future::join(move || fib(3), move || seed).await;
            sum += a + b;
            for fork in forks {
                sum += fork.await;
            }
            evenkeel::yield_now().await;
        }
        sum
    };
    let tasks: Vec<_> = (0..32).map(|seed| runtime.spawn(task(seed))).collect();
    for (seed, task) in (0..32_u64).zip(tasks) {
        let expected: u64 = (0..200).map(|n| 2 + seed + 6 * (seed + n)).sum();
        assert_eq!(runtime.block_on(task).unwrap(), expected);
    }
}

#[test]
fn a_runtime_that_drains_ends_after_forks_that_were_dropped() {
    let _watchdog = watchdog();
    for _ in 0..20 {
        let runtime = Builder::new().workers(2).build().unwrap();
        let ran = Arc::new(AtomicUsize::new(0));
        let task = {
            let ran = ran.clone();
            runtime.spawn(async move {
                let begun = Arc::new(AtomicBool::new(false));
                let job = {
                    let (ran, begun) = (ran.clone(), begun.clone());
                    move || {
                        begun.store(true, Ordering::Release);
                        (0..50).for_each(|_| thread::yield_now());
                        // The runtime still accepts tasks.
                        drop(evenkeel::spawn(async move {
                            ran.fetch_add(1, Ordering::Relaxed);
                        }));
                    }
                };
                drop(future::fork(job));
                while !begun.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            })
        };
        drop(task);
        assert!(runtime.shutdown(Shutdown::Drain).is_clean());
        assert_eq!(ran.load(Ordering::Relaxed), 1);
    }
}
