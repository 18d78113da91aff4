//! Which objects change their home, because one core has more to do than another.
//!
//! A core that is busy and well above the idlest gives that one its hottest objects, worth half of the gap, so that both end in the middle. The home itself
//! changes an object's home, between two operations, and tasks that come too late are sent on; so the rule is one that each core can follow by
//! itself, with nothing but its own objects and what the others say of their time.
//!
//! Measured on two near cores, where the popularity of directories changes every 40 ms: without it the sixteenth that is popular lies on one core, and
//! throughput is 17 to 30 % below that of a placement which deals neighbours out; with it, within 4 % of that, or above.

use super::WHOLE;

/// How often busy shares are compared, in nanoseconds. Measured: throughput follows a change of popularity within a few periods.
pub const PERIOD: u64 = 500_000;

/// A core that is not busy for more than this share of its time keeps what it has, in per mille.
pub const BUSY: u32 = 800;

/// Nor does one whose share is no more than this above the idlest, in per mille.
pub const GAP: u32 = 150;

/// An object in which less than one in so many parts of the mean of its core's objects is spent is cold, and stays: such objects have less than a quarter of the core's time together, and are fetched anew wherever they go.
/// Measured: on the 16 simulated cores of CoreTime's experiment, an eighth of the moves and up to a quarter more operations than where the gap is filled with whatever fits (`evenkeel-bench simulate --coretime`).
pub const COLD: u128 = 4;

/// One core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load<'a> {
    /// The share of its time in which it has run something, in per mille.
    pub busy: u32,
    /// Its objects that may move, by any number, with the time spent in each; in any order.
    pub objects: &'a [(u64, u64)],
    /// The time spent in all that it has run, in the unit of the objects' heat; at least the sum of those.
    pub heat: u64,
}

/// An object changes its home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Its number.
    pub object: u64,
    /// The core that gives it away.
    pub from: usize,
    /// The core that gets it.
    pub to: usize,
}

/// What a core gives to the `idlest` of the others, by itself: calls `give` with the number of each object, the hottest first. Sorts `objects`.
///
/// An object that is hotter than half of the gap is given only if none was given before it, and if it is no hotter than three quarters of the gap: otherwise it would take
/// the gap with it, to and fro. [Cold](COLD) ones stay. Costs a sort, and no memory.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::rebalance::give_away;
/// let mut objects = [(1, 10), (2, 30), (3, 20), (4, 40)];
/// let mut given = Vec::new();
/// // Half of the gap is worth 30 of the 100.
/// give_away(1_000, 400, 100, &mut objects, |object| given.push(object));
/// assert_eq!(given, [2]);
/// ```
pub fn give_away(
    busy: u32,
    idlest: u32,
    heat: u64,
    objects: &mut [(u64, u64)],
    mut give: impl FnMut(u64),
) {
    let Some(gap) = worth(busy, idlest, heat) else { return };
    let (mut half, most) = (gap / 2, most(gap));
    let sum: u128 = objects.iter().map(|&(_, heat)| u128::from(heat)).sum();
    let cold = u64::try_from(sum / COLD / objects.len().max(1) as u128).unwrap_or(u64::MAX);
    objects.sort_unstable_by_key(|&(object, heat)| (std::cmp::Reverse(heat), object));
    let mut has_given = false;
    for &(object, heat) in objects.iter() {
        if heat > cold && heat <= half {
            half -= heat;
            has_given = true;
            give(object);
        }
    }
    if !has_given {
        // All are hotter than the half, or cold.
        let coolest = objects.iter().rev().find(|&&(_, heat)| heat > cold && heat <= most);
        if let Some(&(object, _)) = coolest {
            give(object);
        }
    }
}

/// What the gap between two shares is worth, in the unit of `heat`, which `busy` is the whole of; none if there is nothing to give for it.
#[must_use]
pub fn worth(busy: u32, idlest: u32, heat: u64) -> Option<u64> {
    let gap = busy.saturating_sub(idlest);
    let worth = u128::from(heat) * u128::from(gap) / u128::from(busy.clamp(1, WHOLE));
    (busy > BUSY && gap > GAP).then(|| u64::try_from(worth).unwrap_or(u64::MAX))
}

/// The hottest that an object, or several that go together, may be to be given for a gap that is worth so much.
#[must_use]
pub fn most(gap: u64) -> u64 {
    gap / 4 * 3
}

/// What [`give_away`] says, for all cores at once: the busiest gives to the idlest, the next to whoever is the idlest then.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::{Load, Move, rebalance};
/// let hot = [(7, 40), (8, 25), (9, 35)];
/// let cores = [
///     Load { busy: 1_000, objects: &hot, heat: 100 },
///     Load { busy: 500, objects: &[], heat: 50 },
/// ];
/// assert_eq!(rebalance(&cores), [Move { object: 8, from: 0, to: 1 }]);
/// ```
#[must_use]
pub fn rebalance(cores: &[Load<'_>]) -> Vec<Move> {
    let mut busy: Vec<u64> = cores.iter().map(|core| u64::from(core.busy)).collect();
    let mut order: Vec<usize> = (0..cores.len()).collect();
    order.sort_by_key(|&core| std::cmp::Reverse(cores[core].busy));
    let mut moves = Vec::new();
    let mut objects = Vec::new();
    for from in order {
        let Some(to) = (0..cores.len()).min_by_key(|&core| busy[core]) else { break };
        let Load { busy: share, heat, objects: own } = cores[from];
        objects.clear();
        objects.extend_from_slice(own);
        let idlest = u32::try_from(busy[to]).unwrap_or(u32::MAX);
        give_away(share, idlest, heat, &mut objects, |object| {
            let given = own.iter().find(|(number, _)| *number == object).map_or(0, |own| own.1);
            busy[to] += given * u64::from(share) / heat.max(1);
            moves.push(Move { object, from, to });
        });
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(busy: u32, idlest: u32, heats: &[u64]) -> Vec<u64> {
        let mut objects: Vec<(u64, u64)> = (0..).zip(heats.iter().copied()).collect();
        let mut given = Vec::new();
        give_away(busy, idlest, heats.iter().sum(), &mut objects, |object| given.push(object));
        given
    }

    #[test]
    fn cores_that_are_not_busy_or_hardly_above_the_idlest_keep_what_they_have() {
        assert!(given(800, 0, &[1; 10]).is_empty());
        assert!(given(1_000, 850, &[1; 10]).is_empty());
        assert_eq!(given(1_000, 849, &[1; 100]).len(), 7, "half of 151 per mille");
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

    #[test]
    fn several_busy_cores_give_to_several_idle_ones() {
        let hot: Vec<(u64, u64)> = (0..10).map(|n| (n, 10)).collect();
        let other: Vec<(u64, u64)> = (10..20).map(|n| (n, 10)).collect();
        let idle = Load { busy: 0, ..Load::default() };
        let cores = [
            Load { busy: 1_000, objects: &hot, heat: 100 },
            Load { busy: 1_000, objects: &other, heat: 100 },
            idle,
            idle,
        ];
        let moves = rebalance(&cores);
        let to = |core| moves.iter().filter(|step| step.to == core).count();
        assert_eq!((to(2), to(3)), (5, 5));
        assert_eq!(rebalance(&[]), []);
    }
}
