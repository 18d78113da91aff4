//! Fork-join: halves, scopes, pools, awaited forks, and the depth of recursion.

use evenkeel::fork_join::join;

#[path = "../common"]
mod common {
    pub(crate) mod panics;
    pub(crate) mod runtime;
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

mod basics;
mod full;
mod future;
mod overflow;
mod pool;
mod sized;
mod waiting;

/// The `n`th number of Fibonacci, by forks.
fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}
