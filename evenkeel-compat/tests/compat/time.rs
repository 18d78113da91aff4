//! Tokio's timers.

use crate::on_workers;
use evenkeel_compat::{CompatExt, enter};
use std::future::pending;
use std::time::{Duration, Instant};
use tokio::time::{interval, sleep, timeout};

const TICK: Duration = Duration::from_millis(2);

#[test]
fn a_sleep_ends_not_before_its_time() {
    on_workers(|runtime| {
        let slept = runtime.spawn(
            async {
                let start = Instant::now();
                sleep(TICK).await;
                start.elapsed()
            }
            .compat(),
        );
        assert!(runtime.block_on(slept).unwrap() >= TICK);
    });
}

#[test]
fn timeouts_and_intervals_work() {
    on_workers(|runtime| {
        let task = async {
            assert!(timeout(TICK, pending::<()>()).await.is_err());
            assert_eq!(timeout(Duration::from_secs(600), async { 7 }).await, Ok(7));
            let mut ticks = interval(TICK);
            for _ in 0..3 {
                ticks.tick().await;
            }
        };
        runtime.block_on(runtime.spawn(task.compat())).unwrap();
    });
}

#[test]
fn a_sleep_that_was_made_under_the_guard_needs_no_wrapper_to_wait() {
    on_workers(|runtime| {
        let sleep = {
            let _context = enter();
            sleep(TICK)
        };
        runtime.block_on(runtime.spawn(sleep)).unwrap();
    });
}

#[test]
fn many_tasks_sleep_at_the_same_time() {
    on_workers(|runtime| {
        let tasks: Vec<_> = (0..2_000_u64)
            .map(|n| {
                let task = async move {
                    for round in 0..3 {
                        sleep(Duration::from_micros((n * 7 + round) % 3_000)).await;
                    }
                    n
                };
                runtime.spawn(task.compat())
            })
            .collect();
        let sum = runtime.block_on(async {
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, 2_000 * 1_999 / 2);
    });
}
