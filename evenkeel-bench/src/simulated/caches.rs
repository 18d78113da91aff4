//! The simulated memory: a second-level cache per core, a last-level cache per package, and memory that is dealt out to the
//! packages block by block.

use super::lru::Lru;
use super::work::{BLOCK, Block, Touch};

/// Nanoseconds per line of 64 bytes, streamed: from the core's own cache, from the package's, from the package's memory, from
/// another package's cache or memory. Assumed: some 64, 16, 8 and 4 GB/s for one core.
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
}

impl Caches {
    pub(super) fn new(packages: usize, cores_per_package: usize) -> Self {
        Self {
            cores_per_package,
            own: (0..packages * cores_per_package).map(|_| Lru::new(blocks(L2))).collect(),
            shared: (0..packages).map(|_| Lru::new(blocks(L3))).collect(),
        }
    }

    /// The nanoseconds that a core waits for a block.
    pub(super) fn touch(&mut self, core: usize, Touch { block, writes }: Touch) -> u64 {
        let package = core / self.cores_per_package;
        let per_line = if self.own[core].has(block) {
            OWN
        } else if self.shared[package].has(block) {
            PACKAGE
        } else if block as usize % self.shared.len() == package
            && !self.shared.iter().any(|cache| cache.has(block))
        {
            MEMORY
        } else {
            REMOTE
        };
        self.own[core].touch(block);
        if let (_, Some(gone)) = self.shared[package].touch(block) {
            // What the package does not hold, none of its cores does.
            let first = package * self.cores_per_package;
            for own in &mut self.own[first..first + self.cores_per_package] {
                own.drop(gone);
            }
        }
        if writes {
            self.invalidate(core, package, block);
        }
        per_line * LINES
    }

    fn invalidate(&mut self, core: usize, package: usize, block: Block) {
        for (other, own) in self.own.iter_mut().enumerate() {
            if other != core {
                own.drop(block);
            }
        }
        for (other, shared) in self.shared.iter_mut().enumerate() {
            if other != package {
                shared.drop(block);
            }
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
