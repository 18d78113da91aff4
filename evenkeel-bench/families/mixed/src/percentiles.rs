//! The percentiles of a run that are meaningful.

use suite::case::Fields;
use suite::kit::latency::Latencies;

/// The number of latencies beyond a percentile that is kept. With fewer, a few of the longest
/// determine the percentile, and another run would move it.
const BEYOND: u64 = 10;

/// Adds the quantiles of some latencies to the fields: the percentiles with enough latencies beyond
/// them, and the longest.
pub(crate) fn with(fields: Fields, of: &str, latencies: &Latencies) -> Fields {
    let all = latencies.quantiles();
    let percentiles = [("p50", 500, all.p50), ("p99", 10, all.p99), ("p999", 1, all.p999)];
    let kept = percentiles.into_iter().filter(|&(_, beyond, _)| {
        // In thousandths of all latencies.
        latencies.count() * beyond >= BEYOND * 1_000
    });
    let fields =
        kept.fold(fields, |fields, (name, _, value)| fields.with(format!("{of}_{name}"), value));
    fields.with(format!("{of}_max"), all.max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the quantiles that are kept of `count` latencies.
    fn kept(count: u64) -> Vec<&'static str> {
        let mut latencies = Latencies::default();
        latencies.extend(1..=count);
        let fields = with(Fields::new(), "wake_us", &latencies);
        let names = ["wake_us_p50", "wake_us_p99", "wake_us_p999", "wake_us_max"];
        names.into_iter().filter(|name| fields.number(name).is_some()).collect()
    }

    #[test]
    fn a_percentile_is_kept_if_ten_latencies_lie_beyond_it() {
        assert_eq!(kept(19), ["wake_us_max"]);
        assert_eq!(kept(20), ["wake_us_p50", "wake_us_max"]);
        assert_eq!(kept(999), ["wake_us_p50", "wake_us_max"]);
        assert_eq!(kept(1_000), ["wake_us_p50", "wake_us_p99", "wake_us_max"]);
        assert_eq!(kept(9_999), ["wake_us_p50", "wake_us_p99", "wake_us_max"]);
        assert_eq!(kept(10_000), ["wake_us_p50", "wake_us_p99", "wake_us_p999", "wake_us_max"]);
    }
}
