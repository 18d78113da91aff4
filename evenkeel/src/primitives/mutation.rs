//! Weakened orderings for the loom models: a model that still passes with one of its edges
//! weakened does not test that edge.

use super::atomic::Edge;
use std::cell::Cell;

thread_local! {
    static WEAK: Cell<Option<Edge>> = const { Cell::new(None) };
}

/// Whether the model that runs on this thread has weakened `edge`. Loom runs all threads of a model
/// on the operating system's thread that started it, so a thread-local names the model.
pub(crate) fn is_weak(edge: Edge) -> bool {
    WEAK.with(|weak| weak.get() == Some(edge))
}

/// Runs `model` as written, then once for each of `edges` with that edge weakened, and fails unless
/// every weakened run fails.
pub(crate) fn check(edges: &[Edge], model: impl Fn() + Send + Sync + Copy + 'static) {
    loom::model(model);
    for &edge in edges {
        WEAK.with(|weak| weak.set(Some(edge)));
        let outcome = std::panic::catch_unwind(|| loom::model(model));
        WEAK.with(|weak| weak.set(None));
        assert!(outcome.is_err(), "the model passes although {edge:?} is weakened");
    }
}
