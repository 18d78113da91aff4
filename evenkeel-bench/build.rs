//! Tells the suite how it is built, for its `--version` and for its command `builds`.

use std::env;
use std::path::{Component, Path};

/// The variables that override the profile of this workspace.
const OVERRIDES: [&str; 6] = [
    "CARGO_PROFILE_RELEASE_LTO",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL",
    "CARGO_PROFILE_DEFAULT_BUILD_LTO",
    "CARGO_PROFILE_DEFAULT_BUILD_CODEGEN_UNITS",
    "CARGO_PROFILE_DEFAULT_BUILD_OPT_LEVEL",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for name in OVERRIDES {
        println!("cargo::rerun-if-env-changed={name}");
    }
    // `target/PROFILE/build/evenkeel-bench-HASH/out`
    let out = env::var("OUT_DIR").unwrap_or_default();
    let folder = Path::new(&out).components().rev().nth(3).map(Component::as_os_str);
    let is_overridden = OVERRIDES.iter().any(|name| env::var_os(name).is_some());
    let build = match folder.and_then(|name| name.to_str()) {
        Some("release") if !is_overridden => "tuned",
        Some("default-build") if !is_overridden => "default",
        Some("debug") => "debug",
        _ => "other",
    };
    println!("cargo::rustc-env=EVENKEEL_BENCH_BUILD={build}");
}
