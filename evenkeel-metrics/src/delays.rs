//! The histogram of delays, as the buckets that Prometheus has: counters of all times up to a
//! bound.
//!
//! # Why the bounds are right
//! The runtime counts a time in the class of the lowest power of two, in nanoseconds, above it. So
//! a class's end is above all times in it, and the sum of the classes up to an end is the number of
//! times up to there. Bounds may be left out without making the others wrong. The end of the
//! runtime's last class bounds nothing, and is not among the buckets: `+Inf` has what is in it.

use crate::series::Series;
use evenkeel::metrics::Delays;
use metrics::{Label, Recorder, SharedString, Unit};
use std::sync::LazyLock;
use std::time::Duration;

const BUCKET: &str = "evenkeel_sockets_delays_seconds_bucket";
const COUNT: &str = "evenkeel_sockets_delays_seconds_count";

/// The first and the last bound but `+Inf`, in powers of two of nanoseconds. Shorter times than a
/// microsecond are of no interest to a reader, and cost a series each. Seventeen seconds are longer
/// than what a server's clients wait.
const BOUNDS: std::ops::RangeInclusive<u32> = 10..=34;

/// The bounds, with the values of their labels.
static LABELS: LazyLock<Vec<(Duration, SharedString)>> = LazyLock::new(|| {
    let bound = |power: u32| Duration::from_nanos(1 << power);
    // A `Duration` in seconds, in full: `0.000001024`.
    let text = |bound: Duration| format!("{}.{:09}", bound.as_secs(), bound.subsec_nanos());
    BOUNDS.map(bound).map(|bound| (bound, SharedString::from_shared(text(bound).into()))).collect()
});

pub(crate) fn describe(recorder: &dyn Recorder) {
    recorder.describe_counter(
        BUCKET.into(),
        Some(Unit::Count),
        "Operations on sockets that were polled at most `le` seconds after their socket was found ready".into(),
    );
    recorder.describe_counter(
        COUNT.into(),
        Some(Unit::Count),
        "Operations on sockets that had to wait until their socket was found ready".into(),
    );
}

pub(crate) fn record(series: &Series<'_>, delays: &Delays) {
    let mut classes = delays.iter().peekable();
    let mut below = 0;
    for (bound, label) in LABELS.iter() {
        while let Some((_, times)) = classes.next_if(|(end, _)| end <= bound) {
            below += times;
        }
        series.count(BUCKET, Some(Label::new("le", label.clone())), below);
    }
    let all = below + classes.map(|(_, times)| times).sum::<u64>();
    series.count(BUCKET, Some(Label::from_static_parts("le", "+Inf")), all);
    series.count(COUNT, None, all);
}
