//! Weakened orderings for the loom models: a model that still passes with one of its edges
//! weakened does not test that edge.

use super::atomic::Edge;
use std::cell::Cell;
#[cfg(test)]
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static WEAK: Cell<Option<Edge>> = const { Cell::new(None) };
}

/// Whether the model that runs on this thread has weakened `edge`. Loom runs all threads of a model
/// on the operating system's thread that started it, so a thread-local names the model.
pub(crate) fn is_weak(edge: Edge) -> bool {
    WEAK.with(|weak| weak.get() == Some(edge))
}

/// Preemptions that a model explores where `LOOM_MAX_PREEMPTIONS` does not say otherwise. Two find
/// almost all errors of schedule that more would find, in a fraction of the time.
#[cfg(test)]
const PREEMPTIONS: usize = 2;

/// Runs `model` as written, then once for each of `edges` with that edge weakened, and fails unless
/// every weakened run fails.
#[cfg(test)]
pub(crate) fn check(edges: &[Edge], model: impl Fn() + Send + Sync + Copy + 'static) {
    explore(model);
    for &edge in edges {
        WEAK.with(|weak| weak.set(Some(edge)));
        // What a failed run leaves behind belongs to that run: nothing of it is looked at.
        let outcome = catch_unwind(AssertUnwindSafe(|| explore(model)));
        WEAK.with(|weak| weak.set(None));
        let Err(failure) = outcome else {
            panic!("the model passes although {edge:?} is weakened")
        };
        let endless = failure.downcast_ref::<&str>().is_some_and(|text| text.contains("exceeded"));
        assert!(!endless, "with {edge:?} weakened the model does not fail but never ends");
    }
}

/// Explores `model` as written.
#[cfg(test)]
pub(crate) fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(PREEMPTIONS);
    builder.check(model);
}
