//! Decodes arbitrary bytes as a frame: `cargo +nightly fuzz run frame` in `evenkeel-node`.

#![no_main]

#[path = "../../tests/node/driver.rs"]
mod driver;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    driver::drive(bytes);
});
