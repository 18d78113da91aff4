//! The conditions of a randomised test.

use evenkeel::{Builder, JoinHandle, Runtime, yield_now};
use evenkeel_policy::random::Random;

/// The behaviour of a test's tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    /// Whether they yield at random.
    pub(crate) yields: bool,
    pub(crate) workers: usize,
}

impl Weather {
    /// Yields up to nine times, or never.
    pub(crate) async fn pass(self, random: &mut Random) {
        if self.yields {
            for _ in 0..random.below(10) {
                yield_now().await;
            }
        }
    }
}

/// Runs a test with one, two and four workers, with and without yields.
pub(crate) fn in_all_weathers(test: impl Fn(&Runtime, Weather)) {
    for workers in [1, 2, 4] {
        let runtime = Builder::new().workers(workers).build().expect("the runtime starts");
        for yields in [false, true] {
            test(&runtime, Weather { yields, workers });
        }
    }
}

/// Waits for all tasks.
pub(crate) fn join<T: Send + 'static>(
    runtime: &Runtime,
    tasks: impl IntoIterator<Item = JoinHandle<T>>,
) -> Vec<T> {
    runtime.block_on(async {
        let mut results = Vec::new();
        for task in tasks {
            results.push(task.await.expect("the task ends well"));
        }
        results
    })
}
