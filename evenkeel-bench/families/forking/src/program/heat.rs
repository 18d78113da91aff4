//! Heat on a plate: a five-point stencil, step after step; each step halves the rows.

use std::hint::black_box;

use super::{Workload, fold, fork};
use crate::forker::Forker;
use crate::grid::{Array, Tile};

/// Rows of a leaf.
const LEAF: usize = 16;
/// Steps, each of which ends before the next begins.
const STEPS: usize = 40;

pub(super) struct Heat {
    n: usize,
    now: Array<f64>,
    next: Array<f64>,
}

impl Workload for Heat {
    fn prepare(n: usize) -> Self {
        let start = |index: usize| if index < n { 1.0 } else { (index % 11) as f64 / 11.0 };
        Self { n, now: Array::new(n * n, start), next: Array::new(n * n, start) }
    }

    fn go<F: Forker>(&mut self, forker: &F) {
        // Hides the size, and the use of the result, from the compiler.
        let n = black_box(self.n);
        let (now, next) = black_box((&mut self.now, &mut self.next));
        forker.run(|mut cx| {
            for _ in 0..STEPS {
                let tile = Tile::new(next.as_mut(), n);
                F::lend(&mut cx, |cx| step::<F>(cx, now.as_ref(), n, tile));
                std::mem::swap(now, next);
            }
        });
        black_box(&self.now);
    }

    fn checksum(&self) -> u64 {
        fold(self.now.as_ref().iter().map(|number| number.to_bits()))
    }
}

fn step<F: Forker>(mut cx: F::Cx<'_, '_>, now: &[f64], n: usize, next: Tile<'_>) {
    if next.rows <= LEAF {
        return leaf(now, n, next);
    }
    let rows = next.rows;
    let (upper, lower) = next.split_rows(rows / 2);
    fork::<F, _, _>(
        &mut cx,
        2 * rows * n * size_of::<f64>(),
        move |cx| step::<F>(cx, now, n, upper),
        move |cx| step::<F>(cx, now, n, lower),
    );
}

#[inline(never)]
fn leaf(now: &[f64], n: usize, mut next: Tile<'_>) {
    for row in 0..next.rows {
        let here = next.row + row;
        // The rim is constant.
        if here == 0 || here == n - 1 {
            continue;
        }
        let above = &now[(here - 1) * n..][..n];
        let middle = &now[here * n..][..n];
        let below = &now[(here + 1) * n..][..n];
        let cells = &mut next.row_mut(row)[1..n - 1];
        for (index, cell) in cells.iter_mut().enumerate() {
            let around = above[index + 1] + below[index + 1] + middle[index] + middle[index + 2];
            *cell = middle[index + 1] + 0.1 * (around - 4.0 * middle[index + 1]);
        }
    }
}
