//! Which of several ready tasks runs next in a run that a seed determines.
//!
//! Each is equally likely. SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
//! generators", 2014) chooses as a function of the seed and the step, so no choice depends on
//! another. Fairness is a matter of chance: a task among `n` that stay ready has not had its turn
//! within `k` steps with probability `(1 - 1/n)^k`.
//!
//! # Rejected
//! Priorities that change at a few points (PCT: Burckhardt and others, "A randomized scheduler with
//! probabilistic guarantees of finding bugs", 2010): a task that yields until another task has done
//! something may keep that task out for ever. Tested programs do yield so.

/// The distance between two steps of the sequence: the golden ratio.
pub(crate) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the random bits of a step of the run with this seed.
///
/// # Examples
/// ```
/// use evenkeel_policy::interleaving::bits;
/// assert_eq!(bits(1, 5), bits(1, 5));
/// assert_ne!(bits(1, 5), bits(1, 6));
/// assert_ne!(bits(1, 5), bits(2, 5));
/// ```
#[inline]
#[must_use]
pub fn bits(seed: u64, step: u64) -> u64 {
    // Neighbouring seeds begin far from each other. Otherwise the sequence of one seed would be
    // that of its neighbour, one step on.
    mix(mix(seed.wrapping_add(STEP)).wrapping_add(step.wrapping_mul(STEP)))
}

/// Spreads bits: the finalizer of SplitMix64.
pub(crate) fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// Returns which of `candidates` is next, by bits that are as good as random; zero if there are
/// none.
///
/// # Examples
/// ```
/// use evenkeel_policy::interleaving::{among, bits};
/// let mut had = [0; 3];
/// for step in 0..300 {
///     had[among(bits(7, step), 3)] += 1;
/// }
/// assert!(had.iter().all(|&turns| turns > 60));
/// assert_eq!(among(u64::MAX, 1), 0);
/// ```
#[inline]
#[must_use]
pub fn among(bits: u64, candidates: usize) -> usize {
    // The upper half of the product: as even as a remainder, and it uses the upper bits.
    ((u128::from(bits) * candidates as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::{among, bits};
    use std::collections::HashSet;

    #[test]
    fn every_candidate_is_chosen_and_none_that_is_not_there() {
        for candidates in 1..40 {
            let chosen: HashSet<_> =
                (0..2_000).map(|step| among(bits(3, step), candidates)).collect();
            assert_eq!(chosen.len(), candidates);
            assert!(chosen.iter().all(|&index| index < candidates));
        }
        assert_eq!(among(u64::MAX, 0), 0);
    }

    /// Three steps with three candidates have 27 orders, and a few hundred consecutive seeds find
    /// them all.
    #[test]
    fn seeds_in_a_row_give_all_orders() {
        let order = |seed| [0, 1, 2].map(|step| among(bits(seed, step), 3));
        let orders: HashSet<_> = (0..400).map(order).collect();
        assert_eq!(orders.len(), 27);
    }
}
