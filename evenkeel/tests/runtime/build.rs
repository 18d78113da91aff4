//! The settings that a builder accepts or refuses, and its messages.

use crate::common::panics::Bomb;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::topology::Topology;
use evenkeel::{BuildError, Builder, Runtime, Shutdown};
use std::collections::BTreeSet;
use std::error::Error;
use std::future::{pending, poll_fn};
use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;

/// Runs some tasks on the runtime.
fn works(runtime: &Runtime) {
    let handles: Vec<_> = (0..200_usize).map(|n| runtime.spawn(async move { n })).collect();
    for (n, handle) in handles.into_iter().enumerate() {
        assert_eq!(runtime.block_on(handle).unwrap(), n);
    }
}

#[test]
fn no_blocking_threads_are_refused() {
    let _watchdog = watchdog();
    let error = Builder::new().blocking_threads(0).build().unwrap_err();
    assert!(matches!(error, BuildError::BlockingThreads { asked: 0, .. }));
    assert_eq!(
        error.to_string(),
        "a runtime has 1 or more threads for blocking closures, not 0: leave `blocking_threads` \
         out to have 512 at most"
    );
    assert!(error.source().is_none());
    for threads in [1, usize::MAX] {
        let runtime = Builder::new().workers(1).blocking_threads(threads).build().unwrap();
        assert_eq!(runtime.block_on(runtime.spawn_blocking(|| 1)).unwrap(), 1);
    }
}

#[test]
fn no_workers_and_too_many_are_refused() {
    let _watchdog = watchdog();
    for asked in [0, 1_025, usize::MAX] {
        let error = Builder::new().workers(asked).build().unwrap_err();
        assert!(matches!(error, BuildError::Workers { asked: told, .. } if told == asked));
        assert_eq!(
            error.to_string(),
            format!(
                "a runtime has 1 to 1024 workers, not {asked}: leave `workers` out to have one per \
                 core in use"
            )
        );
        assert!(error.source().is_none());
    }
}

#[test]
fn one_worker_and_the_most_workers_work() {
    let _watchdog = watchdog();
    for workers in [1, 1_024] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        assert_eq!(runtime.metrics().processors.len(), workers);
        works(&runtime);
        assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    }
}

#[test]
fn more_workers_than_cores_work() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(64).build().unwrap();
    let tasks: Vec<_> = (0..500)
        .map(|n| {
            runtime.spawn(async move {
                for _ in 0..n % 20 {
                    evenkeel::yield_now().await;
                }
            })
        })
        .collect();
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
    works(&runtime);
}

#[test]
fn the_default_is_a_worker_per_core_in_use() {
    let _watchdog = watchdog();
    let expected = Topology::detect().unwrap().processors();
    assert_eq!(Runtime::new().unwrap().metrics().processors.len(), expected);
    assert_eq!(Builder::default().build().unwrap().metrics().processors.len(), expected);
}

#[test]
fn threads_carry_the_name_and_the_worker_s_number() {
    let _watchdog = watchdog();
    let names = Arc::new(Mutex::new(BTreeSet::new()));
    let hook = {
        let names = names.clone();
        move |worker: usize| {
            let name = thread::current().name().unwrap().to_owned();
            names.lock().unwrap().insert((worker, name));
        }
    };
    let runtime = Builder::new().workers(3).name("deck").on_worker_start(hook).build().unwrap();
    runtime.shutdown(Shutdown::Drain);
    let expected: BTreeSet<_> = (0..3).map(|worker| (worker, format!("deck-{worker}"))).collect();
    assert_eq!(*names.lock().unwrap(), expected);
}

#[test]
fn a_name_that_no_thread_can_have_is_refused() {
    let _watchdog = watchdog();
    let error = Builder::new().name("with a \0 inside").build().unwrap_err();
    assert!(matches!(error, BuildError::Name { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "no thread can be called \"with a \\0 inside\": leave the zero byte out of `name`"
    );
}

#[test]
fn tasks_have_the_stack_that_was_asked_for() {
    /// Uses about a KiB of stack for each level.
    fn deep(levels: usize) -> usize {
        let room = std::hint::black_box([levels as u8; 1_024]);
        let below = if levels == 0 { 0 } else { deep(levels - 1) };
        below + usize::from(room[levels % room.len()] == levels as u8)
    }

    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).stack_size(64 << 20).build().unwrap();
    let levels = 16 << 10;
    let task = runtime.spawn(async move { deep(levels) });
    assert_eq!(runtime.block_on(task).unwrap(), levels + 1);
    let closure = runtime.spawn_blocking(move || deep(levels));
    assert_eq!(runtime.block_on(closure).unwrap(), levels + 1);
}

#[test]
fn a_stack_that_the_system_refuses_is_an_error_and_leaves_no_thread() {
    let _watchdog = watchdog();
    let error = Builder::new().workers(2).stack_size(1 << 50).build().unwrap_err();
    assert!(matches!(error, BuildError::Thread { worker: 0, .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.starts_with("cannot start worker 0 ("), "{message}");
    assert!(message.ends_with("): ask for fewer workers or a smaller stack"), "{message}");
    assert!(error.source().is_some());
}

#[test]
fn hooks_run_once_for_each_worker() {
    let _watchdog = watchdog();
    let calls: [_; 2] = std::array::from_fn(|_| Arc::new(Mutex::new(Vec::new())));
    let hook = |calls: &Arc<Mutex<Vec<usize>>>| {
        let calls = calls.clone();
        move |worker| calls.lock().unwrap().push(worker)
    };
    let runtime = Builder::new()
        .workers(4)
        .on_worker_start(hook(&calls[0]))
        .on_worker_stop(hook(&calls[1]))
        .build()
        .unwrap();
    until(|| calls[0].lock().unwrap().len() == 4);
    assert!(calls[1].lock().unwrap().is_empty(), "no worker has stopped");
    works(&runtime);
    drop(runtime);
    for calls in calls {
        let mut calls = std::mem::take(&mut *calls.lock().unwrap());
        calls.sort_unstable();
        assert_eq!(calls, [0, 1, 2, 3]);
    }
}

#[test]
fn hooks_are_inside_the_runtime() {
    let _watchdog = watchdog();
    let ran = Arc::new(AtomicUsize::new(0));
    let hook = {
        let ran = ran.clone();
        move |_| {
            let ran = ran.clone();
            drop(evenkeel::spawn(async move {
                ran.fetch_add(1, Ordering::AcqRel);
            }));
        }
    };
    let runtime = Builder::new().workers(2).on_worker_start(hook).build().unwrap();
    until(|| ran.load(Ordering::Acquire) == 2);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
}

/// No worker may find such a task any more: each could be the last one.
#[test]
fn what_a_stop_hook_spawns_is_cancelled_at_once() {
    let _watchdog = watchdog();
    let spawned = Arc::new(Mutex::new(Vec::new()));
    let hook = {
        let spawned = spawned.clone();
        move |_| {
            let future = Arc::new(());
            let held = future.clone();
            let task = evenkeel::spawn(async move {
                pending::<()>().await;
                drop(held);
            });
            spawned.lock().unwrap().push((task, Arc::strong_count(&future)));
        }
    };
    drop(Builder::new().workers(2).on_worker_stop(hook).build().unwrap());
    let spawned = std::mem::take(&mut *spawned.lock().unwrap());
    assert_eq!(spawned.len(), 2);
    for (task, count) in spawned {
        assert_eq!(count, 1, "the future was dropped by the spawn");
        assert!(evenkeel::block_on(task).unwrap_err().is_cancelled());
    }
}

#[test]
fn a_hook_that_panics_stops_no_worker() {
    let _watchdog = watchdog();
    let runtime = Builder::new()
        .workers(2)
        .on_worker_start(|worker| panic!("starting {worker}"))
        .on_worker_stop(|worker| panic!("stopping {worker}"))
        .build()
        .unwrap();
    works(&runtime);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
}

#[test]
fn a_hook_s_panic_may_panic_when_it_is_dropped() {
    let _watchdog = watchdog();
    let runtime = Builder::new()
        .workers(2)
        .on_worker_start(|_| panic_any(Bomb("in the payload")))
        .on_worker_stop(|_| panic_any(Bomb("in the payload")))
        .build()
        .unwrap();
    works(&runtime);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
}

/// The hardware threads that the calling thread may run on.
#[cfg(target_os = "linux")]
fn affinity() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("Cpus_allowed_list:")).unwrap();
    line.split_whitespace().nth(1).unwrap().to_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn pinned_workers_stay_on_one_core_each() {
    let _watchdog = watchdog();
    let topology = Topology::detect().unwrap();
    let workers = 2 * topology.cpus_in_use().len();
    let seats = Arc::new(Mutex::new(Vec::new()));
    let hook = {
        let seats = seats.clone();
        move |_| seats.lock().unwrap().push(affinity())
    };
    let runtime = Builder::new().workers(workers).pin(true).on_worker_start(hook).build().unwrap();
    works(&runtime);
    runtime.shutdown(Shutdown::Drain);
    let cores = topology.cpus_in_use().iter().map(|&cpu| topology.cpus()[cpu].id.to_string());
    let mut expected: Vec<_> = cores.clone().chain(cores).collect();
    let mut seats = std::mem::take(&mut *seats.lock().unwrap());
    expected.sort_unstable();
    seats.sort_unstable();
    assert_eq!(seats, expected);
}

#[cfg(target_os = "linux")]
#[test]
fn a_thread_that_a_pinned_worker_starts_is_not_pinned() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).pin(true).build().unwrap();
    let task = runtime.spawn(async { evenkeel::spawn_blocking(affinity).await.unwrap() });
    assert_eq!(runtime.block_on(task).unwrap(), affinity());
}

#[cfg(target_os = "linux")]
#[test]
fn workers_are_not_pinned_unless_told() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    assert_eq!(runtime.block_on(runtime.spawn(async { affinity() })).unwrap(), affinity());
}

#[test]
fn a_made_up_machine_serves_without_pins() {
    let _watchdog = watchdog();
    let machine: Topology = "2 packages, 4 cores, l3 8M, 2 threads".parse().unwrap();
    let runtime = Builder::new().topology(machine).build().unwrap();
    assert_eq!(runtime.metrics().processors.len(), 16);
    works(&runtime);
}

#[test]
fn pins_to_cores_that_do_not_exist_are_refused() {
    let _watchdog = watchdog();
    for cpu in [1_000, 5_000] {
        let machine = Topology::flat(6_000).restricted_to([cpu]);
        let error = Builder::new().topology(machine).pin(true).build().unwrap_err();
        assert!(
            matches!(error, BuildError::Pin { worker: 0, cpu: told, .. } if told == cpu),
            "{error:?}"
        );
        let message = error.to_string();
        let begin = format!("cannot pin worker 0 to core {cpu} (");
        assert!(message.starts_with(&begin), "{message}");
        let end = "): build without `pin`, or with a topology of cores that this process may use";
        assert!(message.ends_with(end), "{message}");
        assert!(error.source().is_some());
    }
}

#[test]
fn one_worker_that_cannot_be_pinned_ends_the_others() {
    let _watchdog = watchdog();
    let machine = Topology::detect().unwrap();
    let real = machine.cpus()[machine.cpus_in_use()[0]].id;
    let stopped = Arc::new(AtomicUsize::new(0));
    let hook = {
        let stopped = stopped.clone();
        move |_| {
            stopped.fetch_add(1, Ordering::AcqRel);
        }
    };
    let machine = Topology::flat(6_000).restricted_to([real, 5_000]);
    let error =
        Builder::new().topology(machine).pin(true).on_worker_stop(hook).build().unwrap_err();
    assert!(matches!(error, BuildError::Pin { cpu: 5_000, .. }), "{error:?}");
    assert_eq!(stopped.load(Ordering::Acquire), 1, "the worker that could start has left");
}

/// The start hook of a worker that did start has spawned a task. The task's waker outlives the
/// failed build.
#[test]
fn a_failed_build_ends_the_tasks_that_hooks_have_spawned() {
    let _watchdog = watchdog();
    let machine = Topology::detect().unwrap();
    let real = machine.cpus()[machine.cpus_in_use()[0]].id;
    let waker = Arc::new(Mutex::new(None));
    let hook = {
        let waker = waker.clone();
        move |_| {
            let waker = waker.clone();
            drop(evenkeel::spawn(poll_fn(move |context| {
                *waker.lock().unwrap() = Some(context.waker().clone());
                Poll::<()>::Pending
            })));
        }
    };
    let machine = Topology::flat(6_000).restricted_to([real, 5_000]);
    let builder = Builder::new().topology(machine).pin(true).on_worker_start(hook);
    assert!(matches!(builder.build(), Err(BuildError::Pin { cpu: 5_000, .. })));
    let kept = waker.lock().unwrap().take();
    if let Some(waker) = kept {
        waker.wake();
    }
}
