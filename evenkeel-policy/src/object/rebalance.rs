//! Which objects change their home, because one core has more to do than another.
//!
//! A busy core well above its [partner] gives the partner its hottest objects, worth half of the
//! gap, so that both end in the middle. The busiest core gives to the idlest, the next busiest to
//! the next idlest: all cores compute this from the same shares, and no two give to the same one.
//! The home itself moves an object, between two operations, and sends on tasks that arrive later.
//! So each core can follow the rule by itself, from its own objects and the busy shares that the
//! other cores publish.
//!
//! Measured on two near cores, where the popularity of directories changes every 40 ms: without it
//! the popular sixteenth lies on one core, and throughput is 17 to 30 % below that of a placement
//! which deals neighbours out. With it, throughput is within 4 % of that, or above.

use super::WHOLE;
use alloc::vec::Vec;

/// How often a core compares busy shares, in nanoseconds: throughput follows a change of popularity
/// within a few periods. An estimate; no benchmark sets it.
pub const PERIOD: u64 = 500_000;

/// A core that is busy for no more than this share of its time keeps its objects, in per mille. An
/// estimate; no benchmark sets it.
pub const BUSY: u32 = 800;

/// So does a core with a share no more than this above its partner's, in per mille. An estimate; no
/// benchmark sets it.
pub const GAP: u32 = 150;

/// An object is cold, and stays, if its time is at most the mean of its core's objects divided by
/// `COLD`. Together such objects have less than a quarter of the core's time, and they are fetched
/// anew wherever they go. Measured on the 16 simulated cores of CoreTime's experiment, beside
/// filling the gap with any objects that fit: an eighth of the moves, and up to a quarter more
/// operations (`evenkeel-bench simulate --coretime`).
pub const COLD: u128 = 4;

/// Returns the core to which core `me` gives, by the busy shares of all cores; none for the idler
/// half. Costs a sort.
///
/// # Examples
/// ```
/// use evenkeel_policy::object::rebalance::partner;
/// let shares = [900, 100, 1_000, 300];
/// assert_eq!((partner(&shares, 2), partner(&shares, 0)), (Some(1), Some(3)));
/// assert_eq!((partner(&shares, 1), partner(&shares, 3)), (None, None));
/// ```
#[must_use]
pub fn partner(shares: &[u32], me: usize) -> Option<usize> {
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by_key(|&core| (shares[core], core));
    let place = order.iter().position(|&core| core == me)?;
    let opposite = order.len() - 1 - place;
    (place > opposite).then(|| order[opposite])
}

/// Calls `give` with the number of each object that a core with the share `busy` gives to its
/// partner with the share `idle`, the hottest first. Sorts `objects`.
///
/// An object hotter than half of the gap is given only if no other is, and if it is no hotter than
/// three quarters of the gap: otherwise it would carry the gap to and fro. [Cold](COLD) objects
/// stay. Costs a sort, and no memory.
///
/// # Examples
/// ```
/// use evenkeel_policy::object::rebalance::give_away;
/// let mut objects = [(1, 10), (2, 30), (3, 20), (4, 40)];
/// let mut given = Vec::new();
/// // Half of the gap is worth 30 of the 100.
/// give_away(1_000, 400, 100, &mut objects, |object| given.push(object));
/// assert_eq!(given, [2]);
/// ```
pub fn give_away(
    busy: u32,
    idle: u32,
    heat: u64,
    objects: &mut [(u64, u64)],
    mut give: impl FnMut(u64),
) {
    let Some(gap) = worth(busy, idle, heat) else { return };
    let (mut half, most) = (gap / 2, gap / 4 * 3);
    let sum: u128 = objects.iter().map(|&(_, heat)| u128::from(heat)).sum();
    let cold = u64::try_from(sum / COLD / objects.len().max(1) as u128).unwrap_or(u64::MAX);
    objects.sort_unstable_by_key(|&(object, heat)| (core::cmp::Reverse(heat), object));
    let mut has_given = false;
    for &(object, heat) in objects.iter() {
        if heat > cold && heat <= half {
            half -= heat;
            has_given = true;
            give(object);
        }
    }
    if !has_given {
        // All objects are hotter than half of the gap, or cold.
        let coolest = objects.iter().rev().find(|&&(_, heat)| heat > cold && heat <= most);
        if let Some(&(object, _)) = coolest {
            give(object);
        }
    }
}

/// Returns what the gap between two shares is worth in the unit of `heat`, all of which makes the
/// share `busy`; none if the core gives nothing away.
fn worth(busy: u32, idle: u32, heat: u64) -> Option<u64> {
    let gap = busy.saturating_sub(idle);
    let worth = u128::from(heat) * u128::from(gap) / u128::from(busy.clamp(1, WHOLE));
    (busy > BUSY && gap > GAP).then(|| u64::try_from(worth).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(busy: u32, idle: u32, heats: &[u64]) -> Vec<u64> {
        let mut objects: Vec<(u64, u64)> = (0..).zip(heats.iter().copied()).collect();
        let mut given = Vec::new();
        give_away(busy, idle, heats.iter().sum(), &mut objects, |object| given.push(object));
        given
    }

    #[test]
    fn cores_that_are_not_busy_or_hardly_above_the_idlest_keep_what_they_have() {
        assert!(given(800, 0, &[1; 10]).is_empty());
        assert!(given(1_000, 850, &[1; 10]).is_empty());
        assert_eq!(given(1_000, 849, &[1; 100]).len(), 7, "half of 151 per mille");
    }

    #[test]
    fn no_two_cores_give_to_the_same_one() {
        let shares = [1_000, 5, 1_000, 0, 1_000, 7, 20];
        let partners: Vec<_> = (0..7).filter_map(|core| partner(&shares, core)).collect();
        assert_eq!(partners, [5, 1, 3], "the one in the middle has none");
        assert_eq!((partner(&[1_000], 0), partner(&[], 0)), (None, None));
    }

    #[test]
    fn both_end_in_the_middle() {
        assert_eq!(given(1_000, 0, &[1; 100]).len(), 50);
        assert_eq!(given(900, 500, &[1; 90]).len(), 20);
    }

    #[test]
    fn one_hot_object_stays_and_one_of_two_goes() {
        assert!(given(1_000, 0, &[100]).is_empty());
        assert_eq!(given(1_000, 0, &[60, 40]), [1]);
        assert_eq!(given(1_000, 0, &[70, 70]), [0], "either of two that are alike");
        assert!(given(1_000, 0, &[98, 2]).is_empty(), "the other would have as much to do");
        assert!(given(1_000, 0, &[0, 0]).is_empty());
    }

    #[test]
    fn cold_objects_do_not_fill_the_gap() {
        assert!(given(1_000, 400, &[90, 1, 1, 1, 1, 1, 1]).is_empty(), "one is all there is to do");
        let heats: Vec<u64> = [30, 30].into_iter().chain([1; 40]).collect();
        assert_eq!(
            given(1_000, 0, &heats).len(),
            21,
            "those that have much of the time together are warm"
        );
        let heats: Vec<u64> = [30, 30, 30].into_iter().chain([1; 10]).collect();
        assert_eq!(given(1_000, 0, &heats), [0]);
    }
}
