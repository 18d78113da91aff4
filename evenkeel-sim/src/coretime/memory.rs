//! The simulated memory: second-level caches, last-level caches of the blocks that those drop, and
//! a memory controller for each chip.

use crate::lru::{Block, Lru};

/// The machine of the paper.
pub(super) const CHIPS: usize = 4;
/// Its cores.
pub const CORES: usize = 16;
const CORES_PER_CHIP: usize = CORES / CHIPS;

/// Bytes of the caches.
pub(super) const L2: u64 = 512 << 10;
pub(super) const L3: u64 = 2 << 20;

/// The unit in which caches hold memory, and the reach of a prefetcher, which ends at a page.
pub(super) const BLOCK: u64 = 4 << 10;

/// Cycles until a line arrives, as in the paper: from the core's second-level cache, from the
/// chip's last-level cache, and from another core of the chip, from which locks come.
pub(super) const OWN: u64 = 14;
const CHIP: u64 = 75;
const NEIGHBOUR: u64 = 127;
/// From memory two chips away, as in the paper.
const FARTHEST: u64 = 336;
/// Assumed: the additional cycles of each step from chip to chip in the square.
const STEP: u64 = 70;
const MEMORY: u64 = FARTHEST - 2 * STEP;

/// Parameters on which the figures depend and which the paper does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guesses {
    /// Lines of a stream that are in transit at once.
    pub ahead: u64,
    /// Lines at the beginning of a page for which the core waits before the prefetcher follows.
    pub exposed: u64,
    /// Cycles that a memory controller takes for a line.
    pub per_line: u64,
    /// Cycles that a link takes for a line.
    pub per_hop: u64,
    /// Cycles that each link takes, on average, for the question whether another chip has written a
    /// line, and the answers.
    pub per_probe: u64,
    /// Whether a line that is in no cache of the chip may come from any other cache that has it.
    pub from_caches: bool,
}

/// Returns the number of steps from chip to chip in a square.
fn steps(from: usize, to: usize) -> u64 {
    u64::from((from ^ to).count_ones())
}

fn chip(core: usize) -> usize {
    core / CORES_PER_CHIP
}

/// Cycles for a line that another core has written.
pub(super) fn transfer(from: usize, to: usize) -> u64 {
    if from == to { 3 } else { NEIGHBOUR + STEP * steps(chip(from), chip(to)) }
}

/// The place of a block, and the cycles from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Cache(u64),
    /// The memory of that chip.
    Memory(usize, u64),
}

/// A server of one request after the other: the time until which it is busy.
#[derive(Clone, Copy, Default)]
struct Server(u64);

impl Server {
    /// Adds a request, and returns the cycles from `now` until it is complete.
    fn serve(&mut self, now: u64, cycles: u64) -> u64 {
        self.0 = now.max(self.0) + cycles;
        self.0 - now
    }
}

/// All caches and memory controllers.
pub(super) struct Memory {
    guesses: Guesses,
    own: Vec<Lru>,
    shared: Vec<Lru>,
    /// The caches that have each block: a bit for each core, and then one for each chip.
    holders: Vec<u32>,
    controllers: [Server; CHIPS],
    /// From each chip, along either side of the square.
    links: [[Server; 2]; CHIPS],
}

impl Memory {
    /// Creates empty caches for a memory of `blocks` blocks.
    pub(super) fn new(blocks: usize, guesses: Guesses) -> Self {
        Self {
            guesses,
            own: (0..CORES).map(|_| Lru::new((L2 / BLOCK) as usize)).collect(),
            shared: (0..CHIPS).map(|_| Lru::new((L3 / BLOCK) as usize)).collect(),
            holders: vec![0; blocks],
            controllers: [Server::default(); CHIPS],
            links: [[Server::default(); 2]; CHIPS],
        }
    }

    /// Returns the cycles that a core takes to read the first `lines` lines of a block in order,
    /// with `work` cycles for each line, from `now` on.
    pub(super) fn read(
        &mut self,
        core: usize,
        block: Block,
        lines: u64,
        work: u64,
        now: u64,
    ) -> u64 {
        let Guesses { ahead, exposed, .. } = self.guesses;
        let source = self.source(core, block);
        let (Source::Cache(latency) | Source::Memory(_, latency)) = source;
        self.fill(core, block);
        let stream = exposed.min(lines) * latency + lines * work.max(latency / ahead);
        match source {
            Source::Cache(_) => stream,
            Source::Memory(home, _) => stream.max(self.carry(home, chip(core), lines, now)),
        }
    }

    /// Returns the cycles that controllers and links take to carry lines from one chip's memory to
    /// another chip.
    fn carry(&mut self, from: usize, to: usize, lines: u64, now: u64) -> u64 {
        let Guesses { per_line, per_hop, per_probe, .. } = self.guesses;
        for link in self.links.iter_mut().flatten() {
            link.serve(now, lines * per_probe);
        }
        let mut longest = self.controllers[from].serve(now, lines * per_line);
        let mut at = from;
        for side in 0..2 {
            if (at ^ to) & 1 << side != 0 {
                longest = longest.max(self.links[at][side].serve(now, lines * per_hop));
                at ^= 1 << side;
            }
        }
        longest
    }

    fn source(&self, core: usize, block: Block) -> Source {
        let holders = self.holders[block as usize];
        let here = chip(core);
        if holders & 1 << core != 0 {
            return Source::Cache(OWN);
        }
        if holders & 1 << (CORES + here) != 0 {
            return Source::Cache(CHIP);
        }
        let home = block as usize % CHIPS;
        let memory = MEMORY + STEP * steps(here, home);
        if self.guesses.from_caches {
            let cores = (0..CORES).filter(|core| holders & 1 << core != 0).map(chip);
            let chips = (0..CHIPS).filter(|chip| holders & 1 << (CORES + chip) != 0);
            let nearest =
                cores.chain(chips).map(|other| NEIGHBOUR + STEP * steps(here, other)).min();
            if let Some(cycles) = nearest.filter(|&cycles| cycles < memory) {
                return Source::Cache(cycles);
            }
        }
        Source::Memory(home, memory)
    }

    /// Puts the block into the core's cache, and the block that it replaces into the chip's.
    fn fill(&mut self, core: usize, block: Block) {
        let here = chip(core);
        if self.shared[here].has(block) {
            // A used block stays there, for the other cores.
            self.shared[here].touch(block);
        }
        self.holders[block as usize] |= 1 << core;
        if let (_, Some(victim)) = self.own[core].touch(block) {
            self.holders[victim as usize] &= !(1 << core);
            self.holders[victim as usize] |= 1 << (CORES + here);
            if let (_, Some(gone)) = self.shared[here].touch(victim) {
                self.holders[gone as usize] &= !(1 << (CORES + here));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUESSES: Guesses = Guesses {
        ahead: 4,
        exposed: 2,
        per_line: 20,
        per_hop: 30,
        per_probe: 0,
        from_caches: false,
    };

    #[test]
    fn latencies_are_those_of_the_paper() {
        let mut memory = Memory::new(10_000, GUESSES);
        assert_eq!(memory.source(15, 0), Source::Memory(0, 336), "two chips away");
        memory.read(0, 0, 32, 20, 0);
        assert_eq!(memory.source(0, 0), Source::Cache(14));
        assert_eq!(memory.source(1, 0), Source::Memory(0, 196), "no core has written it");
        assert_eq!(memory.source(4, 0), Source::Memory(0, 196 + STEP));
        // As many other blocks as the core's own cache holds.
        (1..=256).for_each(|block| {
            memory.read(0, block, 32, 20, 0);
        });
        assert_eq!(memory.source(0, 0), Source::Cache(75));
        assert_eq!(memory.source(3, 0), Source::Cache(75));
        (1_000..=2_300).for_each(|block| {
            memory.read(0, block, 32, 20, 0);
        });
        assert_eq!(memory.source(0, 0), Source::Memory(0, MEMORY));
    }

    #[test]
    fn a_line_may_come_from_another_cache_where_that_is_assumed() {
        let mut memory = Memory::new(1_000, Guesses { from_caches: true, ..GUESSES });
        memory.read(0, 0, 32, 20, 0);
        assert_eq!(memory.source(1, 0), Source::Cache(127), "another core of the chip");
        assert_eq!(memory.source(4, 0), Source::Cache(127 + STEP));
        assert_eq!(memory.source(15, 1), Source::Memory(1, MEMORY + STEP), "no cache has it");
        // Two chips away, as far as the nearest memory.
        memory.read(0, 3, 32, 20, 0);
        assert_eq!(memory.source(15, 3), Source::Memory(3, MEMORY));
    }

    #[test]
    fn a_controller_serves_one_after_the_other() {
        let mut memory = Memory::new(200, GUESSES);
        let first = memory.read(0, 0, 32, 20, 0);
        assert_eq!(first, 2 * MEMORY + 32 * (MEMORY / 4));
        let waits = (1..10).map(|n| memory.read(n as usize % 4, 8 * n, 32, 20, 0));
        assert_eq!(waits.max(), Some(10 * 32 * 20));
        let far = (10..20).map(|n| memory.read(15, 8 * n, 32, 20, 0));
        assert_eq!(far.max(), Some(20 * 32 * 20), "no link is taken for as long");
    }

    #[test]
    fn a_link_carries_one_after_the_other() {
        let guesses = Guesses { per_hop: 100, per_line: 0, ..GUESSES };
        let mut memory = Memory::new(1_000, guesses);
        let near = (0..20).map(|n| memory.read(0, 8 * n, 32, 20, 0));
        assert_eq!(near.max(), Some(2 * MEMORY + 32 * (MEMORY / 4)), "memory of the chip itself");
        let far = (20..40).map(|n| memory.read(4, 8 * n, 32, 20, 0));
        assert_eq!(far.max(), Some(20 * 32 * 100));
    }

    #[test]
    fn work_hides_what_is_near() {
        let mut memory = Memory::new(100, GUESSES);
        memory.read(0, 1, 32, 20, 0);
        assert_eq!(memory.read(0, 1, 32, 20, 0), 2 * OWN + 32 * 20);
        assert_eq!((transfer(2, 2), transfer(2, 3), transfer(0, 15)), (3, 127, 267));
    }
}
