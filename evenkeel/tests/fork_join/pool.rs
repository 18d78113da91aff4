//! Behaviour of a pool as a whole: broadcasts, detached jobs, order, yields, several runtimes, the
//! caller's own threads.

use super::fib;
use crate::common::panics::{Bomb, message_of};
use crate::common::runtime::runtime;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::fork_join::{
    self, BroadcastContext, ScopeFifo, Yield, broadcast, has_pending_jobs, in_place_scope,
    in_place_scope_fifo, is_worker, join, on_worker, scope, scope_fifo, worker_count, worker_index,
    yield_local, yield_now,
};
use evenkeel::object::Object;
use evenkeel::task::park;
use evenkeel::time::sleep;
use evenkeel::{AlreadyWorker, BuildError, Builder, Runtime, Shutdown, WorkerThread};
use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

#[test]
fn a_broadcast_runs_once_on_each_worker_and_gives_results_in_order() {
    let _watchdog = watchdog();
    for workers in [1, 2, 7] {
        let runtime = runtime(workers);
        let seen = |context: fork_join::BroadcastContext<'_>| {
            assert_eq!(worker_index(), Some(context.index()));
            assert_eq!(worker_count(), context.num_threads());
            (context.index(), thread::current().id())
        };
        let from_outside = runtime.handle().broadcast(seen);
        let from_inside = runtime.install(|| broadcast(seen));
        assert_eq!(from_outside, from_inside);
        let indices: Vec<_> = from_outside.iter().map(|seen| seen.0).collect();
        assert!(indices.into_iter().eq(0..workers));
    }
}

#[test]
fn parts_fork_and_borrow() {
    let _watchdog = watchdog();
    let (runtime, base) = (runtime(4), [10_u32]);
    for _ in 0..50 {
        let results = runtime.handle().broadcast(|context| fib(base[0] + context.index() as u32));
        assert_eq!(results, [55, 89, 144, 233]);
    }
}

#[test]
fn a_panic_in_a_part_comes_after_all_parts() {
    let _watchdog = watchdog();
    let (runtime, count) = (runtime(5), AtomicUsize::new(0));
    let text = message_of(|| {
        runtime.handle().broadcast(|context| {
            count.fetch_add(1, Ordering::Relaxed);
            assert!(context.index() % 2 == 1, "an even one");
        })
    });
    assert_eq!(text, "an even one");
    assert_eq!(count.into_inner(), 5);
}

/// Each worker waits in a broadcast of its own for the parts of the others.
#[test]
fn workers_that_broadcast_at_once_run_each_other_s_parts() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    for _ in 0..50 {
        let counts = runtime.handle().broadcast(|_| broadcast(|_| broadcast(|_| ()).len()).len());
        assert_eq!(counts, [3; 3]);
    }
}

/// One worker broadcasts from inside a half for which another waits.
#[test]
fn a_worker_that_waits_for_a_stolen_half_runs_the_part_that_the_half_waits_for() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for _ in 0..200 {
        let begun = AtomicBool::new(false);
        let parts = runtime.install(|| {
            join(
                // The other half is with the thief by then.
                || until(|| begun.load(Ordering::Acquire)),
                || {
                    begun.store(true, Ordering::Release);
                    broadcast(|context| context.index())
                },
            )
            .1
        });
        assert_eq!(parts, [0, 1]);
    }
}

/// Parts that meet at a barrier: if two workers received two broadcasts in different orders, each
/// would wait for the other.
#[test]
fn broadcasts_come_to_all_workers_in_one_order() {
    let _watchdog = watchdog();
    let runtime = runtime(4);
    let barriers = [Barrier::new(4), Barrier::new(4), Barrier::new(4)];
    thread::scope(|threads| {
        for barrier in &barriers {
            let handle = runtime.handle();
            threads.spawn(move || {
                for _ in 0..50 {
                    handle.broadcast(|_| barrier.wait());
                }
            });
        }
    });
}

/// A runtime with threads for all workers except those that are `kept`.
fn runtime_without(workers: usize, kept: &[usize]) -> (Runtime, Vec<WorkerThread>) {
    let mut without = Vec::new();
    let runtime = Builder::new().workers(workers).build_with(|worker| {
        if kept.contains(&worker.index()) {
            without.push(worker);
        } else {
            thread::spawn(|| worker.run());
        }
        Ok(())
    });
    (runtime.unwrap(), without)
}

#[test]
fn the_parts_of_workers_that_were_dropped_are_run_by_the_next() {
    let _watchdog = watchdog();
    let (runtime, kept) = runtime_without(4, &[1, 2]);
    drop(kept);
    let seen = |context: BroadcastContext<'_>| (context.index(), worker_index().unwrap());
    let expected = [(0, 0), (1, 3), (2, 3), (3, 3)];
    assert_eq!(runtime.handle().broadcast(seen), expected);
    assert_eq!(runtime.install(|| broadcast(seen)), expected);
    runtime.handle().spawn_broadcast(|_| ());
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    // The only remaining worker waits for its own broadcast.
    let (runtime, kept) = runtime_without(3, &[1, 2]);
    drop(kept);
    assert_eq!(runtime.install(|| broadcast(seen)), [(0, 0), (1, 0), (2, 0)]);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
}

#[test]
fn workers_are_dropped_while_broadcasts_wait_for_them() {
    let _watchdog = watchdog();
    for round in 0..200 {
        let (runtime, kept) = runtime_without(4, &[0, 3]);
        let start = Barrier::new(2);
        thread::scope(|threads| {
            let sender = threads.spawn(|| {
                start.wait();
                (0..3).map(|_| runtime.handle().broadcast(|context| context.index())).collect()
            });
            start.wait();
            if round % 2 == 0 {
                thread::yield_now();
            }
            drop(kept);
            let indices: Vec<_> = sender.join().unwrap();
            assert_eq!(indices, [[0, 1, 2, 3]; 3]);
        });
        assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    }
}

#[test]
fn the_parts_of_a_settled_thread_that_ends_are_run_by_the_next_worker() {
    let _watchdog = watchdog();
    let (runtime, mut kept) = runtime_without(3, &[1]);
    let worker = kept.pop().unwrap();
    let (settled, has_settled) = mpsc::channel();
    let (sent, is_sent) = mpsc::channel::<()>();
    let thread = thread::spawn(move || {
        worker.settle().unwrap();
        settled.send(()).unwrap();
        is_sent.recv().unwrap();
    });
    has_settled.recv().unwrap();
    let (sender, parts) = mpsc::channel();
    runtime.handle().spawn_broadcast(move |context| {
        sender.send((context.index(), worker_index().unwrap())).unwrap();
    });
    // The thread runs no worker loop, and waits for nothing in the runtime.
    sent.send(()).unwrap();
    thread.join().unwrap();
    let mut parts: Vec<_> = parts.iter().collect();
    parts.sort_unstable();
    assert_eq!(parts, [(0, 0), (1, 2), (2, 2)]);
    assert_eq!(runtime.handle().broadcast(|context| context.index()), [0, 1, 2]);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
}

#[test]
fn a_scope_broadcasts_and_waits() {
    let _watchdog = watchdog();
    let (runtime, count) = (runtime(3), AtomicUsize::new(0));
    runtime.install(|| {
        scope(|scope| {
            scope.spawn_broadcast(|scope, _| {
                scope.spawn_broadcast(|scope, context| {
                    let (count, number) = (&count, context.index() + 1);
                    scope.spawn(move |_| {
                        count.fetch_add(number, Ordering::Relaxed);
                    });
                });
            });
        });
    });
    assert_eq!(count.load(Ordering::Relaxed), 3 * 6);
    runtime.handle().in_place_scope_fifo(|scope| {
        scope.spawn_broadcast(|scope, _| {
            scope.spawn_fifo(|_| {
                count.fetch_add(1, Ordering::Relaxed);
            });
        });
    });
    assert_eq!(count.into_inner(), 3 * 7);
}

#[test]
fn a_broadcast_on_a_runtime_that_is_over_is_refused() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let handle = runtime.handle();
    drop(runtime);
    let text = message_of(|| handle.broadcast(|_| ()));
    assert_eq!(
        text,
        "broadcast is called on a runtime that has begun to end: call it before the shutdown"
    );
    handle.in_place_scope(|scope| scope.spawn_broadcast(|_, _| panic!("there is no worker")));
    handle.spawn_broadcast(|_| panic!("there is no worker"));
    assert_eq!(handle.metrics().spawned_outside, 0, "what is refused is not counted");
}

#[test]
fn a_runtime_that_drains_takes_broadcasts_from_its_own_tasks_alone() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let handle = runtime.handle();
    let own = handle.clone();
    let parked = runtime.spawn(async move {
        park().await;
        own.broadcast(|worker| worker.index())
    });
    let bell = parked.task();
    runtime.detach();
    let text = message_of(|| handle.broadcast(|_| ()));
    bell.unpark();
    assert_eq!(
        text,
        "broadcast is called on a runtime that has begun to end: call it before the shutdown"
    );
    assert_eq!(evenkeel::block_on(parked).unwrap(), [0, 1]);
}

/// The other worker takes detached jobs while a job of the scope runs, and looks after each whether
/// the runtime is over. The owner of the scope is the thread that shuts the runtime down.
#[test]
fn a_runtime_that_drains_ends_after_what_jobs_of_a_thread_s_scope_spawn_into_it() {
    let _watchdog = watchdog();
    for form in 0..3 {
        let left = Arc::new(AtomicUsize::new(0));
        let leave = left.clone();
        let stop = move |_| _ = leave.fetch_add(1, Ordering::SeqCst);
        let runtime = Builder::new().workers(2).on_worker_stop(stop).build().unwrap();
        let handle = runtime.handle();
        let (begin, begun) = mpsc::channel();
        let job = || {
            begin.send(()).unwrap();
            until(|| handle.is_shutting_down());
            let has_left = || left.load(Ordering::SeqCst) > 0;
            for _ in 0..10 {
                let (run, ran) = mpsc::channel();
                fork_join::spawn(move || _ = run.send(()));
                until(|| ran.try_recv().is_ok() || has_left());
                until(|| handle.metrics().sleeping > 0 || has_left());
            }
            let (run, ran) = mpsc::channel();
            drop(evenkeel::spawn(async move { run.send(()) }));
            assert_eq!(ran.recv(), Ok(()), "the runtime is over");
        };
        let shut_down = || {
            begun.recv().unwrap();
            assert!(runtime.shutdown(Shutdown::Drain).is_clean());
        };
        match form {
            0 => handle.in_place_scope(|scope| {
                scope.spawn(|scope| scope.spawn(|scope| scope.spawn(|_| job())));
                shut_down();
                let me = thread::current().id();
                scope.spawn(move |_| assert_eq!(thread::current().id(), me));
            }),
            1 => handle.in_place_scope_fifo(|scope| {
                scope.spawn_fifo(|scope| scope.spawn_fifo(|_| job()));
                shut_down();
            }),
            _ => handle.in_place_scope(|scope| {
                scope.spawn_broadcast(|scope, worker| {
                    if worker.index() == 0 {
                        scope.spawn(|_| job());
                    }
                });
                shut_down();
            }),
        }
        assert_eq!(left.load(Ordering::SeqCst), 2);
    }
}

#[test]
fn many_threads_wait_for_one_runtime() {
    let _watchdog = watchdog();
    let (runtime, barrier) = (runtime(2), Barrier::new(8));
    let compute =
        |steps: u64| (0..steps).fold(steps, |sum, step| black_box(sum.wrapping_mul(31) ^ step));
    thread::scope(|threads| {
        for thread in 0..8 {
            let (runtime, barrier) = (&runtime, &barrier);
            threads.spawn(move || {
                barrier.wait();
                for call in 0..500 {
                    assert_eq!(runtime.install(|| compute(call) ^ thread), compute(call) ^ thread);
                }
            });
        }
    });
}

fn order_in<'a>(
    spawn: impl FnOnce(&'a Mutex<Vec<u32>>) + Send,
    order: &'a Mutex<Vec<u32>>,
) -> Vec<u32> {
    runtime(1).install(|| spawn(order));
    std::mem::take(&mut order.lock().unwrap())
}

#[test]
fn jobs_of_a_fifo_scope_run_in_order_nested_ones_too() {
    let _watchdog = watchdog();
    let order = Mutex::new(Vec::new());
    let flat = order_in(
        |order| {
            scope_fifo(|scope| {
                for i in 0..10 {
                    scope.spawn_fifo(move |scope: &ScopeFifo<'_>| {
                        for j in 0..10 {
                            scope.spawn_fifo(move |_| order.lock().unwrap().push(i * 10 + j));
                        }
                    });
                }
            });
        },
        &order,
    );
    assert!(flat.into_iter().eq(0..100));
    // The later scope first, each in order.
    let mixed = order_in(
        |order| {
            scope(|outer| {
                for i in 0..3 {
                    outer.spawn(move |_| {
                        scope_fifo(|inner| {
                            for j in 0..3 {
                                inner.spawn_fifo(move |_| order.lock().unwrap().push(i * 3 + j));
                            }
                        });
                    });
                }
            });
        },
        &order,
    );
    assert_eq!(mixed, [6, 7, 8, 3, 4, 5, 0, 1, 2]);
}

#[test]
fn fifo_scopes_on_several_workers_run_all_their_jobs() {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        let count = AtomicUsize::new(0);
        runtime(workers).install(|| {
            scope_fifo(|scope| {
                for _ in 0..500 {
                    scope.spawn_fifo(|scope| {
                        fib(5);
                        scope.spawn_fifo(|_| {
                            count.fetch_add(1, Ordering::Relaxed);
                        });
                    });
                }
            });
        });
        assert_eq!(count.into_inner(), 500);
    }
    // From a thread that is no worker, and with a panic.
    let count = AtomicUsize::new(0);
    let result = catch_unwind(AssertUnwindSafe(|| {
        in_place_scope_fifo(|scope| {
            for number in 0..10 {
                let count = &count;
                scope.spawn_fifo(move |_| {
                    count.fetch_add(1, Ordering::Relaxed);
                    assert_ne!(number, 5, "the sixth");
                });
            }
        });
    }));
    assert!(result.is_err());
    assert_eq!(count.into_inner(), 10);
}

#[test]
fn detached_jobs_run_last_in_first_out_or_in_order() {
    let _watchdog = watchdog();
    let numbers = |spawn: fn(Box<dyn FnOnce() + Send>)| {
        let (sender, receiver) = mpsc::channel();
        let runtime = runtime(1);
        runtime.install(move || {
            for number in 0..5 {
                let sender = sender.clone();
                spawn(Box::new(move || sender.send(number).unwrap()));
            }
        });
        receiver.iter().collect::<Vec<u32>>()
    };
    assert_eq!(numbers(fork_join::spawn), [4, 3, 2, 1, 0]);
    assert_eq!(numbers(fork_join::spawn_fifo), [0, 1, 2, 3, 4]);
}

#[test]
fn a_runtime_that_drains_ends_after_the_detached_jobs() {
    let _watchdog = watchdog();
    fn chain(depth: usize, count: Arc<AtomicUsize>) {
        count.fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            thread::sleep(Duration::from_micros(100));
            fork_join::spawn(move || chain(depth - 1, count));
        }
    }
    for workers in [1, 3] {
        let (runtime, count) = (runtime(workers), Arc::new(AtomicUsize::new(0)));
        for depth in [10, 20, 30] {
            let count = count.clone();
            runtime.handle().spawn_job(move || chain(depth, count));
        }
        runtime.handle().spawn_broadcast({
            let count = count.clone();
            move |_| chain(5, count.clone())
        });
        assert!(runtime.shutdown(Shutdown::Drain).is_clean());
        assert_eq!(count.load(Ordering::Relaxed), 63 + 6 * workers);
    }
}

#[test]
fn jobs_that_have_not_begun_are_dropped_once_a_runtime_aborts() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("meant");
        }
    }
    let _watchdog = watchdog();
    let (deadline, grace) = (Duration::ZERO, Duration::from_secs(60));
    for mode in [Shutdown::Abort, Shutdown::DeadlineAndGrace { deadline, grace }] {
        let (ran, panics) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let counted = panics.clone();
        let builder = Builder::new().workers(1).blocking_threads(1).on_job_panic(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let runtime = builder.build().unwrap();
        let handle = runtime.handle();
        // The second closure waits for the thread of the first, and is dropped by the abort.
        let ((release, released), waits) = (mpsc::channel::<()>(), Arc::new(()));
        let (begins, begun) = mpsc::channel();
        drop(runtime.spawn_blocking(move || {
            begins.send(()).unwrap();
            let _ = released.recv();
        }));
        begun.recv().unwrap();
        let own = waits.clone();
        drop(runtime.spawn_blocking(move || drop(own)));
        let kept = Arc::new(());
        let job = || {
            let (ran, kept) = (ran.clone(), kept.clone());
            move || {
                ran.fetch_add(1, Ordering::Relaxed);
                drop(kept);
            }
        };
        let (sender, receiver) = mpsc::channel();
        let (first, second, third, inside) = (job(), job(), job(), ran.clone());
        handle.spawn_job(move || {
            fork_join::spawn(first);
            fork_join::spawn_fifo(second);
            let panics = Panics;
            fork_join::spawn(move || drop(panics));
            sender.send(None).unwrap();
            until(|| Arc::strong_count(&waits) == 1);
            let before = Arc::strong_count(&inside);
            fork_join::spawn(third);
            let is_kept = Arc::strong_count(&inside) == before;
            // Threads wait for these.
            let mut halves = join(|| 1, || 2);
            scope(|scope| scope.spawn(|_| halves.0 += 10));
            sender.send(Some((is_kept, halves))).unwrap();
            drop(release);
        });
        assert_eq!(receiver.recv().unwrap(), None, "it has begun");
        handle.spawn_job(job());
        handle.spawn_job_fifo(job());
        let part = Mutex::new(Some(job()));
        handle.spawn_broadcast(move |_| part.lock().unwrap().take().unwrap()());
        let report = runtime.shutdown(mode);
        assert_eq!((report.stuck.len(), report.workers_left_behind), (0, 0), "{report}");
        assert_eq!(receiver.recv().unwrap(), Some((true, (11, 2))));
        assert_eq!((ran.load(Ordering::Relaxed), Arc::strong_count(&kept)), (0, 1), "{mode:?}");
        assert_eq!(panics.load(Ordering::Relaxed), 1, "a destructor's panic goes to the hook");
    }
}

#[test]
fn parts_that_wait_for_each_other_all_run_although_the_runtime_aborts() {
    let _watchdog = watchdog();
    for _ in 0..100 {
        let runtime = runtime(2);
        let (barrier, ran) = (Arc::new(Barrier::new(2)), Arc::new(AtomicUsize::new(0)));
        let (both, counted) = (barrier.clone(), ran.clone());
        runtime.handle().spawn_broadcast(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            both.wait();
        });
        drop(runtime);
        let ran = ran.load(Ordering::Relaxed);
        assert!(ran == 0 || ran == 2, "{ran} parts have run");
    }
}

#[test]
fn jobs_that_spawn_jobs_without_end_do_not_keep_a_runtime_that_aborts() {
    fn go_on(count: Arc<AtomicUsize>) {
        count.fetch_add(1, Ordering::Relaxed);
        fork_join::spawn(move || go_on(count));
    }
    let _watchdog = watchdog();
    let (runtime, count) = (runtime(2), Arc::new(AtomicUsize::new(0)));
    let own = count.clone();
    runtime.handle().spawn_job(move || go_on(own));
    until(|| count.load(Ordering::Relaxed) > 100);
    drop(runtime);
    assert_eq!(Arc::strong_count(&count), 1, "the last job is dropped");
}

/// A waker as those of executors on a pool of threads. Many of the timers are due while the worker
/// searches for work, with another one that forks beside it or none.
#[test]
fn a_job_that_a_waker_spawns_while_its_worker_searches_runs() {
    struct Spawns(mpsc::Sender<()>);
    impl Wake for Spawns {
        fn wake(self: Arc<Self>) {
            let ran = self.0.clone();
            fork_join::spawn(move || ran.send(()).unwrap());
        }
    }
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let tick = Duration::from_micros(1);
        let builder = Builder::new().workers(workers).timer_resolution(tick);
        let runtime = builder.build().unwrap();
        let is_over = AtomicBool::new(false);
        thread::scope(|threads| {
            if workers > 1 {
                threads.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        assert_eq!(runtime.install(|| fib(12)), 144);
                    }
                });
            }
            for micros in (5..60).cycle().take(550) {
                let (sender, ran) = mpsc::channel();
                let waits = runtime.install(move || {
                    let mut sleep = Box::pin(sleep(Duration::from_micros(micros)));
                    let waker = Waker::from(Arc::new(Spawns(sender)));
                    let polled = sleep.as_mut().poll(&mut Context::from_waker(&waker));
                    polled.is_pending().then_some(sleep)
                });
                if waits.is_some() {
                    ran.recv().expect("the job runs");
                }
            }
            is_over.store(true, Ordering::Relaxed);
        });
        assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    }
}

#[test]
fn a_detached_runtime_drains_by_itself() {
    let _watchdog = watchdog();
    let (left, has_left) = mpsc::channel();
    let runtime = Builder::new().workers(2).on_worker_stop(move |_| left.send(()).unwrap()).build();
    let (go, wait) = mpsc::channel::<()>();
    let (tell, hear) = mpsc::channel();
    let runtime = runtime.unwrap();
    let handle = runtime.handle();
    runtime.handle().spawn_job(move || {
        wait.recv().unwrap();
        fork_join::spawn(move || tell.send(fib(10)).unwrap());
    });
    runtime.detach();
    assert!(handle.is_shutting_down());
    handle.spawn_job(|| panic!("it takes no more from outside"));
    go.send(()).unwrap();
    assert_eq!(hear.recv(), Ok(55));
    assert_eq!(has_left.iter().take(2).count(), 2);
}

#[test]
fn panics_of_detached_jobs_go_to_the_hook() {
    let _watchdog = watchdog();
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let runtime = Builder::new()
        .workers(2)
        .on_job_panic(move |panic| {
            let text = *panic.downcast_ref::<&str>().unwrap();
            sender.lock().unwrap().send(text).unwrap();
            panic!("the hook panics too");
        })
        .build()
        .unwrap();
    runtime.handle().spawn_job(|| panic!("from outside"));
    runtime.install(|| fork_join::spawn(|| panic!("from inside")));
    runtime.install(|| fork_join::spawn_fifo(|| panic!("in order")));
    runtime.handle().spawn_broadcast(|_| panic!("everywhere"));
    runtime.shutdown(Shutdown::Drain);
    let mut texts: Vec<_> = receiver.iter().collect();
    texts.sort();
    assert_eq!(texts, ["everywhere", "everywhere", "from inside", "from outside", "in order"]);
}

#[test]
fn without_a_hook_a_job_s_panic_leaves_the_runtime_in_order() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    runtime.install(|| fork_join::spawn(|| panic!("this panic has no joiner")));
    assert_eq!(runtime.install(|| fib(10)), 55);
}

/// With one worker, only the yield can run the second half.
#[test]
fn a_yield_runs_the_half_that_the_other_waits_for() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    for depth in 0..4 {
        fn inside(depth: u32, done: &AtomicBool) {
            if depth > 0 {
                join(|| inside(depth - 1, done), || fib(5));
            } else {
                while !done.load(Ordering::Acquire) {
                    assert_eq!(yield_local(), Some(Yield::Executed));
                }
                while yield_local() == Some(Yield::Executed) {}
                assert_eq!(has_pending_jobs(), Some(false));
            }
        }
        let done = AtomicBool::new(false);
        let sum = runtime.install(|| {
            let (_, sum) = join(
                || inside(depth, &done),
                || {
                    done.store(true, Ordering::Release);
                    fib(8)
                },
            );
            sum + fib(9)
        });
        assert_eq!(sum, 21 + 34);
    }
}

#[test]
fn a_yield_runs_jobs_of_scopes_of_others_and_from_outside() {
    let _watchdog = watchdog();
    let (runtime, count) = (runtime(1), Arc::new(AtomicUsize::new(0)));
    let add = |count: &AtomicUsize| count.fetch_add(1, Ordering::Relaxed);
    runtime.install(|| {
        assert_eq!(yield_now(), Some(Yield::Idle));
        scope(|scope| {
            scope.spawn(|_| {
                add(&count);
            });
            scope.spawn_broadcast(|_, _| {
                add(&count);
            });
            assert_eq!(yield_local(), Some(Yield::Executed));
            assert_eq!(yield_local(), Some(Yield::Executed));
            assert_eq!(yield_local(), Some(Yield::Idle));
            assert_eq!(count.load(Ordering::Relaxed), 2);
        });
        let handle = runtime.handle();
        let from_outside = count.clone();
        let job = move || {
            add(&from_outside);
        };
        thread::spawn(move || handle.spawn_job(job)).join().unwrap();
        assert_eq!(yield_local(), Some(Yield::Idle));
        assert_eq!(yield_now(), Some(Yield::Executed));
    });
    assert_eq!(count.load(Ordering::Relaxed), 3);
    assert_eq!(yield_now(), None);
    assert!(!is_worker());
}

/// A thief steals from a half inside a yield loop, and the stolen job joins in turn.
#[test]
fn yields_among_random_forks_leave_everything_in_order() {
    let _watchdog = watchdog();
    fn tree(depth: u32) -> u64 {
        if depth == 0 {
            yield_now();
            return 1;
        }
        let (a, b) = join(
            || {
                if depth.is_multiple_of(3) {
                    yield_local();
                }
                tree(depth - 1)
            },
            || tree(depth - 1),
        );
        a + b
    }
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        for _ in 0..5 {
            assert_eq!(runtime.install(|| tree(9)), 1 << 9);
        }
    }
}

#[test]
fn runtimes_install_on_each_other() {
    let _watchdog = watchdog();
    let (one, other) = (runtime(1), runtime(1));
    let depth = one.install(|| other.install(|| one.install(|| other.install(|| fib(10)))));
    assert_eq!(depth, 55);
    // Both at the same time, neither inside the other.
    thread::scope(|threads| {
        let (one, other) = (&one, &other);
        for _ in 0..3 {
            threads.spawn(move || {
                for _ in 0..100 {
                    assert_eq!(one.install(|| other.install(|| fib(6))), 8);
                }
            });
            threads.spawn(move || {
                for _ in 0..100 {
                    assert_eq!(other.install(|| one.install(|| fib(7))), 13);
                }
            });
        }
    });
    let counts = one.install(|| other.handle().broadcast(|_| one.handle().broadcast(|_| 1)));
    assert_eq!(counts, [[1]]);
}

#[test]
fn a_worker_that_waits_for_another_runtime_runs_what_is_spawned_into_its_scope_there() {
    let _watchdog = watchdog();
    let (one, other) = (runtime(1), runtime(1));
    let answer = one.install(|| {
        scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            other.install(move || {
                scope.spawn(move |_| sender.send(fib(10)).unwrap());
                receiver.recv().unwrap()
            })
        })
    });
    assert_eq!(answer, 55);
}

#[test]
fn a_scope_in_place_has_its_jobs_on_the_runtime_that_is_named() {
    let _watchdog = watchdog();
    let one = runtime(1);
    let other = Builder::new().workers(1).name("other").build().unwrap();
    let name = || thread::current().name().map(str::to_owned);
    let names = Mutex::new(Vec::new());
    one.install(|| {
        let local = std::rc::Rc::new(2);
        other.handle().in_place_scope(|scope| {
            for _ in 0..*local {
                let names = &names;
                scope.spawn(move |scope| {
                    names.lock().unwrap().push(name());
                    scope.spawn(move |_| names.lock().unwrap().push(name()));
                });
            }
        });
    });
    assert_eq!(names.into_inner().unwrap(), vec![Some("other-0".to_owned()); 4]);
    // The body waits for a job while it blocks this thread.
    let (sender, receiver) = mpsc::channel();
    other.handle().in_place_scope(|scope| {
        scope.spawn(move |_| sender.send(()).unwrap());
        receiver.recv().unwrap();
    });
}

/// Makes the calling thread a worker beside one on a thread of its own.
fn settle_beside_another() -> (Runtime, Vec<thread::JoinHandle<()>>) {
    let mut threads = Vec::new();
    let runtime = Builder::new().workers(2).build_with(|worker| {
        if worker.index() == 0 {
            worker.settle().unwrap();
        } else {
            threads.push(thread::spawn(|| worker.run()));
        }
        Ok(())
    });
    (runtime.unwrap(), threads)
}

#[test]
fn a_thread_becomes_a_worker_and_works_with_the_others() {
    let _watchdog = watchdog();
    thread::spawn(|| {
        let (runtime, threads) = settle_beside_another();
        assert_eq!((worker_index(), threads.len()), (Some(0), 1));
        assert_eq!(runtime.install(thread::current).id(), thread::current().id());
        assert_eq!(fib(18), 2_584);
        // The other worker steals the job from this thread's deque.
        let (sender, receiver) = mpsc::channel();
        fork_join::spawn(move || sender.send(worker_index()).unwrap());
        assert_eq!(receiver.recv(), Ok(Some(1)));
        assert_eq!(broadcast(|context| context.index()), [0, 1]);
        let count = Cell::new(0);
        in_place_scope(|_| count.set(1));
        assert_eq!(count.get(), 1);
        // It may block, and drive a runtime of its own, which is another worker meanwhile.
        assert_eq!(runtime.block_on(runtime.spawn(async { worker_index() })).unwrap(), Some(1));
        assert_eq!(evenkeel::block_on(async { worker_index() }), Some(0));
        assert_eq!(Object::new(1).call_blocking(|value| *value + 1), Ok(2));
        let run = evenkeel::deterministic::run(1, async { evenkeel::spawn(async { 3 }).await });
        assert_eq!(run.unwrap(), 3);
        let driven = Builder::new_current_thread().build().unwrap();
        driven.block_on(async {
            assert_eq!(evenkeel::spawn(async { 4 }).await.unwrap(), 4);
            let refused = message_of(|| evenkeel::block_on(async {}));
            assert!(refused.contains("inside the future of a current-thread runtime"));
        });
        assert_eq!(fib(12), 144);
        let second = Builder::new().workers(1).build_with(|worker| {
            assert_eq!(worker.settle(), Err(AlreadyWorker));
            Ok(())
        });
        drop(second.unwrap());
        // It ends without the thread that never leaves, and that thread goes on by itself.
        runtime.detach();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(fib(10), 55);
    })
    .join()
    .unwrap();
}

#[test]
fn workers_run_on_threads_that_the_caller_makes() {
    let _watchdog = watchdog();
    let cargo = AtomicUsize::new(0);
    thread::scope(|threads| {
        let runtime = Builder::new()
            .workers(3)
            .name("own")
            .stack_size(1 << 20)
            .build_with(|worker| {
                assert_eq!(worker.name(), format!("own-{}", worker.index()));
                assert_eq!(worker.stack_size(), Some(1 << 20));
                let cargo = &cargo;
                threads.spawn(move || {
                    worker.run();
                    assert!(!is_worker());
                    cargo.fetch_add(1, Ordering::Relaxed);
                });
                Ok(())
            })
            .unwrap();
        assert_eq!(runtime.install(|| fib(15)), 610);
        assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    });
    assert_eq!(cargo.into_inner(), 3);
}

#[test]
fn threads_that_the_caller_cannot_make_end_those_that_it_has_made() {
    let _watchdog = watchdog();
    for fails_by_panic in [false, true] {
        let (left, has_left) = mpsc::channel();
        let builder = Builder::new().workers(4).on_worker_stop(move |_| left.send(()).unwrap());
        let built = catch_unwind(AssertUnwindSafe(|| {
            builder.build_with(|worker| {
                if worker.index() == 2 {
                    assert!(!fails_by_panic, "no more");
                    return Err(std::io::Error::other("no more threads"));
                }
                thread::spawn(|| worker.run());
                Ok(())
            })
        }));
        match built {
            Err(panic) => assert!(fails_by_panic && panic.is::<&str>()),
            Ok(built) => {
                let error = built.unwrap_err();
                assert!(matches!(error, BuildError::Thread { worker: 2, .. }), "{error:?}");
            }
        }
        assert_eq!(has_left.iter().count(), 2);
    }
}

#[test]
fn hooks_of_workers_may_fork() {
    let _watchdog = watchdog();
    let sum = Arc::new(AtomicUsize::new(0));
    let hook = || {
        let sum = sum.clone();
        move |index: usize| {
            assert_eq!(worker_index(), Some(index));
            sum.fetch_add(fib(10) as usize, Ordering::Relaxed);
        }
    };
    let builder = Builder::new().workers(2).on_worker_start(hook()).on_worker_stop(hook());
    builder.build().unwrap().shutdown(Shutdown::Drain);
    assert_eq!(sum.load(Ordering::Relaxed), 4 * 55);
}

/// The worker has left its loop, or the driver has, and the runtime is over.
#[test]
fn jobs_that_a_stop_hook_spawns_are_run_before_the_worker_leaves() {
    let _watchdog = watchdog();
    for builder in [Builder::new().workers(2), Builder::new_current_thread()] {
        let (sender, receiver) = mpsc::channel();
        let builder = builder.on_worker_stop(move |_| {
            let sender = sender.clone();
            fork_join::spawn(move || {
                let other = sender.clone();
                fork_join::spawn(move || other.send("second").unwrap());
                sender.send("first").unwrap();
            });
        });
        let runtime = builder.build().unwrap();
        let workers = runtime.handle().workers();
        runtime.shutdown(Shutdown::Drain);
        let mut ran: Vec<_> = receiver.iter().collect();
        ran.sort_unstable();
        assert_eq!(ran, ["first", "second"].map(|job| vec![job; workers]).concat());
    }
}

#[test]
fn jobs_that_spawn_jobs_without_end_do_not_keep_tasks_waiting() {
    fn tick(stop: Arc<AtomicBool>) {
        if !stop.load(Ordering::Acquire) {
            fork_join::spawn(move || tick(stop));
        }
    }
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let ticking = stop.clone();
    runtime.handle().spawn_job(move || tick(ticking));
    for n in 0..10 {
        assert_eq!(runtime.block_on(runtime.spawn(async move { n })).unwrap(), n);
        assert_eq!(runtime.install(|| n), n);
    }
    stop.store(true, Ordering::Release);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
}

#[test]
fn a_build_that_fails_does_not_wait_for_workers_that_were_kept() {
    let _watchdog = watchdog();
    let mut kept = Vec::new();
    let error = Builder::new()
        .workers(3)
        .build_with(|worker| {
            if worker.index() == 1 {
                return Err(std::io::Error::other("no more threads"));
            }
            kept.push(worker);
            Ok(())
        })
        .unwrap_err();
    assert!(
        error.to_string().contains("no more threads")
            || format!("{error:?}").contains("no more threads")
    );
    // A worker that runs late finds its runtime ended.
    kept.pop().unwrap().run();
}

/// The thread has destroyed the library's thread-locals by then.
#[test]
fn a_thread_that_settles_as_it_ends_leaves_its_place() {
    struct OnExit(Option<WorkerThread>);
    impl Drop for OnExit {
        fn drop(&mut self) {
            self.0.take().unwrap().settle().unwrap();
        }
    }
    thread_local! {
        static EXIT: RefCell<Option<OnExit>> = const { RefCell::new(None) };
    }
    let _watchdog = watchdog();
    let (runtime, mut kept) = runtime_without(2, &[1]);
    let worker = kept.pop().unwrap();
    let handle = runtime.handle();
    let thread = thread::spawn(move || {
        EXIT.set(Some(OnExit(Some(worker))));
        handle.block_on(async {});
    });
    thread.join().unwrap();
    assert_eq!(runtime.handle().broadcast(|context| context.index()), [0, 1]);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
}

#[test]
fn a_thread_that_settles_counts_its_own_work() {
    let _watchdog = watchdog();
    thread::spawn(|| {
        let mut own = None;
        let runtime = Builder::new()
            .workers(1)
            .build_with(|worker| {
                own = Some(worker);
                Ok(())
            })
            .unwrap();
        own.take().unwrap().settle().unwrap();
        let before = runtime.metrics().times();
        thread::sleep(Duration::from_millis(5));
        let times = runtime.metrics().times().since(&before);
        assert!(times.execution.total() >= Duration::from_millis(5), "{times:?}");
        assert!(times.asleep.is_zero(), "{times:?}");
        drop(runtime);
    })
    .join()
    .unwrap();
}

#[test]
fn a_thread_that_settles_and_spawns_does_not_keep_the_runtime() {
    let _watchdog = watchdog();
    for shutdown in [Shutdown::Drain, Shutdown::Abort] {
        thread::spawn(move || {
            let mut own = None;
            let runtime = Builder::new()
                .workers(2)
                .build_with(|worker| {
                    match worker.index() {
                        0 => own = Some(worker),
                        _ => drop(thread::spawn(move || worker.run())),
                    }
                    Ok(())
                })
                .unwrap();
            own.take().unwrap().settle().unwrap();
            assert_eq!(fork_join::worker_index(), Some(0));
            let tasks: Vec<_> = (0..100_u32).map(|n| evenkeel::spawn(async move { n })).collect();
            // Another thread shuts it down, and so waits for all that has been spawned.
            let end = thread::spawn(move || runtime.shutdown(shutdown));
            let report = end.join().unwrap();
            assert!(!report.detached && report.workers_left_behind == 0, "{report:?}");
            assert!(tasks.iter().all(|task| task.is_finished()));
        })
        .join()
        .unwrap();
    }
}

/// It is the only worker: no other runs what it leaves in its deque, or has left as an errand.
#[test]
fn a_thread_that_settles_inside_its_scope_runs_the_scope_s_jobs() {
    let _watchdog = watchdog();
    thread::spawn(|| {
        let (mut own, ran) = (None, AtomicUsize::new(0));
        let runtime = Builder::new().workers(1).build_with(|worker| {
            own = Some(worker);
            Ok(())
        });
        let runtime = runtime.unwrap();
        let count = || _ = ran.fetch_add(1, Ordering::SeqCst);
        runtime.handle().in_place_scope(|scope| {
            scope.spawn(|_| count());
            own.take().unwrap().settle().unwrap();
            scope.spawn(|scope| {
                scope.spawn(|_| count());
                count();
            });
        });
        assert_eq!(ran.load(Ordering::SeqCst), 3);
        runtime.detach();
    })
    .join()
    .unwrap();
}

#[test]
fn halves_that_spawn_into_a_scope_around_them_lose_no_job() {
    fn tree<'scope>(scope: &fork_join::Scope<'scope>, depth: u32, ran: &'scope AtomicUsize) {
        if depth == 0 {
            scope.spawn(move |_| {
                ran.fetch_add(1, Ordering::Relaxed);
            });
            return;
        }
        join(|| tree(scope, depth - 1, ran), || tree(scope, depth - 1, ran));
    }
    let _watchdog = watchdog();
    let runtime = runtime(4);
    for _ in 0..2_000 {
        let ran = AtomicUsize::new(0);
        runtime.install(|| scope(|scope| tree(scope, 7, &ran)));
        assert_eq!(ran.into_inner(), 1 << 7);
    }
}

/// A half is stolen, and spawns a job; a third worker steals the job, and that job's own spawns lie
/// in the third worker's deque.
#[test]
fn a_scope_waits_for_what_a_job_leaves_that_a_third_worker_has_stolen() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    let wait = |flag: &AtomicBool| {
        while !flag.load(Ordering::Acquire) {
            thread::yield_now();
        }
    };
    for _ in 0..20 {
        // Leaked on the heap: if this failed, the job would read it too late.
        let ran: &AtomicBool = Box::leak(Box::default());
        let flags: &[AtomicBool; 3] = Box::leak(Box::default());
        let [has_half, has_job, job_is_over] = flags;
        let ran_within = runtime.install(|| {
            scope(|scope| {
                let half = || {
                    has_half.store(true, Ordering::Release);
                    scope.spawn(|scope| {
                        has_job.store(true, Ordering::Release);
                        scope.spawn(|_| {
                            thread::sleep(Duration::from_millis(2));
                            ran.store(true, Ordering::Release);
                        });
                        job_is_over.store(true, Ordering::Release);
                    });
                    wait(has_job);
                };
                // This worker must not take the job itself.
                join(|| [has_half, job_is_over].map(wait), half);
            });
            ran.load(Ordering::Acquire)
        });
        assert!(ran_within, "the scope was over before a job of its own");
    }
}

/// The other worker's next task waits for a lock held across the scope.
#[test]
fn what_a_half_leaves_for_a_scope_around_it_does_not_wait_for_what_comes_next() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).reliefs(0).build().unwrap();
    let handle = runtime.handle();
    let (lock, begun) = (Arc::new(Mutex::new(())), AtomicBool::new(false));
    runtime.install(|| {
        let held = lock.lock().unwrap();
        scope(|scope| {
            let half = || {
                begun.store(true, Ordering::Release);
                let lock = lock.clone();
                drop(handle.spawn(async move { drop(lock.lock().unwrap()) }));
                // Each is longer than a batch, and there are more of them than the waiting worker
                // takes.
                for _ in 0..8 {
                    scope.spawn(|_| thread::sleep(Duration::from_millis(1)));
                }
            };
            join(|| until(|| begun.load(Ordering::Acquire)), half);
        });
        drop(held);
    });
}

/// The other worker's next task waits for a lock held across the scope.
#[test]
fn what_a_job_from_outside_leaves_for_its_scope_does_not_wait_for_what_comes_next() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).reliefs(0).build().unwrap();
    let handle = runtime.handle();
    let (lock, begun) = (Arc::new(Mutex::new(())), AtomicBool::new(false));
    runtime.install(|| {
        let held = lock.lock().unwrap();
        scope(|scope| {
            let job = |scope: &fork_join::Scope<'_>| {
                let lock = lock.clone();
                drop(handle.spawn(async move { drop(lock.lock().unwrap()) }));
                scope.spawn(|_| ());
                begun.store(true, Ordering::Release);
            };
            thread::scope(|threads| {
                threads.spawn(|| scope.spawn(job));
            });
            // On the other worker, because this one does not wait yet.
            until(|| begun.load(Ordering::Acquire));
        });
        drop(held);
    });
}

/// The worker's next task waits for a lock that a thread holds across its scope.
#[test]
fn what_a_job_leaves_for_the_scope_of_a_thread_does_not_wait_for_what_comes_next() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).reliefs(0).build().unwrap();
    let handle = runtime.handle();
    let task = |lock: &Arc<Mutex<()>>| {
        let lock = lock.clone();
        drop(handle.spawn(async move { drop(lock.lock().unwrap()) }));
    };
    // Each job is longer than a batch. Each scope has a lock of its own, because the first task may
    // not have run yet.
    let [first, second] = [(); 2].map(|()| Arc::new(Mutex::new(())));
    let held = first.lock().unwrap();
    handle.in_place_scope(|scope| {
        scope.spawn(|scope| {
            task(&first);
            for _ in 0..8 {
                scope.spawn(|_| thread::sleep(Duration::from_millis(1)));
            }
        });
    });
    drop(held);
    let held = second.lock().unwrap();
    handle.in_place_scope_fifo(|scope| {
        scope.spawn_fifo(|scope| {
            task(&second);
            for _ in 0..8 {
                scope.spawn_fifo(|_| thread::sleep(Duration::from_millis(1)));
            }
        });
    });
    drop(held);
}

#[test]
fn what_a_part_of_a_broadcast_leaves_for_its_scope_does_not_wait_for_what_comes_next() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).reliefs(0).build().unwrap();
    let handle = runtime.handle();
    let lock = Arc::new(Mutex::new(()));
    runtime.install(|| {
        let me = worker_index();
        let held = lock.lock().unwrap();
        scope(|scope| {
            scope.spawn_broadcast(|scope, worker| {
                if Some(worker.index()) != me {
                    let lock = lock.clone();
                    drop(handle.spawn(async move { drop(lock.lock().unwrap()) }));
                    scope.spawn(|_| ());
                }
            });
        });
        drop(held);
    });
}

/// A worker that has entered another runtime opens a scope there: the scope waits for its jobs, and
/// for those that they spawn.
#[test]
fn a_scope_of_a_worker_that_has_entered_another_runtime_waits_for_all_jobs() {
    let _watchdog = watchdog();
    let (own, other) = (runtime(1), runtime(1));
    for round in 0..100 {
        let handle = other.handle();
        let count = own.install(move || {
            let _entered = handle.enter();
            let count = AtomicUsize::new(0);
            scope(|scope| {
                let count = &count;
                scope.spawn(move |scope| {
                    scope.spawn(move |_| {
                        thread::yield_now();
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                });
                // The jobs run elsewhere meanwhile, if the scope is on another runtime's worker.
                thread::sleep(Duration::from_micros(50));
            });
            let in_place = in_place_scope(|scope| {
                scope.spawn(|_| {
                    count.fetch_add(1, Ordering::Relaxed);
                });
                1
            });
            count.into_inner() + in_place
        });
        assert_eq!(count, 3, "round {round}");
    }
}

/// A thread that has settled drives another runtime inside a closure of fork-join. What it forks
/// there by a worker of the closure's belongs to the deque below.
#[test]
fn a_worker_forks_under_a_runtime_that_its_settled_thread_drives() {
    let _watchdog = watchdog();
    thread::spawn(|| {
        let (runtime, threads) = settle_beside_another();
        let driven = Builder::new_current_thread().build().unwrap();
        let runs = AtomicUsize::new(0);
        let (begun, end) = (AtomicBool::new(false), AtomicBool::new(false));
        on_worker(|mut worker| {
            // Another job of the same deque lies below.
            worker.join(
                |mut worker| {
                    driven.block_on(async {
                        // Neither half is stolen, and the first one panics.
                        let second = String::from("it is dropped once");
                        let text = message_of(|| {
                            worker.join(
                                |_| panic!("the first half"),
                                |_| {
                                    assert_eq!(second.len(), 18);
                                    runs.fetch_add(1, Ordering::SeqCst);
                                    drop(second);
                                },
                            );
                        });
                        assert_eq!(text, "the first half");
                        // The other worker has the second half until the first one is over.
                        worker.join(
                            |_| {
                                until(|| begun.load(Ordering::SeqCst));
                                end.store(true, Ordering::SeqCst);
                            },
                            |_| {
                                begun.store(true, Ordering::SeqCst);
                                until(|| end.load(Ordering::SeqCst));
                                runs.fetch_add(1, Ordering::SeqCst);
                            },
                        );
                        assert_eq!(evenkeel::spawn(async { 4 }).await.unwrap(), 4);
                        assert_eq!(fib(10), 55);
                    });
                    assert_eq!(worker.join(|_| 1, |_| 2), (1, 2));
                },
                |_| runs.fetch_add(1, Ordering::SeqCst),
            );
        });
        assert_eq!(runs.load(Ordering::SeqCst), 3);
        runtime.detach();
        for thread in threads {
            thread.join().unwrap();
        }
    })
    .join()
    .unwrap();
}

/// A worker leaves two jobs and pushes no more, because it waits for both.
#[test]
fn a_worker_that_yields_takes_the_jobs_of_one_that_waits_for_them() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let (yields, complete) = (AtomicBool::new(false), AtomicUsize::new(0));
    let is_over = || complete.load(Ordering::SeqCst) == 2;
    runtime.install(|| {
        scope(|scope| {
            scope.spawn(|_| {
                yields.store(true, Ordering::SeqCst);
                while !is_over() {
                    yield_now().expect("this is a worker");
                }
            });
            until(|| yields.load(Ordering::SeqCst));
            for _ in 0..2 {
                scope.spawn(|_| {
                    complete.fetch_add(1, Ordering::SeqCst);
                });
            }
            until(is_over);
        });
    });
}

#[test]
fn a_panic_in_the_caller_s_closure_ends_a_build_that_has_kept_a_worker() {
    let _watchdog = watchdog();
    let mut kept = None;
    let text = message_of(|| {
        Builder::new().workers(2).build_with(|worker| {
            assert!(kept.is_none(), "a closure of the caller");
            kept = Some(worker);
            Ok(())
        })
    });
    assert_eq!(text, "a closure of the caller");
    drop(kept);
}

/// The result of a broadcast's part has a destructor that panics while another part's panic
/// unwinds.
#[test]
fn a_panic_of_a_broadcast_s_part_goes_before_that_of_a_result_s_destructor() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let all = Barrier::new(2);
    let text = message_of(|| {
        runtime.handle().broadcast(|context| {
            all.wait();
            assert_eq!(context.index(), 0, "a part");
            Bomb("a destructor")
        })
    });
    assert!(text.contains("a part"), "{text}");
}
