//! Choices of which few are frequent: the n-th is chosen in proportion to 1 / n^exponent.
//!
//! By a table of aliases (Walker, "An Efficient Method for Generating Discrete Random Variables
//! with General Distributions", TOMS 3(3), 1977; its table as Vose makes it, 1991): a choice costs
//! one random number, one lookup and one comparison, however skewed it is.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use suite::kit::random::Random;

/// An exponent in hundredths: 0 is uniform, 99 is what key-value stores are measured with (Cooper
/// et al., "Benchmarking Cloud Serving Systems with YCSB", SoCC 2010).
pub(crate) type Hundredths = u32;

/// One column of the table: its own choice below the threshold, its alias above it.
#[derive(Clone, Copy)]
struct Column {
    threshold: u32,
    alias: u32,
}

/// Choices among so many.
#[derive(Clone, Copy)]
pub(crate) struct Zipf(&'static [Column]);

/// The tables that were made: cases come again, in each mode and each repetition, and a task that
/// takes its work along has no room for a table.
type Tables = HashMap<(usize, Hundredths), &'static [Column]>;
static TABLES: LazyLock<Mutex<Tables>> = LazyLock::new(Mutex::default);

impl Zipf {
    pub(crate) fn new(among: usize, exponent: Hundredths) -> Self {
        let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || &*Box::leak(table(among, f64::from(exponent) / 100.0));
        Self(tables.entry((among, exponent)).or_insert_with(made))
    }

    /// A number below that of the choices; the smaller, the more frequent.
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
    // What a small one leaves of its column is taken from a large one.
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

    /// How often each of four is drawn, in hundredths of all.
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
