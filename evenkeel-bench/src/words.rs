//! Figures and names as people read them.

use crate::figures::{Experiment, Measure, Summary};

/// A figure with two or three significant digits and thousands set apart, such as `0.0051`, `9.04` or `25,444`.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        v if 0.0 < v && v < 0.009_95 => format!("{value:.4}"),
        v if 0.0 < v && v < 0.0995 => format!("{value:.3}"),
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        _ => thousands(value.round() as i64),
    }
}

/// A summary: its median, and its extremes unless they are the same.
pub(crate) fn spread(Summary { median, min, max, .. }: Summary) -> String {
    if min == max {
        figure(median)
    } else {
        format!("{} [{}-{}]", figure(median), figure(min), figure(max))
    }
}

/// The same, with the number of runs where there are fewer than `most`, which others of the row have.
pub(crate) fn spread_of(summary: Summary, most: usize) -> String {
    match summary.runs < most {
        true => format!("{} n={}", spread(summary), summary.runs),
        false => spread(summary),
    }
}

/// What `n=` after a figure means.
pub(crate) const FEWER: &str = "n: runs, where others of the row have more";

/// A whole number with its thousands set apart by commas.
pub(crate) fn thousands(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = if value < 0 { "-".to_owned() } else { String::new() };
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count and its noun: `1 run`, `3 runs`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", thousands(number as i64))
}

/// Names in a sentence: `a, b and c`.
pub(crate) fn and(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    }
}

/// The unit of an experiment's figures.
pub(crate) fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Operations => "ns per operation per processor",
        Measure::Transfer => "µs per transfer",
        Measure::Memory => "bytes per parked task",
    }
}

/// The experiment's name as a heading, such as `Locality, share (2 words, 2 touched)`.
pub(crate) fn title(experiment: &Experiment) -> String {
    let mut title = capital(&experiment.bench);
    if experiment.variant != "-" {
        title.push_str(&format!(", {}", experiment.variant));
    }
    if experiment.words > 0 {
        let (words, touch) = (experiment.words as i64, experiment.touch as i64);
        title.push_str(&format!(" ({} words, {} touched)", thousands(words), thousands(touch)));
    }
    title
}

/// The text with its first letter as at the beginning of a sentence.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let mut capital: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    capital.push_str(letters.as_str());
    capital
}

/// The load of an experiment in words, such as `100 rings per processor`.
pub(crate) fn load(bench: &str, tasks_per_proc: usize) -> String {
    let noun = if bench == "cycle" { "ring" } else { "task" };
    format!("{} per processor", count(tasks_per_proc, noun))
}

/// What the experiment does, for readers who do not know it.
pub(crate) fn description(bench: &str) -> &'static str {
    match bench {
        "cycle" => {
            "Rings of five tasks: each waits for its own token, then posts the next task's. One \
             operation is one wait and one post."
        }
        "yield" => {
            "Each task goes to the back of the queue again and again. One operation is one yield."
        }
        "churn" => {
            "Tasks meet on FIFO counting semaphores, half as many as there are tasks: each wakes a \
             waiter of a random spot and waits there itself. One operation is one V and one P."
        }
        "locality" => {
            "Churn in which each task also increments random cells of the array it holds. In share \
             the array travels with the permit to the task that is woken; in noshare each task \
             keeps its own."
        }
        "transfer" => {
            "A leader spins without yielding until every other task has run once and said so; then \
             leadership passes on. It completes only if others take over the tasks that wait for \
             the leader's processor, or if the leader is preempted."
        }
        "spawn" => {
            "Empty tasks are spawned and joined, a thousand at a time (batch) or one by one \
             (serial). One operation is one spawn and join."
        }
        "memory" => "Growth of resident memory per parked task, the task's future included.",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_digits() {
        let figures: Vec<String> = [9.041, 9.996, 37.24, 99.96, 25_444.4].map(figure).to_vec();
        assert_eq!(figures, ["9.04", "10.0", "37.2", "100", "25,444"]);
        assert_eq!([0.0, 0.00493, 0.0166, 0.31].map(figure), ["0.00", "0.0049", "0.017", "0.31"]);
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(-100), "-100");
        assert_eq!(count(1, "run") + &count(2, "run"), "1 run2 runs");
    }

    #[test]
    fn names_are_joined_as_in_a_sentence() {
        assert_eq!([and(&[]), and(&["a"]), and(&["a", "b"])], ["", "a", "a and b"]);
        assert_eq!(and(&["a", "b", "c"]), "a, b and c");
    }
}
