//! The printed table of fork-join programs.

use super::runner::Measured;
use crate::table::align;

/// Lays out the records, one line each, and says what was not run.
pub(crate) fn render(measured: &Measured) -> String {
    let heading = ["program", "n", "runtime", "workers", "ms", "speed-up", "cores", "checksum"];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for record in &measured.records {
        lines.push(vec![
            record.bench.clone(),
            record.n.to_string(),
            record.runtime.clone(),
            record.workers.to_string(),
            format!(
                "{:.2} [{:.2}-{:.2}]",
                record.seconds_median * 1e3,
                record.seconds_min * 1e3,
                record.seconds_max * 1e3
            ),
            record.speedup.map_or("-".to_owned(), |speedup| format!("{speedup:.2}")),
            record.regime.clone(),
            record.checksum.clone(),
        ]);
    }
    let mut text = align(&lines);
    text.push_str("ms of the recursion: median [min-max]; speed-up: over the serial one of the same language\n");
    for not_run in &measured.not_run {
        text.push_str(&format!("{not_run}\n"));
    }
    text
}
