//! The four programs of the paper as trees: the same recursions as the suite's own, over blocks of
//! memory in place of numbers.

use std::ops::Range;

use super::work::{BLOCK, Node, Step, Touch, Work, touches};
use crate::lru::Block;

/// How often in a row every program runs on the same data, like a benchmark with repeats: blocks
/// that one run leaves in a cache serve the next.
const RUNS: usize = 4;

/// A program, and the bytes of all its data.
#[derive(Debug)]
pub struct Program {
    pub(super) work: Work,
    bytes: u64,
}

impl Program {
    fn repeated(make: impl FnOnce(&mut Work) -> (Node, u64)) -> Self {
        let mut work = Work::default();
        let (run, bytes) = make(&mut work);
        work.add(Step::Sequence(vec![run; RUNS]));
        Self { work, bytes }
    }

    /// Creates the product of two matrices of `side` tiles of 64 x 64 numbers in each direction.
    #[must_use]
    pub fn matmul(side: u64) -> Self {
        Self::repeated(|work| of_matmul(work, side))
    }

    /// Creates the transposition of `side` tiles of 32 x 32 numbers in each direction.
    #[must_use]
    pub fn transpose(side: u64) -> Self {
        Self::repeated(|work| of_transpose(work, side))
    }

    /// Creates ten steps of a stencil over `height` rows of 1,024 numbers.
    #[must_use]
    pub fn heat(height: u64) -> Self {
        Self::repeated(|work| of_heat(work, height))
    }

    /// Creates a merge sort of two to the power of `log` numbers, with merges that fork.
    #[must_use]
    pub fn cilksort(log: u32) -> Self {
        Self::repeated(|work| of_cilksort(work, log))
    }

    /// Returns the bytes of all its data.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Tiles of 64 x 64 numbers of 8 bytes: four blocks.
const TILE: u64 = 64 * 64 * 8;
/// A leaf of 64^3 multiplications and additions, at 8 per nanosecond.
const MULTIPLY: u64 = 64 * 64 * 64 * 2 / 8;

/// A cuboid of tile products.
#[derive(Clone, Copy)]
struct Cuboid {
    row: u64,
    rows: u64,
    column: u64,
    columns: u64,
    inner: u64,
    inners: u64,
}

/// The product of two matrices of `side` tiles in each direction.
fn of_matmul(work: &mut Work, side: u64) -> (Node, u64) {
    let all = Cuboid { row: 0, rows: side, column: 0, columns: side, inner: 0, inners: side };
    return (multiply(work, side, all), 3 * side * side * TILE);

    fn multiply(work: &mut Work, side: u64, all: Cuboid) -> Node {
        let Cuboid { row, rows, column, columns, inner, inners } = all;
        let tiles = rows * inners + inners * columns + rows * columns;
        if rows.max(columns).max(inners) == 1 {
            let tile = |array: u64, row: u64, column: u64, writes| {
                let index = (array * side + row) * side + column;
                touches(0, index * TILE..(index + 1) * TILE, writes)
            };
            let touches = tile(0, row, inner, false)
                .chain(tile(1, inner, column, false))
                .chain(tile(2, row, column, true))
                .collect();
            return work.add(Step::Leaf { compute: MULTIPLY, touches });
        }
        if inners > rows.max(columns) {
            let half = inners / 2;
            let first = multiply(work, side, Cuboid { inners: half, ..all });
            let rest = Cuboid { inner: inner + half, inners: inners - half, ..all };
            let second = multiply(work, side, rest);
            return work.add(Step::Sequence(vec![first, second]));
        }
        let (low, high) = if rows >= columns {
            let half = rows / 2;
            (Cuboid { rows: half, ..all }, Cuboid { row: row + half, rows: rows - half, ..all })
        } else {
            let half = columns / 2;
            let high = Cuboid { column: column + half, columns: columns - half, ..all };
            (Cuboid { columns: half, ..all }, high)
        };
        let first = multiply(work, side, low);
        let second = multiply(work, side, high);
        work.add(Step::Fork { bytes: tiles * TILE, first, second })
    }
}

/// The transposition of `side` tiles in each direction, of 32 x 32 numbers, each of one block.
fn of_transpose(work: &mut Work, side: u64) -> (Node, u64) {
    return (turn(work, side, 0..side, 0..side), 2 * side * side * BLOCK);

    fn turn(work: &mut Work, side: u64, rows: Range<u64>, columns: Range<u64>) -> Node {
        let (height, width) = (rows.end - rows.start, columns.end - columns.start);
        if height == 1 && width == 1 {
            let from = columns.start * side + rows.start;
            let to = side * side + rows.start * side + columns.start;
            let touches = vec![
                Touch { block: from as Block, writes: false },
                Touch { block: to as Block, writes: true },
            ];
            return work.add(Step::Leaf { compute: 1_000, touches });
        }
        let (first, second) = if height >= width {
            let middle = rows.start + height / 2;
            let first = turn(work, side, rows.start..middle, columns.clone());
            (first, turn(work, side, middle..rows.end, columns))
        } else {
            let middle = columns.start + width / 2;
            let first = turn(work, side, rows.clone(), columns.start..middle);
            (first, turn(work, side, rows, middle..columns.end))
        };
        work.add(Step::Fork { bytes: 2 * height * width * BLOCK, first, second })
    }
}

/// Ten steps of a stencil over `height` rows of 1,024 numbers, in strips of 16 rows of a block
/// each.
fn of_heat(work: &mut Work, height: u64) -> (Node, u64) {
    const STEPS: u64 = 10;
    let steps = (0..STEPS).map(|step| {
        let (now, next) = if step % 2 == 0 { (0, height) } else { (height, 0) };
        work.halve(0..height, 16, 2 * BLOCK, &mut |work, rows| {
            let halo = rows.start.saturating_sub(1)..(rows.end + 1).min(height);
            let read = touches(now as Block, halo.start * BLOCK..halo.end * BLOCK, false);
            let written = touches(next as Block, rows.start * BLOCK..rows.end * BLOCK, true);
            // 1,024 cells in a row, at 4 per nanosecond.
            let compute = (rows.end - rows.start) * 1_024 / 4;
            work.add(Step::Leaf { compute, touches: read.chain(written).collect() })
        })
    });
    let steps: Vec<Node> = steps.collect();
    (work.add(Step::Sequence(steps)), 2 * height * BLOCK)
}

/// Merge sort of two to the power of `log` numbers in runs of 2,048, with merges that fork.
fn of_cilksort(work: &mut Work, log: u32) -> (Node, u64) {
    const RUN: u64 = 2_048 * 8;
    let bytes = 8 << log;
    let room = (bytes / BLOCK) as Block;
    return (sort(work, room, 0..bytes, true), 2 * bytes);

    /// Sorts `range` within the numbers, or, if not `home`, into the buffer that begins at block
    /// `room`.
    fn sort(work: &mut Work, room: Block, range: Range<u64>, home: bool) -> Node {
        let length = range.end - range.start;
        if length <= RUN {
            let numbers = touches(0, range.clone(), true);
            let other = touches(room, range, true).filter(|_| !home);
            // 2,048 numbers at 15 ns.
            let touches = numbers.chain(other).collect();
            return work.add(Step::Leaf { compute: 30_000, touches });
        }
        let middle = range.start + length / 2;
        let first = sort(work, room, range.start..middle, !home);
        let second = sort(work, room, middle..range.end, !home);
        let halves = work.add(Step::Fork { bytes: 2 * length, first, second });
        let (from, to) = if home { (room, 0) } else { (0, room) };
        let merged = merge(work, from, to, range.start..middle, middle..range.end, range.start);
        work.add(Step::Sequence(vec![halves, merged]))
    }

    /// Merges two ranges; the numbers are spread evenly, so each is halved in the middle.
    fn merge(
        work: &mut Work,
        from: Block,
        to: Block,
        a: Range<u64>,
        b: Range<u64>,
        at: u64,
    ) -> Node {
        let (long, short) = (a.end - a.start, b.end - b.start);
        if long + short <= RUN {
            let read = touches(from, a, false).chain(touches(from, b, false));
            let written = touches(to, at..at + long + short, true);
            // 2,048 numbers at 4 ns.
            return work.add(Step::Leaf { compute: 8_000, touches: read.chain(written).collect() });
        }
        let (i, j) = (a.start + long / 2, b.start + short / 2);
        let first = merge(work, from, to, a.start..i, b.start..j, at);
        let second = merge(work, from, to, i..a.end, j..b.end, at + long / 2 + short / 2);
        work.add(Step::Fork { bytes: 2 * (long + short), first, second })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_cover_what_the_program_says() {
        for (program, leaves) in [
            (Program::matmul(18), 18 * 18 * 18),
            (Program::transpose(45), 45 * 45),
            (Program::heat(2_048), 10 * 128),
            (Program::cilksort(21), 1_024 + 10 * 1_024),
        ] {
            let work = &program.work;
            let Step::Sequence(runs) = work.step(work.whole()) else { panic!("runs") };
            assert_eq!(count(work, runs[0]), leaves);
        }
    }

    #[test]
    fn all_blocks_of_the_data_are_touched() {
        for program in
            [Program::matmul(9), Program::transpose(22), Program::heat(512), Program::cilksort(19)]
        {
            let last = touched(&program.work).max().unwrap();
            assert_eq!(u64::from(last + 1) * BLOCK, program.bytes());
        }
    }

    fn touched(work: &Work) -> impl Iterator<Item = Block> {
        (0..=work.whole()).flat_map(|node| match work.step(node) {
            Step::Leaf { touches, .. } => touches.iter().map(|touch| touch.block).collect(),
            Step::Fork { .. } | Step::Sequence(_) => Vec::new(),
        })
    }

    fn count(work: &Work, node: Node) -> u64 {
        match work.step(node) {
            Step::Leaf { .. } => 1,
            Step::Fork { first, second, .. } => count(work, *first) + count(work, *second),
            Step::Sequence(parts) => parts.iter().map(|&part| count(work, part)).sum(),
        }
    }
}
