//! What a row says about the subject beside its best peer, in figures and in words.

use crate::figures::{MIXED, Summary};

/// Who is ahead; a page marks it by colour as well as by the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The subject is ahead of every peer.
    Ahead,
    /// A peer is ahead of the subject.
    Behind,
    /// Equal, or nothing to compare, or their ranges overlap: chance may have made the difference.
    Even,
}

/// The last column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) standing: Standing,
    /// Such as `2.1 x faster`.
    pub(crate) words: String,
    /// The peer that the words are about.
    pub(crate) peer: Option<String>,
}

/// Why two figures of a row say nothing of each other, if they do not. Chance cannot be told from one run, and the distance of the cores from nothing where it
/// changed within the runs.
pub(crate) fn unlike(regime: Option<&str>, subject: &Summary, peer: &Summary) -> Option<String> {
    match regime {
        Some(MIXED) => Some(format!("not compared: cores {MIXED}")),
        _ if subject.runs.min(peer.runs) < 2 => Some("not compared: one run".to_owned()),
        _ => None,
    }
}

/// What the question mark after a ratio means.
pub(crate) const DOUBT: &str = "?: the ranges overlap, so it may be chance";

/// Puts the ratio of two medians, of which the smaller is the better, into words: the first of the two if the subject's
/// is the smaller one. Ranges that overlap make a ratio with a question mark and nobody ahead.
pub(crate) fn ratio(
    subject: &Summary,
    peer: &Summary,
    (better, worse): (&str, &str),
) -> (Standing, String) {
    let (a, b) = (subject.median, peer.median);
    let (standing, factor, word) = match a <= b {
        true => (Standing::Ahead, b / a, better),
        false => (Standing::Behind, a / b, worse),
    };
    // Two decimals near 1, because a loss of 4 per cent must not be rounded to a draw.
    let factor = match factor {
        f if f < 1.005 => return (Standing::Even, "equal".to_owned()),
        f if f < 1.995 => format!("{f:.2}"),
        f if f < 19.95 => format!("{f:.1}"),
        f => crate::words::thousands(f.round() as i64),
    };
    match subject.overlaps(peer) {
        true => (Standing::Even, format!("{factor} x {word}?")),
        false => (standing, format!("{factor} x {word}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_read_like_wins() {
        let summary = |value: f64| Summary::of(vec![value]).unwrap();
        let of = |subject, peer| ratio(&summary(subject), &summary(peer), ("faster", "slower"));
        assert_eq!(of(18.0, 37.8), (Standing::Ahead, "2.1 x faster".to_owned()));
        assert_eq!(of(37.8, 18.0), (Standing::Behind, "2.1 x slower".to_owned()));
        assert_eq!(of(104.0, 100.0), (Standing::Behind, "1.04 x slower".to_owned()));
        assert_eq!(of(100.0, 100.2), (Standing::Even, "equal".to_owned()));
        assert_eq!(of(10.0, 266.0).1, "27 x faster");
        assert_eq!(of(28.0, 28_000.0).1, "1,000 x faster");
        let (few, many) = (summary(90.0), summary(450.0));
        assert_eq!(ratio(&few, &many, ("smaller", "larger")).1, "5.0 x smaller");
    }

    #[test]
    fn ranges_that_overlap_have_no_winner() {
        let of = |subject: [f64; 3], peer: [f64; 3]| {
            let [subject, peer] = [subject, peer].map(|v| Summary::of(v.to_vec()).unwrap());
            ratio(&subject, &peer, ("better", "worse"))
        };
        let doubtful = (Standing::Even, "1.25 x worse?".to_owned());
        assert_eq!(of([9.0, 10.0, 12.0], [7.0, 8.0, 9.5]), doubtful);
        assert_eq!(of([8.0, 8.0, 9.0], [9.0, 10.0, 12.0]).1, "1.25 x better?");
        assert_eq!(of([9.6, 10.0, 12.0], [7.0, 8.0, 9.5]).0, Standing::Behind);
    }
}
