//! Ways to place queens on a board so that none attacks another: forks halve the free columns of a
//! row.

use std::hint::black_box;

use super::Workload;
use crate::forker::Forker;

pub(super) struct Nqueens {
    n: usize,
    result: u64,
}

impl Workload for Nqueens {
    fn prepare(n: usize) -> Self {
        Self { n, result: 0 }
    }

    fn go<F: Forker>(&mut self, forker: &F) {
        // Columns beside the board count as taken. The compiler must not see the size, or that a
        // result equals that of an earlier run.
        let columns = u32::MAX << black_box(self.n);
        self.result = black_box(forker.run(|cx| place::<F>(cx, columns, 0, 0)));
    }

    fn checksum(&self) -> u64 {
        self.result
    }
}

/// Returns the ways to fill the remaining rows. Columns are taken straight down and along both
/// diagonals. (Three arguments: a structure of them would go through memory.)
fn place<F: Forker>(cx: F::Cx<'_, '_>, columns: u32, left: u32, right: u32) -> u64 {
    if columns == u32::MAX {
        return 1;
    }
    match !(columns | left | right) {
        0 => 0,
        free => choose::<F>(cx, columns, left, right, free),
    }
}

/// Returns the ways with the next queen in one of the columns `free`, of which there is at least
/// one.
fn choose<F: Forker>(mut cx: F::Cx<'_, '_>, columns: u32, left: u32, right: u32, free: u32) -> u64 {
    let first = free & free.wrapping_neg();
    let rest = free ^ first;
    // With a queen in the first.
    let next = (columns | first, (left | first) << 1, (right | first) >> 1);
    if rest == 0 {
        return place::<F>(cx, next.0, next.1, next.2);
    }
    F::join_then(
        &mut cx,
        move |cx| place::<F>(cx, next.0, next.1, next.2),
        move |cx| choose::<F>(cx, columns, left, right, rest),
        |a, b| a + b,
    )
}
