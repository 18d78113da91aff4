//! The results of a task's handle, at every time of the question.

use crate::common::counting::Counting;
use crate::common::runtime::runtime;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::JoinHandle;
use evenkeel::task::{self, Builder, Task};
use futures::future::poll_fn;
use futures::poll;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;

#[test]
fn a_handle_gives_the_output_before_and_after_the_end() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let early = runtime.spawn(async { String::from("early") });
    assert_eq!(runtime.block_on(early).unwrap(), "early");

    let late = runtime.spawn(async { [7_u64; 100] });
    until(|| late.is_finished());
    assert_eq!(runtime.block_on(late).unwrap(), [7; 100]);
}

#[test]
fn handles_may_be_awaited_in_any_order() {
    let _watchdog = watchdog();
    let sum = runtime(2).block_on(async {
        let handles: Vec<_> = (0..1_000_u64)
            .map(|n| {
                evenkeel::spawn(async move {
                    for _ in 0..n % 5 {
                        evenkeel::yield_now().await;
                    }
                    n
                })
            })
            .collect();
        let mut sum = 0;
        for handle in handles.into_iter().rev() {
            sum += handle.await.unwrap();
        }
        sum
    });
    assert_eq!(sum, 499_500);
}

#[test]
fn waiting_may_be_given_up_and_taken_up_again() {
    let _watchdog = watchdog();
    runtime(2).block_on(async {
        let mut handle = evenkeel::spawn(async {
            task::park().await;
            "unparked"
        });
        assert!(poll!(&mut handle).is_pending());
        assert!(poll!(&mut handle).is_pending());
        assert!(!handle.is_finished());
        handle.task().unpark();
        assert_eq!((&mut handle).await.unwrap(), "unparked");
        assert!(handle.is_finished());
    });
}

#[test]
fn the_last_to_poll_the_handle_is_the_one_that_is_woken() {
    let _watchdog = watchdog();
    runtime(2).block_on(async {
        let slow = evenkeel::spawn(task::park());
        let slow_task = slow.task();
        // The first joiner polls the handle and passes it on.
        let first = evenkeel::spawn(async move {
            let mut slow = slow;
            assert!(poll!(&mut slow).is_pending());
            [slow]
        });
        let [slow] = first.await.unwrap();
        let second = evenkeel::spawn(async move {
            slow_task.unpark();
            slow.await.unwrap();
        });
        second.await.unwrap();
    });
}

#[test]
fn a_waker_that_is_left_again_is_woken_once() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let count = Arc::new(Counting::default());
    let waker = Waker::from(count.clone());
    let mut handle = runtime.spawn(task::park());
    for _ in 0..3 {
        assert!(Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_eq!(Arc::strong_count(&count), 3, "here, in `waker` and with the task");
    handle.task().unpark();
    until(|| count.wakes() > 0);
    runtime.block_on(handle).unwrap();
    assert_eq!(count.wakes(), 1);
    drop(waker);
    drop(runtime);
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn a_handle_that_has_given_its_output_gives_no_other() {
    let _watchdog = watchdog();
    runtime(2).block_on(async {
        let mut handle = evenkeel::spawn(async { 1 });
        let id = handle.id();
        assert_eq!((&mut handle).await.unwrap(), 1);
        handle.abort();
        assert_eq!(handle.id(), id);
        let again = poll_fn(|context| {
            let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut handle).poll(context)));
            Poll::Ready(polled.is_err())
        });
        assert!(again.await, "polling again panics");
    });
}

#[test]
fn a_detached_task_goes_on() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let ran = Arc::new(AtomicBool::new(false));
    drop(runtime.spawn({
        let ran = ran.clone();
        async move {
            evenkeel::yield_now().await;
            ran.store(true, Ordering::Release);
        }
    }));
    until(|| ran.load(Ordering::Acquire));
}

#[test]
fn a_handle_that_is_dropped_while_it_waits_detaches_the_task() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let output = Arc::new(());
    let inside = output.clone();
    runtime.block_on(async {
        let mut handle = evenkeel::spawn(async move {
            task::park().await;
            inside
        });
        let task = handle.task();
        assert!(poll!(&mut handle).is_pending());
        drop(handle);
        task.unpark();
    });
    until(|| Arc::strong_count(&output) == 1);
}

#[test]
fn an_output_that_is_not_taken_is_dropped_with_the_handle() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let output = Arc::new(());
    let inside = output.clone();
    let handle = runtime.spawn(async move { inside });
    until(|| handle.is_finished());
    assert_eq!(Arc::strong_count(&output), 2, "the handle keeps it");
    drop(handle);
    assert_eq!(Arc::strong_count(&output), 1);
}

#[test]
fn a_future_is_dropped_before_its_output_is_given() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for _ in 0..1_000 {
        let captured = Arc::new(());
        let inside = captured.clone();
        let handle = runtime.spawn(async move {
            evenkeel::yield_now().await;
            drop(Arc::clone(&inside));
        });
        runtime.block_on(handle).unwrap();
        assert_eq!(Arc::strong_count(&captured), 1);
    }
}

#[test]
fn a_task_is_joined_from_a_plain_thread_and_from_another_runtime() {
    let _watchdog = watchdog();
    let (one, two) = (runtime(2), runtime(2));
    let for_thread = one.spawn(async { 1 });
    assert_eq!(thread::spawn(|| evenkeel::block_on(for_thread).unwrap()).join().unwrap(), 1);

    let slow = one.spawn(async {
        task::park().await;
        2
    });
    let slow_task = slow.task();
    let elsewhere = two.spawn(async move {
        slow_task.unpark();
        slow.await.unwrap()
    });
    assert_eq!(evenkeel::block_on(elsewhere).unwrap(), 2);
}

#[test]
fn a_chain_of_tasks_joins_from_end_to_end() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let mut last: JoinHandle<u32> = runtime.spawn(async { 0 });
    for _ in 0..1_000 {
        last = runtime.spawn(async move { last.await.unwrap() + 1 });
    }
    assert_eq!(runtime.block_on(last).unwrap(), 1_000);
}

#[test]
fn a_task_knows_its_number_its_name_and_where_it_was_spawned() {
    let _watchdog = watchdog();
    runtime(2).block_on(async {
        assert!(task::try_current().is_none(), "block_on is no task");
        let line = line!() + 1;
        let named = Builder::new().name("helmsman").spawn(async { task::current() });
        let (id, of_handle) = (named.id(), named.task());
        let of_itself: Task = named.await.unwrap();
        for task in [&of_handle, &of_itself] {
            assert_eq!(task.id(), id);
            assert_eq!(task.name(), Some("helmsman"));
            assert_eq!(task.spawn_site().file(), file!());
            assert_eq!(task.spawn_site().line(), line);
        }
        assert!(format!("{of_itself:?}").contains("\"helmsman\""), "{of_itself:?}");

        let unnamed = evenkeel::spawn(async { task::current().name().map(str::to_owned) });
        assert_eq!(unnamed.await.unwrap(), None);
    });
}

#[test]
fn numbers_are_unique_wherever_tasks_come_from() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let mut ids: Vec<_> = (0..100).map(|_| runtime.spawn(async {}).id()).collect();
    let spawners: Vec<_> = (0..10)
        .map(|_| {
            runtime.spawn(async {
                (0..500).map(|_| evenkeel::spawn(async {}).id()).collect::<Vec<_>>()
            })
        })
        .collect();
    for spawner in spawners {
        ids.push(spawner.id());
        ids.extend(runtime.block_on(spawner).unwrap());
    }
    ids.push(runtime.spawn_blocking(|| ()).id());
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
}

#[test]
#[should_panic(expected = "outside of a runtime")]
fn spawning_outside_of_a_runtime_says_what_to_do() {
    drop(evenkeel::spawn(async {}));
}

#[test]
#[should_panic(expected = "outside of a task")]
fn there_is_no_current_task_outside_of_one() {
    let _ = task::current();
}
