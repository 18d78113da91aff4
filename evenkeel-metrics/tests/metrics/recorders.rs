//! Recorders that come late, that are several, or that are none.

use crate::on_workers;
use crate::recorder::Kept;
use crate::watchdog::watchdog;
use evenkeel::Builder;
use evenkeel_metrics::Exporter;
use metrics::{Key, Metadata, Recorder, SharedString, Unit, with_local_recorder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

const OUTSIDE: &str = "evenkeel_spawned_outside_total{runtime=evenkeel}";

#[test]
fn without_a_recorder_calls_have_no_effect_and_a_late_one_gets_all() {
    on_workers(|runtime| {
        let exporter = Exporter::new(&runtime.handle());
        runtime.block_on(runtime.spawn(async {})).unwrap();
        exporter.describe();
        exporter.record();
        let late = Kept::default();
        runtime.block_on(runtime.spawn(async {})).unwrap();
        with_local_recorder(&late, || exporter.record());
        assert_eq!(late.count(OUTSIDE), 2);
    });
}

#[test]
fn two_recorders_each_get_all() {
    on_workers(|runtime| {
        let exporter = Exporter::new(&runtime.handle());
        let recorders = [Kept::default(), Kept::default()];
        for count in 1..=3 {
            runtime.block_on(runtime.spawn(async {})).unwrap();
            for recorder in &recorders {
                with_local_recorder(recorder, || exporter.record());
                assert_eq!(recorder.count(OUTSIDE), count);
            }
        }
    });
}

#[test]
fn two_exporters_of_a_runtime_count_nothing_twice() {
    on_workers(|runtime| {
        let kept = Kept::default();
        runtime.block_on(runtime.spawn(async {})).unwrap();
        with_local_recorder(&kept, || {
            Exporter::new(&runtime.handle()).record();
            Exporter::new(&runtime.handle()).record();
        });
        assert_eq!(kept.count(OUTSIDE), 1);
    });
}

#[test]
fn runtimes_are_told_apart_by_their_names() {
    let _watchdog = watchdog();
    let kept = Kept::default();
    let runtimes = [1, 2].map(|workers| Builder::new().workers(workers).build().unwrap());
    with_local_recorder(&kept, || {
        for (runtime, name) in runtimes.iter().zip(["port", "starboard"]) {
            Exporter::new(&runtime.handle()).name(name).record();
        }
    });
    assert_eq!(kept.gauge("evenkeel_workers{runtime=port}"), 1.0);
    assert_eq!(kept.gauge("evenkeel_workers{runtime=starboard}"), 2.0);
}

#[test]
fn threads_that_record_at_once_set_nothing_back() {
    on_workers(|runtime| {
        let kept = Kept::default();
        let exporter = Exporter::new(&runtime.handle());
        let asleep = "evenkeel_times_seconds_total{occupation=asleep,processor=0,runtime=evenkeel}";
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut last = 0.0;
                    for _ in 0..100 {
                        with_local_recorder(&kept, || exporter.clone().record());
                        let now = kept.gauge(asleep);
                        assert!(last <= now, "{last} s, then {now} s");
                        last = now;
                    }
                });
            }
        });
    });
}

/// Panics when a gauge is registered.
struct Faulty;

impl Recorder for Faulty {
    fn describe_counter(&self, _: metrics::KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: metrics::KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: metrics::KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> metrics::Counter {
        metrics::Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> metrics::Gauge {
        panic!("faulty")
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> metrics::Histogram {
        metrics::Histogram::noop()
    }
}

#[test]
fn a_recorder_that_panics_leaves_the_exporter_whole() {
    on_workers(|runtime| {
        let exporter = Exporter::new(&runtime.handle());
        let record = AssertUnwindSafe(|| with_local_recorder(&Faulty, || exporter.record()));
        assert!(catch_unwind(record).is_err());
        let kept = Kept::default();
        with_local_recorder(&kept, || exporter.record());
        assert_eq!(kept.count(OUTSIDE), 0);
    });
}
