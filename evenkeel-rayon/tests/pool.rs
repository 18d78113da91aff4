//! The documented behaviour of `rayon-core`: pools, builders, panics and waiting.

use rayon_core::{
    ThreadPool, ThreadPoolBuilder, Yield, join, join_context, yield_local, yield_now,
};
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn threads_have_the_names_that_are_asked_for_and_none_without() {
    let name = || thread::current().name().map(str::to_owned);
    let named =
        ThreadPoolBuilder::new().num_threads(2).thread_name(|index| format!("mate-{index}"));
    let names = named.build().unwrap().broadcast(|_| name());
    assert_eq!(names, [Some("mate-0".to_owned()), Some("mate-1".to_owned())]);
    assert_eq!(pool(1).install(name), None);
}

#[test]
fn more_threads_than_there_can_be_are_cut_to_the_most() {
    let most = rayon_core::max_num_threads();
    let builder = ThreadPoolBuilder::new().num_threads(usize::MAX).spawn_handler(|thread| {
        // None of the threads runs: only their number matters.
        drop(thread);
        Ok(())
    });
    assert_eq!(builder.build().unwrap().current_num_threads(), most);
}

#[test]
fn a_stack_that_the_system_refuses_is_an_error_and_ends_the_threads() {
    let result = ThreadPoolBuilder::new().num_threads(2).stack_size(isize::MAX as usize).build();
    let error = result.unwrap_err();
    assert!(error.source().is_some(), "{error}");
}

#[test]
fn handlers_run_on_their_threads_and_their_panics_go_to_the_panic_handler() {
    let (sender, receiver) = mpsc::channel();
    let tell = |what: &'static str| {
        let sender = Mutex::new(sender.clone());
        move |index: usize| {
            assert_eq!(rayon_core::current_thread_index(), Some(index));
            sender.lock().unwrap().send((what, index)).unwrap();
            panic!("a handler");
        }
    };
    let panics = Arc::new(AtomicUsize::new(0));
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(tell("start"))
        .exit_handler(tell("exit"))
        .panic_handler({
            let panics = panics.clone();
            move |panic| {
                assert!(panic.is::<&str>());
                panics.fetch_add(1, Ordering::Relaxed);
            }
        })
        .build()
        .unwrap();
    assert_eq!(pool.install(|| fib(10)), 55);
    drop(pool);
    drop(sender);
    let mut told: Vec<_> = receiver.iter().collect();
    told.sort_unstable();
    assert_eq!(told, [("exit", 0), ("exit", 1), ("start", 0), ("start", 1)]);
    assert_eq!(panics.load(Ordering::Relaxed), 4);
}

#[test]
fn a_dropped_pool_finishes_what_was_spawned_there() {
    let (sender, receiver) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let pool = pool(2);
    pool.spawn(move || {
        wait.recv().unwrap();
        rayon_core::spawn(move || sender.send(fib(12)).unwrap());
    });
    drop(pool);
    go.send(()).unwrap();
    assert_eq!(receiver.recv(), Ok(144));
}

#[test]
fn the_current_thread_is_thread_0_and_in_one_pool_only() {
    thread::spawn(|| {
        let builder = || ThreadPoolBuilder::new().num_threads(2).use_current_thread();
        let pool = builder().build().unwrap();
        assert_eq!(rayon_core::current_thread_index(), Some(0));
        assert_eq!(pool.current_thread_index(), Some(0));
        let here = thread::current().id();
        assert_eq!(pool.install(|| thread::current().id()), here);
        assert_eq!(fib(15), 610);
        assert_eq!(pool.broadcast(|context| context.index()), [0, 1]);
        let error = builder().build().unwrap_err();
        assert_eq!(error.to_string(), "The current thread is already part of another thread pool.");
        assert!(error.source().is_none());
    })
    .join()
    .unwrap();
}

#[test]
fn a_pool_of_the_current_thread_alone_runs_by_yields_and_scopes() {
    thread::spawn(|| {
        let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let count = count.clone();
            pool.spawn(move || {
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert_eq!(pool.current_thread_has_pending_tasks(), Some(true));
        assert_eq!(yield_local(), Some(Yield::Executed));
        assert_eq!(yield_now(), Some(Yield::Executed));
        pool.scope(|scope| {
            scope.spawn(|_| {
                count.fetch_add(10, Ordering::Relaxed);
            });
        });
        assert_eq!(pool.yield_now(), Some(Yield::Executed));
        assert_eq!(pool.yield_local(), Some(Yield::Idle));
        assert_eq!(count.load(Ordering::Relaxed), 13);
    })
    .join()
    .unwrap();
}

#[test]
fn scoped_threads_borrow_and_have_left_when_the_build_returns() {
    let (cargo, left) = (vec![1, 2, 3], AtomicUsize::new(0));
    let sum = ThreadPoolBuilder::new()
        .num_threads(3)
        .thread_name(|index| format!("scoped-{index}"))
        .build_scoped(
            |thread| {
                assert_eq!(thread.name(), thread::current().name());
                assert_eq!(cargo.len(), 3);
                thread.run();
                left.fetch_add(1, Ordering::Relaxed);
            },
            |pool| pool.install(|| cargo.iter().sum::<i32>() + fib(10) as i32),
        );
    assert_eq!(sum.unwrap(), 61);
    assert_eq!(left.into_inner(), 3);
}

#[test]
fn a_pool_knows_its_own_threads_from_those_of_another() {
    let (one, other) = (pool(1), pool(2));
    assert_eq!(one.current_thread_index(), None);
    one.install(|| {
        assert_eq!(one.current_thread_index(), Some(0));
        assert_eq!(other.current_thread_index(), None);
        assert_eq!(other.yield_now(), None);
        assert_eq!(other.yield_local(), None);
        assert_eq!(other.current_thread_has_pending_tasks(), None);
        assert_eq!(rayon_core::current_num_threads(), 1);
        assert_eq!(other.install(rayon_core::current_num_threads), 2);
    });
}

#[test]
fn a_half_that_runs_in_a_pool_for_a_thread_outside_has_migrated() {
    assert_eq!(join_context(|a| a.migrated(), |b| b.migrated()), (true, true));
    let inside = pool(1).install(|| join_context(|a| a.migrated(), |b| b.migrated()));
    assert_eq!(inside, (false, false));
}

/// Each thread of a pool waits for another pool, and the threads of that wait for this one.
#[test]
fn pools_that_install_on_each_other_from_both_sides_finish() {
    let (one, other) = (pool(2), pool(1));
    let count = AtomicUsize::new(0);
    thread::scope(|threads| {
        let (one, other, count) = (&one, &other, &count);
        for _ in 0..2 {
            threads.spawn(move || {
                let deep = || other.install(|| one.scope(|scope| scope.spawn(|_| add(count))));
                for _ in 0..50 {
                    one.join(deep, deep);
                }
            });
            threads.spawn(move || {
                let deep = || one.install(|| other.install(|| add(count)));
                for _ in 0..50 {
                    other.join(deep, deep);
                }
            });
        }
    });
    fn add(count: &AtomicUsize) {
        count.fetch_add(1, Ordering::Relaxed);
    }
    assert_eq!(count.into_inner(), 400);
}

/// Threads of a second pool spawn jobs of a scope of the first, while the first waits for the
/// second.
#[test]
fn nested_scopes_of_several_pools_take_each_other_s_spawns() {
    let pools: Vec<_> = (0..4).map(|_| pool(1)).collect();
    let count = AtomicUsize::new(0);
    fn nest<'scope>(
        pools: &[ThreadPool],
        outer: Vec<&rayon_core::Scope<'scope>>,
        count: &'scope AtomicUsize,
    ) {
        let Some((first, rest)) = pools.split_first() else {
            for scope in outer {
                scope.spawn(move |_| {
                    count.fetch_add(1, Ordering::Relaxed);
                });
            }
            return;
        };
        first.scope(move |scope| {
            let mut all: Vec<&rayon_core::Scope<'scope>> = outer;
            all.push(scope);
            nest(rest, all, count);
        });
    }
    nest(&pools, Vec::new(), &count);
    assert_eq!(count.into_inner(), 4);
}

/// A closure that waits for its sibling by yielding, on one thread.
#[test]
fn a_loop_that_yields_lets_the_sibling_run() {
    let done = AtomicBool::new(false);
    pool(1).join(
        || {
            while !done.load(Ordering::Acquire) {
                yield_now();
            }
        },
        || done.store(true, Ordering::Release),
    );
}

#[test]
fn functions_in_a_task_of_a_runtime_use_that_runtime() {
    let runtime = evenkeel::Builder::new().workers(3).name("own").build().unwrap();
    let name = || thread::current().name().unwrap_or_default().to_owned();
    let inside = runtime.block_on(async move {
        let here = (rayon_core::current_num_threads(), join(name, || ()).0);
        evenkeel::spawn(async move { (here, rayon_core::current_num_threads(), fib(10)) }).await
    });
    let ((threads, name), in_task, sum) = inside.unwrap();
    assert_eq!((threads, in_task, sum), (3, 3, 55));
    assert!(name.starts_with("own-"), "{name}");
}

#[test]
fn a_panic_comes_out_of_scopes_and_installs() {
    let pool = pool(2);
    let message = |result: thread::Result<()>| *result.unwrap_err().downcast::<&str>().unwrap();
    let caught = |f: &(dyn Fn() + Sync)| message(catch_unwind(AssertUnwindSafe(f)));
    assert_eq!(caught(&|| pool.install(|| panic!("install"))), "install");
    assert_eq!(caught(&|| pool.scope(|scope| scope.spawn(|_| panic!("spawn")))), "spawn");
    assert_eq!(caught(&|| pool.scope_fifo(|scope| scope.spawn_fifo(|_| panic!("fifo")))), "fifo");
    assert_eq!(caught(&|| drop(pool.broadcast(|_| panic!("all")))), "all");
}

#[test]
fn names_that_panic_come_out_of_the_build() {
    let built = catch_unwind(AssertUnwindSafe(|| {
        ThreadPoolBuilder::new()
            .num_threads(3)
            .thread_name(|index| if index == 2 { panic!("no name") } else { index.to_string() })
            .build()
    }));
    assert_eq!(*built.err().unwrap().downcast::<&str>().unwrap(), "no name");
}

#[test]
#[allow(deprecated, reason = "rayon-core still has it")]
fn the_older_configuration_builds_a_pool() {
    let configuration = rayon_core::Configuration::new()
        .num_threads(2)
        .thread_name(|index| index.to_string())
        .stack_size(4 << 20)
        .start_handler(|_| ())
        .exit_handler(|_| ())
        .panic_handler(|_| ())
        .breadth_first();
    assert!(format!("{configuration:?}").contains("breadth_first: true"));
    assert_eq!(ThreadPool::new(configuration).unwrap().current_num_threads(), 2);
    assert_eq!(
        rayon_core::Configuration::new().num_threads(1).build().unwrap().join(|| 1, || 2),
        (1, 2)
    );
}

/// All jobs run, although the spawner holds the lock that they take: none runs inside `spawn`.
#[test]
fn more_jobs_than_a_deque_holds_take_a_lock_that_their_spawner_holds() {
    let pool = pool(2);
    let count = Mutex::new(0);
    pool.scope(|scope| {
        let guard = count.lock().unwrap();
        for _ in 0..100_000 {
            scope.spawn(|_| *count.lock().unwrap() += 1);
        }
        drop(guard);
    });
    assert_eq!(count.into_inner().unwrap(), 100_000);
}

#[test]
fn a_half_waits_for_a_thread_that_installs_while_its_owner_waits() {
    let pool = pool(2);
    let stolen = AtomicBool::new(false);
    let installed = pool.install(|| {
        let half = || {
            stolen.store(true, Ordering::Release);
            thread::scope(|threads| {
                threads.spawn(|| pool.install(|| pool.current_num_threads())).join().unwrap()
            })
        };
        let owner = || {
            while !stolen.load(Ordering::Acquire) {
                thread::yield_now();
            }
        };
        join(owner, half).1
    });
    assert_eq!(installed, 2);
}

/// The thread has entered a runtime that is over: its work goes to the global pool.
#[test]
fn a_thread_inside_a_runtime_that_is_over_uses_the_global_pool() {
    let runtime = evenkeel::Runtime::new().unwrap();
    let handle = runtime.handle();
    let _entered = handle.enter();
    drop(runtime);
    assert_eq!(join(|| 1, || 2), (1, 2));
    assert_eq!(rayon_core::scope(|_| 3), 3);
    assert_eq!(rayon_core::in_place_scope(|_| 4), 4);
    assert_eq!(rayon_core::broadcast(|_| ()).len(), rayon_core::current_num_threads());
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    rayon_core::spawn(move || sender.send(()).unwrap());
    rayon_core::spawn_fifo(move || other.send(()).unwrap());
    assert_eq!(receiver.iter().count(), 2);
}

/// Not one of its own that the library builds for such callers.
#[test]
fn a_scope_on_a_thread_of_a_pool_inside_a_runtime_that_is_over_uses_the_global_pool() {
    let current = evenkeel::Handle::current;
    let global = join(current, || ()).0;
    let (own, other) = (pool(1), evenkeel::Runtime::new().unwrap());
    let handle = other.handle();
    drop(other);
    own.install(|| {
        let _entered = handle.enter();
        assert!(rayon_core::scope(|_| current()).ptr_eq(&global));
        assert!(rayon_core::scope_fifo(|_| current()).ptr_eq(&global));
    });
}

#[test]
fn a_thread_of_a_pool_is_one_whatever_it_has_entered() {
    let (own, other) = (pool(1), evenkeel::Runtime::new().unwrap());
    own.install(|| {
        let _entered = other.enter();
        assert_eq!(own.current_thread_index(), Some(0));
        assert!(own.yield_now().is_some());
    });
}

/// One worker is stuck, so that a relief builds the pool.
#[test]
fn a_relief_is_no_thread_for_another_pool() {
    let runtime = evenkeel::Builder::new().workers(1).reliefs(1).build().unwrap();
    let (go, wait) = mpsc::channel();
    let (begun, has_begun) = mpsc::channel();
    let stuck = runtime.spawn(async move {
        begun.send(()).unwrap();
        wait.recv().unwrap();
    });
    has_begun.recv().unwrap();
    let task = runtime.spawn(async {
        let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
        pool.map(drop).unwrap_err().to_string()
    });
    let error = evenkeel::block_on(task).unwrap();
    assert!(error.contains("already part of another"), "{error}");
    go.send(()).unwrap();
    evenkeel::block_on(stuck).unwrap();
}
