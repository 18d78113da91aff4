//! The printed table of Figure 4.

use super::claims::claims;
use super::record::Record;
use crate::simulated::claim;
use suite::table::{Plain, unbroken, wrapped};
use suite::words;

/// The text above the table.
const SIMULATED: &str = "SIMULATED: Figure 4 of CoreTime on 4 chips of 4 cores, the runtime's policy on assumed caches; no core has run this";

/// The text below the table.
const NOTE: &str = "thousand resolutions per second, of several seeds medians [minimum-maximum], one by default: threads with spin locks, and objects with \
    homes to which tasks travel; moves: homes changed by rebalancing; busy: of all cores, spinning counts; verdict: of the trials, \
    at the end";

/// Lays out the records in `width` columns: a line for each size, with and without homes side by
/// side.
pub(crate) fn render(records: &[Record], width: Option<u16>) -> String {
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
    let mut lines = Vec::new();
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
    let of =
        Plain { heading: heading.map(str::to_owned).to_vec(), lines, figures: 1..heading.len() };
    let claims: String =
        claim::text(&claims(records)).lines().map(|line| wrapped(line, width)).collect();
    wrapped(SIMULATED, width) + &unbroken(&of, width) + &wrapped(NOTE, width) + &claims
}
