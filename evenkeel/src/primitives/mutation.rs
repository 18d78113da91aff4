//! Weakened orderings for the loom models: a model that still passes with one of its edges
//! weakened does not test that edge.

use super::atomic::Edge;
use std::cell::Cell;
#[cfg(test)]
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// A bit for each weakened edge.
    static WEAK: Cell<u128> = const { Cell::new(0) };
}

/// Whether the model that runs on this thread has weakened `edge`. Loom runs all threads of a model
/// on the operating system's thread that started it, so a thread-local names the model.
pub(crate) fn is_weak(edge: Edge) -> bool {
    WEAK.with(|weak| weak.get() & bit(edge) != 0)
}

fn bit(edge: Edge) -> u128 {
    1_u128.checked_shl(u32::from(edge as u8)).expect("there is a bit for each edge")
}

/// Runs `explore` with these edges weakened.
#[cfg(test)]
fn weakened<R>(edges: &[Edge], explore: impl FnOnce() -> R) -> R {
    WEAK.with(|weak| weak.set(edges.iter().fold(0, |bits, &edge| bits | bit(edge))));
    let result = explore();
    WEAK.with(|weak| weak.set(0));
    result
}

/// Preemptions that a model explores where `LOOM_MAX_PREEMPTIONS` does not say otherwise. Two find
/// almost all errors of schedule that more would find, in a fraction of the time.
#[cfg(test)]
const PREEMPTIONS: usize = 2;

/// Runs `model` as written, then once for each of `edges` with that edge weakened, and fails unless
/// every weakened run fails.
#[cfg(test)]
pub(crate) fn check(edges: &[Edge], model: impl Fn() + Send + Sync + Copy + 'static) {
    check_without(&[], edges, model);
}

/// Does the same for a model that does not need the edges `spared`: they are weak in every run.
#[cfg(test)]
pub(crate) fn check_without(
    spared: &[Edge],
    edges: &[Edge],
    model: impl Fn() + Send + Sync + Copy + 'static,
) {
    weakened(spared, || explore(model));
    for &edge in edges {
        // No later run looks at what a failed run leaves behind.
        let weak = [spared, &[edge]].concat();
        let outcome = weakened(&weak, || catch_unwind(AssertUnwindSafe(|| explore(model))));
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

/// Returns a waker that unparks the calling thread of a model.
#[cfg(test)]
pub(crate) fn unparker() -> std::task::Waker {
    struct Unpark(loom::thread::Thread);

    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }

    std::sync::Arc::new(Unpark(loom::thread::current())).into()
}
