//! The runtimes of the process, by the addresses of their processors.
//!
//! A thread that signals a task from outside finds the task's runtime here. It can't follow the
//! address of the task's home: the task may become complete meanwhile, and its runtime end.

use super::shared::Shared;
use std::ops::Range;
// No thread waits for anything under the lock, so models need not explore it.
use std::sync::{Arc, Mutex, Weak};

static ALL: Mutex<Vec<(Range<usize>, Weak<Shared>)>> = Mutex::new(Vec::new());

/// Enters a runtime, and forgets those that have ended.
pub(super) fn enter(shared: &Arc<Shared>) {
    let mut all = ALL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    all.retain(|(_, shared)| shared.strong_count() > 0);
    all.push((shared.processors.addresses(), Arc::downgrade(shared)));
}

/// Returns the runtime that has a processor at this address. A runtime that has ended since may be
/// missed, or another one that has taken its place be found.
pub(crate) fn with_processor(address: usize) -> Option<Arc<Shared>> {
    let all = ALL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let has_it = |(addresses, _): &&(Range<usize>, _)| addresses.contains(&address);
    // Of several the last is the youngest, and the only one that can be alive.
    all.iter().rev().find(has_it)?.1.upgrade()
}
