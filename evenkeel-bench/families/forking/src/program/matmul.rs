//! The product of two matrices: each fork halves the longest side; halves of the inner side run one
//! after the other.

use std::hint::black_box;

use super::{Workload, fold, fork};
use crate::forker::Forker;
use crate::grid::{Array, Tile};

/// The longest side of a leaf.
const LEAF: usize = 64;

pub(super) struct Matmul {
    n: usize,
    a: Array<f64>,
    b: Array<f64>,
    c: Array<f64>,
}

impl Workload for Matmul {
    fn prepare(n: usize) -> Self {
        let number = |factor: usize| move |index: usize| ((index * factor) % 17) as f64 - 8.0;
        Self {
            n,
            a: Array::new(n * n, number(7)),
            b: Array::new(n * n, number(5)),
            c: Array::new(n * n, |_| 0.0),
        }
    }

    fn go<F: Forker>(&mut self, forker: &F) {
        // Hides the size, and the use of the product, from the compiler.
        let n = black_box(self.n);
        let (a, b) = (self.a.as_ref(), self.b.as_ref());
        let c = Tile::new(black_box(&mut self.c).as_mut(), n);
        forker.run(|cx| multiply::<F>(cx, Factors { a, b, n }, c, 0, n));
        black_box(&self.c);
    }

    fn checksum(&self) -> u64 {
        fold(self.c.as_ref().iter().map(|number| number.to_bits()))
    }
}

#[derive(Clone, Copy)]
struct Factors<'a> {
    a: &'a [f64],
    b: &'a [f64],
    n: usize,
}

/// Adds the products of the inner indices `from..to` to the tile.
fn multiply<F: Forker>(
    mut cx: F::Cx<'_, '_>,
    factors: Factors<'_>,
    mut c: Tile<'_>,
    from: usize,
    to: usize,
) {
    let (rows, columns, inner) = (c.rows, c.columns, to - from);
    if rows.max(columns).max(inner) <= LEAF {
        leaf(factors, c, from, to);
    } else if inner > rows.max(columns) {
        let middle = usize::midpoint(from, to);
        F::lend(&mut cx, |cx| multiply::<F>(cx, factors, c.reborrow(), from, middle));
        multiply::<F>(cx, factors, c, middle, to);
    } else {
        let (first, second) =
            if rows >= columns { c.split_rows(rows / 2) } else { c.split_columns(columns / 2) };
        fork::<F, _, _>(
            &mut cx,
            (rows * inner + inner * columns + rows * columns) * size_of::<f64>(),
            move |cx| multiply::<F>(cx, factors, first, from, to),
            move |cx| multiply::<F>(cx, factors, second, from, to),
        );
    }
}

#[inline(never)]
fn leaf(factors: Factors<'_>, mut c: Tile<'_>, from: usize, to: usize) {
    let Factors { a, b, n } = factors;
    let columns = c.column..c.column + c.columns;
    for row in 0..c.rows {
        let left = &a[(c.row + row) * n..][..n];
        let sums = c.row_mut(row);
        for inner in from..to {
            let factor = left[inner];
            let right = &b[inner * n..][columns.clone()];
            for (sum, number) in sums.iter_mut().zip(right) {
                *sum += factor * number;
            }
        }
    }
}
