//! Formats figures and names for readers.

use crate::summary::Summary;

/// Formats a figure with two or three significant digits, and at most four decimals, and commas
/// between thousands, such as `0.0051`, `9.04` or `25,444`. What is infinite is `∞`, and what is no
/// number `-`.
pub fn figure(value: f64) -> String {
    match value.abs() {
        v if v.is_nan() => "-".to_owned(),
        v if v.is_infinite() => if value > 0.0 { "∞" } else { "-∞" }.to_owned(),
        v if 0.0 < v && v < 0.009_95 => format!("{value:.4}"),
        v if 0.0 < v && v < 0.0995 => format!("{value:.3}"),
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        _ => thousands(value.round() as i64),
    }
}

/// Formats a summary: its median, and its extremes unless they are equal.
pub fn spread(Summary { median, min, max, .. }: Summary) -> String {
    if min == max {
        figure(median)
    } else {
        format!("{} [{}-{}]", figure(median), figure(min), figure(max))
    }
}

/// Formats a whole number with commas between thousands.
pub fn thousands(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(&value.unsigned_abs().to_string()))
}

/// Formats a value with `decimals` decimals and commas between thousands.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    // A value that rounds to zero has no sign.
    let zero = text.chars().all(|c| matches!(c, '0' | '.'));
    let sign = if value < 0.0 && !zero { "-" } else { "" };
    format!("{sign}{}{rest}", grouped(whole))
}

fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count and its noun: `1 run`, `3 runs`.
pub fn count(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", thousands(number as i64))
}

/// Joins names as in a sentence: `a, b and c`.
pub fn and(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    }
}

/// Returns the text with its first letter in upper case.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let mut capital: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    capital.push_str(letters.as_str());
    capital
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_digits() {
        let figures: Vec<String> = [9.041, 9.996, 37.24, 99.96, 25_444.4].map(figure).to_vec();
        assert_eq!(figures, ["9.04", "10.0", "37.2", "100", "25,444"]);
        assert_eq!([0.0, 0.00493, 0.0166, 0.31].map(figure), ["0.00", "0.0049", "0.017", "0.31"]);
        assert_eq!([f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(figure), ["∞", "-∞", "-"]);
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(-100), "-100");
        let fixed = [(-1_234.56, 1), (-0.001, 2), (999.96, 1)].map(|(of, with)| fixed(of, with));
        assert_eq!(fixed, ["-1,234.6", "0.00", "1,000.0"]);
        assert_eq!(count(1, "run") + &count(2, "run"), "1 run2 runs");
    }

    #[test]
    fn names_are_joined_as_in_a_sentence() {
        assert_eq!([and(&[]), and(&["a"]), and(&["a", "b"])], ["", "a", "a and b"]);
        assert_eq!(and(&["a", "b", "c"]), "a, b and c");
    }
}
