//! Wakers of tasks: cloned, moved, used and dropped in every order, and after the end of task and
//! runtime.

use crate::common::runtime::runtime;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::{Runtime, Shutdown};
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;

/// A task that stores a waker at each of its polls, and ends when it is told to.
struct Subject {
    polls: AtomicUsize,
    last: AtomicUsize,
    waker: Mutex<Option<Waker>>,
}

impl Subject {
    /// Spawns a subject that ends with poll number `last`.
    fn spawn(runtime: &Runtime, last: usize) -> (Arc<Self>, evenkeel::JoinHandle<()>) {
        let (polls, waker) = (AtomicUsize::new(0), Mutex::new(None));
        let subject = Arc::new(Self { polls, last: AtomicUsize::new(last), waker });
        let inside = subject.clone();
        let handle = runtime.spawn(poll_fn(move |context| {
            *inside.waker.lock().unwrap() = Some(context.waker().clone());
            let polls = inside.polls.fetch_add(1, Ordering::AcqRel) + 1;
            if polls < inside.last.load(Ordering::Acquire) {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        }));
        (subject, handle)
    }

    fn polls(&self) -> usize {
        self.polls.load(Ordering::Acquire)
    }

    /// The waker of poll number `poll`.
    fn waker(&self, poll: usize) -> Waker {
        until(|| self.polls() >= poll);
        self.waker.lock().unwrap().clone().expect("each poll leaves one")
    }
}

/// Wakes by value and keeps the waker.
fn by_value_of_a_clone(waker: &Waker) {
    let clone = waker.clone();
    clone.wake();
}

#[test]
fn woken_by_value_and_by_reference_from_another_thread() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let (subject, handle) = Subject::spawn(&runtime, 2_001);
    for poll in 1..=2_000 {
        let waker = subject.waker(poll);
        if poll % 2 == 0 {
            waker.wake();
        } else {
            waker.wake_by_ref();
        }
    }
    runtime.block_on(handle).unwrap();
    assert_eq!(subject.polls(), 2_001, "one poll per wake");
}

#[test]
fn clones_are_one_waker() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let (subject, handle) = Subject::spawn(&runtime, 2);
    let waker = subject.waker(1);
    let clones: Vec<_> = (0..100).map(|_| waker.clone()).collect();
    assert!(clones.iter().all(|clone| clone.will_wake(&waker)));
    let threads: Vec<_> =
        clones.into_iter().map(|clone| thread::spawn(move || drop(clone))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(subject.polls(), 1, "dropping a waker wakes no task");
    waker.wake();
    runtime.block_on(handle).unwrap();
}

#[test]
fn a_wake_inside_the_poll_is_another_turn() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for by_value in [false, true] {
        let mut turns = 0;
        let handle = runtime.spawn(poll_fn(move |context| {
            turns += 1;
            if turns == 1_000 {
                return Poll::Ready(());
            }
            // More often than the state can count.
            for _ in 0..turns % 7 + 1 {
                if by_value {
                    by_value_of_a_clone(context.waker());
                } else {
                    context.waker().wake_by_ref();
                }
            }
            Poll::Pending
        }));
        runtime.block_on(handle).unwrap();
    }
}

#[test]
fn cloned_more_often_within_a_poll_than_the_poller_can_defer() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for kept in [0, 1, 127, 128, 129, 300, 1_000] {
        let wakers = Arc::new(Mutex::new(Vec::new()));
        let inside = wakers.clone();
        let mut done = false;
        let handle = runtime.spawn(poll_fn(move |context| {
            if done {
                return Poll::Ready(());
            }
            done = true;
            let clones: Vec<_> = (0..1_000).map(|_| context.waker().clone()).collect();
            inside.lock().unwrap().extend(clones.into_iter().take(kept));
            context.waker().wake_by_ref();
            Poll::Pending
        }));
        runtime.block_on(handle).unwrap();
        let wakers = std::mem::take(&mut *wakers.lock().unwrap());
        assert_eq!(wakers.len(), kept);
        wakers.into_iter().for_each(Waker::wake);
    }
}

#[test]
fn cloned_in_one_poll_and_dropped_in_the_next() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let mut kept = Vec::new();
    let mut turns = 0;
    let handle = runtime.spawn(poll_fn(move |context| {
        turns += 1;
        if turns == 500 {
            return Poll::Ready(());
        }
        if turns % 2 == 0 {
            kept.clear();
        } else {
            kept.extend((0..200).map(|_| context.waker().clone()));
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }));
    runtime.block_on(handle).unwrap();
}

#[test]
fn cloned_inside_the_poll_and_dropped_by_a_thread_meanwhile() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for _ in 0..200 {
        let mut turns = 0;
        let handle = runtime.spawn(poll_fn(move |context| {
            turns += 1;
            if turns == 3 {
                return Poll::Ready(());
            }
            let waker = context.waker().clone();
            // The thread consumes the waker before this poll has counted it.
            thread::spawn(move || waker.wake()).join().unwrap();
            Poll::Pending
        }));
        runtime.block_on(handle).unwrap();
    }
}

#[test]
fn used_after_the_task_is_complete() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let (subject, handle) = Subject::spawn(&runtime, 1);
    let waker = subject.waker(1);
    runtime.block_on(handle).unwrap();
    for _ in 0..10 {
        waker.wake_by_ref();
        by_value_of_a_clone(&waker);
    }
    drop(waker);
    runtime.shutdown(Shutdown::Drain);
    assert_eq!(subject.polls(), 1);
}

#[test]
fn used_after_the_task_was_aborted() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let (subject, handle) = Subject::spawn(&runtime, 2);
    let waker = subject.waker(1);
    handle.abort();
    assert!(runtime.block_on(handle).unwrap_err().is_cancelled());
    waker.wake_by_ref();
    runtime.shutdown(Shutdown::Drain);
    assert_eq!(subject.polls(), 1);
    waker.wake();
}

#[test]
fn used_after_the_runtime_is_gone() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let (subject, handle) = Subject::spawn(&runtime, 2);
    let waker = subject.waker(1);
    let task = handle.task();
    drop(runtime);
    waker.wake_by_ref();
    task.unpark();
    task.abort();
    assert!(evenkeel::block_on(handle).unwrap_err().is_cancelled());
    thread::spawn({
        let waker = waker.clone();
        move || waker.wake()
    })
    .join()
    .unwrap();
    assert_eq!(subject.polls(), 1);
    assert_eq!(Arc::strong_count(&subject), 1, "the future is gone");
    drop(subject);
    drop(waker);
    assert!(task.name().is_none(), "a reference keeps the header");
}

#[test]
fn a_future_that_keeps_its_own_waker_is_dropped_all_the_same() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for ends in [true, false] {
        let (subject, handle) = Subject::spawn(&runtime, if ends { 1 } else { 2 });
        until(|| subject.polls() == 1);
        if !ends {
            handle.abort();
        }
        let _ = runtime.block_on(handle);
        assert_eq!(Arc::strong_count(&subject), 1);
        assert!(subject.waker.lock().unwrap().take().is_some());
    }
}

#[test]
fn woken_by_many_threads_at_once() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let (subject, handle) = Subject::spawn(&runtime, usize::MAX);
    let waker = subject.waker(1);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let waker = waker.clone();
            thread::spawn(move || {
                for _ in 0..5_000 {
                    by_value_of_a_clone(&waker);
                    waker.wake_by_ref();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    subject.last.store(0, Ordering::Release);
    waker.wake();
    runtime.block_on(handle).unwrap();
}
