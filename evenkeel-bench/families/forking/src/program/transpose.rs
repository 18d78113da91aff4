//! Transposes one matrix into another: each fork halves the longer side.

use std::hint::black_box;

use super::{Workload, fold, fork};
use crate::forker::Forker;
use crate::grid::{Array, Tile};

/// The longest side of a leaf.
const LEAF: usize = 32;

pub(super) struct Transpose {
    n: usize,
    from: Array<f64>,
    to: Array<f64>,
}

impl Workload for Transpose {
    fn prepare(n: usize) -> Self {
        Self { n, from: Array::new(n * n, |index| index as f64), to: Array::new(n * n, |_| 0.0) }
    }

    fn go<F: Forker>(&mut self, forker: &F) {
        // Hides the size, and the use of the result, from the compiler.
        let (n, from) = (black_box(self.n), self.from.as_ref());
        let to = Tile::new(black_box(&mut self.to).as_mut(), n);
        forker.run(|cx| turn::<F>(cx, from, n, to));
        black_box(&self.to);
    }

    fn checksum(&self) -> u64 {
        fold(self.to.as_ref().iter().map(|number| number.to_bits()))
    }
}

fn turn<F: Forker>(mut cx: F::Cx<'_, '_>, from: &[f64], n: usize, to: Tile<'_>) {
    let (rows, columns) = (to.rows, to.columns);
    if rows.max(columns) <= LEAF {
        return leaf(from, n, to);
    }
    let (first, second) =
        if rows >= columns { to.split_rows(rows / 2) } else { to.split_columns(columns / 2) };
    fork::<F, _, _>(
        &mut cx,
        2 * rows * columns * size_of::<f64>(),
        move |cx| turn::<F>(cx, from, n, first),
        move |cx| turn::<F>(cx, from, n, second),
    );
}

#[inline(never)]
fn leaf(from: &[f64], n: usize, mut to: Tile<'_>) {
    let (first_row, first_column) = (to.row, to.column);
    for row in 0..to.rows {
        for (column, cell) in to.row_mut(row).iter_mut().enumerate() {
            *cell = from[(first_column + column) * n + first_row + row];
        }
    }
}
