//! Has a peer send arbitrary input to a node: `cargo +nightly fuzz run node -- -detect_leaks=0
//! -rss_limit_mb=6000` in `evenkeel-actor`. Some 20 kilobytes of each node are leaked.

#![no_main]

#[path = "../../tests/hostile/driver.rs"]
mod driver;

use std::sync::{Mutex, PoisonError};

/// Not dropped when the process ends: a world drops its runtime, which needs thread-local state
/// that is lost by then.
static WORLD: Mutex<Option<driver::World>> = Mutex::new(None);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut world = WORLD.lock().unwrap_or_else(PoisonError::into_inner);
    driver::drive(&mut world, 1 + bytes.len() % 2, bytes);
});
