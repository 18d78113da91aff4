//! A task's memory is freed, however its wakers are used. The memory is the process's, so this is
//! the only test of its program.

#![cfg(target_os = "linux")]

use common::until::until;
use common::watchdog::watchdog;
use evenkeel::Builder;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;

mod common {
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

/// The memory that the process uses, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("it is there");
    let kib: usize = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
    kib * 1024
}

#[test]
fn no_way_to_use_a_waker_keeps_the_task_s_memory() {
    const SIZE: usize = 16 * 1024;
    const TASKS: usize = 4_000;

    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).build().expect("the runtime starts");
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
    // If one of the six ways leaked them, its tasks alone would exceed this.
    let kept = resident().saturating_sub(before);
    assert!(kept < SIZE * TASKS / 2, "{kept} bytes are kept");
}
