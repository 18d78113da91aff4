//! Formats figures with as many digits as the interval makes certain.

use super::effects::Estimate;
use suite::words::fixed;

/// Digits of figures that have no interval.
const DIGITS: i32 = 4;

/// The powers of ten outside which figures are written with an exponent.
const PLAIN: std::ops::Range<i32> = -5..9;

/// Formats a figure with the digits that tables of sums and means need.
pub(crate) fn figure(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let power = value.abs().log10().floor() as i32;
    if !PLAIN.contains(&power) {
        return format!("{value:.3e}");
    }
    fixed(value, (DIGITS - 1 - power).max(0) as usize)
}

/// Formats an estimate and its ends, to two digits of the interval's half width.
pub(crate) fn interval(estimate: &Estimate) -> [String; 3] {
    let half = (estimate.high - estimate.low) / 2.0;
    let decimals = decimals(half);
    [estimate.value, estimate.low, estimate.high].map(|value| match decimals {
        Some(decimals) => fixed(value, decimals),
        None => format!("{value:.3e}"),
    })
}

/// Formats a value to two digits of the half width of its interval.
pub(crate) fn within(value: f64, half: f64) -> String {
    decimals(half).map_or_else(|| format!("{value:.3e}"), |decimals| fixed(value, decimals))
}

/// Returns the decimals that show two digits of a half width; `None` if they are too many to read.
fn decimals(half: f64) -> Option<usize> {
    let power = if half > 0.0 { half.log10().floor() as i32 } else { 0 };
    PLAIN.contains(&power).then_some((1 - power).max(0) as usize)
}

/// Formats a probability; a small one by its magnitude.
pub(crate) fn probability(p: f64) -> String {
    match p {
        p if p < 1e-300 => "<1e-300".to_owned(),
        p if p < 1e-4 => format!("{p:.1e}"),
        p => format!("{p:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_four_digits() {
        let text: Vec<String> =
            [0.0, 0.012_345, 1.0, -12.345_6, 1_234_567.8, 1e12, -3.21e-9].map(figure).to_vec();
        assert_eq!(text, ["0", "0.01235", "1.000", "-12.35", "1,234,568", "1.000e12", "-3.210e-9"]);
    }

    #[test]
    fn intervals_say_how_many_digits_are_known() {
        let text = |value, half| interval(&Estimate::around(value, half)).join(" ");
        assert_eq!(text(12.345_678, 0.012_3), "12.346 12.333 12.358");
        assert_eq!(text(-1_234.4, 120.0), "-1,234 -1,354 -1,114");
        assert_eq!(text(-0.000_01, 0.5), "0.00 -0.50 0.50");
        assert_eq!(within(1.0, 0.02), "1.000");
    }

    #[test]
    fn small_probabilities_show_their_magnitude() {
        assert_eq!([0.0, 2.1e-12, 0.021_86].map(probability), ["<1e-300", "2.1e-12", "0.0219"]);
    }
}
