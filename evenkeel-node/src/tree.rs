//! Binomial trees, along which a message reaches `n` nodes in `log2 n` steps.
//!
//! The tree over the numbers from 0 to `n` has the root 0. The parent of a number is that number
//! without its lowest set bit, and the members below a number are those that follow it. So a member
//! passes a list on in parts that are runs of it, each to its first member, and needs to know only
//! the list that it has received.

use std::ops::Range;

/// Returns the parts of a list of `members` that its first member passes on, each to the first
/// member of the part. The largest part comes first, since it takes the most steps.
///
/// # Examples
/// ```
/// use evenkeel_node::tree::parts;
/// assert_eq!(parts(6).collect::<Vec<_>>(), [4..6, 2..4, 1..2]);
/// assert_eq!(parts(1).count(), 0);
/// ```
pub fn parts(members: usize) -> impl Iterator<Item = Range<usize>> {
    let mut end = members;
    std::iter::from_fn(move || {
        // The greatest power of two below `end`.
        let start = 1 << end.checked_sub(1)?.checked_ilog2()?;
        let part = start..end;
        end = start;
        Some(part)
    })
}

/// Returns the parent of a number other than 0.
///
/// # Examples
/// ```
/// use evenkeel_node::tree::parent;
/// assert_eq!([1, 2, 3, 6].map(parent), [Some(0), Some(0), Some(2), Some(4)]);
/// assert_eq!(parent(0), None);
/// ```
#[must_use]
pub fn parent(number: u32) -> Option<u32> {
    (number != 0).then(|| number & (number - 1))
}

/// Returns the children of `number` in the tree of `nodes` numbers, the one with the most below it
/// first.
///
/// # Examples
/// ```
/// use evenkeel_node::tree::children;
/// assert_eq!(children(0, 6).collect::<Vec<_>>(), [4, 2, 1]);
/// assert_eq!(children(4, 6).collect::<Vec<_>>(), [5]);
/// ```
pub fn children(number: u32, nodes: u32) -> impl Iterator<Item = u32> {
    let bits = if number == 0 { u32::BITS } else { number.trailing_zeros() };
    (0..bits).rev().filter_map(move |bit| number.checked_add(1 << bit)).filter(move |&c| c < nodes)
}

#[cfg(test)]
mod tests {
    use super::{children, parent, parts};

    /// Passes on to the members of `range`, and returns the number of steps until all are reached.
    fn pass_on(range: std::ops::Range<usize>, reached: &mut [usize]) -> usize {
        reached[range.start] += 1;
        let below = parts(range.len()).enumerate().map(|(sent, part)| {
            // A member sends one part after the other.
            sent + 1 + pass_on(range.start + part.start..range.start + part.end, reached)
        });
        below.max().unwrap_or(0)
    }

    #[test]
    fn every_member_is_reached_once_in_logarithmic_time() {
        for members in 1..300_usize {
            let mut reached = vec![0; members];
            let steps = pass_on(0..members, &mut reached);
            assert!(reached.iter().all(|&times| times == 1), "{members}: {reached:?}");
            assert_eq!(steps as u32, members.next_power_of_two().ilog2(), "{members}");
        }
        assert_eq!(parts(0).count(), 0);
    }

    #[test]
    fn parents_and_children_are_those_of_the_parts() {
        for nodes in 1..100 {
            for number in 0..nodes {
                for child in children(number, nodes) {
                    assert_eq!(parent(child), Some(number));
                }
            }
            let all: usize = (0..nodes).map(|number| children(number, nodes).count()).sum();
            assert_eq!(all as u32, nodes - 1);
            let first: Vec<_> = parts(nodes as usize).map(|part| part.start as u32).collect();
            assert_eq!(children(0, nodes).collect::<Vec<_>>(), first);
        }
    }

    #[test]
    fn the_greatest_numbers_have_no_children_beyond() {
        assert_eq!(children(u32::MAX, u32::MAX).count(), 0);
        assert_eq!(children(1 << 31, u32::MAX).next(), Some((1 << 31) + (1 << 30)));
    }
}
