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
    let looked = thread::scope(|scope| {
        let looking: Vec<_> =
            names.iter().map(|&name| (name, scope.spawn(move || missing(name)))).collect();
        let looked = looking.into_iter().map(|(name, thread)| {
            let missing = thread.join().unwrap_or_else(|panic| resume_unwind(panic))?;
            anyhow::Ok((name, missing))
        });
        looked.collect::<anyhow::Result<Vec<_>>>()
    })?;
    let mut found = Found { there: Vec::new(), missing: Vec::new() };
    for (name, missing) in looked {
        match missing {
            None => found.there.push((name, version(name))),
            Some(why) => found.missing.push((name, why)),
        }
    }
    Ok(found)
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
