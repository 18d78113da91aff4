//! Tasks while all workers are inside fork-join.

use common::until::until;
use common::watchdog::watchdog;
use evenkeel::object::{Object, Placement};
use evenkeel::task::{self, Task};
use evenkeel::{Builder, Runtime, Shutdown, fork_join, time};
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;
use std::thread;
use std::time::Duration;

mod common {
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

fn runtime(workers: usize) -> Runtime {
    Builder::new().workers(workers).name("relieved").build().unwrap()
}

/// Waits until a relief has counted a poll, which it does at the end of the batch.
fn a_relief_has_polled(runtime: &Runtime) {
    until(|| runtime.metrics().reliefs[0].polls >= 1);
}

fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        std::hint::spin_loop();
    }
}

/// Spawns a task that waits for its token and then sets the flag.
fn sleeper(runtime: &Runtime, woken: &Arc<AtomicBool>) -> Task {
    let (cell, woken) = (Arc::new(OnceLock::new()), woken.clone());
    let own = cell.clone();
    drop(runtime.spawn(async move {
        own.set(task::current()).expect("once");
        task::park().await;
        woken.store(true, Ordering::Release);
    }));
    loop {
        match cell.get() {
            Some(task) => return Task::clone(task),
            None => thread::yield_now(),
        }
    }
}

/// Has every worker wait inside fork-join for the flag; calls `once_away` when all are there.
fn beside_busy_workers(
    runtime: &Runtime,
    workers: usize,
    flag: &AtomicBool,
    once_away: impl FnOnce() + Send,
) {
    let away = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                runtime.install(|| {
                    away.fetch_add(1, Ordering::Release);
                    wait_for(flag);
                });
            });
        }
        while away.load(Ordering::Acquire) < workers {
            thread::yield_now();
        }
        once_away();
    });
}

#[test]
fn a_wake_from_outside_runs_while_every_worker_computes() {
    let _watchdog = watchdog();
    for workers in [1, 2, 5] {
        let runtime = runtime(workers);
        let woken = Arc::new(AtomicBool::new(false));
        let sleeper = sleeper(&runtime, &woken);
        beside_busy_workers(&runtime, workers, &woken, || sleeper.unpark());
        a_relief_has_polled(&runtime);
    }
}

#[test]
fn a_spawn_from_outside_runs_while_every_worker_computes() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let ran = Arc::new(AtomicBool::new(false));
    let flag = ran.clone();
    beside_busy_workers(&runtime, 2, &ran, || {
        drop(runtime.spawn(async move { flag.store(true, Ordering::Release) }));
    });
}

#[test]
fn a_task_that_a_computation_spawns_or_wakes_runs_beside_it() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let (woken, spawned) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let sleeper = sleeper(&runtime, &woken);
    let flag = spawned.clone();
    runtime.install(|| {
        sleeper.unpark();
        wait_for(&woken);
        drop(evenkeel::spawn(async move { flag.store(true, Ordering::Release) }));
        wait_for(&spawned);
    });
}

#[test]
fn a_task_that_waits_when_its_worker_goes_away_runs_beside_it() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let (begun, released, ran) =
        (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let all = Arc::new((begun, released, ran));
    let first = all.clone();
    // During this poll, first a call and then a task arrive.
    drop(runtime.spawn(async move {
        first.0.store(true, Ordering::Release);
        wait_for(&first.1);
    }));
    wait_for(&all.0);
    thread::scope(|scope| {
        scope.spawn(|| runtime.install(|| wait_for(&all.2)));
        while runtime.metrics().spawned_outside < 2 {
            thread::yield_now();
        }
        let last = all.clone();
        drop(runtime.spawn(async move { last.2.store(true, Ordering::Release) }));
        all.1.store(true, Ordering::Release);
    });
}

/// A visitor is left to a host inside fork-join for a while, and not for ever.
#[test]
fn an_object_at_home_at_a_worker_that_computes_is_entered_beside_it() {
    let _watchdog = watchdog();
    for workers in [1, 3] {
        let runtime = runtime(workers);
        let placed = || Object::new(0).placed("at home", Placement::Home).at(0);
        let object = runtime.block_on(async { placed() });
        for round in 1..=3 {
            let entered = Arc::new(AtomicBool::new(false));
            beside_busy_workers(&runtime, workers, &entered, || {
                let (object, flag) = (object.clone(), entered.clone());
                drop(runtime.spawn(async move {
                    object.with(|value| *value += 1).await.unwrap();
                    flag.store(true, Ordering::Release);
                }));
            });
            assert_eq!(object.call_blocking(|value| *value), Ok(round));
        }
    }
}

/// Counts the threads of this process with this name.
#[cfg(target_os = "linux")]
fn threads_called(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).ok());
    names.filter(|comm| comm.trim_end() == name).count()
}

#[cfg(target_os = "linux")]
#[test]
fn the_thread_starts_when_it_is_needed_and_leaves_with_the_runtime() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).name("lazy").build().unwrap();
    runtime.block_on(runtime.spawn(task::yield_now())).unwrap();
    runtime.install(|| fork_join::join(|| (), || ()));
    assert_eq!(threads_called("lazy-relief"), 0);
    for _ in 0..2 {
        let ran = Arc::new(AtomicBool::new(false));
        let flag = ran.clone();
        beside_busy_workers(&runtime, 1, &ran, || {
            drop(runtime.spawn(async move { flag.store(true, Ordering::Release) }));
        });
        // A list read while other threads exit may be incomplete.
        until(|| threads_called("lazy-relief") == 1);
    }
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    until(|| threads_called("lazy-relief") == 0);
}

#[test]
fn a_runtime_without_a_relief_leaves_tasks_until_a_worker_is_back() {
    let _watchdog = watchdog();
    let built = Builder::new().workers(1).reliefs(0).build().unwrap();
    let provided = Builder::new().workers(1).build_with(|worker| {
        drop(thread::spawn(|| worker.run()));
        Ok(())
    });
    for runtime in [built, provided.unwrap()] {
        let ran = Arc::new(AtomicBool::new(false));
        let flag = ran.clone();
        let mut task = None;
        runtime.install(|| {
            task = Some(runtime.spawn(async move { flag.store(true, Ordering::Release) }));
            thread::sleep(Duration::from_millis(20));
            assert!(!ran.load(Ordering::Acquire), "no thread could run it");
        });
        runtime.block_on(task.unwrap()).unwrap();
        assert!(runtime.metrics().reliefs.is_empty());
    }
}

#[test]
fn what_a_task_forks_on_the_relief_runs_there() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let (released, forks) = (AtomicBool::new(false), Arc::new(AtomicBool::new(false)));
    let (found, finds) = std::sync::mpsc::channel();
    let away = AtomicUsize::new(0);
    let wait = |flag: &AtomicBool| {
        away.fetch_add(1, Ordering::Release);
        wait_for(flag);
    };
    thread::scope(|scope| {
        scope.spawn(|| runtime.install(|| wait(&forks)));
        scope.spawn(|| runtime.install(|| wait(&released)));
        while away.load(Ordering::Acquire) < 2 {
            thread::yield_now();
        }
        let opened = forks.clone();
        let task = runtime.spawn(async move {
            let here =
                (fork_join::is_worker(), fork_join::worker_index(), fork_join::worker_count());
            let name = thread::current().name().map(str::to_owned);
            // One worker is about to return.
            opened.store(true, Ordering::Release);
            let there = fork_join::join(fork_join::worker_index, fork_join::worker_index);
            let migrated = fork_join::join_context(|a| a.migrated(), |b| b.migrated());
            let awaited = fork_join::future::join(|| 1, || 2).await;
            found.send((here, name, there, migrated, awaited)).unwrap();
        });
        let (here, name, there, migrated, awaited) = finds.recv().unwrap();
        released.store(true, Ordering::Release);
        evenkeel::block_on(task).unwrap();
        assert_eq!(here, (false, None, 2));
        assert_eq!(name.as_deref(), Some("relieved-relief"));
        assert_eq!(there, (None, None));
        // A program that splits again whenever a half has migrated would split without end.
        assert_eq!(migrated, (false, false));
        assert_eq!(awaited, (1, 2));
    });
}

#[test]
fn a_lock_may_be_held_across_forks_on_the_relief_while_every_worker_waits_for_it() {
    let _watchdog = watchdog();
    static TOTAL: Mutex<u32> = Mutex::new(0);
    type Fork = fn() -> u32;
    let forks: [(&str, Fork); 5] = [
        ("join", || {
            let (a, b) = fork_join::join(|| 1, || fork_join::join(|| 2, || 3));
            a + b.0 + b.1
        }),
        ("the form with the worker", || {
            fork_join::on_worker(|mut worker| {
                let (a, b) = worker.join(|mut worker| worker.join(|_| 1, |_| 2), |_| 3);
                a.0 + a.1 + b
            })
        }),
        ("sized", || {
            let (a, b) = fork_join::join_sized(1 << 20, || 2, || 4);
            a + b
        }),
        ("scope", || {
            let sum = AtomicUsize::new(0);
            fork_join::scope(|scope| {
                for n in 1..=3 {
                    let sum = &sum;
                    scope.spawn(move |scope| {
                        sum.fetch_add(n - 1, Ordering::Relaxed);
                        scope.spawn(move |_| {
                            sum.fetch_add(1, Ordering::Relaxed);
                        });
                    });
                }
            });
            sum.into_inner() as u32
        }),
        ("install", || evenkeel::Handle::current().install(|| fork_join::join(|| 2, || 4).0 + 4)),
    ];
    for (name, fork) in forks {
        for workers in [1, 3] {
            *TOTAL.lock().unwrap() = 0;
            let runtime = runtime(workers);
            let (held, waiting) = (AtomicBool::new(false), AtomicUsize::new(0));
            let (held, waiting) = (Arc::new(held), Arc::new(waiting));
            thread::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(|| {
                        runtime.install(|| {
                            waiting.fetch_add(1, Ordering::Release);
                            wait_for(&held);
                            *TOTAL.lock().unwrap() += 1;
                        });
                    });
                }
                while waiting.load(Ordering::Acquire) < workers {
                    thread::yield_now();
                }
                let held = held.clone();
                let task = runtime.spawn(async move {
                    let mut total = TOTAL.lock().unwrap();
                    held.store(true, Ordering::Release);
                    *total += fork();
                });
                evenkeel::block_on(task).unwrap();
            });
            assert_eq!(*TOTAL.lock().unwrap(), 6 + workers as u32, "{name}, {workers}");
        }
    }
}

/// Tasks spawned by the relief are aborted and counted like all others.
#[test]
fn a_runtime_ends_with_tasks_of_the_relief() {
    let _watchdog = watchdog();
    for end in [Shutdown::Drain, Shutdown::Abort] {
        let runtime = runtime(1);
        let born = Arc::new(AtomicBool::new(false));
        let flag = born.clone();
        beside_busy_workers(&runtime, 1, &born, || {
            drop(runtime.spawn(async move {
                for _ in 0..10 {
                    drop(evenkeel::spawn(async {
                        for _ in 0..10 {
                            task::yield_now().await;
                        }
                    }));
                }
                flag.store(true, Ordering::Release);
            }));
        });
        let report = runtime.shutdown(end);
        assert!(report.stuck.is_empty() && report.workers_left_behind == 0, "{report}");
    }
}

/// Splits until each worker has a part, and stays there until it is `over`; each worker repeats
/// `work` in its part. `inside` counts the parts that have begun.
fn sort(parts: usize, inside: &AtomicUsize, over: &AtomicBool, work: fn()) {
    if parts > 1 {
        fork_join::join(
            || sort(parts / 2, inside, over, work),
            || sort(parts - parts / 2, inside, over, work),
        );
        return;
    }
    inside.fetch_add(1, Ordering::Release);
    while !over.load(Ordering::Acquire) {
        work();
    }
}

/// The work of a part: one long run, or repeated forks and joins.
const WORK: [fn(); 2] = [std::hint::spin_loop, || {
    fork_join::join(std::hint::spin_loop, std::hint::spin_loop);
}];

/// Has a task sort with all workers of runtimes of several sizes. `beside` receives the number of
/// parts that have begun, and a flag to set at the end.
fn beside_a_task_that_sorts(beside: impl Fn(&Runtime, usize, &Arc<AtomicUsize>, &Arc<AtomicBool>)) {
    for (workers, work) in [2, 3, 5].into_iter().flat_map(|n| WORK.map(|work| (n, work))) {
        let runtime = runtime(workers);
        let (inside, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let sorter = runtime.spawn({
            let (inside, over) = (inside.clone(), over.clone());
            async move { sort(workers, &inside, &over, work) }
        });
        beside(&runtime, workers, &inside, &over);
        runtime.block_on(sorter).unwrap();
        a_relief_has_polled(&runtime);
        // The workers poll again.
        let yields = (0..workers * 8).map(|_| runtime.spawn(task::yield_now()));
        yields.collect::<Vec<_>>().into_iter().for_each(|task| runtime.block_on(task).unwrap());
    }
}

#[test]
fn a_sleep_ends_while_a_task_sorts_with_all_workers() {
    let _watchdog = watchdog();
    beside_a_task_that_sorts(|runtime, workers, inside, over| {
        let (inside, over) = (inside.clone(), over.clone());
        let sleeper = runtime.spawn(async move {
            loop {
                let are_all_inside = inside.load(Ordering::Acquire) == workers;
                time::sleep(Duration::from_millis(1)).await;
                if are_all_inside {
                    return over.store(true, Ordering::Release);
                }
            }
        });
        runtime.block_on(sleeper).unwrap();
    });
}

#[test]
fn a_wake_from_outside_runs_while_a_task_sorts_with_all_workers() {
    let _watchdog = watchdog();
    beside_a_task_that_sorts(|runtime, workers, inside, over| {
        let sleeper = sleeper(runtime, over);
        while inside.load(Ordering::Acquire) < workers {
            thread::yield_now();
        }
        sleeper.unpark();
    });
}

#[test]
fn a_task_that_a_sorting_task_spawns_runs_beside_the_sort() {
    let _watchdog = watchdog();
    for workers in [2, 5] {
        let runtime = runtime(workers);
        let (inside, over) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
        let sorter = runtime.spawn(async move {
            let spawn_once_all_are_inside = || {
                inside.fetch_add(1, Ordering::Release);
                while inside.load(Ordering::Acquire) < workers {
                    std::hint::spin_loop();
                }
                let flag = over.clone();
                drop(evenkeel::spawn(async move { flag.store(true, Ordering::Release) }));
                wait_for(&over);
            };
            let others = || sort(workers - 1, &inside, &over, std::hint::spin_loop);
            fork_join::join(spawn_once_all_are_inside, others);
        });
        runtime.block_on(sorter).unwrap();
        a_relief_has_polled(&runtime);
    }
}

/// Has a task compute with all workers, of two and of five, until another task has slept. `compute`
/// runs `parts(workers)` parts, each on a worker of its own; the counter has the parts that have
/// begun.
fn sleep_beside_a_task_that_computes(
    parts: fn(usize) -> usize,
    compute: fn(usize, &AtomicUsize, &(dyn Fn() + Sync)),
) {
    for workers in [2, 5] {
        let (runtime, parts) = (runtime(workers), parts(workers));
        let inside = Arc::new(AtomicUsize::new(0));
        let over = Arc::new(AtomicBool::new(false));
        let (begun, flag) = (inside.clone(), over.clone());
        let sleeper = runtime.spawn(async move {
            loop {
                let are_all_inside = begun.load(Ordering::Acquire) == parts;
                time::sleep(Duration::from_millis(1)).await;
                if are_all_inside {
                    return flag.store(true, Ordering::Release);
                }
            }
        });
        let computer = runtime.spawn(async move {
            compute(parts, &inside, &|| {
                inside.fetch_add(1, Ordering::Release);
                wait_for(&over);
            });
        });
        runtime.block_on(sleeper).unwrap();
        runtime.block_on(computer).unwrap();
        a_relief_has_polled(&runtime);
    }
}

/// Waits until `parts` parts have begun.
fn wait_for_parts(parts: usize, inside: &AtomicUsize) {
    while inside.load(Ordering::Acquire) < parts {
        std::hint::spin_loop();
    }
}

#[test]
fn a_sleep_ends_while_thieves_run_the_jobs_of_a_scope_and_its_owner_waits() {
    let _watchdog = watchdog();
    sleep_beside_a_task_that_computes(
        |workers| workers - 1,
        |parts, inside, part| {
            fork_join::scope(|scope| {
                (0..parts).for_each(|_| scope.spawn(|_| part()));
                wait_for_parts(parts, inside);
            });
        },
    );
}

#[test]
fn a_sleep_ends_while_thieves_run_the_jobs_of_a_fifo_scope_and_its_owner_waits() {
    let _watchdog = watchdog();
    sleep_beside_a_task_that_computes(
        |workers| workers - 1,
        |parts, inside, part| {
            fork_join::scope_fifo(|scope| {
                (0..parts).for_each(|_| scope.spawn_fifo(|_| part()));
                wait_for_parts(parts, inside);
            });
        },
    );
}

#[test]
fn a_sleep_ends_while_all_workers_run_parts_of_a_broadcast_of_a_task() {
    let _watchdog = watchdog();
    sleep_beside_a_task_that_computes(
        |workers| workers,
        |_, _, part| {
            fork_join::broadcast(|_| part());
        },
    );
}

/// All tasks and threads are idle at last, and the relief is the last to find out.
#[test]
fn a_clock_that_stands_moves_on_after_the_last_poll_of_the_relief() {
    let _watchdog = watchdog();
    for _ in 0..20 {
        let runtime = Builder::new().workers(1).start_paused(true).build().unwrap();
        let (is_away, is_polled) =
            (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        thread::scope(|scope| {
            let (away, polled) = (is_away.clone(), is_polled.clone());
            let computing = scope.spawn({
                let runtime = &runtime;
                move || {
                    runtime.install(|| {
                        away.store(true, Ordering::Release);
                        wait_for(&polled);
                    });
                }
            });
            wait_for(&is_away);
            let task = runtime.spawn(async move {
                is_polled.store(true, Ordering::Release);
                // Long enough that the worker is back, finds nothing, and sleeps.
                let start = std::time::Instant::now();
                while start.elapsed() < Duration::from_millis(5) {
                    std::hint::spin_loop();
                }
                evenkeel::time::sleep(Duration::from_secs(1)).await;
            });
            runtime.block_on(task).unwrap();
            computing.join().unwrap();
        });
    }
}

#[test]
fn a_clock_that_starts_while_every_worker_computes_fires_its_timers() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).start_paused(true).build().unwrap();
    let (is_away, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            runtime.install(|| {
                is_away.store(true, Ordering::Release);
                wait_for(&is_over);
            });
        });
        wait_for(&is_away);
        runtime.block_on(async {
            let mut sleep = std::pin::pin!(evenkeel::time::sleep(Duration::from_millis(1)));
            let first =
                std::future::poll_fn(|context| Poll::Ready(sleep.as_mut().poll(context))).await;
            assert!(first.is_pending());
            evenkeel::time::resume();
            sleep.await;
        });
        is_over.store(true, Ordering::Release);
    });
}
