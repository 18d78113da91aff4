//! Ways to place queens on a board so that none takes another: the free columns of a row are halved
//! by forks.

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
        // What is beside the board is taken. The compiler is not to know the size, or that a result
        // is the same as that of an earlier run.
        let columns = u32::MAX << black_box(self.n);
        self.result = black_box(forker.run(|cx| place::<F>(cx, columns, 0, 0)));
    }

    fn checksum(&self) -> u64 {
        self.result
    }
}

/// The ways to fill the rows that are left. Columns are taken straight down and along both
/// diagonals. (One by one: a structure of three would go through memory.)
fn place<F: Forker>(cx: F::Cx<'_, '_>, columns: u32, left: u32, right: u32) -> u64 {
    if columns == u32::MAX {
        return 1;
    }
    match !(columns | left | right) {
        0 => 0,
        free => choose::<F>(cx, columns, left, right, free),
    }
}

/// The ways with the next queen in one of the columns `free`, which are not none.
fn choose<F: Forker>(mut cx: F::Cx<'_, '_>, columns: u32, left: u32, right: u32, free: u32) -> u64 {
    let first = free & free.wrapping_neg();
    let rest = free ^ first;
    // With a queen there.
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
