//! The printed table of Figure 4.

use super::record::Record;
use crate::table::align;
use suite::words;

/// Lays out the records: a line for each size, with and without homes side by side.
pub(crate) fn render(records: &[Record]) -> String {
    let heading = [
        "popularity",
        "KiB",
        "directories",
        "threads",
        "objects",
        "ratio",
        "moves",
        "busy threads",
        "busy objects",
        "verdict",
    ];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for pair in records.chunks(2) {
        let [threads, objects] = pair else { continue };
        let figure = |record: &Record| record.summary().map_or(String::new(), words::spread);
        lines.push(vec![
            threads.variant.clone(),
            words::thousands(threads.kib as i64),
            threads.directories.to_string(),
            figure(threads),
            figure(objects),
            format!("{:.2}", objects.thousands_median / threads.thousands_median),
            format!("{:.0}", objects.moves),
            format!("{:.2}", threads.busy),
            format!("{:.2}", objects.busy),
            objects.verdict.clone(),
        ]);
    }
    let mut text = "SIMULATED: Figure 4 of CoreTime on 4 chips of 4 cores, the runtime's policy on assumed caches; no core has run this\n".to_owned();
    text.push_str(&align(&lines));
    text.push_str(
        "thousand resolutions per second, medians of the seeds [minimum-maximum]: threads with spin locks, and objects with homes to which tasks travel; \
         moves: homes changed by rebalancing; busy: of all cores, spinning counts; verdict: of the trials, at the end\n",
    );
    text
}
