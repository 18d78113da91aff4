//! Fork-join on the workers that run tasks.

use super::fib;
use crate::common::panics::{Bomb, message_of};
use crate::common::runtime::runtime;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::fork_join::{FnContext, in_place_scope, join, join_context, on_worker, scope};
use evenkeel::{Builder, Runtime};
use evenkeel_policy::random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// Runs `f` in a task.
fn within<R: Send + 'static>(runtime: &Runtime, f: impl FnOnce() -> R + Send + 'static) -> R {
    runtime.block_on(async { evenkeel::spawn(async { f() }).await }).unwrap()
}

#[test]
fn both_halves_give_their_results_on_any_number_of_workers() {
    for workers in [1, 2, 3, 8] {
        assert_eq!(within(&runtime(workers), || fib(22)), 17_711);
    }
}

#[test]
fn a_join_outside_of_any_runtime_runs_on_a_default_one() {
    let here = thread::current().id();
    let (a, b) = join(|| thread::current().id(), || 2);
    assert_ne!(a, here);
    assert_eq!(b, 2);
    assert_eq!(fib(15), 610);
}

#[test]
fn a_join_in_block_on_runs_on_that_runtime() {
    let runtime = Builder::new().workers(1).name("galley").build().unwrap();
    let name =
        runtime.block_on(async { join(|| thread::current().name().map(str::to_owned), || ()).0 });
    assert_eq!(name.as_deref(), Some("galley-0"));
}

#[test]
fn a_worker_of_one_runtime_that_enters_another_waits_for_it() {
    let (outer, inner) = (runtime(1), Arc::new(runtime(1)));
    let answer = within(&outer, move || {
        let inner = inner.clone();
        thread::spawn(move || inner.block_on(async { join(|| fib(10), || fib(11)) }))
            .join()
            .unwrap()
    });
    assert_eq!(answer, (55, 89));
}

#[test]
fn halves_borrow_and_change_what_is_theirs() {
    fn add_one(numbers: &mut [u32]) {
        if let [number] = numbers {
            *number += 1;
        } else if !numbers.is_empty() {
            let (left, right) = numbers.split_at_mut(numbers.len() / 2);
            join(|| add_one(left), || add_one(right));
        }
    }
    let mut numbers = vec![0; 10_000];
    add_one(&mut numbers);
    assert!(numbers.iter().all(|&number| number == 1));
}

#[test]
fn a_panic_comes_after_both_halves_are_over() {
    for (a_panics, b_panics) in [(true, false), (false, true), (true, true)] {
        let runtime = runtime(2);
        let text = within(&runtime, move || {
            let over = AtomicUsize::new(0);
            let half = |panics: bool, text: &'static str| {
                thread::sleep(Duration::from_millis(3));
                over.fetch_add(1, Ordering::Relaxed);
                if panics {
                    panic!("{}", text);
                }
            };
            let result = catch_unwind(AssertUnwindSafe(|| {
                join(|| half(a_panics, "first"), || half(b_panics, "second"));
            }));
            assert_eq!(over.into_inner(), 2);
            let panic = result.unwrap_err();
            panic.downcast_ref::<String>().cloned().unwrap()
        });
        assert_eq!(text, if a_panics { "first" } else { "second" });
    }
}

#[test]
fn panics_deep_in_a_tree_leave_the_pool_in_order() {
    fn tree(depth: u32, fail: u32) -> u32 {
        if depth == 0 {
            assert_ne!(fail, 0, "a leaf fails");
            return 1;
        }
        let (a, b) = join(|| tree(depth - 1, fail / 2), || tree(depth - 1, fail - fail / 2));
        a + b
    }
    let runtime = runtime(3);
    for fail in [0, 1, 100, 1_023] {
        let result = within(&runtime, move || catch_unwind(|| tree(10, fail)).map_err(drop));
        assert_eq!(result, Err(()));
        assert_eq!(within(&runtime, || tree(10, 1 << 10)), 1 << 10);
    }
}

#[test]
fn a_result_whose_drop_panics_goes_no_further_than_its_join() {
    struct Sharp;
    impl Drop for Sharp {
        fn drop(&mut self) {
            if !thread::panicking() {
                panic!("sharp");
            }
        }
    }
    let text = within(&runtime(2), || message_of(|| join(|| panic!("first"), || Sharp)));
    assert_eq!(text, "first");
}

/// The owner holds a mutex across a join, the second half is with a thief, and a job that takes the
/// same mutex lies in the deque of a third worker. A waiting worker that ran whatever it could
/// steal would wait for itself. This deadlocks rayon 1.12 in its first round (its issue 592).
#[test]
fn a_lock_may_be_held_across_a_join() {
    let _watchdog = watchdog();
    let lock = Mutex::new(0);
    let round = || {
        let [entered, begun, forked, over] = [const { AtomicBool::new(false) }; 4];
        let set = |flag: &AtomicBool| flag.store(true, Ordering::Relaxed);
        let seen = |flag: &AtomicBool| until(|| flag.load(Ordering::Relaxed));
        join(
            || {
                seen(&entered);
                let mut count = lock.lock().unwrap();
                join(
                    || seen(&forked),
                    || {
                        set(&begun);
                        seen(&forked);
                        // The owner waits meanwhile, and the job that takes the mutex can be
                        // stolen.
                        thread::sleep(Duration::from_millis(5));
                        set(&over);
                    },
                );
                *count += 1;
            },
            || {
                set(&entered);
                seen(&begun);
                let first = || {
                    set(&forked);
                    seen(&over);
                };
                join(first, || *lock.lock().unwrap() += 1);
            },
        );
    };
    runtime(3).install(|| (0..20).for_each(|_| round()));
    assert_eq!(lock.into_inner().unwrap(), 40);
}

/// The owner is inside a long leaf and does not fork: thieves still take its jobs.
#[test]
fn jobs_of_an_owner_in_a_long_leaf_are_stolen() {
    let runtime = runtime(2);
    let migrated = within(&runtime, || {
        let (go, wait) = mpsc::channel();
        let (inner, migrated) = join(
            || {
                join_context(
                    // It ends when a thief has run the job behind it.
                    move |_| wait.recv_timeout(Duration::from_secs(60)).is_ok(),
                    |half| half.migrated(),
                )
            },
            move || {
                go.send(()).unwrap();
                true
            },
        );
        inner.0 && migrated
    });
    assert!(migrated);
}

#[test]
fn a_join_context_tells_which_half_has_migrated() {
    let runtime = runtime(1);
    let seen = within(&runtime, || join_context(|a| a.migrated(), |b| b.migrated()));
    assert_eq!(seen, (false, false), "no other worker could steal");
    let seen = join_context(|a| a.migrated(), |b| b.migrated());
    assert_eq!(seen, (true, true), "the caller is no worker");
    let after_panic = AtomicBool::new(false);
    let panics = AssertUnwindSafe(|| {
        join_context(
            |_| panic!("the first half"),
            |b| after_panic.store(b.migrated(), Ordering::Relaxed),
        )
    });
    catch_unwind(panics).unwrap_err();
    assert!(after_panic.into_inner(), "the second half is not on the caller's thread either");
}

#[test]
fn forks_beyond_the_deque_run_on_the_spot() {
    // Each level keeps its second half in the deque while the first half goes deeper.
    fn down(depth: u32) -> u64 {
        if depth == 0 {
            return 0;
        }
        let (below, here) = join(|| down(depth - 1), || 1);
        below + here
    }
    let runtime = Builder::new().workers(2).stack_size(256 << 20).build().unwrap();
    assert_eq!(within(&runtime, || down(70_000)), 70_000);
}

#[test]
fn the_worker_form_forks_too() {
    fn fib(mut worker: evenkeel::fork_join::Worker<'_>, n: u32) -> u64 {
        if n < 2 {
            return n.into();
        }
        let (a, b) = worker.join(|worker| fib(worker, n - 1), |worker| fib(worker, n - 2));
        a + b
    }
    for workers in [1, 2] {
        assert_eq!(within(&runtime(workers), || on_worker(|worker| fib(worker, 20))), 6_765);
    }
    assert_eq!(on_worker(|worker| fib(worker, 15)), 610);
    // A scope's jobs lie where the worker's next fork would go.
    let sum = within(&runtime(1), || {
        on_worker(|mut worker| {
            let total = AtomicUsize::new(0);
            in_place_scope(|scope| {
                let total = &total;
                scope.spawn(move |_| {
                    total.fetch_add(1, Ordering::Relaxed);
                });
                let (a, b) = worker.join(|_| 10, |_| 20);
                total.fetch_add(a + b, Ordering::Relaxed);
            });
            total.into_inner()
        })
    });
    assert_eq!(sum, 31);
}

#[test]
fn a_scope_waits_for_jobs_that_spawn_jobs() {
    fn spawn<'scope>(
        scope: &evenkeel::fork_join::Scope<'scope>,
        depth: u32,
        count: &'scope AtomicUsize,
    ) {
        count.fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            scope.spawn(move |scope| spawn(scope, depth - 1, count));
            scope.spawn(move |scope| spawn(scope, depth - 1, count));
        }
    }
    for workers in [1, 2, 4] {
        let count = within(&runtime(workers), || {
            let count = AtomicUsize::new(0);
            scope(|scope| spawn(scope, 12, &count));
            count.into_inner()
        });
        assert_eq!(count, (1 << 13) - 1);
    }
}

#[test]
fn jobs_that_no_thief_takes_run_in_reverse_order() {
    let order = within(&runtime(1), || {
        let order = Mutex::new(Vec::new());
        scope(|scope| {
            for number in 0..4 {
                let order = &order;
                scope.spawn(move |_| order.lock().unwrap().push(number));
            }
        });
        order.into_inner().unwrap()
    });
    assert_eq!(order, [3, 2, 1, 0]);
}

#[test]
fn more_jobs_than_the_deque_has_room_for_all_run() {
    for workers in [1, 2] {
        let count = within(&runtime(workers), || {
            let count = AtomicUsize::new(0);
            scope(|scope| {
                for _ in 0..100_000 {
                    scope.spawn(|_| {
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
            count.into_inner()
        });
        assert_eq!(count, 100_000);
    }
}

#[test]
fn a_scope_s_panic_comes_after_all_its_jobs() {
    let runtime = runtime(2);
    let (text, count) = within(&runtime, || {
        let count = AtomicUsize::new(0);
        let text = message_of(|| {
            scope(|scope| {
                for number in 0..100 {
                    let count = &count;
                    scope.spawn(move |_| {
                        count.fetch_add(1, Ordering::Relaxed);
                        if number % 10 == 0 {
                            panic!("a job");
                        }
                    });
                }
            })
        });
        (text, count.into_inner())
    });
    assert_eq!((text.as_str(), count), ("a job", 100));
    let text = within(&runtime, || {
        message_of(|| {
            scope(|scope| {
                scope.spawn(|_| panic!("a job"));
                panic!("the body");
            })
        })
    });
    assert_eq!(text, "the body");
}

#[test]
fn a_scope_in_place_may_be_anywhere() {
    let local = std::rc::Rc::new(5);
    let total = AtomicUsize::new(0);
    let here = thread::current().id();
    let body = in_place_scope(|scope| {
        for _ in 0..*local {
            scope.spawn(|scope| {
                scope.spawn(|_| {
                    total.fetch_add(1, Ordering::Relaxed);
                });
            });
        }
        thread::current().id()
    });
    assert_eq!(body, here);
    assert_eq!(total.into_inner(), 5);
}

#[test]
fn a_scope_may_be_spawned_into_from_another_thread() {
    let count = AtomicUsize::new(0);
    within(&runtime(1), || ());
    in_place_scope(|scope| {
        let (scope, count) = (scope, &count);
        thread::scope(|threads| {
            threads.spawn(move || {
                scope.spawn(move |_| {
                    count.fetch_add(1, Ordering::Relaxed);
                })
            });
        });
    });
    assert_eq!(count.into_inner(), 1);
}

/// Tasks on the same workers go on while one of them computes.
#[test]
fn ready_tasks_are_taken_over_from_a_worker_that_joins() {
    let runtime = runtime(2);
    let over = Arc::new(AtomicBool::new(false));
    runtime.block_on(async {
        let computing = evenkeel::spawn({
            let over = over.clone();
            async move {
                join(
                    || {
                        while !over.load(Ordering::Relaxed) {
                            std::hint::spin_loop();
                        }
                    },
                    || (),
                );
            }
        });
        for _ in 0..100 {
            evenkeel::spawn(async { evenkeel::yield_now().await }).await.unwrap();
        }
        over.store(true, Ordering::Relaxed);
        computing.await.unwrap();
    });
}

#[test]
fn many_threads_enter_at_once() {
    let runtime = Arc::new(runtime(2));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let runtime = runtime.clone();
            thread::spawn(move || (0..50).map(|_| runtime.block_on(async { fib(12) })).sum::<u64>())
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), 50 * 144);
    }
}

/// Trees of random shape, with pauses that let workers fall asleep.
#[test]
fn random_trees_come_out_right() {
    fn tree(seed: u64, depth: u32) -> u64 {
        let random = Random::new(seed).next();
        if depth == 0 || random.is_multiple_of(7) {
            if random.is_multiple_of(1_001) {
                thread::sleep(Duration::from_micros(200));
            }
            return 1;
        }
        match random % 3 {
            0 => {
                let total = AtomicUsize::new(0);
                scope(|scope| {
                    for child in 0..3 {
                        let total = &total;
                        scope.spawn(move |_| {
                            total.fetch_add(
                                tree(random ^ child, depth - 1) as usize,
                                Ordering::Relaxed,
                            );
                        });
                    }
                });
                total.into_inner() as u64
            }
            _ => {
                let (a, b) = join(|| tree(random ^ 1, depth - 1), || tree(random ^ 2, depth - 1));
                a + b
            }
        }
    }
    let counts: Vec<Vec<u64>> = [1, 2, 4]
        .map(|workers| {
            let runtime = runtime(workers);
            (0..20).map(|seed| within(&runtime, move || tree(seed, 13))).collect()
        })
        .into();
    assert_eq!(counts[0], counts[1]);
    assert_eq!(counts[0], counts[2]);
}

#[test]
fn a_closure_is_installed_on_the_runtime_that_is_named() {
    let (one, other) = (runtime(1), Builder::new().workers(1).name("other").build().unwrap());
    let name = || thread::current().name().map(str::to_owned);
    assert_eq!(other.install(name).as_deref(), Some("other-0"));
    let nested = one.install(|| other.install(|| other.install(name)));
    assert_eq!(nested.as_deref(), Some("other-0"));
    assert_eq!(message_of(|| one.install(|| panic!("inside"))), "inside");
    let handle = one.handle();
    drop(one);
    assert_eq!(
        message_of(|| handle.install(|| ())),
        "install is called on a runtime that has begun to end: call it before the shutdown"
    );
}

/// The owner waits on the only worker, which polls no tasks meanwhile.
#[test]
fn a_scope_on_a_worker_runs_what_other_threads_spawn_into_it() {
    let count = AtomicUsize::new(0);
    runtime(1).install(|| {
        scope(|scope| {
            thread::scope(|threads| {
                for _ in 0..3 {
                    threads.spawn(|| {
                        scope.spawn(|scope| {
                            scope.spawn(|_| {
                                count.fetch_add(1, Ordering::Relaxed);
                            });
                        });
                    });
                }
            });
        });
    });
    assert_eq!(count.into_inner(), 3);
}

#[test]
fn a_scope_outlives_the_runtime_that_its_jobs_go_to() {
    let runtime = runtime(1);
    let count = AtomicUsize::new(0);
    let handle = runtime.handle();
    handle.block_on(async {
        in_place_scope(|scope| {
            drop(runtime);
            for _ in 0..10 {
                scope.spawn(|scope| {
                    scope.spawn(|_| {
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                });
            }
        });
    });
    assert_eq!(count.into_inner(), 10);
}

/// A payload with a panicking destructor must not unwind through frames that other threads rely on.
#[test]
fn payloads_that_panic_when_they_are_dropped_are_contained() {
    for workers in [1, 3] {
        let data = Arc::new([7_u8; 64]);
        let seen = runtime(workers).install(|| {
            let result = catch_unwind(AssertUnwindSafe(|| {
                scope(|scope| {
                    join(
                        || {
                            for _ in 0..3 {
                                scope.spawn(|_| std::panic::panic_any(Bomb("the payload")));
                            }
                        },
                        || assert_eq!(data[0], 7),
                    );
                });
            }));
            let payload = result.unwrap_err();
            let is_bomb = payload.is::<Bomb>();
            std::mem::forget(payload);
            is_bomb
        });
        assert!(seen);
    }
}

/// While the second half is with a thief, the first half spawns into the scope around both, and
/// panics.
#[test]
fn a_half_that_spawns_and_panics_leaves_its_scope_in_order() {
    for workers in [1, 2] {
        let runtime = runtime(workers);
        for _ in 0..200 {
            let count = AtomicUsize::new(0);
            let text = runtime.install(|| {
                message_of(|| {
                    scope(|scope| {
                        let spawn = || {
                            scope.spawn(|_| {
                                count.fetch_add(1, Ordering::Relaxed);
                            });
                        };
                        join(
                            || {
                                spawn();
                                fib(6);
                                spawn();
                                panic!("the first half");
                            },
                            || {
                                spawn();
                                fib(8)
                            },
                        );
                    })
                })
            });
            assert_eq!(text, "the first half");
            assert_eq!(count.into_inner(), 3);
        }
    }
}

/// The worker form's own state is right after a scope has come and gone above it.
#[test]
fn the_worker_form_forks_after_a_scope() {
    for workers in [1, 2] {
        let total = runtime(workers).install(|| {
            on_worker(|mut worker| {
                let total = AtomicUsize::new(0);
                for _ in 0..100 {
                    in_place_scope(|scope| {
                        let total = &total;
                        scope.spawn(move |_| {
                            total.fetch_add(1, Ordering::Relaxed);
                        });
                        worker.join(|_| fib(3), |_| fib(3));
                    });
                    let (a, b) = worker.join(|_| fib(5), |_| fib(6));
                    total.fetch_add((a + b) as usize, Ordering::Relaxed);
                }
                total.into_inner()
            })
        });
        assert_eq!(total, 1_400);
    }
}

/// A half panics while the other is with a thief; afterwards the state of the deque is right for
/// the next fork.
#[test]
fn a_worker_forks_on_after_a_panic_beside_a_stolen_half() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for _ in 0..50 {
        runtime.install(|| {
            on_worker(|mut worker| {
                let begun = AtomicBool::new(false);
                let text = message_of(|| {
                    worker.join(
                        |_| {
                            // The thief has begun, and so cleared the place.
                            until(|| begun.load(Ordering::Relaxed));
                            panic!("beside a thief");
                        },
                        |_| begun.store(true, Ordering::Relaxed),
                    )
                });
                assert_eq!(text, "beside a thief");
                let (a, b) = worker.join(|_| fib(10), |_| fib(11));
                assert_eq!((a, b), (55, 89));
                assert_eq!(fib(12), 144);
            });
        });
    }
}

/// Halves lie in slots of the deque, or on the stack if they are too large.
#[test]
fn halves_of_every_size_come_back_from_their_owner_and_from_a_thief() {
    /// Aligned beyond any slot.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(128))]
    struct Aligned(u8);

    /// The second half receives the value, and returns it, or panics with it.
    fn there_and_back<T>(stolen: bool, panics: bool, value: T)
    where
        T: Copy + Send + PartialEq + std::fmt::Debug + 'static,
    {
        let begun = AtomicBool::new(false);
        let first = |_| {
            while stolen && !begun.load(Ordering::Acquire) {
                thread::yield_now();
            }
        };
        let begins = &begun;
        let second = move |half: FnContext| {
            begins.store(true, Ordering::Release);
            assert!(half.migrated() || !stolen);
            if panics {
                std::panic::panic_any(value);
            }
            value
        };
        match catch_unwind(AssertUnwindSafe(|| join_context(first, second))) {
            Ok(((), back)) => assert_eq!(back, value),
            Err(panic) => assert_eq!(panic.downcast_ref::<T>(), Some(&value)),
        }
    }

    for (workers, panics) in [(1, false), (1, true), (2, false), (2, true)] {
        within(&runtime(workers), move || {
            let stolen = workers > 1;
            there_and_back(stolen, panics, ());
            there_and_back(stolen, panics, 7_u8);
            there_and_back(stolen, panics, [1_u64; 3]);
            there_and_back(stolen, panics, [2_u64; 5]);
            there_and_back(stolen, panics, [3_u64; 6]);
            there_and_back(stolen, panics, [4_u64; 500]);
            there_and_back(stolen, panics, 5_u128);
            there_and_back(stolen, panics, Aligned(6));
        });
    }
}
