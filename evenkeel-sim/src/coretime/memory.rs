//! The simulated memory: second-level caches, last-level caches of what those drop, and a memory
//! controller for each chip.

use crate::lru::{Block, Lru};

/// The machine of the paper.
pub(super) const CHIPS: usize = 4;
/// Its cores.
pub const CORES: usize = 16;
const CORES_PER_CHIP: usize = CORES / CHIPS;

/// Bytes of the caches.
pub(super) const L2: u64 = 512 << 10;
pub(super) const L3: u64 = 2 << 20;

/// The unit in which caches hold memory, and the reach of a prefetcher, which does not know what
/// lies beyond a page.
pub(super) const BLOCK: u64 = 4 << 10;

/// Cycles until a line is there, as the paper has them: from the core's second-level cache, from
/// the chip's last-level cache, from another core of the chip, which is where locks come from.
pub(super) const OWN: u64 = 14;
const CHIP: u64 = 75;
const NEIGHBOUR: u64 = 127;
/// From memory two chips away, as the paper has it.
const FARTHEST: u64 = 336;
/// Assumed: each step from chip to chip in the square takes as much longer.
const STEP: u64 = 70;
const MEMORY: u64 = FARTHEST - 2 * STEP;

/// What the figures depend on, and the paper does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guesses {
    /// Lines of a stream that are on their way at once.
    pub ahead: u64,
    /// Lines at the beginning of a page that are waited for before the prefetcher follows.
    pub exposed: u64,
    /// Cycles that a memory controller takes for a line.
    pub per_line: u64,
    /// Cycles that a link takes for a line.
    pub per_hop: u64,
    /// Cycles that each link takes for the question whether another chip has written a line, and
    /// the answers, in the mean.
    pub per_probe: u64,
    /// Whether a line that no cache of the chip has may come from any other cache that has it.
    pub from_caches: bool,
}

/// How many steps it is from chip to chip, in a square.
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

/// Where a block is found, and the cycles from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Cache(u64),
    /// In memory of that chip.
    Memory(usize, u64),
}

/// Something that does one thing after the other: until when it is taken.
#[derive(Clone, Copy, Default)]
struct Server(u64);

impl Server {
    /// The cycles from `now` until it is done with this, too.
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
    /// Of each block which caches have it: a bit for each core, and then one for each chip.
    holders: Vec<u32>,
    controllers: [Server; CHIPS],
    /// From each chip, along either side of the square.
    links: [[Server; 2]; CHIPS],
}

impl Memory {
    /// Caches without anything in them, before so many blocks of memory.
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

    /// The cycles that a core takes to read the first so many lines of a block in order, with so
    /// many cycles of work for each line, from `now` on.
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

    /// The cycles until so many lines from memory of one chip are at another, from what is in their
    /// way.
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

    /// The block is in the core's cache from here, and what had to go for it in the chip's.
    fn fill(&mut self, core: usize, block: Block) {
        let here = chip(core);
        if self.shared[here].has(block) {
            // What is used stays there, for the other cores.
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
        assert_eq!(memory.source(1, 0), Source::Memory(0, 196), "nobody has written it");
        assert_eq!(memory.source(4, 0), Source::Memory(0, 196 + STEP));
        // As many others as the core's own cache holds.
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
