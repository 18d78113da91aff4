//! Arbitrary input from a hostile peer, from a seed: the node goes on, and takes no more memory
//! than the input.

mod driver;

use driver::drive;
use evenkeel_policy::random::Random;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

/// Bytes allocated at present.
fn bytes() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}

/// One test at a time, because the bytes are the process's.
static ALONE: Mutex<()> = Mutex::new(());

/// The most memory for an input of half a kilobyte, with a new world for the next. An estimate.
const MOST: usize = 32 << 20;

#[test]
fn a_node_survives_four_thousand_inputs_of_a_hostile_peer_and_serves_another() {
    static PANICS: AtomicU32 = AtomicU32::new(0);
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::SeqCst);
        hook(info);
    }));
    for workers in [1, 2] {
        let mut random = Random::new(20_261_122 + workers as u64);
        let mut world = None;
        for input in 0..2_000 {
            let length = random.below(500);
            let input: Vec<u8> =
                (0..length).map(|_| random.next() as u8).chain([input as u8]).collect();
            let before = bytes();
            drive(&mut world, workers, &input);
            let taken = bytes().saturating_sub(before);
            assert!(taken < MOST, "{taken} bytes by {input:?}");
            assert_eq!(PANICS.load(Ordering::SeqCst), 0, "by {input:?}");
        }
    }
}

#[test]
fn a_node_that_has_left_keeps_kilobytes_and_not_its_runtime() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let world = || drive(&mut None, 1, &[]);
    world();
    let before = bytes();
    for _ in 0..20 {
        world();
    }
    // A runtime takes megabytes; the last one is there until all its threads have ended.
    let each = || bytes().saturating_sub(before) / 20;
    let is_kept = || each() >= 256 << 10;
    (0..10_000).take_while(|_| is_kept()).for_each(|_| thread::sleep(Duration::from_millis(1)));
    assert!(!is_kept(), "{} bytes", each());
}
