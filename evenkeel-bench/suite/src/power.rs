//! By which power of their number the cost of all grows.

/// Returns the power `b` for which `a * n^b` is nearest to the whole cost of `n` things, by least
/// squares of logarithms, where `points` are numbers and the cost of *each* thing. A cost that does
/// not depend on the number gives 1. A run that did not complete, whose cost is infinite, is left
/// out. `None` for less than two different numbers.
pub fn fitted(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|(number, each)| *number > 0.0 && *each > 0.0 && each.is_finite())
        .map(|(number, each)| (number.ln(), each.ln()))
        .collect();
    let count = logs.len() as f64;
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), log| (x + log.0 / count, y + log.1 / count));
    let across: f64 = logs.iter().map(|log| (log.0 - x) * (log.1 - y)).sum();
    let square: f64 = logs.iter().map(|log| (log.0 - x).powi(2)).sum();
    (square > 1e-9).then(|| 1.0 + across / square)
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn powers_come_out_again() {
        let costs = |power: i32| [10.0, 1_000.0, 1e6].map(|n: f64| (n, 3.0 * n.powi(power)));
        assert!((fitted(&costs(0)).unwrap() - 1.0).abs() < 1e-9);
        assert!((fitted(&costs(1)).unwrap() - 2.0).abs() < 1e-9);
        let logarithmic = [(1_000.0, 30.0), (1_000_000.0, 60.0)];
        assert!((fitted(&logarithmic).unwrap() - 1.1).abs() < 0.01);
    }

    #[test]
    fn one_number_has_no_power() {
        assert_eq!(fitted(&[]), None);
        assert_eq!(fitted(&[(10.0, 1.0), (10.0, 2.0)]), None);
        assert_eq!(fitted(&[(10.0, 1.0), (1_000.0, f64::INFINITY)]), None);
    }
}
