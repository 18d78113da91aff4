//! Ways to place queens on a board so that none takes another: the free columns of a row are halved by forks.

use super::Workload;
use crate::forking::forker::Forker;

pub(super) struct Nqueens {
    n: usize,
    result: u64,
}

impl Workload for Nqueens {
    fn prepare(n: usize) -> Self {
        Self { n, result: 0 }
    }

    fn go<F: Forker>(&mut self, forker: &F) {
        let board = Board { all: (1 << self.n) - 1, columns: 0, left: 0, right: 0 };
        self.result = forker.run(|cx| place::<F>(cx, board));
    }

    fn checksum(&self) -> u64 {
        self.result
    }
}

/// The rows so far: which columns are taken, straight down and along both diagonals.
#[derive(Clone, Copy)]
struct Board {
    all: u32,
    columns: u32,
    left: u32,
    right: u32,
}

impl Board {
    fn free(self) -> u32 {
        self.all & !(self.columns | self.left | self.right)
    }

    /// With a queen in the next row.
    fn with(self, column: u32) -> Self {
        Self {
            all: self.all,
            columns: self.columns | column,
            left: (self.left | column) << 1,
            right: (self.right | column) >> 1,
        }
    }
}

fn place<F: Forker>(cx: &mut F::Cx<'_>, board: Board) -> u64 {
    if board.columns == board.all {
        return 1;
    }
    match board.free() {
        0 => 0,
        free => choose::<F>(cx, board, free),
    }
}

/// The ways with the next queen in one of `columns`, which are not none.
fn choose<F: Forker>(cx: &mut F::Cx<'_>, board: Board, columns: u32) -> u64 {
    let first = columns & columns.wrapping_neg();
    let rest = columns ^ first;
    if rest == 0 {
        return place::<F>(cx, board.with(first));
    }
    let (a, b) =
        F::join(cx, |cx| place::<F>(cx, board.with(first)), |cx| choose::<F>(cx, board, rest));
    a + b
}
