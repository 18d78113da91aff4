//! What operations on one object cost, entered from the core that had it last and from another.
//!
//! One operation in [`ONE_IN`] is sampled. The difference of the two averages is what sharing costs, by construction free of how long the
//! operations themselves are. It does not tell a core's own cache from a last-level cache beside it (measured on a lookup in 32 KiB: 160 and 200 ns, which is less than the spread of lookups),
//! and does tell both from lines that another core has written, and from memory (840 and 1,020 ns): 94 of 100 single samples are on the right side of one
//! threshold, and all averages of [`ENOUGH`]. That is just the line beyond which a hop can pay.

use super::{Brief, per_mille};

/// One operation in so many is sampled: two readings of the time-stamp counter, 9 ns each, are about one nanosecond per operation then.
pub const ONE_IN: u8 = 16;

/// From so many samples of either kind on, an average is believed.
pub const ENOUGH: u8 = 8;

/// A new sample has one part in so many of an average.
const WEIGHT: u64 = 8;

/// A sample counts as at most so many times the average: an interrupt inside an operation says nothing about the object.
const OUTLIER: u64 = 4;

/// Which operations of a core are sampled. Starts with the first.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::Sampler;
/// let mut sampler = Sampler::default();
/// let sampled = (0..160).filter(|_| sampler.is_next()).count();
/// assert_eq!(sampled, 10);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampler {
    left: u8,
}

impl Sampler {
    /// Whether the operation that begins now is sampled.
    #[inline]
    pub fn is_next(&mut self) -> bool {
        let is_next = self.left == 0;
        self.left = if is_next { ONE_IN - 1 } else { self.left - 1 };
        is_next
    }
}

/// The samples of one object, in 16 bytes. Whoever is inside of the object has it to itself, so that its fields are plain.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::Sample;
/// let mut object = Sample::default();
/// for n in 0..32 {
///     // Two cores take turns by twos: the second of two finds the lines at home.
///     let core = n / 2 % 2;
///     let nanos = if n % 2 == 0 { 900 } else { 160 };
///     object.add(core, nanos, 0);
/// }
/// assert_eq!(object.sharing_cost(), Some(740));
/// assert!((450..=550).contains(&object.remote()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    same: Brief,
    cross: Brief,
    same_count: u8,
    cross_count: u8,
    /// The core that had it last, plus one; 0 before the first operation.
    last: u16,
    /// See [`Sample::heat`].
    heat: u32,
    /// See [`Sample::stamp`].
    stamp: u32,
}

const _: () = assert!(size_of::<Sample>() == 16);

impl Sample {
    /// Takes a sampled operation into account, which `core` has run in so many nanoseconds. `stamp` is the core's [byte clock](super::ByteClock)
    /// after it.
    pub fn add(&mut self, core: u16, nanos: u64, stamp: u32) {
        if self.last != 0 {
            let (mean, count) = if self.is_at(core) {
                (&mut self.same, &mut self.same_count)
            } else {
                (&mut self.cross, &mut self.cross_count)
            };
            let bound = if *count < ENOUGH { u64::MAX } else { OUTLIER * mean.nanos().max(1) };
            let weight = (u64::from(*count) + 1).min(WEIGHT);
            *mean = mean.toward(nanos.min(bound), weight);
            *count += 1;
            if *count == u8::MAX {
                // The shares stay as they are.
                self.same_count /= 2;
                self.cross_count /= 2;
            }
        }
        let nanos = u32::try_from(nanos).unwrap_or(u32::MAX);
        self.heat = self.heat.saturating_add(nanos.saturating_mul(u32::from(ONE_IN)));
        self.enter(core, stamp);
    }

    /// Notes that an operation that is not sampled has run on `core`.
    #[inline]
    pub fn enter(&mut self, core: u16, stamp: u32) {
        self.last = core.saturating_add(1);
        self.stamp = stamp;
    }

    /// Whether `core` was the last to run an operation on the object.
    #[must_use]
    #[inline]
    pub fn is_at(&self, core: u16) -> bool {
        self.last == core.saturating_add(1)
    }

    /// The core that was the last to run an operation on the object.
    #[must_use]
    pub fn last(&self) -> Option<u16> {
        self.last.checked_sub(1)
    }

    /// The last core's byte clock when it ran the operation.
    #[must_use]
    pub fn stamp(&self) -> u32 {
        self.stamp
    }

    /// What an operation costs more on a core that has not run the last one, in nanoseconds; 0 if not more, `None` before [`ENOUGH`] samples of both kinds.
    #[must_use]
    pub fn sharing_cost(&self) -> Option<u64> {
        let is_enough = self.same_count >= ENOUGH && self.cross_count >= ENOUGH;
        is_enough.then(|| self.cross.nanos().saturating_sub(self.same.nanos()))
    }

    /// The average time of operations on the last core, and on another.
    #[must_use]
    pub fn means(&self) -> (u64, u64) {
        (self.same.nanos(), self.cross.nanos())
    }

    /// How many samples the averages rest on; less than there were, once there were many.
    #[must_use]
    pub fn samples(&self) -> u32 {
        u32::from(self.same_count) + u32::from(self.cross_count)
    }

    /// The chance that an operation comes from another core than the one before, in per mille.
    #[must_use]
    pub fn remote(&self) -> u32 {
        per_mille(u64::from(self.cross_count), u64::from(self.samples()))
    }

    /// The estimated time of all operations lately, in nanoseconds: what has been sampled since the last [period](Sample::age), and half of what was there before.
    #[must_use]
    pub fn heat(&self) -> u64 {
        u64::from(self.heat)
    }

    /// Begins a period.
    pub fn age(&mut self) {
        self.heat /= 2;
    }

    /// Forgets the averages, and who had it last: after a change of home, or of what the operations are.
    pub fn forget(&mut self) {
        *self = Self { heat: self.heat, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(samples: impl IntoIterator<Item = (u16, u64)>) -> Sample {
        let mut object = Sample::default();
        samples.into_iter().for_each(|(core, nanos)| object.add(core, nanos, 0));
        object
    }

    #[test]
    fn nothing_is_said_before_there_are_enough_of_both_kinds() {
        let one_core = object([(0, 100); 200]);
        assert_eq!((one_core.sharing_cost(), one_core.remote()), (None, 0));
        let turns = (0..=16).flat_map(|n| [(n % 2, 500), (n % 2, 100)]);
        assert_eq!(object(turns.clone().take(15)).sharing_cost(), None);
        assert_eq!(object(turns).sharing_cost(), Some(400));
    }

    #[test]
    fn the_first_operation_is_of_neither_kind() {
        let first = object([(3, 100)]);
        assert_eq!((first.samples(), first.last(), first.is_at(3)), (0, Some(3), true));
    }

    #[test]
    fn an_interrupt_hardly_moves_an_average_and_a_slower_object_does() {
        let steady = object([(0, 200); 50]);
        let mut disturbed = steady;
        disturbed.add(0, 1_000_000, 0);
        assert!(disturbed.means().0 <= 275, "{:?}", disturbed.means());
        let mut slower = steady;
        (0..40).for_each(|_| slower.add(0, 2_000, 0));
        assert!(slower.means().0 >= 1_900, "{:?}", slower.means());
    }

    #[test]
    fn counts_and_heat_have_ends() {
        let mut object = object((0..10_000).map(|n| (n % 2, u64::MAX)));
        assert!(object.samples() <= 510 && object.remote() > 900);
        assert_eq!(object.heat(), u64::from(u32::MAX));
        object.age();
        assert_eq!(object.heat(), u64::from(u32::MAX / 2));
        object.forget();
        assert_eq!((object.samples(), object.last()), (0, None));
    }
}
