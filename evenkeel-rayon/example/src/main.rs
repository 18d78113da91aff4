//! Sorts, sums and a few iterators through unmodified `rayon`, each checked against the serial
//! result and timed beside it.

use rayon::prelude::*;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Numbers per test: some 10 ms of serial work in most.
const COUNT: usize = 1 << 20;

fn main() -> ExitCode {
    // Scopes are re-exported from the linked rayon-core, so their type shows which it is.
    let scope = std::any::type_name::<rayon::Scope<'static>>();
    let pool = scope.split("::").next().unwrap_or(scope);
    println!("rayon runs on {pool}, with {} threads", rayon::current_num_threads());
    if pool != "evenkeel" {
        eprintln!("the patch of rayon-core has not been used: see Cargo.toml");
        return ExitCode::FAILURE;
    }
    let numbers = numbers(COUNT);
    let words: Vec<String> = numbers.iter().take(COUNT / 8).map(ToString::to_string).collect();
    let mut table = Table::default();
    table.row(
        "par_sort",
        || sorted(&words, |words| words.sort()),
        || sorted(&words, |words| words.par_sort()),
    );
    table.row(
        "par_sort_unstable",
        || sorted(&numbers, |numbers| numbers.sort_unstable()),
        || sorted(&numbers, |numbers| numbers.par_sort_unstable()),
    );
    table.row(
        "sum",
        || numbers.iter().map(|&number| mixed(number)).fold(0, u64::wrapping_add),
        || numbers.par_iter().map(|&number| mixed(number)).reduce(|| 0, u64::wrapping_add),
    );
    table.row(
        "map, filter, collect",
        || numbers.iter().map(|&n| mixed(n)).filter(|n| n % 3 == 0).collect::<Vec<_>>(),
        || numbers.par_iter().map(|&n| mixed(n)).filter(|n| n % 3 == 0).collect::<Vec<_>>(),
    );
    table.row(
        "chunks, zip",
        || numbers.chunks(100).zip(words.chunks(10)).map(|(a, b)| a.len() * b.len()).sum::<usize>(),
        || {
            let pairs = numbers.par_chunks(100).zip(words.par_chunks(10));
            pairs.map(|(a, b)| a.len() * b.len()).sum::<usize>()
        },
    );
    table.row(
        "flat_map_iter, max",
        || numbers.iter().flat_map(|&n| (0..n % 4).map(move |k| mixed(n + k))).max(),
        || numbers.par_iter().flat_map_iter(|&n| (0..n % 4).map(move |k| mixed(n + k))).max(),
    );
    if table.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[derive(Default)]
struct Table {
    failed: bool,
}

impl Table {
    fn row<R: PartialEq>(
        &mut self,
        name: &str,
        serial: impl Fn() -> R + Sync,
        parallel: impl Fn() -> R + Sync,
    ) {
        let (expected, before) = timed(&serial);
        let (result, after) = timed(&parallel);
        let verdict = if result == expected { "right" } else { "WRONG" };
        self.failed |= result != expected;
        println!("{name:22} {before:>10.1?} serial {after:>10.1?} parallel  {verdict}");
    }
}

/// Returns the result and the time of the second of two runs: the first warms up.
fn timed<R>(run: impl Fn() -> R) -> (R, Duration) {
    black_box(run());
    let start = Instant::now();
    let result = run();
    (result, start.elapsed())
}

fn sorted<T: Clone>(items: &[T], sort: impl Fn(&mut Vec<T>)) -> Vec<T> {
    let mut items = items.to_vec();
    sort(&mut items);
    items
}

fn numbers(count: usize) -> Vec<u64> {
    (0..count as u64).map(mixed).collect()
}

/// A mixing function (the finaliser of MurmurHash3), several times over.
fn mixed(number: u64) -> u64 {
    (0..8).fold(number, |x, _| {
        let x = (x ^ (x >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        let x = (x ^ (x >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
        x ^ (x >> 33)
    })
}
