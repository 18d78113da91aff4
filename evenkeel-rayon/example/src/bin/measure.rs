//! Times rayon's iterators, sorts, scopes and joins on the linked rayon-core, and checks every
//! result. `compare` runs it with each rayon-core.
//!
//! It prints a line per measurement: its name, a tab, nanoseconds.

use rayon::prelude::*;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const COUNT: usize = 1 << 19;

/// The least number of timed runs of each measurement in one process, and the least time that they
/// take together; the median counts. Short measurements need more runs, because the operating
/// system leaves the threads where they are for some milliseconds.
const RUNS: usize = 9;
const LONG: Duration = Duration::from_millis(100);

fn main() {
    let scope = std::any::type_name::<rayon::Scope<'static>>();
    println!("# {}", scope.split("::").next().unwrap_or(scope));
    let wanted = std::env::args().nth(1);
    let numbers: Vec<u64> = (0..COUNT as u64).map(mixed).collect();
    let total = numbers.iter().copied().fold(0, u64::wrapping_add);
    let words: Vec<String> = numbers.iter().take(COUNT / 8).map(ToString::to_string).collect();
    let is_sorted = |numbers: Vec<u64>| assert!(numbers.is_sorted());
    let measure = |name: &str, run: &dyn Fn()| {
        if wanted.as_ref().is_none_or(|wanted| name.contains(wanted.as_str())) {
            report(name, run);
        }
    };
    let measure_with = |name: &str, sort: &dyn Fn(&mut Vec<u64>)| {
        if wanted.as_ref().is_none_or(|wanted| name.contains(wanted.as_str())) {
            report_with(name, || numbers.clone(), sort, is_sorted);
        }
    };

    measure_with("par_sort", &|numbers| numbers.par_sort());
    measure_with("par_sort_unstable", &|numbers| numbers.par_sort_unstable());
    measure_with("par_sort_by_key", &|numbers| numbers.par_sort_by_key(|&number| number));
    measure_with("par_iter_mut", &|numbers| {
        numbers.par_iter_mut().enumerate().for_each(|(index, number)| *number = index as u64);
    });
    measure("par_sort strings", &|| {
        let mut words = words.clone();
        words.par_sort();
        assert!(words.is_sorted());
    });
    measure("sum", &|| {
        assert_eq!(numbers.par_iter().copied().reduce(|| 0, u64::wrapping_add), total)
    });
    measure("map, collect", &|| {
        let mapped: Vec<u64> = numbers.par_iter().map(|&number| mixed(number)).collect();
        assert_eq!(mapped.len(), COUNT);
        assert_eq!(mapped[17], mixed(numbers[17]));
    });
    measure("filter, collect", &|| {
        let even: Vec<u64> = numbers.par_iter().copied().filter(|number| number % 2 == 0).collect();
        assert!(even.len() > COUNT / 3);
    });
    measure("chunks", &|| {
        let sums =
            numbers.par_chunks(64).map(|chunk| chunk.iter().copied().fold(0, u64::wrapping_add));
        assert_eq!(sums.reduce(|| 0, u64::wrapping_add), total);
    });
    measure("zip", &|| {
        let pairs = numbers.par_iter().zip(numbers.par_iter().rev());
        assert_eq!(pairs.map(|(a, b)| a.wrapping_sub(*b)).reduce(|| 0, u64::wrapping_add), 0);
    });
    measure("fold, reduce", &|| {
        let folded =
            numbers.par_iter().fold(|| 0, |sum: u64, &number| sum.wrapping_add(mixed(number)));
        black_box(folded.reduce(|| 0, u64::wrapping_add));
    });
    measure("flat_map", &|| {
        let inner = |n: u64| (0..n % 8).into_par_iter().map(move |k| n.wrapping_add(k));
        let few = &numbers[..COUNT / 32];
        black_box(few.par_iter().flat_map(|&n| inner(n)).reduce(|| 0, u64::wrapping_add));
    });
    measure("par_bridge", &|| {
        let few = numbers[..COUNT / 64].iter();
        black_box(few.par_bridge().map(|&n| mixed(n)).reduce(|| 0, u64::wrapping_add));
    });
    measure("find_any", &|| {
        let wanted = numbers[COUNT / 2];
        assert_eq!(numbers.par_iter().find_any(|&&number| number == wanted), Some(&wanted));
    });
    measure("scope, 10,000 spawns", &|| {
        let sum = AtomicU64::new(0);
        rayon::scope(|scope| {
            for number in 0..10_000 {
                let sum = &sum;
                scope.spawn(move |_| {
                    sum.fetch_add(number, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(sum.into_inner(), 49_995_000);
    });
    measure("scope_fifo, 10,000 spawns", &|| {
        let sum = AtomicU64::new(0);
        rayon::scope_fifo(|scope| {
            for number in 0..10_000 {
                let sum = &sum;
                scope.spawn_fifo(move |_| {
                    sum.fetch_add(number, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(sum.into_inner(), 49_995_000);
    });
    measure("scope, tree of spawns", &|| {
        let leaves = AtomicU64::new(0);
        rayon::scope(|scope| tree(scope, 13, &leaves));
        assert_eq!(leaves.into_inner(), 1 << 13);
    });
    measure("broadcast, 100 times", &|| {
        for _ in 0..100 {
            black_box(rayon::broadcast(|context| context.index()));
        }
    });
    measure("pool, built, used once and dropped", &|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        assert_eq!(pool.install(|| black_box(7)), 7);
    });
    measure("join, fib(24)", &|| assert_eq!(fib(24), 46_368));
    measure("sum of 1,000, 100 times from outside", &|| {
        for _ in 0..100 {
            black_box(numbers[..1_000].par_iter().copied().reduce(|| 0, u64::wrapping_add));
        }
    });
    measure("sum of 1,000, 100 times in the pool", &|| {
        rayon::join(
            || {
                for _ in 0..100 {
                    black_box(numbers[..1_000].par_iter().copied().reduce(|| 0, u64::wrapping_add));
                }
            },
            || (),
        );
    });
}

fn tree<'scope>(scope: &rayon::Scope<'scope>, depth: u32, leaves: &'scope AtomicU64) {
    if depth == 0 {
        leaves.fetch_add(1, Ordering::Relaxed);
        return;
    }
    scope.spawn(move |scope| tree(scope, depth - 1, leaves));
    scope.spawn(move |scope| tree(scope, depth - 1, leaves));
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn report(name: &str, run: impl Fn()) {
    report_with(name, || (), |()| run(), |()| ());
}

/// Measures `run` with an input that each run uses up. Making the input is not timed.
fn report_with<T>(name: &str, input: impl Fn() -> T, run: impl Fn(&mut T), check: impl Fn(T)) {
    let one = || {
        let mut input = input();
        let start = Instant::now();
        run(&mut input);
        let time = start.elapsed();
        check(input);
        time
    };
    // The first run warms up.
    one();
    let mut times = Vec::new();
    let mut total = Duration::ZERO;
    while times.len() < RUNS || total < LONG {
        let time = one();
        total += time;
        times.push(time);
    }
    print(name, times);
}

fn print(name: &str, mut times: Vec<Duration>) {
    times.sort();
    println!("{name}\t{}", times[times.len() / 2].as_nanos());
}

/// A mixing function (the finaliser of MurmurHash3).
fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let x = (x ^ (x >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^ (x >> 33)
}
