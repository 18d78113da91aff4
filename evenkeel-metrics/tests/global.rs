//! The recorder of a whole program, and tasks that record on the workers.

#[path = "metrics/recorder.rs"]
mod recorder;
#[path = "metrics/watchdog.rs"]
mod watchdog;

use evenkeel::{Builder, Shutdown};
use evenkeel_metrics::Exporter;
use recorder::Kept;
use std::time::Duration;

/// One test, so that the recorder is its own.
#[test]
fn tasks_record_to_the_recorder_of_the_program_until_the_runtime_ends() {
    let _watchdog = watchdog::watchdog();
    let kept = Kept::default();
    metrics::set_global_recorder(kept.clone()).unwrap_or_else(|_| panic!("it is the first one"));
    for workers in [1, 2, 8] {
        let name = format!("deck-{workers}");
        let runtime = Builder::new().workers(workers).build().unwrap();
        let exporter = Exporter::new(&runtime.handle()).name(&name).every(Duration::from_secs(60));
        let exports = runtime.spawn(exporter.clone().run());
        for _ in 0..10 {
            runtime.block_on(runtime.spawn(async {})).unwrap();
        }
        assert!(runtime.shutdown(Shutdown::Drain).is_clean());
        evenkeel::block_on(exports).unwrap();
        let sum = |figure: &str| -> u64 {
            let is_of =
                |place: &str| place.starts_with(figure) && place.ends_with(&format!("={name}}}"));
            kept.all().iter().filter(|(place, _)| is_of(place)).map(|(_, count)| count).sum()
        };
        assert_eq!(kept.count(&format!("evenkeel_spawned_outside_total{{runtime={name}}}")), 11);
        // The task that recorded was not complete when it did so.
        assert_eq!(sum("evenkeel_completed_total"), 10);
        exporter.record();
        assert_eq!(sum("evenkeel_completed_total"), 11);
        assert_eq!(kept.described("evenkeel_workers").1, "Workers of the runtime");
        assert_eq!(kept.gauge(&format!("evenkeel_workers{{runtime={name}}}")), workers as f64);
    }
}
