//! The knots of a graph.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

/// The knots of a graph of `ways` from node to node: sets within which each node leads to each, and
/// to no node outside. They are the strongly connected components (Tarjan, 1972) that nothing leads
/// out of.
pub(super) fn knots<T: Copy + Ord + Hash>(ways: &HashMap<T, Vec<T>>) -> Vec<BTreeSet<T>> {
    let mut knots: Vec<BTreeSet<T>> = Vec::new();
    // The visit number of each node, and the earliest one on the path that it leads back to.
    let mut order: HashMap<T, (usize, usize)> = HashMap::new();
    let mut path = Vec::new();
    let mut on_path = HashSet::new();
    let mut ids: Vec<_> = ways.keys().copied().collect();
    ids.sort_unstable();
    for root in ids {
        if order.contains_key(&root) {
            continue;
        }
        // No recursion: a chain of joins may be long.
        let mut calls = vec![(root, None::<Vec<T>>)];
        while let Some((id, next)) = calls.last_mut() {
            let id = *id;
            let next = next.get_or_insert_with(|| {
                let now = order.len();
                order.insert(id, (now, now));
                path.push(id);
                on_path.insert(id);
                ways[&id].clone()
            });
            if let Some(to) = next.pop() {
                match order.get(&to).copied() {
                    None => calls.push((to, None)),
                    Some((seen, _)) if on_path.contains(&to) => lower(&mut order, id, seen),
                    Some(_) => {}
                }
                continue;
            }
            calls.pop();
            let (seen, low) = order[&id];
            if let Some((caller, _)) = calls.last() {
                lower(&mut order, *caller, low);
            }
            if low == seen {
                let start = path.iter().rposition(|other| *other == id).expect("it is there");
                let component: BTreeSet<_> = path.drain(start..).collect();
                for id in &component {
                    on_path.remove(id);
                }
                let mut out = component.iter().flat_map(|id| &ways[id]);
                if out.all(|to| component.contains(to)) {
                    knots.push(component);
                }
            }
        }
    }
    knots
}

/// Notes that `id` leads back to the node that was visited at `seen`.
fn lower<T: Eq + Hash>(order: &mut HashMap<T, (usize, usize)>, id: T, seen: usize) {
    let (_, low) = order.get_mut(&id).expect("it has been come by");
    *low = seen.min(*low);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The knots of a graph of small numbers, each with the numbers that it leads to, in order.
    fn of<const N: usize>(ways: [(u32, &[u32]); N]) -> Vec<Vec<u32>> {
        let ways = ways.into_iter().map(|(from, to)| (from, to.to_vec())).collect();
        let mut knots: Vec<Vec<u32>> =
            knots(&ways).into_iter().map(|knot| knot.into_iter().collect()).collect();
        knots.sort();
        knots
    }

    #[test]
    fn a_cycle_is_a_knot_and_what_leads_to_it_is_none() {
        assert_eq!(of([(1, &[2]), (2, &[3]), (3, &[1]), (4, &[1]), (5, &[4])]), [[1, 2, 3]]);
        assert_eq!(of([(1, &[1])]), [[1]], "one that waits for itself");
    }

    #[test]
    fn a_cycle_with_a_way_to_another_is_no_knot() {
        assert_eq!(of([(1, &[2]), (2, &[1, 3]), (3, &[4]), (4, &[3])]), [[3, 4]]);
        assert_eq!(of([(1, &[2]), (2, &[1]), (3, &[4]), (4, &[3])]), [[1, 2], [3, 4]]);
    }

    #[test]
    fn cycles_that_share_a_node_are_one_knot() {
        assert_eq!(of([(1, &[2, 3]), (2, &[1]), (3, &[1])]), [[1, 2, 3]]);
    }

    #[test]
    fn a_chain_of_any_length_is_followed_to_its_end() {
        let last = 100_000;
        let ways = (0..=last).map(|id| (id, vec![(id + 1).min(last)])).collect();
        assert_eq!(knots(&ways), [BTreeSet::from([last])]);
    }
}
