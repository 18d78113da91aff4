//! The runtimes that this machine has.

use std::panic::resume_unwind;
use std::thread;

use super::cpp;
use super::forker::Name;
use suite::family::Found;
use suite::kit::cpp as compiler;

/// How to get forte.
const FORTE: &str = "it is not part of this binary; with Rust 1.96 or later, \
     cargo run --release -p evenkeel-bench --features forte";

/// Looks for these runtimes, in their order. Those in C++ take about a second, because each is
/// tried out.
pub(super) fn of(names: &[Name]) -> anyhow::Result<Found<Name>> {
    let missing = thread::scope(|scope| {
        let looking: Vec<_> =
            names.iter().map(|&name| scope.spawn(move || missing(name))).collect();
        let looked = looking.into_iter().map(|thread| thread.join());
        let looked = looked.map(|missing| missing.unwrap_or_else(|panic| resume_unwind(panic)));
        looked.collect::<anyhow::Result<Vec<_>>>()
    })?;
    let mut missing = missing.into_iter();
    Ok(Found::by(names, |name| missing.next().flatten().map_or_else(|| Ok(version(name)), Err)))
}

fn missing(name: Name) -> anyhow::Result<Option<String>> {
    match name {
        Name::Forte if !cfg!(feature = "forte") => Ok(Some(FORTE.to_owned())),
        name if name.is_cpp() => cpp::missing(name),
        _ => Ok(None),
    }
}

/// The compiler of the runtimes in C++.
fn version(name: Name) -> Option<String> {
    if name.is_cpp() { compiler::version() } else { None }
}
