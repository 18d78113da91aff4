//! A runtime's counters add up, and their table keeps its shape.

use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::fork_join::{join, scope};
use evenkeel::metrics::Times;
use evenkeel::task::park;
use evenkeel::topology::Distance;
use evenkeel::{Builder, Shutdown, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn tasks_and_polls_add_up() {
    const OUTSIDE: u64 = 40;
    const CHILDREN: u64 = 25;
    const YIELDS: u64 = 10;

    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        let handle = runtime.handle();
        for _ in 0..OUTSIDE {
            drop(runtime.spawn(async {
                for _ in 0..CHILDREN {
                    drop(evenkeel::spawn(async {
                        for _ in 0..YIELDS {
                            yield_now().await;
                        }
                    }));
                }
            }));
        }
        assert!(runtime.shutdown(Shutdown::Drain).is_clean());

        let metrics = handle.metrics();
        assert_eq!(metrics.processors.len(), workers);
        assert_eq!(metrics.spawned_outside, OUTSIDE);
        assert_eq!(metrics.sum(|p| p.spawned), OUTSIDE * CHILDREN);
        assert_eq!(metrics.sum(|p| p.completed), OUTSIDE * (1 + CHILDREN));
        assert_eq!(metrics.sum(|p| p.polls), OUTSIDE + OUTSIDE * CHILDREN * (YIELDS + 1));
        // A worker that had taken tasks for a trial, and gives them back, does so from outside.
        let given_back = metrics.sum(|p| p.wakes_outside) - OUTSIDE;
        assert!(given_back <= metrics.sum(|p| p.migrations), "{given_back}");
        assert_eq!(metrics.sum(|p| p.wakes_local), 0);
        assert!(metrics.sum(|p| p.helps + p.steals) <= metrics.sum(|p| p.migrations));
        assert!(metrics.sum(|p| p.handovers_given) <= metrics.sum(|p| p.handovers_asked));
        if workers == 1 {
            assert_eq!(metrics.sum(|p| p.migrations + p.heavy_fences + p.handovers_asked), 0);
        }
        assert!(metrics.processors.iter().all(|p| p.ready == 0 && p.head_age.is_zero()));
    }
}

#[test]
fn what_has_not_ended_is_alive() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        let handle = runtime.handle();
        let alive = || handle.metrics().alive();
        assert_eq!(alive(), 0);
        let outside = runtime.spawn(std::future::pending::<()>());
        let spawns = async { evenkeel::spawn(std::future::pending::<()>()).abort_handle() };
        let inside = runtime.block_on(runtime.spawn(spawns)).unwrap();
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let closure = runtime.spawn_blocking(move || gate.recv().is_err());
        until(|| alive() == 3);
        drop(open);
        assert!(runtime.block_on(closure).unwrap());
        until(|| alive() == 2);
        outside.abort();
        until(|| alive() == 1);
        assert_eq!(runtime.install(alive), 2, "the call is one");
        runtime.shutdown(Shutdown::Abort);
        assert_eq!(alive(), 0);
        assert!(inside.is_finished());
    }
}

#[test]
fn tasks_that_end_beside_their_stuck_home_are_not_alive() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).reliefs(0).build().unwrap();
    let open = Arc::new(AtomicBool::new(false));
    let stuck = runtime.spawn({
        let open = open.clone();
        async move {
            for _ in 0..7 {
                drop(evenkeel::spawn(async {}));
            }
            until(|| open.load(Ordering::Acquire));
        }
    });
    until(|| runtime.metrics().completed_elsewhere == 7);
    assert_eq!(runtime.metrics().alive(), 1);
    open.store(true, Ordering::Release);
    runtime.block_on(stuck).unwrap();
}

#[test]
fn wakes_are_counted_by_where_they_come_from() {
    const ROUNDS: u64 = 100;

    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let handle = runtime.handle();
    let parked = runtime.spawn(async {
        for _ in 0..ROUNDS {
            park().await;
        }
    });
    let task = parked.task();
    let local = runtime.spawn(async move {
        for _ in 0..ROUNDS {
            task.unpark();
            yield_now().await;
        }
    });
    runtime.block_on(local).unwrap();
    runtime.block_on(parked).unwrap();
    runtime.shutdown(Shutdown::Drain);
    let metrics = handle.metrics();
    assert_eq!(metrics.sum(|p| p.wakes_local), ROUNDS);
    assert_eq!(metrics.sum(|p| p.wakes_outside), 2, "the two spawns");
}

#[test]
fn a_queue_behind_a_stuck_poll_shows_its_length_and_age() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).reliefs(0).build().unwrap();
    let open = Arc::new(AtomicBool::new(false));
    let spawned = Arc::new(AtomicBool::new(false));
    let stuck = runtime.spawn({
        let (open, spawned) = (open.clone(), spawned.clone());
        async move {
            for _ in 0..7 {
                drop(evenkeel::spawn(async {}));
            }
            spawned.store(true, Ordering::Release);
            until(|| open.load(Ordering::Acquire));
        }
    });
    until(|| spawned.load(Ordering::Acquire));
    assert_eq!(runtime.metrics().processors[0].ready, 7);
    let before = runtime.metrics().processors[0].head_age;
    until(|| runtime.metrics().processors[0].head_age > before);
    open.store(true, Ordering::Release);
    runtime.block_on(stuck).unwrap();
    let handle = runtime.handle();
    runtime.shutdown(Shutdown::Drain);
    assert!(handle.metrics().processors[0].longest_wait >= before);
    assert!(handle.metrics().processors[0].longest_batch >= before);
}

#[test]
fn an_idle_runtime_sleeps() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(3).build().unwrap();
    runtime.block_on(runtime.spawn(async {})).unwrap();
    until(|| {
        let metrics = runtime.metrics();
        metrics.sleeping == 3 && metrics.searching == 0
    });
    // A worker joins the sleepers just before its sleep is counted.
    until(|| runtime.metrics().sum(|p| p.sleeps) >= 3);
}

#[test]
fn closures_count_as_spawned_outside() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
    assert_eq!(runtime.metrics().spawned_outside, 1);
    assert_eq!(runtime.metrics().sum(|p| p.polls), 0, "no worker has run it");
}

#[test]
fn the_table_has_a_column_per_processor_and_a_row_per_count() {
    let _watchdog = watchdog();
    for workers in [1, 4] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        runtime.block_on(runtime.spawn(async {})).unwrap();
        let text = runtime.metrics().to_string();
        let mut lines = text.lines();
        let head = lines.next().unwrap();
        assert!(head.starts_with(&format!("{workers} processors, ")), "{head}");
        let tail = "; 1 spawned from outside; 0 blocking threads, 0 closures waiting";
        assert!(head.ends_with(tail), "{head}");
        let rows: Vec<_> = lines.collect();
        let width = rows[0].chars().count();
        assert!(rows.iter().all(|row| row.chars().count() == width), "{text}");
        let labels: Vec<_> = rows.iter().map(|row| row[..22].trim_end()).collect();
        for label in
            ["processor", "polls", "ready now", "age of the head", "longest wait", "sleeps"]
        {
            assert!(labels.contains(&label), "{label} is missing in\n{text}");
        }
        for row in &rows {
            let columns = row.chars().skip(22).collect::<String>();
            assert_eq!(columns.split_whitespace().count(), workers, "{row}");
        }
        assert!(!text.ends_with('\n'));
    }
}

/// The sum of a worker's times.
fn total(times: &Times) -> Duration {
    times.execution.total() + times.scheduling.total() + times.idle()
}

#[test]
fn the_times_of_a_worker_add_up_to_its_life() {
    let _watchdog = watchdog();
    let begun = Instant::now();
    let runtime = Builder::new().workers(3).build().unwrap();
    let built = Instant::now();
    for _ in 0..100 {
        runtime.install(|| {
            scope(|scope| (0..10).for_each(|_| scope.spawn(|_| std::thread::yield_now())));
        });
        let least = built.elapsed();
        let metrics = runtime.metrics();
        let most = begun.elapsed();
        for times in metrics.processors.iter().map(|processor| processor.times) {
            assert!((least..=most).contains(&total(&times)), "{times:?} in {least:?}..={most:?}");
        }
        assert_eq!(
            total(&metrics.times()),
            metrics.processors.iter().map(|p| total(&p.times)).sum()
        );
    }
}

#[test]
fn stolen_work_is_counted_by_how_far_it_came() {
    let _watchdog = watchdog();
    for (machine, distance) in [
        ("2 cores, l3 8M", Distance::SharedLlc),
        ("2 packages, 1 core", Distance::Remote),
        ("1 core, 2 threads", Distance::SmtSibling),
    ] {
        let topology = machine.parse().unwrap();
        let runtime = Builder::new().workers(2).topology(topology).build().unwrap();
        let before = runtime.metrics().times();
        let taken = AtomicBool::new(false);
        let first = || {
            while !taken.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
        };
        runtime.install(|| join(first, || taken.store(true, Ordering::Release)));
        let times = runtime.metrics().times().since(&before);
        // The second half; the task that installs may or may not move as well.
        assert!(times.steals[distance] > 0, "{machine}: {times:?}");
        assert_eq!(times.steals.total(), times.steals[distance]);
        assert!(!times.execution[distance].is_zero(), "{machine}: {times:?}");
        assert!(!times.scheduling[distance].is_zero(), "{machine}: {times:?}");
        assert_eq!(
            times.execution.total(),
            times.execution[distance] + times.execution[Distance::Same]
        );
        let seconds = times.execution.total().as_secs_f64();
        assert_eq!(times.work_inflation(Duration::ZERO), seconds);
        // A worker that finds work at once has not been idle until then.
        until(|| !runtime.metrics().times().since(&before).idle().is_zero());
    }
}
