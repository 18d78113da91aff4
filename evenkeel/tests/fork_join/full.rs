//! Spawned jobs beyond the capacity of a worker's deque: none runs inside `spawn`, and all keep
//! their order.

use crate::common::watchdog::watchdog;
use evenkeel::fork_join::{self, in_place_scope, join, scope, scope_fifo};
use evenkeel::{Builder, Runtime, Shutdown};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Mutex};

/// More than the capacity of a deque.
const MANY: usize = 100_000;

/// Jobs that fill a deque, and some more.
const FULL: usize = 70_000;

fn workers(count: usize) -> Runtime {
    Builder::new().workers(count).build().unwrap()
}

#[test]
fn jobs_beyond_a_full_deque_take_a_lock_that_their_spawner_holds() {
    let _watchdog = watchdog();
    let total = Mutex::new(0);
    workers(2).install(|| {
        scope(|scope| {
            let guard = total.lock().unwrap();
            for _ in 0..MANY {
                scope.spawn(|_| *total.lock().unwrap() += 1);
            }
            drop(guard);
        });
    });
    assert_eq!(total.into_inner().unwrap(), MANY);
}

#[test]
fn jobs_beyond_a_full_deque_wait_for_their_spawner() {
    let _watchdog = watchdog();
    let (sender, receiver) = sync_channel(16);
    let sum = workers(2).install(|| {
        for number in 0..MANY {
            let sender = sender.clone();
            fork_join::spawn(move || sender.send(number).unwrap());
        }
        drop(sender);
        receiver.into_iter().sum::<usize>()
    });
    assert_eq!(sum, MANY * (MANY - 1) / 2);
}

#[test]
fn a_chain_of_spawns_behind_a_full_deque_takes_no_stack() {
    fn link(left: usize, ran: Arc<AtomicUsize>) {
        ran.fetch_add(1, Relaxed);
        if left > 0 {
            fork_join::spawn(move || link(left - 1, ran));
        }
    }
    let _watchdog = watchdog();
    let ran = Arc::new(AtomicUsize::new(0));
    let runtime = workers(1);
    let counted = ran.clone();
    runtime.install(move || {
        for _ in 0..FULL {
            let ran = counted.clone();
            fork_join::spawn(move || link(0, ran));
        }
        fork_join::spawn(move || link(1_000_000, counted));
    });
    runtime.shutdown(Shutdown::Drain);
    assert_eq!(ran.load(Relaxed), FULL + 1_000_001);
}

#[test]
fn the_owner_of_a_full_deque_runs_the_newest_job_first() {
    let order = Mutex::new(Vec::new());
    workers(1).install(|| {
        scope(|scope| {
            for number in 0..MANY {
                let order = &order;
                scope.spawn(move |_| order.lock().unwrap().push(number));
            }
        });
    });
    assert!(order.into_inner().unwrap().into_iter().eq((0..MANY).rev()));
}

#[test]
fn a_thief_takes_the_oldest_job_of_a_full_deque() {
    let _watchdog = watchdog();
    let order = Mutex::new(Vec::new());
    let (sender, receiver) = channel();
    let (order_of, runtime) = (&order, workers(2));
    runtime.install(move || {
        in_place_scope(|scope| {
            for number in 0..MANY {
                let (order, sender) = (order_of, sender.clone());
                scope.spawn(move |_| {
                    order.lock().unwrap().push(number);
                    let _ = sender.send(());
                });
            }
            // The thief runs all of them, because the owner is here.
            assert_eq!(receiver.iter().take(MANY).count(), MANY);
        });
    });
    assert!(order.into_inner().unwrap().into_iter().eq(0..MANY));
}

#[test]
fn jobs_of_a_fifo_scope_begin_in_order_beyond_a_full_deque() {
    let order = Mutex::new(Vec::new());
    workers(1).install(|| {
        scope_fifo(|scope| {
            for number in 0..MANY {
                let order = &order;
                scope.spawn_fifo(move |_| order.lock().unwrap().push(number));
            }
        });
    });
    assert!(order.into_inner().unwrap().into_iter().eq(0..MANY));
}

#[test]
fn a_scope_beyond_a_full_deque_runs_no_job_of_the_scope_around_it() {
    let _watchdog = watchdog();
    let (held, inner) = (Mutex::new(0), AtomicUsize::new(0));
    workers(2).install(|| {
        scope(|outer| {
            for _ in 0..FULL {
                outer.spawn(|_| *held.lock().unwrap() += 1);
            }
            let guard = held.lock().unwrap();
            scope(|scope| {
                for _ in 0..1_000 {
                    scope.spawn(|_| {
                        inner.fetch_add(1, Relaxed);
                    });
                }
            });
            assert_eq!(inner.load(Relaxed), 1_000);
            drop(guard);
        });
    });
    assert_eq!(held.into_inner().unwrap(), FULL);
}

#[test]
fn a_join_above_a_full_deque_runs_no_job_below_it() {
    let _watchdog = watchdog();
    let held = Mutex::new(0);
    workers(2).install(|| {
        scope(|scope| {
            for _ in 0..FULL {
                scope.spawn(|_| *held.lock().unwrap() += 1);
            }
            let guard = held.lock().unwrap();
            let spawned = Cell::new(0);
            let halves = |depth: u32| {
                fn tree(depth: u32) -> u64 {
                    if depth == 0 {
                        return 1;
                    }
                    let (a, b) = join(|| tree(depth - 1), || tree(depth - 1));
                    a + b
                }
                spawned.set(spawned.get() + 1);
                tree(depth)
            };
            assert_eq!((halves(10), spawned.get()), (1_024, 1));
            drop(guard);
        });
    });
    assert_eq!(held.into_inner().unwrap(), FULL);
}

#[test]
fn jobs_spawned_by_a_half_above_a_full_deque_are_run_once() {
    let _watchdog = watchdog();
    let ran = AtomicUsize::new(0);
    let ran = &ran;
    workers(2).install(|| {
        scope(|scope| {
            for _ in 0..FULL {
                scope.spawn(move |scope| {
                    ran.fetch_add(1, Relaxed);
                    scope.spawn(move |_| {
                        ran.fetch_add(1, Relaxed);
                    });
                });
            }
            join(
                || (0..100).for_each(|_| scope.spawn(|_| _ = ran.fetch_add(1, Relaxed))),
                || (0..100).for_each(|_| scope.spawn(|_| _ = ran.fetch_add(1, Relaxed))),
            );
        });
    });
    assert_eq!(ran.load(Relaxed), 2 * FULL + 200);
}

#[test]
fn what_a_task_spawns_on_the_relief_does_not_run_inside_spawn() {
    let _watchdog = watchdog();
    let runtime = workers(1);
    let (go, gone) = channel::<()>();
    let (begin, begun) = channel();
    let total = Arc::new(Mutex::new(0));
    let handle = runtime.handle();
    // The only worker computes, so the relief polls the task.
    let busy = std::thread::spawn(move || {
        handle.install(move || {
            begin.send(()).unwrap();
            gone.recv()
        })
    });
    begun.recv().unwrap();
    let counted = total.clone();
    let (told, tell) = channel();
    let task = runtime.spawn(async move {
        let guard = counted.lock().unwrap();
        for _ in 0..MANY {
            let counted = counted.clone();
            fork_join::spawn(move || *counted.lock().unwrap() += 1);
        }
        drop(guard);
        told.send(fork_join::worker_index()).unwrap();
    });
    assert_eq!(tell.recv(), Ok(None), "the relief polls it");
    go.send(()).unwrap();
    busy.join().unwrap().unwrap();
    runtime.block_on(task).unwrap();
    runtime.shutdown(Shutdown::Drain);
    assert_eq!(*total.lock().unwrap(), MANY);
}
