//! Records at intervals.

use crate::on_workers;
use crate::recorder::Kept;
use crate::watchdog::watchdog;
use evenkeel::time::{Duration, timeout};
use evenkeel::{Builder, Shutdown};
use evenkeel_metrics::Exporter;
use metrics::with_local_recorder;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::thread;

const OUTSIDE: &str = "evenkeel_spawned_outside_total{runtime=evenkeel}";

#[test]
fn it_records_at_once_and_then_at_each_interval() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = Builder::new().workers(workers).start_paused(true).build().unwrap();
        let kept = Kept::default();
        let exporter = Exporter::new(&runtime.handle()).every(Duration::from_millis(1_700));
        let test = async {
            let mut run = pin!(exporter.run());
            // A task is spawned at each second, from 0 on. Records are at 0, 1.7, 3.4, 5.1, 6.8.
            for (second, recorded) in (1..).zip([1, 2, 2, 4, 4, 6, 7]) {
                runtime.spawn(async {}).await.unwrap();
                assert!(timeout(Duration::from_secs(1), run.as_mut()).await.is_err());
                assert_eq!(kept.count(OUTSIDE), recorded, "after {second} s");
            }
            assert_eq!(kept.described("evenkeel_workers").1, "Workers of the runtime");
        };
        with_local_recorder(&kept, || runtime.block_on(test));
    }
}

#[test]
fn it_ends_with_a_last_record_when_its_runtime_shuts_down() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        // Its clock goes as fast as the exporter looks.
        let here = Builder::new().workers(1).start_paused(true).build().unwrap();
        let there = Builder::new().workers(workers).build().unwrap();
        let kept = Kept::default();
        let exporter = Exporter::new(&there.handle()).every(Duration::MAX);
        with_local_recorder(&kept, || {
            here.block_on(async {
                let mut run = pin!(exporter.run());
                assert!(timeout(Duration::from_secs(9), run.as_mut()).await.is_err());
                assert_eq!(kept.count(OUTSIDE), 0);
                there.spawn(async {}).await.unwrap();
                let ends = thread::spawn(move || there.shutdown(Shutdown::Drain).is_clean());
                run.await;
                assert_eq!(kept.count(OUTSIDE), 1);
                assert!(ends.join().unwrap());
            });
        });
    }
}

#[test]
fn a_task_of_the_runtime_itself_holds_up_no_shutdown() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        for mode in [Shutdown::Drain, Shutdown::Abort] {
            let runtime = Builder::new().workers(workers).build().unwrap();
            let exporter = Exporter::new(&runtime.handle()).every(Duration::from_secs(3_600));
            let exports = runtime.spawn(exporter.run());
            let report = runtime.shutdown(mode);
            assert!(report.stuck.is_empty());
            let ended = evenkeel::block_on(exports);
            if mode == Shutdown::Drain {
                ended.unwrap();
            }
        }
    }
}

#[test]
fn a_run_may_be_dropped_and_begun_anew() {
    on_workers(|runtime| {
        let kept = Kept::default();
        let exporter = Exporter::new(&runtime.handle());
        let limit = Duration::from_millis(1);
        with_local_recorder(&kept, || {
            runtime.block_on(async {
                for count in 1..=3 {
                    runtime.spawn(async {}).await.unwrap();
                    assert!(timeout(limit, exporter.clone().run()).await.is_err());
                    assert_eq!(kept.count(OUTSIDE), count);
                }
            });
        });
    });
}

#[test]
fn outside_of_any_runtime_it_panics() {
    on_workers(|runtime| {
        let run = AssertUnwindSafe(|| evenkeel::block_on(Exporter::new(&runtime.handle()).run()));
        assert!(catch_unwind(run).is_err());
    });
}
