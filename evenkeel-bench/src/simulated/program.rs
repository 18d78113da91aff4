//! The four programs of the paper as trees: the same recursions as the suite's own, over blocks of memory in place of numbers.

use super::work::{BLOCK, Block, Node, Step, Touch, Work, touches};
use crate::forking::program::Program;

/// Every program runs so often in a row on the same data, as a benchmark with repeats does: what lies in a cache from one run
/// serves the next.
pub(super) const RUNS: usize = 4;

/// The tree of a program. None for those that have no footprint worth stating.
pub(super) fn work(program: Program) -> Option<Work> {
    let mut work = Work::default();
    let build = match program {
        Program::Matmul => matmul,
        Program::Transpose => transpose,
        Program::Heat => heat,
        Program::Cilksort => cilksort,
        Program::Fib | Program::Nqueens | Program::Skynet | Program::Uts => return None,
    };
    let run = build(&mut work);
    work.add(Step::Sequence(vec![run; RUNS]));
    Some(work)
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

/// Product of two matrices of 16 x 16 tiles: 3 x 8 MiB.
fn matmul(work: &mut Work) -> Node {
    const TILES: u64 = 16;
    let all = Cuboid { row: 0, rows: TILES, column: 0, columns: TILES, inner: 0, inners: TILES };
    return multiply(work, all);

    fn multiply(work: &mut Work, all: Cuboid) -> Node {
        let Cuboid { row, rows, column, columns, inner, inners } = all;
        let tiles = rows * inners + inners * columns + rows * columns;
        if rows.max(columns).max(inners) == 1 {
            let tile = |array: u64, row: u64, column: u64, writes| {
                let index = (array * TILES + row) * TILES + column;
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
            let first = multiply(work, Cuboid { inners: half, ..all });
            let second =
                multiply(work, Cuboid { inner: inner + half, inners: inners - half, ..all });
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
        let first = multiply(work, low);
        let second = multiply(work, high);
        work.add(Step::Fork { bytes: tiles * TILE, first, second })
    }
}

/// Transposition of 64 x 64 tiles of 32 x 32 numbers, each of one block: 2 x 32 MiB.
fn transpose(work: &mut Work) -> Node {
    const TILES: u64 = 64;
    return turn(work, 0..TILES, 0..TILES);

    fn turn(work: &mut Work, rows: std::ops::Range<u64>, columns: std::ops::Range<u64>) -> Node {
        let (height, width) = (rows.end - rows.start, columns.end - columns.start);
        if height == 1 && width == 1 {
            let from = columns.start * TILES + rows.start;
            let to = TILES * TILES + rows.start * TILES + columns.start;
            let touches = vec![
                Touch { block: from as Block, writes: false },
                Touch { block: to as Block, writes: true },
            ];
            return work.add(Step::Leaf { compute: 1_000, touches });
        }
        let (first, second) = if height >= width {
            let middle = usize::midpoint(rows.start as usize, rows.end as usize) as u64;
            let first = turn(work, rows.start..middle, columns.clone());
            (first, turn(work, middle..rows.end, columns))
        } else {
            let middle = usize::midpoint(columns.start as usize, columns.end as usize) as u64;
            let first = turn(work, rows.clone(), columns.start..middle);
            (first, turn(work, rows, middle..columns.end))
        };
        work.add(Step::Fork { bytes: 2 * height * width * BLOCK, first, second })
    }
}

/// Ten steps of a stencil over 2048 x 1024 numbers, in strips of 16 rows of a block each: 2 x 16 MiB.
fn heat(work: &mut Work) -> Node {
    const STEPS: u64 = 10;
    const ROWS: u64 = 2048;
    let steps = (0..STEPS).map(|step| {
        let (now, next) = if step % 2 == 0 { (0, ROWS) } else { (ROWS, 0) };
        work.halve(0..ROWS, 16, 2 * BLOCK, &mut |work, rows| {
            let halo = rows.start.saturating_sub(1)..(rows.end + 1).min(ROWS);
            let read = touches(now as Block, halo.start * BLOCK..halo.end * BLOCK, false);
            let written = touches(next as Block, rows.start * BLOCK..rows.end * BLOCK, true);
            // 1,024 cells in a row, at 4 per nanosecond.
            let compute = (rows.end - rows.start) * 1_024 / 4;
            work.add(Step::Leaf { compute, touches: read.chain(written).collect() })
        })
    });
    let steps: Vec<Node> = steps.collect();
    work.add(Step::Sequence(steps))
}

/// Merge sort of 2^21 numbers in runs of 2,048, with merges that fork: 2 x 16 MiB.
fn cilksort(work: &mut Work) -> Node {
    const RUN: u64 = 2_048 * 8;
    const BYTES: u64 = (1 << 21) * 8;
    const ROOM: Block = (BYTES / BLOCK) as Block;
    return sort(work, 0..BYTES, true);

    /// Sorts `range` within the numbers, or, if not `home`, into the room.
    fn sort(work: &mut Work, range: std::ops::Range<u64>, home: bool) -> Node {
        let length = range.end - range.start;
        if length <= RUN {
            let numbers = touches(0, range.clone(), true);
            let room = touches(ROOM, range, true).filter(|_| !home);
            // 2,048 numbers at 15 ns.
            return work
                .add(Step::Leaf { compute: 30_000, touches: numbers.chain(room).collect() });
        }
        let middle = range.start + length / 2;
        let first = sort(work, range.start..middle, !home);
        let second = sort(work, middle..range.end, !home);
        let halves = work.add(Step::Fork { bytes: 2 * length, first, second });
        let (from, to) = if home { (ROOM, 0) } else { (0, ROOM) };
        let merged = merge(work, from, to, range.start..middle, middle..range.end, range.start);
        work.add(Step::Sequence(vec![halves, merged]))
    }

    /// Merges two ranges; the numbers are spread evenly, so each is halved in the middle.
    fn merge(
        work: &mut Work,
        from: Block,
        to: Block,
        a: std::ops::Range<u64>,
        b: std::ops::Range<u64>,
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
            (Program::Matmul, 16 * 16 * 16),
            (Program::Transpose, 64 * 64),
            (Program::Heat, 10 * 128),
            (Program::Cilksort, 1_024 + 10 * 1_024),
        ] {
            let work = work(program).unwrap();
            let Step::Sequence(runs) = work.step(work.whole()) else { panic!("runs") };
            assert_eq!(count(&work, runs[0]), leaves, "{program}");
        }
        assert!(work(Program::Fib).is_none());
    }

    fn count(work: &Work, node: Node) -> u64 {
        match work.step(node) {
            Step::Leaf { .. } => 1,
            Step::Fork { first, second, .. } => count(work, *first) + count(work, *second),
            Step::Sequence(parts) => parts.iter().map(|&part| count(work, part)).sum(),
        }
    }
}
