//! Has a peer say arbitrary things to a node: `cargo +nightly fuzz run node -- -detect_leaks=0 -rss_limit_mb=6000` in `evenkeel-actor`. A few kilobytes of each node stay for ever.

#![no_main]

#[path = "../node_driver.rs"]
mod driver;

use std::cell::RefCell;

thread_local! {
    static WORLD: RefCell<Option<driver::World>> = const { RefCell::new(None) };
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    WORLD.with_borrow_mut(|world| driver::drive(world, 1 + bytes.len() % 2, bytes));
});
