//! Whether all objects of a class belong on one core: what one core alone would make of their operations, at most.
//!
//! With homes spread over *k* cores all but one in *k* operations are preceded by a journey, so that the cores make together *k* / (*op* + (1 - 1/*k*) *hop*) operations. That is more than 1 / *op*, what one core makes
//! with all of them, only where an operation takes longer than *hop* / *k*; and more cores than one, but not all, are never the best. So operations that are shorter than that, such as those on counters, belong on one
//! core, and all the others are free for other work. That one core serves those who would wait for each other is delegation (Roghanchi, Eriksson and Basu, "ffwd: delegation is (much) faster
//! than you think", SOSP 2017).
//!
//! Both sides of that are measured: what all make at homes of their own, by the [trial](super::trial), and what an operation takes, by samples. Those tell what it takes *inside*, with the clock's reading, and cold as it comes after a task that has just arrived; what is around it, which goes
//! with the task, they don't. So what they say is no more than a reason to try.

use super::hop::OUTLIER;
use std::cmp::Reverse;

/// What sampling adds to an operation, in nanoseconds. Measured: one counter at its home takes 13, of which samples say 33 at least (`evenkeel-bench run --bench counters --objects 1 --runtime home`).
pub const SAMPLING: u64 = 20;

/// One core is worth a trial if it seems to make more than so many percent of what all make at homes. Measured: on two near cores it makes 1.3 to 2.5 times as much of 4 to 64 counters, maps and heaps, where samples say 0.9 to 1.2 times, and less of directories, where they say 0.7
/// (`evenkeel-bench run --bench counters,map,heap,directory`).
pub const OVERSTATED: u64 = 80;

/// Operations that seem to be longer than so many times what pays by the cost of a hop are on no occasion worth a trial. Measured: where what is in use oscillates, rates at homes are low for a while after each change, and one core seemed to make as much, of directories
/// whose operations take as long as ten hops (`evenkeel-bench run --bench directory --popularity oscillating`).
pub const SLACK: u64 = 3;

/// An operation that seems to be an outlier counts as no longer than this, in nanoseconds, and as no shorter: clocks may not tell a short one from none.
const MOST: u64 = 1_000_000;
const LEAST: u64 = 4 * SAMPLING;

/// Operations that have to be known. An estimate; no benchmark sets it.
pub const ENOUGH: u64 = 64;

/// Those before the last so many count half.
const PERIOD: u64 = 1_024;

/// Whether one core has room for objects of so many bytes in use, of all classes: to gather some, for half of what it can hold, and to leave them there, for seven eighths, so that what is in use may change a little. Estimates; no benchmark sets them.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::gather::has_room;
/// assert!(has_room(50, 100, false) && !has_room(51, 100, false));
/// assert!(has_room(87, 100, true) && !has_room(88, 100, true));
/// ```
#[must_use]
pub fn has_room(in_use: u64, budget: u64, are_gathered: bool) -> bool {
    in_use <= if are_gathered { budget - budget.div_ceil(8) } else { budget / 2 }
}

/// At which core to gather the objects of a class, as of each it is known how many other classes have all of theirs there, used or not, and how many bytes of the class: where the fewest classes are, and of those cores where most of its bytes are.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::gather::place;
/// assert_eq!(place([(1, 900), (0, 100), (0, 200)]), 2);
/// assert_eq!(place([(0, 0), (0, 0)]), 0);
/// ```
#[must_use]
pub fn place(cores: impl IntoIterator<Item = (usize, usize)>) -> usize {
    let cores = cores.into_iter().enumerate();
    let best = cores.min_by_key(|&(_, (classes, bytes))| (classes, Reverse(bytes)));
    best.map_or(0, |(core, _)| core)
}

/// How long operations take at home.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::Gather;
/// let mut gather = Gather::default();
/// assert_eq!(gather.ceiling(60, 2), 0, "nothing is known");
/// (0..100).for_each(|_| gather.add(40));
/// assert_eq!(gather.ceiling(60, 2), 50_000_000);
/// assert_eq!(gather.ceiling(60, 16), 0, "16 cores make more");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gather {
    /// Operations, and what they have taken together.
    pub operations: u64,
    /// In nanoseconds.
    pub inside: u64,
}

impl Gather {
    /// Takes an operation into account that has taken so many nanoseconds from when it began to enter, at home.
    pub fn add(&mut self, nanos: u64) {
        if self.operations >= PERIOD {
            (self.operations, self.inside) = (self.operations / 2, self.inside / 2);
        }
        let bound = self.mean().map_or(MOST, |mean| (OUTLIER * mean).clamp(LEAST, MOST));
        self.operations += 1;
        self.inside = self.inside.saturating_add(nanos.min(bound));
    }

    fn mean(&self) -> Option<u64> {
        self.inside.checked_div(self.operations)
    }

    /// Adds what another core knows.
    pub fn merge(&mut self, other: &Self) {
        self.operations = self.operations.saturating_add(other.operations);
        self.inside = self.inside.saturating_add(other.inside);
    }

    /// What one of so many cores makes of them alone, in operations per second, if there is nothing else to do; 0 as long as that is not known, or if they are far longer than pays where a hop takes so many nanoseconds.
    #[must_use]
    pub fn ceiling(&self, hop: u64, cores: u32) -> u64 {
        let Some(mean) = self.mean().filter(|_| self.operations >= ENOUGH) else { return 0 };
        let operation = mean.saturating_sub(SAMPLING).max(1);
        let is_short = operation * u64::from(cores) <= SLACK.saturating_mul(hop);
        if is_short { 1_000_000_000 / operation } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: &[u64]) -> Gather {
        let mut gather = Gather::default();
        times.iter().for_each(|&nanos| gather.add(nanos));
        gather
    }

    #[test]
    fn one_that_was_held_up_changes_little_and_what_goes_on_is_believed() {
        let mut gather = of(&[40; 99]);
        gather.add(1_000_000);
        assert!(gather.ceiling(u64::MAX, 2) > 40_000_000);
        (0..10_000).for_each(|_| gather.add(1_020));
        assert!(
            (990_000..1_020_000).contains(&gather.ceiling(u64::MAX, 2)),
            "{}",
            gather.ceiling(u64::MAX, 2)
        );
        assert!(of(&[u64::MAX; 99]).ceiling(u64::MAX, 2) > 0);
        let mut gather = of(&[0; 2_000]);
        assert_eq!(gather.ceiling(u64::MAX, 2), 1_000_000_000);
        (0..10_000).for_each(|_| gather.add(50_020));
        let ceiling = gather.ceiling(u64::MAX, 2);
        assert!((19_800..20_400).contains(&ceiling), "clocks stood still once: {ceiling}");
    }

    #[test]
    fn what_few_operations_say_says_nothing_and_all_cores_speak() {
        let (mut gather, other) = (of(&[30; 40]), of(&[90; 80]));
        assert_eq!(gather.ceiling(u64::MAX, 2), 0, "they are few");
        gather.merge(&gather.clone());
        assert_eq!(gather.ceiling(u64::MAX, 2), 100_000_000);
        gather.merge(&other);
        assert_eq!(gather.ceiling(u64::MAX, 2), 25_000_000);
    }
}
