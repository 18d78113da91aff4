//! Wakers of tasks: cloned, moved, used and dropped in every order, and after everything has ended.

use common::until::until;
use common::watchdog::watchdog;
use evenkeel::{Builder, Runtime, Shutdown};
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;

mod common {
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

fn runtime() -> Runtime {
    Builder::new().workers(2).build().expect("the runtime starts")
}

/// A task that leaves a waker at each of its polls, and ends when it is told to.
struct Subject {
    polls: AtomicUsize,
    last: AtomicUsize,
    waker: Mutex<Option<Waker>>,
}

impl Subject {
    /// Spawns one that ends with poll number `last`.
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
    let runtime = runtime();
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
    let runtime = runtime();
    let (subject, handle) = Subject::spawn(&runtime, 2);
    let waker = subject.waker(1);
    let clones: Vec<_> = (0..100).map(|_| waker.clone()).collect();
    assert!(clones.iter().all(|clone| clone.will_wake(&waker)));
    let threads: Vec<_> =
        clones.into_iter().map(|clone| thread::spawn(move || drop(clone))).collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(subject.polls(), 1, "dropping a waker wakes nobody");
    waker.wake();
    runtime.block_on(handle).unwrap();
}

#[test]
fn a_wake_inside_the_poll_is_another_turn() {
    let _watchdog = watchdog();
    let runtime = runtime();
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
    let runtime = runtime();
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
    let runtime = runtime();
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
    let runtime = runtime();
    for _ in 0..200 {
        let mut turns = 0;
        let handle = runtime.spawn(poll_fn(move |context| {
            turns += 1;
            if turns == 3 {
                return Poll::Ready(());
            }
            let waker = context.waker().clone();
            // The thread uses the waker up before this poll has counted it in.
            thread::spawn(move || waker.wake()).join().unwrap();
            Poll::Pending
        }));
        runtime.block_on(handle).unwrap();
    }
}

#[test]
fn used_after_the_task_is_complete() {
    let _watchdog = watchdog();
    let runtime = runtime();
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
    let runtime = runtime();
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
    let runtime = runtime();
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
    let runtime = runtime();
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
    let runtime = runtime();
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

/// The memory that the process uses, in bytes.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("it is there");
    let kib: usize = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
    kib * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn no_way_to_use_a_waker_keeps_the_task_s_memory() {
    const SIZE: usize = 16 * 1024;
    const TASKS: usize = 4_000;

    let _watchdog = watchdog();
    let runtime = runtime();
    let before = resident();
    for task in 0..6 * TASKS {
        let ballast = [task as u8; SIZE];
        let out = Arc::new(Mutex::new(None));
        let inside = out.clone();
        let mut turns = 0;
        let handle = runtime.spawn(poll_fn(move |context| {
            turns += 1;
            let waker = context.waker().clone();
            match task % 6 {
                _ if turns == 2 => return Poll::Ready(ballast[0]),
                0 => waker.wake(),
                1 => waker.wake_by_ref(),
                2 => *inside.lock().unwrap() = Some(waker),
                3 => thread::yield_now(),
                4 => drop(waker),
                _ => return Poll::Ready(ballast[1]),
            }
            Poll::Pending
        }));
        match task % 6 {
            2 => {
                until(|| out.lock().unwrap().is_some());
                let waker: Waker = out.lock().unwrap().take().expect("it is there");
                waker.wake_by_ref();
                runtime.block_on(handle).unwrap();
                waker.wake();
            }
            3 => drop((handle.task().abort(), handle)),
            4 => {
                handle.task().abort();
                let _ = runtime.block_on(handle);
            }
            _ => assert_eq!(runtime.block_on(handle).unwrap(), task as u8),
        }
    }
    // Were one of the six ways to keep them, its tasks alone would be here.
    let kept = resident().saturating_sub(before);
    assert!(kept < SIZE * TASKS / 2, "{kept} bytes are kept");
}
