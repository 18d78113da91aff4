//! The simulated memory: a second-level cache per core, a last-level cache per package, and memory
//! that is dealt to the packages block by block.

use super::work::{BLOCK, Touch};
use crate::lru::{Block, Lru};

/// Nanoseconds per streamed line of 64 bytes: from the core's own cache, from the package's, from
/// the package's memory, from another package's cache or memory. Assumed: some 64, 16, 8 and 4 GB/s
/// for one core.
const OWN: u64 = 1;
const PACKAGE: u64 = 4;
const MEMORY: u64 = 8;
const REMOTE: u64 = 16;

/// Sizes of the caches in bytes.
pub(super) const L2: u64 = 256 << 10;
pub(super) const L3: u64 = 16 << 20;

const LINES: u64 = BLOCK / 64;

fn blocks(bytes: u64) -> usize {
    (bytes / BLOCK) as usize
}

/// All caches of the machine.
pub(super) struct Caches {
    cores_per_package: usize,
    own: Vec<Lru>,
    shared: Vec<Lru>,
    /// The caches that hold each block: a bit for each cache, those of the cores first.
    holders: Vec<u64>,
}

impl Caches {
    pub(super) fn new(packages: usize, cores_per_package: usize) -> Self {
        let cores = packages * cores_per_package;
        assert!(cores + packages <= u64::BITS as usize, "a bit for each cache");
        Self {
            cores_per_package,
            own: (0..cores).map(|_| Lru::new(blocks(L2))).collect(),
            shared: (0..packages).map(|_| Lru::new(blocks(L3))).collect(),
            holders: Vec::new(),
        }
    }

    /// Returns the nanoseconds that a core waits for a block.
    pub(super) fn touch(&mut self, core: usize, Touch { block, writes }: Touch) -> u64 {
        let package = core / self.cores_per_package;
        let cores = self.own.len();
        let (own, shared) = (1 << core, 1 << (cores + package));
        if block as usize >= self.holders.len() {
            self.holders.resize(block as usize + 1, 0);
        }
        let held = self.holders[block as usize];
        let per_line = if held & own != 0 {
            OWN
        } else if held & shared != 0 {
            PACKAGE
        } else if block as usize % self.shared.len() == package && held >> cores == 0 {
            MEMORY
        } else {
            REMOTE
        };
        if let (_, Some(gone)) = self.own[core].touch(block) {
            self.holders[gone as usize] &= !own;
        }
        if let (_, Some(gone)) = self.shared[package].touch(block) {
            // A block that the package does not hold is in none of its cores.
            let its_cores =
                ((1 << self.cores_per_package) - 1) << (package * self.cores_per_package);
            self.drop(gone, its_cores | shared);
        }
        self.holders[block as usize] |= own | shared;
        if writes {
            self.drop(block, !(own | shared));
        }
        per_line * LINES
    }

    /// Drops a block from all of these caches that hold it.
    fn drop(&mut self, block: Block, caches: u64) {
        let mut left = self.holders[block as usize] & caches;
        self.holders[block as usize] &= !caches;
        while left != 0 {
            let cache = left.trailing_zeros() as usize;
            left &= left - 1;
            match cache.checked_sub(self.own.len()) {
                None => self.own[cache].drop(block),
                Some(package) => self.shared[package].drop(block),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(block: Block) -> Touch {
        Touch { block, writes: false }
    }

    #[test]
    fn a_block_costs_by_where_it_is() {
        let mut caches = Caches::new(2, 2);
        assert_eq!(caches.touch(0, read(0)), MEMORY * LINES);
        assert_eq!(caches.touch(0, read(0)), OWN * LINES);
        assert_eq!(caches.touch(1, read(0)), PACKAGE * LINES);
        assert_eq!(
            caches.touch(2, read(0)),
            REMOTE * LINES,
            "it lies in the other package's cache"
        );
        assert_eq!(
            caches.touch(0, read(1)),
            REMOTE * LINES,
            "it lies in the other package's memory"
        );
        caches.touch(3, Touch { block: 0, writes: true });
        assert_eq!(caches.touch(0, read(0)), REMOTE * LINES, "another has written it");
    }

    #[test]
    fn a_cache_drops_what_has_not_been_used_for_longest() {
        let mut caches = Caches::new(1, 1);
        let many = (L2 / BLOCK) as Block;
        (0..=many).for_each(|block| {
            caches.touch(0, read(block));
        });
        assert_eq!(caches.touch(0, read(many)), OWN * LINES);
        assert_eq!(caches.touch(0, read(0)), PACKAGE * LINES);
        let more = (L3 / BLOCK) as Block;
        (many..=more + many).for_each(|block| {
            caches.touch(0, read(block));
        });
        assert_eq!(caches.touch(0, read(0)), MEMORY * LINES);
    }
}
