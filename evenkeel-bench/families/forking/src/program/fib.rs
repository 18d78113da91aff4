//! Only forks: the doubly recursive Fibonacci function without a cut-off.

use std::hint::black_box;

use super::Workload;
use crate::forker::Forker;

pub(super) struct Fib {
    n: usize,
    result: u64,
}

impl Workload for Fib {
    fn prepare(n: usize) -> Self {
        Self { n, result: 0 }
    }

    fn go<F: Forker>(&mut self, forker: &F) {
        // Hides the size from the compiler.
        let n = black_box(self.n);
        self.result = black_box(forker.run(|cx| fib::<F>(cx, n)));
    }

    fn checksum(&self) -> u64 {
        self.result
    }
}

fn fib<F: Forker>(mut cx: F::Cx<'_, '_>, n: usize) -> u64 {
    if n < 2 {
        return n as u64;
    }
    F::join_then(
        &mut cx,
        move |cx| fib::<F>(cx, n - 1),
        move |cx| fib::<F>(cx, n - 2),
        |a, b| a + b,
    )
}
