//! The numbers of handled messages.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bits of the count: seventeen million million messages per node. The other bits tell a million
/// nodes apart.
const COUNT: u32 = 44;

/// Numbers that a thread takes at a time, so that threads do not contend at each message. An
/// estimate; no benchmark sets it.
const BLOCK: u64 = 1_024;

static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The next count of this thread, and the end of its block.
    static OWN: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// Returns a number that no other message of the job has, for a message handled on this node. It is
/// not zero.
pub(super) fn fresh(node: Option<u32>) -> u64 {
    let (mut next, mut end) = OWN.get();
    if next == end {
        next = NEXT.fetch_add(BLOCK, Ordering::Relaxed);
        end = next.wrapping_add(BLOCK);
    }
    OWN.set((next.wrapping_add(1), end));
    number(node, next)
}

/// Returns a number. Zero means none, so counts begin with one.
fn number(node: Option<u32>, count: u64) -> u64 {
    let node = node.map_or(0, |node| u64::from(node) + 1);
    node << COUNT | (count % ((1 << COUNT) - 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, fresh, number};
    use std::collections::HashSet;

    #[test]
    fn no_number_is_zero_or_of_two_nodes() {
        let most = (1 << 44) - 1;
        for count in [0, 1, most - 1, most, u64::MAX] {
            let of = [None, Some(0), Some(1), Some((1 << 20) - 2)];
            let numbers: HashSet<u64> = of.into_iter().map(|node| number(node, count)).collect();
            assert!(!numbers.contains(&0));
            assert_eq!(numbers.len(), of.len());
        }
    }

    #[test]
    fn threads_take_different_numbers() {
        let take = || (0..3 * BLOCK).map(|_| fresh(None)).collect::<Vec<_>>();
        let threads = [(); 4].map(|()| std::thread::spawn(take));
        let mut all = HashSet::new();
        for thread in threads {
            for number in thread.join().unwrap() {
                assert!(all.insert(number), "{number} twice");
            }
        }
    }
}
