//! A simulated program: a tree of leaves, forks and sequences.

use crate::lru::Block;

/// A part of a simulated program, by its place in [`Work`].
pub(super) type Node = u32;

/// The unit in which caches hold memory, in bytes: two pages. Small enough for the leaves, large
/// enough for speed.
pub(super) const BLOCK: u64 = 8 << 10;

#[derive(Debug)]
pub(super) enum Step {
    /// Computes for some nanoseconds, beside the time of the memory.
    Leaf { compute: u64, touches: Vec<Touch> },
    /// Two parts that may run at once, and how many bytes they touch together.
    Fork { bytes: u64, first: Node, second: Node },
    /// Parts that run one after the other.
    Sequence(Vec<Node>),
}

/// A block that a leaf reads, or reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) block: Block,
    pub(super) writes: bool,
}

/// A program.
#[derive(Debug, Default)]
pub(super) struct Work(Vec<Step>);

impl Work {
    pub(super) fn add(&mut self, step: Step) -> Node {
        self.0.push(step);
        (self.0.len() - 1) as Node
    }

    pub(super) fn step(&self, node: Node) -> &Step {
        &self.0[node as usize]
    }

    /// Returns the part that was added last, which is the whole.
    pub(super) fn whole(&self) -> Node {
        (self.0.len() - 1) as Node
    }

    /// Halves `range` down to pieces of at most `least`, and forks for each halving. `bytes` is the
    /// footprint of a unit.
    pub(super) fn halve(
        &mut self,
        range: std::ops::Range<u64>,
        least: u64,
        bytes: u64,
        leaf: &mut impl FnMut(&mut Self, std::ops::Range<u64>) -> Node,
    ) -> Node {
        let length = range.end - range.start;
        if length <= least {
            return leaf(self, range);
        }
        let middle = range.start + length / 2;
        let first = self.halve(range.start..middle, least, bytes, leaf);
        let second = self.halve(middle..range.end, least, bytes, leaf);
        self.add(Step::Fork { bytes: length * bytes, first, second })
    }
}

/// Returns the blocks of `range`, in bytes, of an array that begins at block `start`.
pub(super) fn touches(
    start: Block,
    range: std::ops::Range<u64>,
    writes: bool,
) -> impl Iterator<Item = Touch> {
    let blocks = range.start / BLOCK..range.end.div_ceil(BLOCK);
    blocks.map(move |block| Touch { block: start + block as Block, writes })
}
