//! The printed table of simulations.

use super::record::Record;
use crate::table::align;

/// Lays out the records, one line each.
pub(crate) fn render(records: &[Record]) -> String {
    let heading = [
        "program",
        "locality",
        "workers",
        "ms",
        "speed-up",
        "execution",
        "inflation",
        "scheduling",
        "idle",
        "near steals",
        "far steals",
    ];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for record in records {
        let ms = |seconds: f64| format!("{:.2}", seconds * 1e3);
        lines.push(vec![
            record.bench.clone(),
            record.runtime.clone(),
            record.workers.to_string(),
            format!(
                "{} [{}-{}]",
                ms(record.seconds_median),
                ms(record.seconds_min),
                ms(record.seconds_max)
            ),
            format!("{:.2}", record.speedup),
            ms(record.execution_seconds),
            ms(record.inflation_seconds),
            ms(record.scheduling_seconds),
            ms(record.idle_seconds),
            format!("{:.0}", record.steals_near),
            format!("{:.0}", record.steals_far),
        ]);
    }
    let mut text = "SIMULATED: 4 packages of 8 cores, the runtime's policy on assumed caches; no core has run this\n".to_owned();
    text.push_str(&align(&lines));
    text.push_str(
        "ms of one run and of all workers together (execution, inflation over one worker, scheduling, idle): medians of the seeds; inflation below 0: the \
         caches of all cores together hold what one worker's do not; near and far steals: jobs taken within the package and from \
         another\n",
    );
    text
}
