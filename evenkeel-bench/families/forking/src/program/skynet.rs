//! The sum of the numbers of 10^n leaves, by halves (after the `skynet` micro-benchmark, with two
//! children instead of ten).

use std::hint::black_box;

use super::Workload;
use crate::forker::Forker;

pub(super) struct Skynet {
    leaves: u64,
    result: u64,
}

impl Workload for Skynet {
    fn prepare(n: usize) -> Self {
        Self { leaves: 10_u64.pow(n as u32), result: 0 }
    }

    fn go<F: Forker>(&mut self, forker: &F) {
        let leaves = black_box(self.leaves);
        self.result = black_box(forker.run(|cx| sum::<F>(cx, 0, leaves)));
    }

    fn checksum(&self) -> u64 {
        self.result
    }
}

fn sum<F: Forker>(mut cx: F::Cx<'_, '_>, from: u64, to: u64) -> u64 {
    if to - from == 1 {
        return leaf(from);
    }
    let middle = u64::midpoint(from, to);
    F::join_then(
        &mut cx,
        move |cx| sum::<F>(cx, from, middle),
        move |cx| sum::<F>(cx, middle, to),
        |a, b| a + b,
    )
}

/// A call that the compiler cannot leave out, as in C++.
#[inline(never)]
fn leaf(number: u64) -> u64 {
    black_box(number)
}
