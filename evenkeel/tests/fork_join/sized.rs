//! Forks with footprints: their results, which worker may run what, and invalid footprints.

use crate::common::panics::message_of;
use crate::common::watchdog::watchdog;
use evenkeel::fork_join::{
    Footprint, FootprintError, join, join_parts, join_sized, scope, try_join_sized, yield_now,
};
use evenkeel::{Builder, Locality, Runtime};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

const ALL: [Locality; 4] = [Locality::Off, Locality::Random, Locality::Biased, Locality::Strict];

/// Two packages of two cores, with caches of their own.
fn machine(locality: Locality) -> Runtime {
    let topology = "2 packages, 2 cores, l1 32K, l2 1M, l3 8M".parse().unwrap();
    Builder::new().workers(4).topology(topology).locality(locality).build().unwrap()
}

fn sum(numbers: &[u64]) -> u64 {
    if numbers.len() <= 64 {
        return numbers.iter().sum();
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    let (left, right) = join_sized(size_of_val(numbers), || sum(left), || sum(right));
    left + right
}

fn double(numbers: &mut [u64]) {
    if numbers.len() <= 64 {
        numbers.iter_mut().for_each(|number| *number *= 2);
        return;
    }
    let (left, right) = numbers.split_at_mut(numbers.len() / 2);
    join_parts(left, right, double);
}

#[test]
fn recursions_come_out_right_whatever_the_locality() {
    let _watchdog = watchdog();
    for locality in ALL {
        let runtime = machine(locality);
        // From beyond the last-level cache to below the first level.
        let mut numbers: Vec<u64> = (0..1 << 20).collect();
        for phase in 0..4 {
            let expected = (((1 << 20) - 1) * (1 << 19)) << phase;
            assert_eq!(runtime.install(|| sum(&numbers)), expected, "{locality:?}");
            runtime.install(|| double(&mut numbers));
        }
    }
}

#[test]
fn a_job_of_a_private_cache_is_taken_by_another_after_a_while() {
    let _watchdog = watchdog();
    for locality in [Locality::Off, Locality::Random, Locality::Biased] {
        let runtime = machine(locality);
        for _ in 0..20 {
            let ran = AtomicBool::new(false);
            let wait = || {
                while !ran.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            };
            // It ends only if another worker takes the second half.
            runtime.install(|| join_sized(1_000, wait, || ran.store(true, Ordering::Release)));
        }
    }
}

#[test]
fn strict_keeps_the_jobs_of_a_private_cache_on_its_core() {
    let _watchdog = watchdog();
    let runtime = machine(Locality::Strict);
    for _ in 0..20 {
        let threads = Mutex::new(HashSet::<ThreadId>::new());
        fn recurse(depth: u32, threads: &Mutex<HashSet<ThreadId>>) {
            if depth == 0 {
                threads.lock().unwrap().insert(thread::current().id());
                thread::yield_now();
                return;
            }
            join_sized(1 << 10, || recurse(depth - 1, threads), || recurse(depth - 1, threads));
        }
        runtime.install(|| recurse(8, &threads));
        assert_eq!(threads.into_inner().unwrap().len(), 1);
    }
}

#[test]
fn strict_keeps_jobs_from_workers_that_yield_in_another_package() {
    let _watchdog = watchdog();
    let topology = "2 packages, 1 cores, l2 1M, l3 8M".parse().unwrap();
    let builder = Builder::new().workers(2).topology(topology).locality(Locality::Strict);
    let runtime = builder.build().unwrap();
    let (there, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let elsewhere = AtomicUsize::new(0);
    runtime.install(|| {
        scope(|scope| {
            scope.spawn(|_| {
                there.store(true, Ordering::Release);
                while !over.load(Ordering::Acquire) {
                    yield_now();
                }
            });
            while !there.load(Ordering::Acquire) {
                thread::yield_now();
            }
            let me = thread::current().id();
            for _ in 0..2_000 {
                let pause = || thread::sleep(Duration::from_micros(10));
                let note = || {
                    elsewhere
                        .fetch_add(usize::from(thread::current().id() != me), Ordering::Relaxed);
                };
                join_sized(1 << 16, pause, note);
            }
            over.store(true, Ordering::Release);
        });
    });
    assert_eq!(elsewhere.into_inner(), 0);
}

#[test]
fn strict_shares_what_fits_no_cache() {
    let _watchdog = watchdog();
    let runtime = machine(Locality::Strict);
    for _ in 0..20 {
        let ran = AtomicBool::new(false);
        let wait = || {
            while !ran.load(Ordering::Acquire) {
                thread::yield_now();
            }
        };
        runtime.install(|| join_sized(1 << 24, wait, || ran.store(true, Ordering::Release)));
        // After jobs that the sleepers may not take.
        runtime.install(|| sum(&[1; 1 << 10]));
    }
}

#[test]
fn a_footprint_of_nothing_or_beyond_memory_is_refused_and_nothing_runs() {
    let ran = AtomicUsize::new(0);
    let count = || {
        ran.fetch_add(1, Ordering::Relaxed);
    };
    assert_eq!(try_join_sized(0, count, count), Err(FootprintError::Zero));
    let error = try_join_sized(usize::MAX, count, count).unwrap_err();
    assert!(matches!(error, FootprintError::BeyondMemory { bytes: usize::MAX, .. }));
    assert!(error.to_string().contains("state what both halves touch, in bytes"), "{error}");
    for bytes in [0, usize::MAX] {
        let text = message_of(|| join_sized(bytes, count, count));
        assert!(text.starts_with("a fork cannot have a footprint of"), "{text}");
    }
    assert_eq!(ran.into_inner(), 0);
    // The pool goes on after the panic.
    let runtime = machine(Locality::Biased);
    assert!(
        catch_unwind(AssertUnwindSafe(|| runtime.install(|| join_sized(0, || 1, || 2)))).is_err()
    );
    assert_eq!(runtime.install(|| join_sized(1, || 1, || 2)), (1, 2));
}

#[test]
fn parts_that_touch_nothing_are_joined_all_the_same() {
    let empty: &[u64] = &[];
    assert_eq!(join_parts(empty, empty, <[u64]>::len), (0, 0));
    assert_eq!((&[1_u32, 2][..], &mut [3_u64]).footprint_of_both(), 16);
}

/// The sum over a pair of two types.
trait Both {
    fn footprint_of_both(&self) -> usize;
}

impl<const N: usize> Both for (&[u32], &mut [u64; N]) {
    fn footprint_of_both(&self) -> usize {
        (self.0, &self.1[..]).footprint()
    }
}

#[test]
fn panics_come_through_and_the_next_phase_is_right() {
    let _watchdog = watchdog();
    for locality in ALL {
        let runtime = machine(locality);
        for side in 0..3 {
            let half = |panics: bool| {
                move || {
                    if panics {
                        panic!("half");
                    }
                    sum(&[1; 1 << 12])
                }
            };
            let joined = catch_unwind(AssertUnwindSafe(|| {
                runtime.install(|| join_sized(1 << 22, half(side != 1), half(side != 0)))
            }));
            assert_eq!(*joined.unwrap_err().downcast_ref::<&str>().unwrap(), "half");
        }
        assert_eq!(runtime.install(|| sum(&[1; 1 << 12])), 1 << 12);
    }
}

#[test]
fn sized_and_plain_forks_mix() {
    fn leaves(depth: usize) -> usize {
        match depth {
            0 => 1,
            _ if depth.is_multiple_of(2) => {
                let (a, b) = join(|| leaves(depth - 1), || leaves(depth - 1));
                a + b
            }
            _ => {
                let (a, b) =
                    join_sized(1 << (depth + 8), || leaves(depth - 1), || leaves(depth - 1));
                a + b
            }
        }
    }
    let _watchdog = watchdog();
    for locality in ALL {
        assert_eq!(machine(locality).install(|| leaves(14)), 1 << 14);
        // Outside any pool of the program's own.
        assert_eq!(leaves(10), 1 << 10);
    }
}

#[test]
fn a_chain_of_sized_forks_deeper_than_the_deque_comes_out_right() {
    fn chain(depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let (rest, one) = join_sized(1 << 20, || chain(depth - 1), || 1);
        rest + one
    }
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).stack_size(256 << 20).build().unwrap();
    assert_eq!(runtime.install(|| chain(70_000)), 70_000);
}
