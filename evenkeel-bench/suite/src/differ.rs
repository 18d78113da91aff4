//! Whether two samples differ: the rank-sum test (Wilcoxon, "Individual Comparisons by Ranking
//! Methods", Biometrics Bulletin 1(6), 1945), two-sided.
//!
//! The test assumes no distribution of the values, and works for three values as well as for a
//! hundred. Three values differ from three others if the ranges do not overlap; with more values,
//! some may be outliers. Rejected: ranges that do not overlap, for any number of values. Among
//! fifteen values, one outlier would hide any difference.

/// The significance level: two samples of the same thing differ by chance in at most one case of
/// ten. With three values in each sample, no smaller level can be reached.
const LEVEL: f64 = 0.1;

/// The number of pairs above which the normal distribution replaces the exact one.
const EXACT: usize = 2_500;

/// Returns whether the values differ by more than chance explains.
pub(crate) fn differ(a: &[f64], b: &[f64]) -> bool {
    // A tolerance: sums of thirds and twentieths need not be exact.
    chance(a, b) <= LEVEL + 1e-9
}

/// Returns the likelihood that samples of the same thing differ as much.
fn chance(a: &[f64], b: &[f64]) -> f64 {
    let pairs = a.len() * b.len();
    if pairs == 0 {
        return 1.0;
    }
    // Pairs in which the value of `a` is the higher one; a pair of equal values counts as half.
    let half = |a: f64, b: f64| if a > b { 2 } else { usize::from(a == b) };
    let halves: usize = a.iter().flat_map(|&a| b.iter().map(move |&b| half(a, b))).sum();
    // Halves are rounded up: equal values make the test stricter, not laxer.
    let fewer = halves.min(2 * pairs - halves).div_ceil(2);
    let one_side = if pairs <= EXACT {
        ways(a.len(), b.len()).iter().take(fewer + 1).sum()
    } else {
        let (n, m, pairs) = (a.len() as f64, b.len() as f64, pairs as f64);
        let deviation = (pairs * (n + m + 1.0) / 12.0).sqrt();
        below((fewer as f64 + 0.5 - pairs / 2.0) / deviation)
    };
    f64::min(2.0 * one_side, 1.0)
}

/// Returns the likelihood of each number of pairs, if the order of all values is random.
///
/// The highest of all values is one of the `n` with likelihood `n / (n + m)`, and is then above all
/// of the `m`. Without that value the question is the same for the smaller samples.
fn ways(n: usize, m: usize) -> Vec<f64> {
    let mut rows: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for i in 1..=n {
        let mut above = vec![1.0];
        for (j, row) in rows.iter_mut().enumerate().skip(1) {
            let of_n = i as f64 / (i + j) as f64;
            let mut likely = vec![0.0; i * j + 1];
            row.iter().enumerate().for_each(|(pairs, by)| likely[pairs + j] += by * of_n);
            above.iter().enumerate().for_each(|(pairs, by)| likely[pairs] += by * (1.0 - of_n));
            row.clone_from(&likely);
            above = likely;
        }
    }
    rows.pop().unwrap_or_default()
}

/// Returns the part of a normal distribution that lies below a number of `deviations` from its
/// middle, to 1e-7 (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.2.17).
fn below(deviations: f64) -> f64 {
    const FACTORS: [f64; 5] =
        [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let t = 1.0 / (1.0 + 0.231_641_9 * deviations.abs());
    let sum = FACTORS.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    let density = (-deviations * deviations / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if deviations < 0.0 { density * sum } else { 1.0 - density * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-4, "{a} is not {b}");
    }

    #[test]
    fn three_beside_three_differ_if_their_ranges_lie_apart() {
        near(chance(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 0.1);
        assert!(differ(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]));
        assert!(!differ(&[1.0, 2.0, 4.0], &[3.0, 5.0, 6.0]));
        assert!(!differ(&[1.0, 2.0, 3.0], &[3.0, 4.0, 5.0]));
        assert!(!differ(&[1.0, 2.0], &[3.0, 4.0]) && !differ(&[], &[1.0]));
    }

    #[test]
    fn of_many_values_one_may_be_astray() {
        let mut a: Vec<f64> = (0..15).map(f64::from).collect();
        let b: Vec<f64> = (0..15).map(|i| f64::from(i) + 20.0).collect();
        a[14] = 100.0;
        assert!(differ(&a, &b));
        assert!(!differ(&b, &b));
    }

    /// Values of published tables: for samples of 8 and 8, 14 has .0650 two-sided, and 13 has
    /// .0499.
    #[test]
    fn likelihoods_are_those_of_the_tables() {
        let sum = |n, m, most: usize| ways(n, m).iter().take(most + 1).sum::<f64>();
        near(2.0 * sum(8, 8, 13), 0.0499);
        near(2.0 * sum(8, 8, 14), 0.0650);
        near(ways(6, 9).iter().sum(), 1.0);
        near(sum(3, 4, 0), 1.0 / 35.0);
    }

    #[test]
    fn many_values_are_judged_by_the_normal_distribution() {
        near(below(-1.644_85), 0.05);
        near(below(1.959_96), 0.975);
        let a: Vec<f64> = (0..60).map(f64::from).collect();
        let b: Vec<f64> = a.iter().map(|value| value + 0.5).collect();
        let c: Vec<f64> = a.iter().map(|value| value + 20.0).collect();
        assert!(!differ(&a, &b) && differ(&a, &c));
    }
}
