//! Skewed choices: the n-th choice has a probability in proportion to 1 / n^exponent.
//!
//! The table is one of aliases (Walker, "An Efficient Method for Generating Discrete Random
//! Variables with General Distributions", TOMS 3(3), 1977; in Vose's form, 1991): a choice costs
//! one random number, one lookup and one comparison, however skewed it is.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use suite::kit::random::Random;

/// An exponent in hundredths: 0 is uniform, and 99 is usual for measurements of key-value stores
/// (Cooper et al., "Benchmarking Cloud Serving Systems with YCSB", SoCC 2010).
pub(crate) type Hundredths = u32;

/// One column of the table: the column's own choice below the threshold, its alias above it.
#[derive(Clone, Copy)]
struct Column {
    threshold: u32,
    alias: u32,
}

/// Choices among the columns of a table.
#[derive(Clone, Copy)]
pub(crate) struct Zipf(&'static [Column]);

/// The finished tables. Each case recurs in each mode and repetition, and a task that carries its
/// work has no room for a table.
type Tables = HashMap<(usize, Hundredths), &'static [Column]>;
static TABLES: LazyLock<Mutex<Tables>> = LazyLock::new(Mutex::default);

impl Zipf {
    pub(crate) fn new(among: usize, exponent: Hundredths) -> Self {
        let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || &*Box::leak(table(among, f64::from(exponent) / 100.0));
        Self(tables.entry((among, exponent)).or_insert_with(made))
    }

    /// Draws a number below the number of choices; smaller numbers are more frequent.
    #[inline(always)]
    pub(crate) fn draw(self, random: &mut Random) -> usize {
        let point = random.below(self.0.len() << 32);
        let (number, rest) = (point >> 32, point as u32);
        let column = self.0[number];
        if rest < column.threshold { number } else { column.alias as usize }
    }
}

fn table(among: usize, exponent: f64) -> Box<[Column]> {
    let weights: Vec<f64> = (1..=among).map(|n| (n as f64).powf(-exponent)).collect();
    let mean = weights.iter().sum::<f64>() / among as f64;
    let mut shares: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
    let mut columns: Box<[Column]> =
        (0..among as u32).map(|alias| Column { threshold: u32::MAX, alias }).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..among).partition(|&number| shares[number] < 1.0);
    // A large share fills what a small one leaves of its column.
    while let (Some(less), Some(&more)) = (small.pop(), large.last()) {
        let threshold = (shares[less] * f64::from(u32::MAX)) as u32;
        columns[less] = Column { threshold, alias: more as u32 };
        shares[more] -= 1.0 - shares[less];
        if shares[more] < 1.0 {
            large.pop();
            small.push(more);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how often each of four choices is drawn, in hundredths.
    fn shares(exponent: Hundredths) -> [usize; 4] {
        const DRAWS: usize = 100_000;
        let (zipf, mut random) = (Zipf::new(4, exponent), Random::new(1, 0));
        let mut drawn = [0; 4];
        (0..DRAWS).for_each(|_| drawn[zipf.draw(&mut random)] += 1);
        drawn.map(|times| (times * 100 + DRAWS / 2) / DRAWS)
    }

    #[test]
    fn the_nth_is_drawn_in_proportion_to_its_rank_to_the_power_of_the_exponent() {
        assert_eq!(shares(0), [25, 25, 25, 25]);
        // 1, 1/2, 1/3 and 1/4 are 12, 6, 4 and 3 of 25.
        assert_eq!(shares(100), [48, 24, 16, 12]);
        // 1, 1/4, 1/9 and 1/16 are 144, 36, 16 and 9 of 205.
        assert_eq!(shares(200), [70, 18, 8, 4]);
    }

    #[test]
    fn a_single_choice_is_always_drawn() {
        assert_eq!(Zipf::new(1, 99).draw(&mut Random::new(7, 3)), 0);
    }
}
