//! Searches for deadlocks, and their reports to the hook.

use super::extra::IS_ON;
use super::graph;
use super::report::{Deadlock, DeadlockHook, Listener};
use crate::primitives::unwind::contain;
use crate::raw_task::id::Id;

/// Searches for deadlocks that `id` waits in, and reports them.
#[cold]
pub(super) fn check(id: Id, hook: Option<&DeadlockHook>) {
    let mut graph = graph::lock();
    if !graph.waits(id) {
        return;
    }
    let news = graph.check(id, &|| Listener::of(hook));
    drop(graph);
    tell(&news, hook);
}

/// Searches again from waiters that were stuck but for an unknown waker, of all runtimes, and
/// reports deadlocks, each where it would have been reported before. True if there are any.
#[inline]
pub(crate) fn look_again() -> bool {
    if !graph::has_suspects() {
        return false;
    }
    let news = graph::lock().check_suspects();
    for news in &news {
        tell(&news.deadlocks, news.listener.hook().as_ref());
    }
    news.iter().any(|news| !news.deadlocks.is_empty())
}

/// All deadlocks that exist.
pub(super) fn deadlocks() -> Vec<Deadlock> {
    if IS_ON { graph::lock().all() } else { Vec::new() }
}

pub(super) fn tell(news: &[Deadlock], hook: Option<&DeadlockHook>) {
    for deadlock in news {
        contain(|| match hook {
            Some(hook) => hook(deadlock),
            None => eprintln!("evenkeel: {deadlock}"),
        });
    }
}
