//! Calls and jobs from outside, while workers wait for halves.

use super::fib;
use crate::common::panics::message_of;
use crate::common::watchdog::watchdog;
use evenkeel::fork_join::{self, join, scope, scope_fifo, worker_count, worker_index};
use evenkeel::{Builder, Handle, Runtime};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

fn workers(count: usize) -> Runtime {
    Builder::new().workers(count).build().unwrap()
}

/// A channel with a shareable receiver.
fn signal() -> (Sender<()>, Mutex<Receiver<()>>) {
    let (sender, receiver) = channel();
    (sender, Mutex::new(receiver))
}

/// Waits for another thread, without giving the worker other work.
fn await_flag(flag: &AtomicBool) {
    while !flag.load(SeqCst) {
        thread::yield_now();
    }
}

/// Forks, and waits while another worker runs the second half, which sets `stolen` and blocks until
/// it receives a message.
fn wait_for_a_stolen_half(stolen: &AtomicBool, end: &Mutex<Receiver<()>>) {
    join(
        || await_flag(stolen),
        || {
            stolen.store(true, SeqCst);
            end.lock().unwrap().recv().unwrap();
        },
    );
}

/// Calls `outside` on a thread while one of two workers waits for a half on the other, which waits
/// for that thread.
fn beside_a_waiting_worker(runtime: &Runtime, outside: impl FnOnce(&Handle) + Send) {
    let (end, ended) = signal();
    let stolen = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            await_flag(&stolen);
            outside(&runtime.handle());
            end.send(()).unwrap();
        });
        runtime.install(|| wait_for_a_stolen_half(&stolen, &ended));
    });
}

#[test]
fn a_half_waits_for_calls_from_outside_while_its_owner_waits() {
    let _watchdog = watchdog();
    let runtime = workers(2);
    beside_a_waiting_worker(&runtime, |handle| {
        for number in 0..100 {
            assert_eq!(handle.install(|| number + 1), number + 1);
        }
    });
    assert!(runtime.metrics().run_by_spares > 0);
}

#[test]
fn a_half_waits_for_a_call_where_there_is_no_relief() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).reliefs(0).build().unwrap();
    beside_a_waiting_worker(&runtime, |handle| assert_eq!(handle.install(|| 7), 7));
}

#[test]
fn a_half_waits_for_a_job_that_another_thread_spawns() {
    let _watchdog = watchdog();
    beside_a_waiting_worker(&workers(2), |handle| {
        let (sender, receiver) = channel();
        handle.spawn_job(move || sender.send(5).unwrap());
        assert_eq!(receiver.recv(), Ok(5));
    });
}

#[test]
fn a_half_of_a_task_waits_for_a_call_from_outside() {
    let _watchdog = watchdog();
    let runtime = workers(2);
    let (end, ended) = signal();
    let handle = runtime.handle();
    let task = runtime.spawn(async move {
        let stolen = AtomicBool::new(false);
        thread::scope(|threads| {
            threads.spawn(|| {
                await_flag(&stolen);
                assert_eq!(handle.install(|| 3), 3);
                end.send(()).unwrap();
            });
            wait_for_a_stolen_half(&stolen, &ended);
        });
    });
    runtime.block_on(task).unwrap();
}

#[test]
fn a_call_takes_a_lock_that_a_waiting_worker_holds() {
    let _watchdog = watchdog();
    let runtime = workers(2);
    let log = Mutex::new(Vec::new());
    let (begin, begun) = signal();
    let stolen = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            await_flag(&stolen);
            runtime.install(|| {
                begin.send(()).unwrap();
                log.lock().unwrap().push("call");
            });
        });
        runtime.install(|| {
            let mut guard = log.lock().unwrap();
            // Held across the fork. The call waits for the lock on a stack of its own.
            wait_for_a_stolen_half(&stolen, &begun);
            guard.push("owner");
        });
    });
    assert_eq!(log.into_inner().unwrap(), ["owner", "call"]);
}

#[test]
fn workers_that_are_back_steal_what_a_call_forks() {
    let _watchdog = watchdog();
    let runtime = workers(2);
    let (begin, begun) = signal();
    let stolen = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            await_flag(&stolen);
            let migrated = runtime.install(|| {
                assert_eq!(worker_index(), None, "a spare runs it");
                begin.send(()).unwrap();
                let taken = AtomicBool::new(false);
                fork_join::join_context(
                    |_| await_flag(&taken),
                    |half| {
                        taken.store(true, SeqCst);
                        half.migrated()
                    },
                )
                .1
            });
            assert!(migrated);
        });
        runtime.install(|| wait_for_a_stolen_half(&stolen, &begun));
    });
}

#[test]
fn two_calls_wait_for_each_other_while_two_workers_wait() {
    let _watchdog = watchdog();
    let runtime = workers(3);
    let (end, ended) = signal();
    let (begun, inner) = (AtomicBool::new(false), AtomicBool::new(false));
    let [first, second] = [AtomicBool::new(false), AtomicBool::new(false)];
    thread::scope(|threads| {
        threads.spawn(|| {
            await_flag(&inner);
            thread::scope(|threads| {
                for (own, other) in [(&first, &second), (&second, &first)] {
                    let runtime = &runtime;
                    threads.spawn(move || {
                        runtime.install(|| {
                            own.store(true, SeqCst);
                            await_flag(other);
                        });
                    });
                }
            });
            end.send(()).unwrap();
        });
        runtime.install(|| {
            join(
                || await_flag(&begun),
                || {
                    begun.store(true, SeqCst);
                    join(
                        || await_flag(&inner),
                        || {
                            inner.store(true, SeqCst);
                            ended.lock().unwrap().recv().unwrap();
                        },
                    )
                },
            );
        });
    });
}

#[test]
fn a_call_on_a_spare_does_what_it_does_on_a_worker() {
    let _watchdog = watchdog();
    let runtime = workers(2);
    beside_a_waiting_worker(&runtime, |handle| {
        handle.install(|| {
            assert!(fork_join::is_worker());
            assert_eq!((worker_index(), worker_count()), (None, 2));
            assert_eq!(fib(20), 6_765);
            let count = AtomicUsize::new(0);
            scope(|scope| {
                for _ in 0..100 {
                    scope.spawn(|scope| {
                        scope.spawn(|_| _ = count.fetch_add(1, SeqCst));
                    });
                }
            });
            assert_eq!(count.into_inner(), 100);
            // The relief polls a task, because the workers are inside fork-join.
            let (sender, receiver) = channel();
            drop(evenkeel::spawn(async move { sender.send(11).unwrap() }));
            assert_eq!(receiver.recv(), Ok(11));
            let order = Mutex::new(Vec::new());
            scope_fifo(|scope| {
                for number in 0..100 {
                    let order = &order;
                    scope.spawn_fifo(move |_| order.lock().unwrap().push(number));
                }
            });
            assert!(order.into_inner().unwrap().into_iter().eq(0..100));
            assert_eq!(evenkeel::Handle::current().install(|| 4), 4);
            let left = fork_join::join_sized(1 << 30, || 1, || 2);
            assert_eq!(left, (1, 2));
        });
    });
}

/// As on a worker, which would lose track of the jobs that it has in hand.
#[test]
fn a_spare_blocks_on_nothing_and_becomes_no_worker() {
    let _watchdog = watchdog();
    let (runtime, other) = (workers(2), workers(4));
    beside_a_waiting_worker(&runtime, |handle| {
        handle.install(|| {
            assert_eq!(worker_index(), None, "a spare runs it");
            let block = message_of(|| other.block_on(async {}));
            assert!(block.starts_with("block_on is called inside a closure"), "{block}");
            let run = message_of(|| evenkeel::deterministic::run(1, async {}));
            assert!(run.contains("inside a task"), "{run}");
            let settled = Builder::new().workers(1).build_with(|worker| {
                assert!(worker.settle().is_err());
                Ok(())
            });
            settled.unwrap().detach();
            assert_eq!(join(|| 1, || 2), (1, 2));
        });
    });
}

#[test]
fn calls_beside_closures_that_block_do_not_queue_behind_them() {
    let _watchdog = watchdog();
    let runtime = workers(2);
    // One for each thread of the pool for such closures, each waiting for a call.
    let (open, opened) = signal();
    let opened = Arc::new(opened);
    let blocking: Vec<_> = (0..512)
        .map(|_| {
            let opened = opened.clone();
            runtime.spawn_blocking(move || opened.lock().unwrap().recv().is_err())
        })
        .collect();
    beside_a_waiting_worker(&runtime, |handle| assert_eq!(handle.install(|| 5), 5));
    drop(open);
    for closure in blocking {
        assert!(runtime.block_on(closure).unwrap(), "it waits until the end");
    }
}

#[test]
fn a_call_is_run_on_a_spare_while_its_runtime_aborts() {
    let _watchdog = watchdog();
    let runtime = workers(2);
    let (end, ended) = signal();
    let (begin, begun) = signal();
    let (called, stolen) = (AtomicBool::new(false), AtomicBool::new(false));
    let handle = runtime.handle();
    thread::scope(|threads| {
        let closure = {
            let (handle, end) = (handle.clone(), end);
            handle.clone().spawn_blocking(move || {
                begin.send(()).unwrap();
                while !handle.is_shutting_down() {
                    thread::yield_now();
                }
                assert_eq!(handle.install(|| 8), 8);
                end.send(()).unwrap();
            })
        };
        threads.spawn(|| {
            handle.install(|| {
                called.store(true, SeqCst);
                wait_for_a_stolen_half(&stolen, &ended);
            });
        });
        await_flag(&called);
        await_flag(&stolen);
        // A closure that has not begun is dropped, and its sender with it.
        begun.lock().unwrap().recv().unwrap();
        let report = runtime.shutdown(evenkeel::Shutdown::Abort);
        assert!(report.is_clean(), "{report}");
        evenkeel::block_on(closure).unwrap();
    });
}

#[test]
fn a_panic_of_a_call_on_a_spare_is_its_callers() {
    let _watchdog = watchdog();
    beside_a_waiting_worker(&workers(2), |handle| {
        let call = || handle.install(|| panic!("astray"));
        let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"astray"));
        assert_eq!(handle.install(|| 2), 2);
    });
}

#[test]
fn many_threads_call_while_workers_fork_and_wait() {
    let _watchdog = watchdog();
    let runtime = workers(2);
    let total = AtomicUsize::new(0);
    thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..200 {
                    runtime.install(|| {
                        scope(|scope| {
                            for _ in 0..8 {
                                scope.spawn(|_| _ = total.fetch_add(1, SeqCst));
                            }
                        });
                        join(
                            || total.fetch_add(1, SeqCst),
                            || {
                                thread::yield_now();
                                total.fetch_add(1, SeqCst)
                            },
                        )
                    });
                }
            });
        }
    });
    assert_eq!(total.into_inner(), 4 * 200 * 10);
}
