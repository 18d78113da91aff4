//! Whether all objects of a class belong on one core: what one core alone would make of their operations, at most.
//!
//! With homes spread over *k* cores all but one in *k* operations are preceded by a journey, so that the cores make together *k* / (*op* + (1 - 1/*k*) *hop*) operations. That is more than 1 / *op*, what one core makes
//! with all of them, only where an operation takes longer than *hop* / *k*; and more cores than one, but not all, are never the best. So operations that are shorter than that, such as those on counters, belong on one
//! core, and all the others are free for other work. That one core serves those who would wait for each other is delegation (Roghanchi, Eriksson and Basu, "ffwd: delegation is (much) faster
//! than you think", SOSP 2017).
//!
//! What is around an operation goes with the task, and nobody knows what it takes but who tries; so a [trial](super::trial) does, where what is *inside* does not speak against it: a core never makes more than one operation
//! in the time of one.

/// What reading the clock adds to an operation that is sampled, in nanoseconds, at least. Measured: `evenkeel-bench run --bench counters --objects 1 --runtime home` makes an operation in 13, of which samples say 25 and more.
pub const CLOCK: u64 = 12;

/// A new time has one part in so many of the average. An estimate; no benchmark sets it.
const WEIGHT: u64 = 16;

/// A time counts as at most so many times the average: the worker was preempted.
const OUTLIER: u64 = 4;

/// Steps of a nanosecond in which it is kept.
const STEPS: u64 = 256;

/// How long operations take at home, of those that one core has made.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::Gather;
/// let mut gather = Gather::default();
/// assert_eq!(gather.ceiling(), 0, "nothing is known");
/// (0..100).for_each(|_| gather.add(32));
/// assert_eq!(gather.ceiling(), 50_000_000);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gather {
    /// In [`STEPS`]; 0 before the first one.
    inside: u64,
}

impl Gather {
    /// Takes an operation into account that has taken so many nanoseconds from when it began to enter, at home.
    pub fn add(&mut self, nanos: u64) {
        let bound = if self.inside == 0 { u64::MAX / STEPS } else { OUTLIER * self.inside / STEPS };
        let value = nanos.clamp(1, bound.max(1)) * STEPS;
        self.inside = match self.inside {
            0 => value,
            mean => mean - mean / WEIGHT + value / WEIGHT,
        };
    }

    /// What one core makes of them alone, in operations per second, if there is nothing else to do; 0 if nothing is known.
    #[must_use]
    pub fn ceiling(&self) -> u64 {
        if self.inside == 0 {
            return 0;
        }
        1_000_000_000 / (self.inside / STEPS).saturating_sub(CLOCK).max(1)
    }
}
