//! Whether all objects of a class belong on one core: what one core alone would make of their operations, at most.
//!
//! With homes spread over *k* cores all but one in *k* operations are preceded by a journey, so that the cores make together *k* / (*op* + (1 - 1/*k*) *hop*) operations. That is more than 1 / *op*, what one core makes
//! with all of them, only where an operation takes longer than *hop* / *k*; and more cores than one, but not all, are never the best. So operations that are shorter than that, such as those on counters, belong on one
//! core, and all the others are free for other work. That one core serves those who would wait for each other is delegation (Roghanchi, Eriksson and Basu, "ffwd: delegation is (much) faster
//! than you think", SOSP 2017).
//!
//! Samples tell what an operation takes *inside*, with the clock's reading, and cold as it comes after a task that has just arrived; what is around it, which goes with the task, they don't. So what they say is no more than a reason to [try](super::trial).

use super::hop::OUTLIER;

/// What sampling adds to an operation, in nanoseconds. Measured: one counter at its home takes 13, of which samples say 33 at least (`evenkeel-bench run --bench counters --objects 1 --runtime home`).
pub const SAMPLING: u64 = 20;

/// One core is worth a trial where operations seem to be no longer than so many times what pays. Measured: on two near cores 64 counters and 64 maps on one core make 1.3 to 1.6 times what they make in the better of the other modes, and samples say
/// twice of what an operation takes; directories, of which each operation takes as long as ten hops, are left out (`evenkeel-bench run --bench counters,map,directory`).
pub const SLACK: u64 = 3;

/// An operation that seems to be an outlier counts as no longer than this, in nanoseconds, and as no shorter: clocks may not tell a short one from none.
const MOST: u64 = 1_000_000;
const LEAST: u64 = 4 * SAMPLING;

/// Operations that have to be known. An estimate; no benchmark sets it.
pub const ENOUGH: u64 = 64;

/// Those before the last so many count half.
const PERIOD: u64 = 1_024;

/// How long operations take at home.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::Gather;
/// let mut gather = Gather::default();
/// assert!(!gather.may_pay(60, 2), "nothing is known");
/// (0..100).for_each(|_| gather.add(40));
/// assert!(gather.may_pay(60, 2), "20 ns are less than half a hop");
/// assert!(!gather.may_pay(60, 16), "16 cores make more");
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

    /// Whether one of so many cores may make more of them alone than all with homes of their own, if a hop takes so many nanoseconds.
    #[must_use]
    pub fn may_pay(&self, hop: u64, cores: u32) -> bool {
        let Some(mean) = self.mean().filter(|_| self.operations >= ENOUGH) else { return false };
        let operation = mean.saturating_sub(SAMPLING);
        cores > 1 && operation * u64::from(cores) < SLACK.saturating_mul(hop)
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
    fn short_operations_pay_and_long_ones_do_not() {
        assert!(of(&[80; 99]).may_pay(60, 2));
        assert!(!of(&[500; 99]).may_pay(60, 2));
        assert!(of(&[500; 99]).may_pay(400, 2), "cores are far from each other");
        assert!(!of(&[1; 99]).may_pay(60, 1));
    }

    #[test]
    fn one_that_was_held_up_changes_little_and_what_goes_on_is_believed() {
        let mut gather = of(&[40; 99]);
        gather.add(1_000_000);
        assert!(gather.may_pay(60, 2));
        (0..1_000).for_each(|_| gather.add(1_000));
        assert!(!gather.may_pay(60, 2));
        assert!(!of(&[u64::MAX; 99]).may_pay(60, u32::MAX));
        assert!(of(&[0; 99]).may_pay(u64::MAX, u32::MAX));
        let mut gather = of(&[0; 2_000]);
        (0..10_000).for_each(|_| gather.add(50_000));
        assert!(!gather.may_pay(60, 2), "clocks that stood still are forgotten");
    }

    #[test]
    fn what_few_operations_say_says_nothing_and_all_cores_speak() {
        let (mut gather, other) = (of(&[30; 40]), of(&[600; 40]));
        assert!(!gather.may_pay(60, 2), "they are few");
        gather.merge(&gather.clone());
        assert!(gather.may_pay(60, 2));
        gather.merge(&other);
        assert!(!gather.may_pay(60, 2), "that is not what all of them take");
    }
}
